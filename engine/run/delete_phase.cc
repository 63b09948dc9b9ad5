#include "engine/run/delete_phase.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/run/dependent_deletes.h"
#include "engine/run/step_runner.h"

namespace davit {
namespace {

struct Condemned {
  std::size_t index;
  Step step;
};

StepOp DeleteOp(const ResourceState& state, bool is_replacement) {  // E100
  if (state.external) {
    return is_replacement ? StepOp::kDiscardReplaced : StepOp::kDiscard;
  }
  return is_replacement ? StepOp::kDeleteReplaced : StepOp::kDelete;
}

// E24: which records go, and how.
std::vector<std::size_t> FindCondemned(const RunContext& context) {
  std::vector<std::size_t> condemned;
  for (std::size_t index = 0; index < context.base.size(); ++index) {
    const ResourceState& state = *context.base[index];
    if (!state.view_of.empty() || context.deleted_records.contains(&state)) {
      // Deleted first by a replacement whose own registration never came: only the record is left
      // (E90).
      const bool is_stranded =
          context.deleted_records.contains(&state) && !context.seen.contains(state.urn);
      if (!is_stranded) {
        continue;
      }
    }
    const bool goes = state.pending_delete || context.marked_records.contains(&state) ||
                      !context.seen.contains(state.urn);
    if (goes) {
      condemned.push_back(index);
    }
  }
  return condemned;
}

// E129: the chosen records and everything that depends on them or lies below them.
Result<std::vector<std::size_t>> Constrain(RunContext& context,
                                           const std::vector<std::size_t>& condemned) {
  std::set<std::size_t> chosen;
  const std::set<std::size_t> all(condemned.begin(), condemned.end());
  for (const std::size_t index : condemned) {
    if (context.targets.Contains(context.base[index]->urn)) {
      chosen.insert(index);
    }
  }
  std::vector<std::size_t> open(chosen.begin(), chosen.end());
  std::map<std::size_t, std::vector<std::size_t>> dependents;
  for (const std::size_t index : all) {
    for (const std::size_t dependency : context.Graph().DependenciesOf(index)) {
      dependents[dependency].push_back(index);
    }
  }
  while (!open.empty()) {
    const std::size_t current = open.back();
    open.pop_back();
    for (const std::size_t other : dependents[current]) {
      if (!chosen.insert(other).second) {
        continue;
      }
      const Urn& urn = context.base[other]->urn;
      if (!context.targets.Contains(urn)) {  // 2014
        Error error = MakeError(
            ErrorKind::kRefused,
            fmt::format(
                "'{}' would have to be deleted because it depends on '{}', but it is not targeted",
                urn.text(),
                context.base[current]->urn.text()),
            "target it too, or leave out what it depends on");
        error.code = 2014;
        error.urn = urn.text();
        return Fail(std::move(error));
      }
      open.push_back(other);
    }
  }
  return std::vector<std::size_t>(chosen.begin(), chosen.end());
}

Task<void> DeleteOne(RunContext& context,
                     std::shared_ptr<Chain> chain,
                     std::size_t index,
                     std::vector<std::size_t>* failed) {
  const bool good = co_await RunChain(context, *chain);
  context.workers.Release();
  if (!good) {
    failed->push_back(index);
  }
}

}  // namespace

Task<void> RunDeletePhase(RunContext& context) {
  std::vector<std::size_t> condemned = FindCondemned(context);
  if (context.targets.is_constrained()) {
    Result<std::vector<std::size_t>> chosen = Constrain(context, condemned);
    if (!chosen) {
      context.reporter.Report(chosen.error());
      context.generator_failed = true;
      co_return;
    }
    condemned = *std::move(chosen);
  }
  std::map<std::size_t, std::shared_ptr<Chain>> chains;
  for (const std::size_t index : condemned) {
    const StatePtr state = context.base[index];
    Step step;
    step.urn = state->urn;
    step.old_state = state;
    step.is_replacement = state->pending_delete || context.marked_records.contains(state.get());
    const bool is_gone =
        state->pending_replacement || context.deleted_records.contains(state.get());
    step.op = is_gone ? StepOp::kRemovePendingReplace : DeleteOp(*state, step.is_replacement);
    if (!is_gone) {
      Result<InstancePtr> provider = co_await ProviderForOld(context, state);  // E28
      if (!provider) {
        Error error = std::move(provider).error();
        error.urn = state->urn.text();
        context.reporter.Report(error);
        context.generator_failed = true;
        co_return;
      }
      step.provider = *std::move(provider);
      context.deleted.insert(state->urn);
    }
    auto chain = std::make_shared<Chain>();
    chain->push_back(std::move(step));
    chains.emplace(index, std::move(chain));
  }
  std::vector<std::size_t> failed;
  for (const std::vector<std::size_t>& batch : context.Graph().DeleteBatches(condemned)) {
    // E32: what a refused record depends on stays.
    const std::set<std::size_t> kept = context.Graph().Reachable(failed);
    Scope scope(context.loop);
    for (const std::size_t index : batch) {
      if (context.stopped()) {
        break;
      }
      if (kept.contains(index)) {
        continue;
      }
      co_await context.workers.Acquire();
      scope.Spawn(DeleteOne(context, chains.at(index), index, &failed));
    }
    co_await scope.Join();
    if (context.stopped()) {
      break;
    }
  }
}

}  // namespace davit
