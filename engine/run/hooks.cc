#include "engine/run/hooks.h"

#include <fmt/format.h>

#include "engine/run/step.h"

namespace davit {
namespace {

enum class HookTime { kBefore, kAfter };

// Keys of a record's bindings (S30).
constexpr const char* kOnError = "OnError";

struct Occasion {
  const char* before = nullptr;
  const char* after = nullptr;
  const char* operation = nullptr;
};

// What the operation of a step is called; null for steps that have no hooks.
Occasion OccasionOf(const Step& step) {
  if (step.is_skipped_create || step.is_untargeted) {
    return Occasion();
  }
  switch (step.op) {
    case StepOp::kCreate:
    case StepOp::kCreateReplacement:
      return Occasion{"BeforeCreate", "AfterCreate", "create"};
    case StepOp::kUpdate:
      return Occasion{"BeforeUpdate", "AfterUpdate", "update"};
    case StepOp::kDelete:
    case StepOp::kDeleteReplaced:
      return Occasion{"BeforeDelete", "AfterDelete", "delete"};
    case StepOp::kSame:
    case StepOp::kReplace:
    case StepOp::kRead:
    case StepOp::kReadReplacement:
    case StepOp::kRefresh:
    case StepOp::kImport:
    case StepOp::kImportReplacement:
    case StepOp::kDiscard:
    case StepOp::kDiscardReplaced:
    case StepOp::kRemovePendingReplace:
    case StepOp::kExtendParameterize:
      break;
  }
  return Occasion();
}

bool IsDeletion(const Step& step) {
  return step.op == StepOp::kDelete || step.op == StepOp::kDeleteReplaced;
}

// E187: update and create use the new record's bindings, delete the old one's.
std::vector<std::string> NamesOf(const Step& step, const char* binding) {
  const ResourceState* owner = IsDeletion(step) ? step.old_state.get() : step.new_state.get();
  if (binding == nullptr || owner == nullptr) {
    return {};
  }
  const auto at = owner->resource_hooks.find(binding);
  return at == owner->resource_hooks.end() ? std::vector<std::string>() : at->second;
}

HookRequest RequestOf(const Step& step) {
  HookRequest request;
  request.urn = step.urn;
  const bool has_old = step.op != StepOp::kCreate && step.op != StepOp::kCreateReplacement;
  request.old_state = has_old ? step.old_state : nullptr;
  request.new_state = IsDeletion(step) ? nullptr : StatePtr(step.new_state);
  request.sends_old_outputs = request.old_state != nullptr;
  request.id = request.new_state && !request.new_state->id.empty() ? request.new_state->id
               : request.old_state                                 ? request.old_state->id
                                                                   : std::string();
  return request;
}

Result<std::shared_ptr<const Hook>> FindHook(const RunContext& context, const std::string& name) {
  const auto at = context.hooks.find(name);
  if (at == context.hooks.end()) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("the hook '{}' is not registered", name),
                "register it in the program, or take it off the resource");
  }
  return at->second;
}

Task<Result<void>> RunHooks(RunContext& context,
                            const Step& step,
                            std::vector<std::string> names,
                            HookTime time) {
  for (const std::string& name : names) {
    DAVIT_CO_TRY(const std::shared_ptr<const Hook> hook, FindHook(context, name));
    if (context.preview && !hook->on_dry_run) {
      continue;
    }
    HookRequest request = RequestOf(step);
    request.sends_new_outputs = time == HookTime::kAfter && request.new_state != nullptr;
    const Result<HookAnswer> answer = co_await hook->run(std::move(request));
    const std::string problem = answer ? answer->error : answer.error().Text();
    if (problem.empty()) {
      continue;
    }
    std::string message = fmt::format("the {} hook '{}' failed: {}",
                                      time == HookTime::kBefore ? "before" : "after",
                                      name,
                                      problem);
    if (hook->ignore_errors) {
      context.reporter.Warn(step.urn, message);
      continue;
    }
    co_return Fail(ErrorKind::kFailed, std::move(message));
  }
  co_return Result<void>();
}

}  // namespace

Task<Result<void>> RunBeforeHooks(RunContext& context, const Step& step) {
  return RunHooks(context, step, NamesOf(step, OccasionOf(step).before), HookTime::kBefore);
}

Task<Result<void>> RunAfterHooks(RunContext& context, const Step& step) {
  return RunHooks(context, step, NamesOf(step, OccasionOf(step).after), HookTime::kAfter);
}

Task<Result<bool>> RunErrorHooks(RunContext& context,
                                 const Step& step,
                                 std::vector<std::string> errors) {
  const Occasion occasion = OccasionOf(step);
  bool retry = false;
  if (occasion.operation == nullptr || context.preview) {
    co_return retry;
  }
  for (const std::string& name : NamesOf(step, kOnError)) {
    DAVIT_CO_TRY(const std::shared_ptr<const Hook> hook, FindHook(context, name));
    HookRequest request = RequestOf(step);
    request.failed_operation = occasion.operation;
    request.errors = errors;
    const Result<HookAnswer> answer = co_await hook->run(std::move(request));
    const std::string problem = answer ? answer->error : answer.error().Text();
    if (!problem.empty()) {
      co_return Fail(ErrorKind::kFailed,
                     fmt::format("the error hook '{}' failed: {}", name, problem));
    }
    retry = retry || answer->retry;
  }
  co_return retry;
}

Result<void> CheckNoDeleteHooks(const RunContext& context) {
  Selection selection = context.selection;  // a copy: the answers of the run are its own
  for (const StatePtr& state : context.base) {
    const bool is_selected = !selection.is_constrained() || selection.Includes(*state);
    for (const char* binding : {"BeforeDelete", "AfterDelete"}) {
      const auto at = state->resource_hooks.find(binding);
      if (at == state->resource_hooks.end() || at->second.empty() || !is_selected) {
        continue;
      }
      std::string names;
      for (const std::string& name : at->second) {
        names += (names.empty() ? "'" : ", '") + name + "'";
      }
      Error error =
          MakeError(ErrorKind::kRefused,
                    fmt::format("'{}' has delete hooks ({}), which only its program can run",
                                state->urn.text(),
                                names),
                    "destroy with `--run-program`, or remove the resource from the program and run "
                    "`davit up`");
      error.urn = state->urn.text();
      return Fail(std::move(error));
    }
  }
  return {};
}

}  // namespace davit
