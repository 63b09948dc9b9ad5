#pragma once
// Reading a stack: its checkpoint, and what the journal of a crashed (or running) run adds to it.
// Blocking.

#include <memory>
#include <optional>
#include <string>

#include "state/backend/stack_files.h"
#include "state/codec/checkpoint_json.h"

namespace davit {

struct StoredStack {
  std::string text;  ///< of the checkpoint
  std::string text_sha256;
  Checkpoint checkpoint;             ///< as the file has it
  bool has_journal = false;          ///< there is a journal file, possibly without effect
  bool is_carried = false;           ///< the checkpoint is one that a run made in its middle
  std::optional<Recovery> recovery;  ///< the journal has an effect; `folded` then has it
  Snapshot folded;                   ///< what the stack is: checkpoint and journal together
  std::string secrets_type;          ///< manager to write it with
  std::string secrets_state;
  /// The manager that opened the secrets; null when none was opened.
  std::shared_ptr<SecretsManager> manager;
};

/// An error when there is no such stack, something does not read, or the journal belongs to another
/// checkpoint.
Result<StoredStack> ReadStoredStack(FileLayer& files,
                                    const StackFiles& paths,
                                    const StackRef& stack,
                                    SecretsIn secrets,
                                    SecretTexts* texts,
                                    const SecretsOpener& opener);

}  // namespace davit
