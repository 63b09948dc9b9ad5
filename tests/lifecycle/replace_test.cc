// Replacement (E88-E95).
#include <catch2/catch.hpp>

#include <set>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

using Lines = std::vector<std::string>;

// Diff that replaces when `value` or `ref` changed; unknown new inputs count as changed.
Result<DiffResponse> ReplaceOnChange(const DiffRequest& request) {
  DiffResponse response;
  response.changes = DiffChanges::kNone;
  for (const char* key : {"value", "ref"}) {
    const auto before = request.old_inputs.find(key);
    const auto after = request.new_inputs.find(key);
    const bool same = (before == request.old_inputs.end()) == (after == request.new_inputs.end()) &&
                      (before == request.old_inputs.end() || before->second == after->second);
    if (!same) {
      response.changes = DiffChanges::kSome;
      response.diffs.push_back(key);
      response.replaces.push_back(key);
    }
  }
  return response;
}

std::vector<FakeResource> Chain(int value, std::optional<bool> delete_first) {
  return {{.name = "a",
           .properties = {{"value", value}},
           .adjust = [delete_first](Goal& goal) { goal.delete_before_replace = delete_first; }},
          {.name = "b", .from = {{"ref", "a"}}}};
}

}  // namespace

TEST_CASE("[S32] create first: the new one, the dependent, then the old one goes last") {
  FakeStack stack;
  stack.host.behaviour.diff = ReplaceOnChange;
  stack.Up(Chain(1, std::nullopt));
  const DeploymentResult result = stack.Up(Chain(2, std::nullopt));
  CHECK(result.changes.at(StepOp::kReplace) == 2);
  CHECK(stack.Changes() == Lines{"Create a", "Create b", "Delete b", "Delete a"});
  CHECK(stack.Record("a")->id == "a-3");
  CHECK(*stack.Record("b")->inputs.at("ref").as_string() == "a-3");
  CHECK(stack.state.resources.size() == 4);
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE(
    "[S33] delete first: dependents whose input replaces go before, then all are made again") {
  FakeStack stack;
  stack.host.behaviour.diff = ReplaceOnChange;
  stack.Up(Chain(1, true));
  stack.Up(Chain(2, true));
  CHECK(stack.Changes() == Lines{"Delete b", "Delete a", "Create a", "Create b"});
  CHECK(stack.state.resources.size() == 4);
  CHECK(VerifySnapshot(stack.state).empty());
  CHECK_FALSE(stack.Record("a")->pending_replacement);
}

TEST_CASE("[E89] a plain dependsOn never cascades") {
  FakeStack stack;
  stack.host.behaviour.diff = ReplaceOnChange;
  const auto program = [](int value) {
    return std::vector<FakeResource>{
        {.name = "a",
         .properties = {{"value", value}},
         .adjust = [](Goal& goal) { goal.delete_before_replace = true; }},
        {.name = "b", .after = {"a"}}};
  };
  stack.Up(program(1));
  stack.Up(program(2));
  CHECK(stack.Changes() == Lines{"Delete a", "Create a"});
}

TEST_CASE("[E90] a dependent deleted first and never registered again only loses its record") {
  FakeStack stack;
  stack.host.behaviour.diff = ReplaceOnChange;
  stack.Up(Chain(1, true));
  std::vector<FakeResource> without{Chain(2, true)[0]};
  stack.Up(std::move(without));
  CHECK(stack.Changes() == Lines{"Delete b", "Delete a", "Create a"});
  CHECK(stack.Record("b") == nullptr);
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE(
    "[E93] after a failed create of a delete-first replacement the next run creates without "
    "deleting") {
  FakeStack stack;
  stack.host.behaviour.diff = ReplaceOnChange;
  stack.Up({Chain(1, true)[0]});
  stack.host.behaviour.create = [](const CreateRequest&) -> Result<CreateResponse> {
    return Fail(ErrorKind::kFailed, "quota reached");
  };
  CHECK(stack.Up({Chain(2, true)[0]}).kind == DeploymentResultKind::kFailed);
  REQUIRE(stack.Record("a") != nullptr);
  CHECK(stack.Record("a")->pending_replacement);
  stack.host.behaviour.create = nullptr;
  CHECK(stack.Up({Chain(2, true)[0]}).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Create a"});
  CHECK_FALSE(stack.Record("a")->pending_replacement);
  CHECK(stack.state.resources.size() == 3);
}

TEST_CASE(
    "[S51] a create-first replacement whose delete fails keeps the marked copy; the next run "
    "deletes it") {
  FakeStack stack;
  stack.host.behaviour.diff = ReplaceOnChange;
  stack.Up({Chain(1, std::nullopt)[0]});
  stack.host.behaviour.remove = [](const DeleteRequest&) -> Result<void> {
    return Fail(ErrorKind::kFailed, "busy");
  };
  CHECK(stack.Up({Chain(2, std::nullopt)[0]}).kind == DeploymentResultKind::kFailed);
  REQUIRE(stack.state.resources.size() == 4);
  CHECK(stack.state.resources.back()->pending_delete);
  CHECK(VerifySnapshot(stack.state).empty());
  stack.host.behaviour.remove = nullptr;
  CHECK(stack.Up({Chain(2, std::nullopt)[0]}).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Delete a"});
  CHECK(stack.state.resources.size() == 3);
}

TEST_CASE("[E94] a failed create leaves the old record untouched") {
  FakeStack stack;
  stack.host.behaviour.diff = ReplaceOnChange;
  stack.Up({Chain(1, std::nullopt)[0]});
  const StatePtr before = stack.Record("a");
  stack.host.behaviour.create = [](const CreateRequest&) -> Result<CreateResponse> {
    return Fail(ErrorKind::kFailed, "quota reached");
  };
  stack.Up({Chain(2, std::nullopt)[0]});
  CHECK(*stack.Record("a") == *before);
  stack.options.continue_on_error = true;  // the end phase runs, and leaves it alone
  stack.Up({Chain(2, std::nullopt)[0]});
  CHECK(*stack.Record("a") == *before);
  CHECK(stack.Changes() == Lines{"Create a"});
}

TEST_CASE("[E69] Check is repeated without the old side on the way to a replacement") {
  FakeStack stack;
  stack.host.behaviour.diff = ReplaceOnChange;
  stack.Up({Chain(1, std::nullopt)[0]});
  std::vector<bool> with_olds;
  std::set<std::string> seeds;
  stack.host.behaviour.check = [&](const CheckRequest& request) {
    with_olds.push_back(!request.olds.empty());
    seeds.insert(request.random_seed);
    return CheckResponse{request.news, {}};
  };
  stack.Up({Chain(2, std::nullopt)[0]});
  CHECK(with_olds == std::vector<bool>{true, false});
  CHECK(seeds.size() == 1);  // E71
}

TEST_CASE("[E92] a protected resource is not replaced") {
  FakeStack stack;
  stack.host.behaviour.diff = ReplaceOnChange;
  const auto program = [](int value, bool protect) {
    return std::vector<FakeResource>{{.name = "a",
                                      .properties = {{"value", value}},
                                      .adjust = [protect](Goal& goal) { goal.protect = protect; }}};
  };
  stack.Up(program(1, true));
  CHECK(stack.Up(program(2, true)).kind == DeploymentResultKind::kFailed);
  CHECK(stack.Changes().empty());
  CHECK(stack.Up(program(2, false)).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Create a", "Delete a"});
}

TEST_CASE("[E91] a protected dependent blocks a delete-first replacement") {
  FakeStack stack;
  stack.host.behaviour.diff = ReplaceOnChange;
  auto program = Chain(1, true);
  program[1].adjust = [](Goal& goal) { goal.protect = true; };
  stack.Up(program);
  program[0].properties["value"] = 2;
  CHECK(stack.Up(program).kind == DeploymentResultKind::kFailed);
  CHECK(stack.Changes().empty());
}

}  // namespace davit::testing
