#pragma once
// A whole deployment (E3, S13): what a checkpoint holds. Values; records are shared.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/resource_state.h"

namespace davit {

/// E4, E202.
enum class OperationType { kCreating, kUpdating, kDeleting, kReading, kImporting };
std::string_view OperationTypeName(OperationType type);
std::optional<OperationType> ParseOperationType(std::string_view name);

struct PendingOperation {
  OperationType type = OperationType::kCreating;
  StatePtr resource;
};

struct Extension {
  std::string name;
  std::string version;
  std::string value;  ///< raw bytes
};

struct Snapshot {
  std::vector<StatePtr> resources;
  std::vector<PendingOperation> pending_operations;
  /// `secrets_providers`: type and raw JSON state as found in the file; absent when the file had
  /// none.
  std::string secrets_type;
  std::string secrets_state;
  std::map<std::string, Extension> extensions;
  std::string snippets_json;          ///< raw JSON list, empty when absent
  std::string manifest_version;       ///< version text of the writer
  std::string manifest_plugins_json;  ///< raw JSON list, empty when absent
  std::optional<WallTime> manifest_time;
};

/// Integrity of a snapshot (E207, S38-S43): every violation, not the first. Order errors and
/// missing references have different messages. Each names the URN and what to do.
std::vector<Error> VerifySnapshot(const Snapshot& snapshot);

}  // namespace davit
