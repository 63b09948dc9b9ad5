// `plugin install|ls|rm`, `install` and `provider ls` (C60-C62, P14-P20).

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/app.h"
#include "cli/commands/commands.h"
#include "cli/commands/needed_plugins.h"
#include "cli/commands/shared.h"
#include "cli/json_writer.h"
#include "cli/session.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/workspace/program_files.h"
#include "engine/base/semver.h"
#include "engine/plan/provider_inputs.h"
#include "host/plugin/download.h"
#include "host/plugin/plugin_cache.h"

namespace davit {
namespace {

// P8: what comes with the reference engine and is in no download place.
bool IsBundled(const std::string& kind, const std::string& name) {
  const auto is_one_of = [&](std::initializer_list<const char*> names) {
    return std::ranges::find(names, name) != names.end();
  };
  return (kind == "language" &&
          is_one_of({"nodejs", "bun", "go", "python", "dotnet", "yaml", "java", "pcl"})) ||
         (kind == "resource" && is_one_of({"pulumi-nodejs", "pulumi-python"}));
}

std::string KindsText() {
  return "use resource, language, analyzer, converter or tool";
}

// 82 B, 1.5 kB, 160 MB.
std::string SizeText(std::uintmax_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (size >= 999.5 && unit + 1 < kUnits.size()) {
    size /= 1000;
    ++unit;
  }
  return unit > 0 && size < 9.95 ? fmt::format("{:.1f} {}", size, kUnits[unit])
                                 : fmt::format("{:.0f} {}", size, kUnits[unit]);
}

WallTime Wall(std::chrono::system_clock::time_point time) {
  return std::chrono::time_point_cast<std::chrono::nanoseconds>(time);
}

// P20: whether what is installed will do. With a version that one, without one any.
bool IsThere(const PluginInstallation& plugin, const std::vector<CachedPlugin>& installed) {
  const std::optional<Semver> wanted = Semver::ParseTolerant(plugin.version);
  return std::ranges::any_of(installed, [&](const CachedPlugin& other) {
    return other.kind == plugin.kind && other.name == plugin.name &&
           (!wanted || *wanted == *Semver::ParseTolerant(other.version));
  });
}

Result<void> Install(const Context& context, PluginInstallation plugin) {
  DAVIT_TRY(const std::vector<CachedPlugin> installed, ListPlugins(context.environment()));
  if (!plugin.reinstall && !context.invocation().Bool("exact") && IsThere(plugin, installed)) {
    return {};
  }
  if (plugin.version.empty()) {
    DAVIT_TRY(
        plugin.version,
        LatestPluginVersion({plugin.kind, plugin.name, "", plugin.server}, context.environment()));
  }
  const std::string title =
      fmt::format("[{} plugin {}-{}] ", plugin.kind, plugin.name, plugin.version);
  Result<bool> done = InstallPlugin(plugin, context.environment(), [&](const std::string& note) {
    context.Err(title + note + "\n");
  });
  if (!done) {
    return Fail(std::move(done.error())
                    .WithContext(fmt::format("the {} plugin '{}' version {} is not installed",
                                             plugin.kind,
                                             plugin.name,
                                             plugin.version)));
  }
  return {};
}

}  // namespace

Result<std::vector<PluginInstallation>> NeededPlugins(Context& context, bool with_those_found) {
  DAVIT_TRY(const Workspace workspace, OpenWorkspace(context));
  std::vector<PackageDescriptor> packages;
  if (workspace.project().runtime == "yaml") {
    const ProjectFile& project = workspace.project();
    ProgramLoad load = LoadProgramFiles(
        project,
        context.environment(),
        {{"PULUMI_PROJECT", project.name}, {"PULUMI_ROOT_DIRECTORY", project.directory}});
    if (!load.errors.empty()) {
      return Fail(load.errors.front());
    }
    packages = std::move(load.packages);
  } else {
    AppOptions options;
    options.context = &context;
    options.workspace = &workspace;
    DAVIT_TRY(const std::unique_ptr<App> app, App::Create(std::move(options)));
    Result<std::vector<PackageDescriptor>> required = app->RequiredPackages(workspace);
    app->Close(nullptr);
    DAVIT_TRY(packages, std::move(required));
  }
  DAVIT_TRY(const DiscoveryOptions discovery, DiscoveryFor(context, workspace));
  std::vector<PluginInstallation> needed;
  for (const PackageDescriptor& package : packages) {
    const PluginSpec spec = PluginOf(package);
    PluginInstallation plugin;
    plugin.kind = "resource";
    plugin.name = spec.name;
    plugin.version = spec.version;
    plugin.server = spec.download_url;
    const auto checksum = spec.checksums.find("linux-" + MachineName());
    plugin.checksum = checksum == spec.checksums.end() ? std::string() : checksum->second;
    const bool is_found =
        IsBundled(plugin.kind, plugin.name) ||
        FindPlugin(discovery, plugin.kind, plugin.name, plugin.version).has_value();
    const bool is_cached_only = context.invocation().Bool("reinstall");
    if (plugin.name != "pulumi" && (with_those_found || !is_found || is_cached_only)) {
      needed.push_back(std::move(plugin));
    }
  }
  return needed;
}

namespace {

Result<int> InstallNeeded(Context& context) {
  DAVIT_TRY(std::vector<PluginInstallation> needed, NeededPlugins(context, false));
  for (PluginInstallation& plugin : needed) {
    plugin.reinstall = context.invocation().Bool("reinstall");
    DAVIT_TRY_VOID(Install(context, std::move(plugin)));
  }
  return kExitOk;
}

Result<PluginInstallation> PluginGiven(const Context& context) {
  const Invocation& words = context.invocation();
  PluginInstallation plugin;
  plugin.kind = words.arguments[0];
  if (!IsPluginKind(plugin.kind)) {
    return Fail(
        ErrorKind::kInvalid, fmt::format("unrecognized plugin kind: {}", plugin.kind), KindsText());
  }
  if (words.arguments.size() < 2) {
    return Fail(ErrorKind::kInvalid, "missing plugin name argument");
  }
  const std::size_t at = words.arguments[1].find('@');
  plugin.name = words.arguments[1].substr(0, at);
  plugin.version = at == std::string::npos ? "" : words.arguments[1].substr(at + 1);
  if (words.arguments.size() > 2) {
    if (!plugin.version.empty()) {
      return Fail(ErrorKind::kInvalid, "the version stands both in the name and as an argument");
    }
    plugin.version = words.arguments[2];
  }
  plugin.version = plugin.version.starts_with('v') ? plugin.version.substr(1) : plugin.version;
  plugin.server = words.Text("server");
  plugin.checksum = words.Text("checksum");
  plugin.reinstall = words.Bool("reinstall");
  if (words.IsSet("file")) {
    plugin.file =
        (std::filesystem::path(context.directory()) / words.Text("file")).lexically_normal();
    if (plugin.version.empty()) {
      return Fail(ErrorKind::kInvalid,
                  "missing plugin version argument, which a file does not tell");
    }
  } else if (IsBundled(plugin.kind, plugin.name)) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("the {} plugin '{}' is in no download place: it comes with a "
                            "distribution",
                            plugin.kind,
                            plugin.name),
                "put it on PATH, or install it with --file");
  }
  const bool is_digest =
      plugin.checksum.size() == 64 &&
      std::ranges::all_of(plugin.checksum, [](unsigned char c) { return std::isxdigit(c) != 0; });
  if (!plugin.checksum.empty() && !is_digest) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("'{}' is not a value for --checksum", plugin.checksum),
                "use the 64 hexadecimal digits of a SHA-256");
  }
  return plugin;
}

// `1.2.3` is that version and not a range of one.
Result<bool> Matches(const CachedPlugin& plugin, const std::vector<std::string>& words) {
  if ((!words.empty() && plugin.kind != words[0]) ||
      (words.size() > 1 && plugin.name != words[1])) {
    return false;
  }
  return words.size() < 3 ? Result<bool>(true)
                          : IsInRange(*Semver::ParseTolerant(plugin.version), words[2]);
}

}  // namespace

Result<int> InstallPlugins(Context& context) {
  const Invocation& words = context.invocation();
  if (words.arguments.empty()) {
    for (const char* flag : {"file", "checksum", "server", "exact"}) {
      if (words.IsSet(flag)) {
        return Fail(ErrorKind::kInvalid,
                    fmt::format("--{} is only for a plugin that is named", flag));
      }
    }
    return InstallNeeded(context);
  }
  DAVIT_TRY(PluginInstallation plugin, PluginGiven(context));
  DAVIT_TRY_VOID(Install(context, std::move(plugin)));
  return kExitOk;
}

Result<int> InstallProject(Context& context) {
  if (!context.invocation().Bool("no-dependencies")) {
    DAVIT_TRY(const Workspace workspace, OpenWorkspace(context));
    if (workspace.project().runtime != "yaml") {
      context.Warn(
          fmt::format("davit does not install the libraries of programs in '{}'; use the "
                      "tools of that language",
                      workspace.project().runtime));
    }
  }
  return context.invocation().Bool("no-plugins") ? Result<int>(kExitOk) : InstallNeeded(context);
}

Result<int> ListPluginsCommand(Context& context) {
  DAVIT_TRY(std::vector<CachedPlugin> plugins, ListPlugins(context.environment()));
  if (context.invocation().Bool("project")) {
    DAVIT_TRY(const std::vector<PluginInstallation> needed, NeededPlugins(context, true));
    std::erase_if(plugins, [&](const CachedPlugin& plugin) {
      return std::ranges::none_of(
          needed, [&](const PluginInstallation& wanted) { return IsThere(wanted, {plugin}); });
    });
  }
  DAVIT_TRY(const bool output_is_json, WantsJson(context));
  if (output_is_json || context.invocation().Bool("json")) {
    JsonWriter json(2);
    json.BeginArray();
    for (const CachedPlugin& plugin : plugins) {
      json.BeginObject().Key("name").String(plugin.name).Key("kind").String(plugin.kind);
      json.Key("version").String(plugin.version);
      json.Key("size").Integer(static_cast<std::int64_t>(plugin.size));
      json.Key("installTime").String(JsonTime(Wall(plugin.installed)));
      json.Key("lastUsedTime").String(JsonTime(Wall(plugin.last_used))).EndObject();
    }
    context.Out(json.EndArray().Take() + "\n");
    return kExitOk;
  }
  std::vector<std::vector<std::string>> rows = {
      {"NAME", "KIND", "VERSION", "SIZE", "INSTALLED", "LAST USED"}};
  std::uintmax_t total = 0;
  for (const CachedPlugin& plugin : plugins) {
    total += plugin.size;
    rows.push_back({plugin.name,
                    plugin.kind,
                    plugin.version,
                    SizeText(plugin.size),
                    AgoText(Wall(plugin.installed)),
                    AgoText(Wall(plugin.last_used))});
  }
  context.Out(TableText(rows, 0) + fmt::format("\nTOTAL plugin cache size: {}\n", SizeText(total)));
  return kExitOk;
}

Result<int> RemovePlugins(Context& context) {
  const std::vector<std::string>& words = context.invocation().arguments;
  if (words.empty() && !context.invocation().Bool("all")) {
    return Fail(ErrorKind::kInvalid, "please pass --all if you'd like to remove all plugins");
  }
  if (!words.empty() && !IsPluginKind(words[0])) {
    return Fail(
        ErrorKind::kInvalid, fmt::format("unrecognized plugin kind: {}", words[0]), KindsText());
  }
  DAVIT_TRY(const std::vector<CachedPlugin> plugins, ListPlugins(context.environment()));
  std::vector<CachedPlugin> chosen;
  std::string list;
  for (const CachedPlugin& plugin : plugins) {
    DAVIT_TRY(const bool matches, Matches(plugin, words));
    if (matches) {
      chosen.push_back(plugin);
      list += fmt::format("    {} {}-{}\n", plugin.kind, plugin.name, plugin.version);
    }
  }
  if (chosen.empty()) {
    context.Out("no plugins found to uninstall\n");
    return kExitOk;
  }
  if (!IsApproved(context)) {
    context.Err(fmt::format("This will remove {} plugin{} from the cache:\n{}",
                            chosen.size(),
                            chosen.size() == 1 ? "" : "s",
                            list));
    if (!context.is_interactive() || Ask("Please confirm by typing `yes`: ", false) != "yes") {
      return Fail(ErrorKind::kRefused, "confirmation declined", "--yes approves it");
    }
  }
  for (const CachedPlugin& plugin : chosen) {
    DAVIT_TRY_VOID(RemovePlugin(plugin));
    context.Out(fmt::format("removed: {} {}-{}\n", plugin.kind, plugin.name, plugin.version));
  }
  return kExitOk;
}

Result<int> ListProviders(Context& context) {
  DAVIT_TRY(StackSession session, OpenStack(context));
  DAVIT_TRY(const LoadedStack loaded, session.LoadMasked());
  DAVIT_TRY(const DiscoveryOptions discovery, DiscoveryFor(context, session.workspace));
  std::vector<std::vector<std::string>> rows = {{"PACKAGE", "NAME", "VERSION", "PLUGIN"}};
  JsonWriter json(2);
  json.BeginArray();
  for (const StatePtr& record : loaded.snapshot.resources) {
    if (!record->urn.is_provider()) {
      continue;
    }
    const std::string package(ProviderRef{record->urn, record->id}.package());
    DAVIT_TRY(const PluginSpec spec, PluginOf(package, record->inputs));
    const Result<FoundPlugin> found = FindPlugin(discovery, "resource", spec.name, spec.version);
    const std::string place = !found                      ? std::string()
                              : found->executable.empty() ? found->directory
                                                          : found->executable;
    rows.push_back({package,
                    std::string(record->urn.name()),
                    spec.version,
                    place.empty() ? "not found" : place});
    json.BeginObject().Key("package").String(package);
    json.Key("urn").String(record->urn.text()).Key("id").String(record->id);
    json.Key("plugin").String(spec.name).Key("version").String(spec.version);
    json.Key("path").String(place).EndObject();
  }
  context.Out(context.invocation().Bool("json") ? json.EndArray().Take() + "\n"
                                                : TableText(rows, 0));
  return kExitOk;
}

}  // namespace davit
