#include "engine/plan/plan_diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/model/provider_ref.h"

namespace davit {
namespace {

enum class Change { kKeep, kAdd, kDelete, kUpdate };

const char* NameOf(Change change) {
  switch (change) {
    case Change::kKeep:
      return "no change";
    case Change::kAdd:
      return "add";
    case Change::kDelete:
      return "delete";
    case Change::kUpdate:
      return "update";
  }
  return "no change";
}

// The member, null when there is none or it is null.
const PropertyValue* Present(const PropertyMap& map, const std::string& key) {
  const auto at = map.find(key);
  return at == map.end() || at->second.is_null() ? nullptr : &at->second;
}

bool FitsMap(const PropertyMap& planned, const PropertyMap& actual, int depth);

bool Fits(const PropertyValue& planned, const PropertyValue& actual, int depth) {
  if (planned.is_unknown() || depth > kMaxValueDepth) {
    return planned.is_unknown();
  }
  if (const Secret* secret = planned.as_secret()) {
    const Secret* other = actual.as_secret();
    return other != nullptr && Fits(secret->Reveal(), other->Reveal(), depth + 1);
  }
  if (const PropertyList* list = planned.as_list()) {
    const PropertyList* other = actual.as_list();
    return other != nullptr &&
           std::ranges::equal(*list, *other, [depth](const auto& a, const auto& b) {
             return Fits(a, b, depth + 1);
           });
  }
  if (const PropertyMap* map = planned.as_map()) {
    const PropertyMap* other = actual.as_map();
    return other != nullptr && FitsMap(*map, *other, depth + 1);
  }
  if (const ResourceReference* reference = planned.as_reference()) {
    const ResourceReference* other = actual.as_reference();
    const bool is_open = reference->id && (reference->id->empty() || *reference->id == kUnknownId);
    return other != nullptr && reference->urn == other->urn &&
           (is_open ? other->id.has_value() : reference->id == other->id);
  }
  return planned == actual;
}

bool FitsMap(const PropertyMap& planned, const PropertyMap& actual, int depth) {
  for (const auto& [key, value] : planned) {
    const PropertyValue* other = Present(actual, key);
    if (value.is_null() ? other != nullptr
                        : !Fits(value, other ? *other : PropertyValue(), depth)) {
      return false;
    }
  }
  return std::ranges::all_of(actual, [&](const auto& member) {
    return member.second.is_null() || Present(planned, member.first) != nullptr;
  });
}

// What the plan says about one property.
struct Planned {
  Change operation = Change::kKeep;
  const PropertyValue* value = nullptr;  // of an add or update
};

Planned PlannedFor(const PlanDiff& diff, const std::string& key) {
  const auto add = diff.adds.find(key);
  if (add != diff.adds.end()) {
    return {Change::kAdd, &add->second};
  }
  const auto update = diff.updates.find(key);
  if (update != diff.updates.end()) {
    return {Change::kUpdate, &update->second};
  }
  return {
      std::ranges::find(diff.deletes, key) == diff.deletes.end() ? Change::kKeep : Change::kDelete,
      nullptr};
}

Change OperationOf(const PropertyValue* before, const PropertyValue* after) {
  if (before == nullptr || after == nullptr) {
    return before != nullptr ? Change::kDelete : after != nullptr ? Change::kAdd : Change::kKeep;
  }
  return !ContainsUnknowns(*after) && FitsPlanned(*before, *after) ? Change::kKeep
                                                                   : Change::kUpdate;
}

bool IsAllowed(const Planned& planned, Change actual, const PropertyValue* after) {
  if (planned.value == nullptr) {
    // What was to be deleted may be gone already.
    return planned.operation == actual ||
           (planned.operation == Change::kDelete && after == nullptr);
  }
  if (after == nullptr) {
    return planned.value->is_unknown() || planned.value->is_null();
  }
  return !(planned.operation == Change::kUpdate && actual == Change::kAdd) &&
         FitsPlanned(*planned.value, *after);
}

std::string Described(Change operation, const PropertyValue* value) {
  const bool has_value =
      value != nullptr && (operation == Change::kAdd || operation == Change::kUpdate);
  return has_value ? fmt::format("{} ({})", NameOf(operation), DebugText(*value))
                   : NameOf(operation);
}

}  // namespace

PlanDiff DiffForPlan(const PropertyMap& before, const PropertyMap& after) {
  PlanDiff diff;
  for (const auto& [key, value] : before) {
    if (!value.is_null() && Present(after, key) == nullptr) {
      diff.deletes.push_back(key);
    }
  }
  for (const auto& [key, value] : after) {
    const PropertyValue* old_value = Present(before, key);
    const Change operation = OperationOf(old_value, value.is_null() ? nullptr : &value);
    if (operation == Change::kAdd) {
      diff.adds.emplace(key, value);
    } else if (operation == Change::kUpdate) {
      diff.updates.emplace(key, value);
    }
  }
  return diff;
}

bool FitsPlanned(const PropertyValue& planned, const PropertyValue& actual) {
  return Fits(planned, actual, 0);
}

std::vector<std::string> DeviationsFrom(const PlanDiff& planned,
                                        const PropertyMap& before,
                                        const PropertyMap& after) {
  std::vector<std::string> keys = planned.deletes;
  for (const PropertyMap* map : {&planned.adds, &planned.updates, &before, &after}) {
    for (const auto& [key, value] : *map) {
      keys.push_back(key);
    }
  }
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::vector<std::string> deviations;
  for (const std::string& key : keys) {
    const Planned plan = PlannedFor(planned, key);
    const PropertyValue* now = Present(after, key);
    Change actual = OperationOf(Present(before, key), now);
    if (!IsAllowed(plan, actual, now)) {
      const bool is_kept = actual == Change::kKeep && now != nullptr && plan.value != nullptr;
      deviations.push_back(fmt::format("property '{}': planned {}, is {}",
                                       key,
                                       Described(plan.operation, plan.value),
                                       is_kept
                                           ? fmt::format("{} ({})", NameOf(actual), DebugText(*now))
                                           : Described(actual, now)));
    }
  }
  return deviations;
}

}  // namespace davit
