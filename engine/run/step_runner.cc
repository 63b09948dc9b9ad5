#include "engine/run/step_runner.h"

#include <fmt/format.h>

#include "engine/run/apply_step.h"
#include "engine/run/hooks.h"
#include "engine/run/views.h"

namespace davit {
namespace {

std::optional<OperationType> PendingOperationOf(const Step& step) {
  switch (step.op) {
    case StepOp::kCreate:
    case StepOp::kCreateReplacement:
      return OperationType::kCreating;
    case StepOp::kUpdate:
      return OperationType::kUpdating;
    case StepOp::kDelete:
    case StepOp::kDeleteReplaced:
    case StepOp::kDiscard:
    case StepOp::kDiscardReplaced:
      return OperationType::kDeleting;
    case StepOp::kRead:
    case StepOp::kReadReplacement:
      return OperationType::kReading;
    case StepOp::kImport:
    case StepOp::kImportReplacement:
      return OperationType::kImporting;
    case StepOp::kSame:
    case StepOp::kReplace:
    case StepOp::kRefresh:
    case StepOp::kRemovePendingReplace:
    case StepOp::kExtendParameterize:
      return std::nullopt;
  }
  return std::nullopt;
}

bool IsDelete(StepOp op) {
  return op == StepOp::kDelete || op == StepOp::kDeleteReplaced || op == StepOp::kDiscard ||
         op == StepOp::kDiscardReplaced;
}

// The record of a begun operation (S135): creates and updates have no id, outputs or times yet.
StatePtr BegunState(const Step& step) {
  if (IsDelete(step.op)) {
    return step.old_state;
  }
  auto state = std::make_shared<ResourceState>(*step.new_state);
  if (step.op != StepOp::kRead && step.op != StepOp::kReadReplacement) {
    state->id.clear();
  }
  state->outputs.clear();
  state->created.reset();
  state->modified.reset();
  return state;
}

JournalEntry EndEntry(RunContext& context,
                      const Step& step,
                      std::int64_t operation_id,
                      const StatePtr& stored) {
  JournalEntry entry;
  entry.kind = JournalKind::kSuccess;
  entry.operation_id = operation_id;
  std::optional<std::int64_t> old_index;      // the old record is one of the base,
  std::optional<std::int64_t> old_operation;  // or one that this run has added
  if (step.old_state) {
    const auto added = context.added_by.find(step.old_state.get());
    const auto base = context.base_index.find(step.old_state.get());
    if (added != context.added_by.end()) {
      old_operation = added->second;
    } else if (base != context.base_index.end()) {
      old_index = base->second;
    }
  }
  const auto remove = [&] {
    entry.remove_old = old_index;
    entry.remove_new = old_operation;
  };
  switch (step.op) {
    case StepOp::kSame:
      remove();
      entry.deferred =
          step.old_state && (stored == step.old_state || EqualForWriting(*step.old_state, *stored));
      break;
    case StepOp::kUpdate:
    case StepOp::kRead:
      remove();
      break;
    case StepOp::kRefresh:
      remove();
      entry.is_refresh = true;
      break;
    case StepOp::kCreate:
    case StepOp::kImport:
      break;
    case StepOp::kCreateReplacement:
    case StepOp::kReadReplacement:
    case StepOp::kImportReplacement:
      if (step.removes_old) {
        remove();
      } else {
        entry.delete_old = old_index;
        entry.delete_new = old_operation;
      }
      break;
    case StepOp::kDelete:
    case StepOp::kDeleteReplaced:
    case StepOp::kDiscard:
    case StepOp::kDiscardReplaced:
    case StepOp::kRemovePendingReplace:
      if (step.marks_pending) {
        entry.pending_replacement_old = old_index;
        entry.pending_replacement_new = old_operation;
      } else {
        remove();
      }
      break;
    case StepOp::kReplace:
    case StepOp::kExtendParameterize:
      break;
  }
  if (step.new_state) {
    entry.state = stored;
    entry.renamed_from = step.renamed_from;
  }
  return entry;
}

// What the step made known to the rest of the run.
void Publish(RunContext& context,
             const Step& step,
             const StatePtr& stored,
             std::int64_t operation_id) {
  if (step.op == StepOp::kReplace || step.is_skipped_create) {
    return;
  }
  if (step.op == StepOp::kRefresh) {
    context.refreshed[step.old_state.get()] = step.new_state ? stored : nullptr;
  }
  if (!step.new_state) {
    return;
  }
  if (!stored->view_of.empty()) {  // no other step asks for parts by their names
    context.added_by[stored.get()] = operation_id;
    return;
  }
  // An old copy that is carried over shares its URN with the record that replaced it.
  if (!stored->pending_delete && context.news.insert_or_assign(step.urn, stored).second) {
    context.news_order.push_back(step.urn);
  }
  context.added_by[stored.get()] = operation_id;
  context.plan_recorder.Outputs(step.urn, stored->outputs);
  if (step.op == StepOp::kRefresh) {
    context.origin[stored.get()] = step.old_state.get();
  }
}

bool WritesEnd(const Step& step) {
  return step.op != StepOp::kReplace && !step.is_skipped_create;
}

Error InitFailure(const Step& step) {
  std::string reasons;
  for (const std::string& reason : step.new_state->init_errors) {
    reasons += "\n  * " + reason;
  }
  return MakeError(ErrorKind::kFailed,
                   fmt::format("the resource was {} but did not become ready:{}",
                               step.op == StepOp::kUpdate ? "updated"
                               : step.op == StepOp::kRead ? "read"
                                                          : "created",
                               reasons),
                   "the next update tries again");
}

// ApplyStep, tried again as long as an error hook asks for it (E191).
Task<Result<void>> ApplyWithRetries(RunContext& context, Step& step) {
  std::vector<std::string> errors;
  while (true) {
    const Result<void> outcome = co_await ApplyStep(context, step);
    if (outcome || outcome.error().kind == ErrorKind::kRefused) {
      co_return outcome;
    }
    errors.insert(errors.begin(), outcome.error().message);
    if (static_cast<int>(errors.size()) == kMostAttempts) {
      context.reporter.Warn(step.urn, fmt::format("given up after {} attempts", kMostAttempts));
      co_return outcome;
    }
    DAVIT_CO_TRY(const bool retry, co_await RunErrorHooks(context, step, errors));
    if (!retry) {
      co_return outcome;
    }
  }
}

// The end of an operation that was begun and has failed.
Task<Result<void>> RecordFailure(RunContext& context, bool was_begun, std::int64_t operation_id) {
  if (!was_begun) {
    co_return Result<void>();
  }
  JournalEntry failure;
  failure.kind = JournalKind::kFailure;
  failure.operation_id = operation_id;
  co_return co_await context.Write(std::move(failure));
}

// `slot` is given for the last step of a chain; `stored` gets the record as it is afterwards.
Task<Result<void>> Execute(RunContext& context, Step& step, WorkerSlot* slot, StatePtr* stored) {
  const std::int64_t operation_id = ++context.last_operation;
  const std::optional<OperationType> pending = PendingOperationOf(step);
  if (pending) {
    JournalEntry begin;
    begin.kind = JournalKind::kBegin;
    begin.operation_id = operation_id;
    begin.operation = pending;
    begin.state = BegunState(step);
    DAVIT_CO_TRY_VOID(co_await context.Write(std::move(begin)));
  }
  Result<void> outcome;
  bool is_lost = false;  // nobody knows whether there is a new object now
  std::exception_ptr bug;
  try {
    outcome = co_await RunBeforeHooks(context, step);
    if (outcome) {
      outcome = co_await ApplyWithRetries(context, step);
      is_lost = !outcome && outcome.error().kind == ErrorKind::kUnavailable &&
                (step.op == StepOp::kCreate || step.op == StepOp::kCreateReplacement);
    }
  } catch (...) {
    bug = std::current_exception();
  }
  if (bug) {  // the step boundary: the step fails, the state is still saved
    try {
      std::rethrow_exception(bug);
    } catch (const std::exception& exception) {
      outcome = Fail(ErrorKind::kBug, exception.what());
    }
  }
  if (!outcome && is_lost && pending && !context.preview) {
    Error error = std::move(outcome).error();
    error.advice += error.advice.empty() ? "" : "; ";
    error.advice += "the object may exist all the same, so it stays a pending operation";
    co_return Fail(std::move(error));
  }
  if (!outcome) {
    DAVIT_CO_TRY_VOID(co_await RecordFailure(context, pending.has_value(), operation_id));
    co_return outcome;
  }
  if (slot != nullptr && context.request.options.parallel > 1) {
    slot->Free();
  }
  if (step.new_state && step.op != StepOp::kReplace && step.op != StepOp::kRefresh &&
      !step.is_untargeted) {
    MarkSecretOutputs(context, *step.new_state);
  }
  // Parts of what is deleted go before it, so that none is ever without its owner.
  if (IsDelete(step.op) || step.op == StepOp::kRemovePendingReplace) {
    AddUnreportedViews(context, step);
    if (!co_await RecordViews(context, step, nullptr)) {
      Error failed = MakeError(ErrorKind::kFailed, "a part of it could not be deleted");
      failed.reported = true;
      outcome = Fail(std::move(failed));
    }
  }
  if (!outcome) {
    DAVIT_CO_TRY_VOID(co_await RecordFailure(context, pending.has_value(), operation_id));
    co_return outcome;
  }
  DAVIT_CO_TRY(*stored, co_await RecordStep(context, step, operation_id));
  const bool may_be_unready = step.op == StepOp::kReplace || step.op == StepOp::kSame ||
                              step.op == StepOp::kRefresh || step.op == StepOp::kImport ||
                              step.op == StepOp::kImportReplacement;
  if (step.new_state && !step.new_state->init_errors.empty() && !may_be_unready) {
    co_return Fail(InitFailure(step));  // E34: stored, yet the run fails
  }
  co_return Result<void>();
}

// E193: what remains to be said of the parts once their owner's step is done. False: one failed.
Task<bool> EndViews(RunContext& context, Step& step, StatePtr stored) {
  if (step.is_skipped_create || (step.views.empty() && context.views_of.empty())) {
    co_return true;
  }
  AddUnreportedViews(context, step);
  co_return co_await RecordViews(context, step, std::move(stored));
}

// E217: a refresh that the program drives counts by what it found; in `up` it does not count.
void ReportRefresh(RunContext& context, const Step& step) {
  Step shown = step;
  if (context.request.options.mode == DeploymentMode::kRefresh) {
    const bool is_copy = !step.old_state->custom || step.urn.is_provider();
    shown.op = is_copy ? StepOp::kUpdate : step.result_op;
    if (!is_copy) {
      context.reporter.Count(shown.op, step.urn);
    }
  }
  context.reporter.OutputsRegistered(shown);
}

}  // namespace

Task<Result<StatePtr>> RecordStep(RunContext& context,
                                  const Step& step,
                                  std::int64_t operation_id) {
  StatePtr stored = step.new_state;
  if (step.old_state && step.new_state && *step.old_state == *step.new_state) {
    stored = step.old_state;  // nothing at all changed: the journal need not repeat it
  }
  if (WritesEnd(step)) {
    JournalEntry end = EndEntry(context, step, operation_id, stored);
    DAVIT_CO_TRY_VOID(co_await context.Write(std::move(end)));
  }
  Publish(context, step, stored, operation_id);
  co_return stored;
}

Task<bool> RunChain(RunContext& context, Chain& chain, WorkerSlot slot) {
  for (Step& step : chain) {
    if (context.stopped()) {
      co_return false;
    }
    context.reporter.Planned(step);
    StatePtr stored;
    const Result<void> done =
        co_await Execute(context, step, &step == &chain.back() ? &slot : nullptr, &stored);
    if (!done) {
      context.maybe_corrupt =
          context.maybe_corrupt || done.error().kind == ErrorKind::kOutcomeUnknown;
      context.reporter.Failed(step, done.error());
      if (step.old_state) {
        context.failed_olds.push_back(step.old_state);
      }
      for (const Step& planned : chain) {  // E94: what was not replaced stays
        if (&planned >= &step && planned.new_state && planned.old_state &&
            planned.new_state->init_errors.empty()) {
          context.marked_records.erase(context.BaseOf(planned.old_state));
        }
      }
      // E32: a delete that protection refused does not stop the others. E148: a registration whose
      // refresh failed cannot go on.
      const bool is_protection = done.error().kind == ErrorKind::kRefused;
      (is_protection                 ? context.recorded_error
       : step.op == StepOp::kRefresh ? context.generator_failed
                                     : context.step_failed) = true;
      co_return false;
    }
    if (step.op == StepOp::kRefresh) {
      ReportRefresh(context, step);
      step.counts_result = context.request.options.mode == DeploymentMode::kRefresh;
      if (!co_await EndViews(context, step, std::move(stored))) {
        context.generator_failed = true;
        co_return false;
      }
      continue;
    }
    // E216: a component is done when its outputs are registered, or deleted.
    const StatePtr shown = step.new_state ? StatePtr(step.new_state) : step.old_state;
    const bool is_component = !shown->custom && step.op != StepOp::kDelete;
    const bool is_uncounted =  // E40
        step.op == StepOp::kRead &&
        !(step.old_state && !(step.old_state->outputs == step.new_state->outputs));
    if (is_uncounted) {
      context.reporter.OutputsRegistered(step);
    } else {
      context.reporter.Done(step, context.preview || !is_component);
    }
    if (!co_await EndViews(context, step, std::move(stored))) {
      context.step_failed = true;
      co_return false;
    }
    if (is_component) {
      continue;  // E189: the hooks after it run when its outputs are registered
    }
    const Result<void> hooked = co_await RunAfterHooks(context, step);
    if (!hooked) {  // E188: the step stays committed, the run fails
      Error error = hooked.error();
      error.urn = step.urn.text();
      context.reporter.Report(error);
      context.step_failed = true;
      co_return false;
    }
  }
  co_return true;
}

Task<Result<void>> StoreOutputs(RunContext& context, Urn urn, PropertyMap outputs) {
  const auto at = context.news.find(urn);
  const bool is_elsewhere = context.untargeted.contains(urn) && at == context.news.end();
  if (context.skipped_creates.contains(urn) || context.failed_or_skipped.contains(urn) ||
      is_elsewhere) {
    co_return Result<void>();  // E22: accepted and ignored
  }
  if (at == context.news.end()) {
    co_return Fail(ErrorKind::kInvalid,
                   fmt::format("outputs were sent for '{}', which is not registered", urn.text()),
                   "register a component before its outputs, and send them once");
  }
  const auto op = context.logical_op.find(urn);
  if (op == context.logical_op.end()) {
    co_return Fail(ErrorKind::kInvalid,
                   fmt::format("the outputs of '{}' were sent twice", urn.text()),
                   "send the outputs of a component once");
  }
  StatePtr before = at->second;
  auto after = std::make_shared<ResourceState>(*before);
  after->outputs = std::move(outputs);
  Step step;
  step.op = op->second;
  step.urn = urn;
  const auto matched = context.matched.find(urn);
  step.old_state = matched == context.matched.end() ? nullptr : matched->second;
  step.new_state = after;
  context.logical_op.erase(op);
  const auto added = context.added_by.find(before.get());
  // The root stack's outputs come last: a destroy that ran the program has dropped its record by
  // then.
  const bool is_dropped = urn == context.root_stack && context.deleted.contains(urn);
  if (!(before->outputs == after->outputs) && added != context.added_by.end() && !is_dropped) {
    JournalEntry entry;
    entry.kind = JournalKind::kOutputs;
    entry.operation_id = ++context.last_operation;
    entry.remove_new = added->second;
    entry.state = after;
    const std::int64_t operation_id = added->second;
    DAVIT_CO_TRY_VOID(co_await context.Write(std::move(entry)));
    context.news[urn] = after;
    context.added_by[after.get()] = operation_id;
  }
  context.reporter.OutputsRegistered(step);
  const Result<void> hooked = co_await RunAfterHooks(context, step);  // E189
  co_return hooked;
}

}  // namespace davit
