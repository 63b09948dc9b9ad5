#include "engine/run/look_ahead.h"

#include "engine/plan/decide_step.h"
#include "engine/run/plan_hold.h"
#include "engine/value/property_path.h"

namespace davit {
namespace {

// Nothing but the provider's own answer decides (E77): no trigger, no tie to another resource, the
// same provider.
bool AsksDiff(const Goal& goal, const ResourceState& old_state) {
  return old_state.custom && goal.provider == old_state.provider && goal.replace_with.empty() &&
         goal.deleted_with.empty() && goal.replacement_trigger.is_null() &&
         old_state.replacement_trigger.is_null();
}

Task<void> Ask(RunContext& context, const Registration& registration, LookAhead& ahead) {
  CheckRequest check = CheckRequestFor(context,
                                       registration.urn,
                                       ahead.old_state,
                                       ahead.news,
                                       *ahead.provider->provider,
                                       registration.seed);
  Result<CheckResponse> checked =
      co_await CheckResource(ahead.provider, std::move(check), CancelToken());
  std::optional<DiffRequest> diff;
  if (ahead.asks_diff && checked && checked->failures.empty()) {
    diff = DiffRequestFor(context,
                          registration.urn,
                          *ahead.old_state,
                          checked->inputs,
                          registration.goal.ignore_changes);
    ahead.checked = checked->inputs;
  }
  ahead.check.Set(std::move(checked));
  if (diff) {
    bool unavailable = false;
    Result<DiffResponse> answer =
        co_await DiffResource(ahead.provider, *std::move(diff), &unavailable, CancelToken());
    ahead.diff.Set(std::move(answer));
  }
}

}  // namespace

CheckRequest CheckRequestFor(const RunContext& context,
                             const Urn& urn,
                             const StatePtr& old_state,
                             PropertyMap news,
                             const Provider& provider,
                             std::string seed) {
  CheckInputs olds = PrepareCheck(old_state.get(), false, false);
  CheckRequest request;
  request.urn = urn;
  request.olds = std::move(olds.olds);
  request.old_outputs = std::move(olds.old_outputs);
  request.news = std::move(news);
  request.allow_unknowns = context.preview;
  if (provider.supports_autonaming()) {
    bool is_specific = false;
    request.autonaming =
        NameFor(context.request.info.autonaming.For(urn.type(), &is_specific), urn.name(), seed)
            .options;
  }
  request.random_seed = std::move(seed);
  return request;
}

DiffRequest DiffRequestFor(const RunContext& context,
                           const Urn& urn,
                           const ResourceState& old_state,
                           PropertyMap new_inputs,
                           std::vector<std::string> ignore_changes) {
  DiffRequest request;
  request.id = old_state.id;
  request.urn = urn;
  request.old_inputs = old_state.inputs;
  request.old_outputs = old_state.outputs;
  request.new_inputs = std::move(new_inputs);
  request.ignore_changes = std::move(ignore_changes);
  request.allow_unknowns = context.preview;
  return request;
}

bool PrepareLookAhead(RunContext& context, Registration& registration) {
  const Goal& goal = registration.goal;
  const Urn& urn = registration.urn;
  const DeploymentOptions& options = context.request.options;
  const bool is_plain_run = options.parallel > 1 && options.mode == DeploymentMode::kUpdate &&
                            !options.run_program && !options.continue_on_error &&
                            !context.selection.is_constrained() && context.forced.empty() &&
                            context.aliases.empty();
  if (!is_plain_run || registration.is_read || !goal.custom || urn.is_provider() ||
      !goal.import_id.empty() || !goal.aliases.empty() || context.seen.contains(urn) ||
      context.deleted_first.contains(urn)) {
    return false;
  }
  const InstancePtr provider = context.providers.Find(goal.provider);
  const StatePtr old_state = context.Old(urn);
  if (!provider || provider->is_config_unknown ||
      (!goal.extension_ref.empty() && !provider->extensions.contains(goal.extension_ref)) ||
      (old_state && (old_state->external || old_state->taint || old_state->pending_replacement ||
                     context.deleted_records.contains(old_state.get())))) {
    return false;
  }
  auto ahead = std::make_shared<LookAhead>();
  ahead->provider = provider;
  ahead->old_state = old_state;
  ahead->news = goal.properties;
  if (old_state && !goal.ignore_changes.empty()) {
    ahead->news = ApplyIgnoreChanges(old_state->inputs, ahead->news, goal.ignore_changes, nullptr);
  }
  ahead->asks_diff = old_state && AsksDiff(goal, *old_state);
  registration.seed = SeedFor(context, urn);
  registration.ahead = std::move(ahead);
  return true;
}

Task<void> AskAhead(RunContext& context,
                    std::shared_ptr<Registration> registration,
                    Semaphore* permits) {
  const std::shared_ptr<LookAhead> ahead = registration->ahead;
  co_await permits->Acquire();
  if (context.stopped()) {
    ahead->was_skipped = true;
    ahead->check.Set(Fail(StoppedError()));
  } else {
    std::optional<Error> bug;
    try {
      co_await Ask(context, *registration, *ahead);
    } catch (const std::exception& exception) {
      bug = MakeError(ErrorKind::kBug, exception.what());
    }
    if (bug) {  // whoever waits for an answer gets the bug, and the step fails with it
      if (!ahead->check.is_set()) {
        ahead->check.Set(Fail(*bug));
      } else if (!ahead->diff.is_set()) {
        ahead->diff.Set(Fail(*bug));
      }
    }
  }
  permits->Release();
}

}  // namespace davit
