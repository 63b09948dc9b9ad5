// The end phase (E24-E28, E32, E99, E129).
#include <catch2/catch.hpp>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("[E24] what the program drops is deleted, dependents first") {
  FakeStack stack;
  stack.Up({{.name = "a"}, {.name = "b", .from = {{"x", "a"}}}, {.name = "keep"}});
  stack.Up({{.name = "keep"}});
  CHECK(stack.Changes() == Lines{"Delete b", "Delete a"});
  CHECK(stack.Record("keep") != nullptr);
}

TEST_CASE("[E32] refusals of protected records are all reported; what they need stays") {
  FakeStack stack;
  const auto protect = [](Goal& goal) { goal.protect = true; };
  stack.Up({{.name = "base"},
            {.name = "a", .from = {{"x", "base"}}, .adjust = protect},
            {.name = "b", .adjust = protect},
            {.name = "c"}});
  CHECK(stack.Up({}).kind == DeploymentResultKind::kFailed);
  CHECK(stack.Changes() == Lines{"Delete c"});
  CHECK(stack.events.Problems().size() == 3);  // a, b, "update failed"
  CHECK(stack.Record("base") != nullptr);
}

TEST_CASE("[E99] no provider call for retained records and for those whose deletedWith goes too") {
  FakeStack stack;
  stack.Up({{.name = "a"},
            {.name = "kept", .adjust = [](Goal& goal) { goal.retain_on_delete = true; }},
            {.name = "tied", .after = {"a"}, .adjust = [](Goal& goal) {
               goal.deleted_with = goal.dependencies[0];
             }}});
  stack.Destroy();
  CHECK(stack.Changes() == Lines{"Delete a"});
  CHECK(stack.state.resources.empty());
}

TEST_CASE("[E28] a destroy configures providers from the state") {
  FakeStack stack;
  stack.Up({{.name = "a"}});
  stack.Destroy();
  CHECK(stack.host.log[0].starts_with("Configure "));
  CHECK(std::ranges::none_of(
      stack.host.log, [](const std::string& line) { return line.starts_with("CheckConfig"); }));
}

TEST_CASE("[E129] a targeted destroy refuses to delete dependents that are not targeted") {
  FakeStack stack;
  stack.Up({{.name = "a"}, {.name = "b", .from = {{"x", "a"}}}, {.name = "c"}});
  stack.options.targets = {stack.Record("a")->urn.text()};
  CHECK(stack.Destroy().kind == DeploymentResultKind::kFailed);
  CHECK(stack.Changes().empty());
  stack.options.targets = {stack.Record("b")->urn.text()};
  CHECK(stack.Destroy().kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Delete b"});
}

TEST_CASE("[E124] [E126] untargeted resources: new ones are left out, old ones carried over") {
  FakeStack stack;
  stack.Up({{.name = "old", .properties = {{"value", 1}}}});
  const StatePtr before = stack.Record("old");
  stack.options.targets = {"**::wanted"};
  CHECK(stack
            .Up({{.name = "old", .properties = {{"value", 2}}},
                 {.name = "wanted"},
                 {.name = "other"}})
            .kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Create wanted"});
  CHECK(*stack.Record("old") == *before);
  CHECK(stack.Record("other") == nullptr);
}

TEST_CASE("[E131] a literal target that does not exist fails the run") {
  FakeStack stack;
  stack.options.targets = {"urn:pulumi:dev::proj::test:index:Thing::nobody"};
  CHECK(stack.Up({{.name = "a"}}).kind == DeploymentResultKind::kFailed);
  CHECK(stack.events.Problems()[0].find("could not be found") != std::string::npos);
}

TEST_CASE("[E21] nothing is deleted before every chain of the program has ended") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    FakeStack stack(seed);
    stack.options.parallel = 4;
    stack.Up({{.name = "old1"}, {.name = "old2"}});
    stack.Up({{.name = "new1"}, {.name = "new2"}, {.name = "new3"}});
    const std::vector<std::string> changes = stack.Changes();
    REQUIRE(changes.size() == 5);
    for (std::size_t at = 0; at < changes.size(); ++at) {
      REQUIRE(changes[at].starts_with(at < 3 ? "Create" : "Delete"));
    }
  }
}

TEST_CASE("[E102] a delete-first replacement takes what is deleted with it along without a call") {
  FakeStack stack;
  stack.host.behaviour.diff = AnyChangeReplaces;
  const auto program = [](int value, bool has_b) {
    std::vector<FakeResource> resources{
        {.name = "a", .properties = {{"v", value}}, .adjust = [](Goal& goal) {
           goal.delete_before_replace = true;
         }}};
    if (has_b) {
      resources.push_back({.name = "b", .deleted_with = "a"});
    }
    return resources;
  };
  stack.Up(program(1, true));
  REQUIRE(stack.Up(program(2, false)).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == std::vector<std::string>{"Delete a", "Create a"});
  CHECK(stack.Record("b") == nullptr);
}

}  // namespace davit::testing
