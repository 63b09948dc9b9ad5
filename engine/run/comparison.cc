#include "engine/run/comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/model/provider_ref.h"
#include "engine/plan/decide_step.h"
#include "engine/plan/provider_inputs.h"
#include "engine/run/planner.h"
#include "engine/value/property_path.h"

namespace davit {

Error CheckFailureError(const Urn& urn, const CheckFailure& failure, const PropertyMap& inputs) {
  Error error;
  error.kind = ErrorKind::kInvalid;
  error.urn = urn.text();
  error.code = failure.property.empty() ? 2002 : 2003;
  if (failure.property.empty()) {
    error.message = failure.reason;
  } else {
    const Result<PropertyPath> path = PropertyPath::Parse(failure.property);
    const std::optional<PropertyValue> value = path ? path->Get(inputs) : std::nullopt;
    error.message =
        fmt::format("property '{}'{}: {}",
                    failure.property,
                    value ? fmt::format(" (its value is {})", DebugText(*value)) : std::string(),
                    failure.reason);
  }
  return error;
}

Task<Result<PropertyMap>> CheckInputsOf(RunContext& context,
                                        Urn urn,
                                        StatePtr old_state,
                                        PropertyMap news,
                                        InstancePtr provider,
                                        std::string seed,
                                        std::shared_ptr<LookAhead> ahead) {
  std::vector<std::string> warnings;
  Result<CheckResponse> response = CheckResponse();
  if (urn.is_provider()) {
    const CheckInputs olds = PrepareCheck(old_state.get(), false, false);
    response = co_await context.providers.Check(urn, olds.olds, std::move(news), &warnings);
  } else {
    bool is_answered = false;
    if (ahead && ahead->old_state == old_state && ahead->provider == provider &&
        ahead->news == news) {
      const Result<CheckResponse>& answer = co_await ahead->check.Wait();
      is_answered = !ahead->was_skipped;
      if (is_answered) {
        response = answer;
      }
    }
    if (!is_answered) {
      CheckRequest request = CheckRequestFor(
          context, urn, old_state, std::move(news), *provider->provider, std::move(seed));
      response = co_await CheckResource(provider, std::move(request), CancelToken());
    }
  }
  for (const std::string& warning : warnings) {
    context.reporter.Warn(urn, warning);
  }
  if (!response) {
    co_return Fail(std::move(response).error());
  }
  for (const CheckFailure& failure : response->failures) {  // E72, P78
    context.reporter.Report(CheckFailureError(urn, failure, response->inputs));
  }
  if (!response->failures.empty()) {
    Error bail = MakeError(ErrorKind::kInvalid, "the resource is not valid");
    bail.reported = true;
    co_return Fail(std::move(bail));
  }
  co_return std::move(response->inputs);
}

namespace {

// E82: whether another provider means another resource.
Task<Result<std::optional<DiffDecision>>> ProviderChange(RunContext& context,
                                                         const ResourceState& state,
                                                         StatePtr old_state) {
  std::optional<DiffDecision> decision;
  if (state.provider == old_state->provider) {
    co_return decision;
  }
  const Result<ProviderRef> before = ProviderRef::Parse(old_state->provider);
  const Result<ProviderRef> after = ProviderRef::Parse(state.provider);
  if (before && after && context.aliases.NewOf(before->urn) == after->urn) {
    co_return decision;  // the same provider under another name
  }
  DiffDecision replace;
  replace.has_changes = true;
  replace.replaces = true;
  replace.keys = {"provider"};
  if (state.provider.empty() || old_state->provider.empty()) {
    decision = std::move(replace);
    co_return decision;
  }
  const Result<ProviderRef>& reference = after;
  const StatePtr old_provider = context.OldProvider(old_state->provider);
  const InstancePtr instance = context.providers.Find(state.provider);
  if (!reference || !old_provider || !instance) {
    co_return decision;
  }
  const auto new_provider = context.news.find(reference->urn);
  DiffRequest request;
  request.urn = reference->urn;
  request.old_inputs = WithoutInternal(old_provider->inputs);
  request.old_outputs = old_provider->outputs;
  request.new_inputs = new_provider == context.news.end()
                           ? PropertyMap()
                           : WithoutInternal(new_provider->second->inputs);
  request.allow_unknowns = true;
  const PropertyMap old_outputs = request.old_outputs;
  const PropertyMap new_inputs = request.new_inputs;
  Result<DiffResponse> response =
      co_await instance->provider->DiffConfig(std::move(request), CancelToken());
  if (!response) {
    if (response.error().kind == ErrorKind::kUnimplemented) {
      co_return decision;
    }
    co_return Fail(std::move(response).error());
  }
  if (InterpretDiff(*response, old_outputs, new_inputs, {}).replaces) {
    decision = std::move(replace);
  }
  co_return decision;
}

}  // namespace

Task<Result<DiffDecision>> CompareWithOld(RunContext& context,
                                          const ResourceState& state,
                                          StatePtr old_state,
                                          InstancePtr provider,
                                          bool is_forced,
                                          std::shared_ptr<LookAhead> ahead) {
  DiffDecision decision;
  const auto replace_for = [&](const char* key) {
    decision.has_changes = true;
    decision.replaces = true;
    if (key != nullptr) {
      decision.keys = {key};
    }
  };
  // E77: the first that fires decides.
  if (!context.preview && ContainsUnknowns(state.replacement_trigger)) {
    Error error = MakeError(ErrorKind::kInvalid,
                            "the replacement trigger is not known although this is not a preview",
                            "make it depend only on what exists once the resource is updated");
    error.urn = state.urn.text();
    co_return Fail(std::move(error));
  }
  if (TriggerReplaces(old_state->replacement_trigger, state.replacement_trigger)) {
    replace_for(nullptr);
    co_return decision;
  }
  if (is_forced) {
    replace_for("id");
    co_return decision;
  }
  const bool tied = std::ranges::any_of(
      state.replace_with, [&](const Urn& urn) { return context.replaced.contains(urn); });
  if (tied) {
    replace_for("replaceWith");
    co_return decision;
  }
  if (!state.deleted_with.empty() && context.replaced.contains(state.deleted_with)) {
    replace_for("deletedWith");
    co_return decision;
  }
  if (state.custom != old_state->custom) {
    replace_for(nullptr);
    co_return decision;
  }
  if (!state.custom) {
    // E62: that there is a change, not which.
    const DiffDecision seen = DiffInputs(old_state->inputs, state.inputs, state.ignore_changes);
    decision.has_changes = seen.has_changes;
    co_return decision;
  }
  if (state.urn.is_provider()) {
    DAVIT_CO_TRY(decision,
                 co_await context.providers.Diff(
                     state.urn, old_state->inputs, old_state->outputs, state.inputs));
  } else {
    DAVIT_CO_TRY(std::optional<DiffDecision> change,
                 co_await ProviderChange(context, state, old_state));
    if (change) {
      co_return *std::move(change);
    }
    bool unavailable = false;
    DiffResponse response;
    const bool is_asked = ahead && ahead->asks_diff && ahead->old_state == old_state &&
                          ahead->provider == provider && ahead->check.is_set() &&
                          !ahead->was_skipped && ahead->HasChecked(state.inputs);
    if (is_asked) {
      const Result<DiffResponse>& answer = co_await ahead->diff.Wait();
      if (!answer) {
        co_return Fail(answer.error());
      }
      response = *answer;
    } else {
      DiffRequest request =
          DiffRequestFor(context, state.urn, *old_state, state.inputs, state.ignore_changes);
      DAVIT_CO_TRY(
          response,
          co_await DiffResource(provider, std::move(request), &unavailable, CancelToken()));
    }
    if (unavailable) {
      context.reporter.Warn(
          state.urn,
          "the provider's configuration is not known yet, so this preview may be inaccurate");
    }
    decision = InterpretDiff(response, old_state->inputs, state.inputs, state.ignore_changes);
  }
  ApplyReplaceOnChanges(decision, state.replace_on_changes, !old_state->init_errors.empty());
  co_return decision;
}

bool NameIsTaken(RunContext& context,
                 const Registration& registration,
                 const InstancePtr& provider) {
  const Urn& urn = registration.urn;
  if (!registration.goal.custom || urn.is_provider() || !provider) {
    return false;
  }
  bool is_specific = false;
  const NamingStrategy& strategy = context.request.info.autonaming.For(urn.type(), &is_specific);
  if (strategy.kind == NamingStrategy::Kind::kDefault) {
    return false;
  }
  if (!provider->provider->supports_autonaming() && (is_specific || strategy.enforce)) {
    context.reporter.Warn(urn,
                          "the configuration names this resource, but its provider takes no names "
                          "from it; use a later version of the provider");
  }
  return NameFor(strategy, urn.name(), std::string()).deletes_first;
}

}  // namespace davit
