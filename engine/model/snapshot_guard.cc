#include "engine/model/snapshot_guard.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/model/provider_ref.h"
#include "engine/model/references.h"

namespace davit {
namespace {

// As ProviderRef::Key, without taking the text apart; malformed references are found by
// IsWellFormed.
std::string ReferenceKey(const std::string& reference) {
  return reference.ends_with("::") ? reference + std::string(kUnknownId) : reference;
}

bool IsWellFormed(const ResourceState& state) {
  const bool is_provider = state.type.starts_with(kProviderTypePrefix);
  return !state.urn.empty() && !state.type.empty() && (state.custom || state.id.empty()) &&
         (!is_provider || (state.urn.is_provider() && Urn::Parse(state.urn.text()))) &&
         (state.provider.empty() || ProviderRef::Parse(state.provider));
}

}  // namespace

SnapshotGuard::SnapshotGuard(const Snapshot& base) : replay_(base) {
  ReadAll();
  is_suspicious_ = !VerifySnapshot(base).empty();
}

std::optional<RecordSlot> SnapshotGuard::Target::First() const {
  const auto first = std::ranges::min_element(places);
  return first == places.end() ? std::nullopt : std::optional(*first);
}

void SnapshotGuard::ReadAll() {
  by_urn_.clear();
  by_provider_.clear();
  for (const bool in_base : {false, true}) {
    const std::size_t count = in_base ? replay_.base_size() : replay_.added_size();
    for (std::size_t index = 0; index < count; ++index) {
      Enter({in_base, index});
    }
  }
}

void SnapshotGuard::CountReferences(const ResourceState& state, int change) {
  const auto count = [change](Target& target) {
    target.references += static_cast<std::size_t>(change);
  };
  VisitDependencies(state, [&](ReferenceKind, const Urn& urn) { count(by_urn_[urn.text()]); });
  if (!state.provider.empty() &&
      !state.pending_replacement) {  // S40: a deleted record needs its provider no more
    count(by_provider_[ReferenceKey(state.provider)]);
  }
}

void SnapshotGuard::Enter(RecordSlot slot) {
  const StatePtr& state = replay_.At(slot);
  if (!state) {
    return;
  }
  Target& own = by_urn_[state->urn.text()];
  own.places.push_back(slot);
  own.live += state->pending_delete ? 0 : 1;
  if (state->urn.is_provider()) {
    by_provider_[ProviderRef{state->urn, state->id}.Key()].places.push_back(slot);
  }
  const auto renamed = renamed_.find(slot);
  if (renamed != renamed_.end()) {
    by_urn_[renamed->second.text()].places.push_back(slot);
    if (state->urn.is_provider()) {
      by_provider_[ProviderRef{renamed->second, state->id}.Key()].places.push_back(slot);
    }
  }
  CountReferences(*state, 1);
}

void SnapshotGuard::Leave(RecordSlot slot, Before* before) {
  const StatePtr& state = replay_.At(slot);
  const auto leave = [&](Target& target, bool is_provider) {
    before->push_back({&target, target.First(), is_provider});
    std::erase(target.places, slot);
  };
  Target& own = by_urn_[state->urn.text()];
  leave(own, false);
  own.live -= state->pending_delete ? 0 : 1;
  if (state->urn.is_provider()) {
    leave(by_provider_[ProviderRef{state->urn, state->id}.Key()], true);
  }
  const auto renamed = renamed_.find(slot);
  if (renamed != renamed_.end()) {
    leave(by_urn_[renamed->second.text()], false);
    if (state->urn.is_provider()) {
      leave(by_provider_[ProviderRef{renamed->second, state->id}.Key()], true);
    }
  }
  CountReferences(*state, -1);
}

bool SnapshotGuard::IsSound(RecordSlot slot) const {
  const StatePtr& state = replay_.At(slot);
  if (!state) {
    return true;
  }
  const auto precedes = [slot](const Targets& targets, const std::string& key) {
    const auto at = targets.find(key);
    const std::optional<RecordSlot> first = at == targets.end() ? std::nullopt : at->second.First();
    return first && *first < slot;
  };
  bool is_sound = IsWellFormed(*state) && by_urn_.at(state->urn.text()).live <= 1;
  if (!replay_.is_refreshed()) {  // otherwise the list is cleaned of what does not precede
    VisitDependencies(*state, [&](ReferenceKind, const Urn& urn) {
      is_sound = is_sound && precedes(by_urn_, urn.text());
    });
  }
  const bool needs_provider = !state->provider.empty() && !state->pending_replacement;
  return is_sound && (!needs_provider || precedes(by_provider_, ReferenceKey(state->provider)));
}

bool SnapshotGuard::Take(const JournalEntry& entry) {
  std::vector<RecordSlot> slots = replay_.Touched(entry);
  Before before;
  for (const RecordSlot slot : slots) {
    Leave(slot, &before);
  }
  const std::size_t added_before = replay_.added_size();
  const std::size_t base_before = replay_.base_size();
  replay_.Apply(entry);
  if (entry.kind == JournalKind::kRefreshSuccess && replay_.base_size() > base_before) {
    slots.push_back({true, base_before});
  }
  if (replay_.added_size() > added_before) {
    slots.push_back({false, added_before});
    if (!entry.renamed_from.empty()) {
      renamed_[slots.back()] = entry.renamed_from;
    }
  }
  for (const RecordSlot slot : slots) {
    Enter(slot);
  }
  bool is_good = std::ranges::all_of(slots, [this](RecordSlot slot) { return IsSound(slot); });
  for (const Weakened& weakened : before) {
    const std::optional<RecordSlot> now = weakened.target->First();
    const bool has_moved_back = weakened.first && (!now || *weakened.first < *now);
    const bool is_cleaned = replay_.is_refreshed() && !weakened.is_provider;
    is_good = is_good && !(has_moved_back && weakened.target->references > 0 && !is_cleaned);
  }
  return is_good;
}

std::vector<Error> SnapshotGuard::Apply(const JournalEntry& entry) {
  try {
    for (const RecordSlot slot : replay_.Touched(entry)) {
      if (!replay_.At(slot)) {
        return {MakeError(ErrorKind::kBug,
                          fmt::format("operation {} names a record that an earlier one dropped",
                                      entry.operation_id))};
      }
    }
    if (entry.kind == JournalKind::kRebuiltBase) {
      replay_.Apply(entry);
      renamed_.clear();
      ReadAll();
      is_suspicious_ = true;
    } else if (entry.kind == JournalKind::kBegin || entry.kind == JournalKind::kFailure) {
      replay_.Apply(entry);
    } else {
      is_suspicious_ = !Take(entry) || is_suspicious_;
    }
  } catch (const std::exception& exception) {
    return {MakeError(ErrorKind::kBug, exception.what())};
  }
  if (!is_suspicious_) {
    return {};
  }
  ++full_checks_;
  std::vector<Error> errors = VerifySnapshot(replay_.Current());
  is_suspicious_ = !errors.empty();
  return errors;
}

}  // namespace davit
