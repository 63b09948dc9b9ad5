#include "engine/run/generator.h"

#include <algorithm>

#include "engine/model/provider_ref.h"
#include "engine/run/plan_hold.h"

namespace davit {

void Generator::Submit(std::shared_ptr<Registration> registration) {
  if (context_.stopped()) {
    registration->reply.Set(Fail(StoppedError()));
    return;
  }
  if (PrepareLookAhead(context_, *registration)) {
    asked_.Spawn(AskAhead(context_, registration, &ahead_));
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
      if (program_ended_ && continuations_ == 0) {
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
  co_await asked_.Join();
}

void Generator::Refuse(Error error, const Urn& urn) {
  if (!error.reported) {
    if (error.urn.empty()) {
      error.urn = urn.text();
    }
    if (error.code == 0) {
      error.code = 2000;
    }
    context_.reporter.Report(error);
  }
  context_.generator_failed = true;
}

Task<void> Generator::Serve(std::shared_ptr<Registration> registration) {
  auto plan = std::make_shared<Plan>();
  std::optional<Error> failure;
  try {
    Result<Plan> made = co_await planner_.Make(*registration);
    if (made) {
      *plan = *std::move(made);
      const Result<void> held = HoldSteps(context_, plan->chain);
      if (!held) {
        failure = held.error();
      }
    } else {
      failure = std::move(made).error();
    }
  } catch (const std::exception& exception) {
    failure = MakeError(ErrorKind::kBug, exception.what());
  }
  if (failure) {
    Refuse(*std::move(failure), registration->urn);
    registration->reply.Set(Fail(StoppedError()));
    co_return;
  }
  if (plan->is_skipped) {
    chains_.Spawn(AnswerSkipped(std::move(registration)));
    co_return;
  }
  if (plan->resumes) {
    ++continuations_;
  }
  WorkerSlot slot = co_await context_.AcquireWorker();  // E16: handing over waits for one
  auto gates = std::make_unique<ChainGates>(context_, plan->chain);
  chains_.Spawn(
      RunPlanned(std::move(registration), std::move(plan), std::move(gates), std::move(slot)));
}

Task<void> Generator::RunPlanned(std::shared_ptr<Registration> registration,
                                 std::shared_ptr<Plan> plan,
                                 std::unique_ptr<ChainGates> gates,
                                 WorkerSlot slot) {
  bool good = false;
  try {
    co_await gates->WaitForOthers(plan->chain);
    good = co_await RunChain(context_, plan->chain, std::move(slot));
  } catch (const std::exception& exception) {
    Refuse(MakeError(ErrorKind::kBug, exception.what()), registration->urn);
  }
  gates.reset();
  if (plan->resumes) {
    --continuations_;
  }
  if (!good) {
    if (context_.stopped()) {
      registration->reply.Set(Fail(StoppedError()));
    } else {  // E30
      context_.failed_or_skipped.insert(registration->urn);
      RegisterResponse response;
      response.urn = registration->urn;
      response.result = RegisterResult::kFail;
      const std::shared_ptr<ResourceState>& made = plan->chain.back().new_state;
      response.unknown = !made || made->init_errors.empty();
      if (!response.unknown) {  // E34: it is there, if not ready
        response.id = made->id;
        response.outputs = made->outputs;
      }
      registration->reply.Set(std::move(response));
    }
    Wake();
    co_return;
  }
  if (plan->resumes) {
    const Step& first = plan->chain.front();
    registration->is_resumed = true;
    registration->old_state = first.new_state ? context_.news.at(registration->urn) : nullptr;
    queue_.push_back(std::move(registration));
    Wake();
    co_return;
  }
  try {
    Answer(*registration, *plan);
  } catch (const std::exception& exception) {  // the program must not wait for ever
    Refuse(MakeError(ErrorKind::kBug, exception.what()), registration->urn);
    registration->reply.Set(Fail(StoppedError()));
    Wake();
  }
}

void Generator::Answer(Registration& registration, const Plan& plan) {
  RegisterResponse response;
  response.urn = registration.urn;
  if (!plan.chain.empty() && plan.chain.back().is_skipped_create) {
    response.unknown = true;
    registration.reply.Set(std::move(response));
    return;
  }
  const auto at = context_.news.find(registration.urn);
  StatePtr record = at == context_.news.end() ? nullptr : at->second;
  if (!record) {  // E126: an untargeted record, which another chain may still be carrying over
    const auto matched = context_.matched.find(registration.urn);
    DAVIT_CHECK(matched != context_.matched.end(), "a registration without record");
    record = matched->second;
    response.urn = record->urn;  // what depends on it has to find it in the state
  }
  const ResourceState& state = *record;
  response.id = state.id;
  if (state.custom) {
    response.outputs = state.outputs;
  }
  registration.reply.Set(std::move(response));
}

// E30: what the program sees of a resource that is not made comes from the provider's own preview.
Task<void> Generator::AnswerSkipped(std::shared_ptr<Registration> registration) {
  RegisterResponse response;
  response.urn = registration->urn;
  response.result = RegisterResult::kSkip;
  response.unknown = true;
  const Goal& goal = registration->goal;
  if (registration->urn.is_provider()) {
    response.id = std::string(kUnknownId);  // a reference to it is one to an unknown provider
  }
  if (goal.custom && !registration->is_read && !registration->urn.is_provider()) {
    const auto matched = context_.matched.find(registration->urn);
    const StatePtr old_state = matched == context_.matched.end() ? nullptr : matched->second;
    Result<InstancePtr> provider = co_await context_.EnsureProvider(goal.provider);
    if (provider && old_state) {
      UpdateRequest request;
      request.id = old_state->id;
      request.urn = registration->urn;
      request.old_inputs = old_state->inputs;
      request.old_outputs = old_state->outputs;
      request.new_inputs = goal.properties;
      for (auto& [key, value] : request.new_inputs) {  // recorded: unknowns are sent as null
        if (ContainsUnknowns(value)) {
          value = PropertyValue();
        }
      }
      request.ignore_changes = goal.ignore_changes;
      request.timeout_seconds = goal.custom_timeouts.update;
      request.preview = true;
      Result<UpdateResponse> seen =
          co_await UpdateResource(*provider, std::move(request), CancelToken());
      if (seen) {
        response.id = old_state->id;
        response.outputs = std::move(seen->outputs);
        response.unknown = false;
      }
    } else if (provider) {
      CreateRequest request;
      request.urn = registration->urn;
      request.inputs = goal.properties;
      request.timeout_seconds = goal.custom_timeouts.create;
      request.preview = true;
      Result<CreateResponse> seen =
          co_await CreateResource(*provider, std::move(request), CancelToken());
      if (seen) {
        response.id = std::string(kUnknownId);
        response.outputs = std::move(seen->outputs);
        response.unknown = false;
      }
    }
  }
  registration->reply.Set(std::move(response));
}

}  // namespace davit
