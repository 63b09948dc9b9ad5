#include "engine/run/generator.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/plan/decide_step.h"
#include "engine/plan/provider_inputs.h"
#include "engine/value/property_path.h"

namespace davit {
namespace {

std::shared_ptr<ResourceState> StateOf(const Registration& registration) {
  const Goal& goal = registration.goal;
  auto state = std::make_shared<ResourceState>();
  state->urn = registration.urn;
  state->type = goal.type;
  state->custom = goal.custom;
  state->parent = goal.parent;
  state->protect = goal.protect.value_or(false);
  state->dependencies = goal.dependencies;
  state->property_dependencies = goal.property_dependencies;
  state->provider = goal.provider;
  state->additional_secret_outputs = goal.additional_secret_outputs;
  state->custom_timeouts = goal.custom_timeouts;
  state->retain_on_delete = goal.retain_on_delete.value_or(false);
  state->deleted_with = goal.deleted_with;
  state->replace_with = goal.replace_with;
  state->replacement_trigger = goal.replacement_trigger;
  state->source_position = goal.source_position;
  state->stack_trace = goal.stack_trace;
  state->ignore_changes = goal.ignore_changes;
  state->hide_diff = goal.hide_diffs;
  state->replace_on_changes = goal.replace_on_changes;
  if (registration.is_read) {
    state->external = true;
    state->id = registration.read_id;
    state->inputs = goal.properties;
  }
  return state;
}

Error WithUrn(Error error, const Urn& urn, int code) {
  error.urn = urn.text();
  if (error.code == 0) {
    error.code = code;
  }
  return error;
}

}  // namespace

Task<Result<InstancePtr>> ProviderForOld(RunContext& context, StatePtr state) {
  if (!state->custom || state->urn.is_provider() || state->provider.empty()) {
    co_return InstancePtr();
  }
  co_return co_await context.providers.Ensure(state->provider, context.OldProvider(state->provider));
}

void Generator::Submit(std::shared_ptr<Registration> registration) {
  if (context_.stopped()) {
    registration->reply.Set(Fail(StoppedError()));
    return;
  }
  queue_.push_back(std::move(registration));
  Wake();
}

void Generator::Wake() {
  if (waiting_ != nullptr) {
    waiting_->Open();
  }
}

void Generator::ProgramEnded() {
  program_ended_ = true;
  Wake();
}

Task<void> Generator::Run() {
  while (true) {
    if (context_.stopped()) {
      for (const std::shared_ptr<Registration>& registration : std::exchange(queue_, {})) {
        registration->reply.Set(Fail(StoppedError()));
      }
    }
    if (queue_.empty()) {
      if (program_ended_) {
        break;
      }
      Gate gate;
      waiting_ = &gate;
      co_await gate.Wait();
      waiting_ = nullptr;
      continue;
    }
    std::shared_ptr<Registration> next = queue_.front();
    queue_.pop_front();
    co_await Serve(std::move(next));
  }
  co_await chains_.Join();
}

void Generator::Refuse(Error error, const Urn& urn) {
  if (!error.reported) {
    context_.reporter.Report(WithUrn(std::move(error), urn, 2000));
  }
  context_.generator_failed = true;
}

Task<void> Generator::Serve(std::shared_ptr<Registration> registration) {
  auto chain = std::make_shared<Chain>();
  std::optional<Error> failure;
  try {
    Result<Chain> planned = co_await Plan(*registration);
    if (planned) {
      *chain = *std::move(planned);
    } else {
      failure = std::move(planned).error();
    }
  } catch (const std::exception& exception) {
    failure = MakeError(ErrorKind::kBug, exception.what());
  }
  if (failure) {
    Refuse(*std::move(failure), registration->urn);
    registration->reply.Set(Fail(StoppedError()));
    co_return;
  }
  co_await context_.workers.Acquire();  // E16: handing over waits for a free worker
  chains_.Spawn(RunPlanned(std::move(registration), std::move(chain)));
}

Task<void> Generator::RunPlanned(std::shared_ptr<Registration> registration, std::shared_ptr<Chain> chain) {
  bool good = false;
  try {
    good = co_await RunChain(context_, *chain);
  } catch (const std::exception& exception) {
    Refuse(MakeError(ErrorKind::kBug, exception.what()), registration->urn);
  }
  context_.workers.Release();
  if (!good) {
    registration->reply.Set(Fail(StoppedError()));
    Wake();
    co_return;
  }
  const Step& last = chain->back();
  RegisterResponse response;
  response.urn = registration->urn;
  if (last.is_skipped_create) {
    response.unknown = true;
    registration->reply.Set(std::move(response));
    co_return;
  }
  const StatePtr state = context_.news.at(registration->urn);
  response.id = state->id;
  if (state->custom) {
    response.outputs = state->outputs;
    if (context_.preview && response.id.empty()) {
      response.id = std::string(kUnknownId);  // E58
    }
  }
  registration->reply.Set(std::move(response));
}

Task<Result<PropertyMap>> Generator::Check(Registration& registration,
                                           StatePtr old_state,
                                           PropertyMap news,
                                           InstancePtr provider,
                                           bool with_olds,
                                           std::string seed) {
  const CheckInputs olds = PrepareCheck(with_olds ? old_state.get() : nullptr, false, false);
  std::vector<std::string> warnings;
  Result<CheckResponse> response = CheckResponse();
  if (registration.urn.is_provider()) {
    response = co_await context_.providers.Check(registration.urn, olds.olds, std::move(news), &warnings);
  } else {
    CheckRequest request;
    request.urn = registration.urn;
    request.olds = olds.olds;
    request.old_outputs = olds.old_outputs;
    request.news = std::move(news);
    request.allow_unknowns = context_.preview;
    request.random_seed = std::move(seed);
    response = co_await CheckResource(provider, std::move(request), CancelToken());
  }
  for (const std::string& warning : warnings) {
    context_.reporter.Warn(registration.urn, warning);
  }
  if (!response) {
    co_return Fail(std::move(response).error());
  }
  for (const CheckFailure& failure : response->failures) {  // E72, P78
    Error error;
    error.kind = ErrorKind::kInvalid;
    error.urn = registration.urn.text();
    error.code = failure.property.empty() ? 2002 : 2003;
    if (failure.property.empty()) {
      error.message = failure.reason;
    } else {
      const Result<PropertyPath> path = PropertyPath::Parse(failure.property);
      const std::optional<PropertyValue> value = path ? path->Get(response->inputs) : std::nullopt;
      error.message = fmt::format("property '{}'{}: {}", failure.property,
                                  value ? fmt::format(" (its value is {})", DebugText(*value)) : std::string(),
                                  failure.reason);
    }
    context_.reporter.Report(error);
  }
  if (!response->failures.empty()) {
    Error bail = MakeError(ErrorKind::kInvalid, "the resource is not valid");
    bail.reported = true;
    co_return Fail(std::move(bail));
  }
  co_return std::move(response->inputs);
}

Task<Result<std::optional<DiffDecision>>> Generator::ProviderChange(const ResourceState& state, StatePtr old_state) {
  std::optional<DiffDecision> decision;
  if (state.provider == old_state->provider) {
    co_return decision;
  }
  DiffDecision replace;
  replace.has_changes = true;
  replace.replaces = true;
  replace.keys = {"provider"};
  if (state.provider.empty() || old_state->provider.empty()) {
    decision = std::move(replace);
    co_return decision;
  }
  const Result<ProviderRef> reference = ProviderRef::Parse(state.provider);
  const StatePtr old_provider = context_.OldProvider(old_state->provider);
  const InstancePtr instance = context_.providers.Find(state.provider);
  if (!reference || !old_provider || !instance) {
    co_return decision;
  }
  const auto new_provider = context_.news.find(reference->urn);
  DiffRequest request;
  request.urn = reference->urn;
  request.old_inputs = WithoutInternal(old_provider->inputs);
  request.old_outputs = old_provider->outputs;
  request.new_inputs =
      new_provider == context_.news.end() ? PropertyMap() : WithoutInternal(new_provider->second->inputs);
  request.allow_unknowns = true;
  const PropertyMap old_outputs = request.old_outputs;
  const PropertyMap new_inputs = request.new_inputs;
  Result<DiffResponse> response = co_await instance->provider->DiffConfig(std::move(request), CancelToken());
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

Task<Result<DiffDecision>> Generator::Diff(const ResourceState& state, StatePtr old_state, InstancePtr provider) {
  DiffDecision decision;
  const auto replace_for = [&](const char* key) {
    decision.has_changes = true;
    decision.replaces = true;
    if (key != nullptr) {
      decision.keys = {key};
    }
  };
  // E77: the first that fires decides.
  if (TriggerReplaces(old_state->replacement_trigger, state.replacement_trigger)) {
    replace_for(nullptr);
    co_return decision;
  }
  if (old_state->taint) {
    replace_for("id");
    co_return decision;
  }
  const bool tied = std::ranges::any_of(state.replace_with, [&](const Urn& urn) { return context_.replaced.contains(urn); });
  if (tied) {
    replace_for("replaceWith");
    co_return decision;
  }
  if (!state.deleted_with.empty() && context_.replaced.contains(state.deleted_with)) {
    replace_for("deletedWith");
    co_return decision;
  }
  if (state.custom != old_state->custom) {
    replace_for(nullptr);
    co_return decision;
  }
  if (!state.custom) {
    co_return DiffInputs(old_state->inputs, state.inputs, state.ignore_changes);
  }
  if (state.urn.is_provider()) {
    DAVIT_CO_TRY(decision, co_await context_.providers.Diff(state.urn, old_state->inputs, old_state->outputs, state.inputs));
  } else {
    DAVIT_CO_TRY(std::optional<DiffDecision> change, co_await ProviderChange(state, old_state));
    if (change) {
      co_return *std::move(change);
    }
    DiffRequest request;
    request.id = old_state->id;
    request.urn = state.urn;
    request.old_inputs = old_state->inputs;
    request.old_outputs = old_state->outputs;
    request.new_inputs = state.inputs;
    request.ignore_changes = state.ignore_changes;
    request.allow_unknowns = context_.preview;
    bool unavailable = false;
    DAVIT_CO_TRY(DiffResponse response,
                 co_await DiffResource(provider, std::move(request), &unavailable, CancelToken()));
    if (unavailable) {
      context_.reporter.Warn(state.urn, "the provider's configuration is not known yet, so this preview may be inaccurate");
    }
    decision = InterpretDiff(response, old_state->inputs, state.inputs, state.ignore_changes);
  }
  ApplyReplaceOnChanges(decision, state.replace_on_changes, !old_state->init_errors.empty());
  co_return decision;
}

Task<Result<bool>> Generator::RequiresReplacement(StatePtr candidate,
                                                  const std::set<Urn>& replaced,
                                                  std::vector<std::string>* keys) {
  if (!candidate->custom || candidate->external) {
    co_return false;
  }
  const Result<ProviderRef> reference = ProviderRef::Parse(candidate->provider);
  if (reference && replaced.contains(reference->urn)) {
    co_return true;
  }
  if (!candidate->deleted_with.empty() && replaced.contains(candidate->deleted_with)) {
    co_return true;
  }
  PropertyMap inputs = candidate->inputs;
  bool is_fed = false;
  for (const auto& [key, urns] : candidate->property_dependencies) {
    const bool depends = std::ranges::any_of(urns, [&](const Urn& urn) { return replaced.contains(urn); });
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
    DAVIT_CO_TRY(InstancePtr instance, co_await context_.providers.Ensure(own, candidate));
    request.old_inputs = WithoutInternal(request.old_inputs);
    request.new_inputs = WithoutInternal(request.new_inputs);
    response = co_await instance->provider->DiffConfig(std::move(request), CancelToken());
    if (!response && response.error().kind == ErrorKind::kUnimplemented) {
      co_return false;
    }
  } else {
    DAVIT_CO_TRY(InstancePtr instance, co_await ProviderForOld(context_, candidate));
    bool unavailable = false;
    response = co_await DiffResource(instance, std::move(request), &unavailable, CancelToken());
  }
  if (!response) {
    co_return Fail(std::move(response).error());
  }
  DiffDecision decision = InterpretDiff(*response, candidate->inputs, inputs, candidate->ignore_changes);
  ApplyReplaceOnChanges(decision, candidate->replace_on_changes, !candidate->init_errors.empty());
  *keys = decision.keys;
  co_return decision.replaces;
}

Task<Result<Step>> Generator::DeleteFirstStep(StatePtr old_state) {
  Step step;
  step.op = old_state->external ? StepOp::kDiscardReplaced : StepOp::kDeleteReplaced;
  step.urn = old_state->urn;
  step.is_replacement = true;
  step.marks_pending = true;
  DAVIT_CO_TRY(step.provider, co_await ProviderForOld(context_, old_state));
  step.old_state = std::move(old_state);
  co_return step;
}

Task<Result<void>> Generator::AddDependentDeletes(Chain& chain, StatePtr old_state) {
  const RecordGraph& graph = context_.Graph();
  const std::size_t index = static_cast<std::size_t>(context_.base_index.at(old_state.get()));
  std::set<Urn> replaced{old_state->urn};
  std::vector<StatePtr> condemned;  // (a) of E88, in order
  std::map<Urn, std::vector<std::string>> keys_of;
  for (const std::size_t candidate_index : graph.DependentsOf(index)) {
    const StatePtr candidate = context_.base[candidate_index];
    if (candidate->pending_delete || context_.seen.contains(candidate->urn) ||
        context_.deleted_records.contains(candidate.get())) {
      continue;
    }
    std::vector<std::string> keys;
    DAVIT_CO_TRY(bool requires_it, co_await RequiresReplacement(candidate, replaced, &keys));
    if (requires_it) {
      replaced.insert(candidate->urn);
      condemned.push_back(candidate);
      keys_of[candidate->urn] = std::move(keys);
    }
  }
  std::vector<StatePtr> order;
  for (const std::size_t tied_index : graph.TiedTo(old_state->urn)) {  // (b)
    const StatePtr tied = context_.base[tied_index];
    const bool is_listed = std::ranges::find(condemned, tied) != condemned.end();
    if (!is_listed && !tied->pending_delete && !context_.seen.contains(tied->urn) &&
        !context_.deleted_records.contains(tied.get())) {
      order.push_back(tied);
    }
  }
  order.insert(order.end(), condemned.rbegin(), condemned.rend());
  for (const StatePtr& dependent : order) {
    if (dependent->protect) {  // E91
      co_return Fail(ErrorKind::kRefused,
                     fmt::format("'{}' must be replaced by deleting it first, but '{}', which would be deleted with it, is "
                                 "protected",
                                 old_state->urn.text(), dependent->urn.text()),
                     "remove `protect` from the dependent and run `davit up` once before");
    }
    if (dependent->pending_replacement) {
      continue;  // deleted in an earlier run already
    }
    DAVIT_CO_TRY(Step step, co_await DeleteFirstStep(dependent));
    chain.push_back(std::move(step));
    context_.deleted.insert(dependent->urn);
    context_.deleted_records.insert(dependent.get());
    context_.replaced.insert(dependent->urn);
    context_.deleted_first[dependent->urn] = keys_of[dependent->urn];
  }
  co_return Result<void>();
}

Task<Result<Chain>> Generator::PlanRead(Registration& registration, std::shared_ptr<ResourceState> state) {
  StatePtr old_state = context_.Old(registration.urn);
  if (registration.read_id.empty()) {
    co_return Fail(WithUrn(MakeError(ErrorKind::kInvalid, "the id to read is empty", "give the id of an existing resource"),
                           registration.urn, 2002));
  }
  Chain chain;
  Step step;
  step.urn = registration.urn;
  step.old_state = old_state;
  step.new_state = state;
  DAVIT_CO_TRY(step.provider,
               co_await context_.providers.Ensure(state->provider, context_.OldProvider(state->provider)));
  const bool replaces = old_state && !old_state->external && old_state->id != registration.read_id;  // E61
  step.op = replaces ? StepOp::kReadReplacement : StepOp::kRead;
  context_.logical_op[registration.urn] = step.op;
  chain.push_back(step);
  if (replaces) {
    context_.marked_records.insert(old_state.get());
    context_.replaced.insert(registration.urn);
    step.op = StepOp::kReplace;
    chain.push_back(step);
  }
  co_return chain;
}

Task<Result<Chain>> Generator::Plan(Registration& registration) {
  const Goal& goal = registration.goal;
  const Urn& urn = registration.urn;
  if (!goal.parent.empty() && !context_.seen.contains(goal.parent)) {  // E43
    co_return Fail(WithUrn(MakeError(ErrorKind::kInvalid,
                                     fmt::format("the parent '{}' is not registered in this run", goal.parent.text()),
                                     "register the parent before its children"),
                           urn, 2002));
  }
  if (!context_.seen.insert(urn).second) {  // E45
    co_return Fail(WithUrn(MakeError(ErrorKind::kInvalid,
                                     fmt::format("two resources have the URN '{}'", urn.text()),
                                     "give one of them another name"),
                           urn, 2001));
  }
  std::shared_ptr<ResourceState> state = StateOf(registration);
  if (registration.is_read) {
    co_return co_await PlanRead(registration, std::move(state));
  }
  StatePtr old_state = context_.Old(urn);
  const bool is_provider = urn.is_provider();
  const auto first = context_.deleted_first.find(urn);
  const bool is_recreated = old_state && first != context_.deleted_first.end();
  const bool is_targeted = context_.targets.Contains(urn) || is_provider || urn.is_root_stack();  // E123
  if (urn.is_root_stack()) {
    context_.root_stack = urn;
  }
  Chain chain;
  Step step;
  step.urn = urn;
  step.old_state = old_state;
  if (!is_targeted) {
    step.op = StepOp::kSame;
    step.is_skipped_create = !old_state;
    step.is_untargeted = old_state != nullptr;
    step.new_state = old_state ? std::make_shared<ResourceState>(*old_state) : std::move(state);
    if (step.is_skipped_create) {
      context_.skipped_creates.insert(urn);
    }
    chain.push_back(std::move(step));
    co_return chain;
  }
  InstancePtr provider;
  if (goal.custom && !is_provider) {
    DAVIT_CO_TRY(provider, co_await context_.providers.Ensure(goal.provider, context_.OldProvider(goal.provider)));
  }
  for (const Urn& dependency : DependenciesOf(*state)) {  // E125
    if (context_.skipped_creates.contains(dependency)) {
      co_return Fail(WithUrn(MakeError(ErrorKind::kInvalid,
                                       fmt::format("'{}' depends on '{}', which is not targeted and does not exist yet",
                                                   urn.text(), dependency.text()),
                                       "target it too"),
                             urn, 2013));
    }
  }

  // Inputs: ignoreChanges, then Check (E68).
  const bool is_forced = old_state && old_state->taint;
  const bool compares = old_state && !is_recreated && !old_state->external && !is_forced;
  PropertyMap news = goal.properties;
  if (compares && !goal.ignore_changes.empty()) {
    std::vector<std::string> failed;
    news = ApplyIgnoreChanges(old_state->inputs, news, goal.ignore_changes, &failed);
    for (const std::string& path : failed) {
      context_.reporter.Log(Severity::kInfo, fmt::format("ignoreChanges: the path '{}' could not be applied", path), urn);
    }
  }
  const std::string seed = context_.request.ids->RandomBytes(32);
  if (goal.custom) {
    DAVIT_CO_TRY(state->inputs, co_await Check(registration, old_state, news, provider, compares, seed));
  } else {
    state->inputs = std::move(news);
  }

  StepQuestion question;
  question.old_state = old_state.get();
  question.was_deleted_first = is_recreated;
  question.delete_before_replace = goal.delete_before_replace;
  if (old_state && !is_recreated && !old_state->external) {
    DAVIT_CO_TRY(question.diff, co_await Diff(*state, old_state, provider));
  }
  const StepRow row = DecideStep(question);
  const bool replaces = row == StepRow::kReplaceCreateFirst || row == StepRow::kReplaceDeleteFirst;
  step.keys = question.diff.keys;
  step.diffs = question.diff.diffs;
  step.detailed = question.diff.detailed;
  step.provider = provider;
  step.new_state = state;

  if (replaces) {
    if (old_state->protect && state->protect) {  // E92
      Error error = WithUrn(MakeError(ErrorKind::kRefused,
                                      fmt::format("'{}' must be replaced but is protected", urn.text()),
                                      "set `protect: false` on it first, or undo the change"),
                            urn, context_.preview ? 2005 : 2000);
      if (!context_.preview) {
        co_return Fail(std::move(error));
      }
      context_.reporter.Report(error);
      context_.recorded_error = true;
    }
    if (goal.custom && !is_forced) {  // E69
      DAVIT_CO_TRY(state->inputs, co_await Check(registration, old_state, goal.properties, provider, false, seed));
    }
    context_.replaced.insert(urn);
  }
  const bool already_deleted = old_state && old_state->pending_replacement;
  if (row == StepRow::kReplaceDeleteFirst && !already_deleted) {
    DAVIT_CO_TRY_VOID(co_await AddDependentDeletes(chain, old_state));
  }
  if (row == StepRow::kReplaceCreateFirst || row == StepRow::kReplaceExternal) {
    context_.marked_records.insert(old_state.get());
    context_.replaced.insert(urn);
  }
  for (const StepOp op : OpsOf(row, already_deleted)) {
    if (op == StepOp::kDeleteReplaced) {
      DAVIT_CO_TRY(Step own, co_await DeleteFirstStep(old_state));
      chain.push_back(std::move(own));
      context_.deleted.insert(urn);
      context_.deleted_records.insert(old_state.get());
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
        planned.keys = first->second;
      }
    }
    chain.push_back(std::move(planned));
  }
  context_.logical_op[urn] = replaces || row == StepRow::kRecreate || row == StepRow::kReplaceExternal
                                 ? StepOp::kReplace
                                 : chain.back().op;
  if (!goal.custom && context_.logical_op[urn] == StepOp::kReplace) {
    context_.logical_op[urn] = StepOp::kCreateReplacement;
  }
  co_return chain;
}

}  // namespace davit
