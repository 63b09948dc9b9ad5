#include "engine/run/reporter.h"

#include <fmt/format.h>

#include "engine/model/provider_ref.h"

namespace davit {
namespace {

StepMetadata ExtensionStep() {
  StepMetadata metadata;
  metadata.op = StepOp::kExtendParameterize;
  metadata.is_internal = true;
  return metadata;
}

}  // namespace

bool IsInternal(const Urn& urn) {
  return urn.is_provider() && ProviderRef{urn, {}}.is_default();
}

void Reporter::Emit(const Event& event) {
  sink_.Emit(event, loop_.WallNow());
}

StepMetadata Reporter::MetadataOf(const Step& step) const {
  StepMetadata metadata;
  metadata.op = step.op;
  metadata.urn = step.urn;
  metadata.old_state = step.old_state;
  metadata.new_state = step.new_state;
  const ResourceState* state = step.new_state ? step.new_state.get() : step.old_state.get();
  metadata.type = state->type;
  metadata.provider = state->provider;
  metadata.keys = step.keys;
  metadata.diffs = step.diffs;
  metadata.detailed_diff = step.detailed;
  metadata.is_internal = IsInternal(step.urn) || step.op == StepOp::kRemovePendingReplace;
  const bool deletes = step.op == StepOp::kDelete || step.op == StepOp::kDeleteReplaced;
  metadata.is_retained = deletes && step.old_state->retain_on_delete;
  return metadata;
}

void Reporter::Prelude(const std::map<std::string, ConfigValue>& config) {
  PreludeEvent event;
  for (const auto& [key, value] : config) {
    event.config.emplace(key, value.is_secret ? "[secret]" : value.text);
  }
  Emit(event);
}

void Reporter::ExtensionPlanned() {
  Emit(ResourcePreEvent{ExtensionStep(), preview_});
}

void Reporter::ExtensionDone() {
  Emit(ResourceOutputsEvent{ExtensionStep(), preview_});
}

void Reporter::Planned(const Step& step) {
  Emit(ResourcePreEvent{MetadataOf(step), preview_});
}

void Reporter::Done(const Step& step, bool with_event) {
  Count(step.op, step.urn);
  if (step.op == StepOp::kDeleteReplaced && step.old_state->pending_delete &&
      !IsInternal(step.urn)) {
    ++old_copies_;
  }
  if (with_event) {
    OutputsRegistered(step);
  }
}

void Reporter::OutputsRegistered(const Step& step) {
  Emit(ResourceOutputsEvent{MetadataOf(step), preview_});
}

void Reporter::Failed(const Step& step, const Error& error) {
  Error shown = error;
  shown.urn = step.urn.text();
  if (shown.code == 0) {
    shown.code = preview_ ? 2005 : 2000;
  }
  Report(shown);
  if (preview_) {
    return;  // E216: in a preview a failing step has only its planned event
  }
  ResourceFailedEvent event;
  event.metadata = MetadataOf(step);
  event.status =
      error.kind == ErrorKind::kOutcomeUnknown ? OperationStatus::kUnknown : OperationStatus::kOk;
  if (step.new_state && !step.new_state->init_errors.empty()) {
    event.status = OperationStatus::kPartialFailure;
  }
  Emit(event);
}

void Reporter::Report(const Error& error) {
  if (error.reported) {
    return;
  }
  DiagnosticEvent event;
  event.severity = Severity::kError;
  event.urn = error.urn;
  event.code = error.code;
  event.where = error.where;
  event.message =
      error.advice.empty() ? error.message : fmt::format("{}\n{}", error.message, error.advice);
  Emit(event);
}

void Reporter::Warn(const Urn& urn, const std::string& message) {
  Log(Severity::kWarning, message, urn);
}

void Reporter::Log(Severity severity, const std::string& message, const Urn& urn) {
  DiagnosticEvent event;
  event.severity = severity;
  event.urn = urn.text();
  event.message = message;
  Emit(event);
}

void Reporter::Count(StepOp op, const Urn& urn) {
  if (IsLogical(op) && !IsInternal(urn)) {
    ++changes_[op];
  }
}

void Reporter::Summary(DeploymentResultKind result,
                       bool maybe_corrupt,
                       std::vector<PolicyPack> packs) {
  SummaryEvent event;
  event.maybe_corrupt = maybe_corrupt;
  event.duration = loop_.Now() - begun_;
  event.changes = changes_;
  event.old_copies = old_copies_;
  event.is_preview = preview_;
  event.result = result;
  event.policy_packs = std::move(packs);
  Emit(event);
}

}  // namespace davit
