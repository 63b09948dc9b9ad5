#include "engine/run/views.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/run/step_runner.h"

namespace davit {
namespace {

bool IsViewDelete(StepOp op) {
  return op == StepOp::kDelete || op == StepOp::kDeleteReplaced || op == StepOp::kDiscard ||
         op == StepOp::kDiscardReplaced || op == StepOp::kRemovePendingReplace;
}

bool MakesView(StepOp op) {
  return op == StepOp::kCreate || op == StepOp::kRead || op == StepOp::kImport;
}

const std::vector<StatePtr>& ViewsOf(const RunContext& context, const StatePtr& owner) {
  static const std::vector<StatePtr> none;
  const auto at = context.views_of.find(owner.get());
  return owner == nullptr || at == context.views_of.end() ? none : at->second;
}

StatePtr FindView(const RunContext& context,
                  const StatePtr& owner,
                  const std::string& type,
                  const std::string& name) {
  const std::vector<StatePtr>& views = ViewsOf(context, owner);
  const auto at = std::ranges::find_if(views, [&](const StatePtr& view) {
    return view->urn.type() == type && view->urn.name() == name;
  });
  return at == views.end() ? nullptr : *at;
}

std::shared_ptr<ResourceState> RecordOf(const Step& owner, const Step& step, const View& view) {
  auto state = std::make_shared<ResourceState>();
  state->urn = step.urn;
  state->type = std::string(step.urn.type());
  state->parent = owner.urn;
  state->view_of = owner.urn;
  state->inputs = view.inputs;
  state->outputs = view.outputs;
  return state;
}

Step PartStep(const Step& owner, StepOp op, std::string_view type, std::string_view name) {
  Step step;
  step.op = op;
  step.result_op = op;
  if (owner.op == StepOp::kRefresh) {
    step.op = StepOp::kRefresh;
  }
  step.urn = Urn::Make(owner.urn.stack(), owner.urn.project(), owner.urn, type, name);
  return step;
}

// What is known before and after, or why the report makes no sense (E192).
Result<ReportedView> Interpret(const RunContext& context, const Step& owner, ViewStep report) {
  const View* named = report.old_view ? &*report.old_view : nullptr;
  if (report.type.empty() || report.name.empty()) {
    return Fail(ErrorKind::kInvalid, "a view needs a type and a name");
  }
  ReportedView result;
  result.error = std::move(report.error);
  result.is_partial = report.is_partial;
  Step& step = result.step;
  step = PartStep(owner, report.op, report.type, report.name);
  step.keys = std::move(report.keys);
  step.diffs = std::move(report.diffs);
  step.detailed = std::move(report.detailed);
  const bool needs_old = !MakesView(report.op);
  if (needs_old || named != nullptr) {
    step.old_state = FindView(context,
                              owner.old_state,
                              named != nullptr ? named->type : report.type,
                              named != nullptr ? named->name : report.name);
    if (!step.old_state) {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("'{}' is no view that '{}' had before",
                              named != nullptr ? named->name : report.name,
                              owner.urn.text()));
    }
  }
  if (IsViewDelete(report.op)) {
    return result;
  }
  if (!report.new_view && !step.old_state) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("the new state of view '{}' is missing", report.name));
  }
  const View kept =
      report.new_view ? View() : View{{}, {}, step.old_state->inputs, step.old_state->outputs};
  step.new_state = RecordOf(owner, step, report.new_view ? *report.new_view : kept);
  if (result.is_partial && step.old_state) {
    step.new_state->inputs = step.old_state->inputs;  // E34
  }
  return result;
}

// The old state is not there any more: another call of this run has reported that it went.
bool IsGone(const RunContext& context, const StatePtr& view) {
  return view && context.deleted_records.contains(view.get());
}

// A refresh of the state writes entries that keep the place of what they change (E138).
Task<Result<StatePtr>> RecordView(RunContext& context, const Step& owner, Step& step) {
  const std::int64_t operation = ++context.last_operation;
  const auto base = context.base_index.find(step.old_state.get());
  const bool is_in_place = owner.op == StepOp::kRefresh && owner.keeps_place &&
                           (!step.old_state || base != context.base_index.end());
  if (!is_in_place) {
    co_return co_await RecordStep(context, step, operation);
  }
  JournalEntry entry;
  entry.kind = JournalKind::kRefreshSuccess;
  entry.operation_id = operation;
  entry.is_refresh = true;
  entry.state = step.new_state;
  if (step.old_state) {
    entry.remove_old = base->second;
  } else {
    context.found_views.push_back(step.new_state);
  }
  DAVIT_CO_TRY_VOID(co_await context.Write(std::move(entry)));
  co_return StatePtr(step.new_state);
}

// E217: in a refresh of the state a part counts by what was found, elsewhere it does not count.
void ReportDone(RunContext& context, const Step& owner, const Step& step) {
  if (step.op != StepOp::kRefresh) {
    context.reporter.Done(step, true);
    return;
  }
  Step shown = step;
  if (owner.counts_result) {
    shown.op = step.result_op;
    context.reporter.CountPart(shown.op);
  }
  context.reporter.OutputsRegistered(shown);
}

void AddUnreported(RunContext& context, Step& owner, StepOp op, const StatePtr& view) {
  ReportedView added;
  Step& step = added.step;
  step = PartStep(owner, op, view->urn.type(), view->urn.name());
  step.old_state = view;
  if (op == StepOp::kSame) {
    step.new_state = std::make_shared<ResourceState>(*view);
    step.new_state->urn = step.urn;
    step.new_state->parent = owner.urn;
    step.new_state->view_of = owner.urn;
    if (step.urn != view->urn) {
      step.renamed_from = view->urn;
    }
  } else {
    step.urn = view->urn;
  }
  context.reporter.Planned(step);
  owner.views.push_back(std::move(added));
}

}  // namespace

std::vector<View> OldViews(const RunContext& context, const StatePtr& owner) {
  std::vector<View> views;
  for (const StatePtr& view : ViewsOf(context, owner)) {
    if (!IsGone(context, view)) {
      views.push_back(View{std::string(view->urn.type()),
                           std::string(view->urn.name()),
                           view->inputs,
                           view->outputs});
    }
  }
  return views;
}

ViewReports::ViewReports(RunContext& context, Step& owner)
    : context_(context), token_(context.request.ids->NewUuid()) {
  owner.views.clear();
  if (context_.request.views == nullptr) {
    return;
  }
  context_.request.views->Open(
      token_, [&context, &owner](std::vector<ViewStep> reports) -> Result<void> {
        std::vector<ReportedView> taken;
        for (ViewStep& report : reports) {
          DAVIT_TRY(ReportedView view, Interpret(context, owner, std::move(report)));
          taken.push_back(std::move(view));
        }
        for (ReportedView& view : taken) {
          context.reporter.Planned(view.step);
          owner.views.push_back(std::move(view));
        }
        return {};
      });
}

ViewReports::~ViewReports() {
  if (context_.request.views != nullptr) {
    context_.request.views->Close(token_);
  }
}

void AddUnreportedViews(RunContext& context, Step& owner) {
  const bool is_gone = IsViewDelete(owner.op) || (owner.op == StepOp::kRefresh && !owner.new_state);
  if (!is_gone && owner.op != StepOp::kSame) {
    return;
  }
  const std::vector<StatePtr> views = ViewsOf(context, owner.old_state);
  for (const StatePtr& view : views) {
    const bool is_reported = std::ranges::any_of(
        owner.views, [&](const ReportedView& reported) { return reported.step.old_state == view; });
    if (!is_reported && !IsGone(context, view)) {
      AddUnreported(context, owner, is_gone ? StepOp::kDelete : StepOp::kSame, view);
    }
  }
}

Task<bool> RecordViews(RunContext& context, Step& owner, StatePtr stored) {
  bool is_good = true;
  // A new object begins with what is reported of it; elsewhere the other parts stay.
  const bool is_new = owner.op == StepOp::kCreate || owner.op == StepOp::kCreateReplacement ||
                      owner.op == StepOp::kReadReplacement ||
                      owner.op == StepOp::kImportReplacement;
  std::vector<StatePtr> now = is_new ? std::vector<StatePtr>() : ViewsOf(context, owner.old_state);
  for (ReportedView& view : owner.views) {
    Step& step = view.step;
    if (!view.error.empty() && !view.is_partial) {
      context.reporter.Failed(step, MakeError(ErrorKind::kFailed, view.error));
      is_good = false;
      continue;
    }
    if (step.op != StepOp::kReplace) {
      const StatePtr before = step.old_state;
      if (IsGone(context, before)) {
        step.old_state = nullptr;
      }
      const Result<StatePtr> recorded = co_await RecordView(context, owner, step);
      if (!recorded) {
        context.reporter.Failed(step, recorded.error());
        is_good = false;
        continue;
      }
      std::erase(now, before);
      if (*recorded) {
        now.push_back(*recorded);
      } else if (!owner.keeps_place) {
        context.deleted_records.insert(before.get());
      }
    }
    if (!view.error.empty()) {
      context.reporter.Failed(step, MakeError(ErrorKind::kFailed, view.error));
      is_good = false;
      continue;
    }
    ReportDone(context, owner, step);
  }
  owner.views.clear();
  if (stored && !now.empty()) {
    context.views_of[stored.get()] = std::move(now);
  }
  co_return is_good;
}

}  // namespace davit
