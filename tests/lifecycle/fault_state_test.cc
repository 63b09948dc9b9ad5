// Publicly reported faults: what the state says after runs (docs/spec/faults.md).
#include <catch2/catch.hpp>

#include "tests/lifecycle/fault_support.h"

namespace davit::testing {
namespace {

Task<Result<void>> ManageAndLookUp(Monitor& monitor) {
  Goal provider;
  provider.type = "pulumi:providers:test";
  provider.name = "p";
  DAVIT_CO_TRY(const RegisterResponse made, co_await monitor.RegisterResource(std::move(provider)));
  const std::string reference = made.urn.text() + "::" + made.id;
  ReadGoal read;
  read.type = "test:index:Thing";
  read.name = "found";
  read.id = "outside";
  read.provider = reference;
  DAVIT_CO_TRY_VOID(co_await monitor.ReadResource(std::move(read)));
  Goal managed;
  managed.type = "test:index:Thing";
  managed.name = "managed";
  managed.provider = reference;
  DAVIT_CO_TRY_VOID(co_await monitor.RegisterResource(std::move(managed)));
  co_return Result<void>();
}

PendingOperation PendingOn(OperationType type, const std::string& name) {
  auto state = std::make_shared<ResourceState>();
  state->urn = Urn::Trusted(ThingUrn(name));
  state->type = "test:index:Thing";
  state->custom = true;
  return PendingOperation{type, std::move(state)};
}

}  // namespace

TEST_CASE("[B001] a refresh by the program does not tie what exists to what is not made yet") {
  FakeStack stack;
  stack.Up({ProviderResource("p"), {.name = "a", .provider = "p"}});
  FakeResource provider = ProviderResource("p");
  provider.after = {"n"};
  CHECK(stack
            .RunProgram(DeploymentMode::kRefresh,
                        {{.name = "n"}, provider, {.name = "a", .provider = "p"}})
            .kind == DeploymentResultKind::kSucceeded);
  for (const StatePtr& record : stack.state.resources) {
    CHECK_FALSE(RefersTo(*record, Urn::Trusted(ThingUrn("n"))));
  }
  CHECK(VerifySnapshot(stack.state).empty());
  stack.Preview({{.name = "n"}, provider, {.name = "a", .provider = "p"}});
  CHECK(Mentions(stack.events.Steps(), "plan create n"));
}

TEST_CASE("[B003] what a refresh drops is forgotten in every kind of reference") {
  FakeStack stack;
  const auto refer = [](Goal& goal) { goal.replace_with = {Urn::Trusted(ThingUrn("a"))}; };
  stack.Up({{.name = "a"},
            {.name = "b", .from = {{"x", "a"}}, .adjust = refer, .deleted_with = "a"},
            {.name = "c", .parent = "a"}});
  const Urn gone = stack.Record("a")->urn;
  stack.host.behaviour.read = GoneAre({"a"});
  REQUIRE(stack.Refresh().kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Record("a") == nullptr);
  CHECK_FALSE(RefersTo(*stack.Record("b"), gone));
  CHECK_FALSE(RefersTo(*stack.Record("c"), gone));
}

TEST_CASE("[B004] a parallel refresh of a deletedWith chain is sound after every entry") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    FakeStack stack(seed);
    std::vector<FakeResource> chain{{.name = "r0"}};
    for (int at = 1; at < 12; ++at) {
      chain.push_back(
          {.name = "r" + std::to_string(at), .deleted_with = "r" + std::to_string(at - 1)});
    }
    stack.Up(chain);
    const Snapshot before = stack.state;
    stack.options.parallel = 8;
    stack.host.behaviour.read = ReadsOutputs({{"drift", 1}});
    REQUIRE(stack.Refresh().kind == DeploymentResultKind::kSucceeded);
    REQUIRE(WasSoundThroughout(stack, before));
  }
}

TEST_CASE("[B007] a destroy by the program forgets what was only looked up") {
  FakeStack stack;
  ScriptedProgram program(ManageAndLookUp);
  REQUIRE(stack.Run(&program).kind == DeploymentResultKind::kSucceeded);
  REQUIRE(stack.Record("found")->external);
  stack.options.mode = DeploymentMode::kDestroy;
  stack.options.run_program = true;
  REQUIRE(stack.Run(&program).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.state.resources.empty());
  CHECK(stack.Changes() == Lines{"Delete managed"});
}

TEST_CASE("[B008] a pending update is told and does not stop an update; a refresh settles it") {
  FakeStack stack;
  stack.Up({{.name = "r", .properties = {{"v", 1}}}});
  stack.state.pending_operations = {PendingOn(OperationType::kUpdating, "r")};
  SECTION("up") {
    REQUIRE(stack.Up({{.name = "r", .properties = {{"v", 1}}}}).kind ==
            DeploymentResultKind::kSucceeded);
    CHECK(Mentions(stack.events.Problems(), ThingUrn("r") + ", interrupted while updating"));
  }
  SECTION("refresh") {
    stack.host.behaviour.read = ReadsOutputs({{"seen", 1}});
    REQUIRE(stack.Refresh().kind == DeploymentResultKind::kSucceeded);
    CHECK(std::ranges::count(stack.host.log, "Read " + ThingUrn("r")) == 1);
    CHECK(stack.Record("r")->outputs == PropertyMap{{"seen", 1}});
    CHECK(stack.state.pending_operations.empty());
  }
}

TEST_CASE("[B009] a create of unknown outcome stays noted until somebody settles it") {
  FakeStack stack;
  stack.state.pending_operations = {PendingOn(OperationType::kCreating, "x")};
  stack.Preview({{.name = "x"}});
  CHECK(WasNoted(stack, ThingUrn("x") + ", interrupted while creating"));
  REQUIRE(stack.Up({{.name = "x"}}).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Create x"});
  REQUIRE(stack.state.pending_operations.size() == 1);
  REQUIRE(stack.Refresh().kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.state.pending_operations.size() == 1);
}

TEST_CASE("[B010] an error that the provider answered leaves nothing pending") {
  FakeStack stack;
  stack.Up({{.name = "u", .properties = {{"v", 1}}}});
  const StatePtr before = stack.Record("u");
  stack.host.behaviour.create = [](const CreateRequest&) -> Result<CreateResponse> {
    return Fail(ErrorKind::kFailed, "no quota");
  };
  stack.host.behaviour.update = [](const UpdateRequest&) -> Result<UpdateResponse> {
    return Fail(ErrorKind::kFailed, "forbidden");
  };
  stack.options.continue_on_error = true;
  CHECK(stack.Up({{.name = "c"}, {.name = "u", .properties = {{"v", 2}}}}).kind ==
        DeploymentResultKind::kFailed);
  CHECK(stack.Changes() == Lines{"Create c", "Update u"});
  CHECK(stack.state.pending_operations.empty());
  CHECK(*stack.Record("u") == *before);
}

TEST_CASE("[B154] after a failed update the next run updates again") {
  FakeStack stack;
  stack.Up({{.name = "r", .properties = {{"v", 1}}}});
  const StatePtr before = stack.Record("r");
  SECTION("failed plainly: the record is as it was") {
    stack.host.behaviour.update = [](const UpdateRequest&) -> Result<UpdateResponse> {
      return Fail(ErrorKind::kFailed, "forbidden");
    };
    stack.Up({{.name = "r", .properties = {{"v", 2}}}});
    CHECK(*stack.Record("r") == *before);
  }
  SECTION("[B155] failed in part: old inputs, new outputs and the reasons") {
    stack.host.behaviour.update = [](const UpdateRequest& request) {
      UpdateResponse response;
      response.outputs = request.new_inputs;
      response.init_errors = {"not ready"};
      return response;
    };
    stack.Up({{.name = "r", .properties = {{"v", 2}}}});
    CHECK(stack.Record("r")->inputs.at("v") == PropertyValue(1));
    CHECK(stack.Record("r")->outputs.at("v") == PropertyValue(2));
    CHECK(stack.Record("r")->init_errors == Lines{"not ready"});
    // B155: the provider now thinks that nothing is left to do.
    stack.host.behaviour.diff = [](const DiffRequest&) {
      DiffResponse response;
      response.changes = DiffChanges::kNone;
      return response;
    };
  }
  stack.host.behaviour.update = nullptr;
  REQUIRE(stack.Up({{.name = "r", .properties = {{"v", 2}}}}).kind ==
          DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Update r"});
  CHECK(stack.Record("r")->init_errors.empty());
}

TEST_CASE("[B156] a failed run keeps the stack outputs that it did not get to") {
  FakeStack stack;
  FakeProgram good({{.name = "r"}});
  good.outputs = {{"a", 1}, {"b", 2}, {"c", 3}};
  REQUIRE(stack.Run(&good).kind == DeploymentResultKind::kSucceeded);
  FakeProgram bad({{.name = "r"}});
  bad.outputs = {{"a", 10}};
  bad.fails = true;
  CHECK(stack.Run(&bad).kind == DeploymentResultKind::kFailed);
  for (const StatePtr& record : stack.state.resources) {
    if (record->type == kRootStackType) {
      CHECK(record->outputs.contains("b"));
      CHECK(record->outputs.contains("c"));
    }
  }
}

TEST_CASE("[B157] the last stack output goes too") {
  FakeStack stack;
  for (const PropertyMap& outputs :
       {PropertyMap{{"a", 1}, {"b", 2}}, PropertyMap{{"a", 1}}, PropertyMap{}, PropertyMap{}}) {
    FakeProgram program({{.name = "r"}});
    program.outputs = outputs;
    REQUIRE(stack.Run(&program).kind == DeploymentResultKind::kSucceeded);
    REQUIRE(stack.state.resources[0]->type == kRootStackType);
    CHECK(stack.state.resources[0]->outputs == outputs);
  }
}

TEST_CASE("[B120] a moved source position costs no write of its own") {
  FakeStack stack;
  const auto at_line = [](const std::string& line) {
    std::vector<FakeResource> program;
    for (int number = 0; number < 50; ++number) {
      program.push_back({.name = "r" + std::to_string(number),
                         .adjust = [line](Goal& goal) { goal.source_position = line; }});
    }
    return program;
  };
  stack.Up(at_line("project:///main.ts#1,1"));
  REQUIRE(stack.Up(at_line("project:///main.ts#2,1")).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Record("r7")->source_position == "project:///main.ts#2,1");
  CHECK(std::ranges::all_of(stack.journal.entries,
                            [](const JournalEntry& entry) { return entry.deferred; }));
}

}  // namespace davit::testing
