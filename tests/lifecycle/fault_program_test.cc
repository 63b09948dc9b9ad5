// Publicly reported faults: providers, components, transforms, hooks, secrets, cancellation
// (docs/spec/faults.md).
#include <catch2/catch.hpp>

#include "tests/lifecycle/fault_support.h"

namespace davit::testing {
namespace {

FakeResource Component(const std::string& name, std::string parent = "") {
  return {
      .name = name, .adjust = AsComponent, .type = "my:index:Group", .parent = std::move(parent)};
}

// A provider that is refused when it is configured with the key `expired`.
Result<void> RefuseExpired(const ConfigureRequest& request) {
  const auto key = request.inputs.find("key");
  if (key != request.inputs.end() && key->second == PropertyValue("expired")) {
    return Fail(ErrorKind::kFailed, "the key has expired");
  }
  return {};
}

Task<Result<HookAnswer>> Gone(HookRequest) {
  co_return Fail(ErrorKind::kUnavailable, "connection refused");
}

Task<Result<void>> WithDeleteHook(Monitor& monitor, bool has_resource) {
  Hook hook;
  hook.name = "goodbye";
  hook.run = Gone;
  DAVIT_CO_TRY_VOID(monitor.RegisterHook(std::move(hook)));
  if (has_resource) {
    Goal goal;
    goal.type = "test:index:Thing";
    goal.name = "r";
    goal.hooks["BeforeDelete"] = {"goodbye"};
    DAVIT_CO_TRY_VOID(co_await monitor.RegisterResource(std::move(goal)));
  }
  co_return Result<void>();
}

}  // namespace

TEST_CASE("[B059] a secret inside a provider's configuration is one in both halves of the record") {
  FakeStack stack;
  const PropertyMap account{{"name", "x"}, {"token", MakeSecret("hunter2")}};
  const std::vector<PropertyValue> accounts{PropertyValue(account)};
  stack.Up({ProviderResource("p", {{"accounts", accounts}})});
  const StatePtr record = stack.Record("p");
  CHECK(ContainsSecrets(record->inputs.at("accounts")));
  CHECK(ContainsSecrets(record->outputs.at("accounts")));
}

TEST_CASE("[B069] a secret that is the id as well is told; the id stays readable") {
  FakeStack stack;
  stack.host.behaviour.create = [](const CreateRequest&) {
    CreateResponse response;
    response.id = "hunter2";
    response.outputs = PropertyMap{{"token", MakeSecret("hunter2")}};
    return response;
  };
  REQUIRE(stack.Up({{.name = "a"}}).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Record("a")->id == "hunter2");
  CHECK(Mentions(stack.events.Problems(), "warning a: "));
  CHECK_FALSE(Mentions(stack.events.Problems(), "hunter2"));
}

TEST_CASE("[B089] expired credentials in the state: the error says where they are and what helps") {
  FakeStack stack;
  const auto program = [](const std::string& key) {
    return std::vector<FakeResource>{ProviderResource("p", {{"key", key}}),
                                     {.name = "a", .provider = "p"}};
  };
  stack.Up(program("expired"));
  stack.host.behaviour.configure = RefuseExpired;
  for (const DeploymentMode mode : {DeploymentMode::kRefresh, DeploymentMode::kDestroy}) {
    FakeStack copy;
    copy.state = stack.state;
    copy.host.behaviour.configure = RefuseExpired;
    copy.options.mode = mode;
    CHECK(copy.Run(nullptr).kind == DeploymentResultKind::kFailed);
    CHECK(Mentions(copy.events.Problems(), "the key has expired"));
    CHECK(Mentions(copy.events.Problems(), "--run-program"));
    CHECK(copy.RunProgram(mode, program("fresh")).kind == DeploymentResultKind::kSucceeded);
    if (mode == DeploymentMode::kRefresh) {
      CHECK(copy.Record("p")->inputs.at("key") == PropertyValue("fresh"));
    } else {
      CHECK(copy.Changes() == Lines{"Delete a"});
      CHECK(copy.state.resources.empty());
    }
  }
}

TEST_CASE("[B090] a provider stays as long as what it has to delete") {
  FakeStack stack;
  stack.Up({ProviderResource("p", {{"key", "expired"}}), {.name = "r", .provider = "p"}});
  stack.host.behaviour.configure = RefuseExpired;
  CHECK(stack.Up({}).kind == DeploymentResultKind::kFailed);
  CHECK(Mentions(stack.events.Problems(), "the key has expired"));
  CHECK(stack.Record("p") != nullptr);
  CHECK(stack.Record("r") != nullptr);
  REQUIRE(stack.Up({ProviderResource("p", {{"key", "fresh"}})}).kind ==
          DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Delete r"});
}

TEST_CASE("[B092] what depends on a component waits for all that is in it") {
  FakeStack stack;
  stack.options.parallel = 4;
  stack.Up({Component("f"),
            Component("inner", "f"),
            {.name = "x1", .parent = "f"},
            {.name = "x2", .parent = "inner"},
            {.name = "s", .after = {"f"}}});
  // The program waits for what it depends on; the state then knows what is inside.
  CHECK(stack.Record("s")->dependencies == std::vector<Urn>{stack.Record("f")->urn});
  REQUIRE(stack.Destroy().kind == DeploymentResultKind::kSucceeded);
  const Lines changes = stack.Changes();
  CHECK(changes.front() == "Delete s");
  CHECK(changes.size() == 3);
}

TEST_CASE("[B093] a dependency through an empty component keeps its order") {
  FakeStack stack;
  FakeResource empty = Component("k");
  empty.after = {"r1"};
  stack.options.parallel = 4;
  stack.Up({{.name = "r1"}, empty, {.name = "r2", .after = {"k"}}});
  CHECK(stack.Changes() == Lines{"Create r1", "Create r2"});
  REQUIRE(stack.Destroy().kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Delete r2", "Delete r1"});
}

TEST_CASE("[B096] children of a renamed component inherit its alias") {
  for (const bool by_urn : {false, true}) {
    FakeStack stack;
    stack.Up({Component("old"), {.name = "child", .parent = "old"}});
    FakeResource renamed = Component("new");
    const std::string old_urn = stack.Record("old")->urn.text();
    renamed.adjust = [=](Goal& goal) {
      AsComponent(goal);
      AliasSpec alias;
      if (by_urn) {
        alias.urn = Urn::Trusted(old_urn);
      } else {
        alias.name = "old";
      }
      goal.aliases.push_back(std::move(alias));
    };
    stack.Preview({renamed, {.name = "child", .parent = "new"}});
    for (const char* op : {"create", "delete"}) {
      CHECK_FALSE(Mentions(stack.events.Steps(), std::string("plan ") + op + " "));
    }
    REQUIRE(stack.Up({renamed, {.name = "child", .parent = "new"}}).kind ==
            DeploymentResultKind::kSucceeded);
    CHECK(stack.Changes().empty());
  }
}

TEST_CASE("[B100] a destroy that cannot run the hooks refuses before it deletes anything") {
  FakeStack stack;
  ScriptedProgram program([](Monitor& monitor) { return WithDeleteHook(monitor, true); });
  stack.Run(&program);
  stack.options.mode = DeploymentMode::kDestroy;
  CHECK(stack.Run(nullptr).kind == DeploymentResultKind::kFailed);
  CHECK(stack.Changes().empty());
  CHECK(Mentions(stack.events.Problems(), "goodbye"));
  CHECK(Mentions(stack.events.Problems(), "--run-program"));
}

TEST_CASE("[B101] a hook that cannot be reached fails the step; the resource stays") {
  FakeStack stack;
  ScriptedProgram program([](Monitor& monitor) { return WithDeleteHook(monitor, true); });
  stack.Run(&program);
  ScriptedProgram without([](Monitor& monitor) { return WithDeleteHook(monitor, false); });
  CHECK(stack.Run(&without).kind == DeploymentResultKind::kFailed);
  CHECK(Mentions(stack.events.Problems(), "goodbye"));
  CHECK(stack.Record("r") != nullptr);
  CHECK(stack.Changes().empty());
}

TEST_CASE("[B136] an interrupt lets the call in flight end, stores it, and begins nothing else") {
  FakeStack stack;
  stack.host.behaviour.create = [&](const CreateRequest& request) {
    stack.cancel.Cancel();  // in the middle of the first call
    CreateResponse response;
    response.id = "partial";
    response.outputs = request.inputs;
    response.init_errors = {"stopped half-way"};
    return response;
  };
  CHECK(stack.Up({{.name = "a"}, {.name = "b", .after = {"a"}}}).kind !=
        DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Create a"});
  REQUIRE(stack.Record("a") != nullptr);
  CHECK(stack.Record("a")->init_errors == Lines{"stopped half-way"});
  CHECK(stack.state.pending_operations.empty());
  CHECK(std::ranges::count(stack.host.log, "Cancel") == 1);
}

}  // namespace davit::testing
