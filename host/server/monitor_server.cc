#include "host/server/monitor_server.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/waiting.h"
#include "host/client/callbacks_client.h"
#include "host/server/monitor_codec.h"
#include "host/server/program_callbacks.h"
#include "host/server/typed_handler.h"
#include "host/wire/value_codec.h"
#include "pulumirpc/provider.pb.h"

namespace davit {
namespace {

using pulumirpc::ResourceMonitorFeature;

// P93: what is announced, with the text id that older SDKs ask for. State migrations are not.
struct Feature {
  ResourceMonitorFeature number;
  std::string_view id;
};
constexpr Feature kFeatures[] = {
    {pulumirpc::RESOURCE_MONITOR_FEATURE_SECRETS, "secrets"},
    {pulumirpc::RESOURCE_MONITOR_FEATURE_RESOURCE_REFERENCES, "resourceReferences"},
    {pulumirpc::RESOURCE_MONITOR_FEATURE_OUTPUT_VALUES, "outputValues"},
    {pulumirpc::RESOURCE_MONITOR_FEATURE_ALIAS_SPECS, "aliasSpecs"},
    {pulumirpc::RESOURCE_MONITOR_FEATURE_TRANSFORMS, "transforms"},
    {pulumirpc::RESOURCE_MONITOR_FEATURE_INVOKE_TRANSFORMS, "invokeTransforms"},
    {pulumirpc::RESOURCE_MONITOR_FEATURE_RESOURCE_HOOKS, "resourceHooks"},
    {pulumirpc::RESOURCE_MONITOR_FEATURE_ERROR_HOOKS, "errorHooks"},
    {pulumirpc::RESOURCE_MONITOR_FEATURE_SENDS_OPTIONS_TO_HOOKS, "sendsOptionsToHooks"},
    {pulumirpc::RESOURCE_MONITOR_FEATURE_REPLACEMENT_TRIGGER, "replacementTrigger"},
    {pulumirpc::RESOURCE_MONITOR_FEATURE_DELETED_WITH, "deletedWith"},
    {pulumirpc::RESOURCE_MONITOR_FEATURE_REPLACE_WITH, "replaceWith"},
    {pulumirpc::RESOURCE_MONITOR_FEATURE_PARAMETERIZATION, "parameterization"},
    {pulumirpc::RESOURCE_MONITOR_FEATURE_BYTE_STRING, ""},
    {pulumirpc::RESOURCE_MONITOR_FEATURE_INVOKE_DEPENDS_ON, ""},
    {pulumirpc::RESOURCE_MONITOR_FEATURE_INVOKE_PARENT, ""},
};

// P92: SDKs then end quietly. The text is the recorded one, since plugins pass it on.
RpcStatus Stopped() {
  return Refuse(RpcCode::kUnavailable,
                "resource monitor shut down while waiting on step's done channel");
}

RpcStatus StatusOf(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kInvalid:
      return Refuse(RpcCode::kInvalidArgument, error.Text());
    case ErrorKind::kUnimplemented:
      return Refuse(RpcCode::kUnimplemented, error.Text());
    case ErrorKind::kCancelled:
      return Stopped();
    case ErrorKind::kUnavailable:
      if (error.reported) {
        return Stopped();  // E29: the run no longer serves registrations
      }
      break;
    case ErrorKind::kRefused:
    case ErrorKind::kFailed:
    case ErrorKind::kOutcomeUnknown:
    case ErrorKind::kBug:
      break;
  }
  return Refuse(RpcCode::kUnknown, error.Text());
}

// P102: what an SDK that cannot take partial values must not see.
PropertyMap WithoutPartialValues(const PropertyMap& map) {
  PropertyMap known;
  for (const auto& [key, value] : map) {
    if (!ContainsUnknowns(value)) {
      known.emplace(key, value);
    }
  }
  return known;
}

CodecOptions EncodeOptions(bool keep_secrets, bool keep_resources, bool keep_byte_strings) {
  CodecOptions codec;
  codec.keep_unknowns = true;
  codec.keep_secrets = keep_secrets;
  codec.keep_resources = keep_resources;
  codec.keep_byte_strings = keep_byte_strings;
  return codec;
}

}  // namespace

struct MonitorServer::Impl {
  explicit Impl(MonitorServerOptions given)
      : options(std::move(given)),
        server(*options.loop,
               *options.pool,
               Refuse(RpcCode::kUnavailable, "the deployment has ended")) {}

  MonitorServerOptions options;
  RpcServer server;
  std::shared_ptr<CallbacksClient> callbacks = std::make_shared<CallbacksClient>(*options.loop);
  Gate signalled;
  Gate released;
  bool has_signalled = false;
  bool has_stopped = false;

  RpcStatus FromError(const Error& error) {
    RpcStatus status = StatusOf(error);
    if (status.code == RpcCode::kUnavailable) {
      has_stopped = true;
      if (options.on_stopped) {
        options.on_stopped();
      }
    }
    return status;
  }

  MonitorCaller CallerOf(const ServerCall& call) const {
    MonitorCaller caller;
    caller.root_directory = options.info.root_directory;
    const auto runtime = call.metadata.find("pulumi-runtime");
    const auto agent = call.metadata.find("user-agent");
    caller.is_node =
        runtime != call.metadata.end()
            ? runtime->second == "nodejs"
            : agent != call.metadata.end() && agent->second.starts_with("grpc-node-js/");
    return caller;
  }

  bool IsAnnounced(const Feature& feature) const {
    if (feature.number == pulumirpc::RESOURCE_MONITOR_FEATURE_RESOURCE_REFERENCES) {
      return options.resource_references;
    }
    if (feature.number == pulumirpc::RESOURCE_MONITOR_FEATURE_OUTPUT_VALUES) {
      return options.output_values;
    }
    return true;
  }

  Task<RpcStatus> SupportsFeature(const pulumirpc::SupportsFeatureRequest& request,
                                  pulumirpc::SupportsFeatureResponse* response,
                                  const ServerCall&) {
    response->set_hassupport(std::ranges::any_of(kFeatures, [&](const Feature& feature) {
      return !feature.id.empty() && feature.id == request.id() && IsAnnounced(feature);
    }));
    co_return RpcStatus();
  }

  Task<RpcStatus> GetDeploymentInfo(const google::protobuf::Empty&,
                                    pulumirpc::DeploymentInfo* response,
                                    const ServerCall&) {
    const RunInfo& info = options.info;
    response->set_project(info.project);
    response->set_stack(info.stack);
    response->set_organization(info.organization);
    for (const auto& [key, value] : info.config) {
      (*response->mutable_config())[key] = value.text;
      if (value.is_secret) {
        response->add_configsecretkeys(key);
      }
    }
    response->set_dryrun(info.preview);
    response->set_parallel(info.parallel);
    for (const Feature& feature : kFeatures) {
      if (IsAnnounced(feature)) {
        response->add_supportedfeatures(feature.number);
      }
    }
    co_return RpcStatus();
  }

  Task<RpcStatus> RegisterResource(const pulumirpc::RegisterResourceRequest& request,
                                   pulumirpc::RegisterResourceResponse* response,
                                   const ServerCall& call) {
    if (request.state_migrations_size() > 0) {  // E209
      co_return Refuse(RpcCode::kFailedPrecondition,
                       "davit does not support the option 'stateMigrations', and says so among its "
                       "features");
    }
    Result<Goal> goal = ToGoal(request, CallerOf(call));
    if (!goal) {
      co_return FromError(goal.error());
    }
    const bool is_local_component = !goal->custom && !goal->remote;
    std::vector<Transform> transforms;
    for (const pulumirpc::Callback& callback : request.transforms()) {
      transforms.push_back(MakeTransform(callbacks, callback));
    }
    Result<RegisterResponse> outcome = co_await options.monitor->RegisterTransformed(
        *std::move(goal), std::move(transforms));
    if (!outcome) {
      co_return FromError(outcome.error());
    }
    if (outcome->result != RegisterResult::kSuccess && !request.supportsresultreporting()) {
      co_return Refuse(RpcCode::kInternal,
                       fmt::format("the resource '{}' was not registered", request.name()));
    }
    response->set_urn(outcome->urn.text());
    response->set_id(outcome->id);
    response->set_result(static_cast<pulumirpc::Result>(outcome->result));
    response->set_unknown(outcome->unknown);
    response->mutable_object();
    if (is_local_component) {
      co_return RpcStatus();  // P102: always empty
    }
    for (const auto& [key, urns] : outcome->property_dependencies) {
      auto* sent = (*response->mutable_propertydependencies())[key].mutable_urns();
      for (const Urn& urn : urns) {
        *sent->Add() = urn.text();
      }
    }
    const CodecOptions codec = EncodeOptions(
        request.acceptsecrets(), request.acceptresources(), request.accepts_byte_string());
    const PropertyMap outputs =
        request.supportspartialvalues() ? outcome->outputs : WithoutPartialValues(outcome->outputs);
    const Result<void> encoded = EncodeStruct(outputs, codec, response->mutable_object());
    if (!encoded) {
      co_return FromError(encoded.error());
    }
    co_return RpcStatus();
  }

  Task<RpcStatus> RegisterResourceOutputs(const pulumirpc::RegisterResourceOutputsRequest& request,
                                          google::protobuf::Empty*,
                                          const ServerCall&) {
    Result<Urn> urn = Urn::Parse(request.urn());
    if (!urn) {
      co_return Refuse(RpcCode::kInvalidArgument, fmt::format("invalid URN '{}'", request.urn()));
    }
    Result<PropertyMap> outputs = DecodeStruct(request.outputs(), EncodeOptions(true, true, false));
    if (!outputs) {
      co_return FromError(outputs.error());
    }
    const Result<void> done =
        co_await options.monitor->RegisterOutputs(*std::move(urn), *std::move(outputs));
    if (!done) {
      co_return FromError(done.error());
    }
    co_return RpcStatus();
  }

  Task<RpcStatus> ReadResource(const pulumirpc::ReadResourceRequest& request,
                               pulumirpc::ReadResourceResponse* response,
                               const ServerCall& call) {
    Result<ReadGoal> goal = ToReadGoal(request, CallerOf(call));
    if (!goal) {
      co_return FromError(goal.error());
    }
    Result<RegisterResponse> outcome = co_await options.monitor->ReadResource(*std::move(goal));
    if (!outcome) {
      co_return FromError(outcome.error());
    }
    response->set_urn(outcome->urn.text());
    response->set_id(outcome->id);
    response->set_result(static_cast<pulumirpc::Result>(outcome->result));
    response->set_unknown(outcome->unknown);
    const CodecOptions codec = EncodeOptions(
        request.acceptsecrets(), request.acceptresources(), request.accepts_byte_string());
    const Result<void> encoded =
        EncodeStruct(outcome->outputs, codec, response->mutable_properties());
    if (!encoded) {
      co_return FromError(encoded.error());
    }
    co_return RpcStatus();
  }

  Task<RpcStatus> ExistsResource(const pulumirpc::ExistsResourceRequest& request,
                                 pulumirpc::ExistsResourceResponse* response,
                                 const ServerCall&) {
    Result<ReadGoal> goal = ToExistsGoal(request);
    if (!goal) {
      co_return FromError(goal.error());
    }
    const Result<std::optional<bool>> exists =
        co_await options.monitor->ExistsResource(*std::move(goal));
    if (!exists) {
      co_return FromError(exists.error());
    }
    response->set_exists(exists->value_or(false));
    response->set_unknown(!exists->has_value());
    co_return RpcStatus();
  }

  Task<RpcStatus> Invoke(const pulumirpc::ResourceInvokeRequest& request,
                         pulumirpc::ResourceInvokeResponse* response,
                         const ServerCall&) {
    Result<InvokeGoal> goal = ToInvokeGoal(request);
    if (!goal) {
      co_return FromError(goal.error());
    }
    Result<InvokeOutcome> outcome = co_await options.monitor->Invoke(*std::move(goal));
    if (!outcome) {
      co_return FromError(outcome.error());
    }
    response->set_unknown(outcome->unknown);
    for (const CheckFailure& failure : outcome->failures) {
      pulumirpc::CheckFailure* entry = response->add_failures();
      entry->set_property(failure.property);
      entry->set_reason(failure.reason);
    }
    const bool keep_resources =
        request.acceptresources() || request.tok() == "pulumi:pulumi:getResource";
    const Result<void> encoded =
        EncodeStruct(outcome->result,
                     EncodeOptions(true, keep_resources, request.accepts_byte_string()),
                     response->mutable_return_());
    if (!encoded) {
      co_return FromError(encoded.error());
    }
    co_return RpcStatus();
  }

  Task<RpcStatus> Call(const pulumirpc::ResourceCallRequest& request,
                       pulumirpc::CallResponse* response,
                       const ServerCall& call) {
    Result<CallGoal> goal = ToCallGoal(request, CallerOf(call));
    if (!goal) {
      co_return FromError(goal.error());
    }
    Result<CallResponse> answer = co_await options.monitor->Call(*std::move(goal));
    if (!answer) {
      co_return FromError(answer.error());
    }
    for (const auto& [key, urns] : answer->dependencies) {
      auto* sent = (*response->mutable_returndependencies())[key].mutable_urns();
      for (const Urn& urn : urns) {
        *sent->Add() = urn.text();
      }
    }
    for (const CheckFailure& failure : answer->failures) {
      pulumirpc::CheckFailure* entry = response->add_failures();
      entry->set_property(failure.property);
      entry->set_reason(failure.reason);
    }
    CodecOptions codec = EncodeOptions(true, true, request.accepts_byte_string());
    codec.keep_outputs = request.accept_output_values();
    const Result<void> encoded =
        EncodeStruct(answer->result, codec, response->mutable_return_());
    if (!encoded) {
      co_return FromError(encoded.error());
    }
    co_return RpcStatus();
  }

  Task<RpcStatus> RegisterPackage(const pulumirpc::RegisterPackageRequest& request,
                                  pulumirpc::RegisterPackageResponse* response,
                                  const ServerCall&) {
    Result<PackageDescriptor> package = ToPackage(request);
    if (!package) {
      co_return FromError(package.error());
    }
    Result<std::string> reference = co_await options.monitor->RegisterPackage(*std::move(package));
    if (!reference) {
      co_return FromError(reference.error());
    }
    response->set_ref(*std::move(reference));
    co_return RpcStatus();
  }

  // P104: stack transforms need a target; those of a registration are called where they say.
  Task<RpcStatus> RegisterStackTransform(const pulumirpc::Callback& request,
                                         google::protobuf::Empty*,
                                         const ServerCall&) {
    if (request.target().empty()) {
      co_return Refuse(RpcCode::kInvalidArgument, "the transform has no callback target");
    }
    options.monitor->RegisterStackTransform(MakeTransform(callbacks, request));
    co_return RpcStatus();
  }

  Task<RpcStatus> RegisterStackInvokeTransform(const pulumirpc::Callback& request,
                                               google::protobuf::Empty*,
                                               const ServerCall&) {
    if (request.target().empty()) {
      co_return Refuse(RpcCode::kInvalidArgument, "the transform has no callback target");
    }
    options.monitor->RegisterStackInvokeTransform(MakeInvokeTransform(callbacks, request));
    co_return RpcStatus();
  }

  // P105.
  RpcStatus AddHook(Hook hook, const pulumirpc::Callback& callback) {
    if (callback.target().empty()) {
      return Refuse(RpcCode::kInvalidArgument,
                    fmt::format("the hook '{}' has no callback target", hook.name));
    }
    hook.run = MakeHook(callbacks, callback, hook.is_error_hook);
    const Result<void> added = options.monitor->RegisterHook(std::move(hook));
    return added ? RpcStatus() : FromError(added.error());
  }

  Task<RpcStatus> RegisterResourceHook(const pulumirpc::RegisterResourceHookRequest& request,
                                       google::protobuf::Empty*,
                                       const ServerCall&) {
    Hook hook;
    hook.name = request.name();
    hook.on_dry_run = request.on_dry_run();
    hook.ignore_errors = request.ignore_errors();
    co_return AddHook(std::move(hook), request.callback());
  }

  Task<RpcStatus> RegisterErrorHook(const pulumirpc::RegisterErrorHookRequest& request,
                                    google::protobuf::Empty*,
                                    const ServerCall&) {
    Hook hook;
    hook.name = request.name();
    hook.is_error_hook = true;
    co_return AddHook(std::move(hook), request.callback());
  }

  // P106.
  Task<RpcStatus> SignalAndWaitForShutdown(const google::protobuf::Empty&,
                                           google::protobuf::Empty*,
                                           const ServerCall&) {
    if (std::exchange(has_signalled, true)) {
      co_return Refuse(RpcCode::kFailedPrecondition, "the end of the program was signalled before");
    }
    signalled.Open();
    co_await released.Wait();
    co_return RpcStatus();
  }

  void Register(const std::shared_ptr<Impl>& self) {
    const ServerTrace watched{.loop = options.loop, .trace = options.trace};
    const std::string service = "pulumirpc.ResourceMonitor";
    HandleWith(server, service, "SupportsFeature", watched, self, &Impl::SupportsFeature);
    HandleWith(server, service, "GetDeploymentInfo", watched, self, &Impl::GetDeploymentInfo);
    HandleWith(server, service, "RegisterResource", watched, self, &Impl::RegisterResource);
    HandleWith(
        server, service, "RegisterResourceOutputs", watched, self, &Impl::RegisterResourceOutputs);
    HandleWith(server, service, "ReadResource", watched, self, &Impl::ReadResource);
    HandleWith(server, service, "ExistsResource", watched, self, &Impl::ExistsResource);
    HandleWith(server, service, "Invoke", watched, self, &Impl::Invoke);
    HandleWith(server, service, "Call", watched, self, &Impl::Call);
    HandleWith(server, service, "RegisterPackage", watched, self, &Impl::RegisterPackage);
    HandleWith(
        server, service, "RegisterStackTransform", watched, self, &Impl::RegisterStackTransform);
    HandleWith(server,
               service,
               "RegisterStackInvokeTransform",
               watched,
               self,
               &Impl::RegisterStackInvokeTransform);
    HandleWith(server, service, "RegisterResourceHook", watched, self, &Impl::RegisterResourceHook);
    HandleWith(server, service, "RegisterErrorHook", watched, self, &Impl::RegisterErrorHook);
    HandleWith(server,
               service,
               "SignalAndWaitForShutdown",
               watched,
               self,
               &Impl::SignalAndWaitForShutdown);
  }
};

MonitorServer::MonitorServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

MonitorServer::~MonitorServer() = default;

Result<std::unique_ptr<MonitorServer>> MonitorServer::Start(MonitorServerOptions options) {
  auto impl = std::make_shared<Impl>(std::move(options));
  impl->Register(impl);
  DAVIT_TRY_VOID(impl->server.Start());
  return std::unique_ptr<MonitorServer>(new MonitorServer(std::move(impl)));
}

Result<std::unique_ptr<MonitorEndpoint>> GrpcMonitorHost::Serve(Monitor& monitor, RunInfo info) {
  MonitorServerOptions options = options_;
  options.monitor = &monitor;
  options.info = std::move(info);
  DAVIT_TRY(std::unique_ptr<MonitorServer> server, MonitorServer::Start(std::move(options)));
  return std::unique_ptr<MonitorEndpoint>(std::move(server));
}

const std::string& MonitorServer::address() const {
  return impl_->server.address();
}

Task<void> MonitorServer::WaitForSignal() {
  const std::shared_ptr<Impl> impl = impl_;
  co_await impl->signalled.Wait();
}

bool MonitorServer::has_stopped() const {
  return impl_->has_stopped;
}

void MonitorServer::ReleaseShutdown() {
  impl_->released.Open();
}

Task<void> MonitorServer::Close() {
  const std::shared_ptr<Impl> impl = impl_;
  co_await impl->server.Close();
  co_await impl->callbacks->Close();
  impl->signalled.Open();
  impl->released.Open();
}

}  // namespace davit
