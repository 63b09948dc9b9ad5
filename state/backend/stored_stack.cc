#include "state/backend/stored_stack.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "engine/base/digest.h"
#include "state/codec/journal_json.h"
#include "state/codec/replay_json.h"
#include "state/journal/journal_format.h"

namespace davit {
namespace {

Unexpected NoSuchStack(const StackRef& stack) {
  return Fail(ErrorKind::kInvalid,
              fmt::format("no stack named '{}' in project '{}'", stack.stack, stack.project),
              fmt::format("create it with `davit stack init {}`", stack.stack));
}

Result<void> RefuseCompressed(const std::string& text, const std::string& path) {
  const std::string_view magic = std::string_view(text).substr(0, 4);
  if (magic.substr(0, 2) == "\x1f\x8b" || magic == "\x28\xb5\x2f\xfd") {
    return Fail(
        ErrorKind::kUnimplemented,
        fmt::format("the checkpoint '{}' is compressed, which this backend does not read", path),
        "unpack it, and unset PULUMI_DIY_BACKEND_GZIP and PULUMI_DIY_BACKEND_ZSTD");
  }
  return {};
}

std::string JournalAdvice(const StackFiles& paths) {
  return fmt::format(
      "look at both, import the right state with `davit stack import`, or remove '{}' to give up "
      "what it says",
      paths.journal);
}

// Replays what the image holds over the checkpoint.
Result<void> ApplyJournal(const JournalImage& image,
                          const StackFiles& paths,
                          SecretsIn secrets,
                          SecretTexts* texts,
                          const SecretsOpener& opener,
                          StoredStack* stored) {
  DocumentSecrets document(opener);
  document.Set(image.secrets_type.value_or(stored->secrets_type),
               image.secrets_type ? image.secrets_state : stored->secrets_state);
  PropertyReading reading;
  reading.secrets = secrets;
  reading.texts = texts;
  reading.document = &document;
  ReplayPoint point = StartReplay(stored->folded);
  if (image.carried) {
    Result<ReplayPoint> carried = ReadReplayPoint(*image.carried, stored->folded, reading);
    if (!carried) {
      return Fail(
          std::move(carried).error().WithContext(fmt::format("the journal '{}'", paths.journal)));
    }
    point = *std::move(carried);
    stored->is_carried = true;
  }
  std::vector<JournalEntry> entries;
  for (const std::string_view text : image.entries) {
    Result<JournalEntry> entry = ReadJournalEntry(text, stored->folded.resources, reading);
    if (!entry) {
      return Fail(
          std::move(entry).error().WithContext(fmt::format("the journal '{}'", paths.journal)));
    }
    entries.push_back(*std::move(entry));
  }
  Recovery recovery;
  recovery.entries = static_cast<int>(entries.size());
  recovery.sound_bytes = image.valid_size;
  recovery.discarded_bytes = static_cast<int>(image.discarded);
  try {
    JournalReplay replay(std::move(point));
    for (const JournalEntry& entry : entries) {
      replay.Apply(entry);
    }
    recovery.pending_operations = static_cast<int>(replay.point().pending.size());
    stored->folded = replay.Current();
  } catch (
      const std::exception& exception) {  // entries that contradict each other or the checkpoint
    return Fail(
        ErrorKind::kInvalid,
        fmt::format(
            "the journal '{}' does not fit its checkpoint: {}", paths.journal, exception.what()),
        JournalAdvice(paths));
  }
  stored->recovery = recovery;
  if (image.secrets_type) {
    stored->secrets_type = *image.secrets_type;
    stored->secrets_state = image.secrets_state;
  }
  if (document.manager()) {
    stored->manager = document.manager();
  }
  return {};
}

}  // namespace

Result<StoredStack> ReadStoredStack(FileLayer& files,
                                    const StackFiles& paths,
                                    const StackRef& stack,
                                    SecretsIn secrets,
                                    SecretTexts* texts,
                                    const SecretsOpener& opener) {
  StoredStack stored;
  // Remembers the manager by id, so that checkpoint and journal ask for a passphrase once.
  std::map<std::string, std::shared_ptr<SecretsManager>> opened;
  const SecretsOpener open_once =
      [&](const std::string& type,
          const std::string& state) -> Result<std::shared_ptr<SecretsManager>> {
    std::shared_ptr<SecretsManager>& manager = opened[ManagerId(type, state)];
    if (!manager) {
      DAVIT_TRY(manager, opener(type, state));
    }
    return manager;
  };
  DAVIT_TRY(const std::optional<std::string> journal, files.Read(paths.journal));
  DAVIT_TRY(std::optional<std::string> text, files.Read(paths.checkpoint));
  if (!text) {
    for (const char* extension : {".gz", ".zst"}) {
      DAVIT_TRY(const std::optional<std::string> packed, files.Read(paths.checkpoint + extension));
      if (packed) {
        DAVIT_TRY_VOID(RefuseCompressed(*packed, paths.checkpoint + extension));
      }
    }
    return NoSuchStack(stack);
  }
  stored.text = *std::move(text);
  stored.text_sha256 = Sha256Hex(stored.text);
  DAVIT_TRY_VOID(RefuseCompressed(stored.text, paths.checkpoint));
  CheckpointReading reading{secrets, texts, opener ? open_once : SecretsOpener()};
  Result<Checkpoint> checkpoint = ReadCheckpoint(stored.text, reading);
  if (!checkpoint) {
    Error error = std::move(checkpoint).error().WithContext(fmt::format("'{}'", paths.checkpoint));
    if (error.kind == ErrorKind::kInvalid && error.advice.empty()) {
      error.advice = fmt::format("the state before the last update is in '{}'", paths.backup);
    }
    return Fail(std::move(error));
  }
  stored.checkpoint = *std::move(checkpoint);
  stored.folded = stored.checkpoint.snapshot.value_or(Snapshot());
  stored.secrets_type = stored.folded.secrets_type;
  stored.secrets_state = stored.folded.secrets_state;
  const auto own = opened.find(ManagerId(stored.secrets_type, stored.secrets_state));
  stored.manager = own == opened.end() ? nullptr : own->second;
  stored.has_journal = journal.has_value();
  if (!journal) {
    return stored;
  }
  const Result<JournalImage> image = ReadJournalImage(*journal);
  if (!image) {
    return Fail(
        ErrorKind::kInvalid,
        fmt::format("the journal '{}' cannot be read: {}", paths.journal, image.error().message),
        JournalAdvice(paths));
  }
  if (image->base_sha256 == stored.text_sha256) {
    DAVIT_TRY_VOID(
        ApplyJournal(*image, paths, secrets, texts, opener ? open_once : SecretsOpener(), &stored));
  } else if (image->folded_sha256 != stored.text_sha256) {
    return Fail(ErrorKind::kRefused,
                fmt::format("the journal '{}' of a run that did not end belongs to another "
                            "checkpoint than '{}', which was "
                            "changed since",
                            paths.journal,
                            paths.checkpoint),
                JournalAdvice(paths));
  }  // else the fold was done, only the removal of the journal was not
  return stored;
}

}  // namespace davit
