#pragma once
// Integrity of a running deployment (E207, E214): judges each journal entry before anybody writes
// it. Engine thread.

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/model/journal_replay.h"

namespace davit {

/// Follows a deployment from its base. What an entry costs depends on the references of the records
/// that it names, not on the size of the stack; only an entry that looks wrong has the whole list
/// verified.
class SnapshotGuard {
 public:
  /// Reads the base once. A base that is itself wrong is reported with the first entry.
  explicit SnapshotGuard(const Snapshot& base);

  /// Takes the entry and returns what is wrong with the list after it, exactly what VerifySnapshot
  /// says of the replay; empty when all is well. An entry that contradicts the base, or names a
  /// record that was dropped, is a bug and is not taken.
  std::vector<Error> Apply(const JournalEntry& entry);

  /// The deployment after the entries so far.
  Snapshot Current() const { return replay_.Current(); }
  /// How often the whole list was verified since the base was read; 0 in a sound run without a
  /// refresh.
  int full_checks() const { return full_checks_; }

 private:
  /// What is known of one URN, or of one provider by URN and id.
  struct Target {
    std::vector<RecordSlot>
        places;            ///< where records of it stand, unordered; hardly ever more than two
    std::size_t live = 0;  ///< of these, those without `delete`
    std::size_t references = 0;  ///< references to it from records of the list
    std::optional<RecordSlot> First() const;
  };
  using Targets = std::unordered_map<std::string, Target>;
  /// What an entry may weaken: a target, and where its first record stood before.
  struct Weakened {
    Target* target;
    std::optional<RecordSlot> first;
    bool is_provider;
  };
  using Before = std::vector<Weakened>;

  void Enter(RecordSlot slot);
  void Leave(RecordSlot slot, Before* before);
  /// Counts (or with -1 discounts) the references of the record at `slot`.
  void CountReferences(const ResourceState& state, int change);
  void ReadAll();
  /// Whether the record at `slot` is well formed, alone with its URN, and preceded by all that it
  /// refers to.
  bool IsSound(RecordSlot slot) const;
  /// Applies the entry; false when the list may be wrong because of it.
  bool Take(const JournalEntry& entry);

  JournalReplay replay_;
  /// Added records that an alias found (E51): references to the old URN count as references to
  /// them.
  std::map<RecordSlot, Urn> renamed_;
  Targets by_urn_;
  Targets by_provider_;
  bool is_suspicious_ = false;
  int full_checks_ = 0;
};

}  // namespace davit
