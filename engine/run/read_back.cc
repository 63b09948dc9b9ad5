#include "engine/run/read_back.h"

#include "engine/run/apply_step.h"
#include "engine/run/dependent_deletes.h"
#include "engine/run/views.h"

namespace davit {
namespace {

// E142: the detailed diff is that of drift, so what the provider calls an addition is a deletion.
DiffKind Inverted(DiffKind kind) {
  switch (kind) {
    case DiffKind::kAdd:
      return DiffKind::kDelete;
    case DiffKind::kAddReplace:
      return DiffKind::kDeleteReplace;
    case DiffKind::kDelete:
      return DiffKind::kAdd;
    case DiffKind::kDeleteReplace:
      return DiffKind::kAddReplace;
    case DiffKind::kUpdate:
    case DiffKind::kUpdateReplace:
      return kind;
  }
  return kind;
}

// Whether the object drifted from what the program asked for (E142); fills the step's diff. The
// provider compares the outputs as it gave them, before any was made secret (recorded).
Task<Result<StepOp>> CompareRead(Step& step, const ResourceState& read, PropertyMap answered) {
  const ResourceState& old_state = *step.old_state;
  if (read.external) {
    co_return read.outputs == old_state.outputs ? StepOp::kSame : StepOp::kUpdate;
  }
  DiffRequest request;
  request.id = read.id;
  request.urn = read.urn;
  request.old_inputs = read.inputs;
  request.old_outputs = std::move(answered);
  request.new_inputs = old_state.inputs;
  request.ignore_changes = old_state.ignore_changes;
  bool unavailable = false;
  DAVIT_CO_TRY(
      DiffResponse response,
      co_await DiffResource(step.provider, std::move(request), &unavailable, CancelToken()));
  const DiffDecision decision =
      InterpretDiff(response, read.inputs, old_state.inputs, old_state.ignore_changes);
  step.diffs = decision.diffs;
  if (decision.detailed) {
    step.detailed.emplace();
    for (const auto& [path, diff] : *decision.detailed) {
      step.detailed->emplace(path, PropertyDiff{Inverted(diff.kind), diff.input_diff});
    }
  }
  co_return decision.has_changes ? StepOp::kUpdate : StepOp::kSame;
}

}  // namespace

Task<Result<StepOp>> ReadBack(RunContext& context, Step& step) {
  const ResourceState& old_state = *step.old_state;
  // S40: the provider of a record that is deleted already may be gone too; where it is there, it is
  // loaded (recorded).
  if (!step.provider &&
      (!old_state.pending_replacement || context.OldProvider(old_state.provider))) {
    DAVIT_CO_TRY(step.provider, co_await ProviderForOld(context, step.old_state));
  }
  if (!old_state.custom || old_state.urn.is_provider() || old_state.pending_replacement) {
    co_return StepOp::kSame;
  }
  ReadRequest request;
  request.id = old_state.id;
  request.urn = step.new_state->urn;
  request.inputs = old_state.inputs;
  request.state = old_state.outputs;
  request.timeout_seconds = old_state.custom_timeouts.read;
  const ViewReports reports(context, step);
  request.status_token = reports.token();
  request.old_views = OldViews(context, step.old_state);
  DAVIT_CO_TRY(ReadResponse response,
               co_await ReadResource(step.provider, std::move(request), CancelToken()));
  if (response.id.empty() || !response.outputs) {
    step.new_state = nullptr;
    co_return StepOp::kDelete;
  }
  const std::shared_ptr<ResourceState> read = step.new_state;
  read->id = response.id;
  read->outputs = *std::move(response.outputs);
  if (response.inputs) {
    read->inputs = *std::move(response.inputs);
  }
  read->init_errors = std::move(response.init_errors);
  for (const std::string& reason : read->init_errors) {
    context.reporter.Warn(read->urn, reason);
  }
  read->refresh_before_update = response.refresh_before_update;
  PropertyMap answered = read->outputs;
  MarkSecretOutputs(context, *read);
  if (!(read->inputs == old_state.inputs && read->outputs == old_state.outputs)) {
    read->modified = std::chrono::time_point_cast<std::chrono::nanoseconds>(context.loop.WallNow());
  }
  co_return co_await CompareRead(step, *read, std::move(answered));
}

}  // namespace davit
