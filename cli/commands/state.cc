// `state delete`, `state rename`, `state protect|unprotect|taint|untaint` (C55, C56, S156-S159).

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/session.h"
#include "cli/state_edit.h"
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
  const bool is_approved =
      context.invocation().Bool("yes") || context.IsTruthy("PULUMI_SKIP_CONFIRMATIONS");
  if (is_approved || !context.is_interactive()) {
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
  DAVIT_TRY(std::shared_ptr<SecretsManager> manager,
            session.secrets->Resolve(
                session.file, loaded.snapshot.secrets_type, loaded.snapshot.secrets_state));
  DAVIT_TRY_VOID(session.backend->Save(session.stack, loaded.snapshot, std::move(manager)));
  context.Out(done + "\n");
  return kExitOk;
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
