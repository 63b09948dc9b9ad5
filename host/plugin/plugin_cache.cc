#include "host/plugin/plugin_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "engine/base/digest.h"
#include "engine/base/semver.h"
#include "host/plugin/archive.h"
#include "host/plugin/discovery.h"
#include "host/plugin/download.h"

namespace davit {
namespace {

namespace fs = std::filesystem;

using Moment = std::chrono::system_clock::time_point;

constexpr std::array<const char*, 5> kKinds = {
    "analyzer", "converter", "language", "resource", "tool"};

Moment TimeOf(const timespec& time) {
  return Moment(std::chrono::duration_cast<Moment::duration>(
      std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec)));
}

Result<fs::path> PluginFolder(const std::map<std::string, std::string>& environment) {
  const std::string home = PulumiHome(environment);
  if (home.empty()) {
    return Fail(ErrorKind::kInvalid,
                "it is not known where plugins are installed",
                "set PULUMI_HOME, or HOME");
  }
  return fs::path(home) / "plugins";
}

std::uintmax_t SizeOf(const fs::path& folder) {
  std::uintmax_t size = 0;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored) && !at->is_symlink(ignored)) {
      size += at->file_size(ignored);
    }
  }
  return size;
}

Unexpected Failed(const std::string& what, const fs::path& path, const std::error_code& failure) {
  return Fail(ErrorKind::kFailed,
              fmt::format("'{}' cannot be {}: {}", path.string(), what, failure.message()));
}

Result<void> Remove(const fs::path& path) {
  std::error_code failure;
  fs::remove_all(path, failure);
  return failure ? Result<void>(Failed("removed", path, failure)) : Result<void>();
}

// P3; absent when it is no installed plugin.
std::optional<CachedPlugin> PluginOf(const fs::path& folder) {
  constexpr std::string_view kName =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  std::error_code ignored;
  const std::string entry = folder.filename().string();
  const std::size_t dash = entry.find('-');
  const std::size_t version = entry.find("-v", dash + 1);
  if (dash == std::string::npos || version == std::string::npos ||
      !fs::is_directory(folder, ignored) || fs::exists(folder.string() + ".partial", ignored)) {
    return std::nullopt;
  }
  CachedPlugin plugin;
  plugin.kind = entry.substr(0, dash);
  // The name may hold `-v` itself: the version begins at the last one that a version follows.
  for (std::size_t at = version; at != std::string::npos; at = entry.find("-v", at + 1)) {
    const std::string text = entry.substr(at + 2);
    if (text.find(".tmp") == std::string::npos && Semver::ParseTolerant(text)) {
      plugin.name = entry.substr(dash + 1, at - dash - 1);
      plugin.version = text;
    }
  }
  plugin.directory = folder.string();
  const bool is_plugin = IsPluginKind(plugin.kind) && plugin.name.size() > 1 &&
                         plugin.name.find_first_not_of(kName) == std::string::npos;
  return is_plugin ? std::optional(std::move(plugin)) : std::nullopt;
}

// P4: held while installing; the kernel gives it back when the process dies.
class InstallLock {
 public:
  static Result<InstallLock> Take(const fs::path& path,
                                  const std::function<void(const std::string&)>& note) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) {
      return Failed("opened", path, std::error_code(errno, std::generic_category()));
    }
    InstallLock lock(file);
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
      note("waiting for another process that installs it");
      while (::flock(file, LOCK_EX) != 0) {
        if (errno != EINTR) {
          return Failed("locked", path, std::error_code(errno, std::generic_category()));
        }
      }
    }
    return lock;
  }
  InstallLock(InstallLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  InstallLock& operator=(InstallLock&&) = delete;
  ~InstallLock() {
    if (file_ >= 0) {
      ::close(file_);
    }
  }

 private:
  explicit InstallLock(int file) : file_(file) {}
  int file_;
};

bool BeginsLikeGzip(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 2> head{};
  file.read(head.data(), head.size());
  return file && head[0] == '\x1f' && head[1] == '\x8b';
}

Result<void> CheckArchive(const fs::path& path, const std::string& checksum) {
  if (checksum.empty()) {
    return {};
  }
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::string wanted = checksum;
  std::ranges::transform(
      wanted, wanted.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string is = Sha256Hex(bytes);
  return is == wanted
             ? Result<void>()
             : Result<void>(
                   Fail(ErrorKind::kRefused,
                        fmt::format("the archive has the SHA-256 {}, but {} is wanted", is, wanted),
                        "do not use it; find out which of the two is right"));
}

class Installer {
 public:
  Installer(const PluginInstallation& plugin,
            const std::map<std::string, std::string>& environment,
            const std::function<void(const std::string&)>& note)
      : plugin_(plugin), environment_(environment), note_(note) {}

  Result<bool> Run() {
    DAVIT_TRY(const fs::path plugins, PluginFolder(environment_));
    const std::string entry = fmt::format("{}-{}-v{}", plugin_.kind, plugin_.name, plugin_.version);
    target_ = plugins / entry;
    std::error_code failure;
    fs::create_directories(plugins, failure);
    if (failure) {
      return Failed("made", plugins, failure);
    }
    DAVIT_TRY(const InstallLock lock, InstallLock::Take(Beside(".lock"), note_));
    if (fs::exists(target_, failure) && !fs::exists(Beside(".partial"), failure) &&
        !plugin_.reinstall) {
      return false;
    }
    note_("installing");
    const fs::path fresh = Beside(".tmp1");  // not listed by anyone (P3)
    DAVIT_TRY_VOID(Remove(fresh));
    fs::create_directory(fresh, failure);
    fs::permissions(fresh, fs::perms::owner_all, failure);
    if (failure) {
      return Failed("made", fresh, failure);
    }
    Result<void> filled = Fill(fresh);
    if (!filled) {
      DAVIT_TRY_VOID(Remove(fresh));
      return Fail(std::move(filled).error());
    }
    return Exchange(fresh);
  }

 private:
  fs::path Beside(const char* end) const { return target_.string() + end; }

  Result<void> Fill(const fs::path& folder) {
    std::error_code failure;
    fs::path archive = plugin_.file;
    if (plugin_.file.empty()) {
      archive = Beside(".download");
      PluginOrigin origin{plugin_.kind, plugin_.name, plugin_.version, plugin_.server};
      DAVIT_TRY(const std::vector<DownloadPlace> places, PluginPlaces(origin, environment_));
      DAVIT_TRY_VOID(Download(places, archive.string()));
    } else if (fs::is_directory(archive, failure)) {
      fs::copy(
          archive, folder, fs::copy_options::recursive | fs::copy_options::copy_symlinks, failure);
      return failure ? Result<void>(Failed("copied", archive, failure)) : Result<void>();
    } else if (!fs::exists(archive, failure)) {
      return Fail(ErrorKind::kInvalid, fmt::format("there is no file '{}'", plugin_.file));
    } else if (!BeginsLikeGzip(archive)) {
      DAVIT_TRY_VOID(CheckArchive(archive, plugin_.checksum));
      const fs::path executable = folder / fmt::format("pulumi-{}-{}", plugin_.kind, plugin_.name);
      fs::copy_file(archive, executable, failure);
      fs::permissions(executable, fs::perms(0755), failure);
      return failure ? Result<void>(Failed("copied", archive, failure)) : Result<void>();
    }
    Result<void> unpacked = CheckArchive(archive, plugin_.checksum);
    if (unpacked) {
      unpacked = UnpackArchive(archive.string(), folder.string());
    }
    if (plugin_.file.empty()) {  // also what is no use: the next attempt must not go on behind it
      DAVIT_TRY_VOID(Remove(archive));
    }
    return unpacked;
  }

  // P19: while the mark is there, nobody starts what is in the folder.
  Result<bool> Exchange(const fs::path& fresh) {
    std::ofstream(Beside(".partial")).close();
    DAVIT_TRY_VOID(Remove(target_));
    std::error_code failure;
    fs::rename(fresh, target_, failure);
    if (failure) {
      return Failed("put in place", target_, failure);
    }
    DAVIT_TRY_VOID(Remove(Beside(".partial")));
    return true;
  }

  const PluginInstallation& plugin_;
  const std::map<std::string, std::string>& environment_;
  const std::function<void(const std::string&)>& note_;
  fs::path target_;
};

}  // namespace

bool IsPluginKind(const std::string& kind) {
  return std::ranges::find(kKinds, kind) != kKinds.end();
}

Result<std::vector<CachedPlugin>> ListPlugins(
    const std::map<std::string, std::string>& environment) {
  DAVIT_TRY(const fs::path plugins, PluginFolder(environment));
  std::vector<std::pair<Semver, CachedPlugin>> found;
  std::error_code failure;
  for (fs::directory_iterator at(plugins, failure), end; !failure && at != end;
       at.increment(failure)) {
    std::error_code ignored;
    std::optional<CachedPlugin> plugin = PluginOf(at->path());
    struct stat status {};
    if (!plugin || ::stat(at->path().c_str(), &status) != 0) {
      continue;
    }
    plugin->size = SizeOf(at->path());
    plugin->installed = TimeOf(status.st_ctim);
    plugin->last_used = TimeOf(status.st_atim);
    if (::stat((plugin->directory + ".lastused").c_str(), &status) == 0) {
      plugin->last_used = TimeOf(status.st_mtim);
    }
    found.emplace_back(*Semver::ParseTolerant(plugin->version), *std::move(plugin));
  }
  std::ranges::sort(found, [](const auto& a, const auto& b) {
    return a.second.name != b.second.name   ? a.second.name < b.second.name
           : a.second.kind != b.second.kind ? a.second.kind < b.second.kind
                                            : a.first > b.first;
  });
  std::vector<CachedPlugin> plugins_found;
  for (auto& [version, plugin] : found) {
    plugins_found.push_back(std::move(plugin));
  }
  return plugins_found;
}

Result<void> RemovePlugin(const CachedPlugin& plugin) {
  // Marked first: a removal that is interrupted leaves nothing that looks whole.
  std::ofstream(plugin.directory + ".partial").close();
  for (const char* end : {"", ".lastused", ".partial", ".lock"}) {
    DAVIT_TRY_VOID(Remove(plugin.directory + end));
  }
  return {};
}

Result<bool> InstallPlugin(const PluginInstallation& plugin,
                           const std::map<std::string, std::string>& environment,
                           const std::function<void(const std::string&)>& note) {
  const bool is_name = !plugin.name.empty() && plugin.name.find('/') == std::string::npos &&
                       plugin.name.find("..") == std::string::npos;
  if (!IsPluginKind(plugin.kind) || !is_name || !Semver::ParseStrict(plugin.version)) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("there can be no {} plugin '{}' with version '{}'",
                            plugin.kind,
                            plugin.name,
                            plugin.version),
                "a version such as 1.2.3 must be given");
  }
  return Installer(plugin, environment, note).Run();
}

}  // namespace davit
