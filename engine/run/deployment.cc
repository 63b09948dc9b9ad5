#include "engine/deployment.h"

#include <fmt/format.h>

#include "engine/run/delete_phase.h"
#include "engine/run/refresh.h"
#include "engine/run/registration.h"

namespace davit {
namespace {

Task<void> RunProgram(RunContext& context, Generator& generator, Monitor& monitor) {
  std::optional<Error> failure;
  try {
    const Result<void> done =
        co_await context.request.source->Run(monitor, context.request.info, context.request.cancel);
    if (!done) {
      failure = done.error();
    }
  } catch (const std::exception& exception) {
    failure = MakeError(ErrorKind::kBug, exception.what());
  }
  // A program that ends because its registrations were no longer served did not fail by itself.
  if (failure && !(failure->reported && context.cancelled)) {
    context.program_failed = true;
    context.reporter.Report(*failure);
  }
  generator.ProgramEnded();
}

// E23: the outputs of the root stack, once, at the end.
Task<void> FinishStack(RunContext& context) {
  const auto at = context.news.find(context.root_stack);
  if (context.root_stack.empty() || at == context.news.end() || !context.stack_outputs) {
    co_return;
  }
  PropertyMap outputs = *std::move(context.stack_outputs);
  if (context.failed()) {  // nothing is removed when something failed
    const PropertyMap& before = at->second->outputs;
    outputs.insert(before.begin(), before.end());
  }
  Result<void> stored = co_await StoreOutputs(context, context.root_stack, std::move(outputs));
  if (!stored) {
    context.reporter.Report(stored.error());
    context.step_failed = true;
  }
}

// E131: literal targets have to exist.
void CheckTargets(RunContext& context) {
  for (const std::string& literal : context.targets.Literals()) {
    const Urn urn = Urn::Trusted(literal);
    if (context.old_by_urn.contains(urn) || context.seen.contains(urn)) {
      continue;
    }
    Error error = MakeError(ErrorKind::kInvalid,
                            fmt::format("the target '{}' could not be found", literal),
                            literal.find('$') == std::string::npos
                                ? "check the URN; a shell may have removed a '$' from it"
                                : "check the URN");
    error.code = literal.find('$') == std::string::npos ? 2011 : 2010;
    context.reporter.Report(error);
    context.generator_failed = true;
  }
}

void WarnPending(RunContext& context) {  // E152
  if (context.preview || context.request.base.pending_operations.empty()) {
    return;
  }
  std::string list;
  for (const PendingOperation& operation : context.request.base.pending_operations) {
    list += fmt::format("\n  * {}, interrupted while {}",
                        operation.resource->urn.text(),
                        OperationTypeName(operation.type));
  }
  context.reporter.Warn(
      Urn(),
      "an earlier run was interrupted; these operations may or may not have happened:" + list +
          "\nrun `davit refresh` to see what exists");
}

Task<void> RunSteps(RunContext& context, Generator& generator) {
  const DeploymentOptions& options = context.request.options;
  RegistrationMonitor monitor(context, generator);
  if (options.refresh_first || options.mode == DeploymentMode::kRefresh) {
    if (options.mode != DeploymentMode::kUpdate) {
      CheckTargets(context);
    }
    if (!context.failed()) {
      co_await RunRefresh(context, options.mode == DeploymentMode::kRefresh);
    }
    if (options.mode == DeploymentMode::kRefresh || context.failed()) {
      co_return;
    }
  } else {
    WarnPending(context);
  }
  if (options.mode == DeploymentMode::kUpdate) {
    Scope program(context.loop);
    program.Spawn(RunProgram(context, generator, monitor));
    co_await generator.Run();
    co_await program.Join();
    if (!context.stopped() && !context.program_failed) {
      CheckTargets(context);
    }
  } else {
    CheckTargets(context);
  }
  if (!context.stopped() && !context.program_failed) {
    co_await RunDeletePhase(context);
  }
  co_await monitor.Close();
  co_await FinishStack(context);
}

}  // namespace

Task<DeploymentResult> RunDeployment(DeploymentRequest request) {
  Loop& loop = co_await CurrentLoop();
  RunContext context(loop, request);
  context.SetBase(request.base.resources);
  Generator generator(context);
  Scope cancelling(loop);
  const CancelRegistration on_cancel = request.cancel.OnCancel([&] {  // E35
    context.cancelled = true;
    generator.Wake();
    cancelling.Spawn(request.pool->CancelAll());
  });
  context.reporter.Prelude(request.info.config);
  try {
    co_await RunSteps(context, generator);
  } catch (const std::exception& exception) {
    context.reporter.Report(MakeError(ErrorKind::kBug, exception.what()));
    context.generator_failed = true;
  }
  co_await cancelling.Join();
  context.providers.ReleaseAll();
  if (context.step_failed || context.recorded_error) {  // E215
    context.reporter.Report(
        MakeError(ErrorKind::kFailed, context.preview ? "preview failed" : "update failed"));
  } else if (context.cancelled) {
    context.reporter.Report(
        MakeError(ErrorKind::kCancelled, context.preview ? "preview canceled" : "update canceled"));
  }
  DeploymentResult result;
  result.kind = context.failed()    ? DeploymentResultKind::kFailed
                : context.cancelled ? DeploymentResultKind::kCancelled
                                    : DeploymentResultKind::kSucceeded;
  result.maybe_corrupt = context.maybe_corrupt && !context.preview;
  result.changes = context.reporter.changes();
  const auto stack = context.news.find(context.root_stack);
  if (stack != context.news.end()) {
    result.outputs = stack->second->outputs;
  }
  context.reporter.Summary(result.kind, result.maybe_corrupt);
  co_return result;
}

}  // namespace davit
