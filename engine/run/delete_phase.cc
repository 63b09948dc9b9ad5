#include "engine/run/delete_phase.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/base/waiting.h"
#include "engine/model/provider_ref.h"
#include "engine/model/references.h"
#include "engine/run/carry_forward.h"
#include "engine/run/dependent_deletes.h"
#include "engine/run/plan_hold.h"
#include "engine/run/step_runner.h"

namespace davit {
namespace {

// The records that the phase looks at, with the graph over them.
struct Records {
  std::vector<StatePtr> list;
  std::vector<std::size_t> condemned;  // ascending
  std::set<std::size_t> replaced;      // of these, old copies that a replacement left
  std::vector<StatePtr> renamed;       // the list with the names that its records have now (E51)
  std::optional<RecordGraph> own_graph;
  const RecordGraph* graph = nullptr;
};

StepOp DeleteOp(const ResourceState& state, bool is_replacement) {  // E100
  if (state.external) {
    return is_replacement ? StepOp::kDiscardReplaced : StepOp::kDiscard;
  }
  return is_replacement ? StepOp::kDeleteReplaced : StepOp::kDelete;
}

// What a base record is now, after a refresh by the program; null: gone.
StatePtr StandIn(const RunContext& context, const StatePtr& base) {
  const auto at = context.refreshed.find(base.get());
  return at == context.refreshed.end() ? base : at->second;
}

// A record whose references name what has been renamed in this run by its new name.
StatePtr WithNewNames(const RunContext& context, const StatePtr& state) {
  ResourceState renamed = *state;
  RewriteReferences(renamed,
                    [&](ReferenceKind, const Urn& urn) { return context.aliases.Current(urn); });
  return renamed == *state ? state : std::make_shared<const ResourceState>(std::move(renamed));
}

// E24, E26, E153: which records go.
Records FindRecords(RunContext& context) {
  Records records;
  const bool destroys_news = context.request.options.mode == DeploymentMode::kDestroy;
  if (destroys_news) {
    for (const Urn& urn : context.news_order) {
      records.condemned.push_back(records.list.size());
      records.list.push_back(context.news.at(urn));
    }
  }
  const bool has_news = !records.list.empty();
  for (const StatePtr& base : context.base) {
    const bool is_claimed = context.claimed.contains(base.get());
    const bool is_marked = base->pending_delete || context.marked_records.contains(base.get());
    // Deleted first by a replacement whose own registration never came: only the record is left
    // (E90).
    const bool is_deleted = context.deleted_records.contains(base.get());
    const StatePtr state = StandIn(context, base);
    const bool goes = state && (base->view_of.empty() || context.lost_views.contains(base.get())) &&
                      (is_deleted ? !is_claimed : is_marked || !is_claimed);
    if (has_news && !goes) {
      continue;  // its place in the list is that of the new record
    }
    if (goes) {
      records.condemned.push_back(records.list.size());
      if (is_marked) {
        records.replaced.insert(records.list.size());
      }
    }
    records.list.push_back(state ? state : base);
  }
  if (has_news || !context.refreshed.empty()) {
    records.renamed = records.list;
    if (!context.aliases.empty()) {
      for (StatePtr& state : records.renamed) {
        state = WithNewNames(context, state);
      }
    }
    records.own_graph.emplace(records.renamed);
    records.graph = &*records.own_graph;
  } else {
    records.graph = &context.Graph();
  }
  return records;
}

// What directly or indirectly depends on `chosen` among `candidates`, children included; ascending.
std::vector<std::size_t> DependentsAmong(const RecordGraph& graph,
                                         const std::vector<std::size_t>& candidates,
                                         const std::set<std::size_t>& chosen) {
  std::vector<std::size_t> dependents;
  std::set<std::size_t> reached = chosen;
  for (const std::size_t index : candidates) {  // dependencies precede dependents
    if (reached.contains(index)) {
      continue;
    }
    const std::vector<std::size_t> needs = graph.DependenciesOf(index);
    if (std::ranges::any_of(needs, [&](std::size_t need) { return reached.contains(need); })) {
      reached.insert(index);
      dependents.push_back(index);
    }
  }
  return dependents;
}

// E129: of what goes, the records that are chosen, and what depends on a chosen record, lies below
// it or would be replaced with it, whether that one goes itself or not. False: refused.
Task<Result<bool>> ConstrainToTargets(RunContext& context, Records& records) {
  std::set<std::size_t> named;
  std::set<std::size_t> chosen;
  std::set<std::size_t> replaced_with;
  for (std::size_t index = 0; index < records.list.size(); ++index) {
    if (context.selection.targets().Names(records.list[index]->urn)) {
      named.insert(index);
    }
  }
  if (context.selection.includes_dependents()) {
    std::vector<std::size_t> all(records.list.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const std::vector<std::size_t> dependents = DependentsAmong(*records.graph, all, named);
    named.insert(dependents.begin(), dependents.end());
  }
  for (const std::size_t index : records.condemned) {
    if (named.contains(index)) {
      chosen.insert(index);
    }
  }
  for (const std::size_t index : named) {
    DAVIT_CO_TRY(std::vector<StatePtr> with_it,
                 co_await ReplacedWith(context, records.list[index]));
    for (const StatePtr& state : with_it) {
      const auto at = std::ranges::find_if(records.condemned, [&](std::size_t candidate) {
        return records.list[candidate] == state;
      });
      if (at != records.condemned.end()) {
        replaced_with.insert(*at);
      }
    }
  }
  std::set<std::size_t> reached = named;
  reached.insert(replaced_with.begin(), replaced_with.end());
  const std::vector<std::size_t> dependents =
      DependentsAmong(*records.graph, records.condemned, reached);
  replaced_with.insert(dependents.begin(), dependents.end());
  bool is_refused = false;
  for (const std::size_t index : replaced_with) {
    if (!chosen.insert(index).second) {
      continue;
    }
    if (context.selection.includes_dependents()) {
      continue;
    }
    Error error = MakeError(
        ErrorKind::kRefused,
        fmt::format("'{}' would have to be deleted with what it depends on, but it is not targeted",
                    records.list[index]->urn.text()),
        "target it too, or give --target-dependents");
    error.code = 2014;
    error.urn = records.list[index]->urn.text();
    context.reporter.Report(error);
    context.recorded_error = true;
    is_refused = true;
  }
  records.condemned.assign(chosen.begin(), chosen.end());
  co_return !is_refused || context.preview;
}

// E130: what is excluded stays, with all that it needs, and with --exclude-dependents all that
// depends on any of these, such as what shares a parent or a provider with it (recorded).
void ConstrainToExcludes(RunContext& context, Records& records) {
  std::vector<std::size_t> all(records.list.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::set<std::size_t> kept;
  for (const std::size_t index : all) {
    if (context.selection.excludes().Names(records.list[index]->urn)) {
      kept.insert(index);
    }
  }
  const auto keep_needed = [&] {
    kept.merge(records.graph->Reachable(std::vector<std::size_t>(kept.begin(), kept.end())));
  };
  keep_needed();
  if (context.selection.excludes_dependents()) {
    const std::vector<std::size_t> dependents = DependentsAmong(*records.graph, all, kept);
    kept.insert(dependents.begin(), dependents.end());
    keep_needed();
  }
  std::erase_if(records.condemned, [&](std::size_t index) { return kept.contains(index); });
}

// E24: what is not deleted and nothing has stepped is carried over. False: it cannot be.
Task<bool> CarryOthers(RunContext& context, const Records& records) {
  std::unordered_set<const ResourceState*> condemned;
  for (const std::size_t index : records.condemned) {
    condemned.insert(records.list[index].get());
  }
  Chain chain;
  const std::unordered_set<Urn> stepped = context.seen;
  for (const StatePtr& base : context.base) {
    if (stepped.contains(base->urn) || !base->view_of.empty() || condemned.contains(base.get()) ||
        context.claimed.contains(base.get()) || context.deleted_records.contains(base.get())) {
      continue;
    }
    const Result<void> carried = CarryForward(context, base, chain);
    if (!carried) {
      context.reporter.Report(carried.error());
      context.generator_failed = true;
      co_return false;
    }
  }
  WorkerSlot none;
  co_return co_await RunChain(context, chain, std::move(none));
}

Task<void> DeleteOne(RunContext& context,
                     std::shared_ptr<Chain> chain,
                     std::size_t index,
                     std::vector<std::size_t>* failed,
                     WorkerSlot slot) {
  const bool good = co_await RunChain(context, *chain, std::move(slot));
  if (!good) {
    failed->push_back(index);
  }
}

Task<Result<std::shared_ptr<Chain>>> PlanDelete(RunContext& context,
                                                const Records& records,
                                                std::size_t index) {
  const StatePtr state = records.list[index];
  Step step;
  step.urn = state->urn;
  step.old_state = state;
  step.is_replacement = records.replaced.contains(index);
  const bool is_gone =
      state->pending_replacement || context.deleted_records.contains(context.BaseOf(state));
  step.op = is_gone ? StepOp::kRemovePendingReplace : DeleteOp(*state, step.is_replacement);
  // S40: the provider of a record that is deleted already may be gone too; where it is there, it is
  // loaded (recorded).
  if (!is_gone || context.OldProvider(state->provider)) {
    DAVIT_CO_TRY(step.provider, co_await ProviderForOld(context, state));  // E28
  }
  if (is_gone) {
    context.reporter.Log(Severity::kInfo,  // B013: the step itself is internal (E40)
                         "was deleted before; only its record is dropped",
                         state->urn);
  } else {
    context.deleted.insert(state->urn);
  }
  auto chain = std::make_shared<Chain>();
  chain->push_back(std::move(step));
  co_return chain;
}

// E30: what the records of failed steps and of skipped registrations depend on stays.
std::vector<std::size_t> FailedRecords(const RunContext& context, const Records& records) {
  std::unordered_set<const ResourceState*> failed;
  for (const StatePtr& state : context.failed_olds) {
    failed.insert(state.get());
  }
  for (const Urn& urn : context.failed_or_skipped) {
    const auto old_state = context.matched.find(urn);
    if (old_state != context.matched.end()) {
      failed.insert(old_state->second.get());
    }
  }
  std::vector<std::size_t> indices;
  for (std::size_t index = 0; !failed.empty() && index < records.list.size(); ++index) {
    if (failed.contains(records.list[index].get())) {
      indices.push_back(index);
    }
  }
  return indices;
}

}  // namespace

Task<void> RunDeletePhase(RunContext& context) {
  Records records = FindRecords(context);
  bool is_refused = false;
  if (context.selection.has_targets()) {
    const Result<bool> allowed = co_await ConstrainToTargets(context, records);
    if (!allowed) {
      context.reporter.Report(allowed.error());
      context.generator_failed = true;
      co_return;
    }
    is_refused = !*allowed;
  } else if (context.selection.is_constrained()) {
    ConstrainToExcludes(context, records);
  }
  std::map<std::size_t, std::shared_ptr<Chain>> chains;
  for (const std::size_t index : records.condemned) {
    Result<std::shared_ptr<Chain>> chain = co_await PlanDelete(context, records, index);
    if (chain) {
      const Result<void> held = HoldSteps(context, **chain);
      if (!held) {
        chain = Fail(held.error());
      }
    }
    if (!chain) {
      Error error = std::move(chain).error();
      error.urn = records.list[index]->urn.text();
      context.reporter.Report(error);
      context.generator_failed = true;
      co_return;
    }
    chains.emplace(index, *std::move(chain));
  }
  if (is_refused ||
      (context.selection.is_constrained() && !co_await CarryOthers(context, records))) {
    co_return;
  }
  std::vector<std::size_t> failed = FailedRecords(context, records);
  for (const std::vector<std::size_t>& batch : records.graph->DeleteBatches(records.condemned)) {
    // E32: what a refused record depends on stays.
    const std::set<std::size_t> kept = records.graph->Reachable(failed);
    Scope scope(context.loop);
    for (const std::size_t index : batch) {
      if (context.stopped()) {
        break;
      }
      if (kept.contains(index)) {
        continue;
      }
      WorkerSlot slot = co_await context.AcquireWorker();
      scope.Spawn(DeleteOne(context, chains.at(index), index, &failed, std::move(slot)));
    }
    co_await scope.Join();
    if (context.stopped()) {
      break;
    }
  }
}

}  // namespace davit
