#include "state/backend/run_fold.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <utility>

#include "engine/base/digest.h"
#include "state/codec/checkpoint_json.h"
#include "state/codec/replay_json.h"

namespace davit {
namespace {

class RunFold final : public JournalFold {
 public:
  RunFold(FoldPlace place, std::function<void(const std::string&)> on_folded)
      : place_(std::move(place)), on_folded_(std::move(on_folded)) {}

  void FoldSoFar(JournalLog& log) override {
    if (!TryFoldSoFar(log)) {
      log.Postpone();
    }
  }

  Result<void> FoldAll(JournalLog& log) override {
    FoldedSoFar folded = log.SoFar();
    const std::string faults = JoinMessages(VerifySnapshot(folded.snapshot));
    DAVIT_TRY(const std::string text, EncodeCheckpoint(log, &folded.snapshot, faults));
    DAVIT_TRY(const std::optional<std::string> before, files().Read(paths().checkpoint));
    const std::string sha256_before = before ? Sha256Hex(*before) : std::string();
    if (sha256_before != log.base_sha256() && sha256_before != unfinished_sha256_) {
      return Conflict(text);
    }
    DAVIT_TRY_VOID(log.DoWhatIsLeft());
    const std::string sha256 = Sha256Hex(text);
    DAVIT_TRY_VOID(log.NoteFold(sha256));
    DAVIT_TRY_VOID(Replace(log, before, text));
    on_folded_(sha256);
    DAVIT_TRY_VOID(log.Remove());
    if (!faults.empty()) {  // S45: stored first, then told
      return Fail(ErrorKind::kBug,
                  fmt::format("the new state was stored but is not sound: {}", faults),
                  "export it, correct it and import it again");
    }
    return {};
  }

 private:
  FileLayer& files() const { return *place_.files; }
  const StackFiles& paths() const { return place_.paths; }

  // 1. Make the checkpoint and the record of where the run stands. 2. Say in the journal that it is
  // being folded. 3. Replace the checkpoint. 4. Begin the journal anew on it. Up to 2 nothing has
  // changed for a reader; from 3 on, whatever fails is done again before the next entry is written,
  // as the journal that is there must not get any more.
  bool TryFoldSoFar(JournalLog& log) {
    auto folded = std::make_shared<FoldedSoFar>(log.SoFar());
    if (!VerifySnapshot(folded->snapshot).empty()) {
      return false;  // in the middle of something that only the end of the run makes sound
    }
    Result<std::string> text = EncodeCheckpoint(log, &folded->snapshot, "");
    PropertyWriting writing = log.Writing();
    WriteReplayPoint(folded->point, folded->snapshot, writing, &folded->carried);
    const Result<std::optional<std::string>> before = files().Read(paths().checkpoint);
    if (!text || writing.error || !before || !*before || Sha256Hex(**before) != log.base_sha256()) {
      return false;  // the end of the run tells why
    }
    folded->text = *std::move(text);
    folded->sha256 = Sha256Hex(folded->text);
    if (!log.NoteFold(folded->sha256)) {
      return false;
    }
    unfinished_sha256_ = folded->sha256;
    log.DoFirst([this, folded](JournalLog& unfinished) { return Finish(unfinished, *folded); });
    (void)log.DoWhatIsLeft();
    return true;
  }

  Result<void> Finish(JournalLog& log, const FoldedSoFar& folded) {
    DAVIT_TRY(const std::optional<std::string> before, files().Read(paths().checkpoint));
    const std::string sha256_before = before ? Sha256Hex(*before) : std::string();
    if (sha256_before != log.base_sha256() && sha256_before != folded.sha256) {
      return Fail(ErrorKind::kRefused,
                  fmt::format("the checkpoint '{}' was changed by another program during the run",
                              paths().checkpoint));
    }
    DAVIT_TRY_VOID(Replace(
        log, sha256_before == folded.sha256 ? std::optional<std::string>() : before, folded.text));
    unfinished_sha256_.clear();
    log.GoOnFrom(folded);
    return {};
  }

  // W10: the backup is the state before the run, so only its first fold replaces it.
  Result<void> Replace(const JournalLog& log,
                       const std::optional<std::string>& before,
                       const std::string& text) {
    return ReplaceCheckpoint(
        files(), paths(), log.is_carried() ? std::optional<std::string>() : before, text);
  }

  Result<std::string> EncodeCheckpoint(const JournalLog& log,
                                       Snapshot* snapshot,
                                       const std::string& faults) const {
    StampManifest(place_.version, snapshot);
    CheckpointWriting writing;
    writing.secrets_type = log.secrets_type();
    writing.secrets_state = log.secrets_state();
    writing.integrity_error = faults;
    writing.values = log.Writing();
    return WriteCheckpoint(place_.stack.Text(), *snapshot, std::move(writing));
  }

  Result<void> Conflict(const std::string& text) {
    DAVIT_TRY_VOID(files().MakeFolder(FolderOf(paths().conflict)));
    DAVIT_TRY_VOID(ReplaceFile(files(), paths().conflict, text));
    return Fail(
        ErrorKind::kRefused,
        fmt::format("the checkpoint '{}' was changed by another program during the run",
                    paths().checkpoint),
        fmt::format(
            "what this run knows is in '{}'; import whichever is right with `davit stack import`",
            paths().conflict));
  }

  FoldPlace place_;
  std::function<void(const std::string&)> on_folded_;
  std::string unfinished_sha256_;  ///< of a checkpoint that may or may not be in place
};

}  // namespace

void StampManifest(const std::string& version, Snapshot* snapshot) {
  snapshot->manifest_time =
      std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
  snapshot->manifest_version = version;
  snapshot->manifest_plugins_json.clear();
}

std::string JoinMessages(const std::vector<Error>& errors) {
  std::string text;
  for (const Error& error : errors) {
    text += text.empty() ? "" : "; ";
    text += error.message;
  }
  return text;
}

std::shared_ptr<JournalFold> MakeRunFold(FoldPlace place,
                                         std::function<void(const std::string&)> on_folded) {
  return std::make_shared<RunFold>(std::move(place), std::move(on_folded));
}

}  // namespace davit
