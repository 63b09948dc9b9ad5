#pragma once
// Whole checkpoints and deployments as JSON (S1-S21), both ways. One thread at a time.

#include <optional>
#include <string>
#include <vector>

#include "engine/model/snapshot.h"
#include "state/codec/resource_json.h"

namespace davit {

struct CheckpointReading {
  SecretsIn secrets = SecretsIn::kOpen;
  SecretTexts* texts = nullptr;
  SecretsOpener opener;
};

struct Checkpoint {
  std::optional<Snapshot> snapshot;  ///< absent: never deployed (S5)
  std::vector<std::string> features;
  bool magic_matches = true;  ///< S15
};

/// Reads a checkpoint file of any version (S4), migrated (S31).
Result<Checkpoint> ReadCheckpoint(std::string_view text, const CheckpointReading& reading);
/// Reads the text of `stack import` (S8).
Result<Checkpoint> ReadExported(std::string_view text, const CheckpointReading& reading);

/// What a checkpoint says when it was written although it failed verification (S18, S45).
struct CheckpointWriting {
  PropertyWriting values;
  std::string secrets_type;  ///< with state: `secrets_providers`; empty: none is written
  std::string secrets_state;
  std::string integrity_error;  ///< empty: sound
};

/// A checkpoint file (S1, S6) of the stack `organization/<project>/<stack>`.
Result<std::string> WriteCheckpoint(const std::string& stack,
                                    const Snapshot& snapshot,
                                    CheckpointWriting writing);
/// The text of `stack export` (S7); `read_features` are those that the file named, for secrets that
/// stay closed.
Result<std::string> WriteExported(const std::optional<Snapshot>& snapshot,
                                  const std::vector<std::string>& read_features,
                                  CheckpointWriting writing);

}  // namespace davit
