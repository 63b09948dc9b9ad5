#pragma once
// Where stacks are kept. All calls block (they run on the engine's work pool or before and after a run); one process may
// use a backend from one thread at a time. The file backend follows section 6 of state.md; locking is davit's own (flock).

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/journal.h"
#include "engine/model/snapshot.h"
#include "state/secrets/secrets_manager.h"

namespace davit {

struct StackRef {
  std::string project;
  std::string stack;
  /// `organization/<project>/<stack>` (S3).
  std::string Text() const { return "organization/" + project + "/" + stack; }
};

struct StackSummary {
  std::string name;
  std::string project;
  std::optional<WallTime> last_update;  ///< absent: never deployed
  std::optional<int> resource_count;
};

/// Gives the manager for a state's `secrets_providers` entry (type and state JSON). It is called only if something is
/// encrypted (or has to be), so that a stack without secrets needs no passphrase.
using SecretsOpener =
    std::function<Result<std::shared_ptr<SecretsManager>>(const std::string& type, const std::string& state_json)>;

/// Held for as long as a command changes a stack; released by the destructor (and by the kernel when the process dies).
class StackLock {
 public:
  virtual ~StackLock() = default;
};

/// A journal that is also folded into the checkpoint at the end of a run.
class StackJournal : public Journal {
 public:
  /// Writes the final checkpoint from everything appended (temporary file, fsync, rename, fsync of the folder) and removes
  /// the journal. Without it the journal stays and is recovered at the next start. Blocks.
  virtual Result<void> Fold() = 0;
};

/// What recovery found and did; shown to the user once.
struct Recovery {
  int entries = 0;              ///< complete records that were folded in
  std::size_t sound_bytes = 0;  ///< of the journal, up to the end of the last record that checks
  int discarded_bytes = 0;      ///< tail that did not check
  int pending_operations = 0;   ///< calls that were in flight
};

/// One finished run in the history of a stack (S145).
struct HistoryEntry {
  std::string kind;             ///< `update`, `refresh`, `destroy`, `resource-import`, ...
  std::int64_t start_time = 0;  ///< seconds since 1970
  std::int64_t end_time = 0;
  std::string message;
  std::map<std::string, std::string> environment;
  std::string config_json;  ///< values as in a stack file, by normal key; empty: none
  std::string result;       ///< `succeeded` or `failed`
  std::map<std::string, int> changes;  ///< by operation
};

struct LoadedStack {
  Snapshot snapshot;  ///< migrated (S31), secrets decrypted
  std::optional<Recovery> recovery;
};

class Backend {
 public:
  virtual ~Backend() = default;
  /// `file:///path` as shown to users.
  virtual std::string url() const = 0;
  virtual Result<std::vector<StackSummary>> List(const std::optional<std::string>& project) = 0;
  virtual Result<bool> Exists(const StackRef& stack) = 0;
  /// A new stack without resources; `secrets` may be null (then no `secrets_providers` is written). Refused when it exists.
  virtual Result<void> Create(const StackRef& stack, SecretsManager* secrets) = 0;
  /// Deletes a stack (S150): refused while resources other than the root stack remain, unless forced. Needs the lock. Its
  /// last state becomes the backup, unless the backups are to go too.
  virtual Result<void> Remove(const StackRef& stack, bool force, bool remove_backups = false) = 0;
  /// S124. Tags need no lock.
  virtual Result<std::map<std::string, std::string>> Tags(const StackRef& stack) = 0;
  virtual Result<void> SetTags(const StackRef& stack, const std::map<std::string, std::string>& tags) = 0;
  /// Newest first (S146). Entries that do not read are left out; `unread` says which.
  virtual Result<std::vector<HistoryEntry>> History(const StackRef& stack, std::vector<std::string>* unread) = 0;
  /// Adds a run to the history; with `keep_state` the checkpoint is copied to the backups. Needs the lock.
  virtual Result<void> AddHistory(const StackRef& stack, const HistoryEntry& entry, bool keep_state) = 0;
  /// The state of `stack` is saved as `renamed`: what was its checkpoint becomes its backup, its history goes along (S151).
  /// Needs both locks.
  virtual Result<void> Retire(const StackRef& stack, const StackRef& renamed) = 0;
  /// Brings a store of the old layout into the present one (S152): says how many stacks were moved, and in `warnings` which
  /// were not. A store of the present layout stays as it is.
  virtual Result<int> Upgrade(std::vector<std::string>* warnings) = 0;
  /// One kernel lock per stack, not waiting; the error names the holder (user, host, process) and since when.
  virtual Result<std::unique_ptr<StackLock>> Lock(const StackRef& stack) = 0;
  /// Takes away the locks that dead processes and programs other than davit have left (C24); says how many. Refused while a
  /// davit process of this machine holds the stack.
  virtual Result<int> BreakLocks(const StackRef& stack) = 0;
  /// Reads the stack, folding in what a crashed run left (needs the lock for that; `may_recover` false only reads the
  /// checkpoint and the journal's effect in memory).
  virtual Result<LoadedStack> Load(const StackRef& stack, const SecretsOpener& opener, bool may_recover) = 0;
  /// Writes a whole snapshot (import, state edits) by S6, S14, S133. Needs the lock. `secrets` may be null when nothing in it
  /// is secret.
  virtual Result<void> Save(const StackRef& stack, const Snapshot& snapshot, std::shared_ptr<SecretsManager> secrets) = 0;
  /// The journal of one run over `base` (as loaded). `secrets` may be null when nothing is secret; then a secret value in an
  /// entry is an error that says how to set a passphrase. The work pool runs `run` for each blocking write.
  virtual Result<std::unique_ptr<StackJournal>> OpenJournal(const StackRef& stack,
                                                            const Snapshot& base,
                                                            std::shared_ptr<SecretsManager> secrets,
                                                            Loop& loop,
                                                            std::function<void(std::function<void()>)> run) = 0;
  /// The bytes of `stack export` (S7). `show_secrets` needs the opener.
  virtual Result<std::string> Export(const StackRef& stack, bool show_secrets, const SecretsOpener& opener) = 0;
  /// Reads the bytes of `stack import` (S8, S164): the snapshot without pending operations; each dropped one, and with
  /// `force` each integrity fault, adds a line to `warnings`.
  virtual Result<Snapshot> ReadImport(const StackRef& stack,
                                      const std::string& text,
                                      bool force,
                                      const SecretsOpener& opener,
                                      std::vector<std::string>* warnings) = 0;
};

/// Opens a `file://` URL (S110): `~` and relative paths expand; the folder must exist unless `create` or `?create_dir`.
/// Other schemes are refused with an error that names them. `version` is the text for `manifest.version`.
/// For crash tests the process kills itself (SIGKILL) at the `crash_point`-th step of file work, counted from 1 (each
/// change of a file has a point before, sometimes one half way, and one after it; docs/JOURNAL.md); 0 means never.
Result<std::unique_ptr<Backend>> OpenBackend(const std::string& url,
                                             bool create,
                                             const std::string& version,
                                             int crash_point = 0);

}  // namespace davit
