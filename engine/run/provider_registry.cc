#include "engine/run/provider_registry.h"

#include <fmt/format.h>

#include "engine/plan/provider_inputs.h"

namespace davit {
namespace {

constexpr const char* kInternalKey = "__internal";

std::string ReferenceText(const Urn& urn, const std::string& id) {
  return ProviderRef{urn, id}.Text();
}

// Any input but `version` unknown: Configure is not sent (P50).
bool IsConfigUnknown(const PropertyMap& inputs) {
  for (const auto& [key, value] : inputs) {
    if (key != "version" && ContainsUnknowns(value)) {
      return true;
    }
  }
  return false;
}

}  // namespace

Task<Result<CheckResponse>> ProviderRegistry::Check(Urn urn,
                                                    PropertyMap olds,
                                                    PropertyMap news,
                                                    std::vector<std::string>* warnings) {
  Result<PluginSpec> spec = PluginOf(urn.type().substr(kProviderTypePrefix.size()), news);
  if (!spec) {
    co_return Fail(std::move(spec).error());
  }
  const PropertyMap wanted = WithoutInternal(news);
  const auto checked = checked_.find(urn);
  InstancePtr instance = checked == checked_.end() ? nullptr : checked->second;
  if (!instance) {
    Result<InstancePtr> taken = co_await pool_->Take(*spec, urn, &wanted, cancel_);
    if (!taken) {
      co_return Fail(std::move(taken).error());
    }
    instance = *taken;
    checked_[urn] = instance;
  }
  CheckRequest request;
  request.urn = urn;
  request.olds = WithoutInternal(olds);
  request.news = wanted;
  request.allow_unknowns = true;  // E114
  Result<CheckResponse> response =
      co_await instance->provider->CheckConfig(std::move(request), cancel_);
  if (!response) {
    if (response.error().kind != ErrorKind::kUnimplemented) {
      co_return Fail(std::move(response).error());
    }
    CheckResponse unchanged;
    unchanged.inputs = wanted;
    response = std::move(unchanged);
  }
  PropertyMap& inputs = response->inputs;
  if (inputs.erase(kInternalKey) > 0) {
    warnings->push_back("the provider returned the reserved input '__internal'; it is ignored");
  }
  const auto version = news.find("version");
  if (version != news.end()) {
    const auto returned = inputs.find("version");
    if (returned == inputs.end()) {
      inputs["version"] = version->second;
    } else if (!(returned->second == version->second)) {
      co_return Fail(ErrorKind::kInvalid,
                     fmt::format("the provider changed its input 'version' from {} to {}",
                                 DebugText(version->second),
                                 DebugText(returned->second)),
                     "CheckConfig must return 'version' as it was given");
    }
  }
  const auto internal = news.find(kInternalKey);
  if (internal != news.end()) {
    inputs[kInternalKey] = internal->second;
  }
  co_return response;
}

Task<Result<DiffDecision>> ProviderRegistry::Diff(Urn urn,
                                                  PropertyMap old_inputs,
                                                  PropertyMap old_outputs,
                                                  PropertyMap new_inputs) {
  const auto at = checked_.find(urn);
  DAVIT_CHECK(at != checked_.end(), "a provider is compared before it is checked");
  DiffRequest request;
  request.urn = urn;
  request.old_inputs = WithoutInternal(old_inputs);
  request.old_outputs = old_outputs;
  request.new_inputs = WithoutInternal(new_inputs);
  request.allow_unknowns = true;  // E114
  Result<DiffResponse> response =
      co_await at->second->provider->DiffConfig(std::move(request), cancel_);
  if (!response) {
    if (response.error().kind != ErrorKind::kUnimplemented) {
      co_return Fail(std::move(response).error());
    }
    response = DiffResponse();
  }
  // E161: an unknown result compares old outputs with new inputs.
  co_return InterpretDiff(*response, old_outputs, WithoutInternal(new_inputs), {});
}

Task<Result<void>> ProviderRegistry::ConfigureInstance(InstancePtr instance,
                                                       Urn urn,
                                                       std::string id,
                                                       PropertyMap inputs) {
  PropertyMap config = WithoutInternal(inputs);
  if (IsConfigUnknown(config)) {
    instance->is_config_unknown = true;
    co_return Result<void>();
  }
  if (instance->configured_with && *instance->configured_with == config) {
    co_return Result<void>();  // shared with the preview
  }
  DAVIT_CHECK(!instance->configured_with, "a provider process would be configured twice");
  ConfigureRequest request;
  request.urn = urn;
  request.id = std::move(id);
  request.inputs = config;
  Result<void> done = co_await instance->provider->Configure(std::move(request), cancel_);
  if (done) {
    instance->configured_with = std::move(config);
    instance->configured_urn = urn;
  }
  co_return done;
}

Task<Result<void>> ProviderRegistry::Configure(Urn urn, std::string id, PropertyMap inputs) {
  const auto at = checked_.find(urn);
  if (at == checked_.end()) {  // E153: kept unchecked; what uses it loads it from the state
    co_return Result<void>();
  }
  InstancePtr instance = at->second;
  checked_.erase(at);
  const PropertyMap config = WithoutInternal(inputs);
  const InstancePtr live = Find(ReferenceText(urn, id));
  if (live && live != instance && live->configured_with && *live->configured_with == config) {
    pool_->Return(instance);  // a refresh has configured it already (P42)
    co_return Result<void>();
  }
  if (instance->configured_with && !(*instance->configured_with == config)) {
    // The preview configured this process otherwise (what it knew has changed since): a process is
    // configured once.
    pool_->Return(instance);
    Result<InstancePtr> fresh = co_await pool_->Take(instance->spec, urn, &config, cancel_);
    if (!fresh) {
      co_return Fail(std::move(fresh).error());
    }
    instance = *fresh;
  }
  DAVIT_CO_TRY_VOID(co_await ConfigureInstance(instance, urn, id, std::move(inputs)));
  live_[ReferenceText(urn, id)] = instance;
  co_return Result<void>();
}

void ProviderRegistry::Delete(const Urn& urn, const std::string& id) {
  const auto at = live_.find(ReferenceText(urn, id));
  if (at != live_.end()) {
    pool_->Return(at->second);
    live_.erase(at);
  }
}

Task<Result<InstancePtr>> ProviderRegistry::Ensure(std::string reference, StatePtr old_state) {
  while (true) {
    if (InstancePtr live = Find(reference)) {
      co_return live;
    }
    const auto at = ensuring_.find(reference);
    if (at == ensuring_.end()) {
      break;
    }
    const std::shared_ptr<Ensuring> other = at->second;
    co_await other->done.Wait();
    if (other->error) {
      co_return Fail(*other->error);
    }
  }
  if (!old_state) {
    Error error = MakeError(ErrorKind::kInvalid,
                            fmt::format("the provider '{}' is not known", reference),
                            "register the provider before the resources that use it");
    error.code = 2007;
    co_return Fail(std::move(error));
  }
  const auto ensuring = std::make_shared<Ensuring>();
  ensuring_[reference] = ensuring;
  Result<InstancePtr> instance = Fail(ErrorKind::kBug, "not loaded");
  Result<PluginSpec> spec =
      PluginOf(old_state->urn.type().substr(kProviderTypePrefix.size()), old_state->inputs);
  if (!spec) {
    instance = Fail(std::move(spec).error());
  } else {
    const PropertyMap config = WithoutInternal(old_state->inputs);
    instance = co_await pool_->Take(*spec, old_state->urn, &config, cancel_);
  }
  if (instance) {
    const Result<void> configured =
        co_await ConfigureInstance(*instance, old_state->urn, old_state->id, old_state->inputs);
    if (!configured) {  // B089: nothing tells that the program may have newer ones
      Error error = configured.error();
      error.advice += fmt::format(
          "{}the provider was configured with what the state has for '{}'; if that is out of date, "
          "use `--run-program`, or `davit up` with the provider in the program",
          error.advice.empty() ? "" : "; ",
          old_state->urn.text());
      instance = Fail(std::move(error));
    }
  }
  if (instance) {
    live_[reference] = *instance;
  } else {
    ensuring->error = instance.error();
  }
  ensuring_.erase(reference);
  ensuring->done.Open();
  co_return instance;
}

InstancePtr ProviderRegistry::Find(const std::string& reference) const {
  const auto at = live_.find(reference);
  return at == live_.end() ? nullptr : at->second;
}

void ProviderRegistry::ReleaseAll() {
  for (auto& [reference, instance] : live_) {
    pool_->Return(instance);
  }
  for (auto& [urn, instance] : checked_) {
    pool_->Return(instance);
  }
  live_.clear();
  checked_.clear();
}

Task<Result<CheckResponse>> CheckResource(InstancePtr instance,
                                          CheckRequest request,
                                          CancelToken cancel) {
  if (instance->is_config_unknown) {
    CheckResponse unchanged;
    unchanged.inputs = std::move(request.news);
    co_return unchanged;
  }
  co_return co_await instance->provider->Check(std::move(request), cancel);
}

Task<Result<DiffResponse>> DiffResource(InstancePtr instance,
                                        DiffRequest request,
                                        bool* unavailable,
                                        CancelToken cancel) {
  *unavailable = instance->is_config_unknown;
  if (instance->is_config_unknown) {
    DiffResponse changed;
    changed.changes = DiffChanges::kSome;
    co_return changed;
  }
  co_return co_await instance->provider->Diff(std::move(request), cancel);
}

Task<Result<CreateResponse>> CreateResource(InstancePtr instance,
                                            CreateRequest request,
                                            CancelToken cancel) {
  if (request.preview && instance->is_config_unknown) {
    co_return CreateResponse();
  }
  if (request.preview && !instance->provider->supports_preview()) {
    CreateResponse echoed;
    echoed.outputs = std::move(request.inputs);
    co_return echoed;
  }
  co_return co_await instance->provider->Create(std::move(request), cancel);
}

Task<Result<UpdateResponse>> UpdateResource(InstancePtr instance,
                                            UpdateRequest request,
                                            CancelToken cancel) {
  if (request.preview && instance->is_config_unknown) {
    co_return UpdateResponse();
  }
  if (request.preview && !instance->provider->supports_preview()) {
    UpdateResponse echoed;
    echoed.outputs = std::move(request.new_inputs);
    co_return echoed;
  }
  co_return co_await instance->provider->Update(std::move(request), cancel);
}

Task<Result<ReadResponse>> ReadResource(InstancePtr instance,
                                        ReadRequest request,
                                        CancelToken cancel) {
  if (instance->is_config_unknown) {
    ReadResponse nothing;
    nothing.id = std::move(request.id);
    nothing.inputs.emplace();
    nothing.outputs.emplace();
    co_return nothing;
  }
  co_return co_await instance->provider->Read(std::move(request), cancel);
}

Task<Result<InvokeResponse>> InvokeFunction(InstancePtr instance,
                                            InvokeRequest request,
                                            CancelToken cancel) {
  if (instance->is_config_unknown) {
    co_return InvokeResponse();
  }
  co_return co_await instance->provider->Invoke(std::move(request), cancel);
}

}  // namespace davit
