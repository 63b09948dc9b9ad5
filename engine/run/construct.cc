#include "engine/run/construct.h"

#include <fmt/format.h>

#include "engine/run/extensions.h"

namespace davit {

Result<RunSurroundings> PluginSurroundings::Open(std::vector<std::string> stack_trace) {
  if (!endpoint_) {
    if (context_.request.monitors == nullptr) {
      return Fail(ErrorKind::kUnimplemented,
                  "plugins cannot register resources in this run",
                  "this is a fault of davit: the run was started without a monitor on a socket");
    }
    DAVIT_TRY(endpoint_, context_.request.monitors->Serve(monitor_, context_.request.info));
  }
  RunSurroundings surroundings;
  surroundings.info = &context_.request.info;
  surroundings.monitor_address = endpoint_->address();
  surroundings.stack_trace_handle = context_.request.ids->NewUuid();
  traces_.emplace(surroundings.stack_trace_handle, std::move(stack_trace));
  return surroundings;
}

std::vector<std::string> PluginSurroundings::TraceOf(const std::string& handle) const {
  const auto at = traces_.find(handle);
  return at == traces_.end() ? std::vector<std::string>() : at->second;
}

Task<void> PluginSurroundings::Close() {
  if (endpoint_) {
    co_await endpoint_->Close();
  }
}

Task<Result<RegisterResponse>> ConstructComponent(RunContext& context,
                                                  Monitor& monitor,
                                                  PluginSurroundings& surroundings,
                                                  Goal goal) {
  DAVIT_CO_TRY(
      InstancePtr instance,
      co_await context.providers.Ensure(goal.provider, context.OldProvider(goal.provider)));
  RegisterResponse response;
  if (instance->is_config_unknown) {  // E113
    Goal bare;
    bare.type = goal.type;
    bare.name = goal.name;
    bare.parent = goal.parent;
    bare.custom = false;
    DAVIT_CO_TRY(response, co_await monitor.RegisterResource(std::move(bare)));
    response.outputs.clear();
    co_return response;
  }
  ConstructRequest request;
  DAVIT_CO_TRY_VOID(co_await EnsureExtension(
      context, instance, goal.extension_ref, ExtensionUse::kRegistration));
  DAVIT_CO_TRY(request.run, surroundings.Open(goal.stack_trace));
  const std::string what = fmt::format("the component '{}' ({})", goal.name, goal.type);
  request.goal = std::move(goal);
  Result<ConstructResponse> built =
      co_await instance->provider->Construct(std::move(request), CancelToken());
  if (!built) {
    if (context.stopped()) {
      co_return Fail(StoppedError());  // a part of it failed, which has been reported
    }
    Error error = std::move(built).error().WithContext(what + " could not be built");
    error.code = 2002;
    error.urn.clear();  // E38
    co_return Fail(std::move(error));
  }
  response.urn = std::move(built->urn);
  response.outputs = WithoutOutputs(built->state);
  response.property_dependencies = std::move(built->state_dependencies);
  co_return response;
}

}  // namespace davit
