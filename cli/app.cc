#include "cli/app.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "cli/check_monitor.h"
#include "cli/local_assets.h"
#include "cli/schema_store.h"
#include "cli/workspace/program_files.h"
#include "cli/workspace/stack_file.h"
#include "engine/base/cancel.h"
#include "engine/base/uuid.h"
#include "engine/ids.h"
#include "engine/plan/provider_inputs.h"
#include "engine/run/provider_pool.h"
#include "host/language/language_source.h"
#include "host/loop/asio_loop.h"
#include "host/loop/work_pool.h"
#include "host/plugin/plugin_host.h"
#include "host/server/engine_server.h"
#include "host/server/monitor_server.h"
#include "host/wire/rpc_trace.h"
#include "state/secrets/secrets_manager.h"

namespace davit {
namespace {

constexpr auto kTickInterval = std::chrono::milliseconds(50);

class SystemIds final : public Ids {
 public:
  std::string NewUuid() override { return UuidText(RandomBytes(16)); }
  std::string RandomBytes(int count) override {
    const std::size_t size = static_cast<std::size_t>(count);
    if (left_.size() < size) {  // taken in bulk: each request has its price
      left_ = SystemRandom(std::max(count, 4096));
    }
    std::string bytes = left_.substr(left_.size() - size);
    left_.resize(left_.size() - size);
    return bytes;
  }

 private:
  std::string left_;
};

// A preview keeps nothing.
class NoJournal final : public Journal {
 public:
  Task<Result<void>> Append(JournalEntry) override { co_return Result<void>(); }
};

std::map<std::string, std::string> RuntimeOptions(const ProjectFile& project) {
  std::map<std::string, std::string> options;
  for (const auto& [name, value] : project.runtime_options) {
    const std::string* text = value.as_string();
    options.emplace(name, text != nullptr ? *text : DebugText(value));
  }
  return options;
}

// P12.
Result<ProjectFile> ReadPluginProject(const std::string& path) {
  DAVIT_TRY(const std::optional<std::string> text, ReadFileIfThere(path));
  ProjectLoad load = LoadPluginFile(path, text.value_or(""));
  if (!load.errors.empty()) {
    return Fail(load.errors.front());
  }
  return std::move(load.project);
}

// Knows the Monitor behind each address, for plugins that run in this process (Y190).
class KnownMonitors final : public MonitorHost {
 public:
  explicit KnownMonitors(MonitorHost& inner) : inner_(inner) {}
  Result<std::unique_ptr<MonitorEndpoint>> Serve(Monitor& monitor, RunInfo info) override {
    DAVIT_TRY(std::unique_ptr<MonitorEndpoint> endpoint, inner_.Serve(monitor, std::move(info)));
    by_address_[endpoint->address()] = &monitor;
    return endpoint;
  }
  Monitor* At(const std::string& address) const {
    const auto at = by_address_.find(address);
    return at == by_address_.end() ? nullptr : at->second;
  }

 private:
  MonitorHost& inner_;
  std::map<std::string, Monitor*> by_address_;
};

Result<PluginFile> ReadPluginFile(const std::string& path,
                                  std::function<Monitor*(const std::string&)> monitor) {
  DAVIT_TRY(ProjectFile file, ReadPluginProject(path));
  PluginFile plugin;
  plugin.runtime = std::move(file.runtime);
  plugin.options = std::move(file.runtime_options);
  plugin.version = std::move(file.version);
  if (plugin.runtime == "yaml" && path.ends_with("/PulumiPlugin.yaml")) {
    DAVIT_TRY(plugin.provider, LoadComponentFolder(file.directory, std::move(monitor)));
  }
  return plugin;
}

std::string PathIn(const std::string& directory, const std::string& path) {
  const std::filesystem::path given(path);
  return (given.is_absolute() ? given : std::filesystem::path(directory) / given)
      .lexically_normal()
      .string();
}

// P6: packages at local paths, and those that they name in turn.
Result<void> AddLocalPackages(const ProjectFile& project, std::vector<ProjectPlugin>* plugins) {
  for (const LocalPackage& package : project.local_packages) {
    ProjectPlugin plugin;
    plugin.kind = "resource";
    plugin.name = package.name;
    plugin.path = PathIn(project.directory, package.path);
    const bool is_known = std::ranges::any_of(*plugins, [&](const ProjectPlugin& other) {
      return other.kind == plugin.kind && other.name == plugin.name;
    });
    if (is_known) {
      continue;
    }
    const std::string file = plugin.path + "/PulumiPlugin.yaml";
    plugins->push_back(std::move(plugin));
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) {
      DAVIT_TRY(const ProjectFile inner, ReadPluginProject(file));
      DAVIT_TRY_VOID(AddLocalPackages(inner, plugins));
    }
  }
  return {};
}

Result<std::vector<ProjectPlugin>> PluginsOf(const ProjectFile& project) {
  std::vector<ProjectPlugin> plugins;
  for (const PluginOverride& plugin : project.plugins) {
    ProjectPlugin out;
    out.kind = plugin.kind == "providers"   ? "resource"
               : plugin.kind == "languages" ? "language"
                                            : "analyzer";
    out.name = plugin.name;
    out.path = PathIn(project.directory, plugin.path);
    out.version = plugin.version;
    plugins.push_back(std::move(out));
  }
  DAVIT_TRY_VOID(AddLocalPackages(project, &plugins));
  return plugins;
}

using LoadedAnalyzer = std::optional<Result<std::shared_ptr<AnalyzerClient>>>;

Task<void> LoadAnalyzerInto(GrpcPluginHost& host,
                            PolicyPackSpec pack,
                            const DeploymentRequest& deployment,
                            LoadedAnalyzer& loaded) {
  loaded = co_await host.LoadAnalyzer(std::move(pack), deployment.info, deployment.cancel);
}

// The policy packs live as long as the run that they judge.
Task<Result<DeploymentResult>> RunWithPolicies(GrpcPluginHost& host,
                                               std::vector<PolicyPackSpec> packs,
                                               DeploymentRequest deployment) {
  Loop& loop = co_await CurrentLoop();
  std::vector<LoadedAnalyzer> loaded(packs.size());
  {
    Scope loading(loop);
    for (std::size_t i = 0; i < packs.size(); ++i) {
      deployment.events->Emit(PolicyLoadEvent(), loop.WallNow());
      loading.Spawn(LoadAnalyzerInto(host, std::move(packs[i]), deployment, loaded[i]));
    }
    co_await loading.Join();
  }
  std::optional<Error> failure;
  for (LoadedAnalyzer& analyzer : loaded) {
    if (*analyzer) {
      deployment.analyzers.push_back(**analyzer);
    } else if (!failure) {
      failure = analyzer->error();
    }
  }
  Result<DeploymentResult> result = Fail(failure.value_or(Error()));
  if (!failure) {
    result = co_await RunDeployment(std::move(deployment));
  }
  for (LoadedAnalyzer& analyzer : loaded) {
    if (*analyzer) {
      co_await (**analyzer)->Close();
    }
  }
  co_return result;
}

}  // namespace

Result<DiscoveryOptions> DiscoveryFor(const Context& context, const Workspace& workspace) {
  DiscoveryOptions options;
  DAVIT_TRY(options.project_plugins, PluginsOf(workspace.project()));
  options.environment = context.environment();
  options.program_folder = context.program_folder();
  return options;
}

struct App::Parts {
  const Context* context = nullptr;
  AsioLoop loop;
  std::unique_ptr<WorkPool> pool = std::make_unique<WorkPool>();
  std::unique_ptr<RpcTrace> trace;
  ViewBoard views;
  std::unique_ptr<EngineServer> server;
  std::unique_ptr<GrpcPluginHost> host;
  std::unique_ptr<DiskSchemas> schemas;
  MonitorServerOptions monitor_options;  ///< without what belongs to a run
  std::unique_ptr<GrpcMonitorHost> monitors;
  std::unique_ptr<KnownMonitors> known_monitors;
  std::shared_ptr<ProviderPool> providers;
  std::unique_ptr<LocalAssets> assets;
  SystemIds ids;
  NoJournal no_journal;
  CancelSource cancel;
  EventSink* events = nullptr;  ///< of the run at hand
  std::function<void()> abandon;
  bool is_preview = false;
  int interrupts = 0;
  bool has_stopped = false;  ///< who registers has been told that nothing more is served
  bool is_closed = false;

  void Emit(const Event& event) {
    if (events != nullptr) {
      events->Emit(event, loop.WallNow());
    }
  }

  void Message(Severity severity,
               const std::string& message,
               const std::string& urn,
               int stream_id,
               bool ephemeral) {
    DiagnosticEvent event;
    event.severity = severity;
    event.message = message;
    event.urn = urn;
    event.stream_id = stream_id;
    event.ephemeral = ephemeral;
    Emit(event);
  }

  // C76
  void Interrupted() {
    if (++interrupts > 1) {
      Emit(StdoutEvent{"\n^C again: stopping at once\n"});
      if (abandon) {
        abandon();
      }
      std::_Exit(kExitCancelled);
    }
    Emit(StdoutEvent{is_preview ? "\n^C: cancelling; press ^C again to stop at once\n"
                                : "\n^C: cancelling, operations that have begun will end; press ^C "
                                  "again to stop at once, "
                                  "which may leave resources that the state does not know\n"});
    cancel.Cancel();
  }

  // Runs a task to its end on this thread.
  template <typename T>
  Result<T> RunToEnd(Task<T> task) {
    std::optional<T> value;
    std::exception_ptr failure;
    Start(loop, std::move(task), [&](std::exception_ptr thrown, std::optional<T> result) {
      failure = thrown;
      value = std::move(result);
      loop.Stop();
    });
    loop.Run();
    if (failure) {
      try {
        std::rethrow_exception(failure);
      } catch (const std::exception& exception) {
        return Fail(ErrorKind::kBug, exception.what());
      }
    }
    return *std::move(value);
  }

  void RunToEnd(Task<void> task) {
    Start(loop, std::move(task), [&](std::exception_ptr) { loop.Stop(); });
    loop.Run();
  }

  void ScheduleTick(
      std::shared_ptr<std::function<void(std::chrono::system_clock::time_point)>> tick) {
    loop.After(kTickInterval, [this, tick] {
      if (*tick) {
        (*tick)(loop.WallNow());
        ScheduleTick(tick);
      }
    });
  }
};

Result<std::unique_ptr<App>> App::Create(AppOptions options) {
  auto parts = std::make_unique<Parts>();
  Parts* raw = parts.get();
  const Context& context = *options.context;
  const Workspace& workspace = *options.workspace;
  parts->context = &context;
  parts->abandon = std::move(options.abandon);
  const std::string trace_file = context.Variable("PULUMI_DEBUG_GRPC");
  if (!trace_file.empty()) {
    parts->trace = MakeFileTrace(parts->loop,
                                 trace_file,
                                 context.invocation().Bool("show-secrets"),
                                 [&context](const std::string& message) { context.Warn(message); });
  }
  EngineServerOptions server;
  server.loop = &parts->loop;
  server.pool = parts->pool.get();
  server.trace = parts->trace.get();
  server.views = &parts->views;
  server.log = [raw](const LogMessage& message) {
    // That it was told to end is no news, though SDKs log it as an error of the program.
    const bool is_echo =
        raw->has_stopped && message.severity == Severity::kError && message.urn.empty();
    raw->Message(is_echo ? Severity::kDebug : message.severity,
                 message.message,
                 message.urn,
                 message.stream_id,
                 message.ephemeral);
  };
  DAVIT_TRY(parts->server, EngineServer::Start(std::move(server)));
  auto app = std::unique_ptr<App>(new App(std::move(parts)));
  PluginHostOptions host;
  host.loop = &raw->loop;
  host.pool = raw->pool.get();
  host.engine_address = raw->server->address();
  host.loader_target = raw->server->address();
  host.root_directory = workspace.project().directory;
  host.program_directory = workspace.ProgramDirectory();
  host.program_folder = context.program_folder();
  host.runtime_options = RuntimeOptions(workspace.project());
  host.project = workspace.project().name;
  host.config = std::move(options.config);
  host.environment = context.environment();
  host.trace = raw->trace.get();
  host.output =
      [raw](Severity severity, const std::string& message, const std::string& urn, int stream_id) {
        raw->Message(severity, message, urn, stream_id, false);
      };
  Result<std::vector<ProjectPlugin>> plugins = PluginsOf(workspace.project());
  if (!plugins) {
    app->Close(nullptr);
    return Fail(plugins.error());
  }
  host.project_plugins = std::move(options.plugins);
  host.project_plugins.insert(host.project_plugins.end(), plugins->begin(), plugins->end());
  const std::vector<ProjectPlugin> host_plugins = host.project_plugins;
  host.read_plugin_file = [raw](const std::string& path) {
    return ReadPluginFile(path, [raw](const std::string& address) {
      return raw->known_monitors ? raw->known_monitors->At(address) : nullptr;
    });
  };
  raw->host = std::make_unique<GrpcPluginHost>(std::move(host));
  MonitorServerOptions monitor;
  monitor.loop = &raw->loop;
  monitor.pool = raw->pool.get();
  monitor.trace = raw->trace.get();
  monitor.resource_references = !context.IsTruthy("PULUMI_DISABLE_RESOURCE_REFERENCES");  // P93
  monitor.output_values = !context.IsTruthy("PULUMI_DISABLE_OUTPUT_VALUES");
  monitor.on_stopped = [raw] { raw->has_stopped = true; };
  raw->monitor_options = monitor;
  raw->monitors = std::make_unique<GrpcMonitorHost>(std::move(monitor));
  raw->known_monitors = std::make_unique<KnownMonitors>(*raw->monitors);
  DiscoveryOptions discovery;
  discovery.project_plugins = host_plugins;
  discovery.environment = context.environment();
  discovery.program_folder = context.program_folder();
  raw->schemas = std::make_unique<DiskSchemas>(std::move(discovery));
  raw->providers = MakeProviderPool(raw->loop, *raw->host);
  raw->providers->UseSchemas(*raw->schemas);
  raw->server->SetSchemaSource([pool = raw->providers](const PackageDescriptor& package) {  // P108
    return pool->GetSchema(PluginOf(package), CancelToken());
  });
  raw->assets = std::make_unique<LocalAssets>(workspace.ProgramDirectory());
  return app;
}

App::App(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

App::~App() = default;

Loop& App::loop() {
  return parts_->loop;
}

bool App::is_cancelled() const {
  return parts_->cancel.is_cancelled();
}

std::function<void(std::function<void()>)> App::Worker() {
  return [pool = parts_->pool.get()](std::function<void()> work) { pool->Run(std::move(work)); };
}

void App::Preload(const std::vector<PackageDescriptor>& packages) {
  for (const PackageDescriptor& package : packages) {
    PreloadProvider(*parts_->providers, PluginOf(package));
  }
}

std::unique_ptr<Source> App::LanguageProgram(const Workspace& workspace) {
  davit::LanguageProgram program;
  program.plugins = parts_->host.get();
  program.monitor = parts_->monitor_options;
  program.runtime = workspace.project().runtime;
  program.info.root_directory = workspace.project().directory;
  program.info.program_directory = workspace.ProgramDirectory();
  program.info.entry_point = workspace.EntryPoint();
  program.info.options = workspace.project().runtime_options;
  program.loader_target = parts_->server->address();
  return MakeLanguageSource(std::move(program));
}

Result<Findings> App::Check(const ProgramLoad& load, const RunInfo& info) {
  for (const PackageDescriptor& package : load.packages) {
    const PluginSpec spec = PluginOf(package);
    if (!parts_->schemas->Has(spec)) {
      PreloadProvider(*parts_->providers, spec);
    }
  }
  CheckMonitor monitor(*parts_->providers);
  Result<std::vector<Error>> warnings = parts_->RunToEnd(load.check(monitor, info));
  if (!warnings) {
    return Fail(std::move(warnings).error());
  }
  Findings findings = monitor.TakeFindings();
  findings.warnings = *std::move(warnings);
  return findings;
}

Result<std::vector<PackageDescriptor>> App::RequiredPackages(const Workspace& workspace) {
  const std::unique_ptr<Source> program = LanguageProgram(workspace);
  DAVIT_TRY(const Result<void> prepared,
            parts_->RunToEnd(program->Prepare(parts_->cancel.token())));
  DAVIT_TRY_VOID(prepared);
  return program->RequiredPackages();
}

Result<std::string> App::SchemaOf(const PackageDescriptor& package) {
  DAVIT_TRY(
      Result<std::string> schema,
      parts_->RunToEnd(parts_->providers->GetSchema(PluginOf(package), parts_->cancel.token())));
  return schema;
}

Result<DeploymentResult> App::Run(RunRequest request) {
  Parts& parts = *parts_;
  parts.events = request.events;
  parts.is_preview = request.options.preview;
  parts.has_stopped = false;
  auto tick = std::make_shared<std::function<void(std::chrono::system_clock::time_point)>>(
      std::move(request.tick));
  parts.ScheduleTick(tick);
  parts.loop.OnSignal([&parts](int) { parts.Interrupted(); });
  DeploymentRequest deployment;
  deployment.options = request.options;
  deployment.info = std::move(request.info);
  deployment.base = std::move(request.base);
  deployment.source = request.source;
  deployment.journal = request.journal != nullptr ? request.journal : &parts.no_journal;
  deployment.events = request.events;
  deployment.ids = &parts.ids;
  deployment.assets = parts.assets.get();
  deployment.pool = parts.providers;
  deployment.views = &parts.views;
  deployment.stacks = request.stacks;
  deployment.monitors = parts.known_monitors.get();
  deployment.plan = request.plan;
  deployment.makes_plan = request.makes_plan;
  deployment.imports = request.imports;
  deployment.cancel = parts.cancel.token();
  Result<Result<DeploymentResult>> result = parts.RunToEnd(
      RunWithPolicies(*parts.host, std::move(request.policy_packs), std::move(deployment)));
  *tick = nullptr;
  parts.loop.OnSignal({});
  parts.events = nullptr;
  if (!result) {
    return Fail(std::move(result).error());
  }
  return *std::move(result);
}

void App::Close(EventSink* events) {
  Parts& parts = *parts_;
  if (std::exchange(parts.is_closed, true)) {
    return;
  }
  parts.events = events;
  if (parts.providers) {
    parts.RunToEnd(CloseProviders(parts.providers));
  }
  if (parts.host) {
    parts.RunToEnd(parts.host->CloseLanguages());
  }
  parts.RunToEnd(parts.server->Close());
  parts.events = nullptr;
}

}  // namespace davit
