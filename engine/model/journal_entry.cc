#include "engine/model/journal_entry.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "engine/base/check.h"

namespace davit {
namespace {

StatePtr Flagged(const StatePtr& state, bool ResourceState::*flag) {
  auto changed = std::make_shared<ResourceState>(*state);
  (*changed).*flag = true;
  return changed;
}

// Applies entries one after another to a base that RebuiltBase may replace.
class Replayer {
 public:
  explicit Replayer(const Snapshot& base) : base_(base.resources), result_(base) {
    for (const PendingOperation& operation : base.pending_operations) {
      if (operation.type == OperationType::kCreating) {  // E205: the others are forgotten (S149)
        carried_.push_back(operation);
      }
    }
  }

  void Apply(const JournalEntry& entry) {
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
        Succeed(entry);
        return;
      case JournalKind::kRefreshSuccess:
        pending_.erase(entry.operation_id);
        DAVIT_CHECK(entry.remove_old, "a refresh entry names no record");
        base_.at(Index(*entry.remove_old)) = entry.state;
        refreshed_ = true;
        return;
      case JournalKind::kOutputs:
        ReplaceOutputs(entry);
        return;
      case JournalKind::kRebuiltBase:
        refreshed_ = true;
        base_ = List();
        added_.clear();
        by_operation_.clear();
        refreshed_ = false;
        return;
    }
  }

  Snapshot Finish() {
    result_.resources = List();
    result_.pending_operations.clear();
    for (auto& [id, operation] : pending_) {
      result_.pending_operations.push_back(operation);
    }
    result_.pending_operations.insert(result_.pending_operations.end(), carried_.begin(), carried_.end());
    return std::move(result_);
  }

 private:
  static std::size_t Index(std::int64_t index) { return static_cast<std::size_t>(index); }

  void Succeed(const JournalEntry& entry) {
    if (entry.remove_old) {
      base_.at(Index(*entry.remove_old)) = nullptr;
    }
    if (entry.remove_new) {
      added_.at(by_operation_.at(*entry.remove_new)) = nullptr;
    }
    if (entry.delete_old) {
      Flag(base_.at(Index(*entry.delete_old)), &ResourceState::pending_delete);
    }
    if (entry.delete_new) {
      Flag(added_.at(by_operation_.at(*entry.delete_new)), &ResourceState::pending_delete);
    }
    if (entry.pending_replacement_old) {
      Flag(base_.at(Index(*entry.pending_replacement_old)), &ResourceState::pending_replacement);
    }
    if (entry.pending_replacement_new) {
      Flag(added_.at(by_operation_.at(*entry.pending_replacement_new)), &ResourceState::pending_replacement);
    }
    if (entry.state) {
      by_operation_[entry.operation_id] = added_.size();
      added_.push_back(entry.state);
    }
  }

  void Flag(StatePtr& record, bool ResourceState::*flag) {
    if (record) {
      record = Flagged(record, flag);
    }
  }

  void ReplaceOutputs(const JournalEntry& entry) {
    if (entry.remove_new) {
      added_.at(by_operation_.at(*entry.remove_new)) = entry.state;
    } else if (entry.remove_old) {
      base_.at(Index(*entry.remove_old)) = entry.state;
    }
  }

  std::vector<StatePtr> List() const {
    std::vector<StatePtr> list;
    for (const std::vector<StatePtr>* part : {&added_, &base_}) {
      std::ranges::copy_if(*part, std::back_inserter(list), [](const StatePtr& record) { return record != nullptr; });
    }
    if (refreshed_) {
      std::vector<StatePtr> before = result_.resources;
      CleanReferences(list, before);
    }
    return list;
  }

  std::vector<StatePtr> base_;
  std::vector<StatePtr> added_;
  std::unordered_map<std::int64_t, std::size_t> by_operation_;
  std::map<std::int64_t, PendingOperation> pending_;
  std::vector<PendingOperation> carried_;
  bool refreshed_ = false;
  Snapshot result_;
};

}  // namespace

void CleanReferences(std::vector<StatePtr>& resources, const std::vector<StatePtr>& before) {
  std::unordered_map<Urn, Urn> parent_before;
  for (const StatePtr& record : before) {
    parent_before.emplace(record->urn, record->parent);
  }
  std::unordered_set<Urn> seen;
  for (StatePtr& record : resources) {
    ResourceState cleaned = *record;
    const auto is_gone = [&](const Urn& urn) { return !seen.contains(urn); };
    std::erase_if(cleaned.dependencies, is_gone);
    for (auto& [key, urns] : cleaned.property_dependencies) {
      std::erase_if(urns, is_gone);
    }
    // Recorded (odd-names): properties that depend on nothing lose their entry.
    std::erase_if(cleaned.property_dependencies, [](const auto& entry) { return entry.second.empty(); });
    std::erase_if(cleaned.replace_with, is_gone);
    if (!cleaned.deleted_with.empty() && is_gone(cleaned.deleted_with)) {
      cleaned.deleted_with = Urn();
    }
    while (!cleaned.parent.empty() && is_gone(cleaned.parent)) {  // the nearest surviving ancestor
      const auto above = parent_before.find(cleaned.parent);
      cleaned.parent = above == parent_before.end() ? Urn() : above->second;
    }
    seen.insert(record->urn);
    if (!(cleaned == *record)) {
      record = std::make_shared<const ResourceState>(std::move(cleaned));
    }
  }
}

Snapshot Replay(const Snapshot& base, const std::vector<JournalEntry>& entries) {
  Replayer replayer(base);
  for (const JournalEntry& entry : entries) {
    replayer.Apply(entry);
  }
  return replayer.Finish();
}

}  // namespace davit
