#include "engine/run/planner.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/model/goal_record.h"
#include "engine/model/provider_ref.h"
#include "engine/model/references.h"
#include "engine/run/apply_step.h"
#include "engine/run/carry_forward.h"
#include "engine/run/comparison.h"
#include "engine/run/dependent_deletes.h"
#include "engine/run/extensions.h"
#include "engine/run/plan_hold.h"
#include "engine/run/policies.h"
#include "engine/value/property_path.h"

namespace davit {
namespace {

std::shared_ptr<ResourceState> StateOf(const Registration& registration) {
  std::shared_ptr<ResourceState> state = RecordOfGoal(registration.goal, registration.urn);
  if (registration.is_read) {
    state->external = true;
    state->id = registration.read_id;
    state->inputs = registration.goal.properties;
  }
  return state;
}

Error At(const Urn& urn, int code, std::string message, std::string advice) {
  Error error = MakeError(ErrorKind::kInvalid, std::move(message), std::move(advice));
  error.urn = urn.text();
  error.code = code;
  return error;
}

std::string_view ImportedId(const ResourceState& old_state) {
  return old_state.import_id.empty() ? old_state.id : old_state.import_id;
}

}  // namespace

Result<void> Planner::Admit(const Registration& registration) {
  const Urn& urn = registration.urn;
  const Urn& parent = registration.goal.parent;
  if (!parent.empty() && !context_.seen.contains(parent)) {  // E43
    return Fail(At(urn,
                   2002,
                   fmt::format("the parent '{}' is not registered in this run", parent.text()),
                   "register the parent before its children"));
  }
  if (!context_.seen.insert(urn).second && !context_.carried_forward.contains(urn)) {  // E45
    return Fail(At(urn,
                   2001,
                   fmt::format("two resources have the URN '{}'", urn.text()),
                   "give one of them another name"));
  }
  return {};
}

// E49-E51.
void Planner::FindOld(Work& work) {
  const Urn& urn = work.registration.urn;
  const Goal& goal = work.registration.goal;
  const Urn claimant = context_.aliases.NewOf(urn);
  if (!claimant.empty()) {
    work.old_state = context_.Old(urn);
    work.conflict =
        At(urn,
           2016,
           fmt::format("the URN '{}' is already an alias of '{}'", urn.text(), claimant.text()),
           "remove the alias, or give the resource another name");
    return;
  }
  work.old_state = context_.Old(urn);
  if (work.old_state) {
    return;
  }
  for (const Urn& alias : context_.aliases.Resolve(urn, goal.parent, goal.aliases)) {
    const StatePtr found = context_.Old(alias);
    if (!found || found->urn.is_provider() != urn.is_provider()) {
      continue;  // what a provider is to others, no resource can take over, nor the other way round
    }
    const Urn other = context_.seen.contains(alias) ? alias : context_.aliases.NewOf(alias);
    if (!other.empty() && other != urn) {
      work.old_state = found;
      work.conflict =
          At(urn,
             2008,
             fmt::format(
                 "the alias '{}' of '{}' belongs to '{}'", alias.text(), urn.text(), other.text()),
             "remove the alias from one of them");
      return;
    }
    work.old_state = found;
    work.renamed_from = alias;
    return;
  }
}

Step Planner::StepFor(const Work& work, StepOp op) const {
  Step step;
  step.op = op;
  step.urn = work.registration.urn;
  step.old_state = work.old_state;
  step.new_state = work.state;
  step.provider = work.provider;
  step.renamed_from = work.renamed_from;
  return step;
}

Plan Planner::MakeSame(Work& work, bool is_skipped_create) {
  Plan plan;
  Step step = StepFor(work, StepOp::kSame);
  step.is_skipped_create = is_skipped_create;
  if (is_skipped_create) {
    context_.skipped_creates.insert(step.urn);
  }
  context_.logical_op[step.urn] = StepOp::kSame;
  plan.chain.push_back(std::move(step));
  return plan;
}

Result<Plan> Planner::MakeUntargeted(Work& work) {
  const Urn& urn = work.registration.urn;
  if (!work.old_state) {
    return MakeSame(work, true);  // E124
  }
  context_.untargeted.insert(urn);
  context_.logical_op[urn] = StepOp::kSame;
  // The answer is found under the URN that the program used.
  context_.matched[urn] = work.old_state;
  Plan plan;
  if (context_.claimed.contains(
          work.old_state.get())) {  // carried forward before its own registration
    context_.carried_forward.erase(urn);
    return plan;
  }
  const ResourceState& old_state = *work.old_state;
  const Result<ProviderRef> provider = ProviderRef::Parse(old_state.provider);
  const Urn serving = provider ? context_.aliases.Current(provider->urn) : Urn();
  if (provider &&
      (!context_.seen.contains(serving) || context_.replaced.contains(serving))) {  // E127
    return Fail(
        At(urn,
           2002,
           fmt::format("'{}' is not targeted and needs its provider '{}', which the program no "
                       "longer registers as it was",
                       urn.text(),
                       old_state.provider),
           "go back to the provider that it had, or target everything that changes its "
           "provider"));
  }
  DAVIT_TRY_VOID(CarryForward(context_, work.old_state, plan.chain));
  context_.carried_forward.erase(old_state.urn);
  return plan;
}

// E125.
Result<void> Planner::CheckSkippedDependencies(const Work& work) {
  std::vector<Urn> urns = DependenciesOf(*work.state);
  const Result<ProviderRef> provider = ProviderRef::Parse(work.state->provider);
  if (provider) {
    urns.push_back(provider->urn);
  }
  for (const Urn& urn : urns) {
    if (!context_.skipped_creates.contains(urn)) {
      continue;
    }
    Error error =
        At(work.state->urn,
           2013,
           fmt::format("'{}' depends on '{}', which is not targeted and does not exist yet",
                       work.state->urn.text(),
                       urn.text()),
           "target it too");
    if (!context_.preview) {
      return Fail(std::move(error));
    }
    context_.reporter.Report(error);
    context_.recorded_error = true;
    return {};
  }
  return {};
}

Task<Result<Plan>> Planner::MakeRead(Work& work) {
  const Registration& registration = work.registration;
  const std::vector<Urn> needs = DependenciesOf(*work.state);
  const bool is_pending = std::ranges::any_of(
      needs, [&](const Urn& urn) { return context_.skipped_creates.contains(urn); });
  if (context_.makes_nothing() && is_pending) {  // E149: what it depends on is not made
    work.old_state = nullptr;  // as for resources: what was not registered is kept, or deleted
    co_return MakeSame(work, true);
  }
  if (registration.read_id.empty()) {
    co_return Fail(At(
        registration.urn, 2002, "the id to read is empty", "give the id of an existing resource"));
  }
  DAVIT_CO_TRY(work.provider, co_await context_.EnsureProvider(work.state->provider));
  DAVIT_CO_TRY_VOID(co_await EnsureExtension(
      context_, work.provider, registration.goal.extension_ref, ExtensionUse::kRegistration));
  work.state->extension_ref.clear();  // recorded (extension-provider)
  const StatePtr& old_state = work.old_state;
  const bool replaces =
      old_state && !old_state->external && old_state->id != registration.read_id;  // E61
  Plan plan;
  Step step = StepFor(work, replaces ? StepOp::kReadReplacement : StepOp::kRead);
  context_.logical_op[registration.urn] = step.op;
  plan.chain.push_back(step);
  if (replaces) {
    context_.marked_records.insert(context_.BaseOf(old_state));
    context_.replaced.insert(registration.urn);
    step.op = StepOp::kReplace;
    plan.chain.push_back(std::move(step));
  }
  co_return plan;
}

// The object is read with the provider that the program gives it now (E148).
Task<Result<void>> Planner::PrepareRefresh(Work& work) {
  const Goal& goal = work.registration.goal;
  if (goal.custom && !work.registration.urn.is_provider() && !work.old_state->pending_replacement) {
    DAVIT_CO_TRY(work.provider, co_await context_.EnsureProvider(goal.provider));
  }
  co_return Result<void>();
}

// E148: the object as it really is, with what the program says beside its inputs (recorded); the
// registration goes on with it.
Plan Planner::MakeRefresh(Work& work) {
  Plan plan;
  Step step = StepFor(work, StepOp::kRefresh);
  step.new_state = std::make_shared<ResourceState>(*work.state);
  KeepObject(*step.new_state, *work.old_state);
  step.new_state->inputs = work.old_state->inputs;
  step.new_state->init_errors = work.old_state->init_errors;
  step.new_state->external = work.old_state->external;
  step.new_state->taint = work.old_state->taint;
  step.new_state->pending_replacement = work.old_state->pending_replacement;
  plan.chain.push_back(std::move(step));
  plan.resumes = true;
  return plan;
}

// E63-E65.
Plan Planner::MakeImport(Work& work) {
  Plan plan;
  const bool replaces = work.old_state && !work.is_recreated;
  Step step = StepFor(work, replaces ? StepOp::kImportReplacement : StepOp::kImport);
  step.new_state->import_id = work.registration.goal.import_id;
  plan.chain.push_back(step);
  if (replaces) {
    context_.marked_records.insert(context_.BaseOf(work.old_state));
    context_.replaced.insert(step.urn);
    step.op = StepOp::kReplace;
    plan.chain.push_back(std::move(step));
  }
  work.registration.was_imported = true;
  plan.resumes = true;
  return plan;
}

// Whether there are inputs of before that count (E68, E210).
bool Planner::ComparesInputs(const Work& work) {
  return work.old_state && !work.is_recreated && !work.old_state->external && !work.is_forced;
}

// ignoreChanges, then Check (E68, E74).
Task<Result<void>> Planner::CheckInputs(Work& work) {
  const Goal& goal = work.registration.goal;
  const Urn& urn = work.registration.urn;
  const bool compares = ComparesInputs(work);
  PropertyMap news = goal.properties;
  if (compares && !goal.ignore_changes.empty()) {
    std::vector<std::string> failed;
    news = ApplyIgnoreChanges(work.old_state->inputs, news, goal.ignore_changes, &failed);
    for (const std::string& path : failed) {
      context_.reporter.Log(Severity::kInfo,
                            fmt::format("ignoreChanges: the path '{}' could not be applied", path),
                            urn);
    }
  }
  if (!goal.custom) {
    work.state->inputs = std::move(news);
    co_return Result<void>();
  }
  // Named first: g++ 12 destroys a conditional temporary in an awaiting statement twice.
  const StatePtr compared = compares ? work.old_state : nullptr;
  DAVIT_CO_TRY(work.state->inputs,
               co_await CheckInputsOf(context_,
                                      urn,
                                      compared,
                                      std::move(news),
                                      work.provider,
                                      work.registration.seed,
                                      work.registration.ahead));
  co_return Result<void>();
}

// What has to happen before a record is replaced: permission, Check without olds, dependents.
Task<Result<void>> Planner::PrepareReplacement(Work& work,
                                               const DiffDecision& diff,
                                               StepRow row,
                                               Chain& chain) {
  const Urn& urn = work.registration.urn;
  const Goal& goal = work.registration.goal;
  const ResourceState& old_state = *work.old_state;
  if (!goal.import_id.empty()) {  // E66, E67
    std::string keys;
    for (const std::string& key : diff.keys) {
      keys += (keys.empty() ? "" : ", ") + key;
    }
    std::string message =
        fmt::format("'{}' has the option 'import' but would have to be replaced{}",
                    urn.text(),
                    keys.empty() ? "" : ": " + keys);
    if (!context_.preview) {
      co_return Fail(
          At(urn,
             2000,
             std::move(message),
             "make the program's values equal to those of the imported object, or remove the "
             "option once it is imported"));
    }
    context_.reporter.Warn(urn, message);
  }
  if (old_state.protect && work.state->protect &&
      !context_.request.options.ignore_protect) {  // E92
    Error error = MakeError(ErrorKind::kRefused,
                            fmt::format("'{}' must be replaced but is protected", urn.text()),
                            UnprotectAdvice(urn) + ", or undo the change");
    error.urn = urn.text();
    error.code = context_.preview ? 2005 : 2000;
    if (!context_.preview) {
      co_return Fail(std::move(error));
    }
    context_.reporter.Report(error);
    context_.recorded_error = true;
  }
  if (goal.custom && !work.is_forced) {  // E69
    DAVIT_CO_TRY(
        work.state->inputs,
        co_await CheckInputsOf(
            context_, urn, nullptr, goal.properties, work.provider, work.registration.seed));
    DAVIT_CO_TRY_VOID(co_await CorrectAgain(context_, work.state, goal));
  }
  context_.replaced.insert(urn);
  // One that is resumed only because an earlier run deleted it (E93) takes nobody along.
  const bool is_deleted = context_.deleted_records.contains(context_.BaseOf(work.old_state));
  if (row == StepRow::kReplaceDeleteFirst && !is_deleted && diff.replaces) {
    DAVIT_CO_TRY_VOID(co_await AddDependentDeletes(context_, chain, work.old_state));
  }
  co_return Result<void>();
}

Task<Result<Plan>> Planner::Decide(Work& work) {
  const Urn& urn = work.registration.urn;
  const Goal& goal = work.registration.goal;
  const StatePtr& old_state = work.old_state;
  const bool was_gone =
      old_state &&
      (old_state->pending_replacement ||
       (!work.is_recreated && context_.deleted_records.contains(context_.BaseOf(old_state))));
  StepQuestion question;
  question.old_state = old_state.get();
  question.was_deleted_first = work.is_recreated;
  question.is_gone = was_gone;
  question.delete_before_replace = goal.delete_before_replace;
  if (NameIsTaken(context_, work.registration, work.provider)) {
    question.delete_before_replace = true;
  }
  if (old_state && !work.is_recreated && !old_state->external) {
    DAVIT_CO_TRY(question.diff,
                 co_await CompareWithOld(context_,
                                         *work.state,
                                         old_state,
                                         work.provider,
                                         work.is_forced,
                                         work.registration.ahead));
  }
  const StepRow row = DecideStep(question);
  const bool replaces = row == StepRow::kReplaceCreateFirst || row == StepRow::kReplaceDeleteFirst;
  Plan plan;
  if (replaces && !was_gone && work.state->retain_on_delete && !old_state->retain_on_delete) {
    context_.reporter.Warn(
        urn,  // B029: what is stored decides
        "the old object will be deleted in spite of the new `retainOnDelete`; to "
        "keep it, run `davit up` with that option alone first");
  }
  if (replaces) {
    DAVIT_CO_TRY_VOID(co_await PrepareReplacement(work, question.diff, row, plan.chain));
  }
  if (row == StepRow::kReplaceCreateFirst || row == StepRow::kReplaceExternal) {
    context_.marked_records.insert(context_.BaseOf(old_state));
    context_.replaced.insert(urn);
  }
  if (row == StepRow::kSame && work.registration.was_imported) {
    co_return plan;  // D8: the import was all there was to do
  }
  Step step = StepFor(work, StepOp::kSame);
  step.keys = question.diff.keys;
  step.diffs = question.diff.diffs;
  step.detailed = question.diff.detailed;
  for (const StepOp op : OpsOf(row, was_gone)) {
    if (op == StepOp::kDeleteReplaced) {
      DAVIT_CO_TRY(Step own, co_await DeleteFirstStep(context_, old_state));
      plan.chain.push_back(std::move(own));
      context_.deleted.insert(old_state->urn);
      context_.deleted_records.insert(context_.BaseOf(old_state));
      continue;
    }
    Step planned = step;
    planned.op = op;
    if (op == StepOp::kSame) {
      planned.keys.clear();
      planned.diffs.clear();
      planned.detailed.reset();
    }
    if (op == StepOp::kCreateReplacement) {
      planned.removes_old = row == StepRow::kReplaceDeleteFirst || row == StepRow::kRecreate;
      if (row == StepRow::kRecreate) {
        planned.keys = context_.deleted_first.at(urn);
      }
    }
    plan.chain.push_back(std::move(planned));
  }
  StepOp logical = plan.chain.back().op;
  const bool recreates = replaces || row == StepRow::kRecreate || row == StepRow::kReplaceExternal;
  if (recreates || logical == StepOp::kCreate) {
    context_.made.insert(urn);
  }
  if (recreates) {
    logical = StepOp::kReplace;
  }
  context_.logical_op[urn] = logical;
  co_return plan;
}

Task<Result<Plan>> Planner::MakeFor(Work& work) {
  const Registration& registration = work.registration;
  const Goal& goal = registration.goal;
  const Urn& urn = registration.urn;
  const DeploymentOptions& options = context_.request.options;
  const bool is_provider = urn.is_provider();
  if (urn.is_root_stack()) {
    context_.root_stack = urn;
  }
  const bool is_selected = context_.selection.Includes(*work.state);
  if (!is_selected && !IsAlwaysIncluded(context_, urn, goal)) {
    if (options.mode == DeploymentMode::kRefresh && goal.custom && work.old_state) {
      context_.news.emplace(urn, work.old_state);  // E149: stays where it is
      co_return Plan();
    }
    if (work.conflict) {
      co_return Fail(*std::move(work.conflict));
    }
    if (!work.old_state || !context_.deleted_first.contains(urn)) {
      co_return MakeUntargeted(work);
    }
    work.is_recreated = true;  // E90: as it was
    work.state->inputs = work.old_state->inputs;
    DAVIT_CO_TRY(work.provider, co_await context_.EnsureProvider(goal.provider));
    co_return co_await Decide(work);
  }
  if (context_.carried_forward.erase(urn) > 0) {
    co_return Fail(
        At(urn,
           2001,
           fmt::format("'{}' is registered after a resource that is not targeted and depended "
                       "on it",
                       urn.text()),
           "target that resource too, or let the program register this one first"));
  }
  if (context_.makes_nothing() && work.old_state && work.old_state->custom != goal.custom) {
    work.old_state = nullptr;  // the other kind is no object of this one, and none is made
    work.renamed_from = Urn();
  }
  const bool refreshes =
      options.run_program && (options.mode == DeploymentMode::kRefresh ||
                              (options.refresh_first && !context_.makes_nothing()));
  if (refreshes && is_selected && work.old_state && !registration.is_resumed) {
    DAVIT_CO_TRY_VOID(co_await PrepareRefresh(work));
    co_return MakeRefresh(work);
  }
  if (context_.makes_nothing()) {  // E149, E153
    const std::vector<Urn> needs = DependenciesOf(*work.state);
    const bool is_pending = std::ranges::any_of(needs, [&](const Urn& dependency) {
      return context_.skipped_creates.contains(dependency);
    });
    if ((is_pending && (!work.old_state || !is_provider)) ||
        (!work.old_state && goal.custom && !is_provider)) {
      work.old_state = nullptr;  // an old record is what was not registered: kept, or deleted
      co_return MakeSame(work, true);
    }
    if (is_pending || (goal.custom && !is_provider)) {
      if (options.mode == DeploymentMode::kRefresh) {
        context_.news.emplace(urn, work.old_state);
        co_return Plan();
      }
      RewriteReferences(*work.state, [&](ReferenceKind, const Urn& named) {
        return context_.skipped_creates.contains(named) ? Urn() : named;
      });
      work.state->inputs = work.old_state->inputs;
      // What was only read is not ours to delete, nor is what is deleted already.
      work.state->external = work.old_state->external;
      work.state->pending_replacement =
          work.old_state->pending_replacement || context_.deleted_first.contains(urn);
      co_return MakeSame(work, false);
    }
  }
  Plan carried;
  if (context_.selection.is_constrained()) {
    DAVIT_CO_TRY_VOID(CarryDependencies(context_, *work.state, carried.chain));
  }
  if (goal.custom && !is_provider) {
    DAVIT_CO_TRY(work.provider, co_await context_.EnsureProvider(goal.provider));
    DAVIT_CO_TRY_VOID(co_await EnsureExtension(
        context_, work.provider, goal.extension_ref, ExtensionUse::kRegistration));
  }
  work.is_recreated = work.old_state && context_.deleted_first.contains(urn);
  work.is_forced = work.old_state && (work.old_state->taint || context_.forced.Names(urn));
  const bool imports = goal.custom && !is_provider && !goal.import_id.empty() &&
                       !registration.was_imported &&
                       !(work.old_state && !work.old_state->external &&
                         ImportedId(*work.old_state) == goal.import_id);
  Result<Plan> plan = Plan();
  if (imports) {
    DAVIT_CO_TRY_VOID(HoldImport(context_, registration, work.old_state));
    plan = MakeImport(work);
  } else {
    DAVIT_CO_TRY_VOID(co_await CheckInputs(work));
    if (work.conflict) {
      co_return Fail(*std::move(work.conflict));
    }
    DAVIT_CO_TRY_VOID(CheckSkippedDependencies(work));
    DAVIT_CO_TRY_VOID(
        HoldGoal(context_, registration, work.old_state, ComparesInputs(work), work.state->inputs));
    DAVIT_CO_TRY_VOID(co_await ApplyPolicies(context_, work.state, goal));
    plan = co_await Decide(work);
  }
  if (plan && !carried.chain.empty()) {
    carried.chain.insert(carried.chain.end(), plan->chain.begin(), plan->chain.end());
    plan->chain = std::move(carried.chain);
  }
  co_return plan;
}

Task<Result<Plan>> Planner::Make(Registration& registration) {
  Work work{registration, StateOf(registration), nullptr, Urn(), std::nullopt, nullptr};
  if (registration.is_resumed) {
    work.old_state = registration.old_state;
    co_return co_await MakeFor(work);
  }
  DAVIT_CO_TRY_VOID(Admit(registration));
  if (registration.seed.empty()) {
    registration.seed = SeedFor(context_, registration.urn);
  }
  FindOld(work);
  std::vector<Urn> needs = DependenciesOf(*work.state);
  const Result<ProviderRef> provider = ProviderRef::Parse(work.state->provider);
  if (provider) {
    needs.push_back(provider->urn);
  }
  const bool is_lost = std::ranges::any_of(
      needs, [&](const Urn& urn) { return context_.failed_or_skipped.contains(urn); });
  if (is_lost) {  // E30
    context_.failed_or_skipped.insert(registration.urn);
    if (work.old_state) {
      context_.claimed.insert(work.old_state.get());
      context_.matched[registration.urn] = work.old_state;
    }
    Plan plan;
    plan.is_skipped = true;
    co_return plan;
  }
  Result<Plan> plan = Plan();
  if (registration.is_read) {
    plan = co_await MakeRead(work);
  } else {
    plan = co_await MakeFor(work);
  }
  if (plan && work.old_state && !work.conflict) {
    const bool is_kept = !plan->chain.empty() && plan->chain.back().is_untargeted;
    context_.claimed.insert(work.old_state.get());
    context_.matched[registration.urn] = work.old_state;
    if (!work.renamed_from.empty() && !is_kept) {
      context_.aliases.Claim(work.renamed_from, registration.urn);
    }
  }
  co_return plan;
}

}  // namespace davit
