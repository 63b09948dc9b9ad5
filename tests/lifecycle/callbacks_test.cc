// Transforms and hooks of programs (E118, E153, E183-E191).

#include <catch2/catch.hpp>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

using Body = std::function<Task<Result<void>>(Monitor&)>;

DeploymentResult RunBody(FakeStack& stack, Body body) {
  ScriptedProgram script(std::move(body));
  return stack.Run(&script);
}

Goal Thing(const std::string& name) {
  Goal goal;
  goal.type = "test:index:Thing";
  goal.name = name;
  goal.properties["a"] = name;
  return goal;
}

Task<Result<Goal>> Mark(std::string text, Goal goal) {
  const auto at = goal.properties.find("marks");
  const std::string before = at == goal.properties.end() ? "" : *at->second.as_string();
  goal.properties["marks"] = before + text;
  co_return goal;
}

Transform Marks(const std::string& text) {
  return [text](Goal goal) { return Mark(text, std::move(goal)); };
}

Task<Result<void>> Nested(Monitor& monitor) {
  monitor.RegisterStackTransform(Marks("s"));
  Goal parent;
  parent.type = "my:Component";
  parent.name = "parent";
  parent.custom = false;
  std::vector<Transform> of_parent(1, Marks("p"));
  DAVIT_CO_TRY(const RegisterResponse made,
               co_await monitor.RegisterTransformed(std::move(parent), std::move(of_parent)));
  Goal child = Thing("child");
  child.parent = made.urn;
  std::vector<Transform> own;
  own.push_back(Marks("1"));
  own.push_back(Marks("2"));
  DAVIT_CO_TRY_VOID(co_await monitor.RegisterTransformed(std::move(child), std::move(own)));
  co_return Result<void>();
}

TEST_CASE("[E184] [S183] own transforms in order, then the parent's, then the stack's") {
  FakeStack stack;
  REQUIRE(RunBody(stack, Nested).kind == DeploymentResultKind::kSucceeded);
  REQUIRE(stack.Record("child")->inputs.at("marks") == PropertyValue("12ps"));
  REQUIRE(stack.Record("parent")->inputs.at("marks") == PropertyValue("ps"));
}

Task<Result<Goal>> Refuse(Goal) {
  co_return Fail(ErrorKind::kFailed, "no");
}

Task<Result<void>> OneRefused(Monitor& monitor, bool* failed) {
  std::vector<Transform> own(1, Refuse);
  const Result<RegisterResponse> bad =
      co_await monitor.RegisterTransformed(Thing("bad"), std::move(own));
  *failed = !bad && !bad.error().reported;
  DAVIT_CO_TRY_VOID(co_await monitor.RegisterResource(Thing("good")));
  co_return Result<void>();
}

TEST_CASE("[E186] a transform that fails fails its registration only") {
  FakeStack stack;
  bool failed = false;
  const DeploymentResult result =
      RunBody(stack, [&](Monitor& monitor) { return OneRefused(monitor, &failed); });
  REQUIRE(result.kind == DeploymentResultKind::kSucceeded);
  REQUIRE(failed);
  REQUIRE(stack.Record("good"));
  REQUIRE(!stack.Record("bad"));
}

Task<Result<Goal>> LookAtA(Goal goal, std::vector<std::string>* seen) {
  const Output* output = goal.properties.at("a").as_output();
  *seen = output == nullptr ? std::vector<std::string>() : output->dependencies;
  goal.properties.erase("a");
  co_return goal;
}

Task<Result<void>> Dependent(Monitor& monitor, std::vector<std::string>* seen) {
  DAVIT_CO_TRY(const RegisterResponse first, co_await monitor.RegisterResource(Thing("first")));
  Goal goal = Thing("second");
  goal.property_dependencies["a"] = {first.urn};
  std::vector<Transform> own;
  own.push_back([seen](Goal given) { return LookAtA(std::move(given), seen); });
  DAVIT_CO_TRY_VOID(co_await monitor.RegisterTransformed(std::move(goal), std::move(own)));
  co_return Result<void>();
}

TEST_CASE("[E54] own transforms see what properties depend on, and may take it away") {
  FakeStack stack;
  std::vector<std::string> seen;
  RunBody(stack, [&](Monitor& monitor) { return Dependent(monitor, &seen); });
  REQUIRE(seen.size() == 1);
  REQUIRE(Urn::Trusted(seen[0]).name() == "first");
  REQUIRE(stack.Record("second")->property_dependencies.empty());
}

/// Hooks that answer as told and note what they were asked.
struct Hooks {
  std::vector<std::string> log;
  std::map<std::string, HookAnswer> answers;
};

Task<Result<HookAnswer>> Note(Hooks* hooks, std::string name, HookRequest request) {
  std::string line = name + " " + std::string(request.urn.name());
  if (!request.failed_operation.empty()) {
    line += " " + request.failed_operation + " " + std::to_string(request.errors.size());
  }
  if (request.sends_new_outputs) {
    line += " with outputs";
  }
  hooks->log.push_back(line);
  co_return hooks->answers[name];
}

Hook MakeHook(Hooks* hooks, const std::string& name) {
  Hook hook;
  hook.name = name;
  hook.is_error_hook = name == "error";
  hook.on_dry_run = name == "dry";
  hook.ignore_errors = name == "lenient";
  hook.run = [hooks, name](HookRequest request) { return Note(hooks, name, std::move(request)); };
  return hook;
}

Task<Result<void>> Hooked(Monitor& monitor, Hooks* hooks, int value, Goal goal) {
  for (const char* name : {"before", "after", "error", "dry", "lenient"}) {
    DAVIT_CO_TRY_VOID(monitor.RegisterHook(MakeHook(hooks, name)));
  }
  if (!goal.name.empty()) {
    goal.properties["value"] = value;
    DAVIT_CO_TRY_VOID(co_await monitor.RegisterResource(std::move(goal)));
  }
  co_return Result<void>();
}

Goal WithHooks(std::map<std::string, std::vector<std::string>> bindings) {
  Goal goal = Thing("t");
  goal.hooks = std::move(bindings);
  return goal;
}

struct HookWorld {
  FakeStack stack;
  Hooks hooks;
  DeploymentResult Run(const Goal& goal, int value = 1) {
    hooks.log.clear();
    stack.options.mode = DeploymentMode::kUpdate;
    return RunBody(stack, [&](Monitor& monitor) { return Hooked(monitor, &hooks, value, goal); });
  }
};

TEST_CASE("[E187] hooks before and after; names are stored, and unknown ones fail the step") {
  HookWorld world;
  const Goal goal = WithHooks({{"BeforeCreate", {"before"}},
                               {"AfterCreate", {"after"}},
                               {"AfterUpdate", {"lenient"}},
                               {"BeforeDelete", {"before"}}});
  REQUIRE(world.Run(goal).kind == DeploymentResultKind::kSucceeded);
  REQUIRE(world.hooks.log == std::vector<std::string>{"before t", "after t with outputs"});
  REQUIRE(world.stack.Record("t")->resource_hooks.at("BeforeDelete").at(0) == "before");
  REQUIRE(world.Run(goal, 2).kind == DeploymentResultKind::kSucceeded);
  REQUIRE(world.hooks.log == std::vector<std::string>{"lenient t with outputs"});
  REQUIRE(world.stack.Destroy().kind == DeploymentResultKind::kFailed);  // E153: needs the program
  REQUIRE(world.stack.Record("t"));
  REQUIRE(world.Run(Goal()).kind == DeploymentResultKind::kSucceeded);  // the program dropped it
  REQUIRE(world.hooks.log == std::vector<std::string>{"before t"});
  REQUIRE(!world.stack.Record("t"));
  REQUIRE(world.Run(WithHooks({{"BeforeCreate", {"nobody"}}})).kind ==
          DeploymentResultKind::kFailed);
  REQUIRE(!world.stack.Record("t"));
}

TEST_CASE(
    "[E188] [S186] a before-hook stops the call; an after-hook fails the run, the step stays") {
  HookWorld world;
  world.hooks.answers["before"].error = "not now";
  REQUIRE(world.Run(WithHooks({{"BeforeCreate", {"before"}}})).kind ==
          DeploymentResultKind::kFailed);
  REQUIRE(world.stack.Changes().empty());
  REQUIRE(!world.stack.Record("t"));
  world.hooks.answers["after"].error = "late";
  REQUIRE(world.Run(WithHooks({{"AfterCreate", {"after"}}})).kind == DeploymentResultKind::kFailed);
  REQUIRE(world.stack.Record("t"));
  world.hooks.answers["lenient"].error = "whatever";
  REQUIRE(world.Run(WithHooks({{"AfterUpdate", {"lenient"}}}), 2).kind ==
          DeploymentResultKind::kSucceeded);
  REQUIRE(world.stack.events.Problems().at(0).find("warning t: ") == 0);
}

TEST_CASE("[S187] [E187] an update runs the hooks of now, a delete those that are stored") {
  HookWorld world;
  REQUIRE(world.Run(WithHooks({{"BeforeUpdate", {"before"}}})).kind ==
          DeploymentResultKind::kSucceeded);
  REQUIRE(world.hooks.log.empty());
  const Goal swapped = WithHooks({{"BeforeUpdate", {"lenient"}}, {"AfterDelete", {"after"}}});
  REQUIRE(world.Run(swapped, 2).kind == DeploymentResultKind::kSucceeded);
  REQUIRE(world.hooks.log == std::vector<std::string>{"lenient t"});
  REQUIRE(world.stack.Record("t")->resource_hooks.size() == 2);
  REQUIRE(world.Run(Goal()).kind == DeploymentResultKind::kSucceeded);
  REQUIRE(world.hooks.log == std::vector<std::string>{"after t"});
}

TEST_CASE("[E118] in a preview only hooks that asked for it run") {
  HookWorld world;
  world.stack.options.preview = true;
  world.Run(WithHooks({{"BeforeCreate", {"before", "dry"}}}));
  REQUIRE(world.hooks.log == std::vector<std::string>{"dry t"});
}

TEST_CASE("[E191] [S188] [B102] an error hook repeats the operation, at most 100 times") {
  HookWorld world;
  int creates = 0;
  int works_at = 3;
  world.stack.host.behaviour.create = [&](const CreateRequest&) -> Result<CreateResponse> {
    if (++creates < works_at) {
      return Fail(ErrorKind::kFailed, "busy");
    }
    CreateResponse response;
    response.id = "made";
    return response;
  };
  world.hooks.answers["error"].retry = true;
  const Goal goal = WithHooks({{"OnError", {"error"}}});
  REQUIRE(world.Run(goal).kind == DeploymentResultKind::kSucceeded);
  REQUIRE(world.hooks.log == std::vector<std::string>{"error t create 1", "error t create 2"});
  world.stack.state = Snapshot();
  creates = 0;
  works_at = 1000;
  REQUIRE(world.Run(goal).kind == DeploymentResultKind::kFailed);
  REQUIRE(creates == 100);
  REQUIRE(world.hooks.log.size() == 99);
  creates = 0;
  world.hooks.answers["error"].retry = false;
  REQUIRE(world.Run(goal).kind == DeploymentResultKind::kFailed);
  REQUIRE(creates == 1);
}

Task<Result<void>> TwiceTheName(Monitor& monitor, Hooks* hooks) {
  DAVIT_CO_TRY_VOID(monitor.RegisterHook(MakeHook(hooks, "before")));
  co_return monitor.RegisterHook(MakeHook(hooks, "before"));
}

TEST_CASE("[E187] two hooks of one name are refused") {
  FakeStack stack;
  Hooks hooks;
  REQUIRE(RunBody(stack, [&](Monitor& monitor) { return TwiceTheName(monitor, &hooks); }).kind ==
          DeploymentResultKind::kFailed);
}

}  // namespace
}  // namespace davit::testing
