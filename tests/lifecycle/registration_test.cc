// What each kind of registration asks of the provider and leaves behind.

#include <catch2/catch.hpp>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

using Steps = std::vector<std::string>;

FakeResource Thing(const std::string& name, int value) {
  return FakeResource{name, {{"value", value}}, {}, {}, {}};
}

FakeResource Provider(const std::string& name, PropertyMap inputs) {
  FakeResource resource{name, std::move(inputs), {}, {}, {}};
  resource.type = "pulumi:providers:test";
  return resource;
}

bool Contains(const Steps& steps, const std::string& step) {
  return std::ranges::find(steps, step) != steps.end();
}

bool AnyMentions(const Steps& lines, const std::string& text) {
  return std::ranges::any_of(
      lines, [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

Task<Result<void>> RegisterAlone(Monitor& monitor) {
  Goal goal;
  goal.type = "test:index:Thing";
  goal.name = "alone";
  DAVIT_CO_TRY_VOID(co_await monitor.RegisterResource(std::move(goal)));
  co_return Result<void>();
}

Task<Result<void>> ReadOne(Monitor& monitor) {
  ReadGoal goal;
  goal.type = "test:index:Thing";
  goal.name = "external";
  goal.id = "id-1";
  DAVIT_CO_TRY_VOID(co_await monitor.ReadResource(std::move(goal)));
  co_return Result<void>();
}

Task<Result<void>> Nothing(Monitor&) {
  co_return Result<void>();
}

}  // namespace

TEST_CASE("[E14] a plain destroy and a plain refresh never start the program") {
  FakeStack stack;
  stack.Up({Thing("a", 1)});
  ScriptedProgram script(RegisterAlone);
  stack.options.mode = DeploymentMode::kRefresh;
  REQUIRE(stack.Run(&script).kind == DeploymentResultKind::kSucceeded);
  stack.options.mode = DeploymentMode::kDestroy;
  REQUIRE(stack.Run(&script).kind == DeploymentResultKind::kSucceeded);
  CHECK(script.runs == 0);
  CHECK(stack.state.resources.empty());
}

TEST_CASE("[E17] [E18] begin, call, end, answer: dependents see what is stored") {
  FakeStack stack;
  int successes_before_b = -1;
  bool has_begun = false;
  stack.host.behaviour.create = [&](const CreateRequest& request) {
    const std::string name(request.urn.name());
    const auto count = [&](JournalKind kind) {
      return std::ranges::count_if(stack.journal.entries, [&](const JournalEntry& entry) {
        return entry.kind == kind && entry.state &&
               entry.state->urn.name() == (name == "b" ? "a" : name);
      });
    };
    if (name == "b") {
      successes_before_b = static_cast<int>(count(JournalKind::kSuccess));
    } else {
      has_begun = count(JournalKind::kBegin) == 1 && count(JournalKind::kSuccess) == 0 &&
                  Contains(stack.events.Steps(), "plan create a");
    }
    CreateResponse response;
    response.id = name;
    response.outputs = request.inputs;
    return response;
  };
  FakeResource b = Thing("b", 1);
  b.after = {"a"};
  stack.Up({Thing("a", 1), b});
  CHECK(has_begun);
  CHECK(successes_before_b == 1);
}

TEST_CASE("[E42] the engine makes no root stack of its own") {
  FakeStack stack;
  ScriptedProgram script(RegisterAlone);
  REQUIRE(stack.Run(&script).kind == DeploymentResultKind::kSucceeded);
  REQUIRE(stack.Record("alone"));
  CHECK(stack.Record("alone")->parent.empty());
  for (const StatePtr& record : stack.state.resources) {
    CHECK_FALSE(record->urn.is_root_stack());
  }
}

TEST_CASE("[E55] output values are plain, secret or unknown by the time a provider sees them") {
  FakeStack stack;
  PropertyMap seen;
  stack.host.behaviour.check = [&](const CheckRequest& request) {
    seen = request.news;
    return CheckResponse{request.news, {}};
  };
  FakeResource a = Thing("a", 1);
  a.adjust = [](Goal& goal) {
    Output plain;
    plain.element = std::make_shared<const PropertyValue>("text");
    Output hidden = plain;
    hidden.is_secret = true;
    goal.properties["plain"] = std::move(plain);
    goal.properties["hidden"] = std::move(hidden);
    goal.properties["unknown"] = Output();
  };
  stack.Preview({a});
  CHECK(seen.at("plain") == PropertyValue("text"));
  CHECK(seen.at("hidden") == MakeSecret("text"));
  CHECK(seen.at("unknown").is_unknown());
}

TEST_CASE("[E60] what was deleted for its dependency comes back as a replacement") {
  FakeStack stack;
  FakeResource a = Thing("a", 1);
  FakeResource b = Thing("b", 1);
  b.from = {{"key", "a"}};
  stack.Up({a, b});
  stack.host.behaviour.diff = [](const DiffRequest& request) {
    DiffResponse response;
    response.changes =
        request.old_inputs == request.new_inputs ? DiffChanges::kNone : DiffChanges::kSome;
    if (response.changes == DiffChanges::kSome) {
      response.replaces = {"value", "key"};
      response.delete_before_replace = true;
    }
    return response;
  };
  a = Thing("a", 2);
  REQUIRE(stack.Up({a, b}).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Steps{"Delete b", "Delete a", "Create a", "Create b"});
  CHECK(Contains(stack.events.Steps(), "done create-replacement b"));
}

TEST_CASE("[E62] components are compared by their inputs and have no provider") {
  FakeStack stack;
  FakeResource component = Thing("c", 1);
  component.type = "my:index:Component";
  component.adjust = [](Goal& goal) { goal.custom = false; };
  stack.Up({component});
  CHECK(stack.Record("c")->provider.empty());
  component.properties["value"] = 2;
  stack.Up({component});
  CHECK(Contains(stack.events.Steps(), "plan update c"));
  CHECK(stack.Record("c")->inputs.at("value") == PropertyValue(2));
  stack.Up({});
  CHECK_FALSE(stack.Record("c"));
  CHECK_FALSE(AnyMentions(stack.host.log, "::c"));
}

TEST_CASE("[E70] what is not targeted is not checked and keeps its inputs") {
  FakeStack stack;
  stack.Up({Thing("a", 1), Thing("b", 1)});
  stack.options.targets = {stack.Record("a")->urn.text()};
  stack.Up({Thing("a", 2), Thing("b", 2)});
  CHECK(AnyMentions(stack.host.log, "::a"));
  CHECK_FALSE(AnyMentions(stack.host.log, "::b"));
  CHECK(stack.Record("b")->inputs.at("value") == PropertyValue(1));
}

TEST_CASE("[E97] an update is given both sides, keeps id and creation time, and sets the change") {
  FakeStack stack;
  stack.Up({Thing("a", 1)});
  const StatePtr before = stack.Record("a");
  std::optional<UpdateRequest> asked;
  stack.host.behaviour.update = [&](const UpdateRequest& request) {
    asked = request;
    UpdateResponse response;
    response.outputs = request.new_inputs;
    response.outputs["more"] = "x";
    return response;
  };
  stack.loop.Advance(std::chrono::seconds(5));
  stack.Up({Thing("a", 2)});
  const StatePtr after = stack.Record("a");
  REQUIRE(asked);
  CHECK(asked->id == before->id);
  CHECK(asked->old_inputs == before->inputs);
  CHECK(asked->old_outputs == before->outputs);
  CHECK(asked->new_inputs == PropertyMap{{"value", 2}});
  CHECK(after->id == before->id);
  CHECK(after->created == before->created);
  CHECK(*after->modified > *before->modified);
  CHECK(after->outputs.at("more") == PropertyValue("x"));
}

TEST_CASE("[E100] a record that was only read is discarded; its object is not deleted") {
  FakeStack stack;
  ScriptedProgram reads(ReadOne);
  REQUIRE(stack.Run(&reads).kind == DeploymentResultKind::kSucceeded);
  REQUIRE(stack.Record("external"));
  ScriptedProgram nothing(Nothing);
  REQUIRE(stack.Run(&nothing).kind == DeploymentResultKind::kSucceeded);
  CHECK(Contains(stack.events.Steps(), "done discard external"));
  CHECK(stack.Changes().empty());
  CHECK_FALSE(stack.Record("external"));
}

TEST_CASE("[E114] CheckConfig and DiffConfig may always be given unknowns") {
  FakeStack stack;
  std::vector<bool> allowed;
  stack.host.behaviour.check_config = [&](const CheckRequest& request) {
    allowed.push_back(request.allow_unknowns);
    return CheckResponse{request.news, {}};
  };
  stack.host.behaviour.diff_config = [&](const DiffRequest& request) {
    allowed.push_back(request.allow_unknowns);
    return DiffResponse{};
  };
  stack.Up({Provider("p", {{"region", "a"}})});
  stack.Up({Provider("p", {{"region", "b"}})});
  CHECK(allowed.size() >= 3);
  CHECK(std::ranges::count(allowed, false) == 0);
}

TEST_CASE("[E162] a provider gets an id of its own, keeps it, and is configured anew on a change") {
  FakeStack stack;
  stack.Up({Provider("p", {{"region", "a"}})});
  const StatePtr made = stack.Record("p");
  REQUIRE(made);
  CHECK(made->id.size() == 36);
  CHECK(made->outputs == PropertyMap{{"region", "a"}});
  stack.Up({Provider("p", {{"region", "b"}})});
  CHECK(stack.Record("p")->id == made->id);
  CHECK(stack.Record("p")->outputs == PropertyMap{{"region", "b"}});
  CHECK(AnyMentions(stack.host.log, "Configure"));
  stack.Up({});
  CHECK_FALSE(stack.Record("p"));
  CHECK(stack.Changes().empty());
}

TEST_CASE("[E166] an explicit provider notes the version and address that its options give") {
  FakeStack stack;
  FakeResource p = Provider("p", {{"region", "a"}});
  p.adjust = [](Goal& goal) {
    goal.version = "1.2.3";
    goal.download_url = "https://plugins.example";
  };
  REQUIRE(stack.Up({p}).kind == DeploymentResultKind::kSucceeded);
  const PropertyMap& inputs = stack.Record("p")->inputs;
  CHECK(inputs.at("version") == PropertyValue("1.2.3"));
  CHECK(AnyMentions({DebugText(inputs.at("__internal"))}, "https://plugins.example"));
}

TEST_CASE("[E73] a name without a random part makes a replacement delete first") {
  FakeStack stack;
  stack.host.behaviour.diff = [](const DiffRequest& request) {
    DiffResponse response;
    if (!(request.old_inputs == request.new_inputs)) {
      response.changes = DiffChanges::kSome;
      response.replaces = {"value"};
    }
    return response;
  };
  stack.naming.everywhere.kind = NamingStrategy::Kind::kVerbatim;
  stack.Up({Thing("a", 1)});
  stack.Up({Thing("a", 2)});
  CHECK(stack.Changes() == Steps{"Delete a", "Create a"});
  stack.naming.everywhere = {NamingStrategy::Kind::kPattern, "${name}-${hex(4)}", true};
  stack.Up({Thing("a", 3)});
  CHECK(stack.Changes() == Steps{"Create a", "Delete a"});
  CHECK(AnyMentions(stack.events.Problems(), "takes no names"));  // the provider of this test
}

}  // namespace davit::testing
