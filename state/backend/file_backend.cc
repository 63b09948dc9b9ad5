#include "state/backend/file_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <utility>

#include "engine/base/digest.h"
#include "state/backend/layout_upgrade.h"
#include "state/backend/run_fold.h"
#include "state/backend/stack_history.h"
#include "state/backend/stack_lock.h"
#include "state/backend/stack_tags.h"
#include "state/backend/stored_stack.h"
#include "state/journal/journal_format.h"
#include "state/journal/stack_journal.h"

namespace davit {
namespace {

constexpr int kProjectLayout = 1;
constexpr std::string_view kMeta = "/.pulumi/meta.yaml";
constexpr std::string_view kCheckpointEnd = ".json";

Unexpected Changed(const StackFiles& paths) {
  return Fail(ErrorKind::kRefused,
              fmt::format("the checkpoint '{}' was changed by another program since it was read",
                          paths.checkpoint),
              "make sure that nothing else works on the stack and run the command again");
}

class FileBackend final : public Backend {
 public:
  FileBackend(std::shared_ptr<FileLayer> files,
              std::string root,
              std::string version,
              JournalLimits limits)
      : files_(std::move(files)),
        root_(std::move(root)),
        version_(std::move(version)),
        limits_(limits) {}

  std::string url() const override { return "file://" + root_; }

  Result<std::vector<StackSummary>> List(const std::optional<std::string>& project) override {
    DAVIT_TRY_VOID(CheckLayout());
    std::vector<StackSummary> summaries;
    DAVIT_TRY(const std::vector<FolderItem> projects, files_->List(root_ + "/.pulumi/stacks"));
    for (const FolderItem& folder : projects) {
      if (!folder.is_folder || (project && *project != folder.name)) {
        continue;
      }
      DAVIT_TRY(const std::vector<FolderItem> items,
                files_->List(root_ + "/.pulumi/stacks/" + folder.name));
      for (const FolderItem& item : items) {
        if (!item.is_folder && item.name.ends_with(kCheckpointEnd)) {
          const std::string name = item.name.substr(0, item.name.size() - kCheckpointEnd.size());
          DAVIT_TRY(StackSummary summary, Summarize(StackRef{folder.name, name}));
          summaries.push_back(std::move(summary));
        }
      }
    }
    return summaries;
  }

  Result<bool> Exists(const StackRef& stack) override {
    DAVIT_TRY_VOID(CheckNames(stack));
    DAVIT_TRY_VOID(CheckLayout());
    const StackFiles paths(root_, stack);
    for (const char* extension : {"", ".gz", ".zst"}) {
      DAVIT_TRY(const std::optional<std::string> text, files_->Read(paths.checkpoint + extension));
      if (text) {
        return true;
      }
    }
    return false;
  }

  Result<void> Create(const StackRef& stack, SecretsManager* secrets) override {
    DAVIT_TRY(const bool exists, Exists(stack));
    if (exists) {
      return Fail(
          ErrorKind::kRefused,
          fmt::format("the stack '{}' of project '{}' exists already", stack.stack, stack.project),
          "choose another name, or select it with `davit stack select`");
    }
    Snapshot snapshot;
    StampManifest(version_, &snapshot);
    CheckpointWriting writing;
    if (secrets != nullptr) {
      writing.secrets_type = secrets->type();
      writing.secrets_state = secrets->state_json();
    }
    DAVIT_TRY(const std::string text, WriteCheckpoint(stack.Text(), snapshot, std::move(writing)));
    const StackFiles paths(root_, stack);
    DAVIT_TRY_VOID(EnsureMeta());
    DAVIT_TRY_VOID(ReplaceCheckpoint(*files_, paths, std::nullopt, text));
    seen_[stack.Text()] = Sha256Hex(text);
    return {};
  }

  Result<void> Remove(const StackRef& stack, bool force, bool remove_backups) override {
    DAVIT_TRY_VOID(CheckNames(stack));
    DAVIT_TRY_VOID(CheckLayout());
    const StackFiles paths(root_, stack);
    SecretTexts texts;
    const Result<StoredStack> stored =
        ReadStoredStack(*files_, paths, stack, SecretsIn::kClosed, &texts, SecretsOpener());
    if (!stored && !force) {
      return Fail(stored.error());
    }
    if (stored && !force) {
      const auto remaining =
          std::count_if(stored->folded.resources.begin(),
                        stored->folded.resources.end(),
                        [](const StatePtr& state) { return !state->urn.is_root_stack(); });
      if (remaining > 0) {
        return Fail(ErrorKind::kRefused,
                    fmt::format("the stack '{}' still has {} resource{}",
                                stack.stack,
                                remaining,
                                remaining == 1 ? "" : "s"),
                    "remove them with `davit destroy`, or use --force to forget them");
      }
    }
    DAVIT_TRY_VOID(files_->Remove(paths.checkpoint + ".attrs"));
    DAVIT_TRY_VOID(files_->Remove(paths.backup + ".attrs"));
    DAVIT_TRY_VOID(files_->Rename(paths.checkpoint, paths.backup));
    DAVIT_TRY_VOID(RemoveWithSidecar(*files_, paths.tags));
    DAVIT_TRY_VOID(Clear(paths.history));
    if (remove_backups) {
      DAVIT_TRY_VOID(files_->Remove(paths.backup));
      DAVIT_TRY_VOID(Clear(paths.backups));
    }
    DAVIT_TRY_VOID(files_->Remove(paths.journal));
    DAVIT_TRY_VOID(files_->Remove(paths.conflict));
    seen_.erase(stack.Text());
    return files_->SyncFolder(FolderOf(paths.checkpoint));
  }

  Result<std::map<std::string, std::string>> Tags(const StackRef& stack) override {
    DAVIT_TRY_VOID(CheckNames(stack));
    return ReadStackTags(*files_, StackFiles(root_, stack));
  }

  Result<void> SetTags(const StackRef& stack,
                       const std::map<std::string, std::string>& tags) override {
    DAVIT_TRY_VOID(CheckNames(stack));
    return WriteStackTags(*files_, StackFiles(root_, stack), tags);
  }

  Result<std::vector<HistoryEntry>> History(const StackRef& stack,
                                            std::vector<std::string>* unread) override {
    DAVIT_TRY_VOID(CheckNames(stack));
    return ReadStackHistory(*files_, StackFiles(root_, stack), unread);
  }

  Result<void> AddHistory(const StackRef& stack,
                          const HistoryEntry& entry,
                          bool keep_state) override {
    DAVIT_TRY_VOID(CheckNames(stack));
    return AddToStackHistory(*files_, StackFiles(root_, stack), stack, entry, keep_state);
  }

  Result<void> Retire(const StackRef& stack, const StackRef& renamed) override {
    const StackFiles from(root_, stack);
    const StackFiles to(root_, renamed);
    const std::string head = stack.stack + "-";
    DAVIT_TRY(const std::vector<FolderItem> history, files_->List(from.history));
    if (!history.empty()) {
      DAVIT_TRY_VOID(files_->MakeFolder(to.history));
    }
    for (const FolderItem& item : history) {
      if (item.name.starts_with(head)) {
        const std::string name = renamed.stack + "-" + item.name.substr(head.size());
        DAVIT_TRY_VOID(files_->Rename(from.history + "/" + item.name, to.history + "/" + name));
      }
    }
    if (!history.empty()) {
      DAVIT_TRY_VOID(files_->SyncFolder(to.history));
    }
    DAVIT_TRY_VOID(files_->Remove(from.checkpoint + ".attrs"));
    DAVIT_TRY_VOID(files_->Remove(from.backup + ".attrs"));
    DAVIT_TRY_VOID(files_->Rename(from.checkpoint, from.backup));
    seen_.erase(stack.Text());
    return files_->SyncFolder(FolderOf(from.checkpoint));
  }

  Result<int> Upgrade(std::vector<std::string>* warnings) override {
    return UpgradeLayout(*files_, root_, warnings);
  }

  Result<std::unique_ptr<StackLock>> Lock(const StackRef& stack) override {
    DAVIT_TRY_VOID(CheckNames(stack));
    DAVIT_TRY_VOID(CheckLayout());
    // Not through files_: locks are no steps of the crash tests.
    const std::unique_ptr<FileLayer> files = SystemFiles();
    return TakeStackLock(*files, StackFiles(root_, stack), stack);
  }

  Result<int> BreakLocks(const StackRef& stack) override {
    DAVIT_TRY_VOID(CheckNames(stack));
    DAVIT_TRY_VOID(CheckLayout());
    const std::unique_ptr<FileLayer> files = SystemFiles();
    return BreakStackLocks(*files, StackFiles(root_, stack), stack);
  }

  Result<LoadedStack> Load(const StackRef& stack,
                           const SecretsOpener& opener,
                           bool may_recover) override {
    DAVIT_TRY_VOID(CheckNames(stack));
    DAVIT_TRY_VOID(CheckLayout());
    const StackFiles paths(root_, stack);
    Result<StoredStack> stored = Fail(ErrorKind::kBug, "not read");
    // Without the lock a run may fold between the two reads; then the next attempt finds them in
    // step.
    constexpr int kAttempts = 3;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      stored = ReadStoredStack(*files_, paths, stack, SecretsIn::kOpen, texts_.get(), opener);
      if (may_recover || stored || stored.error().kind != ErrorKind::kRefused) {
        break;
      }
    }
    if (!stored) {
      return Fail(std::move(stored).error());
    }
    if (!stored->checkpoint.magic_matches) {
      return Fail(
          ErrorKind::kInvalid,
          fmt::format("the checkpoint '{}' is damaged: its magic does not match its version",
                      paths.checkpoint),
          fmt::format("the state before the last update is in '{}'", paths.backup));
    }
    LoadedStack loaded;
    if (may_recover) {
      DAVIT_TRY_VOID(Recover(paths, stack, opener, &*stored));
      loaded.recovery = stored->recovery;
    }
    loaded.snapshot = std::move(stored->folded);
    loaded.snapshot.secrets_type = stored->secrets_type;
    loaded.snapshot.secrets_state = stored->secrets_state;
    seen_[stack.Text()] = stored->text_sha256;
    return loaded;
  }

  Result<void> Save(const StackRef& stack,
                    const Snapshot& snapshot,
                    std::shared_ptr<SecretsManager> secrets) override {
    DAVIT_TRY_VOID(CheckNames(stack));
    DAVIT_TRY_VOID(CheckLayout());
    const StackFiles paths(root_, stack);
    DAVIT_TRY(const std::optional<std::string> before, files_->Read(paths.checkpoint));
    const auto seen = seen_.find(stack.Text());
    if (seen != seen_.end() && before && Sha256Hex(*before) != seen->second) {
      return Changed(paths);
    }
    Snapshot written = snapshot;
    if (!written.manifest_time) {
      StampManifest(version_, &written);
    }
    CheckpointWriting writing;
    writing.secrets_type = secrets ? secrets->type() : snapshot.secrets_type;
    writing.secrets_state = secrets ? secrets->state_json() : snapshot.secrets_state;
    writing.values = Encrypting(secrets.get(), writing.secrets_type, writing.secrets_state);
    DAVIT_TRY(const std::string text, WriteCheckpoint(stack.Text(), written, std::move(writing)));
    DAVIT_TRY_VOID(EnsureMeta());
    DAVIT_TRY_VOID(ReplaceCheckpoint(*files_, paths, before, text));
    seen_[stack.Text()] = Sha256Hex(text);
    DAVIT_TRY_VOID(files_->Remove(paths.conflict));
    return files_->Remove(
        paths.journal);  // of a run that crashed: the new state stands in its place
  }

  Result<std::unique_ptr<StackJournal>> OpenJournal(
      const StackRef& stack,
      const Snapshot& base,
      std::shared_ptr<SecretsManager> secrets,
      Loop& loop,
      std::function<void(std::function<void()>)> run) override {
    DAVIT_TRY_VOID(CheckNames(stack));
    const StackFiles paths(root_, stack);
    DAVIT_TRY(const std::optional<std::string> journal, files_->Read(paths.journal));
    if (journal) {
      return Fail(ErrorKind::kRefused,
                  fmt::format("the journal '{}' of an earlier run was not folded", paths.journal),
                  "run the command again; a load with the lock recovers it");
    }
    DAVIT_TRY(const std::optional<std::string> text, files_->Read(paths.checkpoint));
    JournalLog::Setup setup;
    setup.files = files_;
    setup.path = paths.journal;
    setup.base_sha256 = Sha256Hex(text.value_or(""));
    setup.checkpoint_size = text ? text->size() : 0;
    setup.base = std::make_shared<const Snapshot>(base);
    setup.texts = texts_;
    setup.secrets = std::move(secrets);
    const auto seen = seen_.find(stack.Text());
    if (!text || (seen != seen_.end() && seen->second != setup.base_sha256)) {
      return Changed(paths);
    }
    setup.limits = limits_;
    FoldPlace place{files_, paths, stack, version_};
    std::shared_ptr<JournalFold> fold =
        MakeRunFold(std::move(place),
                    [this, stack](const std::string& sha256) { seen_[stack.Text()] = sha256; });
    return MakeStackJournal(std::move(setup), loop, std::move(run), std::move(fold));
  }

  Result<std::string> Export(const StackRef& stack,
                             bool show_secrets,
                             const SecretsOpener& opener) override {
    DAVIT_TRY_VOID(CheckNames(stack));
    DAVIT_TRY_VOID(CheckLayout());
    const StackFiles paths(root_, stack);
    SecretTexts texts;
    SecretsIn in = show_secrets ? SecretsIn::kOpen : SecretsIn::kClosed;
    DAVIT_TRY(StoredStack stored, ReadStoredStack(*files_, paths, stack, in, &texts, opener));
    CheckpointWriting writing;
    writing.values.secrets = show_secrets ? SecretsOut::kPlaintext : SecretsOut::kAsRead;
    const bool has_two_managers =
        stored.recovery && ManagerId(stored.secrets_type, stored.secrets_state) !=
                               ManagerId(stored.folded.secrets_type, stored.folded.secrets_state);
    std::shared_ptr<SecretsManager> manager;
    if (!show_secrets && has_two_managers) {
      // A crashed run used another passphrase than the checkpoint: one file cannot hold both kinds
      // as they are.
      DAVIT_TRY(stored, ReadStoredStack(*files_, paths, stack, SecretsIn::kOpen, &texts, opener));
      DAVIT_TRY(manager, opener(stored.secrets_type, stored.secrets_state));
      writing.values.secrets = SecretsOut::kEncrypted;
      writing.values.manager = manager.get();
      writing.values.manager_id = ManagerId(stored.secrets_type, stored.secrets_state);
    }
    writing.values.texts = &texts;
    writing.secrets_type = stored.secrets_type;
    writing.secrets_state = stored.secrets_state;
    std::optional<Snapshot> snapshot;
    if (stored.checkpoint.snapshot || stored.recovery) {
      snapshot = std::move(stored.folded);
    }
    return WriteExported(snapshot, stored.checkpoint.features, std::move(writing));
  }

  Result<Snapshot> ReadImport(const StackRef& stack,
                              const std::string& text,
                              bool force,
                              const SecretsOpener& opener,
                              std::vector<std::string>* warnings) override {
    CheckpointReading reading{SecretsIn::kOpen, texts_.get(), opener};
    DAVIT_TRY(Checkpoint imported, ReadExported(text, reading));
    Snapshot snapshot = imported.snapshot.value_or(Snapshot());
    std::vector<Error> faults;
    std::map<std::string, int> foreign;  // one line for each stack, however many records (B149)
    for (const StatePtr& state : snapshot.resources) {
      if (state->urn.stack() != stack.stack) {
        ++foreign[std::string(state->urn.stack())];
      }
    }
    for (const auto& [name, count] : foreign) {
      faults.push_back(MakeError(
          ErrorKind::kInvalid,
          fmt::format("{} of its {} resources belong to the stack '{}', not to '{}'",
                      count,
                      snapshot.resources.size(),
                      name,
                      stack.stack)));
    }
    if (!imported.magic_matches) {
      faults.push_back(
          MakeError(ErrorKind::kInvalid, "the magic of the manifest does not match its version"));
    }
    std::ranges::move(VerifySnapshot(snapshot), std::back_inserter(faults));
    if (!faults.empty() && !force) {
      return Fail(ErrorKind::kRefused,
                  fmt::format("the deployment cannot be imported: {}", JoinMessages(faults)),
                  "correct it, or use --force to import it as it is");
    }
    for (const Error& fault : faults) {
      warnings->push_back(fault.message);
    }
    for (const PendingOperation& operation : snapshot.pending_operations) {
      warnings->push_back(fmt::format("the pending operation '{}' of '{}' is removed",
                                      OperationTypeName(operation.type),
                                      operation.resource->urn.text()));
    }
    snapshot.pending_operations.clear();
    return snapshot;
  }

 private:
  Result<void> Clear(const std::string& folder) {
    DAVIT_TRY(const std::vector<FolderItem> items, files_->List(folder));
    for (const FolderItem& item : items) {
      DAVIT_TRY_VOID(files_->Remove(folder + "/" + item.name));
    }
    return {};
  }

  // S117, S120: the project layout only; an empty folder counts as one.
  Result<void> CheckLayout() {
    const std::string path = root_ + std::string(kMeta);
    DAVIT_TRY(const std::optional<std::string> meta, files_->Read(path));
    if (meta) {
      const std::size_t key = meta->find("version:");
      const int version = key == std::string::npos ? -1 : std::atoi(meta->c_str() + key + 8);
      if (version == kProjectLayout) {
        return {};
      }
      if (version != 0) {
        return Fail(ErrorKind::kInvalid,
                    fmt::format("'{}' names no known version of the store", path),
                    "update davit, or correct the file (`version: 1`)");
      }
      return LegacyLayout();
    }
    DAVIT_TRY(const std::vector<FolderItem> items, files_->List(root_ + "/.pulumi/stacks"));
    for (const FolderItem& item : items) {
      if (!item.is_folder &&
          (item.name.ends_with(kCheckpointEnd) || item.name.ends_with(".json.gz"))) {
        return LegacyLayout();
      }
    }
    return {};
  }

  Unexpected LegacyLayout() const {
    return Fail(ErrorKind::kUnimplemented,
                fmt::format("the store '{}' has the old layout without projects", root_),
                "`davit state upgrade` brings it into the present one");
  }

  Result<void> EnsureMeta() {
    const std::string path = root_ + std::string(kMeta);
    DAVIT_TRY(const std::optional<std::string> meta, files_->Read(path));
    if (meta) {
      return {};
    }
    DAVIT_TRY_VOID(files_->MakeFolder(FolderOf(path)));
    return ReplaceFile(*files_, path, fmt::format("version: {}\n", kProjectLayout));
  }

  PropertyWriting Encrypting(SecretsManager* manager,
                             const std::string& type,
                             const std::string& state) {
    PropertyWriting writing;
    writing.texts = texts_.get();
    writing.manager = manager;
    writing.manager_id = ManagerId(type, state);
    return writing;
  }

  Result<StackSummary> Summarize(const StackRef& stack) {
    StackSummary summary;
    summary.name = stack.stack;
    summary.project = stack.project;
    DAVIT_TRY(const std::optional<std::string> text,
              files_->Read(StackFiles(root_, stack).checkpoint));
    SecretTexts texts;
    CheckpointReading reading{SecretsIn::kClosed, &texts, SecretsOpener()};
    const Result<Checkpoint> checkpoint = ReadCheckpoint(text.value_or("{}"), reading);
    if (checkpoint && checkpoint->snapshot) {  // a damaged stack is listed without details
      summary.last_update = checkpoint->snapshot->manifest_time;
      summary.resource_count = static_cast<int>(checkpoint->snapshot->resources.size());
    }
    return summary;
  }

  // Folds what a crashed run left into the checkpoint and removes its journal.
  Result<void> Recover(const StackFiles& paths,
                       const StackRef& stack,
                       const SecretsOpener& opener,
                       StoredStack* stored) {
    if (!stored->has_journal) {
      return {};
    }
    if (stored->recovery) {
      StampManifest(version_, &stored->folded);
      CheckpointWriting writing;
      writing.secrets_type = stored->secrets_type;
      writing.secrets_state = stored->secrets_state;
      writing.integrity_error = JoinMessages(VerifySnapshot(stored->folded));
      writing.values =
          Encrypting(stored->manager.get(), stored->secrets_type, stored->secrets_state);
      Result<std::string> text = WriteCheckpoint(stack.Text(), stored->folded, writing);
      if (!text && !stored->manager && !stored->secrets_type.empty() &&
          text.error().kind == ErrorKind::kRefused) {
        DAVIT_TRY(stored->manager, opener(stored->secrets_type, stored->secrets_state));
        writing.values.manager = stored->manager.get();
        text = WriteCheckpoint(stack.Text(), stored->folded, writing);
      }
      DAVIT_TRY(const std::string folded, std::move(text));
      const std::string sha256 = Sha256Hex(folded);
      DAVIT_TRY_VOID(NoteRecovery(paths, *stored->recovery, sha256));
      // W10: a fold in the middle of the run has made the backup already.
      DAVIT_TRY_VOID(ReplaceCheckpoint(
          *files_,
          paths,
          stored->is_carried ? std::optional<std::string>() : std::optional(stored->text),
          folded));
      stored->text_sha256 = sha256;
    }
    return files_->Remove(paths.journal);
  }

  // Says in the journal of the crashed run, behind what is sound in it, that it is being folded.
  Result<void> NoteRecovery(const StackFiles& paths,
                            const Recovery& recovery,
                            const std::string& sha256) {
    std::string record;
    AppendRecord(RecordKind::kFolded, sha256, &record);
    DAVIT_TRY(const std::unique_ptr<AppendFile> file,
              files_->Reopen(paths.journal, recovery.sound_bytes));
    DAVIT_TRY_VOID(file->Append(record));
    return file->Sync();
  }

  std::shared_ptr<FileLayer> files_;
  std::string root_;
  std::string version_;
  JournalLimits limits_;
  std::shared_ptr<SecretTexts> texts_ = std::make_shared<SecretTexts>();
  /// SHA-256 of each checkpoint as this process last read or wrote it (S174).
  std::map<std::string, std::string> seen_;
};

}  // namespace

std::unique_ptr<Backend> MakeFileBackend(std::shared_ptr<FileLayer> files,
                                         std::string root,
                                         std::string version,
                                         JournalLimits limits) {
  return std::make_unique<FileBackend>(
      std::move(files), std::move(root), std::move(version), limits);
}

}  // namespace davit
