// The Engine, health, ResourceStatus and Loader services, seen by gRPC's own client (P37, P90, P91,
// P101, P108, P110).

#include "host/server/engine_server.h"

#include <grpcpp/grpcpp.h>

#include "engine/base/waiting.h"
#include "grpc_health/health.grpc.pb.h"
#include "pulumirpc/codegen/loader.grpc.pb.h"
#include "pulumirpc/engine.grpc.pb.h"
#include "pulumirpc/resource_status.grpc.pb.h"
#include "tests/host/host_fixture.h"

namespace davit::testing {
namespace {

namespace rpc = pulumirpc;
using google::protobuf::Empty;

struct Served {
  AsioLoop loop;
  WorkPool pool;
  std::unique_ptr<EngineServer> server;
  std::vector<LogMessage> messages;

  explicit Served(EngineServerOptions options = {}) {
    options.loop = &loop;
    options.pool = &pool;
    options.log = [this](const LogMessage& message) { messages.push_back(message); };
    Result<std::unique_ptr<EngineServer>> started = EngineServer::Start(std::move(options));
    REQUIRE(started);
    server = *std::move(started);
  }
  ~Served() { Await(loop, server->Close()); }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  std::shared_ptr<grpc::Channel> Channel() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt("grpc.enable_http_proxy", 0);
    return grpc::CreateCustomChannel(
        server->address(), grpc::InsecureChannelCredentials(), arguments);
  }
};

// Calls `method` of a service on another thread while the loop runs.
template <typename Service, typename Request, typename Response>
grpc::Status Call(Served& served,
                  grpc::Status (Service::Stub::*method)(grpc::ClientContext*,
                                                        const Request&,
                                                        Response*),
                  const Request& request,
                  Response* response) {
  grpc::Status status;
  RunBeside(served.loop, [&] {
    const auto stub = Service::NewStub(served.Channel());
    grpc::ClientContext context;
    status = (stub.get()->*method)(&context, request, response);
  });
  return status;
}

TEST_CASE("P37 health is SERVING for the server and each of its services") {
  Served served;
  for (const char* service :
       {"", "pulumirpc.Engine", "pulumirpc.ResourceStatus", "codegen.Loader"}) {
    grpc::health::v1::HealthCheckRequest request;
    request.set_service(service);
    grpc::health::v1::HealthCheckResponse response;
    const grpc::Status status = Call<grpc::health::v1::Health>(
        served, &grpc::health::v1::Health::Stub::Check, request, &response);
    INFO(service);
    REQUIRE(status.ok());
    REQUIRE(response.status() == grpc::health::v1::HealthCheckResponse::SERVING);
  }
}

TEST_CASE("P90 Log is passed on as it is; unknown severities are refused") {
  Served served;
  rpc::LogRequest request;
  request.set_severity(rpc::WARNING);
  request.set_message("careful\n");
  request.set_urn("urn:x");
  request.set_streamid(7);
  request.set_ephemeral(true);
  Empty response;
  REQUIRE(Call<rpc::Engine>(served, &rpc::Engine::Stub::Log, request, &response).ok());
  REQUIRE(served.messages.size() == 1);
  REQUIRE(served.messages[0].severity == Severity::kWarning);
  REQUIRE(served.messages[0].message == "careful\n");
  REQUIRE(served.messages[0].urn == "urn:x");
  REQUIRE(served.messages[0].stream_id == 7);
  REQUIRE(served.messages[0].ephemeral);
  request.set_severity(static_cast<rpc::LogSeverity>(9));
  const grpc::Status status =
      Call<rpc::Engine>(served, &rpc::Engine::Stub::Log, request, &response);
  REQUIRE(status.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_CASE("P91 the root resource is kept; debugging is refused") {
  Served served;
  rpc::GetRootResourceResponse root;
  REQUIRE(Call<rpc::Engine>(
              served, &rpc::Engine::Stub::GetRootResource, rpc::GetRootResourceRequest(), &root)
              .ok());
  REQUIRE(root.urn().empty());
  rpc::SetRootResourceRequest set;
  set.set_urn("urn:root");
  rpc::SetRootResourceResponse done;
  REQUIRE(Call<rpc::Engine>(served, &rpc::Engine::Stub::SetRootResource, set, &done).ok());
  REQUIRE(Call<rpc::Engine>(
              served, &rpc::Engine::Stub::GetRootResource, rpc::GetRootResourceRequest(), &root)
              .ok());
  REQUIRE(root.urn() == "urn:root");
  Empty response;
  const grpc::Status debugging = Call<rpc::Engine>(
      served, &rpc::Engine::Stub::StartDebugging, rpc::StartDebuggingRequest(), &response);
  REQUIRE(!debugging.ok());
}

TEST_CASE("P101 the version is checked against the compatible one") {
  EngineServerOptions options;
  options.compatible_version = "3.274.1";
  Served served(std::move(options));
  const auto require = [&](const char* range) {
    rpc::RequirePulumiVersionRequest request;
    request.set_pulumi_version_range(range);
    rpc::RequirePulumiVersionResponse response;
    return Call<rpc::Engine>(served, &rpc::Engine::Stub::RequirePulumiVersion, request, &response);
  };
  REQUIRE(require(">=3.200.0 <4.0.0").ok());
  const grpc::Status too_old = require(">=4.0.0");
  REQUIRE(too_old.error_code() == grpc::StatusCode::FAILED_PRECONDITION);
  RequireContains(too_old.error_message(), "3.274.1");
  REQUIRE(require("nonsense").error_code() == grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_CASE("P110 reports on parts reach the call that has the token, unknown tokens are refused") {
  ViewBoard views;
  std::vector<ViewStep> taken;
  views.Open("t", [&taken](std::vector<ViewStep> steps) -> Result<void> {
    taken = std::move(steps);
    return {};
  });
  EngineServerOptions options;
  options.views = &views;
  Served served(std::move(options));
  rpc::PublishViewStepsRequest request;
  rpc::ViewStep* step = request.add_steps();
  step->set_op(rpc::ViewStep::UPDATE);
  step->set_status(rpc::ViewStep::PARTIAL_FAILURE);
  step->set_type("pkg:index:Part");
  step->set_name("one");
  step->set_error("not ready");
  step->mutable_old()->set_name("one");
  (*step->mutable_new_()->mutable_outputs()->mutable_fields())["x"].set_number_value(1);
  step->set_has_detailed_diff(true);
  (*step->mutable_detailed_diff())["x"].set_kind(rpc::PropertyDiff::ADD);
  const auto publish = [&] {
    rpc::PublishViewStepsResponse response;
    return Call<rpc::ResourceStatus>(
        served, &rpc::ResourceStatus::Stub::PublishViewSteps, request, &response);
  };
  request.set_token("other");
  const grpc::Status unknown = publish();
  REQUIRE(unknown.error_code() == grpc::StatusCode::UNKNOWN);
  RequireContains(unknown.error_message(), "other");
  request.set_token("t");
  REQUIRE(publish().ok());
  REQUIRE(taken.size() == 1);
  CHECK(taken[0].op == StepOp::kUpdate);
  CHECK(taken[0].is_partial);
  CHECK(taken[0].error == "not ready");
  CHECK(taken[0].old_view->name == "one");
  CHECK(taken[0].new_view->outputs == PropertyMap{{"x", 1}});
  CHECK(taken[0].detailed->at("x").kind == DiffKind::kAdd);
  step->set_op(rpc::ViewStep::UNSPECIFIED);
  REQUIRE(publish().error_code() == grpc::StatusCode::UNKNOWN);
}

Task<Result<std::string>> SchemaOf(PackageDescriptor package) {
  if (package.name == "missing") {
    co_return Fail(ErrorKind::kInvalid, "no plugin 'missing'");
  }
  co_return "schema of " + package.name + " " + package.version +
      (package.parameterization ? " as " + package.parameterization->name : "");
}

TEST_CASE("P108 schemas come from the source that is set, or are unimplemented") {
  Served served;
  codegen::GetSchemaRequest request;
  request.set_package("pkg");
  request.set_version("v1.2");
  request.mutable_parameterization()->set_name("sub");
  codegen::GetSchemaResponse response;
  const auto get = [&] {
    return Call<codegen::Loader>(served, &codegen::Loader::Stub::GetSchema, request, &response);
  };
  REQUIRE(get().error_code() == grpc::StatusCode::UNIMPLEMENTED);
  served.server->SetSchemaSource(SchemaOf);
  REQUIRE(get().ok());
  REQUIRE(response.schema() == "schema of pkg v1.2 as sub");
  request.set_package("missing");
  RequireContains(get().error_message(), "no plugin 'missing'");
  request.set_version("latest");
  REQUIRE(get().error_code() == grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_CASE("calls that are open when the server closes end as cancelled, without delay") {
  AsioLoop loop;
  WorkPool pool;
  EngineServerOptions options;
  options.loop = &loop;
  options.pool = &pool;
  Completion<int> never;
  Gate asked;
  options.get_schema = [&](PackageDescriptor) -> Task<Result<std::string>> {
    asked.Open();
    struct Wait {
      static Task<Result<std::string>> Forever(Completion<int>& gate) {
        co_await gate.Wait();
        co_return std::string("late");
      }
    };
    return Wait::Forever(never);
  };
  Result<std::unique_ptr<EngineServer>> server = EngineServer::Start(std::move(options));
  REQUIRE(server);
  grpc::Status status;
  std::thread client([&] {
    const auto stub = codegen::Loader::NewStub(
        grpc::CreateChannel((*server)->address(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    codegen::GetSchemaResponse response;
    status = stub->GetSchema(&context, codegen::GetSchemaRequest(), &response);
  });
  struct Closing {
    static Task<void> Run(Gate& wait_for, EngineServer& engine) {
      co_await wait_for.Wait();
      co_await engine.Close();
    }
  };
  const auto start = std::chrono::steady_clock::now();
  Await(loop, Closing::Run(asked, **server));
  client.join();
  REQUIRE(status.error_code() == grpc::StatusCode::CANCELLED);
  REQUIRE(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
  never.Set(1);  // the handler ends, and finds its call finished
  RunBeside(loop, [] {});
}

}  // namespace
}  // namespace davit::testing
