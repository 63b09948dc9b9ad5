// The import option (E63-E67).
#include <catch2/catch.hpp>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

using Lines = std::vector<std::string>;

// The cloud has one object, `cloud-1`, with the given value.
void HasObject(FakeStack& stack, int value) {
  stack.host.behaviour.read = [value](const ReadRequest& request) {
    ReadResponse response;
    if (request.id == "cloud-1") {
      response.id = request.id;
      response.inputs = PropertyMap{{"v", value}};
      response.outputs = PropertyMap{{"v", value}};
    }
    return response;
  };
}

std::vector<FakeResource> Importing(int value, const std::string& id = "cloud-1") {
  return {{.name = "a", .properties = {{"v", value}}, .adjust = [id](Goal& goal) {
             goal.import_id = id;
           }}};
}

}  // namespace

TEST_CASE("[S169] an equal object is imported and nothing else happens; [E64] once") {
  FakeStack stack;
  HasObject(stack, 1);
  CHECK(stack.Up(Importing(1)).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes().empty());
  CHECK(stack.Record("a")->id == "cloud-1");
  CHECK(stack.Record("a")->import_id == "cloud-1");
  CHECK(stack.events.Steps()[1] == "plan import a");
  stack.Up(Importing(1));
  CHECK(std::ranges::count(stack.host.log, "Read " + stack.Record("a")->urn.text()) == 0);
}

TEST_CASE("[E66] what the program says otherwise is updated; [S171] the imported id stays known") {
  FakeStack stack;
  HasObject(stack, 1);
  CHECK(stack.Up(Importing(2)).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Update a"});
  CHECK(stack.Record("a")->inputs.at("v") == PropertyValue(2));
  CHECK(stack.Record("a")->import_id == "cloud-1");
}

TEST_CASE("[S172] a failing update leaves the imported record") {
  FakeStack stack;
  HasObject(stack, 1);
  stack.host.behaviour.update = [](const UpdateRequest&) -> Result<UpdateResponse> {
    return Fail(ErrorKind::kFailed, "no");
  };
  CHECK(stack.Up(Importing(2)).kind == DeploymentResultKind::kFailed);
  REQUIRE(stack.Record("a") != nullptr);
  CHECK(stack.Record("a")->inputs.at("v") == PropertyValue(1));
}

TEST_CASE("[E65] an object that does not exist cannot be imported") {
  FakeStack stack;
  HasObject(stack, 1);
  CHECK(stack.Up(Importing(1, "nothing")).kind == DeploymentResultKind::kFailed);
  CHECK(stack.Record("a") == nullptr);
}

TEST_CASE("[E66] an imported object is not replaced") {
  FakeStack stack;
  HasObject(stack, 1);
  stack.host.behaviour.diff = [](const DiffRequest&) {
    DiffResponse response;
    response.changes = DiffChanges::kSome;
    response.replaces = {"v"};
    return response;
  };
  CHECK(stack.Up(Importing(2)).kind == DeploymentResultKind::kFailed);
  CHECK(stack.Changes().empty());
  CHECK(stack.events.Problems()[0].find("would have to be replaced: v") != std::string::npos);
}

TEST_CASE("[S170] another id replaces the record; the old object is deleted at the end") {
  FakeStack stack;
  HasObject(stack, 1);
  stack.Up({{.name = "a", .properties = {{"v", 1}}}});
  CHECK(stack.Up(Importing(1)).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Delete a"});
  CHECK(stack.Record("a")->id == "cloud-1");
}

TEST_CASE("[E63] an import reads by the id alone, without inputs and state") {
  FakeStack stack;
  std::vector<ReadRequest> seen;
  stack.host.behaviour.read = [&](const ReadRequest& request) {
    seen.push_back(request);
    ReadResponse response;
    response.id = request.id;
    response.inputs = PropertyMap{{"v", 1}};
    response.outputs = PropertyMap{{"v", 1}};
    return response;
  };
  CHECK(stack.Up(Importing(1)).kind == DeploymentResultKind::kSucceeded);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].id == "cloud-1");
  CHECK(seen[0].inputs.empty());
  CHECK(seen[0].state.empty());
  CHECK_FALSE(seen[0].send_inputs);
}

TEST_CASE("[S163] a failing import does not stop the others when the run goes on after errors") {
  FakeStack stack;
  stack.options.continue_on_error = true;
  stack.host.behaviour.read = [](const ReadRequest&) { return ReadResponse(); };
  CHECK(stack
            .Up({{.name = "a", .adjust = [](Goal& goal) { goal.import_id = "nobody"; }},
                 {.name = "b"}})
            .kind == DeploymentResultKind::kFailed);
  CHECK(stack.Record("a") == nullptr);
  CHECK(stack.Record("b") != nullptr);
}

}  // namespace davit::testing
