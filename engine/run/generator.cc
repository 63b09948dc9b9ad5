#include "engine/run/generator.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/plan/decide_step.h"
#include "engine/run/comparison.h"
#include "engine/run/dependent_deletes.h"
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

Task<void> Generator::RunPlanned(std::shared_ptr<Registration> registration,
                                 std::shared_ptr<Chain> chain) {
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

Task<Result<Chain>> Generator::PlanRead(Registration& registration,
                                        std::shared_ptr<ResourceState> state) {
  StatePtr old_state = context_.Old(registration.urn);
  if (registration.read_id.empty()) {
    co_return Fail(WithUrn(
        MakeError(
            ErrorKind::kInvalid, "the id to read is empty", "give the id of an existing resource"),
        registration.urn,
        2002));
  }
  Chain chain;
  Step step;
  step.urn = registration.urn;
  step.old_state = old_state;
  step.new_state = state;
  DAVIT_CO_TRY(
      step.provider,
      co_await context_.providers.Ensure(state->provider, context_.OldProvider(state->provider)));
  const bool replaces =
      old_state && !old_state->external && old_state->id != registration.read_id;  // E61
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
    co_return Fail(WithUrn(
        MakeError(ErrorKind::kInvalid,
                  fmt::format("the parent '{}' is not registered in this run", goal.parent.text()),
                  "register the parent before its children"),
        urn,
        2002));
  }
  if (!context_.seen.insert(urn).second) {  // E45
    co_return Fail(WithUrn(MakeError(ErrorKind::kInvalid,
                                     fmt::format("two resources have the URN '{}'", urn.text()),
                                     "give one of them another name"),
                           urn,
                           2001));
  }
  std::shared_ptr<ResourceState> state = StateOf(registration);
  if (registration.is_read) {
    co_return co_await PlanRead(registration, std::move(state));
  }
  StatePtr old_state = context_.Old(urn);
  const bool is_provider = urn.is_provider();
  const auto first = context_.deleted_first.find(urn);
  const bool is_recreated = old_state && first != context_.deleted_first.end();
  const bool is_targeted =
      context_.targets.Contains(urn) || is_provider || urn.is_root_stack();  // E123
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
    DAVIT_CO_TRY(
        provider,
        co_await context_.providers.Ensure(goal.provider, context_.OldProvider(goal.provider)));
  }
  for (const Urn& dependency : DependenciesOf(*state)) {  // E125
    if (context_.skipped_creates.contains(dependency)) {
      co_return Fail(WithUrn(
          MakeError(
              ErrorKind::kInvalid,
              fmt::format("'{}' depends on '{}', which is not targeted and does not exist yet",
                          urn.text(),
                          dependency.text()),
              "target it too"),
          urn,
          2013));
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
      context_.reporter.Log(Severity::kInfo,
                            fmt::format("ignoreChanges: the path '{}' could not be applied", path),
                            urn);
    }
  }
  const std::string seed = context_.request.ids->RandomBytes(32);
  if (goal.custom) {
    // Named first: g++ 12 destroys a conditional temporary in an awaiting statement twice.
    const StatePtr compared = compares ? old_state : nullptr;
    DAVIT_CO_TRY(state->inputs,
                 co_await CheckInputsOf(context_, urn, compared, news, provider, seed));
  } else {
    state->inputs = std::move(news);
  }

  StepQuestion question;
  question.old_state = old_state.get();
  question.was_deleted_first = is_recreated;
  question.delete_before_replace = goal.delete_before_replace;
  if (old_state && !is_recreated && !old_state->external) {
    DAVIT_CO_TRY(question.diff, co_await CompareWithOld(context_, *state, old_state, provider));
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
      Error error =
          WithUrn(MakeError(ErrorKind::kRefused,
                            fmt::format("'{}' must be replaced but is protected", urn.text()),
                            "set `protect: false` on it first, or undo the change"),
                  urn,
                  context_.preview ? 2005 : 2000);
      if (!context_.preview) {
        co_return Fail(std::move(error));
      }
      context_.reporter.Report(error);
      context_.recorded_error = true;
    }
    if (goal.custom && !is_forced) {  // E69
      DAVIT_CO_TRY(state->inputs,
                   co_await CheckInputsOf(context_, urn, nullptr, goal.properties, provider, seed));
    }
    context_.replaced.insert(urn);
  }
  const bool already_deleted = old_state && old_state->pending_replacement;
  if (row == StepRow::kReplaceDeleteFirst && !already_deleted) {
    DAVIT_CO_TRY_VOID(co_await AddDependentDeletes(context_, chain, old_state));
  }
  if (row == StepRow::kReplaceCreateFirst || row == StepRow::kReplaceExternal) {
    context_.marked_records.insert(old_state.get());
    context_.replaced.insert(urn);
  }
  for (const StepOp op : OpsOf(row, already_deleted)) {
    if (op == StepOp::kDeleteReplaced) {
      DAVIT_CO_TRY(Step own, co_await DeleteFirstStep(context_, old_state));
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
  context_.logical_op[urn] =
      replaces || row == StepRow::kRecreate || row == StepRow::kReplaceExternal ? StepOp::kReplace
                                                                                : chain.back().op;
  if (!goal.custom && context_.logical_op[urn] == StepOp::kReplace) {
    context_.logical_op[urn] = StepOp::kCreateReplacement;
  }
  co_return chain;
}

}  // namespace davit
