#pragma once
// The journal of one run on disk: writes batches of entries, each with one sync, and keeps them in
// memory for the fold. Blocking; one thread at a time.

#include <memory>
#include <string>
#include <vector>

#include "engine/model/journal_entry.h"
#include "state/codec/journal_json.h"
#include "state/journal/durable_file.h"

namespace davit {

/// Leaves out what later entries made unnecessary: begun operations that ended, failures, outputs
/// that replace a record of this run. Replays to the same snapshot.
std::vector<JournalEntry> Compacted(const std::vector<JournalEntry>& entries);

class JournalLog {
 public:
  struct Setup {
    std::shared_ptr<FileLayer> files;
    std::string path;
    std::string base_sha256;
    std::size_t checkpoint_size = 0;
    std::shared_ptr<const Snapshot> base;
    std::shared_ptr<SecretTexts> texts;
    std::shared_ptr<SecretsManager> secrets;  ///< may be null
  };
  explicit JournalLog(Setup setup);

  /// Makes the entries durable together. An entry that cannot be encoded fails alone; if that is
  /// for secrets without a manager, what has happened is stored without them, and told as an
  /// error (S75); a begin that must bring secrets is refused. When the file
  /// cannot be written all fail, and those that tell of something that has happened are written
  /// with the next batch.
  std::vector<Result<void>> Write(std::vector<JournalEntry> batch);
  /// Takes entries that are not worth a write of their own along to the fold.
  void Keep(std::vector<JournalEntry> entries);
  /// Notes, durably, that the entries are being folded into a checkpoint with this hash. Does
  /// nothing if there is no file.
  Result<void> NoteFold(const std::string& sha256);
  /// Removes the file. The log is not used afterwards.
  Result<void> Remove();

  /// Everything to fold: what was written, and what could not be written but has happened.
  const std::vector<JournalEntry>& entries() const { return entries_; }
  const Setup& setup() const { return setup_; }
  /// How values are written, with the manager of this run (or, without one, what the base names).
  PropertyWriting Writing() const;
  std::string secrets_type() const;
  std::string secrets_state() const;

 private:
  Result<std::string> Encode(const JournalEntry& entry);
  /// For an entry that cannot be encoded because it holds secrets and the run has no manager.
  /// `told` becomes what the caller hears although the entry is stored.
  Result<std::string> EncodeWithoutSecrets(JournalEntry* entry, Result<void>* told);
  Result<void> Rewrite(const std::string& last_record);
  Result<void> AppendAndSync(const std::string& records);

  Setup setup_;
  BaseIndex base_index_;
  std::vector<JournalEntry> entries_;
  std::unique_ptr<AppendFile> file_;
  bool must_rewrite_ = true;  ///< there is no file yet, or its content is in doubt
  bool exists_ = false;       ///< a file may be there
  std::size_t size_ = 0;
  std::size_t limit_ = 0;  ///< beyond it the file is rewritten without what is no longer needed
};

}  // namespace davit
