#pragma once
// Which top-level properties a step changes (C95). Pure.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/events.h"

namespace davit {

struct NameChanges {
  std::vector<std::string> added;
  std::vector<std::string> deleted;
  std::vector<std::string> updated;
  bool empty() const { return added.empty() && deleted.empty() && updated.empty(); }
};

/// Names whose values differ; those that start with `__` are left out.
NameChanges CompareNames(const PropertyMap& before, const PropertyMap& after);
/// The top-level names of a detailed difference.
NameChanges NamesOf(const std::map<std::string, PropertyDiff>& detailed);
/// Of `changes` those that are in `names`.
NameChanges OnlyNames(const NameChanges& changes, const std::vector<std::string>& names);
/// The names that the provider says differ; absent when it names none.
std::optional<std::set<std::string>> NamedChanges(const StepMetadata& step);

}  // namespace davit
