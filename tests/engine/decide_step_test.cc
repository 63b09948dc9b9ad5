// The table of E59, row by row.
#include "engine/plan/decide_step.h"

#include <catch2/catch.hpp>

namespace davit {
namespace {

ResourceState Record() {
  ResourceState state;
  state.custom = true;
  state.inputs["value"] = 1;
  state.outputs["out"] = 2;
  return state;
}

StepQuestion Question(const ResourceState* old_state) {
  StepQuestion question;
  question.old_state = old_state;
  return question;
}

}  // namespace

TEST_CASE("[E59] the first matching row of the table decides") {
  ResourceState old_state = Record();
  StepQuestion question = Question(&old_state);

  SECTION("D1 a record deleted first by another's replacement is made again") {
    question.was_deleted_first = true;
    question.diff.replaces = true;
    CHECK(DecideStep(question) == StepRow::kRecreate);
    CHECK(OpsOf(StepRow::kRecreate, false) ==
          std::vector<StepOp>{StepOp::kReplace, StepOp::kCreateReplacement});
  }
  SECTION("D2 an external record is replaced by a managed one") {
    old_state.external = true;
    CHECK(DecideStep(question) == StepRow::kReplaceExternal);
    CHECK(OpsOf(StepRow::kReplaceExternal, false) ==
          std::vector<StepOp>{StepOp::kCreateReplacement, StepOp::kReplace});
  }
  SECTION("D4 and D5 the option beats the provider's wish (E88)") {
    question.diff.replaces = true;
    CHECK(DecideStep(question) == StepRow::kReplaceCreateFirst);
    question.diff.delete_first = true;
    CHECK(DecideStep(question) == StepRow::kReplaceDeleteFirst);
    question.delete_before_replace = false;
    CHECK(DecideStep(question) == StepRow::kReplaceCreateFirst);
    question.diff.delete_first = false;
    question.delete_before_replace = true;
    CHECK(DecideStep(question) == StepRow::kReplaceDeleteFirst);
  }
  SECTION("D6 a change is an update") {
    question.diff.has_changes = true;
    CHECK(DecideStep(question) == StepRow::kUpdate);
  }
  SECTION("D7 init errors are an update without changes") {
    old_state.init_errors = {"not ready"};
    CHECK(DecideStep(question) == StepRow::kUpdate);
  }
  SECTION("D8 nothing changed") {
    CHECK(DecideStep(question) == StepRow::kSame);
  }
  SECTION("D10 without an old record") {
    question.old_state = nullptr;
    CHECK(DecideStep(question) == StepRow::kCreate);
  }
}

TEST_CASE(
    "[E93] a record half way through a delete-first replacement is recreated whatever the diff "
    "says") {
  ResourceState old_state = Record();
  StepQuestion question = Question(&old_state);
  question.is_gone = true;
  question.delete_before_replace = false;
  CHECK(DecideStep(question) == StepRow::kReplaceDeleteFirst);
  CHECK(OpsOf(StepRow::kReplaceDeleteFirst, true) ==
        std::vector<StepOp>{StepOp::kReplace, StepOp::kCreateReplacement});
  CHECK(OpsOf(StepRow::kReplaceDeleteFirst, false).front() == StepOp::kDeleteReplaced);
}

TEST_CASE("[E68] Check gets the old side only when the record is compared with its old self") {
  ResourceState old_state = Record();
  CHECK(PrepareCheck(&old_state, false, false).olds == old_state.inputs);
  CHECK(PrepareCheck(&old_state, false, false).old_outputs == old_state.outputs);
  CHECK(PrepareCheck(&old_state, true, false).olds.empty());
  CHECK(PrepareCheck(&old_state, false, true).olds.empty());
  old_state.external = true;
  CHECK(PrepareCheck(&old_state, false, false).olds.empty());
  CHECK(PrepareCheck(nullptr, false, false).olds.empty());
}

}  // namespace davit
