// Components that a provider builds, methods, and the package that davit serves itself (E113, E117,
// E181, E182, E195-E197).

#include <catch2/catch.hpp>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

class FakeEndpoint final : public MonitorEndpoint {
 public:
  explicit FakeEndpoint(int* closed) : closed_(closed) {}
  const std::string& address() const override { return address_; }
  Task<void> Close() override {
    ++*closed_;
    co_return;
  }

 private:
  int* closed_;
  std::string address_ = "127.0.0.1:1";
};

/// Gives plugins the Monitor itself.
class FakeMonitorHost final : public MonitorHost {
 public:
  Monitor* monitor = nullptr;
  int opened = 0;
  int closed = 0;
  Result<std::unique_ptr<MonitorEndpoint>> Serve(Monitor& served, RunInfo) override {
    monitor = &served;
    ++opened;
    return std::unique_ptr<MonitorEndpoint>(std::make_unique<FakeEndpoint>(&closed));
  }
};

class FakeStacks final : public StackReader {
 public:
  std::map<std::string, Snapshot> stacks;
  Task<Result<Snapshot>> Read(std::string name) override {
    const auto at = stacks.find(name);
    if (at == stacks.end()) {
      co_return Fail(ErrorKind::kInvalid, "no stack '" + name + "'");
    }
    co_return at->second;
  }
};

/// What FakeStack has, for any source, with plugins that register resources.
struct World {
  FakeStack stack;
  FakeMonitorHost monitors;
  FakeStacks stacks;

  DeploymentResult Run(std::function<Task<Result<void>>(Monitor&)> body, bool preview = false) {
    ScriptedProgram script(std::move(body));
    stack.options.preview = preview;
    stack.monitors = &monitors;
    stack.stacks = &stacks;
    const DeploymentResult result = stack.Run(&script);
    stack.options.preview = false;
    return result;
  }
};

Goal Group(const std::string& name) {
  Goal goal;
  goal.type = "test:index:Group";
  goal.name = name;
  goal.custom = false;
  goal.remote = true;
  goal.properties["size"] = 2;
  return goal;
}

/// What a component's program does: itself, a child, its outputs.
Task<Result<ConstructResponse>> BuildGroup(Monitor* monitor, ConstructRequest request) {
  Goal self = request.goal;
  self.remote = false;
  self.properties.clear();
  self.property_dependencies.clear();
  self.provider.clear();
  DAVIT_CO_TRY(const RegisterResponse group, co_await monitor->RegisterResource(std::move(self)));
  Goal child;
  child.type = "test:index:Thing";
  child.name = request.goal.name + "-child";
  child.parent = group.urn;
  child.properties = request.goal.properties;
  DAVIT_CO_TRY(const RegisterResponse made, co_await monitor->RegisterResource(std::move(child)));
  ConstructResponse response;
  response.urn = group.urn;
  Output output;
  output.element = std::make_shared<const PropertyValue>(made.id);
  output.dependencies = {made.urn.text()};
  response.state["child"] = output;
  response.state_dependencies["child"] = {made.urn};
  DAVIT_CO_TRY_VOID(co_await monitor->RegisterOutputs(group.urn, WithoutOutputs(response.state)));
  co_return response;
}

Task<Result<void>> RegisterGroup(Monitor& monitor, RegisterResponse* made) {
  DAVIT_CO_TRY(*made, co_await monitor.RegisterResource(Group("g")));
  co_return Result<void>();
}

TEST_CASE("[E181] a provider builds a component: its parts, outputs and what they come from") {
  World world;
  std::vector<ConstructRequest> seen;
  std::string stack;
  world.stack.host.behaviour.construct = [&](ConstructRequest request) {
    seen.push_back(request);
    stack = request.run.info->stack;  // gone when the call is over
    return BuildGroup(world.monitors.monitor, std::move(request));
  };
  RegisterResponse made;
  const DeploymentResult result =
      world.Run([&](Monitor& monitor) { return RegisterGroup(monitor, &made); });
  REQUIRE(result.kind == DeploymentResultKind::kSucceeded);
  REQUIRE(seen.size() == 1);
  REQUIRE(stack == "dev");
  REQUIRE(seen[0].run.monitor_address == "127.0.0.1:1");
  REQUIRE(!seen[0].run.stack_trace_handle.empty());
  REQUIRE(made.urn.text() == "urn:pulumi:dev::proj::test:index:Group::g");
  REQUIRE(made.outputs.at("child") == PropertyValue("g-child-1"));  // no output value any more
  REQUIRE(made.property_dependencies.at("child").at(0).name() == "g-child");
  const StatePtr group = world.stack.Record("g");
  REQUIRE(group);
  REQUIRE(!group->custom);
  REQUIRE(group->provider.empty());
  REQUIRE(group->outputs.at("child") == PropertyValue("g-child-1"));
  REQUIRE(world.stack.Record("g-child")->parent == group->urn);
  REQUIRE(world.monitors.opened == 1);
  REQUIRE(world.monitors.closed == 1);
}

Task<Result<ConstructResponse>> BuildNothing(ConstructRequest) {
  co_return Fail(ErrorKind::kFailed, "the part is missing");
}

Task<Result<Goal>> CountTransform(int* count, Goal goal) {
  ++*count;
  goal.properties["marked"] = *count;
  co_return goal;
}

Task<Result<void>> RegisterMarkedGroup(Monitor& monitor, int* count) {
  std::vector<Transform> own;
  own.emplace_back([count](Goal goal) { return CountTransform(count, std::move(goal)); });
  DAVIT_CO_TRY_VOID(co_await monitor.RegisterTransformed(Group("g"), std::move(own)));
  co_return Result<void>();
}

TEST_CASE("[S184] [E186] a transform of a remote component sees it once, and its parts after it") {
  World world;
  world.stack.host.behaviour.construct = [&](ConstructRequest request) {
    CHECK_FALSE(request.goal.properties.contains("marked"));
    return BuildGroup(world.monitors.monitor, std::move(request));
  };
  int count = 0;
  REQUIRE(world.Run([&](Monitor& monitor) { return RegisterMarkedGroup(monitor, &count); }).kind ==
          DeploymentResultKind::kSucceeded);
  CHECK(count == 2);
  CHECK(world.stack.Record("g")->inputs.at("marked") == PropertyValue(1));
  CHECK(world.stack.Record("g-child")->inputs.at("marked") == PropertyValue(2));
}

TEST_CASE("[E38] [P86] a component that cannot be built ends the run with 2002 and no URN") {
  World world;
  world.stack.host.behaviour.construct = BuildNothing;
  RegisterResponse made;
  const DeploymentResult result =
      world.Run([&](Monitor& monitor) { return RegisterGroup(monitor, &made); });
  REQUIRE(result.kind == DeploymentResultKind::kFailed);
  const std::vector<std::string> problems = world.stack.events.Problems();
  REQUIRE(problems.size() == 1);
  REQUIRE(problems[0].find("error -: the component 'g' (test:index:Group) could not be built: the "
                           "part is missing") == 0);
}

TEST_CASE("[S168] a part that fails ends the run with the error of the part alone") {
  World world;
  world.stack.host.behaviour.construct = [&](ConstructRequest request) {
    return BuildGroup(world.monitors.monitor, std::move(request));
  };
  world.stack.host.behaviour.check = [](const CheckRequest&) -> Result<CheckResponse> {
    return Fail(ErrorKind::kFailed, "no such thing");
  };
  RegisterResponse made;
  const DeploymentResult result =
      world.Run([&](Monitor& monitor) { return RegisterGroup(monitor, &made); });
  REQUIRE(result.kind == DeploymentResultKind::kFailed);
  const std::vector<std::string> problems = world.stack.events.Problems();
  REQUIRE(problems.size() == 1);
  REQUIRE(problems[0].find("error g-child: ") == 0);
}

Task<Result<void>> GroupOnUnknownProvider(Monitor& monitor, RegisterResponse* made) {
  Goal provider;
  provider.type = "pulumi:providers:test";
  provider.name = "p";
  provider.properties["region"] = Unknown();
  DAVIT_CO_TRY(const RegisterResponse p, co_await monitor.RegisterResource(std::move(provider)));
  Goal group = Group("g");
  group.provider = ProviderRef{p.urn, p.id}.Text();
  DAVIT_CO_TRY(*made, co_await monitor.RegisterResource(std::move(group)));
  co_return Result<void>();
}

TEST_CASE("[E113] [S111] an unknown configuration: the bare component, and no outputs") {
  World world;
  world.stack.host.behaviour.construct = BuildNothing;
  RegisterResponse made;
  const DeploymentResult result =
      world.Run([&](Monitor& monitor) { return GroupOnUnknownProvider(monitor, &made); }, true);
  REQUIRE(result.kind == DeploymentResultKind::kSucceeded);
  REQUIRE(made.urn.name() == "g");
  REQUIRE(made.outputs.empty());
}

Task<Result<void>> UseStash(Monitor& monitor, int value, RegisterResponse* made) {
  Goal stash;
  stash.type = "pulumi:index:Stash";
  stash.name = "s";
  stash.properties["input"] = value;
  DAVIT_CO_TRY(*made, co_await monitor.RegisterResource(std::move(stash)));
  co_return Result<void>();
}

TEST_CASE("[E196] a stash keeps what it was given first") {
  World world;
  RegisterResponse made;
  world.Run([&](Monitor& monitor) { return UseStash(monitor, 1, &made); });
  REQUIRE(made.outputs.at("output") == PropertyValue(1));
  const std::string id = made.id;
  REQUIRE(!id.empty());
  world.Run([&](Monitor& monitor) { return UseStash(monitor, 2, &made); });
  REQUIRE(made.id == id);
  REQUIRE(made.outputs.at("input") == PropertyValue(2));
  REQUIRE(made.outputs.at("output") == PropertyValue(1));
  REQUIRE(world.stack.host.loads == 0);  // E169: the package is built in
}

Task<Result<void>> ReadOther(Monitor& monitor, RegisterResponse* made, InvokeOutcome* looked_up) {
  ReadGoal read;
  read.type = "pulumi:pulumi:StackReference";
  read.name = "other";
  read.id = "organization/proj/other";
  read.properties["name"] = read.id;
  DAVIT_CO_TRY(*made, co_await monitor.ReadResource(std::move(read)));
  InvokeGoal get;
  get.token = "pulumi:pulumi:getResource";
  get.args["urn"] = made->urn.text();
  DAVIT_CO_TRY(*looked_up, co_await monitor.Invoke(std::move(get)));
  InvokeGoal missing;
  missing.token = "pulumi:pulumi:getResource";
  missing.args["urn"] = "urn:pulumi:dev::proj::test:index:Thing::nobody";
  const Result<InvokeOutcome> none = co_await monitor.Invoke(std::move(missing));
  co_return none ? Fail(ErrorKind::kFailed, "found nobody") : Result<void>();
}

TEST_CASE("[E195] [E197] [S179] outputs of another stack, and looking up what was read") {
  World world;
  auto root = std::make_shared<ResourceState>();
  root->urn = Urn::Make("other", "proj", Urn(), kRootStackType, "proj-other");
  root->type = kRootStackType;
  root->outputs["plain"] = "p";
  root->outputs["hidden"] = MakeSecret("h");
  world.stacks.stacks["organization/proj/other"].resources.push_back(root);
  RegisterResponse made;
  InvokeOutcome looked_up;
  const DeploymentResult result =
      world.Run([&](Monitor& monitor) { return ReadOther(monitor, &made, &looked_up); });
  REQUIRE(result.kind == DeploymentResultKind::kSucceeded);
  REQUIRE(made.id == "organization/proj/other");
  REQUIRE(made.outputs.at("outputs") == PropertyValue(root->outputs));
  REQUIRE(made.outputs.at("secretOutputNames") ==
          PropertyValue(PropertyList{PropertyValue("hidden")}));
  REQUIRE(looked_up.result.at("state") == PropertyValue(made.outputs));
  REQUIRE(world.stack.Record("other")->external);
}

Task<Result<void>> InvokeAfterGroup(Monitor& monitor, bool* unknown) {
  DAVIT_CO_TRY(const RegisterResponse made, co_await monitor.RegisterResource(Group("g")));
  InvokeGoal goal;
  goal.token = "test:index:echo";
  goal.depends_on = {made.urn};
  DAVIT_CO_TRY(const InvokeOutcome outcome, co_await monitor.Invoke(std::move(goal)));
  *unknown = outcome.unknown;
  co_return Result<void>();
}

TEST_CASE("[E117] [S181] an invoke that depends on a component waits for its parts to exist") {
  World world;
  world.stack.host.behaviour.construct = [&](ConstructRequest request) {
    return BuildGroup(world.monitors.monitor, std::move(request));
  };
  bool unknown = false;
  const auto body = [&](Monitor& monitor) { return InvokeAfterGroup(monitor, &unknown); };
  world.Run(body, true);
  REQUIRE(unknown);
  world.Run(body);
  REQUIRE(!unknown);
  world.Run(body, true);
  REQUIRE(!unknown);
}

Task<Result<void>> CallGroup(Monitor& monitor, std::vector<CallResponse>* answers) {
  DAVIT_CO_TRY(const RegisterResponse made, co_await monitor.RegisterResource(Group("g")));
  CallGoal goal;
  goal.token = "test:index:Group/method";
  ResourceReference self;
  self.urn = made.urn.text();
  goal.args["__self__"] = self;
  DAVIT_CO_TRY(CallResponse answer, co_await monitor.Call(std::move(goal)));
  answers->push_back(std::move(answer));
  co_return Result<void>();
}

Task<Result<CallResponse>> Answer(CallRequest request) {
  CallResponse answer;
  answer.result["token"] = request.token;
  answer.result["from"] = PropertyValue(request.arg_dependencies.at("__self__").at(0).text());
  answer.result["at"] = request.run.monitor_address;
  co_return answer;
}

TEST_CASE(
    "[E182] a method: served by the provider of its object, with what the arguments come from") {
  World world;
  world.stack.host.behaviour.construct = [&](ConstructRequest request) {
    return BuildGroup(world.monitors.monitor, std::move(request));
  };
  world.stack.host.behaviour.call = Answer;
  std::vector<CallResponse> answers;
  const auto body = [&](Monitor& monitor) { return CallGroup(monitor, &answers); };
  REQUIRE(world.Run(body).kind == DeploymentResultKind::kSucceeded);
  REQUIRE(answers.at(0).result.at("from") ==
          PropertyValue("urn:pulumi:dev::proj::test:index:Group::g"));
  REQUIRE(answers[0].result.at("at") == PropertyValue("127.0.0.1:1"));
  world.stack.host.behaviour.call = nullptr;  // E38: unimplemented here
  REQUIRE(world.Run(body).kind == DeploymentResultKind::kFailed);
  REQUIRE(world.stack.events.Problems().at(0).find("error -: the call of") == 0);
}

}  // namespace
}  // namespace davit::testing
