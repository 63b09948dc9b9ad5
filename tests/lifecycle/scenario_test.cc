// Scenarios of section 10 of docs/spec/engine.md that need no file of their own.
#include <catch2/catch.hpp>

#include "engine/base/base64.h"
#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

using Lines = std::vector<std::string>;

Task<Result<InvokeGoal>> Adding(InvokeGoal goal, std::string text) {
  goal.args["seen"] =
      goal.args["seen"].as_string() == nullptr ? text : *goal.args["seen"].as_string() + text;
  co_return goal;
}

Task<Result<void>> InvokeTransformed(Monitor& monitor, InvokeOutcome* outcome) {
  monitor.RegisterStackInvokeTransform(
      [](InvokeGoal goal) { return Adding(std::move(goal), "a"); });
  monitor.RegisterStackInvokeTransform(
      [](InvokeGoal goal) { return Adding(std::move(goal), "b"); });
  InvokeGoal goal;
  goal.token = "test:index:look";
  DAVIT_CO_TRY(*outcome, co_await monitor.Invoke(std::move(goal)));
  co_return Result<void>();
}

Task<Result<void>> ReadNothing(Monitor& monitor) {
  ReadGoal goal;
  goal.type = "test:index:Thing";
  goal.name = "r";
  const Result<RegisterResponse> read = co_await monitor.ReadResource(std::move(goal));
  co_return read ? Result<void>() : Fail(read.error());
}

Task<Result<void>> InvokeOnSkipped(Monitor& monitor, InvokeOutcome* outcome) {
  Goal goal;
  goal.type = "test:index:Thing";
  goal.name = "skipped";
  DAVIT_CO_TRY(const RegisterResponse made, co_await monitor.RegisterResource(std::move(goal)));
  InvokeGoal invoke;
  invoke.token = "test:index:look";
  invoke.depends_on.push_back(made.urn);
  DAVIT_CO_TRY(*outcome, co_await monitor.Invoke(std::move(invoke)));
  co_return Result<void>();
}

Task<Result<void>> RegisterParameterized(Monitor& monitor) {
  PackageDescriptor package;
  package.name = "base";
  package.version = "1.0.0";
  Parameterization parameterization;
  parameterization.name = "sub";
  parameterization.version = "2.3.4";
  parameterization.value = "blob";
  package.parameterization = parameterization;
  DAVIT_CO_TRY(const std::string ref, co_await monitor.RegisterPackage(package));
  DAVIT_CO_TRY(const std::string again, co_await monitor.RegisterPackage(package));
  CHECK(again == ref);
  Goal goal;
  goal.type = "sub:index:Thing";
  goal.name = "a";
  goal.package_ref = ref;
  DAVIT_CO_TRY_VOID(co_await monitor.RegisterResource(std::move(goal)));
  co_return Result<void>();
}

Task<Result<void>> RegisterDangling(Monitor& monitor) {
  for (const char* name : {"a", "b"}) {
    Goal goal;
    goal.type = "test:index:Thing";
    goal.name = name;
    if (goal.name == "a") {
      goal.dependencies.push_back(Urn::Trusted("urn:pulumi:dev::proj::test:index:Thing::none"));
    }
    const Result<RegisterResponse> made = co_await monitor.RegisterResource(std::move(goal));
    if (!made) {
      co_return Fail(made.error());
    }
  }
  co_return Result<void>();
}

}  // namespace

TEST_CASE("[E183] [S185] invoke transforms run in order; failures of the function are data") {
  FakeStack stack;
  InvokeOutcome outcome;
  ScriptedProgram program(
      [&outcome](Monitor& monitor) { return InvokeTransformed(monitor, &outcome); });
  CHECK(stack.Run(&program).kind == DeploymentResultKind::kSucceeded);
  CHECK(outcome.result.at("seen") == PropertyValue("ab"));
  stack.host.behaviour.invoke = [](const InvokeRequest&) -> Result<InvokeResponse> {
    InvokeResponse response;
    response.failures.push_back(CheckFailure{"p", "no"});
    return response;
  };
  CHECK(stack.Run(&program).kind == DeploymentResultKind::kSucceeded);
  REQUIRE(outcome.failures.size() == 1);
  CHECK(outcome.failures[0].reason == "no");
}

TEST_CASE("[S14] a read without id fails the run") {
  FakeStack stack;
  ScriptedProgram program([](Monitor& monitor) { return ReadNothing(monitor); });
  CHECK(stack.Run(&program).kind == DeploymentResultKind::kFailed);
  CHECK(stack.events.Problems().front().find("the id to read is empty") != std::string::npos);
}

TEST_CASE("[S182] an invoke that depends on something skipped is unknown, and not called") {
  FakeStack stack;
  stack.options.targets = {"**::other"};
  InvokeOutcome outcome;
  ScriptedProgram program(
      [&outcome](Monitor& monitor) { return InvokeOnSkipped(monitor, &outcome); });
  stack.Run(&program);
  CHECK(outcome.unknown);
  CHECK(std::ranges::none_of(stack.host.log,
                             [](const std::string& line) { return line.starts_with("Invoke"); }));
}

TEST_CASE("[S195] a parameterized package: name of its provider, versions and value in the state") {
  FakeStack stack;
  ScriptedProgram program([](Monitor& monitor) { return RegisterParameterized(monitor); });
  REQUIRE(stack.Run(&program).kind == DeploymentResultKind::kSucceeded);
  const StatePtr provider = stack.Record("default_2_3_4");
  REQUIRE(provider != nullptr);
  CHECK(provider->type == "pulumi:providers:sub");
  CHECK(provider->inputs.at("version") == PropertyValue("2.3.4"));
  const PropertyMap& internal = *provider->inputs.at("__internal").as_map();
  CHECK(internal.at("version") == PropertyValue("1.0.0"));
  CHECK(internal.at("name") == PropertyValue("base"));
  CHECK(internal.at("parameterization") == PropertyValue(EncodeBase64("blob")));
}

TEST_CASE("[E214] a preview verifies the list after each step, and goes on") {
  FakeStack stack;
  stack.options.preview = true;
  ScriptedProgram program([](Monitor& monitor) { return RegisterDangling(monitor); });
  CHECK(stack.Run(&program).kind == DeploymentResultKind::kFailed);
  const Lines problems = stack.events.Problems();
  CHECK(std::ranges::any_of(problems, [](const std::string& line) {
    return line.find("none', which does not exist") != std::string::npos;
  }));
  CHECK(std::ranges::count(stack.events.Steps(), "plan create b") == 1);
}

TEST_CASE("[S109] a plain update starts each provider once, and no more for its refresh") {
  FakeStack stack;
  stack.Up({{.name = "a"}, {.name = "b"}});
  CHECK(stack.host.loads == 1);
  stack.Destroy();
  const int before = stack.host.loads;
  stack.Refresh();
  CHECK(stack.host.loads == before);
}

TEST_CASE("[S133] the provider that only untargeted resources use is not configured") {
  FakeStack stack;
  stack.Up({{.name = "p", .type = "pulumi:providers:test"},
            {.name = "a", .provider = "p"},
            {.name = "b"}});
  stack.options.targets = {"**::b"};
  stack.Destroy();
  CHECK(stack.Changes() == Lines{"Delete b"});
  CHECK(std::ranges::none_of(stack.host.log, [](const std::string& line) {
    return line.starts_with("Configure") && line.ends_with("::p");
  }));
}

TEST_CASE("[E30] going on after an error leaves what the record of a skipped registration needs") {
  FakeStack stack;
  stack.Up({{.name = "old"},
            {.name = "bad", .properties = {{"v", 1}}},
            {.name = "g", .after = {"old"}}});
  stack.options.continue_on_error = true;
  stack.host.behaviour.update = [](const UpdateRequest&) -> Result<UpdateResponse> {
    return Fail(ErrorKind::kFailed, "no");
  };
  stack.Up({{.name = "bad", .properties = {{"v", 2}}}, {.name = "g", .after = {"bad"}}});
  CHECK(stack.Changes() == Lines{"Update bad"});  // `g` is skipped, and its record depends on `old`
  CHECK(stack.Record("old") != nullptr);
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[S88] hundreds of aliases on three levels find the old records") {
  FakeStack stack;
  const auto program = [](const std::string& suffix) {
    const auto aliased = [suffix](Goal& goal) {
      for (int number = 0; !suffix.empty() && number < 200; ++number) {
        AliasSpec alias;
        alias.name = goal.name.substr(0, 1) + (number == 199 ? "" : std::to_string(number));
        goal.aliases.push_back(alias);
      }
    };
    const auto component = [aliased](Goal& goal) {
      goal.custom = false;
      aliased(goal);
    };
    return std::vector<FakeResource>{
        {.name = "a" + suffix, .adjust = component, .type = "test:index:Group"},
        {.name = "b" + suffix,
         .adjust = component,
         .type = "test:index:Group",
         .parent = "a" + suffix},
        {.name = "c" + suffix, .adjust = aliased, .parent = "b" + suffix}};
  };
  stack.Up(program(""));
  CHECK(stack.Up(program("-new")).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes().empty());
  CHECK(stack.Record("c-new") != nullptr);
}

}  // namespace davit::testing
