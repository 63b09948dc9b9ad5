#include "engine/run/refresh.h"

#include "engine/run/dependent_deletes.h"

namespace davit {
namespace {

struct Outcome {
  StatePtr state;  ///< null: the resource is gone
  bool is_done = false;
};

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

// Whether the object drifted from what the program asked for (E142); fills the step's diff.
Task<Result<StepOp>> CompareRead(Step& step, const ResourceState& read) {
  const ResourceState& old_state = *step.old_state;
  if (read.external) {
    co_return read.outputs == old_state.outputs ? StepOp::kSame : StepOp::kUpdate;
  }
  DiffRequest request;
  request.id = read.id;
  request.urn = read.urn;
  request.old_inputs = read.inputs;
  request.old_outputs = read.outputs;
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

Task<Result<StepOp>> ReadOne(RunContext& context, Step& step, Outcome& outcome) {
  const ResourceState& old_state = *step.old_state;
  outcome.state = step.old_state;
  if (!old_state.custom || old_state.urn.is_provider() || old_state.pending_replacement) {
    step.new_state = std::make_shared<ResourceState>(old_state);
    co_return StepOp::kSame;
  }
  DAVIT_CO_TRY(step.provider, co_await ProviderForOld(context, step.old_state));
  ReadRequest request;
  request.id = old_state.id;
  request.urn = old_state.urn;
  request.inputs = old_state.inputs;
  request.state = old_state.outputs;
  request.timeout_seconds = old_state.custom_timeouts.read;
  request.status_token = context.request.ids->NewUuid();
  DAVIT_CO_TRY(ReadResponse response,
               co_await ReadResource(step.provider, std::move(request), CancelToken()));
  if (response.id.empty() || !response.outputs) {
    outcome.state = nullptr;
    step.new_state = nullptr;
    co_return StepOp::kDelete;
  }
  auto read = std::make_shared<ResourceState>(old_state);
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
  for (const std::string& name : read->additional_secret_outputs) {
    const auto at = read->outputs.find(name);
    if (at != read->outputs.end()) {
      at->second = MakeSecret(at->second);
    }
  }
  if (!(read->inputs == old_state.inputs && read->outputs == old_state.outputs)) {
    read->modified = std::chrono::time_point_cast<std::chrono::nanoseconds>(context.loop.WallNow());
  }
  step.new_state = read;
  outcome.state = *read == old_state ? step.old_state : StatePtr(read);
  co_return co_await CompareRead(step, *read);
}

Task<void> RefreshOne(RunContext& context,
                      std::size_t index,
                      bool is_standalone,
                      std::vector<Outcome>* outcomes) {
  Step step;
  step.op = StepOp::kRefresh;
  step.urn = context.base[index]->urn;
  step.old_state = context.base[index];
  step.new_state = std::make_shared<ResourceState>(*step.old_state);
  context.reporter.Planned(step);
  Outcome& outcome = (*outcomes)[index];
  Result<StepOp> op = co_await ReadOne(context, step, outcome);
  if (op) {
    outcome.is_done = true;
    if (outcome.state != step.old_state) {
      JournalEntry entry;
      entry.kind = JournalKind::kRefreshSuccess;
      entry.operation_id = ++context.last_operation;
      entry.remove_old = static_cast<std::int64_t>(index);
      entry.state = outcome.state;
      entry.is_refresh = true;
      const Result<void> written = co_await context.Write(std::move(entry));
      if (!written) {
        op = Fail(written.error());
      }
    }
  }
  if (!op) {
    outcome.state = step.old_state;
    context.reporter.Failed(step, op.error());
    context.recorded_error = true;
  } else {
    if (is_standalone) {
      step.op = *op;
      context.reporter.Count(*op, step.urn);
    }
    context.reporter.OutputsRegistered(step);
  }
  context.workers.Release();
}

}  // namespace

Task<void> RunRefresh(RunContext& context, bool is_standalone) {
  std::vector<Outcome> outcomes(context.base.size());
  Scope scope(context.loop);
  for (std::size_t index = 0; index < context.base.size(); ++index) {
    outcomes[index].state = context.base[index];
    if (context.cancelled || !context.base[index]->view_of.empty() ||
        !context.targets.Contains(context.base[index]->urn)) {
      continue;
    }
    co_await context.workers.Acquire();
    scope.Spawn(RefreshOne(context, index, is_standalone, &outcomes));
  }
  co_await scope.Join();
  std::vector<StatePtr> rebuilt;
  for (const Outcome& outcome : outcomes) {
    if (outcome.state) {
      rebuilt.push_back(outcome.state);
    }
  }
  CleanReferences(rebuilt, context.base);
  if (!context.preview) {
    JournalEntry entry;
    entry.kind = JournalKind::kRebuiltBase;
    entry.operation_id = ++context.last_operation;
    const Result<void> written = co_await context.Write(std::move(entry));
    if (!written) {
      context.reporter.Report(written.error());
      context.step_failed = true;
    }
  }
  context.SetBase(std::move(rebuilt));
}

}  // namespace davit
