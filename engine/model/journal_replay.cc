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

ReplayPoint StartReplay(const Snapshot& base) {
  ReplayPoint point;
  point.frame = base;
  point.frame.resources.clear();
  point.frame.pending_operations.clear();
  point.base = base.resources;
  for (const PendingOperation& operation : base.pending_operations) {
    if (operation.type == OperationType::kCreating) {  // E205: the others are forgotten (S149)
      point.carried.push_back(operation);
    }
  }
  return point;
}

std::vector<RecordSlot> JournalReplay::Touched(const JournalEntry& entry) const {
  std::vector<RecordSlot> slots;
  for (const std::optional<std::int64_t>* old_index :
       {&entry.remove_old, &entry.delete_old, &entry.pending_replacement_old}) {
    if (*old_index) {
      DAVIT_CHECK(**old_index >= 0 && Index(**old_index) < point_.base.size(),
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
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  return slots;
}

const StatePtr& JournalReplay::At(RecordSlot slot) const {
  return slot.in_base ? point_.base.at(slot.index) : point_.added.at(slot.index);
}

void JournalReplay::Apply(const JournalEntry& entry) {
  switch (entry.kind) {
    case JournalKind::kBegin:
      if (entry.operation) {
        point_.pending[entry.operation_id] = PendingOperation{*entry.operation, entry.state};
      }
      return;
    case JournalKind::kFailure:
      point_.pending.erase(entry.operation_id);
      return;
    case JournalKind::kSuccess:
      point_.pending.erase(entry.operation_id);
      point_.is_refreshed = point_.is_refreshed || entry.is_refresh;
      Succeed(entry);
      return;
    case JournalKind::kRefreshSuccess:
      point_.pending.erase(entry.operation_id);
      if (entry.remove_old) {
        point_.base.at(Index(*entry.remove_old)) = entry.state;
      } else {
        DAVIT_CHECK(entry.state, "a refresh entry is about no record");
        point_.base.push_back(entry.state);  // a part that the refresh found (E193)
      }
      point_.is_refreshed = true;
      return;
    case JournalKind::kOutputs:
      if (entry.remove_new) {
        point_.added.at(Added(*entry.remove_new)) = entry.state;
      } else if (entry.remove_old) {
        point_.base.at(Index(*entry.remove_old)) = entry.state;
      }
      return;
    case JournalKind::kExtension:
      point_.frame.extensions[entry.extension_ref] = entry.extension;
      return;
    case JournalKind::kRebuiltBase:
      point_.is_refreshed = true;
      point_.base = List();
      point_.added.clear();
      point_.by_operation.clear();
      point_.is_refreshed = false;
      return;
  }
}

void JournalReplay::Succeed(const JournalEntry& entry) {
  if (entry.remove_old) {
    point_.base.at(Index(*entry.remove_old)) = nullptr;
  }
  if (entry.remove_new) {
    point_.added.at(Added(*entry.remove_new)) = nullptr;
  }
  if (entry.delete_old) {
    Flag(point_.base.at(Index(*entry.delete_old)), &ResourceState::pending_delete);
  }
  if (entry.delete_new) {
    Flag(point_.added.at(Added(*entry.delete_new)), &ResourceState::pending_delete);
  }
  if (entry.pending_replacement_old) {
    Flag(point_.base.at(Index(*entry.pending_replacement_old)),
         &ResourceState::pending_replacement);
  }
  if (entry.pending_replacement_new) {
    Flag(point_.added.at(Added(*entry.pending_replacement_new)),
         &ResourceState::pending_replacement);
  }
  if (!entry.renamed_from.empty()) {
    point_.renamed[entry.renamed_from] = entry.state->urn;
  }
  if (entry.state) {
    point_.by_operation[entry.operation_id] = point_.added.size();
    point_.added.push_back(entry.state);
  }
}

std::size_t JournalReplay::Added(std::int64_t operation) const {
  const auto at = point_.by_operation.find(operation);
  DAVIT_CHECK(at != point_.by_operation.end(),
              "a journal entry names an operation that added no record");
  return at->second;
}

std::vector<StatePtr> JournalReplay::List() const {
  std::vector<StatePtr> list;
  for (const std::vector<StatePtr>* part : {&point_.added, &point_.base}) {
    std::ranges::copy_if(
        *part, std::back_inserter(list), [](const StatePtr& record) { return record != nullptr; });
  }
  if (!point_.renamed.empty()) {
    RenameReferences(list, point_.renamed);
  }
  if (point_.is_refreshed) {
    const auto registered = std::ranges::count_if(
        point_.added, [](const StatePtr& record) { return record != nullptr; });
    CleanReferences(list, static_cast<std::size_t>(registered));
  }
  return list;
}

Snapshot JournalReplay::Current() const {
  Snapshot result = point_.frame;
  result.resources = List();
  for (const auto& [id, operation] : point_.pending) {
    result.pending_operations.push_back(operation);
  }
  result.pending_operations.insert(
      result.pending_operations.end(), point_.carried.begin(), point_.carried.end());
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

void CleanReferences(std::vector<StatePtr>& resources, std::size_t registered) {
  std::unordered_set<Urn> seen;
  for (std::size_t index = 0; index < resources.size(); ++index) {
    StatePtr& record = resources[index];
    ResourceState cleaned = *record;
    RewriteReferences(cleaned, [&](ReferenceKind kind, const Urn& urn) {
      return !IsDependency(kind) || seen.contains(urn) ? urn : Urn();
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
