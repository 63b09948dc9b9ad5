// Refresh and destroy that run the program (E147-E153), continue-on-error (E30), old states (E27).
#include <catch2/catch.hpp>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

using Lines = std::vector<std::string>;

void Drifts(FakeStack& stack, int value) {
  stack.host.behaviour.read = [value](const ReadRequest& request) {
    ReadResponse response;
    response.id = request.id;
    response.inputs = PropertyMap{{"v", value}};
    response.outputs = PropertyMap{{"v", value}};
    return response;
  };
}

}  // namespace

TEST_CASE("[E149] [S148] a refresh with the program reads, and neither makes nor changes") {
  FakeStack stack;
  stack.Up({{.name = "a", .properties = {{"v", 1}}}, {.name = "b", .properties = {{"v", 1}}}});
  Drifts(stack, 5);
  CHECK(stack
            .RunProgram(DeploymentMode::kRefresh,
                        {{.name = "a", .properties = {{"v", 2}}}, {.name = "new", .after = {"a"}}})
            .kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes().empty());
  CHECK(stack.Record("a")->inputs.at("v") == PropertyValue(5));
  CHECK(stack.Record("b")->inputs.at("v") == PropertyValue(5));  // the tail: not registered
  CHECK(stack.Record("new") == nullptr);
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[E149] a read below something that is not made is not stored") {
  class Reading final : public Source {
   public:
    Task<Result<void>> Run(Monitor& monitor, const RunInfo&, CancelToken) override {
      Goal thing;
      thing.type = "test:index:Thing";
      thing.name = "new";
      const Result<RegisterResponse> made = co_await monitor.RegisterResource(std::move(thing));
      ReadGoal read;
      read.type = "test:index:Thing";
      read.name = "read";
      read.id = "x";
      read.parent = made->urn;
      const Result<RegisterResponse> answer = co_await monitor.ReadResource(std::move(read));
      is_unknown = answer && answer->unknown;
      co_return Result<void>();
    }
    bool is_unknown = false;
  };
  FakeStack stack;
  stack.options.mode = DeploymentMode::kRefresh;
  stack.options.run_program = true;
  Reading program;
  CHECK(stack.Run(&program).kind == DeploymentResultKind::kSucceeded);
  CHECK(program.is_unknown);
  CHECK(stack.Record("read") == nullptr);
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[E148] [S151] an update with a refresh by the program goes on from what is there") {
  FakeStack stack;
  stack.Up({{.name = "a", .properties = {{"v", 1}}}});
  stack.options.refresh_first = true;
  SECTION("drifted: updated back") {
    Drifts(stack, 5);
    CHECK(
        stack.RunProgram(DeploymentMode::kUpdate, {{.name = "a", .properties = {{"v", 1}}}}).kind ==
        DeploymentResultKind::kSucceeded);
    CHECK(stack.Changes() == Lines{"Update a"});
  }
  SECTION("gone: made anew") {
    stack.host.behaviour.read = [](const ReadRequest&) { return ReadResponse(); };
    CHECK(
        stack.RunProgram(DeploymentMode::kUpdate, {{.name = "a", .properties = {{"v", 1}}}}).kind ==
        DeploymentResultKind::kSucceeded);
    CHECK(stack.Changes() == Lines{"Create a"});
    CHECK(stack.Record("a")->id == "a-2");
  }
  SECTION("replaced: the object that was read is deleted") {
    Drifts(stack, 5);
    stack.host.behaviour.diff = AnyChangeReplaces;
    stack.RunProgram(DeploymentMode::kUpdate, {{.name = "a", .properties = {{"v", 1}}}});
    CHECK(stack.Changes() == Lines{"Create a", "Delete a"});
    CHECK(stack.state.resources.size() == 3);
  }
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[E153] [S154] a destroy with the program makes nothing and deletes everything") {
  FakeStack stack;
  stack.Up({{.name = "a", .properties = {{"v", 1}}}, {.name = "b", .from = {{"x", "a"}}}});
  CHECK(stack
            .RunProgram(DeploymentMode::kDestroy,
                        {{.name = "a", .properties = {{"v", 2}}}, {.name = "new", .after = {"a"}}})
            .kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Delete b", "Delete a"});
  CHECK(stack.state.resources.empty());
}

TEST_CASE("[E144] [E153] a destroy refreshes first when asked to, also with the program") {
  FakeStack stack;
  stack.Up({{.name = "a", .properties = {{"v", 1}}}, {.name = "b"}});
  stack.host.behaviour.read = [](const ReadRequest& request) {
    ReadResponse response;
    if (request.urn.name() == "b") {
      response.id = request.id;
      response.inputs = request.inputs;
      response.outputs = request.state;
    }
    return response;
  };
  stack.options.refresh_first = true;
  CHECK(stack.RunProgram(DeploymentMode::kDestroy, {{.name = "b"}}).kind ==
        DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Delete b"});  // `a` was found to be gone
  CHECK(stack.state.resources.empty());
}

TEST_CASE("[E30] [S159] the run goes on past a failure and leaves out what needs it") {
  FakeStack stack;
  stack.Up({{.name = "gone"}});
  stack.host.behaviour.create = [](const CreateRequest& request) -> Result<CreateResponse> {
    if (request.urn.name() == "b" && !request.preview) {
      return Fail(ErrorKind::kFailed, "quota");
    }
    CreateResponse response;
    response.id = request.preview ? "" : std::string(request.urn.name());
    response.outputs = request.inputs;
    return response;
  };
  stack.options.continue_on_error = true;
  CHECK(stack.Up({{.name = "b"}, {.name = "c", .from = {{"x", "b"}}}, {.name = "d"}}).kind ==
        DeploymentResultKind::kFailed);
  CHECK(stack.Record("b") == nullptr);
  CHECK(stack.Record("c") == nullptr);
  CHECK(stack.Record("d") != nullptr);
  CHECK(stack.Record("gone") == nullptr);
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[E30] [S158] a destroy goes on past a failed delete and keeps what that record needs") {
  FakeStack stack;
  stack.Up({{.name = "a"}, {.name = "b"}, {.name = "c", .from = {{"x", "b"}}}});
  stack.host.behaviour.remove = [](const DeleteRequest& request) -> Result<void> {
    if (request.urn.name() == "c") {
      return Fail(ErrorKind::kFailed, "in use");
    }
    return {};
  };
  stack.options.continue_on_error = true;
  CHECK(stack.Destroy().kind == DeploymentResultKind::kFailed);
  CHECK(stack.Record("a") == nullptr);
  CHECK(stack.Record("b") != nullptr);
  CHECK(stack.Record("c") != nullptr);
}

TEST_CASE("[E27] [S96] records of old states get a default provider before anything else") {
  FakeStack stack;
  stack.Up({{.name = "a"}});
  Snapshot old_state = stack.state;
  std::erase_if(old_state.resources,
                [](const StatePtr& state) { return state->urn.is_provider(); });
  for (StatePtr& state : old_state.resources) {
    auto without = std::make_shared<ResourceState>(*state);
    without->provider.clear();
    state = std::move(without);
  }
  stack.state = old_state;
  CHECK(stack.Up({{.name = "a"}}).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes().empty());
  CHECK_FALSE(stack.Record("a")->provider.empty());
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[E145] [S152] marked records are read before an update") {
  FakeStack stack;
  stack.host.behaviour.create = [](const CreateRequest& request) {
    CreateResponse response;
    response.id = "x";
    response.outputs = request.inputs;
    response.refresh_before_update = request.urn.name() == "a";
    return response;
  };
  stack.Up({{.name = "a", .properties = {{"v", 1}}}, {.name = "b"}});
  CHECK(stack.Record("a")->refresh_before_update);
  stack.Up({{.name = "a", .properties = {{"v", 2}}}, {.name = "b"}});
  const std::string read = "Read " + stack.Record("a")->urn.text();
  CHECK(std::ranges::count(stack.host.log, read) == 1);
  CHECK(std::ranges::count_if(stack.host.log, [](const std::string& line) {
          return line.starts_with("Read ");
        }) == 1);
}

TEST_CASE(
    "[S150] a refresh by the program reads under the new type, with more resources than workers") {
  FakeStack stack;
  std::vector<FakeResource> before;
  std::vector<FakeResource> after;
  for (int at = 0; at < 12; ++at) {
    const std::string name = "r" + std::to_string(at);
    before.push_back({.name = name, .type = "test:index:Old"});
    after.push_back({.name = name, .adjust = [](Goal& goal) {
                       AliasSpec alias;
                       alias.type = "test:index:Old";
                       goal.aliases.push_back(std::move(alias));
                     }});
  }
  stack.Up(before);
  stack.options.parallel = 2;
  Drifts(stack, 5);
  CHECK(stack.RunProgram(DeploymentMode::kRefresh, after).kind == DeploymentResultKind::kSucceeded);
  CHECK(std::ranges::count_if(stack.host.log, [](const std::string& call) {
          return call.starts_with("Read urn:pulumi:dev::proj::test:index:Thing::");
        }) == 12);
  CHECK(stack.Record("r7")->outputs.at("v") == PropertyValue(5));
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE(
    "[S156] a destroy by the program: what is new and what needs it is skipped, the rest goes") {
  FakeStack stack;
  const auto component = [](std::vector<std::string> needs) {
    return FakeResource{
        .name = "c", .after = std::move(needs), .adjust = AsComponent, .type = "my:index:Group"};
  };
  stack.Up({component({}), {.name = "child", .parent = "c"}});
  CHECK(stack
            .RunProgram(DeploymentMode::kDestroy,
                        {{.name = "new"}, component({"new"}), {.name = "child", .parent = "c"}})
            .kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Delete child"});
  CHECK(stack.state.resources.empty());
}

TEST_CASE("[E51] [E153] a destroy by the program deletes a moved resource and its old part") {
  FakeStack stack;
  stack.Up({{.name = "f"}, {.name = "h"}, {.name = "a", .adjust = AsComponent, .parent = "h"}});
  const Urn before = stack.Record("h")->urn;
  const DeploymentResult result = stack.RunProgram(
      DeploymentMode::kDestroy,
      {{.name = "f"},
       {.name = "h",
        .adjust = [&](Goal& goal) { goal.aliases.push_back(AliasSpec{.urn = before}); },
        .parent = "f"}});
  CHECK(result.kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.state.resources.empty());
}

}  // namespace davit::testing
