#include "engine/plan/decide_step.h"

namespace davit {

StepRow DecideStep(const StepQuestion& question) {
  const ResourceState* old_state = question.old_state;
  if (old_state != nullptr && question.was_deleted_first) {
    return StepRow::kRecreate;
  }
  if (old_state != nullptr && old_state->external) {
    return StepRow::kReplaceExternal;
  }
  if (old_state == nullptr) {
    return StepRow::kCreate;
  }
  if (question.diff.replaces || question.is_gone) {
    const bool delete_first = question.is_gone ||  // E93
                              question.delete_before_replace.value_or(question.diff.delete_first);
    return delete_first ? StepRow::kReplaceDeleteFirst : StepRow::kReplaceCreateFirst;
  }
  if (question.diff.has_changes || !old_state->init_errors.empty()) {
    return StepRow::kUpdate;
  }
  return StepRow::kSame;
}

std::vector<StepOp> OpsOf(StepRow row, bool old_is_pending_replacement) {
  switch (row) {
    case StepRow::kRecreate:
      return {StepOp::kReplace, StepOp::kCreateReplacement};
    case StepRow::kReplaceExternal:
    case StepRow::kReplaceCreateFirst:
      return {StepOp::kCreateReplacement, StepOp::kReplace};
    case StepRow::kReplaceDeleteFirst:
      if (old_is_pending_replacement) {  // E93: no second provider delete
        return {StepOp::kReplace, StepOp::kCreateReplacement};
      }
      return {StepOp::kDeleteReplaced, StepOp::kReplace, StepOp::kCreateReplacement};
    case StepRow::kUpdate:
      return {StepOp::kUpdate};
    case StepRow::kSame:
      return {StepOp::kSame};
    case StepRow::kCreate:
      return {StepOp::kCreate};
  }
  return {};
}

CheckInputs PrepareCheck(const ResourceState* old_state, bool is_recreated, bool is_forced) {
  CheckInputs inputs;
  if (old_state != nullptr && !is_recreated && !is_forced && !old_state->external) {
    inputs.olds = old_state->inputs;
    inputs.old_outputs = old_state->outputs;
  }
  return inputs;
}

}  // namespace davit
