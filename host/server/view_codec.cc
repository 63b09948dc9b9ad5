#include "host/server/view_codec.h"

#include <fmt/format.h>

#include "host/wire/value_codec.h"

namespace davit {
namespace {

using ViewOp = pulumirpc::ViewStep;

Result<StepOp> OpOf(const pulumirpc::ViewStep& step) {
  switch (step.op()) {
    case ViewOp::SAME:
      return StepOp::kSame;
    case ViewOp::CREATE:
      return StepOp::kCreate;
    case ViewOp::UPDATE:
      return StepOp::kUpdate;
    case ViewOp::DELETE:
      return StepOp::kDelete;
    case ViewOp::REPLACE:
      return StepOp::kReplace;
    case ViewOp::CREATE_REPLACEMENT:
      return StepOp::kCreateReplacement;
    case ViewOp::DELETE_REPLACED:
      return StepOp::kDeleteReplaced;
    case ViewOp::READ:
      return StepOp::kRead;
    case ViewOp::READ_REPLACEMENT:
      return StepOp::kReadReplacement;
    case ViewOp::REFRESH:
      return StepOp::kRefresh;
    case ViewOp::READ_DISCARD:
      return StepOp::kDiscard;
    case ViewOp::DISCARD_REPLACED:
      return StepOp::kDiscardReplaced;
    case ViewOp::REMOVE_PENDING_REPLACE:
      return StepOp::kRemovePendingReplace;
    case ViewOp::IMPORT:
      return StepOp::kImport;
    case ViewOp::IMPORT_REPLACEMENT:
      return StepOp::kImportReplacement;
    default:
      return Fail(ErrorKind::kInvalid,
                  fmt::format("the view '{}' has no operation that davit knows ({})",
                              step.name(),
                              static_cast<int>(step.op())));
  }
}

Result<View> ViewOf(const pulumirpc::ViewStepState& state) {
  const CodecOptions codec{.keep_unknowns = true, .keep_secrets = true, .keep_resources = true};
  View view;
  view.type = state.type();
  view.name = state.name();
  DAVIT_TRY(view.inputs, DecodeStruct(state.inputs(), codec));
  DAVIT_TRY(view.outputs, DecodeStruct(state.outputs(), codec));
  return view;
}

}  // namespace

Result<std::vector<ViewStep>> DecodeViewSteps(const pulumirpc::PublishViewStepsRequest& request) {
  std::vector<ViewStep> steps;
  for (const pulumirpc::ViewStep& message : request.steps()) {
    ViewStep& step = steps.emplace_back();
    DAVIT_TRY(step.op, OpOf(message));
    step.type = message.type();
    step.name = message.name();
    step.error = message.error();
    step.is_partial = message.status() == pulumirpc::ViewStep::PARTIAL_FAILURE;
    if (step.error.empty() && message.status() != pulumirpc::ViewStep::OK) {
      step.error = "the provider gives no reason";
    }
    if (message.has_old()) {
      DAVIT_TRY(step.old_view, ViewOf(message.old()));
    }
    if (message.has_new_()) {
      DAVIT_TRY(step.new_view, ViewOf(message.new_()));
    }
    step.keys.assign(message.keys().begin(), message.keys().end());
    step.diffs.assign(message.diffs().begin(), message.diffs().end());
    if (message.has_detailed_diff()) {
      step.detailed.emplace();
      for (const auto& [path, diff] : message.detailed_diff()) {
        const auto kind = pulumirpc::PropertyDiff::Kind_IsValid(diff.kind())
                              ? static_cast<DiffKind>(diff.kind())
                              : DiffKind::kUpdate;
        step.detailed->emplace(path, PropertyDiff{kind, diff.inputdiff()});
      }
    }
  }
  return steps;
}

}  // namespace davit
