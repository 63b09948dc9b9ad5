#include "engine/model/journal_replay.h"

#include <algorithm>
#include <unordered_set>

#include "engine/base/check.h"
#include "engine/model/references.h"

namespace davit {
namespace {

void Flag(StatePtr& record, bool ResourceState::*flag) {
  if (record) {
    auto changed = std::make_shared<ResourceState>(*record);
    (*changed).*flag = true;
    record = std::move(changed);
  }
}

}  // namespace

JournalReplay::JournalReplay(const Snapshot& base) : base_(base.resources), result_(base) {
  for (const PendingOperation& operation : base.pending_operations) {
    if (operation.type == OperationType::kCreating) {  // E205: the others are forgotten (S149)
      carried_.push_back(operation);
    }
  }
}

std::vector<RecordSlot> JournalReplay::Touched(const JournalEntry& entry) const {
  std::vector<RecordSlot> slots;
  for (const std::optional<std::int64_t>* old_index :
       {&entry.remove_old, &entry.delete_old, &entry.pending_replacement_old}) {
    if (*old_index) {
      DAVIT_CHECK(**old_index >= 0 && Index(**old_index) < base_.size(),
                  "a journal entry names a record outside its base");
      slots.push_back({true, Index(**old_index)});
    }
  }
  for (const std::optional<std::int64_t>* operation :
       {&entry.remove_new, &entry.delete_new, &entry.pending_replacement_new}) {
    if (*operation) {
      slots.push_back({false, Added(**operation)});
    }
  }
  std::ranges::sort(slots);
  slots.erase(std::ranges::unique(slots).begin(), slots.end());
  return slots;
}

const StatePtr& JournalReplay::At(RecordSlot slot) const {
  return slot.in_base ? base_.at(slot.index) : added_.at(slot.index);
}

void JournalReplay::Apply(const JournalEntry& entry) {
  switch (entry.kind) {
    case JournalKind::kBegin:
      if (entry.operation) {
        pending_[entry.operation_id] = PendingOperation{*entry.operation, entry.state};
      }
      return;
    case JournalKind::kFailure:
      pending_.erase(entry.operation_id);
      return;
    case JournalKind::kSuccess:
      pending_.erase(entry.operation_id);
      is_refreshed_ = is_refreshed_ || entry.is_refresh;
      Succeed(entry);
      return;
    case JournalKind::kRefreshSuccess:
      pending_.erase(entry.operation_id);
      DAVIT_CHECK(entry.remove_old, "a refresh entry names no record");
      base_.at(Index(*entry.remove_old)) = entry.state;
      is_refreshed_ = true;
      return;
    case JournalKind::kOutputs:
      if (entry.remove_new) {
        added_.at(Added(*entry.remove_new)) = entry.state;
      } else if (entry.remove_old) {
        base_.at(Index(*entry.remove_old)) = entry.state;
      }
      return;
    case JournalKind::kRebuiltBase:
      is_refreshed_ = true;
      base_ = List();
      added_.clear();
      by_operation_.clear();
      is_refreshed_ = false;
      return;
  }
}

void JournalReplay::Succeed(const JournalEntry& entry) {
  if (entry.remove_old) {
    base_.at(Index(*entry.remove_old)) = nullptr;
  }
  if (entry.remove_new) {
    added_.at(Added(*entry.remove_new)) = nullptr;
  }
  if (entry.delete_old) {
    Flag(base_.at(Index(*entry.delete_old)), &ResourceState::pending_delete);
  }
  if (entry.delete_new) {
    Flag(added_.at(Added(*entry.delete_new)), &ResourceState::pending_delete);
  }
  if (entry.pending_replacement_old) {
    Flag(base_.at(Index(*entry.pending_replacement_old)), &ResourceState::pending_replacement);
  }
  if (entry.pending_replacement_new) {
    Flag(added_.at(Added(*entry.pending_replacement_new)), &ResourceState::pending_replacement);
  }
  if (!entry.renamed_from.empty()) {
    renamed_[entry.renamed_from] = entry.state->urn;
  }
  if (entry.state) {
    by_operation_[entry.operation_id] = added_.size();
    added_.push_back(entry.state);
  }
}

std::size_t JournalReplay::Added(std::int64_t operation) const {
  const auto at = by_operation_.find(operation);
  DAVIT_CHECK(at != by_operation_.end(), "a journal entry names an operation that added no record");
  return at->second;
}

std::vector<StatePtr> JournalReplay::List() const {
  std::vector<StatePtr> list;
  for (const std::vector<StatePtr>* part : {&added_, &base_}) {
    std::ranges::copy_if(
        *part, std::back_inserter(list), [](const StatePtr& record) { return record != nullptr; });
  }
  if (!renamed_.empty()) {
    RenameReferences(list, renamed_);
  }
  if (is_refreshed_) {
    const auto registered = std::ranges::count_if(
        added_, [](const StatePtr& record) { return record != nullptr; });
    CleanReferences(list, result_.resources, static_cast<std::size_t>(registered));
  }
  return list;
}

Snapshot JournalReplay::Current() const {
  Snapshot result = result_;
  result.resources = List();
  result.pending_operations.clear();
  for (const auto& [id, operation] : pending_) {
    result.pending_operations.push_back(operation);
  }
  result.pending_operations.insert(
      result.pending_operations.end(), carried_.begin(), carried_.end());
  return result;
}

void RenameReferences(std::vector<StatePtr>& resources, std::unordered_map<Urn, Urn> renamed) {
  const auto current = [&](const Urn& urn) {
    const auto at = renamed.find(urn);
    return at == renamed.end() ? urn : at->second;
  };
  for (StatePtr& record : resources) {
    ResourceState changed = *record;
    RewriteReferences(changed, [&](ReferenceKind, const Urn& urn) { return current(urn); });
    if (changed.parent != record->parent) {  // the parent's types are part of the URN
      const Urn& before = record->urn;
      changed.urn = Urn::Make(
          before.stack(), before.project(), changed.parent, before.type(), before.name());
      renamed.emplace(before, changed.urn);
    }
    if (!(changed == *record)) {
      record = std::make_shared<const ResourceState>(std::move(changed));
    }
  }
}

void CleanReferences(std::vector<StatePtr>& resources,
                     const std::vector<StatePtr>& before,
                     std::size_t registered) {
  std::unordered_map<Urn, Urn> parent_before;
  for (const StatePtr& record : before) {
    parent_before.emplace(record->urn, record->parent);
  }
  std::unordered_set<Urn> seen;
  for (std::size_t index = 0; index < resources.size(); ++index) {
    StatePtr& record = resources[index];
    ResourceState cleaned = *record;
    RewriteReferences(cleaned, [&](ReferenceKind kind, const Urn& urn) {
      if (!IsDependency(kind) || seen.contains(urn)) {
        return urn;
      }
      Urn survivor;  // of a parent the nearest ancestor; nothing stands for another dependency
      if (kind == ReferenceKind::kParent) {
        survivor = urn;
        // A damaged base may have a ring of parents; nobody in it survives.
        for (std::size_t step = 0; !survivor.empty() && !seen.contains(survivor); ++step) {
          const auto above = parent_before.find(survivor);
          survivor =
              above == parent_before.end() || step > parent_before.size() ? Urn() : above->second;
        }
        if (survivor.is_root_stack()) {  // recorded (refresh-gone): then there is none
          survivor = Urn();
        }
      }
      return survivor;
    });
    // Recorded (odd-names): properties that depend on nothing lose their entry.
    if (index >= registered) {
      std::erase_if(cleaned.property_dependencies,
                    [](const auto& entry) { return entry.second.empty(); });
    }
    seen.insert(record->urn);
    if (!(cleaned == *record)) {
      record = std::make_shared<const ResourceState>(std::move(cleaned));
    }
  }
}

Snapshot Replay(const Snapshot& base, const std::vector<JournalEntry>& entries) {
  JournalReplay replay(base);
  for (const JournalEntry& entry : entries) {
    replay.Apply(entry);
  }
  return replay.Current();
}

}  // namespace davit
