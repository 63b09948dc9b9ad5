#include "host/plugin/discovery.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "engine/base/semver.h"

namespace davit {
namespace {

namespace fs = std::filesystem;

std::string Variable(const std::map<std::string, std::string>& environment,
                     const std::string& name) {
  const auto at = environment.find(name);
  return at == environment.end() ? std::string() : at->second;
}

std::string ExecutableName(const std::string& kind, const std::string& name) {
  std::string file = fmt::format("pulumi-{}-{}", kind, name);
  if (kind == "language") {
    std::ranges::replace(file, '/', '_');  // P1
  }
  return file;
}

bool IsExecutableFile(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

bool SameFile(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored);
}

FoundPlugin Found(FoundPlugin::Origin origin, const fs::path& executable) {
  FoundPlugin found;
  found.origin = origin;
  found.executable = executable.string();
  found.directory = executable.parent_path().string();
  return found;
}

// P38: a folder that is meant to hold a plugin.
Result<FoundPlugin> FoundIn(FoundPlugin::Origin origin,
                            const fs::path& directory,
                            const std::string& kind,
                            const std::string& name) {
  const fs::path executable = directory / ExecutableName(kind, name);
  FoundPlugin found = Found(origin, executable);
  if (IsExecutableFile(executable)) {
    return found;
  }
  std::error_code ignored;
  const fs::path plugin_file = directory / "PulumiPlugin.yaml";
  if (kind != "language" && fs::exists(plugin_file, ignored)) {
    found.executable.clear();
    found.plugin_file = plugin_file.string();
    return found;
  }
  return Fail(ErrorKind::kInvalid,
              fmt::format("the {} plugin '{}' has neither an executable '{}' nor a "
                          "PulumiPlugin.yaml in '{}'",
                          kind,
                          name,
                          executable.filename().string(),
                          directory.string()),
              "build or install the plugin there, or correct the path");
}

// P6.
Result<std::optional<FoundPlugin>> FindInProject(const DiscoveryOptions& options,
                                                 const std::string& kind,
                                                 const std::string& name,
                                                 const std::string& version,
                                                 std::vector<std::string>* warnings) {
  for (const ProjectPlugin& entry : options.project_plugins) {
    if (entry.kind != kind || entry.name != name) {
      continue;
    }
    if (!entry.version.empty() && !version.empty()) {
      const std::optional<Semver> has = Semver::ParseTolerant(entry.version);
      const std::optional<Semver> wanted = Semver::ParseTolerant(version);
      if (!has || !wanted || !(*has == *wanted)) {
        warnings->push_back(fmt::format(
            "the project's {} plugin '{}' in '{}' has version {}, but {} is wanted; it is not used",
            kind,
            name,
            entry.path,
            entry.version,
            version));
        continue;
      }
    }
    std::error_code ignored;
    if (!fs::is_directory(entry.path, ignored)) {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("the path '{}' of the project's {} plugin '{}' is not a directory",
                              entry.path,
                              kind,
                              name),
                  "correct `plugins` in the project file");
    }
    DAVIT_TRY(FoundPlugin found, FoundIn(FoundPlugin::Origin::kProject, entry.path, kind, name));
    found.version = entry.version;
    return std::optional<FoundPlugin>(std::move(found));
  }
  return std::optional<FoundPlugin>();
}

// P7.
std::optional<FoundPlugin> FindOnPath(const DiscoveryOptions& options,
                                      const std::string& kind,
                                      const std::string& name) {
  if (IsTruthy(options.environment, "PULUMI_IGNORE_AMBIENT_PLUGINS")) {
    return std::nullopt;
  }
  const std::string path = Variable(options.environment, "PATH");
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const fs::path folder = path.substr(begin, end - begin);
    begin = end + 1;
    if (folder.empty() || !folder.is_absolute()) {
      continue;  // a plugin must not depend on the current directory
    }
    const fs::path executable = folder / ExecutableName(kind, name);
    if (!IsExecutableFile(executable)) {
      continue;
    }
    FoundPlugin found = Found(FoundPlugin::Origin::kPath, executable);
    const fs::path bundled = fs::path(options.program_folder) / executable.filename();
    const bool has_bundled = !options.program_folder.empty() && IsExecutableFile(bundled);
    if (!has_bundled || !SameFile(executable, bundled)) {
      found.warnings.push_back(
          has_bundled
              ? fmt::format("using {} from PATH at '{}', not the one that came with davit at '{}'",
                            executable.filename().string(),
                            executable.string(),
                            bundled.string())
              : fmt::format("using {} from PATH at '{}'",
                            executable.filename().string(),
                            executable.string()));
    }
    return found;
  }
  return std::nullopt;
}

// P3: `<kind>-<name>-v<version>`; absent when the folder's name is not of that form.
std::optional<Semver> VersionOfEntry(const std::string& folder,
                                     const std::string& kind,
                                     const std::string& name) {
  const std::string prefix = fmt::format("{}-{}-v", kind, name);
  if (!folder.starts_with(prefix)) {
    return std::nullopt;
  }
  return Semver::ParseTolerant(std::string_view(folder).substr(prefix.size()));
}

struct CacheEntry {
  fs::path folder;
  Semver version;
};

std::vector<CacheEntry> ListCache(const fs::path& plugins,
                                  const std::string& kind,
                                  const std::string& name) {
  std::vector<CacheEntry> entries;
  std::error_code error;
  for (fs::directory_iterator at(plugins, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (!at->is_directory(ignored)) {
      continue;
    }
    const std::optional<Semver> version =
        VersionOfEntry(at->path().filename().string(), kind, name);
    if (version && !fs::exists(at->path().string() + ".partial", ignored)) {
      entries.push_back(CacheEntry{at->path(), *version});
    }
  }
  // Ascending; equal versions by their text, so that the choice among them is fixed (P9).
  std::ranges::sort(entries, [](const CacheEntry& a, const CacheEntry& b) {
    const std::weak_ordering order = a.version <=> b.version;
    return order != 0 ? order < 0 : a.folder < b.folder;
  });
  return entries;
}

// P9 (c).
const CacheEntry* Newest(const std::vector<CacheEntry>& entries,
                         const std::optional<Semver>& at_least) {
  const CacheEntry* best = nullptr;
  for (const CacheEntry& entry : entries) {
    if (at_least && entry.version < *at_least) {
      continue;
    }
    if (best == nullptr || !entry.version.is_prerelease() || best->version.is_prerelease()) {
      best = &entry;
    }
  }
  return best;
}

const CacheEntry* Select(const std::vector<CacheEntry>& entries,
                         const std::optional<Semver>& wanted,
                         bool is_legacy_search) {
  if (!wanted || is_legacy_search) {
    return Newest(entries, wanted);
  }
  const bool is_hash =
      wanted->major == 0 && wanted->minor == 0 && wanted->patch == 0 && wanted->is_prerelease();
  const CacheEntry* best = nullptr;
  for (const CacheEntry& entry : entries) {
    const bool matches =
        is_hash ? entry.version.Text() == wanted->Text() : entry.version == *wanted;  // P9 (a), (b)
    if (matches) {
      best = &entry;
    }
  }
  return best;
}

// P4: the file's time says when the plugin was used last. Failing to write it must not fail the
// run.
void NoteUse(const fs::path& folder) {
  const std::string path = folder.string() + ".lastused";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file >= 0) {
    ::futimens(file, nullptr);
    ::close(file);
  }
}

Unexpected Missing(const std::string& kind,
                   const std::string& name,
                   const std::string& version,
                   bool was_path_searched) {
  const std::string with_version = version.empty() ? "" : fmt::format(" version {}", version);
  return Fail(ErrorKind::kInvalid,
              fmt::format("no {} plugin '{}'{} found{}",
                          kind,
                          name,
                          with_version,
                          was_path_searched ? ", neither installed nor on PATH" : ""),
              fmt::format("`davit plugin install {} {}{}` installs it; or put {} on PATH, or name "
                          "its folder under `plugins` in the project file",
                          kind,
                          name,
                          version.empty() ? "" : " " + version,
                          ExecutableName(kind, name)));
}

}  // namespace

bool IsTruthy(const std::map<std::string, std::string>& environment, const std::string& name) {
  std::string text = Variable(environment, name);
  std::ranges::transform(
      text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text == "1" || text == "true";
}

std::string PulumiHome(const std::map<std::string, std::string>& environment) {
  const std::string home = Variable(environment, "PULUMI_HOME");
  if (!home.empty()) {
    return home;
  }
  const std::string user = Variable(environment, "HOME");
  return user.empty() ? std::string() : user + "/.pulumi";
}

Result<FoundPlugin> FindPlugin(const DiscoveryOptions& options,
                               const std::string& kind,
                               const std::string& name,
                               const std::string& version) {
  const std::optional<Semver> wanted = Semver::ParseTolerant(version);
  if (!version.empty() && !wanted) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("'{}' is not a version of the {} plugin '{}'", version, kind, name),
                "use a version such as 1.2.3");
  }
  if (name.empty() || name.find("..") != std::string::npos ||
      (kind != "language" && name.find('/') != std::string::npos)) {
    return Fail(ErrorKind::kInvalid, fmt::format("'{}' is not a plugin name", name));
  }
  std::vector<std::string> warnings;
  DAVIT_TRY(std::optional<FoundPlugin> found,
            FindInProject(options, kind, name, version, &warnings));
  if (!found) {
    found = FindOnPath(options, kind, name);
  }
  const fs::path bundled = fs::path(options.program_folder) / ExecutableName(kind, name);
  if (!found && !options.program_folder.empty() && IsExecutableFile(bundled)) {
    found = Found(FoundPlugin::Origin::kBundled, bundled);
  }
  if (!found) {
    const std::string home = PulumiHome(options.environment);
    const std::vector<CacheEntry> entries = home.empty()
                                                ? std::vector<CacheEntry>()
                                                : ListCache(fs::path(home) / "plugins", kind, name);
    const bool is_legacy =
        !Variable(options.environment, "PULUMI_ENABLE_LEGACY_PLUGIN_SEARCH").empty();
    const CacheEntry* entry = Select(entries, wanted, is_legacy);
    if (entry != nullptr) {
      DAVIT_TRY(found, FoundIn(FoundPlugin::Origin::kCache, entry->folder, kind, name));
      NoteUse(entry->folder);
      found->version = entry->version.Text();
    }
  }
  if (!found) {
    return Missing(
        kind, name, version, !IsTruthy(options.environment, "PULUMI_IGNORE_AMBIENT_PLUGINS"));
  }
  found->warnings.insert(found->warnings.begin(), warnings.begin(), warnings.end());
  return std::move(*found);
}

}  // namespace davit
