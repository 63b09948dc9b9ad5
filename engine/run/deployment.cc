#include "engine/deployment.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/waiting.h"
#include "engine/run/delete_phase.h"
#include "engine/run/hooks.h"
#include "engine/run/import.h"
#include "engine/run/migrate_state.h"
#include "engine/run/plan_hold.h"
#include "engine/run/policies.h"
#include "engine/run/refresh.h"
#include "engine/run/registration.h"

namespace davit {
namespace {

// A program that ends because its registrations were no longer served did not fail by itself.
void NoteProgramFailure(RunContext& context, const Error& failure) {
  if (!failure.reported || !context.cancelled) {
    context.program_failed = true;
    context.reporter.Report(failure);
  }
}

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
  if (failure) {
    NoteProgramFailure(context, *failure);
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

Error NotFound(const std::string& literal, const char* what) {
  const bool may_be_shell = literal.find('$') == std::string::npos;
  Error error = MakeError(
      ErrorKind::kInvalid,
      fmt::format("the {} '{}' could not be found", what, literal),
      may_be_shell ? "check the URN; a shell may have removed a '$' from it" : "check the URN");
  error.code = may_be_shell ? 2011 : 2010;
  return error;
}

constexpr const char* kReplaced = "resource to replace";

// E131, E137: literal entries have to exist, in the state or in the program.
void CheckLiterals(RunContext& context, const TargetList& list, const char* what) {
  for (const std::string& literal : list.Literals()) {
    const Urn urn = Urn::Trusted(literal);
    if (!context.old_by_urn.contains(urn) && !context.seen.contains(urn)) {
      context.reporter.Report(NotFound(literal, what));
      context.generator_failed = true;
    }
  }
}

// E131: what is to be refreshed has to be there before anything is done.
Task<void> RefreshFirst(RunContext& context, RefreshScope which) {
  if (!context.base.empty()) {
    CheckLiterals(context, context.selection.targets(), "target");
    CheckLiterals(context, context.selection.excludes(), "excluded resource");
  }
  if (!context.generator_failed) {
    co_await RunRefresh(context, which);
  }
}

void WarnPending(RunContext& context) {  // E152
  if (context.request.base.pending_operations.empty()) {
    return;
  }
  std::string list;
  for (const PendingOperation& operation : context.request.base.pending_operations) {
    list += fmt::format("\n  * {}, interrupted while {}",
                        operation.resource->urn.text(),
                        OperationTypeName(operation.type));
  }
  context.reporter.Log(
      context.preview ? Severity::kInfo : Severity::kWarning,
      "an earlier run was interrupted; these operations may or may not have happened:" + list +
          "\nrun `davit refresh` to see what exists",
      Urn());
}

Task<void> RunProgramSteps(RunContext& context, Generator& generator, Monitor& monitor) {
  Scope program(context.loop);
  program.Spawn(RunProgram(context, generator, monitor));
  co_await generator.Run();
  co_await program.Join();
}

Task<void> RunSteps(RunContext& context, Generator& generator) {
  const DeploymentOptions& options = context.request.options;
  const bool runs_program = options.mode == DeploymentMode::kUpdate || options.run_program;
  const Result<void> migrated = co_await MigrateState(context);
  if (!migrated) {
    context.reporter.Report(migrated.error());
    context.step_failed = true;
    co_return;
  }
  if (options.mode == DeploymentMode::kImport) {
    WarnPending(context);
    co_await RunImport(context);
    co_return;
  }
  // Only an update refreshes registration by registration (E147); a destroy has read everything
  // before its program.
  const bool refreshes_all =
      options.refresh_first && (!options.run_program || options.mode == DeploymentMode::kDestroy);
  if (!context.failed() && refreshes_all) {
    co_await RefreshFirst(context, RefreshScope::kBeforeRun);
  } else if (!context.failed() && options.mode == DeploymentMode::kRefresh && !runs_program) {
    co_await RunRefresh(context, RefreshScope::kStandalone);
    co_return;
  } else if (options.mode != DeploymentMode::kRefresh) {
    WarnPending(context);
    const bool is_marked = std::ranges::any_of(
        context.base, [](const StatePtr& state) { return state->refresh_before_update; });
    if (!context.failed() && is_marked && !options.run_program) {
      co_await RefreshFirst(context, RefreshScope::kMarked);
    }
  }
  if (!context.failed()) {
    CheckLiterals(context, context.forced, kReplaced);
  }
  if (!runs_program) {
    const Result<void> free_of_hooks = CheckNoDeleteHooks(context);  // E153
    if (!free_of_hooks) {
      context.reporter.Report(free_of_hooks.error());
      context.generator_failed = true;
    }
  }
  if (context.failed()) {
    co_return;
  }
  std::optional<RegistrationMonitor> monitor;
  if (runs_program) {
    const Result<void> prepared = co_await context.request.source->Prepare(context.request.cancel);
    if (!prepared) {
      NoteProgramFailure(context, prepared.error());
      co_return;
    }
    monitor.emplace(context, generator);
    co_await RunProgramSteps(context, generator, *monitor);
  }
  const bool ended_well = !context.stopped() && !context.program_failed;
  if (ended_well && options.mode == DeploymentMode::kRefresh) {
    co_await RefreshUnregistered(context);
  } else if (ended_well) {
    co_await RunDeletePhase(context);
    if (options.mode == DeploymentMode::kUpdate && !context.generator_failed) {  // E131
      CheckLiterals(context, context.selection.targets(), "target");
    }
    ReportLeftovers(context);
  }
  if (monitor) {
    const Result<void> finished = co_await context.request.source->Finish();
    if (!finished) {
      NoteProgramFailure(context, finished.error());
    }
    co_await monitor->Close();
  }
  co_await FinishStack(context);
  // What policies have found in a preview so far does not keep the stack from being judged.
  if (runs_program && ended_well && !context.stopped() && !context.step_failed) {
    co_await AnalyzeStack(context);
  }
}

}  // namespace

std::vector<Error> CheckSelection(const Snapshot& base, const DeploymentOptions& options) {
  std::unordered_set<std::string> known;
  for (const StatePtr& state : base.resources) {
    known.insert(state->urn.text());
  }
  std::vector<Error> errors;
  const auto check = [&](const std::vector<std::string>& entries, const char* what) {
    const TargetList list(entries);
    for (const std::string& literal : list.Literals()) {
      if (!known.contains(literal)) {
        errors.push_back(NotFound(literal, what));
      }
    }
  };
  check(options.targets, "target");
  check(options.excludes, "excluded resource");
  check(options.replaces, kReplaced);
  return errors;
}

std::vector<std::string> ProtectedAndNeeded(const Snapshot& base) {
  std::vector<std::size_t> roots;
  for (std::size_t index = 0; index < base.resources.size(); ++index) {
    if (base.resources[index]->protect) {
      roots.push_back(index);
    }
  }
  std::set<std::string> urns;
  for (const std::size_t index : roots) {
    urns.insert(base.resources[index]->urn.text());
  }
  for (const std::size_t index : RecordGraph(base.resources).Reachable(roots)) {
    urns.insert(base.resources[index]->urn.text());
  }
  return {urns.begin(), urns.end()};
}

Task<DeploymentResult> RunDeployment(DeploymentRequest request) {
  Loop& loop = co_await CurrentLoop();
  if (request.options.exclude_protected) {
    const std::vector<std::string> kept = ProtectedAndNeeded(request.base);
    request.options.excludes.insert(request.options.excludes.end(), kept.begin(), kept.end());
  }
  if (request.options.mode == DeploymentMode::kImport) {
    request.options.continue_on_error = true;  // E33
  }
  RunContext context(loop, request);
  context.SetBase(request.base.resources);
  const BuiltinConnection builtins(context);
  Generator generator(context);
  Scope cancelling(loop);
  const CancelRegistration on_cancel = request.cancel.OnCancel([&] {  // E35
    context.cancelled = true;
    generator.Wake();
    cancelling.Spawn(request.pool->CancelAll());
    for (const std::shared_ptr<Analyzer>& analyzer : request.analyzers) {
      cancelling.Spawn(analyzer->Cancel());
    }
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
  if (request.imports != nullptr) {
    result.imported = ImportedRecords(context);
  }
  if (request.makes_plan) {
    result.plan = context.plan_recorder.Take();
  }
  const auto stack = context.news.find(context.root_stack);
  if (stack != context.news.end()) {
    result.outputs = stack->second->outputs;
  }
  std::vector<PolicyPack> packs;
  for (const std::shared_ptr<Analyzer>& analyzer : request.analyzers) {
    packs.push_back(analyzer->pack());
  }
  context.reporter.Summary(result.kind, result.maybe_corrupt, std::move(packs));
  co_return result;
}

}  // namespace davit
