#include "engine/run/dependent_deletes.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/model/provider_ref.h"
#include "engine/plan/provider_inputs.h"
#include "engine/run/apply_step.h"
#include "engine/run/extensions.h"

namespace davit {
namespace {

// E89, against the set of URNs replaced so far; `keys` gets the names that its own diff gave.
Task<Result<bool>> RequiresReplacement(RunContext& context,
                                       StatePtr candidate,
                                       const std::set<Urn>& replaced,
                                       std::vector<std::string>* keys) {
  if (!candidate->custom) {
    co_return false;
  }
  // Read records too: nothing may name a provider that is gone, not even until it is read again.
  const Result<ProviderRef> reference = ProviderRef::Parse(candidate->provider);
  if (reference && replaced.contains(reference->urn)) {
    co_return true;
  }
  if (candidate->external) {
    co_return false;
  }
  if (!candidate->deleted_with.empty() && replaced.contains(candidate->deleted_with)) {
    co_return true;
  }
  PropertyMap inputs = candidate->inputs;
  bool is_fed = false;
  for (const auto& [key, urns] : candidate->property_dependencies) {
    const bool depends =
        std::ranges::any_of(urns, [&](const Urn& urn) { return replaced.contains(urn); });
    const auto at = inputs.find(key);
    if (depends && at != inputs.end()) {
      at->second = Unknown();
      is_fed = true;
    }
  }
  if (!is_fed) {
    co_return false;
  }
  DiffRequest request;
  request.id = candidate->id;
  request.urn = candidate->urn;
  request.old_inputs = candidate->inputs;
  request.old_outputs = candidate->outputs;
  request.new_inputs = inputs;
  request.ignore_changes = candidate->ignore_changes;
  request.allow_unknowns = true;
  Result<DiffResponse> response = DiffResponse();
  if (candidate->urn.is_provider()) {
    const std::string own = ProviderRef{candidate->urn, candidate->id}.Text();
    DAVIT_CO_TRY(InstancePtr instance, co_await context.providers.Ensure(own, candidate));
    request.old_inputs = WithoutInternal(request.old_inputs);
    request.new_inputs = WithoutInternal(request.new_inputs);
    response = co_await instance->provider->DiffConfig(std::move(request), CancelToken());
    if (!response && response.error().kind == ErrorKind::kUnimplemented) {
      co_return false;
    }
  } else {
    DAVIT_CO_TRY(InstancePtr instance, co_await ProviderForOld(context, candidate));
    bool unavailable = false;
    response = co_await DiffResource(instance, std::move(request), &unavailable, CancelToken());
  }
  if (!response) {
    co_return Fail(std::move(response).error());
  }
  DiffDecision decision =
      InterpretDiff(*response, candidate->inputs, inputs, candidate->ignore_changes);
  ApplyReplaceOnChanges(decision, candidate->replace_on_changes, !candidate->init_errors.empty());
  *keys = decision.keys;
  co_return decision.replaces;
}

}  // namespace

Task<Result<InstancePtr>> ProviderForOld(RunContext& context, StatePtr state) {
  if (!state->custom || state->urn.is_provider() || state->provider.empty()) {
    co_return InstancePtr();
  }
  DAVIT_CO_TRY(InstancePtr provider, co_await context.EnsureProvider(state->provider));
  DAVIT_CO_TRY_VOID(
      co_await EnsureExtension(context, provider, state->extension_ref, ExtensionUse::kRecord));
  co_return provider;
}

Task<Result<Step>> DeleteFirstStep(RunContext& context, StatePtr old_state) {
  Step step;
  step.op = old_state->external ? StepOp::kDiscardReplaced : StepOp::kDeleteReplaced;
  step.urn = old_state->urn;
  step.is_replacement = true;
  step.marks_pending = true;
  DAVIT_CO_TRY(step.provider, co_await ProviderForOld(context, old_state));
  step.old_state = std::move(old_state);
  co_return step;
}

namespace {

struct Cascade {
  std::vector<StatePtr> records;                       ///< (a) of E88, in order
  std::map<Urn, std::vector<std::string>> keys;        ///< the names that their own diffs gave
};

Task<Result<Cascade>> FindCascade(RunContext& context, StatePtr old_state) {
  Cascade cascade;
  const auto found = context.base_index.find(context.BaseOf(old_state));
  if (found == context.base_index.end()) {
    co_return cascade;  // imported in this run: nothing in the state depends on it
  }
  std::set<Urn> replaced{old_state->urn};
  for (const std::size_t index :
       context.Graph().DependentsOf(static_cast<std::size_t>(found->second))) {
    const StatePtr candidate = context.base[index];
    if (candidate->pending_delete || context.claimed.contains(candidate.get()) ||
        context.deleted_records.contains(candidate.get())) {
      continue;
    }
    std::vector<std::string> keys;
    DAVIT_CO_TRY(bool requires_it,
                 co_await RequiresReplacement(context, candidate, replaced, &keys));
    if (requires_it) {
      replaced.insert(candidate->urn);
      cascade.records.push_back(candidate);
      cascade.keys[candidate->urn] = std::move(keys);
    }
  }
  co_return cascade;
}

}  // namespace

Task<Result<std::vector<StatePtr>>> ReplacedWith(RunContext& context, StatePtr old_state) {
  DAVIT_CO_TRY(Cascade cascade, co_await FindCascade(context, std::move(old_state)));
  co_return std::move(cascade.records);
}

Task<Result<void>> AddDependentDeletes(RunContext& context, Chain& chain, StatePtr old_state) {
  DAVIT_CO_TRY(Cascade cascade, co_await FindCascade(context, old_state));
  const std::vector<StatePtr>& condemned = cascade.records;
  std::vector<StatePtr> order;
  for (const std::size_t tied_index : context.Graph().TiedTo(old_state->urn)) {  // (b)
    const StatePtr tied = context.base[tied_index];
    const bool is_listed = std::ranges::find(condemned, tied) != condemned.end();
    if (!is_listed && !tied->pending_delete && !context.claimed.contains(tied.get()) &&
        !context.deleted_records.contains(tied.get())) {
      order.push_back(tied);
    }
  }
  order.insert(order.end(), condemned.rbegin(), condemned.rend());
  for (const StatePtr& dependent : order) {
    if (dependent->pending_replacement) {
      continue;  // deleted in an earlier run already
    }
    if (dependent->protect && !context.request.options.ignore_protect) {  // E91
      co_return Fail(ErrorKind::kRefused,
                     fmt::format("'{}' must be replaced by deleting it first, but '{}', which "
                                 "would be deleted with it, is "
                                 "protected",
                                 old_state->urn.text(),
                                 dependent->urn.text()),
                     UnprotectAdvice(dependent->urn));
    }
    DAVIT_CO_TRY(Step step, co_await DeleteFirstStep(context, dependent));
    chain.push_back(std::move(step));
    context.deleted.insert(dependent->urn);
    context.deleted_records.insert(dependent.get());
    context.replaced.insert(dependent->urn);
    context.deleted_first[dependent->urn] = cascade.keys[dependent->urn];
  }
  co_return Result<void>();
}

}  // namespace davit
