// `state ...` but for `state edit` and `state upgrade` (C55-C57, S156-S161).

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/commands/shared.h"
#include "cli/display/event_json.h"
#include "cli/display/value_print.h"
#include "cli/json_writer.h"
#include "cli/session.h"
#include "cli/state_edit.h"
#include "cli/state_move.h"
#include "cli/state_repair.h"
#include "cli/terminal.h"

namespace davit {
namespace {

std::vector<Urn> UrnsGiven(const Context& context) {
  std::vector<Urn> urns;
  for (const std::string& text : context.invocation().arguments) {
    urns.push_back(Urn::Trusted(text));  // what is no URN is not in the state either
  }
  return urns;
}

Result<void> NeedUrnsOrAll(const Context& context) {
  const Invocation& words = context.invocation();
  if (words.arguments.empty() == words.Bool("all")) {
    return {};
  }
  return words.Bool("all")
             ? Fail(ErrorKind::kInvalid, "either URNs or --all may be given, not both")
             : Fail(ErrorKind::kInvalid,
                    "a URN must be given, or --all",
                    "`davit stack --show-urns` lists the URNs of the stack");
}

Result<void> Confirm(const Context& context) {
  if (IsApproved(context) || !context.is_interactive()) {
    return {};
  }
  const std::string answer =
      Ask("This changes the state without asking any provider. Continue? [yes/no] (no): ", false)
          .value_or("no");
  return answer == "yes" || answer == "y"
             ? Result<void>()
             : Result<void>(Fail(ErrorKind::kRefused, "confirmation declined"));
}

std::string Faults(const Snapshot& snapshot) {
  std::string text;
  for (const Error& fault : VerifySnapshot(snapshot)) {
    text += (text.empty() ? "" : "; ") + fault.message;
  }
  return text;
}

// S156, but under the lock from the beginning: what an edit is based on cannot change meanwhile.
template <typename Edit>
Result<int> EditState(Context& context, Edit edit) {
  DAVIT_TRY(StackSession session, OpenStack(context));
  DAVIT_TRY(const std::unique_ptr<StackLock> lock, session.backend->Lock(session.stack));
  DAVIT_TRY(LoadedStack loaded,
            session.backend->Load(session.stack, session.secrets->Opener(), true));
  const bool was_sound = Faults(loaded.snapshot).empty();
  DAVIT_TRY(const std::string done, edit(&loaded.snapshot));
  const std::string faults = Faults(loaded.snapshot);
  if (was_sound && !faults.empty()) {
    return Fail(ErrorKind::kRefused,
                fmt::format("the state would no longer be sound: {}", faults),
                "nothing was changed");
  }
  DAVIT_TRY_VOID(Confirm(context));
  DAVIT_TRY(std::shared_ptr<SecretsManager> manager, ManagerForSaving(session, loaded.snapshot));
  DAVIT_TRY_VOID(session.backend->Save(session.stack, loaded.snapshot, std::move(manager)));
  context.Out(done + "\n");
  return kExitOk;
}

// A record by its URN, or by its name if only one has it.
Result<StatePtr> FindRecord(const std::string& text, const Snapshot& snapshot) {
  std::vector<StatePtr> found;
  for (const StatePtr& record : snapshot.resources) {
    if (record->urn.text() == text || record->urn.name() == text) {
      found.push_back(record);
    }
  }
  if (found.empty()) {
    return NoSuchResource(Urn::Trusted(text), snapshot);
  }
  std::ranges::stable_partition(found,
                                [](const StatePtr& record) { return !record->pending_delete; });
  const auto is_other = [&](const StatePtr& record) { return record->urn != found.front()->urn; };
  if (std::ranges::any_of(found, is_other)) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("{} resources have the name '{}'", found.size(), text),
                "give a URN; `davit stack --show-urns` lists them");
  }
  return found.front();
}

std::string RecordJson(const ResourceState& record, bool show_secrets) {
  const SecretForm form = show_secrets ? SecretForm::kShown : SecretForm::kText;
  JsonWriter json(2);
  json.BeginObject().Key("id").String(record.id);
  WriteMap(record.inputs, form, &json.Key("inputs"));
  WriteMap(record.outputs, form, &json.Key("outputs"));
  if (record.pending_delete) {
    json.Key("pendingDeletion").Bool(true);
  }
  json.Key("type").String(record.type).Key("urn").String(record.urn.text());
  return json.EndObject().Take() + "\n";
}

std::string RecordText(const ResourceState& record, bool show_secrets) {
  std::string text = fmt::format("Type: {}\nURN:  {}\n", record.type, record.urn.text());
  text += record.id.empty() ? "" : fmt::format("ID:   {}\n", record.id);
  text += record.pending_delete ? "Waits for its deletion\n" : "";
  PrintOptions options;
  options.show_secrets = show_secrets;
  options.show_full_output = true;
  const auto section = [&](const char* title, const PropertyMap& map) {
    return map.empty()
               ? std::string()
               : fmt::format("{}:\n{}\n", title, PrintMap(map, 1, ValueMark::kNone, options));
  };
  return text + section("Inputs", record.inputs) + section("Outputs", record.outputs);
}

std::string Listed(const std::string& title, const std::vector<std::string>& lines) {
  return lines.empty() ? std::string()
                       : fmt::format("{}\n\n  - {}\n\n", title, fmt::join(lines, "\n  - "));
}

// S160: what it is about to do.
void Announce(const Context& context,
              const StateMoveReport& report,
              const StackRef& from,
              const StackRef& to) {
  std::vector<std::string> moved;
  for (const Urn& urn : report.moved) {
    moved.push_back(urn.text());
  }
  for (const Urn& urn : report.missing) {
    context.Warn(fmt::format("resource '{}' not found in source stack", urn.text()));
  }
  const std::string from_name = from.Text();
  const std::string to_name = to.Text();
  std::string text = Listed(
      fmt::format("Planning to move the following resources from {} to {}:", from_name, to_name),
      moved);
  text += Listed(fmt::format("The following resources remaining in {} have dependencies on "
                             "resources moved to {}:",
                             from_name,
                             to_name),
                 report.staying);
  text += Listed(fmt::format("The following resources being moved to {} have dependencies on "
                             "resources in {}:",
                             to_name,
                             from_name),
                 report.moving);
  if (!report.staying.empty() || !report.moving.empty()) {
    text +=
        "These dependencies are dropped; pass the values through outputs and stack references.\n\n";
  }
  context.Out(text);
}

Result<int> Flag(Context& context, bool ResourceState::*flag, bool value, const char* done) {
  DAVIT_TRY_VOID(NeedUrnsOrAll(context));
  const bool all = context.invocation().Bool("all");
  return EditState(context, [&](Snapshot* snapshot) -> Result<std::string> {
    DAVIT_TRY(const int count, SetFlag(UrnsGiven(context), all, flag, value, snapshot));
    return all ? fmt::format("All resources {}", done)
               : fmt::format("{} resource{} {}", count, count == 1 ? "" : "s", done);
  });
}

}  // namespace

Result<int> DeleteState(Context& context) {
  DAVIT_TRY_VOID(NeedUrnsOrAll(context));
  StateDeleteRequest request;
  request.urns = UrnsGiven(context);
  request.all = context.invocation().Bool("all");
  request.force = context.invocation().Bool("force");
  request.dependents = context.invocation().Bool("target-dependents");
  return EditState(context, [&](Snapshot* snapshot) -> Result<std::string> {
    const std::size_t before = snapshot->resources.size();
    DAVIT_TRY_VOID(DeleteRecords(request, snapshot));
    const std::size_t count = before - snapshot->resources.size();
    return fmt::format("{} resource{} deleted from the state", count, count == 1 ? "" : "s");
  });
}

Result<int> RenameState(Context& context) {
  const std::vector<std::string>& words = context.invocation().arguments;
  return EditState(context, [&](Snapshot* snapshot) -> Result<std::string> {
    DAVIT_TRY_VOID(RenameRecord(Urn::Trusted(words[0]), words[1], snapshot));
    return std::string("Resource renamed");
  });
}

Result<int> GetState(Context& context) {
  const Invocation& words = context.invocation();
  if (words.arguments.empty()) {
    return Fail(ErrorKind::kInvalid,
                "a resource must be given",
                "`davit stack --show-urns` lists the URNs of the stack");
  }
  DAVIT_TRY(const bool as_json, WantsJson(context));
  DAVIT_TRY(StackSession session, OpenStack(context));
  const bool show_secrets = words.Bool("show-secrets");
  DAVIT_TRY(const LoadedStack loaded,
            show_secrets ? session.backend->Load(session.stack, session.secrets->Opener(), false)
                         : session.LoadMasked());
  DAVIT_TRY(const StatePtr record, FindRecord(words.arguments[0], loaded.snapshot));
  context.Out(as_json ? RecordJson(*record, show_secrets) : RecordText(*record, show_secrets));
  return kExitOk;
}

// The target is written first: what is in both stacks can be taken from one of them, what is in
// none is lost.
Result<int> MoveState(Context& context) {
  const Invocation& words = context.invocation();
  if (!words.IsSet("source") && !words.IsSet("dest")) {
    return Fail(ErrorKind::kInvalid,
                "--source or --dest must be given, the other one is the selected stack");
  }
  DAVIT_TRY(StackSession source, OpenStack(context, words.Text("source")));
  DAVIT_TRY(StackSession target, OpenStack(context, words.Text("dest")));
  if (source.stack.Text() == target.stack.Text()) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("'{}' is both source and destination", source.stack.Text()));
  }
  DAVIT_TRY(const std::unique_ptr<StackLock> lock, source.backend->Lock(source.stack));
  DAVIT_TRY(const std::unique_ptr<StackLock> target_lock, target.backend->Lock(target.stack));
  DAVIT_TRY(LoadedStack from, source.backend->Load(source.stack, source.secrets->Opener(), true));
  DAVIT_TRY(LoadedStack to, target.backend->Load(target.stack, target.secrets->Opener(), true));
  const Snapshot before = to.snapshot;
  StateMoveRequest request;
  request.urns = UrnsGiven(context);
  request.include_parents = words.Bool("include-parents");
  request.project = target.stack.project;
  request.stack = target.stack.stack;
  const bool was_sound = Faults(from.snapshot).empty() && Faults(to.snapshot).empty();
  DAVIT_TRY(const StateMoveReport report, MoveRecords(request, &from.snapshot, &to.snapshot));
  Announce(context, report, source.stack, target.stack);
  const std::string faults = Faults(from.snapshot) + Faults(to.snapshot);
  if (was_sound && !faults.empty()) {
    return Fail(ErrorKind::kRefused,
                fmt::format("a state would no longer be sound: {}", faults),
                "nothing was changed");
  }
  DAVIT_TRY_VOID(Confirm(context));
  DAVIT_TRY(const std::shared_ptr<SecretsManager> manager, ManagerForSaving(source, from.snapshot));
  DAVIT_TRY(const std::shared_ptr<SecretsManager> target_manager,
            ManagerForSaving(target, to.snapshot));
  DAVIT_TRY_VOID(target.backend->Save(target.stack, to.snapshot, target_manager));
  Result<void> saved = source.backend->Save(source.stack, from.snapshot, manager);
  if (!saved) {
    const Result<void> restored = target.backend->Save(target.stack, before, target_manager);
    Error error = std::move(saved).error();
    error.advice = restored ? "nothing was moved"
                            : fmt::format(
                                  "the resources are in both stacks now; take them from '{}' "
                                  "with `davit state delete`",
                                  target.stack.stack);
    return Fail(std::move(error));
  }
  context.Out(fmt::format(
      "Successfully moved resources from {} to {}\n", source.stack.Text(), target.stack.Text()));
  return kExitOk;
}

Result<int> RepairState(Context& context) {
  DAVIT_TRY(StackSession session, OpenStack(context));
  DAVIT_TRY(const std::unique_ptr<StackLock> lock, session.backend->Lock(session.stack));
  DAVIT_TRY(LoadedStack loaded,
            session.backend->Load(session.stack, session.secrets->Opener(), true));
  if (Faults(loaded.snapshot).empty()) {
    context.Out("The snapshot is already valid; skipping repair\n");
    return kExitOk;
  }
  DAVIT_TRY(const StateRepairReport report, RepairSnapshot(&loaded.snapshot));
  std::string text;
  if (!report.moved.empty()) {
    text += "The following resources will be reordered to appear before their dependents:\n";
    for (const Urn& urn : report.moved) {
      text += fmt::format("* {}\n", urn.text());
    }
  }
  if (!report.changes.empty()) {
    text += fmt::format(
        "The following resources will be modified to remove missing dependencies:\n{}\n",
        fmt::join(report.changes, "\n"));
  }
  context.Out(text);
  const std::string faults = Faults(loaded.snapshot);
  if (!faults.empty()) {
    return Fail(ErrorKind::kRefused,
                fmt::format("the state would still not be sound: {}", faults),
                "nothing was changed; correct it with `davit state edit`, or with `davit stack "
                "export` and `davit stack import`");
  }
  DAVIT_TRY_VOID(Confirm(context));
  DAVIT_TRY(std::shared_ptr<SecretsManager> manager, ManagerForSaving(session, loaded.snapshot));
  DAVIT_TRY_VOID(session.backend->Save(session.stack, loaded.snapshot, std::move(manager)));
  context.Out("State repaired successfully\n");
  return kExitOk;
}

Result<int> UpgradeState(Context& context) {
  DAVIT_TRY(const Workspace workspace, OpenWorkspace(context));
  DAVIT_TRY(const std::unique_ptr<Backend> backend, OpenWorkspaceBackend(workspace));
  if (!IsApproved(context)) {
    context.Err(
        fmt::format("This brings {} into the present layout, which old versions of other "
                    "programs cannot read.\n",
                    backend->url()));
    if (!context.is_interactive() || Ask("Please confirm by typing `yes`: ", false) != "yes") {
      return Fail(ErrorKind::kRefused, "confirmation declined", "--yes approves it");
    }
  }
  std::vector<std::string> warnings;
  DAVIT_TRY(const int count, backend->Upgrade(&warnings));
  for (const std::string& warning : warnings) {
    context.Warn(warning);
  }
  context.Out(fmt::format("Upgraded {} stack(s) to project mode\n", count));
  return kExitOk;
}

Result<int> ProtectState(Context& context) {
  return Flag(context, &ResourceState::protect, true, "protected");
}
Result<int> UnprotectState(Context& context) {
  return Flag(context, &ResourceState::protect, false, "unprotected");
}
Result<int> TaintState(Context& context) {
  return Flag(context, &ResourceState::taint, true, "tainted");
}
Result<int> UntaintState(Context& context) {
  return Flag(context, &ResourceState::taint, false, "untainted");
}

}  // namespace davit
