// Provider resources (E159-E173).
#include <catch2/catch.hpp>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

std::vector<FakeResource> Explicit(FakeStack* stack, const char* region) {
  return {{.name = "p", .properties = {{"region", region}}, .type = "pulumi:providers:test"},
          {.name = "a", .after = {"p"}, .adjust = [stack](Goal& goal) {
             const Urn provider = goal.dependencies[0];
             const StatePtr record = stack->Record("p");
             goal.provider = provider.text() +
                             "::" + (record ? record->id : "00000000-0000-4000-8000-000000000001");
             goal.dependencies.clear();
           }}};
}

}  // namespace

TEST_CASE("[E163] the calls on a fresh instance, in order") {
  FakeStack stack;
  stack.Up({{.name = "a"}});
  REQUIRE(stack.host.log.size() >= 4);
  CHECK(stack.host.log[0].starts_with("CheckConfig "));
  CHECK(stack.host.log[1].starts_with("Configure "));
  CHECK(stack.host.log[2].starts_with("Check "));
  CHECK(stack.host.log[3].starts_with("Create "));
}

TEST_CASE("[E172] one default provider for all resources of a package, left out of counts") {
  FakeStack stack;
  CHECK(stack.Up({{.name = "a"}, {.name = "b"}}).changes ==
        std::map<StepOp, int>{{StepOp::kCreate, 3}});
  CHECK(stack.host.loads == 1);
  CHECK(stack.Record("default")->urn.type() == "pulumi:providers:test");
  CHECK(stack.Record("a")->provider ==
        stack.Record("default")->urn.text() + "::" + stack.Record("default")->id);
}

TEST_CASE("[S94] a changed explicit provider is updated alone") {
  FakeStack stack;
  stack.Up(Explicit(&stack, "north"));
  const std::string id = stack.Record("p")->id;
  const DeploymentResult result = stack.Up(Explicit(&stack, "south"));
  CHECK(result.changes == std::map<StepOp, int>{{StepOp::kSame, 2}, {StepOp::kUpdate, 1}});
  CHECK(stack.Record("p")->id == id);
  CHECK(*stack.Record("p")->outputs.at("region").as_string() == "south");
}

TEST_CASE("[E161] an unimplemented DiffConfig never replaces") {
  FakeStack stack;
  stack.host.behaviour.diff_config = [](const DiffRequest&) -> Result<DiffResponse> {
    return Fail(ErrorKind::kUnimplemented, "not implemented");
  };
  stack.Up(Explicit(&stack, "north"));
  CHECK(stack.Up(Explicit(&stack, "south")).changes.at(StepOp::kUpdate) == 1);
}

TEST_CASE(
    "[E160] CheckConfig: a dropped version is restored, a changed one refused, __internal "
    "ignored") {
  FakeStack stack;
  auto program = Explicit(&stack, "north");
  program[0].adjust = [](Goal& goal) { goal.version = "1.0.0"; };
  stack.host.behaviour.check_config = [](const CheckRequest& request) {
    CheckResponse response;
    response.inputs = request.news;
    response.inputs.erase("version");
    response.inputs["__internal"] = "mine";
    return response;
  };
  CHECK(stack.Up(program).kind == DeploymentResultKind::kSucceeded);
  CHECK(*stack.Record("p")->inputs.at("version").as_string() == "1.0.0");
  CHECK(stack.Record("p")->inputs.at("__internal").is_map());
  CHECK_FALSE(stack.Record("p")->outputs.contains("__internal"));
  CHECK(stack.events.Problems()[0].find("__internal") != std::string::npos);
  stack.host.behaviour.check_config = [](const CheckRequest& request) {
    CheckResponse response;
    response.inputs = request.news;
    response.inputs["version"] = "2.0.0";
    return response;
  };
  CHECK(stack.Up(program).kind == DeploymentResultKind::kFailed);
}

TEST_CASE("[E173] a denied default provider is refused by name") {
  FakeStack stack;
  FakeProgram program({{.name = "a"}});
  DeploymentRequest request;
  request.info.project = "proj";
  request.info.stack = "dev";
  request.info.config["pulumi:disable-default-providers"] = ConfigValue{R"(["test"])", false, true};
  request.source = &program;
  request.journal = &stack.journal;
  request.events = &stack.events;
  request.ids = &stack.ids;
  request.pool = MakeProviderPool(stack.loop, stack.host);
  std::optional<DeploymentResult> result;
  Start(stack.loop,
        RunDeployment(std::move(request)),
        [&](std::exception_ptr, std::optional<DeploymentResult> value) {
          result = std::move(value);
        });
  stack.loop.RunUntilIdle();
  REQUIRE(result);
  CHECK(result->kind == DeploymentResultKind::kFailed);
  CHECK(stack.events.Problems()[0].find("is disabled by the configuration") != std::string::npos);
}

TEST_CASE("[E168] an unknown provider reference is an error") {
  FakeStack stack;
  CHECK(stack
            .Up({{.name = "a",
                  .adjust =
                      [](Goal& goal) {
                        goal.provider =
                            "urn:pulumi:dev::proj::pulumi:providers:test::nobody::some-id";
                      }}})
            .kind == DeploymentResultKind::kFailed);
  CHECK(stack.events.Problems()[0].find("is not known") != std::string::npos);
}

TEST_CASE("a plugin that is not found says so on the resource") {
  FakeStack stack;
  std::vector<FakeResource> program{{.name = "a", .type = "missing:index:Thing"}};
  CHECK(stack.Up(program).kind == DeploymentResultKind::kFailed);
  REQUIRE_FALSE(stack.events.Problems().empty());
  CHECK(stack.events.Problems()[0].find("the plugin 'missing' was not found") != std::string::npos);
}

}  // namespace davit::testing
