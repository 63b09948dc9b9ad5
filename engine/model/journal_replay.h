#pragma once
// The records of a running deployment: a base snapshot and what each journal entry makes of it
// (E203-E205). Owned and used by one thread.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "engine/model/journal_entry.h"

namespace davit {

/// A place in the list: every record added in this run stands before every one of the base.
struct RecordSlot {
  bool in_base = false;
  std::size_t index = 0;
  friend auto operator<=>(const RecordSlot&, const RecordSlot&) = default;
};

/// Entries are applied in the order in which they become durable. One that names a record which is
/// not there throws, as it contradicts the base.
class JournalReplay {
 public:
  explicit JournalReplay(const Snapshot& base);

  void Apply(const JournalEntry& entry);
  /// The list and the pending operations after the entries so far, cleaned by E143 when a refresh
  /// is among them.
  Snapshot Current() const;

  /// The records that an entry changes or drops, before it is applied.
  std::vector<RecordSlot> Touched(const JournalEntry& entry) const;
  /// The record at a place; null when it was dropped.
  const StatePtr& At(RecordSlot slot) const;
  std::size_t base_size() const { return base_.size(); }
  std::size_t added_size() const { return added_.size(); }
  /// Whether Current() will clean: a refresh entry came, and no RebuiltBase after it.
  bool is_refreshed() const { return is_refreshed_; }

 private:
  static std::size_t Index(std::int64_t index) { return static_cast<std::size_t>(index); }
  std::size_t Added(std::int64_t operation) const;
  void Succeed(const JournalEntry& entry);
  std::vector<StatePtr> List() const;

  std::vector<StatePtr> base_;
  std::vector<StatePtr> added_;
  std::unordered_map<std::int64_t, std::size_t> by_operation_;  ///< operation -> place in `added_`
  std::map<std::int64_t, PendingOperation> pending_;
  std::vector<PendingOperation> carried_;
  bool is_refreshed_ = false;
  std::unordered_map<Urn, Urn> renamed_;  ///< by aliases (E51)
  Snapshot result_;  ///< everything else of the base
};

}  // namespace davit
