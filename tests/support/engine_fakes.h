#pragma once
// Fakes for the engine's seams: a provider made of optional functions, a journal in memory, and a
// program made of steps.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/waiting.h"
#include "engine/deployment.h"
#include "engine/model/provider_ref.h"
#include "tests/support/seeded_loop.h"

namespace davit::testing {

/// What the fake provider was asked, in order: "Create urn".
using CallLog = std::vector<std::string>;

/// Behaviour of a fake provider; unset functions do the obvious.
struct FakeBehaviour {
  std::function<Result<CheckResponse>(const CheckRequest&)> check;
  std::function<Result<DiffResponse>(const DiffRequest&)> diff;
  std::function<Result<CreateResponse>(const CreateRequest&)> create;
  std::function<Result<UpdateResponse>(const UpdateRequest&)> update;
  std::function<Result<ReadResponse>(const ReadRequest&)> read;
  std::function<Result<void>(const DeleteRequest&)> remove;
  std::function<Result<CheckResponse>(const CheckRequest&)> check_config;
  std::function<Result<DiffResponse>(const DiffRequest&)> diff_config;
  std::function<Result<void>(const ConfigureRequest&)> configure;
  std::function<Result<void>(const Parameterization&)> extend;
  std::function<Result<InvokeResponse>(const InvokeRequest&)> invoke;
  /// Coroutines, so that they may register resources.
  std::function<Task<Result<ConstructResponse>>(ConstructRequest)> construct;
  std::function<Task<Result<CallResponse>>(CallRequest)> call;
  bool supports_preview = true;
  int created = 0;  ///< numbers the ids, over all processes
};

/// Suspends once, so that the loop may run something else first.
struct Yield {
  bool await_ready() { return false; }
  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> handle) {
    handle.promise().loop->Ready(handle);
  }
  void await_resume() {}
};

class FakeProvider final : public Provider {
 public:
  FakeProvider(FakeBehaviour* behaviour, CallLog* log) : behaviour_(behaviour), log_(log) {}

  const std::string& version() const override { return version_; }
  bool is_alive() const override { return true; }
  bool supports_preview() const override { return behaviour_->supports_preview; }
  Task<Result<std::string>> GetSchema(CancelToken) override {
    co_return Fail(ErrorKind::kUnimplemented, "no schema");
  }
  Task<Result<CheckResponse>> CheckConfig(CheckRequest request, CancelToken) override {
    return Answer<CheckResponse>(
        "CheckConfig", std::move(request), behaviour_->check_config, [](const CheckRequest& r) {
          return CheckResponse{r.news, {}};
        });
  }
  Task<Result<DiffResponse>> DiffConfig(DiffRequest request, CancelToken) override {
    return Answer<DiffResponse>("DiffConfig", std::move(request), behaviour_->diff_config, Compare);
  }
  Task<Result<void>> Configure(ConfigureRequest request, CancelToken) override {
    log_->push_back("Configure " + request.urn.text());
    co_await Yield();
    co_return behaviour_->configure ? behaviour_->configure(request) : Result<void>();
  }
  Task<Result<void>> Extend(Parameterization value, CancelToken) override {
    log_->push_back("Extend " + value.name + " " + value.version);
    co_await Yield();
    co_return behaviour_->extend ? behaviour_->extend(value) : Result<void>();
  }
  Task<Result<CheckResponse>> Check(CheckRequest request, CancelToken) override {
    return Answer<CheckResponse>(
        "Check", std::move(request), behaviour_->check, [](const CheckRequest& r) {
          return CheckResponse{r.news, {}};
        });
  }
  Task<Result<DiffResponse>> Diff(DiffRequest request, CancelToken) override {
    return Answer<DiffResponse>("Diff", std::move(request), behaviour_->diff, Compare);
  }
  Task<Result<CreateResponse>> Create(CreateRequest request, CancelToken) override {
    const std::string name = request.preview ? "PreviewCreate" : "Create";
    return Answer<CreateResponse>(
        name, std::move(request), behaviour_->create, [this](const CreateRequest& r) {
          CreateResponse response;
          response.id =
              r.preview ? ""
                        : std::string(r.urn.name()) + "-" + std::to_string(++behaviour_->created);
          response.outputs = r.inputs;
          return response;
        });
  }
  Task<Result<UpdateResponse>> Update(UpdateRequest request, CancelToken) override {
    const std::string name = request.preview ? "PreviewUpdate" : "Update";
    return Answer<UpdateResponse>(
        name, std::move(request), behaviour_->update, [](const UpdateRequest& r) {
          UpdateResponse response;
          response.outputs = r.new_inputs;
          return response;
        });
  }
  Task<Result<ReadResponse>> Read(ReadRequest request, CancelToken) override {
    return Answer<ReadResponse>(
        "Read", std::move(request), behaviour_->read, [](const ReadRequest& r) {
          ReadResponse response;
          response.id = r.id;
          response.inputs = r.inputs;
          response.outputs = r.state;
          return response;
        });
  }
  Task<Result<void>> Delete(DeleteRequest request, CancelToken) override {
    log_->push_back("Delete " + request.urn.text());
    co_await Yield();
    co_return behaviour_->remove ? behaviour_->remove(request) : Result<void>();
  }
  Task<Result<InvokeResponse>> Invoke(InvokeRequest request, CancelToken) override {
    log_->push_back("Invoke " + request.token);
    co_await Yield();
    if (behaviour_->invoke) {
      co_return behaviour_->invoke(request);
    }
    InvokeResponse response;
    response.result = request.args;
    co_return response;
  }
  Task<Result<CallResponse>> Call(CallRequest request, CancelToken) override {
    log_->push_back("Call " + request.token);
    co_await Yield();
    if (!behaviour_->call) {
      co_return Fail(ErrorKind::kUnimplemented, "no methods");
    }
    co_return co_await behaviour_->call(std::move(request));
  }
  Task<Result<ConstructResponse>> Construct(ConstructRequest request, CancelToken) override {
    log_->push_back("Construct " + request.goal.name);
    co_await Yield();
    if (!behaviour_->construct) {
      co_return Fail(ErrorKind::kUnimplemented, "no components");
    }
    co_return co_await behaviour_->construct(std::move(request));
  }
  Task<Result<void>> Cancel() override {
    log_->push_back("Cancel");
    co_return Result<void>();
  }
  Task<void> Close() override {
    log_->push_back("Close");
    co_return;
  }

 private:
  static DiffResponse Compare(const DiffRequest& request) {
    DiffResponse response;
    response.changes =
        request.old_inputs == request.new_inputs ? DiffChanges::kNone : DiffChanges::kSome;
    return response;
  }
  template <typename Response, typename Request, typename Default>
  Task<Result<Response>> Answer(std::string name,
                                Request request,
                                std::function<Result<Response>(const Request&)> scripted,
                                Default fallback) {
    log_->push_back(name + " " + request.urn.text());
    co_await Yield();
    if (scripted) {
      co_return scripted(request);
    }
    Response response = fallback(request);
    co_return response;
  }

  FakeBehaviour* behaviour_;
  CallLog* log_;
  std::string version_ = "1.0.0";
};

class FakePluginHost final : public PluginHost {
 public:
  FakeBehaviour behaviour;
  CallLog log;
  int loads = 0;
  Task<Result<std::shared_ptr<Provider>>> LoadProvider(PluginSpec spec, CancelToken) override {
    ++loads;
    if (spec.name == "missing") {
      co_return Fail(ErrorKind::kUnavailable, "the plugin 'missing' was not found", "install it");
    }
    std::shared_ptr<Provider> provider = std::make_shared<FakeProvider>(&behaviour, &log);
    co_return provider;
  }
};

/// Keeps entries in memory; `fail_after` makes the n-th append and all later ones fail.
class MemoryJournal final : public Journal {
 public:
  std::vector<JournalEntry> entries;
  int fail_after = -1;
  Task<Result<void>> Append(JournalEntry entry) override {
    co_await Yield();
    if (fail_after >= 0 && static_cast<int>(entries.size()) >= fail_after) {
      co_return Fail(ErrorKind::kFailed, "the disk is full", "free some space");
    }
    entries.push_back(std::move(entry));
    co_return Result<void>();
  }
};

class CountingIds final : public Ids {
 public:
  std::string NewUuid() override {
    std::string digits = std::to_string(++count_);
    return "00000000-0000-4000-8000-" + std::string(12 - digits.size(), '0') + digits;
  }
  std::string RandomBytes(int count) override {
    return std::string(static_cast<std::size_t>(count), 'r');
  }

 private:
  int count_ = 0;
};

class RecordingEvents final : public EventSink {
 public:
  std::vector<Event> events;
  void Emit(const Event& event, std::chrono::system_clock::time_point) override {
    events.push_back(event);
  }

  /// "plan create a", "done create a", "failed create a"; internal steps left out.
  std::vector<std::string> Steps() const;
  /// "error NAME: message".
  std::vector<std::string> Problems() const;
};

inline std::vector<std::string> RecordingEvents::Steps() const {
  std::vector<std::string> steps;
  const auto add = [&](const char* stage, const StepMetadata& metadata) {
    if (!metadata.is_internal) {
      steps.push_back(std::string(stage) + " " + std::string(StepOpName(metadata.op)) + " " +
                      std::string(metadata.urn.name()));
    }
  };
  for (const Event& event : events) {
    if (const auto* pre = std::get_if<ResourcePreEvent>(&event)) {
      add("plan", pre->metadata);
    } else if (const auto* done = std::get_if<ResourceOutputsEvent>(&event)) {
      add("done", done->metadata);
    } else if (const auto* failed = std::get_if<ResourceFailedEvent>(&event)) {
      add("failed", failed->metadata);
    }
  }
  return steps;
}

inline std::vector<std::string> RecordingEvents::Problems() const {
  std::vector<std::string> problems;
  for (const Event& event : events) {
    if (const auto* found = std::get_if<DiagnosticEvent>(&event)) {
      if (found->severity == Severity::kError || found->severity == Severity::kWarning) {
        const std::string name =
            found->urn.empty() ? "-" : std::string(Urn::Trusted(found->urn).name());
        problems.push_back((found->severity == Severity::kError ? "error " : "warning ") + name +
                           ": " + found->message);
      }
    }
  }
  return problems;
}

/// Diff that replaces when one of the inputs has changed.
inline Result<DiffResponse> AnyChangeReplaces(const DiffRequest& request) {
  DiffResponse response;
  response.changes = DiffChanges::kNone;
  PropertyMap all = request.old_inputs;
  all.insert(request.new_inputs.begin(), request.new_inputs.end());
  for (const auto& [key, value] : all) {
    const auto before = request.old_inputs.find(key);
    const auto after = request.new_inputs.find(key);
    if (before == request.old_inputs.end() || after == request.new_inputs.end() ||
        !(before->second == after->second)) {
      response.changes = DiffChanges::kSome;
      response.diffs.push_back(key);
      response.replaces.push_back(key);
    }
  }
  return response;
}

/// Read that finds every object with these outputs and the inputs that it had.
inline std::function<Result<ReadResponse>(const ReadRequest&)> ReadsOutputs(PropertyMap outputs) {
  return [outputs](const ReadRequest& request) {
    ReadResponse response;
    response.id = request.id;
    response.inputs = request.inputs;
    response.outputs = outputs;
    return response;
  };
}

/// One resource of a fake program.
struct FakeResource {
  std::string name;
  PropertyMap properties;
  std::vector<std::string> after;           ///< names it depends on (dependsOn)
  std::map<std::string, std::string> from;  ///< property -> name whose id feeds it
  std::function<void(Goal&)> adjust;
  std::string type = "test:index:Thing";
  std::string parent{};        ///< name; empty: the root stack
  std::string provider{};      ///< name of a provider resource; empty: the default one
  std::string deleted_with{};  ///< name
};

/// A component for `FakeResource::adjust`.
inline void AsComponent(Goal& goal) {
  goal.custom = false;
}

/// Registers the root stack, then the resources side by side, each after what it depends on.
class FakeProgram final : public Source {
 public:
  explicit FakeProgram(std::vector<FakeResource> resources) : resources_(std::move(resources)) {}
  PropertyMap outputs;
  bool fails = false;

  Task<Result<void>> Run(Monitor& monitor, const RunInfo& info, CancelToken) override {
    Loop& loop = co_await CurrentLoop();
    Goal stack;
    stack.type = std::string(kRootStackType);
    stack.name = info.project + "-" + info.stack;
    stack.custom = false;
    Result<RegisterResponse> root = co_await monitor.RegisterResource(std::move(stack));
    if (!root) {
      co_return Fail(root.error());
    }
    root_ = root->urn;
    for (const FakeResource& resource : resources_) {
      made_[resource.name] = std::make_shared<Completion<Result<RegisterResponse>>>();
    }
    Scope scope(loop);
    for (const FakeResource& resource : resources_) {
      scope.Spawn(One(monitor, resource));
    }
    co_await scope.Join();
    if (fails) {
      co_return Fail(ErrorKind::kFailed, "the program failed");
    }
    for (const FakeResource& resource : resources_) {
      Result<RegisterResponse>& done = co_await made_[resource.name]->Wait();
      if (!done) {
        co_return Fail(done.error());
      }
    }
    const Result<void> sent = co_await monitor.RegisterOutputs(root_, outputs);
    co_return sent;
  }

 private:
  Task<void> One(Monitor& monitor, const FakeResource& resource) {
    Goal goal;
    goal.type = resource.type;
    goal.name = resource.name;
    goal.parent = root_;
    goal.properties = resource.properties;
    std::vector<std::string> needs = resource.after;
    for (const auto& [key, name] : resource.from) {
      needs.push_back(name);
    }
    const std::vector<std::string> others{
        resource.parent, resource.provider, resource.deleted_with};
    for (const std::string& name : others) {
      if (name.empty()) {
        continue;
      }
      Result<RegisterResponse>& done = co_await made_[name]->Wait();
      if (!done) {
        made_[resource.name]->Set(Fail(done.error()));
        co_return;
      }
      if (name == resource.parent) {
        goal.parent = done->urn;
      }
      if (name == resource.provider) {
        goal.provider = done->urn.text() + "::" + done->id;
      }
      if (name == resource.deleted_with) {
        goal.deleted_with = done->urn;
      }
    }
    for (const std::string& name : needs) {
      Result<RegisterResponse>& done = co_await made_[name]->Wait();
      if (!done) {
        made_[resource.name]->Set(Fail(done.error()));
        co_return;
      }
      goal.dependencies.push_back(done->urn);
      for (const auto& [key, source] : resource.from) {
        if (source == name) {
          goal.property_dependencies[key] = {done->urn};
          goal.properties[key] =
              done->id.empty() || done->id == kUnknownId ? PropertyValue(Unknown()) : PropertyValue(done->id);
        }
      }
    }
    if (resource.adjust) {
      resource.adjust(goal);
    }
    Result<RegisterResponse> done = co_await monitor.RegisterResource(std::move(goal));
    made_[resource.name]->Set(std::move(done));
  }

  std::vector<FakeResource> resources_;
  std::map<std::string, std::shared_ptr<Completion<Result<RegisterResponse>>>> made_;
  Urn root_;
};

/// A program that is one function, no coroutine with captures (style 2.9).
class ScriptedProgram final : public Source {
 public:
  explicit ScriptedProgram(std::function<Task<Result<void>>(Monitor&)> body) : body_(std::move(body)) {}
  Task<Result<void>> Run(Monitor& monitor, const RunInfo&, CancelToken) override {
    ++runs;
    return body_(monitor);
  }
  int runs = 0;

 private:
  std::function<Task<Result<void>>(Monitor&)> body_;
};

/// A stack that runs fake programs one after another on a seeded loop.
class FakeStack {
 public:
  explicit FakeStack(std::uint64_t seed = 0) : loop(seed) {}
  SeededLoop loop;
  FakePluginHost host;
  CountingIds ids;
  Snapshot state;
  RecordingEvents events;
  MemoryJournal journal;
  DeploymentOptions options;
  std::map<std::string, ConfigValue> config;
  Autonaming naming;
  CancelSource cancel;
  MonitorHost* monitors = nullptr;
  StackReader* stacks = nullptr;
  ViewBoard views;
  std::optional<UpdatePlan> plan;  ///< what runs are held to
  bool makes_plan = false;
  const std::vector<ImportSpec>* imports = nullptr;  ///< for DeploymentMode::kImport
  std::vector<std::shared_ptr<Analyzer>> analyzers;

  /// Runs one deployment; afterwards `state` is what the journal replays to (unless it was a
  /// preview).
  DeploymentResult Run(Source* program) {
    host.log.clear();
    events.events.clear();
    journal.entries.clear();
    DeploymentRequest request;
    request.options = options;
    request.info.project = "proj";
    request.info.stack = "dev";
    request.info.preview = options.preview;
    request.info.config = config;
    request.info.autonaming = naming;
    request.base = state;
    request.source = program;
    request.journal = &journal;
    request.events = &events;
    request.ids = &ids;
    request.pool = MakeProviderPool(loop, host);
    request.cancel = cancel.token();
    request.monitors = monitors;
    request.views = &views;
    request.stacks = stacks;
    request.plan = plan ? &*plan : nullptr;
    request.makes_plan = makes_plan;
    request.imports = imports;
    request.analyzers = analyzers;
    std::shared_ptr<ProviderPool> pool = request.pool;
    std::optional<DeploymentResult> result;
    std::exception_ptr failure;
    Start(loop,
          RunDeployment(std::move(request)),
          [&](std::exception_ptr thrown, std::optional<DeploymentResult> value) {
            failure = thrown;
            result = std::move(value);
          });
    loop.RunUntilIdle();
    if (failure) {
      std::rethrow_exception(failure);
    }
    bool closed = false;
    Start(loop, CloseProviders(pool), [&](std::exception_ptr) { closed = true; });
    loop.RunUntilIdle();
    DAVIT_CHECK(result && closed, "the deployment did not end");
    if (!options.preview) {
      state = Replay(state, journal.entries);
    }
    return *result;
  }
  DeploymentResult Up(std::vector<FakeResource> resources) {
    FakeProgram program(std::move(resources));
    options.mode = DeploymentMode::kUpdate;
    options.preview = false;
    return Run(&program);
  }
  DeploymentResult Preview(std::vector<FakeResource> resources) {
    FakeProgram program(std::move(resources));
    options.mode = DeploymentMode::kUpdate;
    options.preview = true;
    const DeploymentResult result = Run(&program);
    options.preview = false;
    return result;
  }
  /// A refresh or destroy that runs the program; or an update that refreshes by it.
  DeploymentResult RunProgram(DeploymentMode mode, std::vector<FakeResource> resources) {
    FakeProgram program(std::move(resources));
    options.mode = mode;
    options.run_program = true;
    const DeploymentResult result = Run(&program);
    options.run_program = false;
    return result;
  }
  DeploymentResult Destroy() {
    options.mode = DeploymentMode::kDestroy;
    options.preview = false;
    return Run(nullptr);
  }
  DeploymentResult Refresh() {
    options.mode = DeploymentMode::kRefresh;
    options.preview = false;
    return Run(nullptr);
  }
  /// The record of a name, old copies left out; null when there is none.
  StatePtr Record(const std::string& name) const {
    for (const StatePtr& record : state.resources) {
      if (record->urn.name() == name && !record->pending_delete) {
        return record;
      }
    }
    return nullptr;
  }
  /// Calls of the kinds that change something, as "Create a".
  std::vector<std::string> Changes() const {
    std::vector<std::string> changes;
    for (const std::string& line : host.log) {
      const std::size_t space = line.find(' ');
      const std::string verb = line.substr(0, space);
      if (verb == "Create" || verb == "Update" || verb == "Delete") {
        changes.push_back(verb + " " + std::string(Urn::Trusted(line.substr(space + 1)).name()));
      }
    }
    return changes;
  }
};

}  // namespace davit::testing
