// ProviderClient: negotiation, functions and components, limits, cancellation (P29-P32, P42-P45,
// P83-P87).

#include "host/client/provider_client.h"

#include "host/server/rpc_server.h"
#include "host/wire/message_io.h"
#include "tests/host/provider_client_fixture.h"

namespace davit::testing {
namespace {

TEST_CASE("P43 E164 the Handshake request: absent texts stay absent") {
  Connection c;
  rpc::ProviderHandshakeRequest seen;
  c.fake.handshake = [&](const rpc::ProviderHandshakeRequest& request, auto*) {
    seen = request;
    return FakeStatus();
  };
  HandshakeRequest request;
  request.engine_address = "127.0.0.1:99";
  REQUIRE(Await(c.loop, c.client->Handshake(request, std::chrono::seconds(10), {})));
  REQUIRE(FieldsOf(seen) == Names{"accepts_byte_string",
                                  "configure_with_urn",
                                  "engine_address",
                                  "invoke_with_preview",
                                  "sends_old_outputs_to_check",
                                  "supports_refresh_before_update",
                                  "supports_views"});
  request.root_directory = "/r";
  request.program_directory = "/p";
  request.loader_target = "127.0.0.1:99";
  REQUIRE(Await(c.loop, c.client->Handshake(request, std::chrono::seconds(10), {})));
  REQUIRE(seen.root_directory() == "/r");
  REQUIRE(seen.program_directory() == "/p");
  REQUIRE(seen.loader_target() == "127.0.0.1:99");
}

TEST_CASE("P44 flags of the Handshake win over those of Configure") {
  Connection c;
  c.Handshake();
  c.fake.configure = [](const auto&, rpc::ConfigureResponse*) {
    return FakeStatus();
  };  // all flags false
  REQUIRE(Await(c.loop, c.client->Configure(ConfigureRequest{kProviderUrn, "id", {}}, {})));
  REQUIRE(c.client->features().accepts_secrets);
  REQUIRE(c.client->features().accepts_byte_strings);
  REQUIRE(c.client->supports_preview());
}

TEST_CASE("P44 without Handshake the flags of Configure count") {
  Connection c;
  REQUIRE(Await(c.loop, c.client->Handshake(HandshakeRequest(), std::chrono::seconds(10), {})));
  REQUIRE(!c.client->supports_preview());
  c.fake.configure = [](const auto&, rpc::ConfigureResponse* response) {
    response->set_acceptsecrets(true);
    response->set_supportspreview(true);
    return FakeStatus();
  };
  REQUIRE(Await(c.loop, c.client->Configure(ConfigureRequest{kProviderUrn, "id", {}}, {})));
  REQUIRE(c.client->features().accepts_secrets);
  REQUIRE(!c.client->features().accepts_byte_strings);
  REQUIRE(c.client->supports_preview());
}

TEST_CASE("P44 any other Handshake error fails the load") {
  Connection c;
  c.fake.handshake = [](const auto&, auto*) { return FakeStatus{13, "no luck", {}}; };
  const Result<void> done =
      Await(c.loop, c.client->Handshake(HandshakeRequest(), std::chrono::seconds(10), {}));
  REQUIRE(done.error().message == "no luck");
}

TEST_CASE("P29 the Handshake must finish within its budget") {
  Connection c;
  c.fake.handshake = [&](const auto&, auto*) {
    c.fake.WaitForRelease();
    return FakeStatus();
  };
  const Result<void> done =
      Await(c.loop, c.client->Handshake(HandshakeRequest(), std::chrono::milliseconds(100), {}));
  RequireContains(done.error().message, "did not answer within 0.1 s");
}

TEST_CASE("P29 Unavailable is tried again") {
  Connection c;
  int tries = 0;
  c.fake.handshake = [&](const auto&, auto*) {
    return ++tries < 3 ? FakeStatus{14, "not yet", {}} : FakeStatus();
  };
  REQUIRE(Await(c.loop, c.client->Handshake(HandshakeRequest(), std::chrono::seconds(10), {})));
  REQUIRE(tries == 3);
}

TEST_CASE("P31 plugin info: tolerant version, empty allowed, errors fail") {
  Connection c;
  std::string version = "v1.2";
  c.fake.get_plugin_info = [&](const auto&, rpc::PluginInfo* info) {
    info->set_version(version);
    return FakeStatus();
  };
  REQUIRE(Await(c.loop, c.client->GetPluginInfo({})));
  REQUIRE(c.client->version() == "1.2.0");
  version = "";
  REQUIRE(Await(c.loop, c.client->GetPluginInfo({})));
  version = "latest";
  REQUIRE(!Await(c.loop, c.client->GetPluginInfo({})));
  c.fake.get_plugin_info = nullptr;
  REQUIRE(Await(c.loop, c.client->GetPluginInfo({})).error().kind == ErrorKind::kUnimplemented);
}

TEST_CASE("P45 Parameterize must answer with the name asked for and a strict version") {
  Connection c;
  std::string name = "sub";
  std::string version = "1.0.0";
  rpc::ParameterizeRequest seen;
  c.fake.parameterize = [&](const rpc::ParameterizeRequest& request,
                            rpc::ParameterizeResponse* response) {
    seen = request;
    response->set_name(name);
    response->set_version(version);
    return FakeStatus();
  };
  rpc::GetSchemaRequest schema_request;
  c.fake.get_schema = [&](const rpc::GetSchemaRequest& request, rpc::GetSchemaResponse* response) {
    schema_request = request;
    response->set_schema("{\"name\":\"sub\"}");
    return FakeStatus();
  };
  const Parameterization value{
      .name = "sub", .version = "1.0.0", .value = std::string("\0\x01", 2)};
  REQUIRE(Await(c.loop, c.client->Parameterize(value, {})));
  REQUIRE(seen.value().value() == value.value);
  REQUIRE(*Await(c.loop, c.client->GetSchema({})) == "{\"name\":\"sub\"}");
  REQUIRE(schema_request.subpackage_name() == "sub");
  REQUIRE(schema_request.subpackage_version() == "1.0.0");
  name = "other";
  REQUIRE(!Await(c.loop, c.client->Parameterize(value, {})));
  name = "sub";
  version = "1.0";
  REQUIRE(!Await(c.loop, c.client->Parameterize(value, {})));
  version = "2.0.0";
  const Result<Parameterization> by_words =
      Await(c.loop, c.client->ParameterizeByArguments({"a", "b"}, {}));
  REQUIRE(by_words->version == "2.0.0");
  REQUIRE(seen.args().args_size() == 2);
}

TEST_CASE("P74 a blank schema is none") {
  Connection c;
  c.fake.get_schema = [](const auto&, rpc::GetSchemaResponse* response) {
    response->set_schema(" {} \n");
    return FakeStatus();
  };
  REQUIRE(Await(c.loop, c.client->GetSchema({})).error().kind == ErrorKind::kUnimplemented);
}

TEST_CASE("P83, P84 Construct: surroundings, and dependencies out of output values") {
  Connection c;
  c.Handshake();
  rpc::ConstructRequest seen;
  c.fake.construct = [&](const rpc::ConstructRequest& request, rpc::ConstructResponse* response) {
    seen = request;
    response->set_urn(kUrn.text());
    auto* fields = (*response->mutable_state()->mutable_fields())["o"]
                       .mutable_struct_value()
                       ->mutable_fields();
    (*fields)[kSignature].set_string_value("d0e6a833031e9bbcd3f4e8bde6ca49a4");
    (*fields)["value"].set_number_value(1);
    (*fields)["dependencies"].mutable_list_value()->add_values()->set_string_value(
        kProviderUrn.text());
    return FakeStatus();
  };
  RunInfo run;
  run.project = "proj";
  run.stack = "dev";
  run.config["proj:key"] = ConfigValue{"v", true, false};
  run.parallel = 4;
  ConstructRequest request;
  request.run.info = &run;
  request.run.monitor_address = "127.0.0.1:5";
  Goal& goal = request.goal;
  goal.type = "pkg:index:Group";
  goal.name = "g";
  goal.aliases.emplace_back().no_parent = true;
  goal.custom_timeouts.create = 90;
  const Result<ConstructResponse> outcome = Await(c.loop, c.client->Construct(request, {}));
  REQUIRE(outcome);
  REQUIRE(outcome->state_dependencies.at("o") == std::vector<Urn>{kProviderUrn});
  REQUIRE(seen.project() == "proj");
  REQUIRE(seen.monitorendpoint() == "127.0.0.1:5");
  REQUIRE(seen.configsecretkeys(0) == "proj:key");
  REQUIRE(seen.aliases(0).spec().noparent());
  REQUIRE(seen.customtimeouts().create() == "90s");
  REQUIRE(seen.accepts_output_values());
}

TEST_CASE("P85 Call: surroundings and failures") {
  Connection c;
  c.Handshake();
  rpc::CallRequest seen;
  c.fake.call = [&](const rpc::CallRequest& request, rpc::CallResponse* response) {
    seen = request;
    (*response->mutable_returndependencies())["r"].add_urns(kUrn.text());
    response->add_failures()->set_reason("why");
    return FakeStatus();
  };
  RunInfo run;
  run.organization = "org";
  CallRequest request;
  request.run.info = &run;
  request.run.monitor_address = "127.0.0.1:5";
  request.token = "pkg:index:Group/method";
  request.preview = true;
  request.arg_dependencies["x"] = {kUrn};
  const Result<CallResponse> response = Await(c.loop, c.client->Call(request, {}));
  REQUIRE(response->dependencies.at("r") == std::vector<Urn>{kUrn});
  REQUIRE(response->failures.size() == 1);
  REQUIRE(seen.organization() == "org");
  REQUIRE(seen.dryrun());
  REQUIRE(seen.argdependencies().at("x").urns(0) == kUrn.text());
}

TEST_CASE("P87 List: results, continuation, limit") {
  Connection c;
  c.Handshake();
  for (const char* id : {"1", "2", "3"}) {
    rpc::ListResponse response;
    response.mutable_result()->set_id(id);
    c.fake.list.push_back(response);
  }
  rpc::ListResponse more;
  more.mutable_continuation()->set_continuation_token("next");
  c.fake.list.push_back(more);
  ListQuery query;
  query.token = "pkg:index:Thing";
  const Result<ListOutcome> all = Await(c.loop, c.client->List(query, {}));
  REQUIRE(all->resources.size() == 3);
  REQUIRE(all->continuation == "next");
  c.fake.list_hangs = true;
  query.limit = 2;
  const Result<ListOutcome> some = Await(c.loop, c.client->List(query, {}));
  REQUIRE(some->resources.size() == 2);
  c.fake.WaitForCall("List cancelled");  // giving up reached the provider
  c.fake.list.clear();
  c.fake.list_hangs = false;
  c.fake.list.emplace_back().mutable_computed();
  REQUIRE(Await(c.loop, c.client->List(query, {}))->is_computed);
}

TEST_CASE("P74 mappings: unimplemented is an answer") {
  Connection c;
  c.Handshake();
  REQUIRE(Await(c.loop, c.client->GetMapping("terraform", "", {}))->empty());
  REQUIRE(!Await(c.loop, c.client->GetMappings("terraform", {}))->has_value());
  c.fake.get_mappings = [](const auto&, auto*) { return FakeStatus(); };
  REQUIRE(Await(c.loop, c.client->GetMappings("terraform", {}))->has_value());
  c.fake.get_mapping = [](const auto&, rpc::GetMappingResponse* response) {
    response->set_data("bytes");
    return FakeStatus();
  };
  REQUIRE(*Await(c.loop, c.client->GetMapping("terraform", "", {})) == "bytes");
}

TEST_CASE("P30 B118 more than 100 MB pass in both directions") {
  Connection c;
  c.Handshake();
  c.fake.create = [](const rpc::CreateRequest& request, rpc::CreateResponse* response) {
    response->set_id("big");
    *response->mutable_properties() = request.properties();
    return FakeStatus();
  };
  CreateRequest request;
  request.urn = kUrn;
  request.inputs = {{"text", PropertyValue(std::string(101'000'000, 'x'))}};
  const Result<CreateResponse> response = Await(c.loop, c.client->Create(request, {}));
  REQUIRE(response);
  REQUIRE(response->outputs.at("text").as_string()->size() == 101'000'000);
}

Task<RawReply> EchoCreate(ServerCall call) {
  RawReply reply;
  rpc::CreateRequest request;
  if (!ParseMessage(call.request, &request)) {
    reply.status.code = RpcCode::kInternal;
    co_return reply;
  }
  rpc::CreateResponse response;
  response.set_id("deep");
  response.mutable_properties()->Swap(request.mutable_properties());
  reply.bytes = SerializeMessage(response);
  co_return reply;
}

TEST_CASE("P62 a thousand levels pass in both directions") {
  // The synchronous server stops at 33 levels, so this one is ours.
  AsioLoop loop;
  WorkPool pool;
  RpcServer server(
      loop, pool, RpcStatus{.code = RpcCode::kUnavailable, .message = {}, .details = {}});
  server.Handle("pulumirpc.ResourceProvider", "Create", EchoCreate);
  REQUIRE(server.Start());
  ProviderClientOptions options;
  options.loop = &loop;
  options.target = server.address();
  ProviderClient client(std::move(options));
  PropertyValue value(7);
  for (int level = 0; level < 1000; ++level) {
    value = level % 2 == 0 ? PropertyValue(PropertyMap{{"k", value}})
                           : PropertyValue(PropertyList{value});
  }
  CreateRequest request;
  request.urn = kUrn;
  request.inputs = {{"deep", value}};
  const Result<CreateResponse> response = Await(loop, client.Create(request, {}));
  REQUIRE(response);
  REQUIRE(response->outputs == request.inputs);
  // What is not handled is told by name.
  RequireContains(Await(loop, client.GetSchema({})).error().message, "GetSchema");
  Await(loop, client.Close());
  Await(loop, server.Close());
}

TEST_CASE("a call can be cancelled, and the provider learns of it") {
  Connection c;
  c.Handshake();
  std::atomic<bool> gave_up = false;
  CancelSource cancel;
  c.fake.create = [&](const auto&, auto*) {
    c.loop.Post([&] { cancel.Cancel(); });
    gave_up = c.fake.WaitForRelease();
    return FakeStatus();
  };
  CreateRequest request;
  request.urn = kUrn;
  const Result<CreateResponse> response = Await(c.loop, c.client->Create(request, cancel.token()));
  REQUIRE(response.error().kind == ErrorKind::kCancelled);
  c.fake.WaitForCall("Create");
  Await(c.loop, c.client->Close());
  c.fake.Release();
}

TEST_CASE("P32 calls have a deadline only when one is set") {
  Connection c;
  c.Handshake();
  c.fake.create = [&](const auto&, auto*) {
    c.fake.WaitForRelease();
    return FakeStatus();
  };
  c.client->SetCallDeadline(std::chrono::milliseconds(50));
  CreateRequest request;
  request.urn = kUrn;
  const Result<CreateResponse> response = Await(c.loop, c.client->Create(request, {}));
  REQUIRE(response.error().kind == ErrorKind::kFailed);
  c.client->SetCallDeadline(std::nullopt);
}

TEST_CASE("P57 text that is no UTF-8 is refused by name where the plugin reads no byte strings") {
  Connection c;
  REQUIRE(Await(c.loop, c.client->Handshake(HandshakeRequest(), std::chrono::seconds(10), {})));
  CreateRequest request;
  request.urn = kUrn;
  request.inputs = {{"blob", PropertyValue(std::string("\xff\xfe"))}};
  const Result<CreateResponse> response = Await(c.loop, c.client->Create(request, {}));
  REQUIRE(response.error().kind == ErrorKind::kInvalid);
  RequireContains(response.error().message, "blob");
}

Task<void> CancelAndClose(ProviderClient& client) {
  const Result<void> cancelled = co_await client.Cancel();
  DAVIT_CHECK(cancelled.has_value(), "unimplemented counts as done");
  co_await client.Close();
}

TEST_CASE("P34 Cancel that is not implemented counts as done; Close ends open calls") {
  Connection c;
  c.Handshake();
  c.fake.create = [&](const auto&, auto*) {
    c.fake.WaitForRelease();
    return FakeStatus();
  };
  CreateRequest request;
  request.urn = kUrn;
  std::optional<Result<CreateResponse>> response;
  Start(c.loop,
        c.client->Create(request, {}),
        [&](std::exception_ptr, std::optional<Result<CreateResponse>> value) {
          response = std::move(value);
        });
  RunBeside(c.loop, [&] { c.fake.WaitForCall("Create"); });
  Await(c.loop, CancelAndClose(*c.client));
  while (!response) {
    RunBeside(c.loop, [] {});
  }
  REQUIRE(response->error().kind == ErrorKind::kCancelled);
  REQUIRE(!c.client->is_alive());
}

}  // namespace
}  // namespace davit::testing
