#include "state/journal/journal_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "state/journal/journal_format.h"
#include "state/journal/without_secrets.h"

namespace davit {
namespace {

// How far ahead of the records the file reaches (AppendFile::Reserve): as far again, within these.
constexpr std::size_t kLeastAhead = std::size_t{1} << 14;
constexpr std::size_t kMostAhead = std::size_t{1} << 18;

constexpr const char* kPassphraseAdvice =
    "set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE";

std::size_t LimitFor(const JournalLimits& limits, std::size_t size) {
  return std::max(limits.smallest, limits.factor * size);
}

}  // namespace

JournalLog::JournalLog(Setup setup)
    : setup_(std::move(setup)),
      base_sha256_(setup_.base_sha256),
      point_(StartReplay(*setup_.base)),
      base_records_(setup_.base->resources),
      base_index_(IndexRecords(base_records_)),
      limit_(LimitFor(setup_.limits, setup_.checkpoint_size)) {}

std::string JournalLog::secrets_type() const {
  return setup_.secrets ? setup_.secrets->type() : setup_.base->secrets_type;
}

std::string JournalLog::secrets_state() const {
  return setup_.secrets ? setup_.secrets->state_json() : setup_.base->secrets_state;
}

PropertyWriting JournalLog::Writing() const {
  PropertyWriting writing;
  writing.texts = setup_.texts.get();
  writing.manager = setup_.secrets.get();
  writing.manager_id = ManagerId(secrets_type(), secrets_state());
  return writing;
}

Result<std::string> JournalLog::Encode(const JournalEntry& entry) {
  // Such a call is certain to give secrets: without a key it must not be made.
  if (!setup_.secrets && entry.kind == JournalKind::kBegin && entry.state &&
      !entry.state->additional_secret_outputs.empty()) {
    return Fail(
        ErrorKind::kRefused,
        fmt::format("'{}' has secret outputs, but there is no passphrase to encrypt them with",
                    entry.state->urn.text()),
        kPassphraseAdvice);
  }
  PropertyWriting writing = Writing();
  std::string json;
  WriteJournalEntry(entry, base_index_, writing, &json);
  if (writing.error) {
    return Fail(*writing.error);
  }
  std::string record;
  AppendRecord(RecordKind::kEntry, json, &record);
  return record;
}

// Without a manager, what a step made is stored all the same, but for its secrets. A refresh only
// tells of something that the state knows already; it fails as a whole.
Result<std::string> JournalLog::EncodeWithoutSecrets(JournalEntry* entry, Result<void>* told) {
  const bool has_happened =
      entry->kind == JournalKind::kSuccess || entry->kind == JournalKind::kOutputs;
  const StatePtr open = has_happened && !setup_.secrets && entry->state
                            ? WithoutSecretValues(*entry->state)
                            : nullptr;
  if (!open) {
    return Fail(ErrorKind::kRefused, "there is nothing to leave out");
  }
  JournalEntry reduced = *entry;
  reduced.state = open;
  DAVIT_TRY(std::string record, Encode(reduced));
  *told =
      Fail(ErrorKind::kRefused,
           fmt::format(
               "'{}' is stored, but without its secret values: there is no passphrase to encrypt "
               "them with",
               open->urn.text()),
           fmt::format("{}, then run `davit refresh` to read them", kPassphraseAdvice));
  *entry = std::move(reduced);
  return record;
}

std::vector<Result<void>> JournalLog::Write(std::vector<JournalEntry> batch) {
  std::vector<Result<void>> results(batch.size());
  std::string records;
  std::vector<std::size_t> accepted;
  for (std::size_t at = 0; at < batch.size(); ++at) {
    Result<std::string> record = Encode(batch[at]);
    if (!record) {
      results[at] = Fail(record.error());
      record = EncodeWithoutSecrets(&batch[at], &results[at]);
    }
    if (!record) {
      continue;
    }
    records += *record;
    accepted.push_back(at);
    entries_.push_back(std::move(batch[at]));
  }
  if (accepted.empty()) {
    return results;
  }
  const Result<void> done = WriteRecords(records);
  if (done) {
    return results;
  }
  for (const std::size_t at : accepted) {
    results[at] = Fail(done.error());
  }
  // What was about to begin does not begin now; all else has happened and must not be forgotten.
  const auto first = entries_.end() - static_cast<std::ptrdiff_t>(accepted.size());
  entries_.erase(
      std::remove_if(first,
                     entries_.end(),
                     [](const JournalEntry& entry) { return entry.kind == JournalKind::kBegin; }),
      entries_.end());
  return results;
}

Result<void> JournalLog::WriteRecords(const std::string& records) {
  DAVIT_TRY_VOID(DoWhatIsLeft());
  return must_rewrite_ ? Rewrite("") : AppendAndSync(records);
}

Result<void> JournalLog::DoWhatIsLeft() {
  if (first_) {
    const std::function<Result<void>(JournalLog&)> task = first_;
    DAVIT_TRY_VOID(task(*this));
    first_ = nullptr;
  }
  return {};
}

FoldedSoFar JournalLog::SoFar() const {
  FoldedSoFar folded;
  folded.entries = entries_.size();
  JournalReplay replay(point_);
  for (const JournalEntry& entry : entries_) {
    replay.Apply(entry);
  }
  folded.point = replay.point();
  folded.snapshot = replay.Current();
  return folded;
}

void JournalLog::GoOnFrom(FoldedSoFar folded) {
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(folded.entries));
  base_sha256_ = std::move(folded.sha256);
  point_ = std::move(folded.point);
  carried_ = std::move(folded.carried);
  base_records_ = std::move(folded.snapshot.resources);
  base_index_ = IndexRecords(base_records_);
  limit_ = LimitFor(setup_.limits, folded.text.size());
  must_rewrite_ = true;
  if (entries_.empty()) {
    (void)Rewrite("");  // what fails is tried again by the next write, which then tells of it
  }
}

Result<void> JournalLog::AppendAndSync(const std::string& records) {
  must_rewrite_ = true;  // until it is known to be on the disk
  if (size_ + records.size() > reserved_) {
    const std::size_t ahead = records.size() + std::clamp(size_, kLeastAhead, kMostAhead);
    file_->Reserve(ahead);
    reserved_ = size_ + ahead;
  }
  DAVIT_TRY_VOID(file_->Append(records));
  DAVIT_TRY_VOID(file_->Sync());
  size_ += records.size();
  must_rewrite_ = false;
  return {};
}

// Writes a new file with all that is not in the checkpoint, and gives it the name at once.
Result<void> JournalLog::Rewrite(const std::string& last_record) {
  must_rewrite_ = true;
  file_.reset();
  std::string bytes =
      EncodeHeader(base_sha256_, is_carried() ? JournalBase::kDuringRun : JournalBase::kBeforeRun);
  if (setup_.secrets) {
    AppendRecord(RecordKind::kSecrets, ManagerId(secrets_type(), secrets_state()), &bytes);
  }
  if (is_carried()) {
    AppendRecord(RecordKind::kCarried, carried_, &bytes);
  }
  for (const JournalEntry& entry : entries_) {
    DAVIT_TRY(const std::string record, Encode(entry));
    bytes += record;
  }
  bytes += last_record;
  FileLayer& files = *setup_.files;
  const std::string folder = FolderOf(setup_.path);
  const std::string beside = setup_.path + ".tmp";
  DAVIT_TRY_VOID(files.MakeFolder(folder));
  DAVIT_TRY(std::unique_ptr<AppendFile> file, files.Create(beside));
  DAVIT_TRY_VOID(file->Append(bytes));
  DAVIT_TRY_VOID(file->Sync());
  exists_ = true;
  DAVIT_TRY_VOID(files.Rename(beside, setup_.path));
  DAVIT_TRY_VOID(files.SyncFolder(folder));
  file_ = std::move(file);
  size_ = bytes.size();
  reserved_ = size_;
  limit_ = std::max(limit_, setup_.limits.factor * size_);
  must_rewrite_ = false;
  return {};
}

void JournalLog::Keep(std::vector<JournalEntry> entries) {
  std::move(entries.begin(), entries.end(), std::back_inserter(entries_));
}

Result<void> JournalLog::NoteFold(const std::string& sha256) {
  if (!exists_) {
    return {};
  }
  std::string record;
  AppendRecord(RecordKind::kFolded, sha256, &record);
  return must_rewrite_ ? Rewrite(record) : AppendAndSync(record);
}

Result<void> JournalLog::Remove() {
  file_.reset();
  return exists_ ? setup_.files->Remove(setup_.path) : Result<void>();
}

}  // namespace davit
