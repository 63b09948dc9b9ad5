// Registration to record: create, same, update, secrets, dependencies (E13-E19, E53-E62, E96-E98,
// E199-E206).
#include <catch2/catch.hpp>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("[S1] an empty program leaves only the stack record and calls nobody") {
  FakeStack stack;
  CHECK(stack.Up({}).kind == DeploymentResultKind::kSucceeded);
  REQUIRE(stack.state.resources.size() == 1);
  CHECK(stack.state.resources[0]->urn.is_root_stack());
  CHECK(stack.host.loads == 0);
}

TEST_CASE("[S2] create, same, update, destroy") {
  FakeStack stack;
  const auto program = [](int value) {
    return std::vector<FakeResource>{
        {.name = "a", .properties = {{"value", value}}},
        {.name = "b", .properties = {}, .after = {}, .from = {{"ref", "a"}}}};
  };
  CHECK(stack.Up(program(1)).changes == std::map<StepOp, int>{{StepOp::kCreate, 3}});
  CHECK(stack.Changes() == Lines{"Create a", "Create b"});
  CHECK(stack.Record("a")->id == "a-1");
  CHECK(*stack.Record("b")->inputs.at("ref").as_string() == "a-1");
  CHECK(stack.Record("b")->dependencies == std::vector<Urn>{stack.Record("a")->urn});
  CHECK(stack.Record("a")->created.has_value());
  CHECK(VerifySnapshot(stack.state).empty());

  CHECK(stack.Up(program(1)).changes == std::map<StepOp, int>{{StepOp::kSame, 3}});
  CHECK(stack.Changes().empty());

  CHECK(stack.Up(program(2)).changes ==
        std::map<StepOp, int>{{StepOp::kSame, 2}, {StepOp::kUpdate, 1}});
  CHECK(stack.Changes() == Lines{"Update a"});
  CHECK(stack.Record("a")->id == "a-1");

  CHECK(stack.Destroy().changes == std::map<StepOp, int>{{StepOp::kDelete, 3}});
  CHECK(stack.Changes() == Lines{"Delete b", "Delete a"});
  CHECK(stack.state.resources.empty());
}

TEST_CASE("[E206] a run without changes writes nothing but deferred entries") {
  FakeStack stack;
  stack.Up({{.name = "a"}});
  stack.Up({{.name = "a"}});
  for (const JournalEntry& entry : stack.journal.entries) {
    CHECK(entry.deferred);
  }
}

TEST_CASE("[E199] every changing step has a begin and an end, in this order") {
  FakeStack stack;
  stack.Up({{.name = "a"}});
  std::map<std::int64_t, bool> begun;
  bool found = false;
  for (const JournalEntry& entry : stack.journal.entries) {
    if (entry.kind == JournalKind::kBegin) {
      begun[entry.operation_id] = true;
      if (entry.state->urn.name() == "a") {
        found = true;
        CHECK(entry.operation == OperationType::kCreating);  // E202
        CHECK(entry.state->id.empty());                      // S135
        CHECK_FALSE(entry.state->created.has_value());
      }
    }
    if (entry.kind == JournalKind::kSuccess && entry.state && entry.state->urn.name() == "a") {
      CHECK(begun[entry.operation_id]);
    }
  }
  CHECK(found);
}

TEST_CASE("[E19] secret inputs and additionalSecretOutputs make outputs secret") {
  FakeStack stack;
  stack.Up({{.name = "a",
             .properties = {{"hidden", MakeSecret("hush")}, {"open", 1}},
             .adjust = [](Goal& goal) {
               goal.additional_secret_outputs = {"open", "absent", "id"};
             }}});
  CHECK(stack.Record("a")->outputs.at("hidden").is_secret());
  CHECK(stack.Record("a")->outputs.at("open").is_secret());
  CHECK_FALSE(stack.Record("a")->outputs.contains("absent"));
  REQUIRE(stack.events.Problems().size() == 1);
  CHECK(stack.events.Problems()[0].starts_with("warning a: the output 'id'"));
}

TEST_CASE("[E98] a provider that sees no difference: same, new inputs are stored") {
  FakeStack stack;
  stack.host.behaviour.diff = [](const DiffRequest&) {
    DiffResponse none;
    none.changes = DiffChanges::kNone;
    return none;
  };
  stack.Up({{.name = "a", .properties = {{"value", 1}}}});
  stack.Up({{.name = "a", .properties = {{"value", 2}}}});
  CHECK(stack.Changes().empty());
  CHECK(stack.Record("a")->inputs.at("value") == PropertyValue(2));
  CHECK(stack.Record("a")->outputs.at("value") == PropertyValue(1));
}

TEST_CASE("[E72] check failures: one diagnostic each, nothing is created, nothing is deleted") {
  FakeStack stack;
  stack.Up({{.name = "old"}});
  stack.host.behaviour.check = [](const CheckRequest& request) {
    CheckResponse response;
    response.inputs = request.news;
    response.failures = {{"value", "too small"}, {"", "altogether wrong"}};
    return response;
  };
  CHECK(stack.Up({{.name = "a", .properties = {{"value", 1}}}}).kind ==
        DeploymentResultKind::kFailed);
  CHECK(stack.Changes().empty());
  CHECK(stack.events.Problems() == Lines{"error a: property 'value' (its value is 1): too small",
                                         "error a: altogether wrong"});
  CHECK(stack.Record("old") != nullptr);
}

TEST_CASE("[E72] a failing Check is shown without secrets") {
  FakeStack stack;
  stack.host.behaviour.check = [](const CheckRequest& request) {
    CheckResponse response;
    response.inputs = request.news;
    response.failures = {{"value", "bad"}};
    return response;
  };
  stack.Up({{.name = "a", .properties = {{"value", MakeSecret("canary-7f3a")}}}});
  for (const std::string& line : stack.events.Problems()) {
    CHECK(line.find("canary-7f3a") == std::string::npos);
  }
}

TEST_CASE("[E45] two registrations with one URN: the second fails the run") {
  FakeStack stack;
  std::vector<FakeResource> resources{{.name = "a"},
                                      {.name = "b", .adjust = [](Goal& goal) { goal.name = "a"; }}};
  CHECK(stack.Up(std::move(resources)).kind == DeploymentResultKind::kFailed);
  REQUIRE(stack.events.Problems().size() == 1);
  CHECK(stack.events.Problems()[0].starts_with("error a: two resources have the URN"));
}

TEST_CASE("[E43] an unknown parent is refused") {
  FakeStack stack;
  CHECK(stack
            .Up({{.name = "a",
                  .adjust =
                      [](Goal& goal) {
                        goal.parent = Urn::Make("dev", "proj", Urn(), "test:index:Thing", "nobody");
                      }}})
            .kind == DeploymentResultKind::kFailed);
  CHECK(stack.Changes().empty());
}

TEST_CASE("[E44] a custom type needs three parts") {
  FakeStack stack;
  std::vector<FakeResource> resources{{.name = "a", .type = "test:Thing"}};
  CHECK(stack.Up(std::move(resources)).kind == DeploymentResultKind::kFailed);
  CHECK(stack.events.Problems()[0].starts_with(
      "error a: the type 'test:Thing' does not have three parts"));
}

TEST_CASE("[E74] ignoreChanges keeps old inputs; [E76] Diff and Update are told") {
  FakeStack stack;
  const auto program = [](int a, int b) {
    return std::vector<FakeResource>{{.name = "r",
                                      .properties = {{"a", a}, {"b", b}},
                                      .adjust = [](Goal& goal) { goal.ignore_changes = {"a"}; }}};
  };
  stack.Up(program(1, 1));
  stack.Up(program(2, 1));
  CHECK(stack.Changes().empty());
  CHECK(stack.Record("r")->inputs.at("a") == PropertyValue(1));
  std::vector<std::string> told;
  stack.host.behaviour.update = [&](const UpdateRequest& request) {
    told = request.ignore_changes;
    UpdateResponse response;
    response.outputs = request.new_inputs;
    return response;
  };
  stack.Up(program(3, 2));
  CHECK(told == Lines{"a"});
  CHECK(stack.Record("r")->inputs.at("a") == PropertyValue(1));
}

TEST_CASE("[E16] no more operations at a time than allowed, whatever the order of wake-ups") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    FakeStack stack(seed);
    stack.options.parallel = 2;
    std::vector<FakeResource> resources;
    for (int index = 0; index < 12; ++index) {
      resources.push_back({.name = "r" + std::to_string(index)});
    }
    CHECK(stack.Up(std::move(resources)).kind == DeploymentResultKind::kSucceeded);
    CHECK(stack.Changes().size() == 12);
    CHECK(VerifySnapshot(stack.state).empty());
  }
}

TEST_CASE("[E203] dependencies precede dependents in every schedule") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    FakeStack stack(seed);
    stack.options.parallel = 4;
    const auto program = [](int value) {
      return std::vector<FakeResource>{{.name = "a", .properties = {{"v", value}}},
                                       {.name = "b", .from = {{"x", "a"}}},
                                       {.name = "c", .after = {"b"}},
                                       {.name = "d", .from = {{"y", "b"}, {"z", "a"}}},
                                       {.name = "e"}};
    };
    stack.Up(program(1));
    INFO("seed " << seed);
    CHECK(VerifySnapshot(stack.state).empty());
    stack.Up(program(2));
    CHECK(VerifySnapshot(stack.state).empty());
    stack.Destroy();
    CHECK(stack.state.resources.empty());
  }
}

TEST_CASE("[S164] stack outputs: a clean run replaces, a failed one overlays") {
  FakeStack stack;
  FakeProgram first({{.name = "a"}});
  first.outputs = {{"one", 1}, {"two", 2}};
  stack.Run(&first);
  FakeProgram clean({{.name = "a"}});
  clean.outputs = {{"one", 3}};
  CHECK(stack.Run(&clean).outputs == PropertyMap{{"one", 3}});
  CHECK(stack.state.resources[0]->outputs == PropertyMap{{"one", 3}});
}

TEST_CASE("[E53] children inherit protect and the provider of the same package") {
  FakeStack stack;
  std::vector<FakeResource> resources;
  resources.push_back({.name = "p", .type = "pulumi:providers:test"});
  resources.push_back({.name = "parent", .after = {"p"}, .adjust = [](Goal& goal) {
                         goal.provider =
                             goal.dependencies[0].text() + "::00000000-0000-4000-8000-000000000001";
                         goal.protect = true;
                         goal.dependencies.clear();
                       }});
  resources.push_back({.name = "child", .after = {"parent"}, .adjust = [](Goal& goal) {
                         goal.parent = goal.dependencies[0];
                         goal.dependencies.clear();
                       }});
  CHECK(stack.Up(std::move(resources)).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Record("child")->protect);
  CHECK(stack.Record("child")->provider == stack.Record("parent")->provider);
}

TEST_CASE("[E15] [E68] [E78] asking ahead asks the same, once, and decides the same") {
  const auto program = [](int value) {
    std::vector<FakeResource> resources;
    for (int index = 0; index < 20; ++index) {
      FakeResource resource;
      resource.name = "r" + std::to_string(index);
      resource.properties = {{"v", index % 3 == 0 ? value : 1}, {"w", value}};
      resource.adjust = [](Goal& goal) { goal.ignore_changes = {"w"}; };
      resources.push_back(std::move(resource));
    }
    return resources;
  };
  const auto calls = [&](long parallel) {
    FakeStack stack;
    stack.options.parallel = parallel;
    stack.Up(program(1));
    std::vector<std::string> log = stack.host.log;
    CHECK(stack.Up(program(2)).kind == DeploymentResultKind::kSucceeded);
    log.insert(log.end(), stack.host.log.begin(), stack.host.log.end());
    std::ranges::sort(log);
    return log;
  };
  CHECK(calls(16) == calls(1));
}

TEST_CASE("[E29] a refused resource stops what was asked ahead") {
  FakeStack stack;
  stack.options.parallel = 2;
  stack.host.behaviour.check = [](const CheckRequest& request) {
    CheckResponse response{request.news, {}};
    if (request.urn.name() == "r3") {
      response.failures.push_back({"v", "is wrong"});
    }
    return response;
  };
  std::vector<FakeResource> resources;
  for (int index = 0; index < 200; ++index) {
    resources.push_back({.name = "r" + std::to_string(index)});
  }
  CHECK(stack.Up(std::move(resources)).kind == DeploymentResultKind::kFailed);
  CHECK(stack.host.log.size() < 100);
}

TEST_CASE("[E106] an option that changes alone is a same that is written") {
  FakeStack stack;
  stack.Up({{.name = "a"}});
  const DeploymentResult result =
      stack.Up({{.name = "a", .adjust = [](Goal& goal) { goal.protect = true; }}});
  CHECK(result.changes == std::map<StepOp, int>{{StepOp::kSame, 2}});
  CHECK(stack.Changes().empty());
  CHECK(stack.Record("a")->protect);
  CHECK(std::ranges::any_of(stack.journal.entries,
                            [](const JournalEntry& entry) { return !entry.deferred; }));
}

TEST_CASE("[E7] [E39] the summary counts what was done, replacements once, and not the halves") {
  FakeStack stack;
  stack.host.behaviour.diff = AnyChangeReplaces;
  const auto program = [](int value) {
    return std::vector<FakeResource>{{.name = "a", .properties = {{"v", value}}}};
  };
  stack.Up(program(1));
  stack.Up(program(2));
  const auto& summary = std::get<SummaryEvent>(stack.events.events.back());
  CHECK(summary.changes == std::map<StepOp, int>{{StepOp::kSame, 1}, {StepOp::kReplace, 1}});
  CHECK(summary.result == DeploymentResultKind::kSucceeded);
  CHECK_FALSE(summary.is_preview);
  CHECK_FALSE(summary.maybe_corrupt);
}

}  // namespace davit::testing
