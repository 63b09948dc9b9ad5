#pragma once
// Journal entries (E199-E206, S142) and their replay over a base snapshot. Pure values.

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/model/snapshot.h"

namespace davit {

enum class JournalKind { kBegin = 0, kSuccess = 1, kFailure = 2, kRefreshSuccess = 3, kOutputs = 4, kRebuiltBase = 7, kExtension = 8 };

/// "Old" is an index into the base snapshot's resources; "new" is the operation id of an earlier entry of this run.
struct JournalEntry {
  JournalKind kind = JournalKind::kBegin;
  std::int64_t operation_id = 0;               ///< ties begin to end; from 1
  std::optional<std::int64_t> remove_old;
  std::optional<std::int64_t> remove_new;
  std::optional<std::int64_t> delete_old;      ///< set `delete` on a base record
  std::optional<std::int64_t> delete_new;
  std::optional<std::int64_t> pending_replacement_old;
  std::optional<std::int64_t> pending_replacement_new;
  std::optional<OperationType> operation;      ///< with kBegin: the pending operation to record
  StatePtr state;                              ///< what is added, or what the operation is about
  bool is_refresh = false;
  /// The URN that the added record had before, found through an alias: references to it are rewritten (E51).
  Urn renamed_from;
  /// With kExtension: what the state is to keep for records that name it (E178).
  std::string extension_ref;
  Extension extension;
  /// A `same` without any change worth a write of its own (E206): kept in memory until the next real write or the fold.
  bool deferred = false;
};

/// The list that a run leaves (E203-E205): records added this run in completion order, then untouched base records with
/// flags and replacements applied, and the pending operations. After a refresh entry or a RebuiltBase, dangling references
/// are cleaned by E143. kRefreshSuccess with remove_old replaces (or, without state, drops) the base record in place.
Snapshot Replay(const Snapshot& base, const std::vector<JournalEntry>& entries);

/// Rewrites references to renamed resources, and the URNs of records whose parent was renamed (E51).
void RenameReferences(std::vector<StatePtr>& resources, std::unordered_map<Urn, Urn> renamed);

/// The cleaning of E143: drops references to records that no longer precede, the one to a parent too.
/// The first `registered` records are the program's own and keep properties that depend on nothing.
void CleanReferences(std::vector<StatePtr>& resources, std::size_t registered = 0);

}  // namespace davit
