#pragma once
// The journal of one run on disk: writes batches of entries, each with one sync, and keeps them in
// memory until they are folded. Blocking; one thread at a time.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/model/journal_replay.h"
#include "state/codec/journal_json.h"
#include "state/journal/durable_file.h"

namespace davit {

/// When a journal is folded in the middle of a run: beyond the larger of `smallest` bytes and
/// `factor` times the checkpoint. With a factor of at least 1 all that is written stays in
/// proportion to what is journaled.
struct JournalLimits {
  std::size_t smallest = std::size_t{1} << 20;
  std::size_t factor = 2;
};

/// What a fold in the middle of a run makes of the entries so far.
struct FoldedSoFar {
  std::size_t entries = 0;  ///< so many of the log's entries
  ReplayPoint point;        ///< the replay behind them
  Snapshot snapshot;        ///< the same as the checkpoint has it
  std::string carried;      ///< the record `C` that tells `point`
  std::string text;         ///< the checkpoint
  std::string sha256;
};

class JournalLog {
 public:
  struct Setup {
    std::shared_ptr<FileLayer> files;
    std::string path;
    std::string base_sha256;
    std::size_t checkpoint_size = 0;
    JournalLimits limits;
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

  /// Whether the file is so large that its entries should go to the checkpoint.
  bool has_outgrown() const { return !must_rewrite_ && size_ > limit_; }
  /// Leaves the file as it is until it has doubled.
  void Postpone() { limit_ = 2 * size_; }
  /// Where the run stands with what was written, and what could not be written but has happened.
  FoldedSoFar SoFar() const;
  /// The checkpoint now is that of `folded`: the file is made anew on it. When that fails, the next
  /// write does it; the file that is there says that it was folded.
  void GoOnFrom(FoldedSoFar folded);
  /// `task` must be done before anything else is written; it is tried again until it succeeds.
  void DoFirst(std::function<Result<void>(JournalLog&)> task) { first_ = std::move(task); }
  /// Does what was left to do.
  Result<void> DoWhatIsLeft();

  /// Of the checkpoint that the file applies to.
  const std::string& base_sha256() const { return base_sha256_; }
  /// Whether the checkpoint is one of this run.
  bool is_carried() const { return !carried_.empty(); }
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
  Result<void> WriteRecords(const std::string& records);
  Result<void> Rewrite(const std::string& last_record);
  Result<void> AppendAndSync(const std::string& records);

  Setup setup_;
  std::string base_sha256_;
  ReplayPoint point_;                   ///< of the checkpoint
  std::string carried_;                 ///< the record `C`; empty before the first fold
  std::vector<StatePtr> base_records_;  ///< of the checkpoint; base_index_ points to them
  BaseIndex base_index_;
  std::vector<JournalEntry> entries_;  ///< since the checkpoint
  std::function<Result<void>(JournalLog&)> first_;
  std::unique_ptr<AppendFile> file_;
  bool must_rewrite_ = true;  ///< there is no file yet, or its content is in doubt
  bool exists_ = false;       ///< a file may be there
  std::size_t size_ = 0;      ///< of what was appended
  std::size_t reserved_ = 0;  ///< how far the file reaches
  std::size_t limit_ = 0;
};

}  // namespace davit
