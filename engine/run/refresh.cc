#include "engine/run/refresh.h"

#include "engine/base/waiting.h"
#include "engine/run/read_back.h"
#include "engine/run/views.h"

namespace davit {
namespace {

struct Outcome {
  StatePtr state;  ///< null: the resource is gone
};

// What became of the parts that are reported to have changed or gone.
void NoteViews(const RunContext& context, const Step& owner, std::vector<Outcome>* outcomes) {
  for (const ReportedView& view : owner.views) {
    if (!view.error.empty() && !view.is_partial) {
      continue;
    }
    const auto at = context.base_index.find(view.step.old_state.get());
    if (at != context.base_index.end()) {
      (*outcomes)[static_cast<std::size_t>(at->second)].state = view.step.new_state;
    }
  }
}

Task<void> RefreshOne(RunContext& context,
                      std::size_t index,
                      bool is_standalone,
                      std::vector<Outcome>* outcomes,
                      WorkerSlot) {
  Step step;
  step.op = StepOp::kRefresh;
  step.urn = context.base[index]->urn;
  step.old_state = context.base[index];
  step.new_state = std::make_shared<ResourceState>(*step.old_state);
  step.keeps_place = true;
  step.counts_result = is_standalone;
  context.reporter.Planned(step);
  Outcome& outcome = (*outcomes)[index];
  Result<StepOp> op = co_await ReadBack(context, step);
  if (op) {
    outcome.state = step.new_state;
    if (step.new_state && *step.new_state == *step.old_state) {
      outcome.state = step.old_state;
    }
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
    step.op = StepOp::kRefresh;
    AddUnreportedViews(context, step);
    NoteViews(context, step, outcomes);
    if (!co_await RecordViews(context, step, outcome.state)) {
      context.recorded_error = true;
    }
  }
}

// B043: only the program can compute the stack's outputs anew.
void TellOfStackOutputs(RunContext& context, const std::vector<Outcome>& outcomes) {
  bool has_outputs = false;
  bool has_changed = false;
  for (std::size_t index = 0; index < outcomes.size(); ++index) {
    const ResourceState& before = *context.base[index];
    const StatePtr& after = outcomes[index].state;
    has_outputs = has_outputs || (before.type == kRootStackType && !before.outputs.empty());
    has_changed = has_changed || !after || !(after->outputs == before.outputs);
  }
  if (has_outputs && has_changed) {
    context.reporter.Log(Severity::kInfo,
                         "the stack outputs are left as they were; `davit refresh --run-program` "
                         "computes them anew",
                         Urn());
  }
}

}  // namespace

Task<void> RunRefresh(RunContext& context, RefreshScope which) {
  const bool is_standalone = which == RefreshScope::kStandalone;
  Selection selection = context.selection;  // the program's own selection starts anew
  std::vector<Outcome> outcomes(context.base.size());
  Scope scope(context.loop);
  for (std::size_t index = 0; index < context.base.size(); ++index) {
    outcomes[index].state = context.base[index];
  }
  for (std::size_t index = 0; index < context.base.size(); ++index) {
    const ResourceState& state = *context.base[index];
    if (context.cancelled || !state.view_of.empty() || !selection.Includes(state) ||
        (which == RefreshScope::kMarked && !state.refresh_before_update)) {
      continue;
    }
    WorkerSlot slot = co_await context.AcquireWorker();
    if (context.cancelled) {
      break;
    }
    scope.Spawn(RefreshOne(context, index, is_standalone, &outcomes, std::move(slot)));
  }
  co_await scope.Join();
  if (is_standalone) {
    TellOfStackOutputs(context, outcomes);
  }
  std::vector<StatePtr> rebuilt;
  for (const Outcome& outcome : outcomes) {
    if (outcome.state) {
      rebuilt.push_back(outcome.state);
    }
  }
  rebuilt.insert(rebuilt.end(), context.found_views.begin(), context.found_views.end());
  CleanReferences(rebuilt);
  JournalEntry entry;
  entry.kind = JournalKind::kRebuiltBase;
  entry.operation_id = ++context.last_operation;
  const Result<void> written = co_await context.Write(std::move(entry));
  if (!written) {
    context.reporter.Report(written.error());
    context.step_failed = true;
  }
  context.SetBase(std::move(rebuilt));
}

Task<void> RefreshUnregistered(RunContext& context) {
  Selection selection = context.selection;
  std::vector<Outcome> outcomes(context.base.size());
  Scope scope(context.loop);
  for (std::size_t index = 0; index < context.base.size(); ++index) {
    const StatePtr& base = context.base[index];
    if (context.cancelled || context.claimed.contains(base.get()) || !base->view_of.empty() ||
        base->pending_delete || !selection.Includes(*base)) {
      continue;
    }
    WorkerSlot slot = co_await context.AcquireWorker();
    if (context.cancelled) {
      break;
    }
    scope.Spawn(RefreshOne(context, index, true, &outcomes, std::move(slot)));
  }
  co_await scope.Join();
}

}  // namespace davit
