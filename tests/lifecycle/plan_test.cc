// Update plans (E198, E210-E213): what a preview records, and what an update is held to.
#include <catch2/catch.hpp>

#include "engine/plan/plan_diff.h"
#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

using Program = std::vector<FakeResource>;

Urn Thing(const std::string& name) {
  return Urn::Make("dev", "proj", Urn(), "test:index:Thing", name);
}

UpdatePlan PlanOf(FakeStack& stack, Program program) {
  FakeProgram source(std::move(program));
  stack.options.preview = true;
  stack.makes_plan = true;
  DeploymentResult result = stack.Run(&source);
  stack.options.preview = false;
  stack.makes_plan = false;
  REQUIRE(result.kind == DeploymentResultKind::kSucceeded);
  REQUIRE(result.plan);
  return *std::move(result.plan);
}

bool HeldUp(FakeStack& stack, const UpdatePlan& plan, Program program) {
  stack.plan = plan;
  const DeploymentResult result = stack.Up(std::move(program));
  stack.plan.reset();
  return result.kind == DeploymentResultKind::kSucceeded;
}

// The only problem of the last run.
std::string Problem(const FakeStack& stack) {
  const std::vector<std::string> problems = stack.events.Problems();
  return problems.size() == 1 ? problems[0] : std::to_string(problems.size()) + " problems";
}

bool Says(const FakeStack& stack, const std::string& name, const std::string& what) {
  const std::string problem = Problem(stack);
  INFO(problem);
  return problem.starts_with("error " + name + ": ") && problem.find(what) != std::string::npos &&
         problem.find("urn:pulumi:dev::proj::") != std::string::npos;
}

FakeResource Thing(const char* name, PropertyMap properties) {
  return {.name = name, .properties = std::move(properties)};
}

FakeResource With(FakeResource resource, std::function<void(Goal&)> adjust) {
  resource.adjust = std::move(adjust);
  return resource;
}

FakeBehaviour Replacing() {
  FakeBehaviour behaviour;
  behaviour.diff = [](const DiffRequest& request) {
    DiffResponse response;
    const bool is_same = request.old_inputs == request.new_inputs;
    response.changes = is_same ? DiffChanges::kNone : DiffChanges::kSome;
    if (!is_same) {
      response.replaces = {"value"};
    }
    return response;
  };
  return behaviour;
}

using Ops = std::vector<StepOp>;

}  // namespace

TEST_CASE("[E198] a plan has goal, steps, outputs and seed of every resource") {
  FakeStack stack;
  stack.Up({Thing("gone", {{"value", 1}})});
  const UpdatePlan plan =
      PlanOf(stack, {Thing("a", {{"value", 1}}), {.name = "b", .from = {{"ref", "a"}}}});
  CHECK(plan.resources.size() == 5);  // the stack, its default provider, a, b, gone
  const ResourcePlan& a = plan.resources.at(Thing("a"));
  REQUIRE(a.goal);
  CHECK(a.goal->name == "a");
  CHECK(a.goal->custom);
  CHECK(a.goal->input_diff.adds == PropertyMap{{"value", 1}});
  CHECK(a.steps == Ops{StepOp::kCreate});
  CHECK(a.outputs == PropertyMap{{"value", 1}});
  CHECK(a.seed.size() == 32);
  const ResourcePlan& b = plan.resources.at(Thing("b"));
  CHECK(b.goal->input_diff.adds.at("ref").is_unknown());
  CHECK(b.goal->dependencies == std::vector<Urn>{Thing("a")});
  const ResourcePlan& gone = plan.resources.at(Thing("gone"));
  CHECK_FALSE(gone.goal);
  CHECK_FALSE(gone.outputs);
  CHECK(gone.steps == Ops{StepOp::kDelete});
}

TEST_CASE("[E198] [S191] an update that does what was planned succeeds, and Check sees the seed") {
  FakeStack stack;
  const Program before = {Thing("same", {}), Thing("change", {{"value", 1}}), Thing("gone", {})};
  const Program after = {Thing("same", {}), Thing("change", {{"value", 2}}), Thing("more", {})};
  stack.Up(before);
  UpdatePlan plan = PlanOf(stack, after);
  plan.resources.at(Thing("more")).seed = "the seed of the plan";
  std::string seed;
  stack.host.behaviour.check = [&](const CheckRequest& request) {
    if (request.urn.name() == "more") {
      seed = request.random_seed;
    }
    return CheckResponse{request.news, {}};
  };
  CHECK(HeldUp(stack, plan, after));
  CHECK(stack.Changes().size() == 3);
  CHECK(seed == "the seed of the plan");
}

TEST_CASE(
    "[S113] [E71] a name drawn from the seed is the planned one; a replacement draws another") {
  FakeStack stack;
  std::vector<std::string> names;
  stack.host.behaviour = Replacing();
  stack.host.behaviour.check = [&](const CheckRequest& request) {
    CheckResponse response{request.news, {}};
    const auto old_name = request.olds.find("drawn");
    response.inputs["drawn"] =
        old_name != request.olds.end() ? old_name->second : PropertyValue(request.random_seed);
    return response;
  };
  const Program first = {Thing("a", {{"value", 1}})};
  UpdatePlan plan = PlanOf(stack, first);
  ResourcePlan& a = plan.resources.at(Thing("a"));
  REQUIRE(a.goal->input_diff.adds.at("drawn") == PropertyValue(a.seed));
  const PropertyValue planned("the seed of the plan");  // ids of this stack repeat themselves
  a.seed = *planned.as_string();
  a.goal->input_diff.adds["drawn"] = planned;
  a.outputs->insert_or_assign("drawn", planned);
  REQUIRE(HeldUp(stack, plan, first));
  CHECK(stack.Record("a")->inputs.at("drawn") == planned);
  stack.Up({Thing("a", {{"value", 2}})});
  CHECK(stack.Record("a")->inputs.at("value") == PropertyValue(2));
  CHECK(stack.Record("a")->inputs.at("drawn") != planned);
}

TEST_CASE("[E210] input diffs are against the old inputs, and against none when recreated") {
  FakeStack stack;
  stack.Up({Thing("a", {{"keep", 1}, {"drop", 1}, {"change", 1}})});
  const Program after = {Thing("a", {{"keep", 1}, {"change", 2}, {"add", 3}})};
  const PlanDiff diff = PlanOf(stack, after).resources.at(Thing("a")).goal->input_diff;
  CHECK(diff.adds == PropertyMap{{"add", 3}});
  CHECK(diff.deletes == std::vector<std::string>{"drop"});
  CHECK(diff.updates == PropertyMap{{"change", 2}});
  stack.options.replaces = {Thing("a").text()};
  const UpdatePlan forced = PlanOf(stack, after);
  CHECK(forced.resources.at(Thing("a")).goal->input_diff.adds.size() == 3);
  CHECK(forced.resources.at(Thing("a")).steps ==
        Ops{StepOp::kCreateReplacement, StepOp::kReplace, StepOp::kDeleteReplaced});
}

TEST_CASE("[E211] a step that was not planned is refused before the provider is asked") {
  FakeStack stack;
  stack.Up({Thing("a", {{"value", 1}}), Thing("keep", {})});
  const UpdatePlan plan = PlanOf(stack, {Thing("a", {{"value", 1}}), Thing("keep", {})});

  CHECK_FALSE(HeldUp(stack, plan, {Thing("a", {{"value", 1}}), Thing("keep", {}), Thing("b", {})}));
  CHECK(Says(stack, "b", "'create'"));
  CHECK(stack.Changes().empty());

  CHECK_FALSE(HeldUp(stack, plan, {Thing("keep", {})}));
  CHECK(Says(stack, "a", "'delete'"));
  CHECK(stack.Changes().empty());

  CHECK_FALSE(HeldUp(stack, plan, {Thing("a", {{"value", 2}}), Thing("keep", {})}));
  CHECK(Says(stack, "a", "property 'value': planned no change, is update (2)"));
  CHECK(stack.Changes().empty());
}

TEST_CASE("[E211] a replacement may become an update, an update nothing, but not the reverse") {
  FakeStack stack;
  const Program after = {Thing("a", {{"value", 2}})};
  stack.Up({Thing("a", {{"value", 1}})});
  const UpdatePlan update = PlanOf(stack, after);
  stack.host.behaviour = Replacing();
  CHECK_FALSE(HeldUp(stack, update, after));
  CHECK(Says(stack, "a", "'update' was planned, but it needs 'create-replacement'"));
  CHECK(stack.Changes().empty());

  stack.host.behaviour = FakeBehaviour();
  stack.Up(after);
  CHECK(HeldUp(stack, update, after));  // done already
  CHECK(stack.Changes().empty());
}

TEST_CASE("[E211] without an entry nothing may change from the state") {
  FakeStack stack;
  stack.Up({Thing("a", {{"value", 1}})});
  UpdatePlan plan = PlanOf(stack, {Thing("a", {{"value", 1}})});
  plan.resources.erase(Thing("a"));
  CHECK(HeldUp(stack, plan, {Thing("a", {{"value", 1}})}));
  CHECK_FALSE(HeldUp(
      stack, plan, {With(Thing("a", {{"value", 1}}), [](Goal& goal) { goal.protect = true; })}));
  CHECK(Says(stack, "a", "'protect' was planned as false, is true"));
  CHECK_FALSE(HeldUp(stack, plan, {Thing("a", {{"value", 2}})}));
  CHECK(stack.Changes().empty());
}

TEST_CASE("[E211] [S192] a plan is found under a new name, and the old name's delete with it") {
  FakeStack stack;
  const Program after = {With(Thing("new", {{"value", 2}}),
                              [](Goal& goal) { goal.aliases = {AliasSpec{.urn = Thing("old")}}; })};
  stack.host.behaviour = Replacing();
  stack.Up({Thing("old", {{"value", 1}})});
  const UpdatePlan plan = PlanOf(stack, after);
  CHECK_FALSE(plan.resources.contains(Thing("old")));
  CHECK(plan.resources.at(Thing("new")).steps.size() == 3);
  CHECK(HeldUp(stack, plan, after));
}

TEST_CASE("[E212] every option is held to the plan, the first difference is named") {
  struct Case {
    const char* said;
    std::function<void(Goal&)> adjust;
  };
  const std::vector<Case> cases = {
      {"'protect'", [](Goal& goal) { goal.protect = true; }},
      {"'deleteBeforeReplace'", [](Goal& goal) { goal.delete_before_replace = false; }},
      {"'import'", [](Goal& goal) { goal.import_id = "a-1"; }},
      {"'customTimeouts.update'", [](Goal& goal) { goal.custom_timeouts.update = 5; }},
      {"'ignoreChanges' has 'x' more", [](Goal& goal) { goal.ignore_changes = {"x"}; }},
      {"'additionalSecretOutputs'", [](Goal& goal) { goal.additional_secret_outputs = {"x"}; }},
      {"'dependencies' has", [](Goal& goal) { goal.dependencies = {Thing("d")}; }},
      {"'aliases' has", [](Goal& goal) { goal.aliases = {AliasSpec{.name = "x"}}; }},
      {"'propertyDependencies.value'",
       [](Goal& goal) { goal.property_dependencies["value"] = {Thing("d")}; }},
  };
  for (const Case& one : cases) {
    INFO(one.said);
    FakeStack stack;
    FakeResource a = Thing("a", {{"value", 1}});
    a.after = {"d"};
    const auto without = [](Goal& goal) { goal.dependencies.clear(); };
    const auto with = [&](Goal& goal) {
      goal.dependencies.clear();
      one.adjust(goal);
    };
    stack.Up({Thing("d", {}), With(a, without)});
    const UpdatePlan plan = PlanOf(stack, {Thing("d", {}), With(a, without)});
    CHECK_FALSE(HeldUp(stack, plan, {Thing("d", {}), With(a, with)}));
    CHECK(Says(stack, "a", one.said));
    CHECK(stack.Changes().empty());
  }
}

TEST_CASE("[E212] [S192] what the plan did not know may become anything, or nothing") {
  FakeStack stack;
  const auto program = [](PropertyMap properties) {
    return Program{
        Thing("a", {}),
        {.name = "b", .after = {"a"}, .adjust = [properties = std::move(properties)](Goal& goal) {
           goal.properties = properties;
         }}};
  };
  const UpdatePlan plan = PlanOf(
      stack, program({{"known", 1}, {"open", Unknown()}, {"list", PropertyList{Unknown(), 2}}}));
  const auto fits = [&](PropertyMap properties) {
    FakeStack fresh;
    return HeldUp(fresh, plan, program(std::move(properties)));
  };
  CHECK(fits({{"known", 1}, {"open", "x"}, {"list", PropertyList{1, 2}}}));
  CHECK(fits({{"known", 1}, {"list", PropertyList{PropertyMap(), 2}}}));
  CHECK_FALSE(fits({{"known", 1}, {"open", "x"}, {"list", PropertyList{1, 3}}}));
  CHECK_FALSE(fits({{"known", 1}, {"open", "x"}}));
  CHECK_FALSE(fits({{"known", MakeSecret(1)}, {"open", "x"}, {"list", PropertyList{1, 2}}}));
}

TEST_CASE("[E212] a reference to what is still to be created fits any id of it") {
  const auto reference = [](const char* name, const char* id) {
    ResourceReference value;
    value.urn = Thing(name).text();
    value.id = id;
    return PropertyValue(value);
  };
  CHECK(FitsPlanned(reference("a", ""), reference("a", "a-1")));
  CHECK(FitsPlanned(reference("a", "a-1"), reference("a", "a-1")));
  CHECK_FALSE(FitsPlanned(reference("a", "a-1"), reference("a", "a-2")));
  CHECK_FALSE(FitsPlanned(reference("a", ""), reference("b", "b-1")));
}

TEST_CASE("[E212] a value that Check makes up differently is refused, and a secret is not shown") {
  FakeStack stack;
  const Program program = {Thing("a", {{"token", MakeSecret("CANARY")}})};
  const UpdatePlan plan = PlanOf(stack, program);
  stack.host.behaviour.check = [](const CheckRequest& request) {
    CheckResponse response{request.news, {}};
    response.inputs["token"] = MakeSecret("CANARY-2");
    return response;
  };
  CHECK_FALSE(HeldUp(stack, plan, program));
  CHECK(Says(stack, "a", "property 'token': planned add ([secret]), is add ([secret])"));
  CHECK(Problem(stack).find("CANARY") == std::string::npos);
  CHECK(stack.Changes().empty());
}

TEST_CASE("[E213] steps that never came are errors, but not a delete that is done already") {
  FakeStack stack;
  const UpdatePlan create = PlanOf(stack, {Thing("a", {}), Thing("b", {})});
  CHECK_FALSE(HeldUp(stack, create, {Thing("a", {})}));
  CHECK(Says(stack, "b", "'create' was planned, but did not come"));
  const UpdatePlan remove = PlanOf(stack, {});
  CHECK(HeldUp(stack, remove, {}));
  CHECK(stack.Changes() == std::vector<std::string>{"Delete a"});
  CHECK(HeldUp(stack, remove, {}));
}

TEST_CASE("[E213] the outputs of the stack are held to the plan") {
  FakeStack stack;
  const auto run = [&](PropertyMap outputs) {
    FakeProgram program(Program{Thing("a", {})});
    program.outputs = std::move(outputs);
    return stack.Run(&program);
  };
  stack.makes_plan = true;
  stack.options.preview = true;
  const UpdatePlan plan = *run({{"x", 1}, {"open", Unknown()}}).plan;
  stack.makes_plan = false;
  stack.options.preview = false;
  const Urn root = Urn::Make("dev", "proj", Urn(), kRootStackType, "proj-dev");
  CHECK(plan.resources.at(root).goal->output_diff.adds.at("x") == PropertyValue(1));
  stack.plan = plan;
  CHECK(run({{"x", 2}, {"open", 1}}).kind == DeploymentResultKind::kFailed);
  CHECK(Says(stack, "proj-dev", "outputs: property 'x': planned add (1), is add (2)"));
  CHECK(run({{"x", 1}}).kind == DeploymentResultKind::kSucceeded);
}

}  // namespace davit::testing
