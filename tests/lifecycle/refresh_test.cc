// State-only refresh (E138-E146).
#include <catch2/catch.hpp>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

Task<Result<void>> LookUp(Monitor& monitor) {
  ReadGoal goal;
  goal.type = "test:index:Thing";
  goal.name = "found";
  goal.id = "outside";
  DAVIT_CO_TRY_VOID(co_await monitor.ReadResource(std::move(goal)));
  co_return Result<void>();
}

}  // namespace

TEST_CASE("[S139] drift in inputs is an update, in outputs alone a same; both are stored") {
  FakeStack stack;
  stack.Up(
      {{.name = "a", .properties = {{"value", 1}}}, {.name = "b", .properties = {{"value", 1}}}});
  stack.host.behaviour.read = [](const ReadRequest& request) {
    ReadResponse response;
    response.id = request.id;
    response.inputs = request.inputs;
    response.outputs = request.state;
    (*response.outputs)["seen"] = true;
    if (request.urn.name() == "a") {
      (*response.inputs)["value"] = 5;
    }
    return response;
  };
  const DeploymentResult result = stack.Refresh();
  CHECK(result.changes == std::map<StepOp, int>{{StepOp::kSame, 2}, {StepOp::kUpdate, 1}});
  CHECK(stack.Record("a")->inputs.at("value") == PropertyValue(5));
  CHECK(stack.Record("b")->outputs.contains("seen"));
}

TEST_CASE("[S138] what is gone is dropped and no longer referred to") {
  FakeStack stack;
  stack.Up({{.name = "a"}, {.name = "b", .after = {"a"}}});
  stack.host.behaviour.read = [](const ReadRequest& request) {
    ReadResponse response;
    if (request.urn.name() == "b") {
      response.id = request.id;
      response.inputs = request.inputs;
      response.outputs = request.state;
    }
    return response;
  };
  CHECK(stack.Refresh().changes.at(StepOp::kDelete) == 1);
  CHECK(stack.Record("a") == nullptr);
  REQUIRE(stack.Record("b") != nullptr);
  CHECK(stack.Record("b")->dependencies.empty());
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[S140] a Read without inputs keeps the old ones") {
  FakeStack stack;
  stack.Up({{.name = "a", .properties = {{"value", 1}}}});
  stack.host.behaviour.read = [](const ReadRequest&) {
    ReadResponse response;
    response.id = "renamed";
    response.outputs = PropertyMap{{"out", 2}};
    return response;
  };
  stack.Refresh();
  CHECK(stack.Record("a")->inputs == PropertyMap{{"value", 1}});
  CHECK(stack.Record("a")->id == "renamed");  // S141
}

TEST_CASE("[E33] a failing Read does not stop the others, and the refresh fails") {
  FakeStack stack;
  stack.Up({{.name = "a"}, {.name = "b"}});
  stack.host.behaviour.read = [](const ReadRequest& request) -> Result<ReadResponse> {
    if (request.urn.name() == "a") {
      return Fail(ErrorKind::kFailed, "forbidden");
    }
    return ReadResponse();
  };
  CHECK(stack.Refresh().kind == DeploymentResultKind::kFailed);
  CHECK(stack.Record("a") != nullptr);
  CHECK(stack.Record("b") == nullptr);
}

TEST_CASE("[S147] up --refresh makes again what is gone") {
  FakeStack stack;
  stack.Up({{.name = "a"}});
  stack.host.behaviour.read = [](const ReadRequest&) { return ReadResponse(); };
  stack.options.refresh_first = true;
  CHECK(stack.Up({{.name = "a"}}).changes.at(StepOp::kCreate) == 1);
  CHECK(stack.Record("a")->id == "a-2");
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[E146] a refresh that only previews reads everything and writes nothing") {
  FakeStack stack;
  stack.Up({{.name = "a", .properties = {{"value", 1}}}, {.name = "b"}});
  const Snapshot before = stack.state;
  stack.host.behaviour.read = [](const ReadRequest& request) {
    ReadResponse response;
    response.id = request.id;
    response.inputs = request.inputs;
    (*response.inputs)["value"] = 9;
    response.outputs = request.state;
    return response;
  };
  stack.options.mode = DeploymentMode::kRefresh;
  stack.options.preview = true;
  CHECK(stack.Run(nullptr).changes.at(StepOp::kUpdate) == 2);
  CHECK(std::ranges::count_if(stack.host.log, [](const std::string& call) {
          return call.starts_with("Read ");
        }) == 2);
  CHECK(stack.journal.entries.empty());
  CHECK(stack.state.resources == before.resources);
}

TEST_CASE("[E150] a refresh by the program puts what it read at the end of the new list") {
  FakeStack stack;
  const std::vector<FakeResource> program{{.name = "a"}, {.name = "b"}};
  stack.Up(program);
  stack.host.behaviour.read = ReadsOutputs({{"seen", 1}});
  CHECK(stack.RunProgram(DeploymentMode::kRefresh, {{.name = "b"}, {.name = "a", .after = {"b"}}})
            .kind == DeploymentResultKind::kSucceeded);
  std::vector<std::string> names;
  for (const StatePtr& record : stack.state.resources) {
    if (record->type == "test:index:Thing") {
      names.emplace_back(record->urn.name());
    }
  }
  CHECK(names == std::vector<std::string>{"b", "a"});
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[S143] what was only read is read again, not compared, and stays external") {
  FakeStack stack;
  ScriptedProgram program([](Monitor& monitor) { return LookUp(monitor); });
  stack.Run(&program);
  REQUIRE(stack.Record("found")->external);
  CHECK(stack.Refresh().kind == DeploymentResultKind::kSucceeded);
  const std::string urn = stack.Record("found")->urn.text();
  CHECK(std::ranges::count(stack.host.log, "Read " + urn) == 1);
  CHECK(std::ranges::count(stack.host.log, "Diff " + urn) == 0);
  CHECK(stack.Record("found")->external);
}

TEST_CASE("[S16] times: made at once, changed by changes only") {
  FakeStack stack;
  const auto pass = [&] {
    stack.loop.After(std::chrono::seconds(5), [] {});
    stack.loop.RunUntilIdle();
  };
  const auto program = [](int value) {
    return std::vector<FakeResource>{{.name = "a", .properties = {{"v", value}}}, {.name = "b"}};
  };
  stack.Up(program(1));
  const StatePtr made = stack.Record("a");
  CHECK(made->created == made->modified);
  pass();
  stack.Refresh();
  CHECK(stack.Record("a")->modified == made->modified);
  pass();
  stack.Up(program(2));
  CHECK(stack.Record("a")->created == made->created);
  CHECK(stack.Record("a")->modified > made->modified);
  CHECK(stack.Record("b")->modified == stack.Record("b")->created);
}

}  // namespace davit::testing
