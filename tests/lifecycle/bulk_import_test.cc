// The bulk import (E155-E158).
#include <catch2/catch.hpp>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

using Lines = std::vector<std::string>;

const Urn kStackUrn = Urn::Make("dev", "proj", Urn(), kRootStackType, "proj-dev");

ImportSpec Wanted(const std::string& name, const std::string& id, const Urn& parent = Urn()) {
  ImportSpec spec;
  spec.urn = Urn::Make("dev", "proj", parent, "test:index:Thing", name);
  spec.id = id;
  spec.parent = parent;
  spec.package.name = "test";
  return spec;
}

ImportSpec WantedComponent(const std::string& name) {
  ImportSpec spec;
  spec.urn = Urn::Make("dev", "proj", Urn(), "my:own:Component", name);
  spec.is_component = true;
  return spec;
}

// Objects `cloud-1`, `cloud-2`, ... exist; what they say of themselves is their id.
void HasObjects(FakeStack& stack) {
  stack.host.behaviour.read = [](const ReadRequest& request) -> Result<ReadResponse> {
    ReadResponse response;
    if (request.id == "broken") {
      return Fail(ErrorKind::kFailed, "not today");
    }
    if (request.id.starts_with("cloud-")) {
      CHECK_FALSE(request.send_inputs);
      CHECK(request.status_token.empty());
      response.id = request.id;
      response.inputs = PropertyMap{{"v", request.id}};
      response.outputs = PropertyMap{{"v", request.id}, {"size", 1}};
    }
    return response;
  };
}

DeploymentResult Import(FakeStack& stack, const std::vector<ImportSpec>& imports) {
  stack.options.mode = DeploymentMode::kImport;
  stack.imports = &imports;
  const DeploymentResult result = stack.Run(nullptr);
  stack.imports = nullptr;
  stack.options.mode = DeploymentMode::kUpdate;
  return result;
}

long Asked(const FakeStack& stack, const std::string& verb) {
  return std::ranges::count_if(
      stack.host.log, [&](const std::string& line) { return line.starts_with(verb + " "); });
}

}  // namespace

TEST_CASE("[E156][E42] an import makes the root stack and the default provider that are missing") {
  FakeStack stack;
  HasObjects(stack);
  stack.config["test:region"] = ConfigValue{"north", false, false};
  const DeploymentResult result = Import(stack, {Wanted("a", "cloud-1")});
  CHECK(result.kind == DeploymentResultKind::kSucceeded);
  CHECK(result.changes == std::map<StepOp, int>{{StepOp::kCreate, 1}, {StepOp::kImport, 1}});
  CHECK(stack.events.Steps() == Lines{"plan create proj-dev", "plan import a", "done import a"});
  REQUIRE(stack.state.resources.size() == 3);
  CHECK(stack.state.resources[0]->urn == kStackUrn);
  CHECK(stack.state.resources[1]->inputs == PropertyMap{{"region", "north"}});
  const ResourceState& record = *stack.state.resources[2];
  CHECK(record.id == "cloud-1");
  CHECK(record.parent == kStackUrn);
  CHECK(record.protect);
  CHECK(record.import_id.empty());
  CHECK(record.inputs == PropertyMap{{"v", "cloud-1"}});
  CHECK(record.outputs == PropertyMap{{"v", "cloud-1"}, {"size", 1}});
  CHECK(record.created == record.modified);
  REQUIRE(result.imported.size() == 1);
  CHECK(*result.imported[0] == record);
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[E156][S174] records stay; parents come before children, whatever the order asked for") {
  for (const std::uint64_t seed : {0UL, 1UL, 2UL, 3UL}) {
    FakeStack stack(seed);
    HasObjects(stack);
    stack.options.parallel = 8;
    stack.Up({{.name = "old", .properties = {{"v", 1}}}});
    const StatePtr before = stack.Record("old");
    const ImportSpec component = WantedComponent("comp");
    const ImportSpec child = Wanted("child", "cloud-1", component.urn);
    const ImportSpec nested = Wanted("nested", "cloud-2", child.urn);
    const DeploymentResult result =
        Import(stack, {nested, child, component, Wanted("b", "cloud-3")});
    CHECK(result.kind == DeploymentResultKind::kSucceeded);
    CHECK(result.changes == std::map<StepOp, int>{{StepOp::kSame, 2}, {StepOp::kImport, 4}});
    CHECK(stack.Changes().empty());
    CHECK(*stack.Record("old") == *before);
    CHECK(stack.Record("nested")->parent == child.urn);
    CHECK(stack.Record("comp")->provider.empty());
    CHECK(VerifySnapshot(stack.state).empty());
    CHECK(Asked(stack, "Configure") == 1);
    CHECK(Asked(stack, "CheckConfig") == 0);
  }
}

TEST_CASE("[E157][B052] what is imported already is skipped with a note; another id is refused") {
  FakeStack stack;
  HasObjects(stack);
  Import(stack, {Wanted("a", "cloud-1")});
  const DeploymentResult again = Import(stack, {Wanted("a", "cloud-1"), Wanted("b", "cloud-2")});
  CHECK(again.kind == DeploymentResultKind::kSucceeded);
  CHECK(again.changes == std::map<StepOp, int>{{StepOp::kSame, 2}, {StepOp::kImport, 1}});
  CHECK(again.imported[0]->id == "cloud-1");
  CHECK(again.imported[1]->id == "cloud-2");
  CHECK(Asked(stack, "Read") == 1);
  const auto is_note = [](const Event& event) {
    const auto* said = std::get_if<DiagnosticEvent>(&event);
    return said != nullptr && said->severity == Severity::kInfo &&
           said->message.find("is in the state already with this id") == 0;
  };
  CHECK(std::ranges::count_if(stack.events.events, is_note) == 1);

  const DeploymentResult other = Import(stack, {Wanted("a", "cloud-3")});
  CHECK(other.kind == DeploymentResultKind::kFailed);
  CHECK(other.imported[0] == nullptr);
  CHECK(Asked(stack, "Read") == 0);
  CHECK(stack.events.Problems()[0].find(
            "is in the state already, with the id 'cloud-1' and not 'cloud-3'") !=
        std::string::npos);
  CHECK(stack.Record("a")->id == "cloud-1");
}

TEST_CASE("[E157] a parent has to be there") {
  FakeStack stack;
  HasObjects(stack);
  const Urn lost = Urn::Make("dev", "proj", Urn(), "my:own:Component", "lost");
  CHECK(Import(stack, {Wanted("a", "cloud-1", lost)}).kind == DeploymentResultKind::kFailed);
  CHECK(stack.Record("a") == nullptr);
  CHECK(stack.events.Problems()[0].find("error a: the parent '" + lost.text() + "'") == 0);
}

TEST_CASE("[E33][E156] a failure leaves the others of its round alone, and is followed by none") {
  FakeStack stack;
  HasObjects(stack);
  const ImportSpec good = Wanted("good", "cloud-1");
  const DeploymentResult result = Import(stack,
                                         {Wanted("missing", "nothing"),
                                          Wanted("broken", "broken"),
                                          good,
                                          Wanted("child", "cloud-2", good.urn)});
  CHECK(result.kind == DeploymentResultKind::kFailed);
  CHECK(stack.Record("good") != nullptr);
  CHECK(stack.Record("child") == nullptr);
  CHECK(stack.Record("missing") == nullptr);
  CHECK(stack.state.pending_operations.empty());
  const Lines problems = stack.events.Problems();
  REQUIRE(problems.size() == 3);
  CHECK(problems[0].find(
            "error missing: the object to import, with id 'nothing', does not exist") == 0);
  CHECK(problems[1] == "error broken: not today");
  CHECK(problems[2] == "error -: update failed");
}

TEST_CASE(
    "[E158] [S175] given inputs fill what Read leaves out and mark secrets; given outputs replace "
    "Read") {
  FakeStack stack;
  HasObjects(stack);
  std::vector<PropertyMap> checked;
  stack.host.behaviour.check = [&](const CheckRequest& request) {
    CHECK(request.olds == request.news);
    CHECK(request.old_outputs.empty());
    checked.push_back(request.news);
    CheckResponse response;
    response.inputs = PropertyMap{{"defaulted", true}};
    return response;
  };
  ImportSpec filled = Wanted("filled", "cloud-1");
  filled.inputs = {{"v", MakeSecret("cloud-1")}, {"more", 2}};
  ImportSpec given = Wanted("given", "unread");
  given.inputs = {{"v", 3}};
  given.outputs = PropertyMap{{"v", 3}, {"size", 4}};
  CHECK(Import(stack, {filled, given}).kind == DeploymentResultKind::kSucceeded);
  CHECK(Asked(stack, "Read") == 1);
  CHECK(stack.Record("filled")->inputs == PropertyMap{{"more", 2}, {"v", MakeSecret("cloud-1")}});
  CHECK(stack.Record("filled")->outputs.at("v") == MakeSecret("cloud-1"));
  CHECK(stack.Record("given")->id == "unread");
  CHECK(stack.Record("given")->inputs == PropertyMap{{"v", 3}});
  CHECK(stack.Record("given")->outputs == PropertyMap{{"size", 4}, {"v", 3}});
  REQUIRE(checked.size() == 2);
  CHECK(checked[1] == PropertyMap{{"v", 3}});
}

TEST_CASE("[E158] what Check has against the inputs is a warning") {
  FakeStack stack;
  HasObjects(stack);
  stack.host.behaviour.check = [](const CheckRequest&) {
    CheckResponse response;
    response.failures.push_back({"v", "too small"});
    return response;
  };
  CHECK(Import(stack, {Wanted("a", "cloud-1")}).kind == DeploymentResultKind::kSucceeded);
  const Lines problems = stack.events.Problems();
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].find("warning a: some imported inputs are not valid") == 0);
  CHECK(problems[1].find("too small") != std::string::npos);
  CHECK(stack.Record("a")->inputs == PropertyMap{{"v", "cloud-1"}});
}

TEST_CASE("[E156] providers: one of the file with its inputs, one by name, a denied default") {
  FakeStack stack;
  HasObjects(stack);
  ImportSpec provider;
  provider.urn = Urn::Make("dev", "proj", Urn(), "pulumi:providers:test", "p");
  provider.package.name = "test";
  provider.inputs = {{"region", "east"}};
  ImportSpec user = Wanted("a", "cloud-1");
  user.provider = provider.urn;
  ImportSpec other = Wanted("b", "cloud-2");
  other.provider = Urn::Make("dev", "proj", Urn(), "pulumi:providers:test", "q");
  CHECK(Import(stack, {user, provider, other}).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Record("p")->inputs == PropertyMap{{"region", "east"}});
  CHECK(stack.Record("q")->inputs.empty());
  CHECK(stack.Record("a")->provider.find(provider.urn.text() + "::") == 0);
  CHECK(stack.Record("default") == nullptr);

  stack.config["pulumi:disable-default-providers"] = ConfigValue{"[\"*\"]", false, true};
  CHECK(Import(stack, {Wanted("c", "cloud-3")}).kind == DeploymentResultKind::kFailed);
  CHECK(stack.events.Problems()[0].find("denies the default provider of package 'test'") !=
        std::string::npos);
}

TEST_CASE(
    "[E155] [S175] two imports of one URN, and imports that are their own ancestors, are refused") {
  FakeStack stack;
  HasObjects(stack);
  CHECK(Import(stack, {Wanted("a", "cloud-1"), Wanted("a", "cloud-2")}).kind ==
        DeploymentResultKind::kFailed);
  CHECK(stack.state.resources.empty());
  ImportSpec one = Wanted("one", "cloud-1");
  ImportSpec two = Wanted("two", "cloud-2", one.urn);
  one.parent = two.urn;
  CHECK(Import(stack, {one, two}).kind == DeploymentResultKind::kFailed);
  CHECK(Asked(stack, "Read") == 0);
}

TEST_CASE("[E156] a preview of an import reads and keeps nothing") {
  FakeStack stack;
  HasObjects(stack);
  stack.options.preview = true;
  const DeploymentResult result = Import(stack, {Wanted("a", "cloud-1")});
  stack.options.preview = false;
  CHECK(result.kind == DeploymentResultKind::kSucceeded);
  CHECK(result.imported[0]->inputs == PropertyMap{{"v", "cloud-1"}});
  CHECK(stack.state.resources.empty());
  CHECK(stack.journal.entries.empty());
}

TEST_CASE("[E156][E35] an interrupt ends an import; what is imported stays") {
  FakeStack stack;
  HasObjects(stack);
  const ImportSpec parent = Wanted("parent", "cloud-1");
  const auto read = stack.host.behaviour.read;
  stack.host.behaviour.read = [&](const ReadRequest& request) {
    stack.cancel.Cancel();
    return read(request);
  };
  const DeploymentResult result = Import(stack, {parent, Wanted("child", "cloud-2", parent.urn)});
  CHECK(result.kind == DeploymentResultKind::kCancelled);
  CHECK(stack.Record("parent") != nullptr);
  CHECK(stack.Record("child") == nullptr);
}

}  // namespace davit::testing
