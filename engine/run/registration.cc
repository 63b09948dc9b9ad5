#include "engine/run/registration.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/base/semver.h"
#include "engine/plan/provider_inputs.h"
#include "engine/run/call.h"
#include "engine/run/plan_hold.h"

namespace davit {
namespace {

bool HasThreeParts(std::string_view type) {
  return std::ranges::count(type, ':') == 2;
}

// Hashes assets at any depth; `map` is unchanged when there are none.
Result<PropertyMap> Hashed(PropertyMap map, AssetContent* assets) {
  if (assets == nullptr) {
    return map;
  }
  Result<PropertyValue> hashed = WithHashes(PropertyValue(std::move(map)), *assets);
  if (!hashed) {
    return Fail(std::move(hashed).error());
  }
  return *hashed->as_map();
}

}  // namespace

Error RegistrationMonitor::Reported(Error error, const Urn& urn) {
  if (!error.reported) {
    if (error.urn.empty()) {
      error.urn = urn.text();
    }
    context_.reporter.Report(error);
    error.reported = true;
  }
  context_.generator_failed = true;
  generator_.Wake();
  return error;
}

Result<void> RegistrationMonitor::RefuseUnsupported(const Goal& goal) const {
  if (goal.remote) {
    return {};  // its options go to the provider that builds it
  }
  if (!goal.env_var_mappings.empty() && !goal.type.starts_with(kProviderTypePrefix)) {
    return Fail(
        ErrorKind::kInvalid,
        fmt::format("'envVarMappings' is given for '{}', which is not a provider", goal.type),
        "give it to the provider resource");
  }
  return {};
}

std::string RegistrationMonitor::InheritedProvider(const Urn& parent,
                                                   std::string_view package,
                                                   bool is_component) const {
  const auto at = inherited_.find(parent);
  if (at == inherited_.end()) {
    return {};
  }
  const Inherited& from = at->second;
  if (from.is_component) {
    const auto listed = from.providers.find(std::string(package));
    if (listed != from.providers.end()) {
      return listed->second;
    }
  }
  if (from.provider.empty()) {
    return {};
  }
  const Result<ProviderRef> reference = ProviderRef::Parse(from.provider);
  return is_component || (reference && reference->package() == package) ? from.provider
                                                                        : std::string();
}

Task<void> RegistrationMonitor::RegisterDefaultProvider(std::shared_ptr<DefaultProvider> entry,
                                                        PackageDescriptor package) {
  const std::string provided =
      package.parameterization ? package.parameterization->name : package.name;
  auto registration = std::make_shared<Registration>();
  Goal& goal = registration->goal;
  goal.type = std::string(kProviderTypePrefix) + provided;
  goal.name = DefaultProviderName(package);
  goal.properties =
      WithPackage(DefaultProviderConfig(provided, context_.request.info.config), package, {});
  registration->urn = Urn::Make(
      context_.request.info.stack, context_.request.info.project, Urn(), goal.type, goal.name);
  const Urn urn = registration->urn;
  Result<RegisterResponse> made = co_await Submit(std::move(registration));
  if (!made) {
    entry->reference.Set(Fail(std::move(made).error()));
    co_return;
  }
  entry->reference.Set(ProviderRef{urn, made->id}.Text());
}

Task<Result<std::string>> RegistrationMonitor::DefaultProviderFor(PackageDescriptor package) {
  FillFromRequired(package);
  const std::string provided =
      package.parameterization ? package.parameterization->name : package.name;
  DAVIT_CO_TRY(bool denied, IsDefaultProviderDenied(provided, context_.request.info.config));
  if (denied) {
    Error error = MakeError(
        ErrorKind::kRefused,
        fmt::format("the default provider of package '{}' is disabled by the configuration "
                    "'pulumi:disable-default-providers'",
                    provided),
        "give the resource an explicit provider");
    error.code = 2015;
    co_return Fail(std::move(error));
  }
  DefaultKey key(package.name, package.version, package.download_url, package.parameterization);
  const auto at = defaults_.find(key);
  std::shared_ptr<DefaultProvider> entry;
  if (at == defaults_.end()) {
    entry = std::make_shared<DefaultProvider>();
    defaults_.emplace(std::move(key), entry);
    scope_.Spawn(RegisterDefaultProvider(entry, std::move(package)));
  } else {
    entry = at->second;
  }
  Result<std::string>& reference = co_await entry->reference.Wait();
  if (!reference) {
    co_return Fail(reference.error());
  }
  co_return *reference;
}

Task<Result<RegisterResponse>> RegistrationMonitor::Submit(
    std::shared_ptr<Registration> registration) {
  generator_.Submit(registration);
  Result<RegisterResponse>& reply = co_await registration->reply.Wait();
  co_return reply;
}

Task<Result<RegisterResponse>> RegistrationMonitor::RegisterResource(Goal goal) {
  return RegisterTransformed(std::move(goal), {});
}

Task<Result<RegisterResponse>> RegistrationMonitor::RegisterTransformed(
    Goal goal, std::vector<Transform> transforms) {
  const RunInfo& info = context_.request.info;
  const Urn urn = Urn::Make(info.stack, info.project, goal.parent, goal.type, goal.name);
  const auto gate = std::make_shared<Gate>();
  if (!goal.remote) {
    children_[goal.parent].push_back(urn);
    in_flight_[urn] = gate;
  }
  Result<RegisterResponse> answer = co_await Register(std::move(goal), std::move(transforms));
  const auto at = in_flight_.find(urn);
  if (at != in_flight_.end() && at->second == gate) {
    in_flight_.erase(at);
  }
  gate->Open();
  co_return answer;
}

Task<bool> RegistrationMonitor::IsPending(std::vector<Urn> urns) {
  std::set<Urn> seen(urns.begin(), urns.end());
  for (std::size_t index = 0; index < urns.size(); ++index) {  // grows meanwhile
    const Urn urn = urns[index];
    const auto flying = in_flight_.find(urn);
    if (flying != in_flight_.end()) {
      const std::shared_ptr<Gate> gate = flying->second;
      co_await gate->Wait();
    }
    if (context_.skipped_creates.contains(urn)) {
      co_return true;
    }
    const auto at = context_.news.find(urn);
    if (at == context_.news.end()) {
      continue;  // not of this run
    }
    if (at->second->custom) {
      if (at->second->id.empty() || at->second->id == kUnknownId) {
        co_return true;
      }
      continue;
    }
    for (const Urn& child : children_[urn]) {
      if (seen.insert(child).second) {
        urns.push_back(child);
      }
    }
  }
  co_return false;
}

Task<Result<RegisterResponse>> RegistrationMonitor::Register(Goal goal,
                                                             std::vector<Transform> transforms) {
  auto registration = std::make_shared<Registration>();
  const RunInfo& info = context_.request.info;
  registration->urn = Urn::Make(info.stack, info.project, goal.parent, goal.type, goal.name);
  const Urn urn = registration->urn;
  Result<void> supported = RefuseUnsupported(goal);
  if (!supported) {
    co_return Fail(Reported(std::move(supported).error(), urn));
  }
  const bool is_provider = goal.type.starts_with(kProviderTypePrefix);
  if ((goal.custom || goal.remote) && !HasThreeParts(goal.type)) {  // E44
    Error error = MakeError(ErrorKind::kInvalid,
                            fmt::format("the type '{}' does not have three parts", goal.type),
                            "write it as package:module:Name");
    co_return Fail(Reported(std::move(error), urn));
  }
  const std::string package(PackageOf(goal.type));
  const bool is_component = !goal.custom;

  // E53: what the parent gives.
  const auto parent = inherited_.find(goal.parent);
  if (parent != inherited_.end()) {
    if (!goal.protect) {
      goal.protect = parent->second.protect;
    }
    if (!goal.retain_on_delete) {
      goal.retain_on_delete = parent->second.retain_on_delete;
    }
    if (goal.deleted_with.empty()) {
      goal.deleted_with = parent->second.deleted_with;
    }
  }
  if (goal.remote && !goal.provider.empty()) {
    goal.providers.emplace(package, goal.provider);  // what it is built with serves its parts too
  }
  // E170: explicit, own map, parent's map or provider, default.
  if (goal.provider.empty() && !is_provider) {
    const auto own = goal.providers.find(package);
    goal.provider = own != goal.providers.end()
                        ? own->second
                        : InheritedProvider(goal.parent, package, is_component && !goal.remote);
  }
  std::string default_provider;  // E53: that of the parent
  if (goal.provider.empty() && goal.custom && !is_provider && parent != inherited_.end()) {
    const Result<ProviderRef> reference = ProviderRef::Parse(parent->second.default_provider);
    if (reference && reference->package() == package) {
      default_provider = parent->second.default_provider;
    }
  }
  if (goal.remote) {
    transforms_.Keep(urn, std::move(transforms));  // E186
  } else if (transforms.empty() && transforms_.empty()) {
    transforms_.Pass(urn, goal.parent);
  } else {
    Result<Goal> transformed =
        co_await transforms_.Apply(urn, std::move(goal), std::move(transforms));
    if (!transformed) {
      co_return Fail(std::move(transformed).error().WithContext("a transform failed"));
    }
    goal = *std::move(transformed);
  }
  Inherited inherited;
  inherited.is_component = is_component;
  inherited.provider = goal.provider;
  inherited.default_provider = default_provider;
  inherited.providers = goal.providers;
  if (is_component && parent != inherited_.end() && parent->second.is_component) {
    inherited.providers.insert(parent->second.providers.begin(), parent->second.providers.end());
  }
  inherited.protect = goal.protect;
  inherited.retain_on_delete = goal.retain_on_delete;
  inherited.deleted_with = goal.deleted_with;
  if (!goal.remote) {  // a remote component is registered again by its provider
    inherited_[urn] = std::move(inherited);
  }

  if (goal.provider.empty()) {
    goal.provider = std::move(default_provider);
  }
  Result<PackageDescriptor> descriptor =
      PackageFor(package, goal.package_ref, goal.version, goal.download_url);
  if (!descriptor) {
    co_return Fail(Reported(std::move(descriptor).error(), urn));
  }
  goal.extension_ref = descriptor->extension ? goal.package_ref : std::string();
  // E54; before the engine's own properties join those of a provider.
  if (!goal.has_property_dependencies && !goal.remote) {
    for (const auto& [key, value] : goal.properties) {
      goal.property_dependencies[key] = goal.dependencies;
    }
  }
  if (is_provider) {  // E166
    descriptor->checksums = goal.checksums.empty() ? descriptor->checksums : goal.checksums;
    goal.properties = WithPackage(std::move(goal.properties), *descriptor, goal.env_var_mappings);
  } else if ((goal.custom || goal.remote) && goal.provider.empty()) {
    Result<std::string> reference = co_await DefaultProviderFor(*std::move(descriptor));
    if (!reference) {
      co_return Fail(Reported(std::move(reference).error(), urn));
    }
    goal.provider = *std::move(reference);
    if (!goal.remote) {
      inherited_[urn].default_provider = goal.provider;
    }
  }
  if (is_component && !goal.remote) {
    goal.provider.clear();
  }
  // E54, E55: dependencies of output values join those of their property; the values become plain.
  for (const auto& [key, value] : goal.properties) {
    for (const std::string& text : DependenciesIn(value)) {
      if (value.as_reference() != nullptr) {
        continue;
      }
      std::vector<Urn>& urns = goal.property_dependencies[key];
      const Urn dependency = Urn::Trusted(text);
      if (std::ranges::find(urns, dependency) == urns.end()) {
        urns.push_back(dependency);
      }
    }
  }
  Result<PropertyMap> hashed = Hashed(
      goal.remote ? goal.properties : WithoutOutputs(goal.properties), context_.request.assets);
  if (!hashed) {
    co_return Fail(Reported(std::move(hashed).error(), urn));
  }
  goal.properties = *std::move(hashed);
  if (!goal.parent_stack_trace_handle.empty()) {  // P107
    std::vector<std::string> trace = surroundings_.TraceOf(goal.parent_stack_trace_handle);
    trace.insert(trace.end(), goal.stack_trace.begin(), goal.stack_trace.end());
    goal.stack_trace = std::move(trace);
  }
  if (goal.remote) {
    if (context_.stopped()) {
      co_return Fail(StoppedError());
    }
    Result<RegisterResponse> built =
        co_await ConstructComponent(context_, *this, surroundings_, std::move(goal));
    if (!built) {
      co_return Fail(Reported(std::move(built).error(), Urn()));
    }
    co_return built;
  }
  registration->goal = std::move(goal);
  co_return co_await Submit(std::move(registration));
}

Task<Result<void>> RegistrationMonitor::RegisterOutputs(Urn urn, PropertyMap outputs) {
  if (context_.stopped()) {  // E29; recorded: a failed run keeps the outputs that the stack had
    co_return Fail(StoppedError());
  }
  if (urn == context_.root_stack && !urn.empty()) {  // E23
    Result<PropertyMap> hashed = Hashed(std::move(outputs), context_.request.assets);
    if (!hashed) {
      co_return Fail(Reported(std::move(hashed).error(), urn));
    }
    Result<void> held = HoldOutputs(context_, urn, *hashed);
    if (!held) {
      co_return Fail(Reported(std::move(held).error(), urn));
    }
    context_.stack_outputs = *std::move(hashed);
    co_return Result<void>();
  }
  Result<void> stored = HoldOutputs(context_, urn, outputs);
  if (stored) {
    stored = co_await StoreOutputs(context_, urn, std::move(outputs));
  }
  if (!stored) {
    co_return Fail(Reported(std::move(stored).error(), urn));
  }
  co_return stored;
}

Task<Result<std::optional<bool>>> RegistrationMonitor::ExistsResource(ReadGoal read) {
  if (!HasThreeParts(read.type) || read.type.starts_with(kProviderTypePrefix) || read.id.empty()) {
    co_return Fail(ErrorKind::kInvalid,
                   fmt::format("an object of type '{}' with the id '{}' cannot be looked for",
                               read.type,
                               read.id),
                   "name a resource type as package:module:Name, and the id of an object");
  }
  DAVIT_CO_TRY(const std::string provider, co_await ProviderOfRead(read));
  DAVIT_CO_TRY(InstancePtr instance, co_await context_.EnsureProvider(provider));
  if (read.id == kUnknownId || instance->is_config_unknown) {
    co_return std::optional<bool>();
  }
  const RunInfo& info = context_.request.info;
  ReadRequest request;
  request.id = read.id;
  request.urn = Urn::Make(info.stack,
                          info.project,
                          read.parent,
                          read.type,
                          fmt::format("__exists__{}", ++looked_for_));
  request.inputs = WithoutOutputs(read.properties);
  DAVIT_CO_TRY(const ReadResponse response,
               co_await davit::ReadResource(instance, std::move(request), CancelToken()));
  co_return std::optional<bool>(!response.id.empty());
}

// Explicit, or the parent's, or the default one (P98).
Task<Result<std::string>> RegistrationMonitor::ProviderOfRead(const ReadGoal& read) {
  const std::string package(PackageOf(read.type));
  std::string provider =
      read.provider.empty() ? InheritedProvider(read.parent, package, false) : read.provider;
  if (provider.empty()) {
    DAVIT_CO_TRY(PackageDescriptor descriptor,
                 PackageFor(package, read.package_ref, read.version, read.download_url));
    DAVIT_CO_TRY(provider, co_await DefaultProviderFor(std::move(descriptor)));
  }
  co_return provider;
}

Task<Result<RegisterResponse>> RegistrationMonitor::ReadResource(ReadGoal read) {
  auto registration = std::make_shared<Registration>();
  const RunInfo& info = context_.request.info;
  registration->urn = Urn::Make(info.stack, info.project, read.parent, read.type, read.name);
  const Urn urn = registration->urn;
  if (!HasThreeParts(read.type) || read.type.starts_with(kProviderTypePrefix)) {  // P98
    Error error = MakeError(ErrorKind::kInvalid,
                            fmt::format("a resource of type '{}' cannot be read", read.type),
                            "name a resource type as package:module:Name");
    co_return Fail(Reported(std::move(error), urn));
  }
  Result<std::string> provider = co_await ProviderOfRead(read);
  if (!provider) {
    co_return Fail(Reported(std::move(provider).error(), urn));
  }
  registration->is_read = true;
  registration->read_id = read.id;
  Goal& goal = registration->goal;
  goal.type = read.type;
  goal.name = read.name;
  goal.parent = read.parent;
  goal.provider = *std::move(provider);
  goal.properties = WithoutOutputs(read.properties);
  goal.dependencies = read.dependencies;
  goal.additional_secret_outputs = read.additional_secret_outputs;
  goal.source_position = read.source_position;
  co_return co_await Submit(std::move(registration));
}

Task<Result<InvokeOutcome>> RegistrationMonitor::Invoke(InvokeGoal goal) {
  Result<InvokeGoal> transformed = co_await transforms_.Apply(std::move(goal));
  if (!transformed) {
    co_return Fail(std::move(transformed).error().WithContext("an invoke transform failed"));
  }
  goal = *std::move(transformed);
  const std::string package(PackageOf(goal.token));
  std::string provider =
      goal.provider.empty() ? InheritedProvider(goal.parent, package, false) : goal.provider;
  if (provider.empty()) {
    DAVIT_CO_TRY(PackageDescriptor descriptor,
                 PackageFor(package, goal.package_ref, goal.version, goal.download_url));
    DAVIT_CO_TRY(provider, co_await DefaultProviderFor(std::move(descriptor)));
  }
  if (context_.stopped()) {
    co_return Fail(StoppedError());
  }
  InvokeOutcome outcome;
  outcome.unknown = co_await IsPending(std::move(goal.depends_on));
  if (outcome.unknown) {
    co_return outcome;
  }
  DAVIT_CO_TRY(InstancePtr instance, co_await context_.EnsureProvider(provider));
  InvokeRequest request;
  request.token = std::move(goal.token);
  request.args = WithoutOutputs(goal.args);
  request.preview = context_.preview;
  DAVIT_CO_TRY(InvokeResponse response,
               co_await InvokeFunction(instance, std::move(request), CancelToken()));
  outcome.result = std::move(response.result);
  outcome.failures = std::move(response.failures);
  co_return outcome;
}

void RegistrationMonitor::RegisterStackTransform(Transform transform) {
  transforms_.AddForStack(std::move(transform));
}

void RegistrationMonitor::RegisterStackInvokeTransform(InvokeTransform transform) {
  transforms_.AddForInvokes(std::move(transform));
}

Result<void> RegistrationMonitor::RegisterHook(Hook hook) {
  if (hook.name.empty() || context_.hooks.contains(hook.name)) {
    return Fail(ErrorKind::kInvalid,
                hook.name.empty() ? "a hook without name was registered"
                                  : fmt::format("two hooks have the name '{}'", hook.name),
                "give each hook a name of its own");
  }
  const std::string name = hook.name;
  context_.hooks.emplace(name, std::make_shared<const Hook>(std::move(hook)));
  return {};
}

Task<Result<CallResponse>> RegistrationMonitor::Call(CallGoal goal) {
  Result<CallResponse> answer = co_await CallByGoal(std::move(goal));
  if (!answer) {
    co_return Fail(Reported(std::move(answer).error(), Urn()));
  }
  co_return answer;
}

Task<Result<CallResponse>> RegistrationMonitor::CallByGoal(CallGoal goal) {
  DAVIT_CO_TRY(const CallTarget target, CallTargetOf(goal.token, goal.args));
  std::string provider = target.provider.empty() ? goal.provider : target.provider;
  if (provider.empty() && !target.urn.empty()) {
    const auto component = inherited_.find(target.urn);
    const auto record = context_.news.find(target.urn);
    if (component == inherited_.end() && record == context_.news.end()) {
      co_return Fail(ErrorKind::kInvalid,
                     fmt::format("the method '{}' is called on '{}', which is not registered in "
                                 "this run",
                                 goal.token,
                                 target.urn.text()),
                     "register or read it first");
    }
    provider = record != context_.news.end() && !record->second->provider.empty()
                   ? record->second->provider
               : component != inherited_.end() ? component->second.provider
                                               : std::string();
  }
  if (provider.empty()) {
    const std::string package = PackageOfMethod(goal.token);
    DAVIT_CO_TRY(PackageDescriptor descriptor,
                 PackageFor(package, goal.package_ref, goal.version, goal.download_url));
    DAVIT_CO_TRY(provider, co_await DefaultProviderFor(std::move(descriptor)));
  }
  if (context_.stopped()) {
    co_return Fail(StoppedError());
  }
  std::vector<std::string> trace = surroundings_.TraceOf(goal.parent_stack_trace_handle);
  goal.stack_trace.insert(goal.stack_trace.begin(), trace.begin(), trace.end());
  co_return co_await CallMethod(context_, surroundings_, std::move(provider), std::move(goal));
}

Task<Result<std::string>> RegistrationMonitor::GetSchema(PackageDescriptor package) {
  co_return co_await context_.request.pool->GetSchema(PluginOf(package), CancelToken());
}

void RegistrationMonitor::Log(Severity severity, const std::string& message, const Urn& urn) {
  context_.reporter.Log(severity, message, urn);
}

void RegistrationMonitor::Report(const Error& error) {
  context_.reporter.Report(error);
}

}  // namespace davit
