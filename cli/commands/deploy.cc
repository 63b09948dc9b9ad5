#include "cli/commands/deploy.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "cli/commands/commands.h"
#include "cli/commands/config_edit.h"
#include "cli/commands/history.h"
#include "cli/commands/plan_file.h"
#include "cli/commands/shared.h"
#include "cli/json_writer.h"
#include "cli/pending_creates.h"
#include "cli/stack_states.h"
#include "cli/terminal.h"
#include "cli/workspace/autonaming_config.h"
#include "cli/workspace/program_files.h"
#include "engine/yaml/yaml_source.h"

namespace davit {
namespace {

Error Collected(const std::vector<Error>& errors) {
  if (errors.size() == 1) {
    return errors[0];
  }
  std::string message = fmt::format("{} errors occurred:", errors.size());
  for (std::size_t i = 0; i < errors.size(); ++i) {
    message += fmt::format("\n    {}) {}", i + 1, errors[i].Text());
  }
  return MakeError(ErrorKind::kInvalid, message);
}

// Y6: full key -> text as stored.
std::string ConfigJson(const std::map<std::string, ConfigValue>& config) {
  JsonWriter json;
  json.BeginObject();
  for (const auto& [key, value] : config) {
    json.Key(key).String(value.text);
  }
  json.EndObject();
  return json.Take();
}

}  // namespace

// E131, E137, E154: gives the exit status when there is nothing to begin with.
Result<std::optional<int>> DeployCommand::CheckOptions() {
  const DeploymentOptions& options = flags_.options;
  if (options.mode != DeploymentMode::kUpdate) {
    const std::vector<Error> errors = CheckSelection(state_.snapshot, options);
    if (!errors.empty()) {
      return Fail(Collected(errors));
    }
  }
  if (options.exclude_protected) {
    const std::vector<std::string> kept = ProtectedAndNeeded(state_.snapshot);
    const std::set<std::string> names(kept.begin(), kept.end());
    const auto is_kept = [&](const StatePtr& state) { return names.contains(state->urn.text()); };
    if (!state_.snapshot.resources.empty() &&
        std::ranges::all_of(state_.snapshot.resources, is_kept)) {
      context_.Out(
          "There is nothing to destroy: every resource is protected, or needed by one that is.\n");
      return std::optional<int>(kExitOk);
    }
  }
  return std::optional<int>();
}

Result<int> DeployCommand::Run() {
  DAVIT_TRY_VOID(Open());
  DAVIT_TRY_VOID(SetGivenConfig());
  DAVIT_TRY_VOID(LoadState());
  if (mode() == DeploymentMode::kImport) {
    DAVIT_TRY(imports_, ReadImportOrder(context_, *session_, manager_));
  }
  DAVIT_TRY(const std::optional<int> ended, CheckOptions());
  if (ended) {
    return *ended;
  }
  DAVIT_TRY_VOID(LoadConfig());
  DAVIT_TRY_VOID(LoadPlan());
  DAVIT_TRY_VOID(LoadProgram());
  DAVIT_TRY_VOID(PrepareSecrets());
  AppOptions options;
  options.context = &context_;
  options.workspace = &session_->workspace;
  options.config = config_;
  options.abandon = [this] { lock_.reset(); };  // B137: nobody else has to break it
  DAVIT_TRY(app_, App::Create(std::move(options)));
  app_->Preload(packages_);
  if (flags_.NeedsProgram() && !IsYaml()) {
    source_ = app_->LanguageProgram(session_->workspace);
  }
  Result<int> result = RunBoth();
  app_->Close(nullptr);
  if (verified_.valid()) {
    verified_.wait();
  }
  return result;
}

Result<void> DeployCommand::Open() {
  DAVIT_TRY(session_, OpenStack(context_));
  if (session_->file.has_environment()) {
    return Fail(
        ErrorKind::kUnimplemented,
        fmt::format("'{}' names environments, which need a hosted service", session_->file.path()));
  }
  const std::string log = context_.invocation().Text("event-log");
  if (!log.empty()) {
    DAVIT_TRY(log_, EventLog::Open((std::filesystem::path(context_.directory()) / log).string()));
  }
  if (!flags_.preview_only) {
    DAVIT_TRY(lock_, session_->backend->Lock(session_->stack));
  }
  return {};
}

Result<void> DeployCommand::SetGivenConfig() {
  const std::vector<std::string> assignments = context_.invocation().List("config");
  if (assignments.empty()) {
    return {};
  }
  const bool is_path = context_.invocation().Bool("config-path");
  for (const std::string& assignment : assignments) {
    using Assignment = std::pair<std::string, std::string>;
    DAVIT_TRY(const Assignment parts, SplitAssignment(assignment));
    DAVIT_TRY(const ConfigKey key, ParseConfigKey(parts.first, session_->stack.project, is_path));
    DAVIT_TRY(ConfigNode node,
              ConfigValueNode(*session_, parts.second, false, key.path.segments().size() > 1));
    DAVIT_TRY_VOID(SetConfigValue(*session_, parts.first, std::move(node), is_path));
  }
  return session_->file.Save();
}

Result<void> DeployCommand::LoadState() {
  DAVIT_TRY(
      state_,
      session_->backend->Load(session_->stack, session_->secrets->Opener(), lock_ != nullptr));
  if (state_.recovery) {
    context_.Warn(fmt::format(
        "an earlier run did not end; {} of its records were {}{}",
        state_.recovery->entries,
        lock_ ? "added to the state" : "read",
        state_.recovery->pending_operations > 0
            ? fmt::format("; {} operations were in flight", state_.recovery->pending_operations)
            : ""));
  }
  const std::vector<Error> faults = VerifySnapshot(state_.snapshot);
  if (!faults.empty()) {
    return Fail(std::move(Collected(faults)).WithContext("the state of the stack is damaged"));
  }
  DAVIT_TRY(manager_,
            session_->secrets->Resolve(
                session_->file, state_.snapshot.secrets_type, state_.snapshot.secrets_state));
  return mode() == DeploymentMode::kRefresh ? SettlePending() : Result<void>();
}

// E151. What is decided is stored when the refresh itself begins.
Result<void> DeployCommand::SettlePending() {
  const Invocation& words = context_.invocation();
  const std::vector<Urn> pending = PendingCreates(state_.snapshot);
  PendingCreateChoices choices;
  DAVIT_TRY(choices.adopted, ParseAdopted(words.List("import-pending-creates")));
  const bool clears = words.Bool("clear-pending-creates");
  if (clears && words.Bool("skip-pending-creates")) {
    return Fail(ErrorKind::kInvalid,
                "--skip-pending-creates and --clear-pending-creates exclude each other");
  }
  const bool asks = !clears && !words.Bool("skip-pending-creates") && choices.adopted.empty() &&
                    context_.is_interactive() && !flags_.is_approved && !flags_.preview_only;
  if (clears) {
    choices.cleared = pending;
  }
  for (const Urn& urn : asks ? pending : std::vector<Urn>()) {
    context_.Err(fmt::format("'{}' was being created when an earlier run ended.\n", urn.text()));
    const std::string answer = Ask("Its id if it exists, `clear` if it does not, or empty to leave "
                                   "it undecided: ",
                                   false)
                                   .value_or("");
    if (answer == "clear") {
      choices.cleared.push_back(urn);
    } else if (!answer.empty()) {
      choices.adopted[urn] = answer;
    }
  }
  has_settled_ = !choices.cleared.empty() || !choices.adopted.empty();
  DAVIT_TRY_VOID(SettlePendingCreates(choices, &state_.snapshot));
  for (const Urn& urn : PendingCreates(state_.snapshot)) {  // B009
    context_.Err(
        fmt::format("the create of '{}' is still undecided; --clear-pending-creates says "
                    "that nothing was made, --import-pending-creates gives its id\n",
                    urn.text()));
  }
  return {};
}

Result<void> DeployCommand::LoadConfig() {
  const ProjectFile& project = session_->workspace.project();
  const Decrypter decrypt = DecrypterOf(manager_);
  DAVIT_TRY(effective_config_, MergeConfig(session_->file, project));
  // C14: without its program, a destroy uses no configuration but that of providers in the state.
  const bool is_checked = (mode() != DeploymentMode::kDestroy || flags_.NeedsProgram()) &&
                          !context_.invocation().Bool("skip-config-validation");
  if (is_checked) {
    DAVIT_TRY_VOID(
        ValidateConfig(effective_config_, session_->file, project, session_->stack.stack, decrypt));
  }
  DAVIT_TRY(config_, Decrypted(effective_config_, session_->file, project, decrypt));
  return {};
}

// C12, E211.
Result<void> DeployCommand::LoadPlan() {
  if (!flags_.plan.empty()) {
    const std::filesystem::path path = std::filesystem::path(context_.directory()) / flags_.plan;
    DAVIT_TRY(plan_, ReadPlanFile(path.string(), *session_, manager_));
  }
  return {};
}

// C13, C18.
Result<void> DeployCommand::SavePlan(UpdatePlan plan, bool has_secrets) {
  DAVIT_TRY_VOID(NeedManagerFor(has_secrets || HasSecrets(plan)));
  PlanFileWriting writing;
  writing.session = &*session_;
  writing.config = &effective_config_;
  writing.manager = manager_;
  writing.time = std::chrono::time_point_cast<std::chrono::nanoseconds>(app_->loop().WallNow());
  writing.show_secrets = context_.invocation().Bool("show-secrets");
  const std::filesystem::path path = std::filesystem::path(context_.directory()) / flags_.save_plan;
  DAVIT_TRY_VOID(WritePlanFile(path.string(), std::move(plan), writing));
  context_.Err(
      fmt::format("The plan is in '{0}'; `davit up --plan '{0}'` does that and nothing else\n",
                  flags_.save_plan));
  return {};
}

Result<void> DeployCommand::LoadProgram() {
  if (!flags_.NeedsProgram()) {
    return {};
  }
  for (const LocalPackage& package : session_->workspace.project().local_packages) {  // Y24
    const std::filesystem::path folder(session_->workspace.project().directory);
    std::error_code ignored;
    if (!std::filesystem::exists(folder / package.path, ignored)) {
      Error error = MakeError(
          ErrorKind::kInvalid,
          fmt::format(
              "the package '{}' is at '{}', which is not there", package.name, package.path),
          "correct the path under 'packages', or remove the entry");
      error.where = package.where;
      return Fail(std::move(error));
    }
  }
  if (!IsYaml()) {
    const std::optional<Error> unmet = UnmetVersion(session_->workspace.project());
    return unmet ? Result<void>(Fail(*unmet)) : Result<void>();
  }
  const ProjectFile& project = session_->workspace.project();
  const RunInfo defaults;
  ProgramLoad load = LoadProgramFiles(project,
                                      context_.environment(),
                                      {{"PULUMI_CONFIG", ConfigJson(config_)},
                                       {"PULUMI_ORGANIZATION", defaults.organization},
                                       {"PULUMI_PROJECT", project.name},
                                       {"PULUMI_ROOT_DIRECTORY", project.directory},
                                       {"PULUMI_STACK", session_->stack.stack}});
  session_->workspace.DropDocument();
  for (const Error& warning : load.warnings) {
    context_.Warn(warning.Text());
  }
  if (!load.errors.empty()) {
    return Fail(Collected(load.errors));
  }
  source_ = std::move(load.source);
  packages_ = std::move(load.packages);
  return {};
}

// S70: a wrong passphrase has to show before anything is changed. Deriving the key takes a while,
// so it runs beside the preview; where somebody may have to type, it comes first.
Result<void> DeployCommand::PrepareSecrets() {
  if (flags_.preview_only) {
    return {};
  }
  DAVIT_TRY(const std::optional<std::string> passphrase, PassphraseFromEnvironment());
  if (!manager_ && passphrase) {
    DAVIT_TRY(manager_, session_->ManagerForWriting());
    return session_->file.Save();
  }
  if (manager_ && passphrase) {
    verified_ = std::async(std::launch::async,
                           [manager = manager_] { return StackSecrets::Verify(*manager); });
    return {};
  }
  return manager_ ? StackSecrets::Verify(*manager_) : Result<void>();
}

DisplayOptions DeployCommand::DisplayFor(bool is_preview) const {
  const Invocation& words = context_.invocation();
  DisplayOptions options;
  options.mode = mode();
  options.is_preview = is_preview;
  options.stack = session_->stack.stack;
  options.project = session_->stack.project;
  options.style = context_.style();
  options.show_sames = words.Bool("show-sames");
  options.show_reads = words.Bool("show-reads");
  options.show_replacement_steps = words.Bool("show-replacement-steps");
  options.show_secrets = words.Bool("show-secrets");
  options.show_config = words.Bool("show-config");
  options.show_full_output = words.Bool("show-full-output");
  options.show_urns = words.Bool("urns");
  options.show_debug = words.Bool("debug");
  options.show_policy_remediations = words.Bool("show-policy-remediations");
  options.suppress_outputs = words.Bool("suppress-outputs");
  options.suppress_progress = words.Bool("suppress-progress");
  return options;
}

Result<DeploymentResult> DeployCommand::RunOne(bool is_preview, RunOutput& output) {
  const ProjectFile& project = session_->workspace.project();
  RunRequest request;
  request.options = flags_.options;
  request.options.preview = is_preview;
  request.options.refresh_first = flags_.refresh.value_or(project.refresh_option == "always");
  request.info.project = project.name;
  request.info.stack = session_->stack.stack;
  request.info.root_directory = project.directory;
  request.info.program_directory = session_->workspace.ProgramDirectory();
  request.info.config = config_;
  DAVIT_TRY(request.info.autonaming, ReadAutonaming(request.info));
  request.info.preview = is_preview;
  request.info.parallel =
      static_cast<int>(std::min<long>(flags_.options.parallel, std::numeric_limits<int>::max()));
  request.base = state_.snapshot;
  request.source = source_.get();
  request.events = &output;
  request.imports = mode() == DeploymentMode::kImport ? &imports_.specs : nullptr;
  request.plan = plan_ ? &*plan_ : nullptr;
  DAVIT_TRY(request.policy_packs, ReadyPolicyPacks(flags_.policy_packs));
  request.makes_plan = is_preview && (flags_.is_strict || !flags_.save_plan.empty());
  StackStates stacks(context_, session_->workspace);
  request.stacks = &stacks;
  request.tick = [&output](std::chrono::system_clock::time_point now) { output.Tick(now); };
  std::unique_ptr<StackJournal> journal;
  if (!is_preview) {
    DAVIT_TRY(journal,
              session_->backend->OpenJournal(
                  session_->stack, state_.snapshot, manager_, app_->loop(), app_->Worker()));
    request.journal = journal.get();
  }
  output.Begin();
  Result<DeploymentResult> result = app_->Run(std::move(request));
  output.Finish();
  if (journal) {
    Result<void> folded = journal->Fold();
    if (!folded) {
      return Fail(std::move(folded.error())
                      .WithContext("the state could not be saved; the next run recovers it"));
    }
  }
  return result;
}

Result<int> DeployCommand::RunBoth() {
  if (!flags_.skip_preview) {
    DAVIT_TRY(const std::optional<int> ended, Preview());
    if (ended) {
      return *ended;
    }
  }
  return Change();
}

// Gives the exit status when the command ends with the preview.
Result<std::optional<int>> DeployCommand::Preview() {
  const bool will_ask = !flags_.preview_only && !flags_.is_approved;
  RunOutput output(context_, DisplayFor(true), MessageMask(config_), log_.get(), will_ask);
  DAVIT_TRY(DeploymentResult result, RunOne(true, output));
  if (flags_.preview_only) {
    app_->Close(&output);
  }
  output.End(app_->loop().WallNow());
  const int code = ExitOf(result, true);
  const bool is_good = result.kind == DeploymentResultKind::kSucceeded;
  if (is_good && !flags_.save_plan.empty()) {
    DAVIT_TRY_VOID(SavePlan(*std::move(result.plan), output.has_secrets()));
  } else if (is_good && flags_.is_strict) {
    plan_ = std::move(result.plan);
  }
  if (code != kExitOk || flags_.preview_only) {
    if (code == kExitOk && mode() == DeploymentMode::kImport) {
      DAVIT_TRY_VOID(ShowImportCode(context_, imports_, result.imported));
    }
    return std::optional<int>(code);
  }
  DAVIT_TRY_VOID(NeedManagerFor(output.has_secrets()));
  if (will_ask) {
    DAVIT_TRY(const bool approved, Approved(output));
    if (!approved) {
      return std::optional<int>(kExitFailed);
    }
  } else if (!context_.invocation().Bool("json") &&
             context_.invocation().Text("output") != "json" &&
             !context_.invocation().Bool("diff")) {
    context_.Out("\n");
  }
  return std::optional<int>();
}

Result<int> DeployCommand::Change() {
  if (verified_.valid()) {
    DAVIT_TRY_VOID(verified_.get());
  }
  if (has_settled_) {
    DAVIT_TRY_VOID(session_->backend->Save(session_->stack, state_.snapshot, manager_));
  }
  RunOutput output(context_, DisplayFor(false), MessageMask(config_), log_.get(), false);
  FinishedRun run;
  run.mode = mode();
  run.start = app_->loop().WallNow();
  const Result<DeploymentResult> ran = RunOne(false, output);
  run.end = app_->loop().WallNow();
  run.succeeded = ran && ran->kind == DeploymentResultKind::kSucceeded;
  run.changes = ran ? ran->changes : std::map<StepOp, int>();
  run.config = &effective_config_;
  run.manager = manager_;
  KeepHistory(context_, *session_, run);
  DAVIT_TRY(const DeploymentResult result, ran);
  app_->Close(&output);
  output.End(app_->loop().WallNow());
  const int code = ExitOf(result, false);
  if (code == kExitOk && mode() == DeploymentMode::kDestroy) {
    DAVIT_TRY_VOID(AfterDestroy());
  }
  if (code == kExitOk && mode() == DeploymentMode::kImport) {
    DAVIT_TRY_VOID(ShowImportCode(context_, imports_, result.imported));
  }
  return code;
}

// Without a manager a secret could not be stored, and what was created would be lost.
Result<void> DeployCommand::NeedManagerFor(bool has_secrets) {
  if (manager_ || !has_secrets) {
    return {};
  }
  Result<std::shared_ptr<SecretsManager>> manager = session_->ManagerForWriting();
  if (!manager) {
    return Fail(std::move(manager.error())
                    .WithContext("the program has secrets, and the stack has no passphrase yet"));
  }
  manager_ = *std::move(manager);
  return session_->file.Save();
}

Result<bool> DeployCommand::Approved(const RunOutput& preview) {
  const bool has_details = !context_.invocation().Bool("diff");
  if (!preview.has_changes()) {
    context_.Out("\nNothing beyond the stack itself would change.\n");
  }
  if (mode() == DeploymentMode::kRefresh) {
    context_.Out("\nOnly the state changes: no resource is created, updated or deleted.\n");
  }
  context_.Out(preview.LeftBehindText());
  while (true) {
    const std::string question = fmt::format("\nDo you want to perform this {}? [yes/no{}] (no): ",
                                             ModeName(mode()),
                                             has_details ? "/details" : "");
    const std::string answer =
        Ask(context_.style().BoldFg(kPromptColor, question), false).value_or("no");
    if (answer == "yes" || answer == "y") {
      context_.Out("\n");
      return true;
    }
    if (has_details && (answer == "details" || answer == "d")) {
      context_.Out(preview.Details());
      continue;
    }
    context_.Err(
        fmt::format("confirmation declined, not proceeding with the {}\n", ModeName(mode())));
    return false;
  }
}

int DeployCommand::ExitOf(const DeploymentResult& result, bool is_preview) const {
  switch (result.kind) {
    case DeploymentResultKind::kFailed:
      return app_->is_cancelled() ? kExitCancelled : kExitFailed;
    case DeploymentResultKind::kCancelled:
      return kExitCancelled;
    case DeploymentResultKind::kSucceeded:
      break;
  }
  // `up` is judged after the change was made (C11).
  const bool is_judged = flags_.expect_no_changes && (!is_preview || flags_.preview_only);
  const bool has_changes =
      std::any_of(result.changes.begin(), result.changes.end(), [](const auto& change) {
        return change.first != StepOp::kSame && change.first != StepOp::kRead && change.second > 0;
      });
  if (is_judged && has_changes) {
    context_.Err(fmt::format("error: no changes were expected for {} but changes {}\n",
                             is_preview ? "preview" : ModeName(mode()),
                             is_preview ? "were proposed" : "occurred"));
    return kExitUnexpectedChanges;
  }
  return kExitOk;
}

// C17. What was left alone on purpose keeps the stack.
Result<void> DeployCommand::AfterDestroy() {
  const Invocation& words = context_.invocation();
  const bool is_quiet = words.Bool("json") || words.Text("output") == "json";
  long left = 0;
  if (flags_.IsPartial()) {
    DAVIT_TRY(const LoadedStack after, session_->LoadMasked());
    left = std::count_if(after.snapshot.resources.begin(),
                         after.snapshot.resources.end(),
                         [](const StatePtr& state) { return !state->urn.is_root_stack(); });
  }
  if (left > 0) {
    const std::string count = fmt::format("{} resource{}", left, left == 1 ? "" : "s");
    if (words.Bool("remove")) {
      context_.Warn(fmt::format("the stack is not removed: {} remain in it", count));
    } else if (!is_quiet && flags_.options.exclude_protected) {
      context_.Out(fmt::format(
          "\nAll unprotected resources were destroyed; {} stay: those that are protected and what "
          "they need.\n",
          count));
    }
    return {};
  }
  if (words.Bool("remove")) {
    DAVIT_TRY_VOID(DeleteLockedStack(*session_, false, false, false));
  }
  if (!is_quiet) {
    context_.Out(
        words.Bool("remove")
            ? "\nThe resources in the stack have been deleted, and the stack and its configuration "
              "removed.\n"
            : fmt::format(
                  "\nThe resources in the stack have been deleted, but the configuration "
                  "associated with the stack is still maintained.\nIf you want to remove the "
                  "stack completely, run `davit stack rm {}`.\n",
                  session_->stack.stack));
  }
  return {};
}

namespace {

Result<int> Deploy(Context& context, DeploymentMode mode, bool preview_only) {
  DAVIT_TRY(DeployFlags flags, ReadDeployFlags(context, mode, preview_only));
  return DeployCommand(context, std::move(flags)).Run();
}

}  // namespace

Result<int> RunUp(Context& context) {
  return Deploy(context, DeploymentMode::kUpdate, false);
}
Result<int> RunPreview(Context& context) {
  return Deploy(context, DeploymentMode::kUpdate, true);
}
Result<int> RunDestroy(Context& context) {
  return Deploy(context, DeploymentMode::kDestroy, false);
}
Result<int> RunRefresh(Context& context) {
  return Deploy(context, DeploymentMode::kRefresh, false);
}
Result<int> RunImportCommand(Context& context) {
  return Deploy(context, DeploymentMode::kImport, false);
}

}  // namespace davit
