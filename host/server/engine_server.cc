#include "host/server/engine_server.h"

#include <fmt/format.h>

#include "engine/base/semver.h"
#include "host/server/typed_handler.h"
#include "host/server/view_codec.h"
#include "pulumirpc/codegen/loader.pb.h"
#include "pulumirpc/engine.pb.h"
#include "pulumirpc/resource_status.pb.h"

namespace davit {
namespace {

RpcStatus SchemaFailure(const Error& error) {
  return Refuse(
      error.kind == ErrorKind::kUnimplemented ? RpcCode::kUnimplemented : RpcCode::kUnknown,
      error.Text());
}

}  // namespace

struct EngineServer::Impl {
  explicit Impl(EngineServerOptions given)
      : options(std::move(given)),
        server(*options.loop, *options.pool, Refuse(RpcCode::kCancelled, "davit is stopping")) {}

  EngineServerOptions options;
  RpcServer server;
  std::string root_urn;

  Task<RpcStatus> Log(const pulumirpc::LogRequest& request,
                      google::protobuf::Empty*,
                      const ServerCall&) {
    if (!pulumirpc::LogSeverity_IsValid(request.severity())) {
      co_return Refuse(RpcCode::kInvalidArgument,
                       fmt::format("unknown severity {}", static_cast<int>(request.severity())));
    }
    LogMessage message;
    message.severity = static_cast<Severity>(request.severity());
    message.message = request.message();
    message.urn = request.urn();
    message.stream_id = request.streamid();
    message.ephemeral = request.ephemeral();
    if (options.log) {
      options.log(message);
    }
    co_return RpcStatus();
  }

  Task<RpcStatus> GetRootResource(const pulumirpc::GetRootResourceRequest&,
                                  pulumirpc::GetRootResourceResponse* response,
                                  const ServerCall&) {
    response->set_urn(root_urn);
    co_return RpcStatus();
  }

  Task<RpcStatus> SetRootResource(const pulumirpc::SetRootResourceRequest& request,
                                  pulumirpc::SetRootResourceResponse*,
                                  const ServerCall&) {
    root_urn = request.urn();
    co_return RpcStatus();
  }

  Task<RpcStatus> StartDebugging(const pulumirpc::StartDebuggingRequest&,
                                 google::protobuf::Empty*,
                                 const ServerCall&) {
    co_return Refuse(RpcCode::kFailedPrecondition, "no debugging was requested");
  }

  Task<RpcStatus> RequirePulumiVersion(const pulumirpc::RequirePulumiVersionRequest& request,
                                       pulumirpc::RequirePulumiVersionResponse*,
                                       const ServerCall&) {
    const std::optional<Semver> version = Semver::ParseStrict(options.compatible_version);
    DAVIT_CHECK(version.has_value(), "the compatible version is no version");
    const Result<bool> is_in = IsInRange(*version, request.pulumi_version_range());
    if (!is_in) {
      co_return Refuse(RpcCode::kInvalidArgument, is_in.error().Text());
    }
    if (!*is_in) {
      co_return Refuse(
          RpcCode::kFailedPrecondition,
          fmt::format("davit is compatible with Pulumi {}, which is not in the required range '{}'",
                      options.compatible_version,
                      request.pulumi_version_range()));
    }
    co_return RpcStatus();
  }

  // The code of what is refused is recorded (views-refused).
  Task<RpcStatus> PublishViewSteps(const pulumirpc::PublishViewStepsRequest& request,
                                   pulumirpc::PublishViewStepsResponse*,
                                   const ServerCall&) {
    Result<std::vector<ViewStep>> steps = DecodeViewSteps(request);
    Result<void> taken;
    if (!steps) {
      taken = Fail(steps.error());
    } else if (options.views == nullptr) {
      taken = ViewBoard().Publish(request.token(), {});
    } else {
      taken = options.views->Publish(request.token(), *std::move(steps));
    }
    co_return taken ? RpcStatus() : Refuse(RpcCode::kUnknown, taken.error().Text());
  }

  Task<RpcStatus> GetSchema(const codegen::GetSchemaRequest& request,
                            codegen::GetSchemaResponse* response,
                            const ServerCall&) {
    if (!options.get_schema) {
      co_return Refuse(RpcCode::kUnimplemented, "davit serves no schemas in this run");
    }
    if (!request.version().empty() && !Semver::ParseTolerant(request.version())) {
      co_return Refuse(RpcCode::kInvalidArgument,
                       fmt::format("'{}' is not a version", request.version()));
    }
    PackageDescriptor package;
    package.name = request.package();
    package.version = request.version();
    package.download_url = request.download_url();
    if (request.has_parameterization()) {
      Parameterization& parameterization = package.parameterization.emplace();
      parameterization.name = request.parameterization().name();
      parameterization.version = request.parameterization().version();
      parameterization.value = request.parameterization().value();
    }
    Result<std::string> schema = co_await options.get_schema(std::move(package));
    if (!schema) {
      co_return SchemaFailure(schema.error());
    }
    response->set_schema(*std::move(schema));
    co_return RpcStatus();
  }

  void Register(const std::shared_ptr<Impl>& self) {
    const ServerTrace unwatched;  // P122: the Engine service is not logged
    const ServerTrace watched{.loop = options.loop, .trace = options.trace};
    const std::string engine = "pulumirpc.Engine";
    HandleWith(server, engine, "Log", unwatched, self, &Impl::Log);
    HandleWith(server, engine, "GetRootResource", unwatched, self, &Impl::GetRootResource);
    HandleWith(server, engine, "SetRootResource", unwatched, self, &Impl::SetRootResource);
    HandleWith(server, engine, "StartDebugging", unwatched, self, &Impl::StartDebugging);
    HandleWith(
        server, engine, "RequirePulumiVersion", unwatched, self, &Impl::RequirePulumiVersion);
    HandleWith(server,
               "pulumirpc.ResourceStatus",
               "PublishViewSteps",
               watched,
               self,
               &Impl::PublishViewSteps);
    HandleWith(server, "codegen.Loader", "GetSchema", unwatched, self, &Impl::GetSchema);
  }
};

EngineServer::EngineServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

EngineServer::~EngineServer() = default;

Result<std::unique_ptr<EngineServer>> EngineServer::Start(EngineServerOptions options) {
  auto impl = std::make_shared<Impl>(std::move(options));
  impl->Register(impl);
  DAVIT_TRY_VOID(impl->server.Start());
  return std::unique_ptr<EngineServer>(new EngineServer(std::move(impl)));
}

const std::string& EngineServer::address() const {
  return impl_->server.address();
}

void EngineServer::SetLog(std::function<void(const LogMessage&)> log) {
  impl_->options.log = std::move(log);
}

void EngineServer::SetSchemaSource(
    std::function<Task<Result<std::string>>(PackageDescriptor)> get_schema) {
  impl_->options.get_schema = std::move(get_schema);
}

Task<void> EngineServer::Close() {
  const std::shared_ptr<Impl> impl = impl_;
  co_await impl->server.Close();
}

}  // namespace davit
