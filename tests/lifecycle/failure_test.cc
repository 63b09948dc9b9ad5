// Failures and cancellation (E29, E34, E35, E96, E199).
#include <catch2/catch.hpp>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

// `bad`, `needs`, which depends on it, and `other`, which needs nobody.
Task<Result<void>> RegisterThree(Monitor& monitor, std::map<std::string, RegisterResult>* results) {
  Urn bad;
  for (const char* name : {"bad", "needs", "other"}) {
    Goal goal;
    goal.type = "test:index:Thing";
    goal.name = name;
    if (goal.name == "needs") {
      goal.dependencies.push_back(bad);
    }
    DAVIT_CO_TRY(const RegisterResponse made, co_await monitor.RegisterResource(std::move(goal)));
    (*results)[name] = made.result;
    bad = bad.empty() ? made.urn : bad;
  }
  co_return Result<void>();
}

}  // namespace

TEST_CASE("[E29] a failed step: nothing stored, dependents not tried, nothing deleted") {
  FakeStack stack;
  stack.Up({{.name = "dropped"}});
  stack.host.behaviour.create = [](const CreateRequest& request) -> Result<CreateResponse> {
    if (request.urn.name() == "b") {
      return Fail(ErrorKind::kFailed, "quota reached");
    }
    CreateResponse response;
    response.id = "made";
    return response;
  };
  CHECK(stack
            .Up({{.name = "a"},
                 {.name = "b", .from = {{"x", "a"}}},
                 {.name = "c", .from = {{"x", "b"}}}})
            .kind == DeploymentResultKind::kFailed);
  CHECK(stack.Changes() == std::vector<std::string>{"Create a", "Create b"});
  CHECK(stack.Record("b") == nullptr);
  CHECK(stack.Record("dropped") != nullptr);
  CHECK(stack.events.Problems() ==
        std::vector<std::string>{"error b: quota reached", "error -: update failed"});
}

TEST_CASE("[E34] a partial create is stored with its init errors, and the next run updates it") {
  FakeStack stack;
  stack.host.behaviour.create = [](const CreateRequest& request) {
    CreateResponse response;
    response.id = "half";
    response.outputs = request.inputs;
    response.init_errors = {"never became ready"};
    return response;
  };
  CHECK(stack.Up({{.name = "a"}}).kind == DeploymentResultKind::kFailed);
  REQUIRE(stack.Record("a") != nullptr);
  CHECK(stack.Record("a")->init_errors == std::vector<std::string>{"never became ready"});
  CHECK(stack.Up({{.name = "a"}}).changes.at(StepOp::kUpdate) == 1);
  CHECK(stack.Record("a")->init_errors.empty());
}

TEST_CASE("[E34] a partial update keeps the old inputs with the new outputs") {
  FakeStack stack;
  stack.Up({{.name = "a", .properties = {{"value", 1}}}});
  stack.host.behaviour.update = [](const UpdateRequest& request) {
    UpdateResponse response;
    response.outputs = request.new_inputs;
    response.init_errors = {"slow"};
    return response;
  };
  stack.Up({{.name = "a", .properties = {{"value", 2}}}});
  CHECK(stack.Record("a")->inputs.at("value") == PropertyValue(1));
  CHECK(stack.Record("a")->outputs.at("value") == PropertyValue(2));
}

TEST_CASE("[E96] a create without id is an error of unknown outcome") {
  FakeStack stack;
  stack.host.behaviour.create = [](const CreateRequest&) { return CreateResponse(); };
  const DeploymentResult result = stack.Up({{.name = "a"}});
  CHECK(result.kind == DeploymentResultKind::kFailed);
  CHECK(result.maybe_corrupt);
  CHECK(stack.Record("a") == nullptr);
}

TEST_CASE("[E199] a step whose intent cannot be written is not begun") {
  FakeStack stack;
  FakeProgram program({{.name = "a"}});
  stack.journal.fail_after = 0;
  CHECK(stack.Run(&program).kind == DeploymentResultKind::kFailed);
  CHECK(stack.Changes().empty());
}

TEST_CASE(
    "[E8] [E152] a create without an answer stays a pending operation, a refused one does not") {
  FakeStack stack;
  const ErrorKind kind = GENERATE(ErrorKind::kUnavailable, ErrorKind::kOutcomeUnknown);
  stack.host.behaviour.create = [&](const CreateRequest&) -> Result<CreateResponse> {
    return Fail(kind, "no");
  };
  CHECK(stack.Up({{.name = "a"}}).kind == DeploymentResultKind::kFailed);
  CHECK(!stack.Record("a"));
  const bool is_lost = kind == ErrorKind::kUnavailable;
  REQUIRE(stack.state.pending_operations.size() == (is_lost ? 1 : 0));
  if (is_lost) {
    CHECK(stack.state.pending_operations[0].type == OperationType::kCreating);
    CHECK(stack.state.pending_operations[0].resource->urn.name() == "a");
  }
}

TEST_CASE("[S165] an interrupt sends Cancel, waits for what runs, and begins nothing new") {
  FakeStack stack;
  stack.options.parallel = 1;
  stack.host.behaviour.create = [&](const CreateRequest& request) {
    stack.cancel.Cancel();
    CreateResponse response;
    response.id = "made";
    response.outputs = request.inputs;
    return response;
  };
  const DeploymentResult result = stack.Up({{.name = "a"}, {.name = "b"}, {.name = "c"}});
  CHECK(result.kind == DeploymentResultKind::kCancelled);
  CHECK(stack.Changes().size() == 1);
  CHECK(stack.Record("a") != nullptr);
  CHECK(std::ranges::find(stack.host.log, "Cancel") != stack.host.log.end());
}

TEST_CASE("[S5] a failing program deletes nothing") {
  FakeStack stack;
  stack.Up({{.name = "a"}, {.name = "b"}});
  FakeProgram broken({{.name = "a"}});
  broken.fails = true;
  CHECK(stack.Run(&broken).kind == DeploymentResultKind::kFailed);
  CHECK(stack.Record("b") != nullptr);
}

TEST_CASE("[E77] tainted records are replaced") {
  FakeStack stack;
  stack.Up({{.name = "a"}});
  for (StatePtr& record : stack.state.resources) {
    if (record->urn.name() == "a") {
      auto tainted = std::make_shared<ResourceState>(*record);
      tainted->taint = true;
      record = tainted;
    }
  }
  CHECK(stack.Up({{.name = "a"}}).changes.at(StepOp::kReplace) == 1);
  CHECK_FALSE(stack.Record("a")->taint);
}

TEST_CASE("[E12] an error is shown once, on its resource") {
  FakeStack stack;
  stack.host.behaviour.check = [](const CheckRequest&) -> Result<CheckResponse> {
    return Fail(ErrorKind::kFailed, "the service is down");
  };
  CHECK(stack.Up({{.name = "a"}}).kind == DeploymentResultKind::kFailed);
  const std::vector<std::string> problems = stack.events.Problems();
  CHECK(std::ranges::count_if(problems, [](const std::string& line) {
          return line.find("the service is down") != std::string::npos;
        }) == 1);
  CHECK(problems.front().starts_with("error a: "));
}

TEST_CASE(
    "[E31] [E215] going on after an error: FAIL for it, SKIP for what needs it, one error more") {
  FakeStack stack;
  stack.options.continue_on_error = true;
  stack.host.behaviour.create = [](const CreateRequest& request) -> Result<CreateResponse> {
    CreateResponse response;
    response.id = "made";
    if (request.urn.name() == "bad") {
      return Fail(ErrorKind::kFailed, "no quota");
    }
    return response;
  };
  std::map<std::string, RegisterResult> results;
  ScriptedProgram program([&](Monitor& monitor) { return RegisterThree(monitor, &results); });
  CHECK(stack.Run(&program).kind == DeploymentResultKind::kFailed);
  CHECK(results == std::map<std::string, RegisterResult>{{"bad", RegisterResult::kFail},
                                                         {"needs", RegisterResult::kSkip},
                                                         {"other", RegisterResult::kSuccess}});
  CHECK(stack.Record("other") != nullptr);
  CHECK(stack.events.Problems().back() == "error -: update failed");
}

}  // namespace davit::testing
