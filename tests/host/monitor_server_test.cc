// ResourceMonitor on a socket over a scripted Monitor, seen by gRPC's own client (P71, P92-P107).

#include "host/server/monitor_server.h"

#include <grpcpp/grpcpp.h>

#include "host/server/monitor_codec.h"
#include "pulumirpc/resource.grpc.pb.h"
#include "tests/host/host_fixture.h"

namespace davit::testing {
namespace {

namespace rpc = pulumirpc;
using google::protobuf::Empty;

const std::string kUrn = "urn:pulumi:dev::proj::pkg:index:Thing::a";
constexpr const char* kUnknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

class FakeMonitor final : public Monitor {
 public:
  Task<Result<RegisterResponse>> RegisterResource(Goal goal) override {
    goals.push_back(std::move(goal));
    co_return response;
  }
  Task<Result<RegisterResponse>> RegisterTransformed(Goal goal,
                                                     std::vector<Transform> given) override {
    transforms.insert(transforms.end(), given.begin(), given.end());
    return RegisterResource(std::move(goal));
  }
  void RegisterStackTransform(Transform transform) override {
    transforms.push_back(std::move(transform));
  }
  void RegisterStackInvokeTransform(InvokeTransform transform) override {
    invoke_transforms.push_back(std::move(transform));
  }
  Result<void> RegisterHook(Hook hook) override {
    hooks.push_back(std::move(hook));
    return {};
  }
  Task<Result<void>> RegisterOutputs(Urn urn, PropertyMap outputs) override {
    outputs_of[urn.text()] = std::move(outputs);
    co_return Result<void>();
  }
  Task<Result<RegisterResponse>> ReadResource(ReadGoal goal) override {
    reads.push_back(std::move(goal));
    co_return response;
  }
  Task<Result<InvokeOutcome>> Invoke(InvokeGoal goal) override {
    InvokeOutcome outcome;
    outcome.result = goal.args;
    outcome.failures.push_back(CheckFailure{"p", "why"});
    invokes.push_back(std::move(goal));
    co_return outcome;
  }
  Task<Result<CallResponse>> Call(CallGoal goal) override {
    CallResponse answer;
    answer.result = goal.args;
    answer.dependencies["x"] = {Urn::Trusted(kUrn)};
    answer.failures.push_back(CheckFailure{"p", "why"});
    calls.push_back(std::move(goal));
    co_return answer;
  }
  Task<Result<std::string>> RegisterPackage(PackageDescriptor package) override {
    packages.push_back(std::move(package));
    co_return std::string("the-ref");
  }
  Task<Result<std::string>> GetSchema(PackageDescriptor) override {
    co_return Fail(ErrorKind::kUnimplemented, "none");
  }
  void Log(Severity, const std::string&, const Urn&) override {}
  void Report(const Error&) override {}

  std::vector<Goal> goals;
  std::vector<ReadGoal> reads;
  std::vector<InvokeGoal> invokes;
  std::vector<CallGoal> calls;
  std::vector<Transform> transforms;
  std::vector<InvokeTransform> invoke_transforms;
  std::vector<Hook> hooks;
  std::vector<PackageDescriptor> packages;
  std::map<std::string, PropertyMap> outputs_of;
  Result<RegisterResponse> response = RegisterResponse();
};

struct Served {
  AsioLoop loop;
  WorkPool pool;
  FakeMonitor monitor;
  std::unique_ptr<MonitorServer> server;

  Served() {
    monitor.response->urn = Urn::Trusted(kUrn);
    monitor.response->id = "id";
    MonitorServerOptions options;
    options.loop = &loop;
    options.pool = &pool;
    options.monitor = &monitor;
    options.info.project = "proj";
    options.info.stack = "dev";
    options.info.root_directory = "/srv/proj";
    options.info.preview = true;
    options.info.parallel = 3;
    options.info.config["proj:k"] = ConfigValue{"v", true, false};
    Result<std::unique_ptr<MonitorServer>> started = MonitorServer::Start(std::move(options));
    REQUIRE(started);
    server = *std::move(started);
  }
  ~Served() { Await(loop, server->Close()); }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  using Stub = rpc::ResourceMonitor::Stub;
  template <typename Request, typename Response>
  grpc::Status Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                    const Request& request,
                    Response* response,
                    const std::map<std::string, std::string>& metadata = {}) {
    grpc::Status status;
    RunBeside(loop, [&] {
      grpc::ChannelArguments arguments;
      arguments.SetInt("grpc.enable_http_proxy", 0);
      Stub stub(grpc::CreateCustomChannel(
          server->address(), grpc::InsecureChannelCredentials(), arguments));
      grpc::ClientContext context;
      for (const auto& [key, value] : metadata) {
        context.AddMetadata(key, value);
      }
      status = (stub.*method)(&context, request, response);
    });
    return status;
  }
  grpc::Status Register(const rpc::RegisterResourceRequest& request,
                        rpc::RegisterResourceResponse* answer) {
    return Call(&Stub::RegisterResource, request, answer);
  }
};

rpc::RegisterResourceRequest Thing() {
  rpc::RegisterResourceRequest request;
  request.set_type("pkg:index:Thing");
  request.set_name("a");
  request.set_custom(true);
  request.set_acceptsecrets(true);
  request.set_supportspartialvalues(true);
  request.set_supportsresultreporting(true);
  return request;
}

TEST_CASE("P93, P94, E209 features and the deployment") {
  Served served;
  const auto supports = [&](const char* id) {
    rpc::SupportsFeatureRequest request;
    request.set_id(id);
    rpc::SupportsFeatureResponse response;
    REQUIRE(served.Call(&Served::Stub::SupportsFeature, request, &response).ok());
    return response.hassupport();
  };
  REQUIRE(supports("secrets"));
  REQUIRE(supports("outputValues"));
  for (const char* id : {"aliasSpecs",
                         "transforms",
                         "invokeTransforms",
                         "resourceHooks",
                         "errorHooks",
                         "sendsOptionsToHooks"}) {
    REQUIRE(supports(id));
  }
  REQUIRE(!supports(""));
  REQUIRE(!supports("somethingNew"));
  rpc::DeploymentInfo info;
  REQUIRE(served.Call(&Served::Stub::GetDeploymentInfo, Empty(), &info).ok());
  REQUIRE(info.project() == "proj");
  REQUIRE(info.dryrun());
  REQUIRE(info.parallel() == 3);
  REQUIRE(info.config().at("proj:k") == "v");
  REQUIRE(info.configsecretkeys(0) == "proj:k");
  const auto& features = info.supportedfeatures();
  REQUIRE(std::count(features.begin(), features.end(), rpc::RESOURCE_MONITOR_FEATURE_BYTE_STRING) ==
          1);
  REQUIRE(std::count(
              features.begin(), features.end(), rpc::RESOURCE_MONITOR_FEATURE_STATE_MIGRATIONS) ==
          0);
}

TEST_CASE("P71, P99, P102 a registration goes in as a goal and comes out as outputs") {
  Served served;
  rpc::RegisterResourceRequest request = Thing();
  request.set_parent("urn:pulumi:dev::proj::pulumi:pulumi:Stack::proj-dev");
  request.add_dependencies(kUrn);
  (*request.mutable_propertydependencies())["x"].add_urns(kUrn);
  request.set_protect(false);
  request.set_deletebeforereplacedefined(true);
  request.mutable_customtimeouts()->set_create("1h30m");
  request.mutable_sourceposition()->set_uri("file:///srv/proj/src/a%20b.ts");
  request.mutable_sourceposition()->set_line(3);
  request.mutable_sourceposition()->set_column(4);
  (*request.mutable_pluginchecksums())["linux-amd64"] = std::string("\x0a\xff", 2);
  (*request.mutable_object()->mutable_fields())["u"].set_string_value(kUnknown);
  served.monitor.response->outputs = {{"s", MakeSecret(PropertyValue("x"))},
                                      {"u", PropertyValue(Unknown{})}};
  rpc::RegisterResourceResponse response;
  REQUIRE(served.Register(request, &response).ok());
  const Goal& goal = served.monitor.goals.at(0);
  REQUIRE(goal.type == "pkg:index:Thing");
  REQUIRE(goal.dependencies.size() == 1);
  REQUIRE(goal.has_property_dependencies);
  REQUIRE(goal.protect == std::optional<bool>(false));
  REQUIRE(!goal.retain_on_delete.has_value());
  REQUIRE(goal.delete_before_replace == std::optional<bool>(false));
  REQUIRE(goal.custom_timeouts.create == 5400);
  REQUIRE(goal.source_position == "project:///src/a b.ts#3,4");
  REQUIRE(goal.checksums.at("linux-amd64") == "0aff");
  REQUIRE(ContainsUnknowns(goal.properties));
  REQUIRE(response.urn() == kUrn);
  REQUIRE(response.id() == "id");
  REQUIRE(response.object().fields().at("s").has_struct_value());
  REQUIRE(response.object().fields().at("u").string_value() == kUnknown);

  // P102: bare secrets and no partial values for SDKs that cannot take them.
  request.set_acceptsecrets(false);
  request.set_supportspartialvalues(false);
  REQUIRE(served.Register(request, &response).ok());
  REQUIRE(response.object().fields().at("s").string_value() == "x");
  REQUIRE(!response.object().fields().contains("u"));
}

TEST_CASE("P102 components answer with an empty object; failures follow what the SDK can read") {
  Served served;
  rpc::RegisterResourceRequest request = Thing();
  request.set_custom(false);
  request.set_type("my:Component");
  served.monitor.response->outputs = {{"s", PropertyValue("x")}};
  rpc::RegisterResourceResponse response;
  REQUIRE(served.Register(request, &response).ok());
  REQUIRE(response.object().fields().empty());
  served.monitor.response->result = RegisterResult::kSkip;
  REQUIRE(served.Register(request, &response).ok());
  REQUIRE(response.result() == rpc::SKIP);
  request.set_supportsresultreporting(false);
  REQUIRE(served.Register(request, &response).error_code() == grpc::StatusCode::INTERNAL);
}

TEST_CASE("P102 a remote component: outputs and what they come from") {
  Served served;
  rpc::RegisterResourceRequest request = Thing();
  request.set_custom(false);
  request.set_remote(true);
  request.set_parentstacktracehandle("handle");
  served.monitor.response->outputs = {{"s", PropertyValue("x")}};
  served.monitor.response->property_dependencies["s"] = {Urn::Trusted(kUrn)};
  rpc::RegisterResourceResponse response;
  REQUIRE(served.Register(request, &response).ok());
  REQUIRE(response.object().fields().at("s").string_value() == "x");
  REQUIRE(response.propertydependencies().at("s").urns(0) == kUrn);
  REQUIRE(served.monitor.goals.at(0).remote);
  REQUIRE(served.monitor.goals.at(0).parent_stack_trace_handle == "handle");  // P107
}

TEST_CASE("P92 E209 what is wrong is InvalidArgument, what is not offered is Unimplemented and named") {
  Served served;
  rpc::RegisterResourceResponse response;
  const auto code = [&](const std::function<void(rpc::RegisterResourceRequest*)>& change) {
    rpc::RegisterResourceRequest request = Thing();
    change(&request);
    return served.Register(request, &response);
  };
  using grpc::StatusCode;
  REQUIRE(code([](auto* r) { r->set_type("two:parts"); }).error_code() ==
          StatusCode::INVALID_ARGUMENT);
  REQUIRE(code([](auto* r) { r->set_parent("nonsense"); }).error_code() ==
          StatusCode::INVALID_ARGUMENT);
  REQUIRE(code([](auto* r) { r->set_version("1"); }).error_code() == StatusCode::INVALID_ARGUMENT);
  REQUIRE(code([](auto* r) { r->mutable_customtimeouts()->set_read("5 minutes"); }).error_code() ==
          StatusCode::INVALID_ARGUMENT);
  REQUIRE(code([](auto* r) { (*r->mutable_envvarmappings())["A"] = "B"; }).error_code() ==
          StatusCode::INVALID_ARGUMENT);
  REQUIRE(code([](auto* r) {
            r->set_custom(false);
            r->set_remote(true);
            r->set_type("two:parts");
          }).error_code() == StatusCode::INVALID_ARGUMENT);
  RequireContains(code([](auto* r) { r->set_deletedwith("x"); }).error_message(),
                  "invalid DeletedWith URN: invalid URN \"x\"");
  RequireContains(code([](auto* r) { r->add_aliases()->set_urn("x"); }).error_message(),
                  "invalid alias URN");
  const grpc::Status garbage = code([](auto* r) { r->set_provider("garbage"); });  // S103
  REQUIRE(garbage.error_code() == StatusCode::UNKNOWN);
  const grpc::Status migrations = code([](auto* r) { r->add_state_migrations(); });  // E209
  REQUIRE(migrations.error_code() == StatusCode::FAILED_PRECONDITION);
  RequireContains(migrations.error_message(), "stateMigrations");
  REQUIRE(served.monitor.goals.empty());
  served.monitor.response = Fail(ErrorKind::kCancelled, "stopping");
  REQUIRE(code([](auto*) {}).error_code() == StatusCode::UNAVAILABLE);
  Error stopped = MakeError(ErrorKind::kUnavailable, "stopped");
  served.monitor.response = Fail(stopped);  // a provider that is gone, say
  REQUIRE(code([](auto*) {}).error_code() == StatusCode::UNKNOWN);
  stopped.reported = true;  // E29
  served.monitor.response = Fail(stopped);
  REQUIRE(code([](auto*) {}).error_code() == StatusCode::UNAVAILABLE);
  served.monitor.response = Fail(ErrorKind::kFailed, "it broke");
  REQUIRE(code([](auto*) {}).error_code() == StatusCode::UNKNOWN);
  rpc::ExistsResourceResponse exists_response;
  const grpc::Status exists = served.Call(
      &Served::Stub::ExistsResource, rpc::ExistsResourceRequest(), &exists_response);
  REQUIRE(exists.error_code() == StatusCode::UNIMPLEMENTED);
  RequireContains(exists.error_message(), "looked for");  // by the monitor of this test
}

TEST_CASE("P97 Call: arguments with what they come from, and the answer") {
  Served served;
  rpc::ResourceCallRequest request;
  request.set_tok("pkg:index:Group/method");
  (*request.mutable_args()->mutable_fields())["x"].set_number_value(1);
  (*request.mutable_argdependencies())["x"].add_urns(kUrn);
  request.set_parentstacktracehandle("handle");
  rpc::CallResponse response;
  REQUIRE(served.Call(&Served::Stub::Call, request, &response).ok());
  const CallGoal& goal = served.monitor.calls.at(0);
  REQUIRE(goal.token == "pkg:index:Group/method");
  REQUIRE(goal.arg_dependencies.at("x").at(0).text() == kUrn);
  REQUIRE(goal.parent_stack_trace_handle == "handle");
  REQUIRE(response.return_().fields().at("x").number_value() == 1);
  REQUIRE(response.returndependencies().at("x").urns(0) == kUrn);
  REQUIRE(response.failures(0).reason() == "why");
  request.set_version("1");
  REQUIRE(served.Call(&Served::Stub::Call, request, &response).error_code() ==
          grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_CASE("P100 E46 S82 alias specs of older Node SDKs") {
  Served served;
  rpc::RegisterResourceRequest request = Thing();
  request.add_aliasurns(kUrn);
  request.add_aliases()->mutable_spec()->set_name("no parent information");
  request.add_aliases()->mutable_spec()->set_noparent(true);
  rpc::RegisterResourceResponse response;
  REQUIRE(served.Call(&Served::Stub::RegisterResource, request, &response).ok());
  REQUIRE(served.monitor.goals[0].aliases[0].urn.text() == kUrn);
  REQUIRE(!served.monitor.goals[0].aliases[1].no_parent);
  REQUIRE(served.monitor.goals[0].aliases[2].no_parent);
  const std::map<std::string, std::string> node = {{"pulumi-runtime", "nodejs"}};
  REQUIRE(served.Call(&Served::Stub::RegisterResource, request, &response, node).ok());
  REQUIRE(served.monitor.goals[1].aliases[1].no_parent);
  REQUIRE(!served.monitor.goals[1].aliases[2].no_parent);
  request.set_aliasspecs(true);
  REQUIRE(served.Call(&Served::Stub::RegisterResource, request, &response, node).ok());
  REQUIRE(served.monitor.goals[2].aliases[2].no_parent);
}

TEST_CASE("P96, P98, P103, P95 invokes, reads, outputs and packages") {
  Served served;
  rpc::ResourceInvokeRequest invoke;
  invoke.set_tok("pkg:index:f");
  (*invoke.mutable_args()->mutable_fields())["a"].set_number_value(1);
  invoke.add_dependson(kUrn);
  rpc::ResourceInvokeResponse invoked;
  REQUIRE(served.Call(&Served::Stub::Invoke, invoke, &invoked).ok());
  REQUIRE(invoked.return_().fields().at("a").number_value() == 1);
  REQUIRE(invoked.failures(0).reason() == "why");
  REQUIRE(served.monitor.invokes[0].depends_on.size() == 1);
  invoke.set_parent("x");
  REQUIRE(served.Call(&Served::Stub::Invoke, invoke, &invoked).error_code() ==
          grpc::StatusCode::INVALID_ARGUMENT);

  rpc::ReadResourceRequest read;
  read.set_type("pkg:index:Thing");
  read.set_name("a");
  read.set_id("i");
  rpc::ReadResourceResponse was_read;
  REQUIRE(served.Call(&Served::Stub::ReadResource, read, &was_read).ok());
  REQUIRE(was_read.urn() == kUrn);
  read.set_type("pulumi:providers:pkg");
  REQUIRE(!served.Call(&Served::Stub::ReadResource, read, &was_read).ok());

  rpc::RegisterResourceOutputsRequest outputs;
  outputs.set_urn(kUrn);
  (*outputs.mutable_outputs()->mutable_fields())["o"].set_bool_value(true);
  Empty nothing;
  REQUIRE(served.Call(&Served::Stub::RegisterResourceOutputs, outputs, &nothing).ok());
  REQUIRE(served.monitor.outputs_of.at(kUrn) == PropertyMap{{"o", PropertyValue(true)}});
  outputs.set_urn("x");
  REQUIRE(!served.Call(&Served::Stub::RegisterResourceOutputs, outputs, &nothing).ok());

  rpc::RegisterPackageRequest package;
  package.set_name("pkg");
  package.set_version("1.0.0");
  rpc::RegisterPackageResponse registered;
  REQUIRE(served.Call(&Served::Stub::RegisterPackage, package, &registered).ok());
  REQUIRE(registered.ref() == "the-ref");
  package.mutable_extension()->set_name("e");
  REQUIRE(served.Call(&Served::Stub::RegisterPackage, package, &registered).error_code() ==
          grpc::StatusCode::INVALID_ARGUMENT);  // it has no version
  package.mutable_extension()->set_version("1.0.0");
  REQUIRE(served.Call(&Served::Stub::RegisterPackage, package, &registered).ok());
  package.clear_extension();
  package.clear_name();
  REQUIRE(!served.Call(&Served::Stub::RegisterPackage, package, &registered).ok());
}

Task<void> ReleaseWhenSignalled(MonitorServer& server) {
  co_await server.WaitForSignal();
  server.ReleaseShutdown();
}

TEST_CASE("P106 S167 the end of the program is signalled once, and waits for its release") {
  Served served;
  Start(served.loop, ReleaseWhenSignalled(*served.server), [](std::exception_ptr) {});
  Empty response;
  REQUIRE(served.Call(&Served::Stub::SignalAndWaitForShutdown, Empty(), &response).ok());
  REQUIRE(!served.Call(&Served::Stub::SignalAndWaitForShutdown, Empty(), &response).ok());
}

Task<void> CloseWhenSignalled(MonitorServer& server) {
  co_await server.WaitForSignal();
  co_await server.Close();
}

TEST_CASE("P92 calls that wait when the monitor closes get Unavailable") {
  Served served;
  grpc::Status status;
  std::thread client([&] {
    Served::Stub stub(
        grpc::CreateChannel(served.server->address(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    Empty response;
    status = stub.SignalAndWaitForShutdown(&context, Empty(), &response);
  });
  Await(served.loop, CloseWhenSignalled(*served.server));
  client.join();
  REQUIRE(status.error_code() == grpc::StatusCode::UNAVAILABLE);
}

TEST_CASE("P82 durations in Go syntax") {
  for (const auto& [text, seconds] :
       std::initializer_list<std::pair<const char*, double>>{{"", 0},
                                                             {"0", 0},
                                                             {"1h2m3.5s", 3723.5},
                                                             {"100ms", 0.1},
                                                             {"-1.5h", -5400},
                                                             {".5s", 0.5},
                                                             {"2us", 2e-6},
                                                             {"2\xC2\xB5s", 2e-6},
                                                             {"7ns", 7e-9}}) {
    INFO(text);
    const Result<double> parsed = ParseTimeoutText(text);
    REQUIRE(parsed);
    REQUIRE(*parsed == Approx(seconds));
  }
  for (const char* bad : {"5", "s", "1x", "1h-2m", "--1s", "1 h", "inf", "1e3s"}) {
    INFO(bad);
    REQUIRE(!ParseTimeoutText(bad));
  }
}

TEST_CASE("P107 only absolute file URIs are positions") {
  rpc::SourcePosition position;
  for (const char* bad : {"", "http://x/y", "file://host/x", "project:///x"}) {
    position.set_uri(bad);
    INFO(bad);
    REQUIRE(SourcePositionText(position, "/srv").empty());
  }
  position.set_uri("file:///other/x.ts");
  position.set_line(1);
  REQUIRE(SourcePositionText(position, "/srv/proj") == "project:///../../other/x.ts#1");
}

}  // namespace
}  // namespace davit::testing
