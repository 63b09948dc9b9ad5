#pragma once
// The records of a running deployment: a base snapshot and what each journal entry makes of it
// (E203-E205). Owned and used by one thread.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/model/journal_entry.h"

namespace davit {

/// A place in the list: every record added in this run stands before every one of the base.
struct RecordSlot {
  bool in_base = false;
  std::size_t index = 0;
  friend auto operator<=>(const RecordSlot&, const RecordSlot&) = default;
};

/// Where a replay stands, as a value: enough to go on with the later entries of the same run, so
/// that a fold in its middle can put the result in the base's place (S171).
struct ReplayPoint {
  Snapshot frame;                ///< the base without records and operations
  std::vector<StatePtr> base;    ///< by "old" index; null: removed
  std::vector<StatePtr> added;   ///< by this run, in completion order; null: removed
  std::map<std::int64_t, std::size_t> by_operation;  ///< operation -> place in `added`
  std::map<std::int64_t, PendingOperation> pending;  ///< begun in this run and not ended
  std::vector<PendingOperation> carried;             ///< of earlier runs (E205)
  bool is_refreshed = false;                         ///< references are to be cleaned
  std::unordered_map<Urn, Urn> renamed;              ///< by aliases (E51)
};
ReplayPoint StartReplay(const Snapshot& base);

/// Entries are applied in the order in which they become durable. One that names a record which is
/// not there throws, as it contradicts the base.
class JournalReplay {
 public:
  explicit JournalReplay(const Snapshot& base) : point_(StartReplay(base)) {}
  /// Goes on from a point.
  explicit JournalReplay(ReplayPoint point) : point_(std::move(point)) {}

  void Apply(const JournalEntry& entry);
  /// The list and the pending operations after the entries so far, cleaned by E143 when a refresh
  /// is among them.
  Snapshot Current() const;

  /// The records that an entry changes or drops, before it is applied.
  std::vector<RecordSlot> Touched(const JournalEntry& entry) const;
  /// The record at a place; null when it was dropped.
  const StatePtr& At(RecordSlot slot) const;
  std::size_t base_size() const { return point_.base.size(); }
  std::size_t added_size() const { return point_.added.size(); }
  /// Whether Current() will clean: a refresh entry came, and no RebuiltBase after it.
  bool is_refreshed() const { return point_.is_refreshed; }
  const ReplayPoint& point() const { return point_; }

 private:
  static std::size_t Index(std::int64_t index) { return static_cast<std::size_t>(index); }
  std::size_t Added(std::int64_t operation) const;
  void Succeed(const JournalEntry& entry);
  std::vector<StatePtr> List() const;

  ReplayPoint point_;
};

}  // namespace davit
