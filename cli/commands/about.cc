// `whoami`, `about` and `about env` (C25, C80).

#include <fmt/format.h>
#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>

#include "cli/commands/commands.h"
#include "cli/commands/needed_plugins.h"
#include "cli/commands/shared.h"
#include "cli/json_writer.h"
#include "cli/session.h"
#include "cli/table.h"

namespace davit {
namespace {

struct KnownVariable {
  const char* name;
  const char* meaning;
  bool is_secret = false;
};

// Every variable that davit reads, but those of its own tests.
constexpr std::array kVariables = {
    KnownVariable{"DAVIT_BACKEND_URL", "where state is kept; before PULUMI_BACKEND_URL"},
    KnownVariable{"DAVIT_PLUGIN_START_TIMEOUT", "seconds that a plugin has to start"},
    KnownVariable{"EDITOR", "the program for `state edit`"},
    KnownVariable{"GITHUB_TOKEN", "for downloads from GitHub", true},
    KnownVariable{"GITLAB_TOKEN", "for downloads from GitLab", true},
    KnownVariable{"NO_COLOR", "no colours"},
    KnownVariable{"PULUMI_BACKEND_URL", "where state is kept: file://FOLDER"},
    KnownVariable{"PULUMI_CONFIG_PASSPHRASE", "what secrets are encrypted with", true},
    KnownVariable{"PULUMI_CONFIG_PASSPHRASE_FILE", "a file that holds the passphrase"},
    KnownVariable{"PULUMI_CONTINUE_ON_ERROR", "as --continue-on-error"},
    KnownVariable{"PULUMI_DEBUG_GRPC", "a file for every call to and from plugins"},
    KnownVariable{"PULUMI_DEBUG_LANGUAGES", "name:port of language hosts that run already"},
    KnownVariable{"PULUMI_DEBUG_PROVIDERS", "name:port of providers that run already"},
    KnownVariable{"PULUMI_DEV", "no warnings about the versions that plugins report"},
    KnownVariable{"PULUMI_DISABLE_CI_DETECTION", "ask as if this were no CI system"},
    KnownVariable{"PULUMI_DISABLE_OUTPUT_VALUES", "programs are not sent output values"},
    KnownVariable{"PULUMI_DISABLE_REFRESH_BEFORE_UPDATE", "providers cannot ask for a refresh"},
    KnownVariable{"PULUMI_DISABLE_RESOURCE_REFERENCES", "programs are not sent references"},
    KnownVariable{"PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS", "no copies of earlier states"},
    KnownVariable{"PULUMI_ENABLE_LEGACY_PLUGIN_SEARCH", "take a newer plugin than was asked for"},
    KnownVariable{"PULUMI_ENABLE_STREAMING_JSON_PREVIEW", "`preview --json` prints events"},
    KnownVariable{"PULUMI_HOME", "the folder of plugins and of the selected stacks"},
    KnownVariable{"PULUMI_IGNORE_AMBIENT_PLUGINS", "do not look for plugins on PATH"},
    KnownVariable{"PULUMI_PARALLEL", "as --parallel"},
    KnownVariable{"PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES", "other places for plugins: regex=URL,..."},
    KnownVariable{"PULUMI_RUN_PROGRAM", "as --run-program"},
    KnownVariable{"PULUMI_SKIP_CONFIRMATIONS", "as --yes"},
    KnownVariable{"PULUMI_STACK", "the stack to use instead of the selected one"},
};

std::string UserName() {
  const passwd* user = ::getpwuid(::getuid());
  return user != nullptr ? user->pw_name : fmt::format("{}", ::getuid());
}

std::string HostName() {
  std::array<char, 256> host{};
  return ::gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "unknown";
}

// What of the project and its stack can be told; what cannot be is in `errors`.
struct Surroundings {
  std::string runtime;
  std::string backend_url;
  std::vector<PluginInstallation> plugins;
  std::optional<StackRef> stack;
  std::vector<std::pair<std::string, std::string>> resources;  ///< type and URN
  std::vector<std::pair<std::string, std::string>> pending;
  std::vector<std::string> errors;

  template <typename T>
  bool Note(const Result<T>& result, const char* what) {
    if (!result) {
      errors.push_back(fmt::format("{}: {}", what, result.error().Text()));
    }
    return result.has_value();
  }
};

void LookAtStack(Context& context, Surroundings* found) {
  Result<StackSession> session = OpenStack(context);
  if (!found->Note(session, "the stack is not known")) {
    return;
  }
  found->stack = session->stack;
  const Result<LoadedStack> loaded = session->LoadMasked();
  if (!found->Note(loaded, "the state cannot be read")) {
    return;
  }
  for (const StatePtr& state : loaded->snapshot.resources) {
    found->resources.emplace_back(state->type, state->urn.text());
  }
  for (const PendingOperation& operation : loaded->snapshot.pending_operations) {
    found->pending.emplace_back(operation.resource->type, operation.resource->urn.text());
  }
}

Surroundings LookAround(Context& context) {
  Surroundings found;
  const Result<Workspace> workspace = OpenWorkspace(context);
  if (!found.Note(workspace, "the project is not known")) {
    return found;
  }
  found.runtime = workspace->project().runtime;
  found.backend_url = workspace->BackendUrl();
  if (Result<std::vector<PluginInstallation>> plugins = NeededPlugins(context, true);
      found.Note(plugins, "the plugins of the program are not known")) {
    found.plugins = *std::move(plugins);
  }
  LookAtStack(context, &found);
  return found;
}

std::string AboutJson(const Surroundings& found) {
  utsname system{};
  ::uname(&system);
  const auto list = [](JsonWriter& json, const auto& records) {
    json.BeginArray();
    for (const auto& [type, urn] : records) {
      json.BeginObject().Key("type").String(type).Key("urn").String(urn).EndObject();
    }
    json.EndArray();
  };
  JsonWriter json(2);
  json.BeginObject().Key("plugins").BeginArray();
  for (const PluginInstallation& plugin : found.plugins) {
    json.BeginObject().Key("name").String(plugin.name).Key("version");
    plugin.version.empty() ? json.Null() : json.String(plugin.version);
    json.Key("kind").String(plugin.kind).EndObject();
  }
  json.EndArray().Key("host").BeginObject().Key("os").String(system.sysname);
  json.Key("version").String(system.release).Key("arch").String(system.machine).EndObject();
  json.Key("backend").BeginObject().Key("name").String(HostName());
  json.Key("url").String(found.backend_url).Key("user").String(UserName());
  json.Key("organizations").Null().EndObject().Key("currentStack");
  if (found.stack) {
    json.BeginObject().Key("name").String(found.stack->stack);
    json.Key("fullyQualifiedName").String(found.stack->Text());
    list(json.Key("resources"), found.resources);
    list(json.Key("pendingOps"), found.pending);
    json.EndObject();
  } else {
    json.Null();
  }
  json.Key("cliAbout").BeginObject().Key("version").String(VersionText().substr(1)).EndObject();
  json.Key("runtime");
  if (found.runtime.empty()) {
    json.Null();
  } else {
    json.BeginObject().Key("language").String(found.runtime).EndObject();
  }
  json.Key("dependencies").BeginArray().EndArray().Key("errors").BeginArray();
  for (const std::string& error : found.errors) {
    json.String(error);
  }
  return json.EndArray().EndObject().Take() + "\n";
}

std::string AboutText(const Surroundings& found) {
  utsname system{};
  ::uname(&system);
  const auto records = [&](const char* what, const auto& list) {
    if (list.empty()) {
      return fmt::format("Found no {} associated with {}\n\n", what, found.stack->stack);
    }
    std::vector<std::vector<std::string>> rows = {{"TYPE", "URN"}};
    for (const auto& [type, urn] : list) {
      rows.push_back({type, urn});
    }
    return TableText(rows, 0) + "\n";
  };
  std::string out = TableText({{"CLI", ""}, {"Version", VersionText().substr(1)}}, 0) + "\n";
  if (!found.plugins.empty()) {
    std::vector<std::vector<std::string>> rows = {{"KIND", "NAME", "VERSION"}};
    for (const PluginInstallation& plugin : found.plugins) {
      rows.push_back(
          {plugin.kind, plugin.name, plugin.version.empty() ? "unknown" : plugin.version});
    }
    out += "Plugins\n" + TableText(rows, 0) + "\n";
  }
  out += TableText({{"Host", ""},
                    {"OS", system.sysname},
                    {"Version", system.release},
                    {"Arch", system.machine}},
                   0);
  out += found.runtime.empty()
             ? "\n"
             : fmt::format("\nThis project is written in {}\n\n", found.runtime);
  if (found.stack) {
    out += fmt::format("Current Stack: {}\n\n", found.stack->Text());
    out += records("resources", found.resources) + records("pending operations", found.pending);
  }
  out += TableText({{"Backend", ""},
                    {"Name", HostName()},
                    {"URL", found.backend_url.empty() ? "unknown" : found.backend_url},
                    {"User", UserName()}},
                   0);
  return out;
}

}  // namespace

Result<int> ShowUser(Context& context) {
  const bool is_in_project = !FindProjectFile(context.directory()).empty();
  Result<Workspace> opened = is_in_project
                                 ? OpenWorkspace(context)
                                 : Workspace::Without(context.directory(), context.environment());
  DAVIT_TRY(const Workspace workspace, std::move(opened));
  if (context.invocation().Bool("json")) {
    JsonWriter json(2);
    json.BeginObject().Key("user").String(UserName()).Key("url").String(workspace.BackendUrl());
    context.Out(json.EndObject().Take() + "\n");
  } else if (context.invocation().Bool("verbose")) {
    context.Out(fmt::format("User: {}\nBackend URL: {}\n", UserName(), workspace.BackendUrl()));
  } else {
    context.Out(UserName() + "\n");
  }
  return kExitOk;
}

Result<int> ShowAbout(Context& context) {
  const Surroundings found = LookAround(context);
  if (context.invocation().Bool("json")) {
    context.Out(AboutJson(found));
    return kExitOk;
  }
  context.Out(AboutText(found));
  for (const std::string& error : found.errors) {
    context.Warn(error);
  }
  return kExitOk;
}

Result<int> ShowVariables(Context& context) {
  std::vector<std::vector<std::string>> rows = {{"VARIABLE", "DESCRIPTION", "VALUE"}};
  for (const KnownVariable& variable : kVariables) {
    const std::string value = context.Variable(variable.name);
    rows.push_back({variable.name,
                    variable.meaning,
                    value.empty()        ? "unset"
                    : variable.is_secret ? "[secret]"
                                         : value});
  }
  context.Out(TableText(rows, 0) +
              "\nPULUMI_OPTION_<NAME> stands in for the flag --<name> of any command.\n");
  return kExitOk;
}

}  // namespace davit
