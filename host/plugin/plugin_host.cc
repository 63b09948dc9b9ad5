#include "host/plugin/plugin_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>

#include "engine/base/semver.h"
#include "engine/base/waiting.h"
#include "host/client/analyzer_client.h"
#include "host/client/provider_client.h"
#include "host/language/hosted_process.h"
#include "host/plugin/plugin_process.h"
#include "host/wire/json_text.h"

namespace davit {
namespace {

constexpr std::chrono::seconds kConnectBudget(10);  // P29
constexpr std::string_view kLoopback = "127.0.0.1:";

using Environment = std::map<std::string, std::string>;

const std::string* Find(const Environment& environment, const std::string& name) {
  const auto at = environment.find(name);
  return at == environment.end() ? nullptr : &at->second;
}

std::optional<int> ParseInt(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

// P21: the port of the already running plugin `name`, if `variable` has one.
Result<std::optional<int>> AttachPort(const Environment& environment,
                                      const std::string& variable,
                                      const std::string& name) {
  const std::string* text = Find(environment, variable);
  std::string_view rest = text == nullptr ? std::string_view() : *text;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view entry = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const std::size_t colon = entry.find(':');
    const std::optional<int> port =
        colon == std::string_view::npos ? std::nullopt : ParseInt(entry.substr(colon + 1));
    if (!port || *port < 1 || *port > 65535) {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("{} holds '{}', which is not of the form name:port", variable, entry),
                  "write it as name:port[,name:port...]");
    }
    if (entry.substr(0, colon) == name) {
      return port;
    }
  }
  return std::optional<int>();
}

std::string WholeConfig(const std::map<std::string, ConfigValue>& config) {
  std::string json = "{";
  for (const auto& [key, value] : config) {
    json += json.size() > 1 ? "," : "";
    AppendJsonText(key, &json);
    json += ':';
    AppendJsonText(value.text, &json);
  }
  return json + "}";
}

// P36: the package's configuration as a JSON object of texts.
std::string PackageConfig(const std::map<std::string, ConfigValue>& config,
                          const std::string& package) {
  std::map<std::string, ConfigValue> own;
  for (const auto& [key, value] : config) {
    const std::size_t colon = key.find(':');
    if (colon != std::string::npos && key.substr(0, colon) == package) {
      own.emplace(key.substr(colon + 1), value);
    }
  }
  return WholeConfig(own);
}

std::string UpperCase(std::string text) {
  std::ranges::transform(
      text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// P23.
Environment PluginEnvironment(const PluginHostOptions& options, const PluginSpec& spec) {
  Environment environment = options.environment;
  for (const auto& [source, target] : spec.env_var_mappings) {
    if (const std::string* value = Find(options.environment, source)) {
      environment[target] = *value;
    }
  }
  for (const auto& [name, value] : options.runtime_options) {
    environment["PULUMI_RUNTIME_" + UpperCase(name)] = value;
  }
  if (!options.project.empty()) {
    environment["PULUMI_PROJECT"] = options.project;
    if (spec.name == "pulumi-nodejs") {
      environment["PULUMI_NODEJS_PROJECT"] = options.project;
    }
  }
  environment["PULUMI_CONFIG"] = PackageConfig(options.config, spec.name);
  return environment;
}

// A policy pack whose language has no host (P119): everything that it is told comes by words and
// environment.
void PrepareShim(const PluginFile& file,
                 const std::string& folder,
                 const RunInfo& info,
                 ChildOptions* child) {
  child->working_directory = folder;
  child->arguments.emplace_back(".");
  for (const auto& [name, value] : file.options) {
    const std::string text = value.as_string() != nullptr ? *value.as_string() : DebugText(value);
    if (!text.empty()) {
      child->arguments.push_back(fmt::format("-{}={}", name, text));
    }
  }
  std::map<std::string, std::string> told = {{"ORGANIZATION", info.organization},
                                             {"PROJECT", info.project},
                                             {"STACK", info.stack},
                                             {"DRY_RUN", info.preview ? "true" : "false"}};
  for (const auto& [name, value] : told) {
    child->environment["PULUMI_" + name] = value;
    if (file.runtime == "nodejs") {
      child->environment["PULUMI_NODEJS_" + name] = value;
    }
  }
  child->environment["PULUMI_CONFIG"] = WholeConfig(info.config);
}

// P27, P40.
bool IsDynamicProvider(const std::string& executable) {
  return executable.ends_with("pulumi-resource-pulumi-nodejs") ||
         executable.ends_with("pulumi-resource-pulumi-python");
}

// Connects to a language host; only one that somebody else started is told about the engine (P112).
Task<Result<std::shared_ptr<LanguageHost>>> ConnectLanguage(const PluginHostOptions& options,
                                                            LanguageHostOptions host_options,
                                                            bool is_attached,
                                                            CancelToken cancel) {
  auto host = std::make_shared<LanguageHost>(std::move(host_options));
  Result<void> connected = co_await host->Connect(kConnectBudget, cancel);
  if (connected && is_attached) {
    connected = co_await host->Handshake(options.engine_address, cancel);
  }
  if (!connected) {
    co_await host->Close();
    co_return Fail(std::move(connected).error());
  }
  co_return host;
}

}  // namespace

struct GrpcPluginHost::Impl {
  using LoadedLanguage = Completion<Result<std::shared_ptr<LanguageHost>>>;

  PluginHostOptions options;
  int next_stream = 1;
  std::map<std::string, std::shared_ptr<LoadedLanguage>> languages;  ///< by runtime

  void Show(Severity severity, const std::string& message, int stream_id) const {
    if (options.output) {
      options.output(severity, message, std::string(), stream_id);
    }
  }

  enum class Warnings { kShown, kKept };
  Task<Result<FoundPlugin>> Discover(std::string kind,
                                     std::string name,
                                     std::string version,
                                     Warnings warnings = Warnings::kShown) const {
    DiscoveryOptions discovery;
    discovery.project_plugins = options.project_plugins;
    discovery.environment = options.environment;
    discovery.program_folder = options.program_folder;
    std::function<Result<FoundPlugin>()> find = [discovery, kind, name, version] {
      return FindPlugin(discovery, kind, name, version);
    };
    Result<FoundPlugin> found =
        co_await RunOn<Result<FoundPlugin>>(*options.pool, *options.loop, std::move(find));
    if (found && warnings == Warnings::kShown) {
      for (const std::string& warning : found->warnings) {
        Show(Severity::kWarning, warning, 0);
      }
    }
    co_return found;
  }

  // P22-P27 for every kind. The output of a quiet plugin is for debugging.
  PluginLaunch Launch(std::string label,
                      const FoundPlugin& found,
                      bool is_quiet,
                      const std::shared_ptr<Impl>& self) {
    PluginLaunch launch;
    launch.label = std::move(label);
    launch.child.program = found.executable;
    launch.child.arguments = {options.engine_address};
    launch.child.environment = options.environment;
    launch.child.working_directory =
        options.program_directory.empty() ? options.root_directory : options.program_directory;
    launch.stdout_severity = is_quiet ? Severity::kDebug : Severity::kInfo;
    launch.stderr_severity = is_quiet ? Severity::kDebug : Severity::kInfoToStderr;
    launch.stdout_stream = next_stream++;
    launch.stderr_stream = next_stream++;
    launch.output = [self](Severity severity, const std::string& message, int stream_id) {
      self->Show(severity, message, stream_id);
    };
    launch.port_deadline = options.start_deadline;
    const std::string* deadline = Find(options.environment, "DAVIT_PLUGIN_START_TIMEOUT");
    const std::optional<int> seconds = deadline == nullptr ? std::nullopt : ParseInt(*deadline);
    if (seconds && *seconds > 0) {
      launch.port_deadline = std::chrono::seconds(*seconds);
    }
    return launch;
  }

  PluginLaunch LaunchProvider(const PluginSpec& spec,
                              const FoundPlugin& found,
                              const std::shared_ptr<Impl>& self) {
    const std::string& place = found.executable.empty() ? found.directory : found.executable;
    const bool is_dynamic = IsDynamicProvider(found.executable);
    PluginLaunch launch = Launch(
        fmt::format("the resource plugin '{}' ({})", spec.name, place), found, !is_dynamic, self);
    launch.is_dynamic = is_dynamic;
    launch.child.environment = PluginEnvironment(options, spec);
    return launch;
  }

  // P38.
  PluginLaunch::Starter StartThrough(std::shared_ptr<LanguageHost> host,
                                     const std::string& kind,
                                     const std::string& directory,
                                     PropertyMap runtime_options) const {
    PluginRun run;
    run.kind = kind;
    run.plugin.root_directory = directory;
    run.plugin.program_directory = directory;
    run.plugin.options = std::move(runtime_options);
    run.loader_target = options.loader_target;
    return
        [host, run](AsioLoop& loop, ChildOptions child) -> Result<std::unique_ptr<RunningProcess>> {
          return StartHosted(loop, host, run, std::move(child));
        };
  }

  // P112. `client` is at an address that is given.
  Task<Result<std::shared_ptr<LanguageHost>>> StartLanguage(std::shared_ptr<Impl> self,
                                                            std::string runtime,
                                                            CancelToken cancel) {
    LanguageHostOptions host;
    host.loop = options.loop;
    host.runtime = runtime;
    host.end_grace = options.end_grace;
    host.trace = options.trace;
    host.trace_metadata = {{"kind", "language"}, {"mode", "client"}, {"runtime", runtime}};
    if (runtime == "client") {
      const std::string* address = Find(options.runtime_options, "address");
      if (address == nullptr || address->empty()) {
        co_return Fail(ErrorKind::kInvalid,
                       "the runtime 'client' has no option 'address'",
                       "give it the address of a running language host");
      }
      host.target = *address;
      host.trace_metadata.back() = {"address", *address};
      co_return co_await ConnectLanguage(options, std::move(host), false, std::move(cancel));
    }
    DAVIT_CO_TRY(const std::optional<int> port,
                 AttachPort(options.environment, "PULUMI_DEBUG_LANGUAGES", runtime));
    if (port) {
      host.target = std::string(kLoopback) + std::to_string(*port);
      co_return co_await ConnectLanguage(options, std::move(host), true, std::move(cancel));
    }
    DAVIT_CO_TRY(const FoundPlugin found, co_await Discover("language", runtime, ""));
    PluginLaunch launch = Launch(
        fmt::format("the language host '{}' ({})", runtime, found.executable), found, false, self);
    DAVIT_CO_TRY(host.process,
                 co_await PluginProcess::Launch(*options.loop, std::move(launch), cancel));
    host.target = std::string(kLoopback) + std::to_string(host.process->port());
    co_return co_await ConnectLanguage(options, std::move(host), false, std::move(cancel));
  }

  // P11.
  void WarnOfOldVersion(const PluginSpec& spec, const std::string& reported) const {
    const std::optional<Semver> wanted = Semver::ParseTolerant(spec.version);
    const std::optional<Semver> has = Semver::ParseTolerant(reported);
    if (spec.version.empty() || !wanted || IsTruthy(options.environment, "PULUMI_DEV") ||
        (has && *has >= *wanted)) {
      return;
    }
    Show(Severity::kWarning,
         fmt::format("the resource plugin '{}' reports {}, but version {} was asked for",
                     spec.name,
                     reported.empty() ? std::string("no version") : "version " + reported,
                     spec.version),
         0);
  }
};

GrpcPluginHost::GrpcPluginHost(PluginHostOptions options) : impl_(std::make_shared<Impl>()) {
  impl_->options = std::move(options);
}

GrpcPluginHost::~GrpcPluginHost() = default;

Task<Result<std::shared_ptr<Provider>>> GrpcPluginHost::LoadProvider(PluginSpec spec,
                                                                     CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  const PluginHostOptions& options = impl->options;
  const std::string context = fmt::format("cannot load the provider plugin '{}'", spec.name);
  Result<std::optional<int>> attach_port =
      AttachPort(options.environment, "PULUMI_DEBUG_PROVIDERS", spec.name);
  if (!attach_port) {
    co_return Fail(std::move(attach_port).error());
  }

  ProviderClientOptions client_options;
  client_options.loop = options.loop;
  client_options.package = spec.name;
  client_options.status_address = options.engine_address;
  client_options.end_grace = options.end_grace;
  client_options.trace = options.trace;
  client_options.trace_metadata = {{"kind", "resource"}, {"mode", "client"}, {"name", spec.name}};
  client_options.output = [impl](Severity severity, const std::string& message) {
    impl->Show(severity, message, 0);
  };
  HandshakeRequest handshake;
  handshake.engine_address = options.engine_address;
  handshake.loader_target = options.loader_target;
  handshake.supports_refresh_before_update =
      !IsTruthy(options.environment, "PULUMI_DISABLE_REFRESH_BEFORE_UPDATE");

  const bool is_attached = attach_port->has_value();
  if (is_attached) {
    client_options.target = std::string(kLoopback) + std::to_string(**attach_port);
  } else {
    DAVIT_CO_TRY(const FoundPlugin found,
                 co_await impl->Discover("resource", spec.name, spec.version));
    PluginLaunch launch = impl->LaunchProvider(spec, found, impl);
    if (found.executable.empty()) {
      Result<PluginFile> file = options.read_plugin_file(found.plugin_file);
      if (!file) {
        co_return Fail(std::move(file).error().WithContext(context));
      }
      if (file->provider) {
        co_return std::move(file->provider);
      }
      Result<std::shared_ptr<LanguageHost>> host = co_await LoadLanguage(file->runtime, cancel);
      if (!host) {
        co_return Fail(std::move(host).error().WithContext(context));
      }
      launch.start = impl->StartThrough(*host, "resource", found.directory, file->options);
    }
    Result<std::shared_ptr<PluginProcess>> process =
        co_await PluginProcess::Launch(*options.loop, std::move(launch), cancel);
    if (!process) {
      co_return Fail(std::move(process).error());
    }
    client_options.process = *process;
    client_options.target = std::string(kLoopback) + std::to_string((*process)->port());
    handshake.root_directory = found.directory;  // P43
    handshake.program_directory = found.directory;
  }

  auto client = std::make_shared<ProviderClient>(std::move(client_options));
  Result<void> loaded = co_await client->Handshake(std::move(handshake), kConnectBudget, cancel);
  if (loaded && is_attached) {
    loaded = co_await client->Attach(options.engine_address, cancel);
    if (!loaded && loaded.error().kind == ErrorKind::kUnimplemented) {
      loaded =
          Fail(ErrorKind::kUnimplemented,
               "the running provider does not offer Attach",
               "a provider named in PULUMI_DEBUG_PROVIDERS must; build it with an SDK that has "
               "Attach, or take it out of the variable");
    }
  }
  if (loaded) {
    loaded = co_await client->GetPluginInfo(cancel);
  }
  if (loaded) {
    impl->WarnOfOldVersion(spec, client->version());
    if (spec.parameterization) {
      loaded = co_await client->Parameterize(*spec.parameterization, cancel);
    }
  }
  if (!loaded) {
    co_await client->Abandon();
    co_return Fail(std::move(loaded).error().WithContext(context));
  }
  co_return std::shared_ptr<Provider>(client);
}

Task<Result<std::shared_ptr<AnalyzerClient>>> GrpcPluginHost::LoadAnalyzer(PolicyPackSpec spec,
                                                                           RunInfo info,
                                                                           CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  const PluginHostOptions& options = impl->options;
  const std::string context = fmt::format("the policy pack '{}'", spec.path);
  std::error_code ignored;
  const bool is_executable = std::filesystem::is_regular_file(spec.path, ignored);
  const std::string folder =
      is_executable ? std::filesystem::path(spec.path).parent_path().string() : spec.path;
  FoundPlugin found;
  PluginFile file;
  found.executable = is_executable ? spec.path : std::string();
  const bool has_file = std::filesystem::exists(folder + "/PulumiPolicy.yaml", ignored);
  if (!has_file && !is_executable) {
    co_return Fail(ErrorKind::kInvalid,
                   fmt::format("there is no PulumiPolicy.yaml in '{}'", folder),
                   "name the folder of a policy pack, or an executable that serves one");
  }
  if (has_file) {
    Result<PluginFile> read = options.read_plugin_file(folder + "/PulumiPolicy.yaml");
    if (!read) {
      co_return Fail(std::move(read).error().WithContext(context));
    }
    file = *std::move(read);
  }
  Result<FoundPlugin> language = Fail(ErrorKind::kInvalid, "");
  if (!is_executable) {
    language = co_await impl->Discover("language", file.runtime, "", Impl::Warnings::kKept);
  }
  if (!is_executable && !language) {
    Result<FoundPlugin> shim = co_await impl->Discover("analyzer", "policy-" + file.runtime, "");
    if (!shim) {
      co_return Fail(std::move(shim).error().WithContext(context));
    }
    found = *std::move(shim);
  }
  PluginLaunch launch = impl->Launch(context, found, false, impl);
  if (language) {
    Result<std::shared_ptr<LanguageHost>> host = co_await LoadLanguage(file.runtime, cancel);
    if (!host) {
      co_return Fail(std::move(host).error().WithContext(context));
    }
    launch.start = impl->StartThrough(*host, "analyzer", folder, file.options);
  } else if (!is_executable) {
    PrepareShim(file, folder, info, &launch.child);
  }
  Result<std::shared_ptr<PluginProcess>> process =
      co_await PluginProcess::Launch(*options.loop, std::move(launch), cancel);
  if (!process) {
    Error error = std::move(process).error();
    if (error.message.find("Cannot find module '@pulumi/pulumi/cmd/run-policy-pack'") !=
        std::string::npos) {  // P28
      error.advice = fmt::format("run `npm install` in '{}'", folder);
    }
    co_return Fail(std::move(error));
  }
  AnalyzerClientOptions client_options;
  client_options.loop = options.loop;
  client_options.process = *process;
  client_options.target = std::string(kLoopback) + std::to_string((*process)->port());
  client_options.version = file.version;
  client_options.end_grace = options.end_grace;
  client_options.trace = options.trace;
  client_options.trace_metadata = {{"kind", "analyzer"}, {"mode", "client"}, {"name", spec.path}};
  auto client = std::make_shared<AnalyzerClient>(std::move(client_options));
  Result<void> loaded = co_await client->Load(
      options.engine_address, folder, info, std::move(spec), kConnectBudget, cancel);
  if (!loaded) {
    co_await client->Close();
    co_return Fail(std::move(loaded).error().WithContext(context));
  }
  co_return client;
}

Task<Result<std::shared_ptr<LanguageHost>>> GrpcPluginHost::LoadLanguage(std::string runtime,
                                                                         CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  const auto known = impl->languages.find(runtime);
  if (known != impl->languages.end()) {
    const std::shared_ptr<Impl::LoadedLanguage> entry = known->second;
    co_return co_await entry->Wait();
  }
  auto entry = std::make_shared<Impl::LoadedLanguage>();
  impl->languages.emplace(runtime, entry);
  Result<std::shared_ptr<LanguageHost>> host =
      co_await impl->StartLanguage(impl, runtime, std::move(cancel));
  if (!host) {
    impl->languages.erase(runtime);  // the next one tries again
  }
  entry->Set(host);
  co_return host;
}

Task<void> GrpcPluginHost::CloseLanguages() {
  const std::shared_ptr<Impl> impl = impl_;
  for (auto& [runtime, entry] : std::exchange(impl->languages, {})) {
    Result<std::shared_ptr<LanguageHost>>& host = co_await entry->Wait();
    if (host) {
      co_await (*host)->Close();
    }
  }
}

}  // namespace davit
