// Parts of resources that a provider reports (E192-E194), where the reference's recordings
// (views-* of tests/parity) say nothing: it leaves a damaged state, or ends.
#include <catch2/catch.hpp>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

using Lines = std::vector<std::string>;

const char* const kPart = "test:index:Part";

View PartState(const std::string& name, double value) {
  return View{kPart, name, {{"v", value}}, {{"v", value}}};
}

ViewStep Made(const std::string& name) {
  ViewStep step;
  step.op = StepOp::kCreate;
  step.type = kPart;
  step.name = name;
  step.new_view = PartState(name, 1);
  return step;
}

ViewStep Changed(const std::string& name, double value) {
  ViewStep step;
  step.op = StepOp::kUpdate;
  step.type = kPart;
  step.name = name;
  step.old_view = PartState(name, 1);
  step.new_view = PartState(name, value);
  return step;
}

// A stack whose provider makes two parts with each resource.
struct PartedStack : FakeStack {
  PartedStack() {
    host.behaviour.create = [this](const CreateRequest& request) -> Result<CreateResponse> {
      const std::string name(request.urn.name());
      CreateResponse response;
      response.id = name + "-" + std::to_string(++host.behaviour.created);
      response.outputs = request.inputs;
      Reports(request.status_token, {Made(name + "1"), Made(name + "2")});
      return response;
    };
  }
  void Reports(const std::string& token, std::vector<ViewStep> steps) {
    refusal = views.Publish(token, std::move(steps));
  }
  Result<void> refusal;
};

}  // namespace

TEST_CASE("[E194] parts go with their owner though the provider says nothing of them") {
  PartedStack stack;
  stack.Up({{.name = "a"}, {.name = "b"}});
  REQUIRE(stack.Record("a1") != nullptr);
  CHECK(stack.Record("a1")->view_of == stack.Record("a")->urn);
  SECTION("dropped from the program") {
    stack.Up({{.name = "b"}});
    CHECK(stack.Record("a1") == nullptr);
    CHECK(stack.Record("b2") != nullptr);
  }
  SECTION("destroyed") {
    CHECK(stack.Destroy().kind == DeploymentResultKind::kSucceeded);
    CHECK(stack.state.resources.empty());
  }
  SECTION("gone at a refresh") {
    stack.host.behaviour.read = [](const ReadRequest& request) -> Result<ReadResponse> {
      ReadResponse response;
      if (request.urn.name() == "b") {
        response.id = request.id;
        response.inputs = request.inputs;
        response.outputs = request.state;
      }
      return response;
    };
    CHECK(stack.Refresh().kind == DeploymentResultKind::kSucceeded);
    CHECK(stack.Record("a") == nullptr);
    CHECK(stack.Record("a1") == nullptr);
    CHECK(stack.Record("b2") != nullptr);
  }
  SECTION("replaced") {
    stack.host.behaviour.diff = AnyChangeReplaces;
    stack.host.behaviour.create = nullptr;
    stack.Up({{.name = "a", .properties = {{"v", 2}}}, {.name = "b"}});
    CHECK(stack.Record("a") != nullptr);
    CHECK(stack.Record("a1") == nullptr);
  }
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE(
    "[E193] what a failed call reported of parts is not recorded, as its owner is not either") {
  PartedStack stack;
  stack.Up({{.name = "a", .properties = {{"v", 1}}}});
  stack.host.behaviour.update = [&](const UpdateRequest& request) -> Result<UpdateResponse> {
    stack.Reports(request.status_token, {Changed("a1", 2)});
    return Fail(ErrorKind::kFailed, "no update");
  };
  CHECK(stack.Up({{.name = "a", .properties = {{"v", 2}}}}).kind == DeploymentResultKind::kFailed);
  CHECK(stack.Record("a1")->outputs == PropertyMap{{"v", 1}});
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[E192] reports on parts that are none are refused, and the call goes on") {
  PartedStack stack;
  stack.Up({{.name = "a", .properties = {{"v", 1}}}});
  std::string token;
  stack.host.behaviour.update = [&](const UpdateRequest& request) -> Result<UpdateResponse> {
    token = request.status_token;
    REQUIRE(request.old_views.size() == 2);
    CHECK(request.old_views[0].name == "a1");
    stack.Reports(token, {Changed("a1", 2), Changed("other", 2)});
    UpdateResponse response;
    response.outputs = request.new_inputs;
    return response;
  };
  const auto changed = std::vector<FakeResource>{{.name = "a", .properties = {{"v", 2}}}};
  CHECK(stack.Up(changed).kind == DeploymentResultKind::kSucceeded);
  REQUIRE(!stack.refusal);
  CHECK(stack.refusal.error().message.find("'other' is no view") != std::string::npos);
  CHECK(stack.Record("a1")->outputs == PropertyMap{{"v", 1}});  // of one report all or nothing
  CHECK_FALSE(stack.views.Publish(token, {Changed("a1", 2)}));  // its call is over
}

TEST_CASE("[E193] a refresh records what it finds of parts, new ones too, and lists each") {
  PartedStack stack;
  stack.Up({{.name = "a"}, {.name = "b", .after = {"a"}}});
  stack.host.behaviour.read = [&](const ReadRequest& request) -> Result<ReadResponse> {
    if (request.urn.name() == "a") {
      stack.Reports(request.status_token, {Changed("a2", 5), Made("a3")});
    }
    ReadResponse response;
    response.id = request.id;
    response.inputs = request.inputs;
    response.outputs = request.state;
    return response;
  };
  CHECK(stack.Refresh().kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Record("a2")->outputs == PropertyMap{{"v", 5}});
  REQUIRE(stack.Record("a3") != nullptr);
  CHECK(stack.Record("a3")->parent == stack.Record("a")->urn);
  CHECK(VerifySnapshot(stack.state).empty());
  stack.host.behaviour.read = nullptr;
  stack.Up({{.name = "a"}, {.name = "b", .after = {"a"}}});
  CHECK(stack.Record("a3") != nullptr);
  CHECK(stack.Destroy().kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.state.resources.empty());
}

TEST_CASE("[E194] parts whose owner is not in the state are dropped") {
  PartedStack stack;
  stack.Up({{.name = "a"}, {.name = "b"}});
  std::erase_if(stack.state.resources,
                [](const StatePtr& record) { return record->urn.name() == "a"; });
  for (StatePtr& record : stack.state.resources) {
    if (record->urn.name() == "a1" || record->urn.name() == "a2") {
      ResourceState orphan = *record;
      orphan.parent = Urn();
      record = std::make_shared<const ResourceState>(std::move(orphan));
    }
  }
  stack.Up({{.name = "b"}});
  CHECK(stack.Record("a1") == nullptr);
  CHECK(stack.Record("b1") != nullptr);
}

TEST_CASE("[E194] parts follow their owner to another URN") {
  PartedStack stack;
  stack.Up({{.name = "a"}});
  stack.Up({{.name = "z", .adjust = [](Goal& goal) {
               AliasSpec alias;
               alias.name = "a";
               goal.aliases.push_back(alias);
             }}});
  REQUIRE(stack.Record("a1") != nullptr);
  CHECK(stack.Record("a1")->view_of == stack.Record("z")->urn);
  CHECK(stack.Record("a1")->parent == stack.Record("z")->urn);
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[S115] the preview of a destroy shows that parts go, without a call") {
  PartedStack stack;
  stack.Up({{.name = "a"}});
  stack.options.mode = DeploymentMode::kDestroy;
  stack.options.preview = true;
  stack.Run(nullptr);
  CHECK(stack.Changes().empty());
  for (const char* expected : {"done delete a1", "done delete a2", "done delete a"}) {
    CHECK(std::ranges::count(stack.events.Steps(), expected) == 1);
  }
}

}  // namespace davit::testing
