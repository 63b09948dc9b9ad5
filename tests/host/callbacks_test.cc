// Callbacks of programs: what they are sent, what their answers change, and the calls themselves
// (P104, P105).

#include "host/client/callbacks_client.h"

#include "host/server/callback_codec.h"
#include "host/server/monitor_codec.h"
#include "host/server/program_callbacks.h"
#include "host/server/typed_handler.h"
#include "tests/host/host_fixture.h"

namespace davit::testing {
namespace {

const Urn kUrn = Urn::Trusted("urn:pulumi:dev::proj::pkg:index:Thing::a");

Goal Thing() {
  Goal goal;
  goal.type = "pkg:index:Thing";
  goal.name = "a";
  goal.properties["secret"] = MakeSecret("s");
  goal.dependencies = {kUrn};
  goal.protect = true;
  goal.aliases.emplace_back().name = "old";
  goal.custom_timeouts.create = 90;
  goal.checksums["linux-amd64"] = "00ff";
  goal.hooks["OnError"] = {"again"};
  goal.import_id = "id";
  goal.replacement_trigger = 3;
  return goal;
}

TEST_CASE("P104, [E185] a transform sees every option, and an answer that repeats them changes none") {
  const Goal goal = Thing();
  const Result<std::string> bytes = EncodeTransformRequest(goal, false);
  REQUIRE(bytes);
  pulumirpc::TransformRequest request;
  REQUIRE(request.ParseFromString(*bytes));
  REQUIRE(request.type() == "pkg:index:Thing");
  REQUIRE(request.options().hooks().on_error(0) == "again");
  REQUIRE(request.options().plugin_checksums().at("linux-amd64") == std::string("\0\xff", 2));
  pulumirpc::TransformResponse response;
  *response.mutable_properties() = request.properties();
  *response.mutable_options() = request.options();
  const Result<Goal> same = ApplyTransformResponse(response.SerializeAsString(), goal);
  REQUIRE(same);
  REQUIRE(same->properties == goal.properties);
  REQUIRE(same->dependencies == goal.dependencies);
  REQUIRE(same->protect == goal.protect);
  REQUIRE(same->aliases.at(0).name == goal.aliases[0].name);
  REQUIRE(same->custom_timeouts == goal.custom_timeouts);
  REQUIRE(same->checksums == goal.checksums);
  REQUIRE(same->hooks == goal.hooks);
  REQUIRE(same->import_id == goal.import_id);
  REQUIRE(same->replacement_trigger == goal.replacement_trigger);
}

TEST_CASE("P104, [E184] absent parts of an answer change nothing; garbage is an error") {
  const Result<Goal> same = ApplyTransformResponse("", Thing());
  REQUIRE(same);
  REQUIRE(same->properties == Thing().properties);
  REQUIRE(same->protect == true);
  pulumirpc::TransformResponse response;
  response.mutable_options()->add_depends_on("nonsense");
  REQUIRE(!ApplyTransformResponse(response.SerializeAsString(), Thing()));
  REQUIRE(!ApplyTransformResponse("\xff", Thing()));
}

TEST_CASE("P105, [E190] a hook is told old and new, with options") {
  auto state = std::make_shared<ResourceState>();
  state->urn = kUrn;
  state->inputs["a"] = 1;
  state->outputs["b"] = 2;
  state->protect = true;
  HookRequest request;
  request.urn = kUrn;
  request.id = "id";
  request.new_state = state;
  request.sends_new_outputs = true;
  const Result<std::string> bytes = EncodeHookRequest(request, false, false);
  REQUIRE(bytes);
  pulumirpc::ResourceHookRequest sent;
  REQUIRE(sent.ParseFromString(*bytes));
  REQUIRE(sent.name() == "a");
  REQUIRE(sent.new_inputs().fields().at("a").number_value() == 1);
  REQUIRE(sent.new_outputs().fields().at("b").number_value() == 2);
  REQUIRE(sent.new_options().protect());
  REQUIRE(!sent.has_old_options());
  request.failed_operation = "create";
  request.errors = {"new", "old"};
  const Result<std::string> of_error = EncodeHookRequest(request, true, false);
  pulumirpc::ErrorHookRequest error;
  REQUIRE(error.ParseFromString(*of_error));
  REQUIRE(error.failed_operation() == "create");
  REQUIRE(error.errors(0) == "new");
  pulumirpc::ErrorHookResponse answer;
  answer.set_retry(true);
  REQUIRE(DecodeHookResponse(answer.SerializeAsString(), true)->retry);
}

/// A callback server that answers transforms by adding a property.
struct Program {
  Task<RpcStatus> Invoke(const pulumirpc::CallbackInvokeRequest& request,
                         pulumirpc::CallbackInvokeResponse* response,
                         const ServerCall&) {
    if (request.token() != "t") {
      co_return Refuse(RpcCode::kUnknown, "no such function");
    }
    pulumirpc::TransformRequest asked;
    pulumirpc::TransformResponse answer;
    if (!asked.ParseFromString(request.request())) {
      co_return Refuse(RpcCode::kInternal, "unreadable");
    }
    *answer.mutable_properties() = asked.properties();
    (*answer.mutable_properties()->mutable_fields())["added"].set_bool_value(true);
    response->set_response(answer.SerializeAsString());
    co_return RpcStatus();
  }
};

TEST_CASE("P104 calls reach the program; after the run they fail") {
  AsioLoop loop;
  WorkPool pool;
  RpcServer server(loop, pool, Refuse(RpcCode::kCancelled, "closed"));
  const ServerTrace unwatched;
  HandleWith(server,
             "pulumirpc.Callbacks",
             "Invoke",
             unwatched,
             std::make_shared<Program>(),
             &Program::Invoke);
  REQUIRE(server.Start());
  auto callbacks = std::make_shared<CallbacksClient>(loop);
  pulumirpc::Callback callback;
  callback.set_target(server.address());
  callback.set_token("t");
  const Transform transform = MakeTransform(callbacks, callback);
  const Result<Goal> goal = Await(loop, transform(Thing()));
  REQUIRE(goal);
  REQUIRE(goal->properties.at("added") == PropertyValue(true));
  REQUIRE(goal->properties.at("secret").is_secret());
  callback.set_token("other");
  const Result<Goal> failed = Await(loop, MakeTransform(callbacks, callback)(Thing()));
  REQUIRE(!failed);
  RequireContains(failed.error().message, "no such function");
  Await(loop, callbacks->Close());
  REQUIRE(Await(loop, transform(Thing())).error().kind == ErrorKind::kCancelled);
  Await(loop, server.Close());
}

}  // namespace
}  // namespace davit::testing
