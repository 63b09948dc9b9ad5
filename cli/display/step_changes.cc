#include "cli/display/step_changes.h"

#include <algorithm>

#include "engine/value/property_path.h"

namespace davit {

NameChanges CompareNames(const PropertyMap& before, const PropertyMap& after) {
  NameChanges changes;
  const auto is_internal = [](const std::string& key) { return key.compare(0, 2, "__") == 0; };
  for (const auto& [key, value] : after) {
    if (!is_internal(key) && !before.contains(key)) {
      changes.added.push_back(key);
    }
  }
  for (const auto& [key, value] : before) {
    const auto now = after.find(key);
    if (is_internal(key)) {
      continue;
    }
    if (now == after.end()) {
      changes.deleted.push_back(key);
    } else if (!(now->second == value)) {
      changes.updated.push_back(key);
    }
  }
  return changes;
}

NameChanges NamesOf(const std::map<std::string, PropertyDiff>& detailed) {
  std::map<std::string, DiffKind> names;
  for (const auto& [text, diff] : detailed) {
    const Result<PropertyPath> path = PropertyPath::Parse(text);
    std::string name = text;
    bool is_whole = true;
    if (path && !path->empty() && std::holds_alternative<std::string>(path->segments()[0])) {
      name = std::get<std::string>(path->segments()[0]);
      is_whole = path->segments().size() == 1;
    }
    names.insert_or_assign(name, is_whole && !names.contains(name) ? diff.kind : DiffKind::kUpdate);
  }
  NameChanges changes;
  for (const auto& [name, kind] : names) {
    switch (kind) {
      case DiffKind::kAdd:
      case DiffKind::kAddReplace:
        changes.added.push_back(name);
        break;
      case DiffKind::kDelete:
      case DiffKind::kDeleteReplace:
        changes.deleted.push_back(name);
        break;
      case DiffKind::kUpdate:
      case DiffKind::kUpdateReplace:
        changes.updated.push_back(name);
        break;
    }
  }
  return changes;
}

NameChanges OnlyNames(const NameChanges& changes, const std::vector<std::string>& names) {
  const auto only = [&](std::vector<std::string> list) {
    std::erase_if(list, [&](const std::string& name) {
      return std::find(names.begin(), names.end(), name) == names.end();
    });
    return list;
  };
  return {only(changes.added), only(changes.deleted), only(changes.updated)};
}

std::optional<std::set<std::string>> NamedChanges(const StepMetadata& step) {
  std::set<std::string> names(step.diffs.begin(), step.diffs.end());
  if (step.detailed_diff) {
    const NameChanges detailed = NamesOf(*step.detailed_diff);
    names.insert(detailed.added.begin(), detailed.added.end());
    names.insert(detailed.deleted.begin(), detailed.deleted.end());
    names.insert(detailed.updated.begin(), detailed.updated.end());
  }
  return names.empty() ? std::nullopt : std::optional(std::move(names));
}

}  // namespace davit
