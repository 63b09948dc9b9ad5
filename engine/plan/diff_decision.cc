#include "engine/plan/diff_decision.h"

#include <algorithm>
#include <set>

#include "engine/value/property_path.h"
#include "engine/value/value_diff.h"

namespace davit {
namespace {

DiffKind KindOf(ChangeKind change) {
  switch (change) {
    case ChangeKind::kAdd:
      return DiffKind::kAdd;
    case ChangeKind::kDelete:
      return DiffKind::kDelete;
    case ChangeKind::kUpdate:
      return DiffKind::kUpdate;
  }
  return DiffKind::kUpdate;
}

DiffKind ReplacingKind(DiffKind kind) {
  return IsReplace(kind) ? kind : static_cast<DiffKind>(static_cast<int>(kind) + 1);
}

std::vector<PropertyPath> ParsePaths(const std::vector<std::string>& texts) {
  std::vector<PropertyPath> paths;
  for (const std::string& text : texts) {
    Result<PropertyPath> path = PropertyPath::Parse(text);
    if (path) {  // unparsable paths are skipped (E74)
      paths.push_back(*std::move(path));
    }
  }
  return paths;
}

bool AnyContains(const std::vector<PropertyPath>& paths, const PropertyPath& path) {
  return std::ranges::any_of(paths,
                             [&](const PropertyPath& outer) { return outer.Contains(path); });
}

}  // namespace

DiffDecision DiffInputs(const PropertyMap& old_inputs,
                        const PropertyMap& new_inputs,
                        const std::vector<std::string>& ignore_changes) {
  const PropertyMap adjusted =
      ignore_changes.empty() ? new_inputs
                             : ApplyIgnoreChanges(old_inputs, new_inputs, ignore_changes, nullptr);
  DiffDecision decision;
  decision.diffs = ChangedKeys(old_inputs, adjusted);
  decision.has_changes = !decision.diffs.empty();
  if (decision.has_changes) {
    decision.detailed.emplace();
    for (const ValueChange& change : DiffValues(old_inputs, adjusted)) {
      decision.detailed->emplace(change.path.Text(), PropertyDiff{KindOf(change.kind), true});
    }
  }
  return decision;
}

DiffDecision InterpretDiff(const DiffResponse& response,
                           const PropertyMap& old_inputs,
                           const PropertyMap& new_inputs,
                           const std::vector<std::string>& ignore_changes) {
  DiffDecision decision;
  if (response.changes == DiffChanges::kUnknown) {
    decision = DiffInputs(old_inputs, new_inputs, ignore_changes);
  } else {
    decision.has_changes = response.changes == DiffChanges::kSome;
    decision.diffs = response.diffs;
    decision.detailed = response.detailed;
  }
  decision.keys = response.replaces;
  decision.delete_first = response.delete_before_replace;
  decision.replaces = !decision.keys.empty();
  if (decision.detailed) {
    for (const auto& [path, diff] : *decision.detailed) {
      decision.replaces = decision.replaces || IsReplace(diff.kind);
    }
  }
  return decision;
}

void ApplyReplaceOnChanges(DiffDecision& decision,
                           const std::vector<std::string>& replace_on_changes,
                           bool had_init_errors) {
  if (replace_on_changes.empty() || !(decision.has_changes || had_init_errors)) {
    return;
  }
  const std::vector<PropertyPath> paths = ParsePaths(replace_on_changes);
  std::set<std::string> added;
  if (decision.detailed) {
    for (auto& [text, diff] : *decision.detailed) {
      const Result<PropertyPath> path = PropertyPath::Parse(text);
      if (path && AnyContains(paths, *path)) {
        diff.kind = ReplacingKind(diff.kind);
        decision.replaces = true;
      }
    }
  }
  for (const std::string& key : decision.diffs) {
    const PropertyPath path({PathSegment(key)});
    if (AnyContains(paths, path)) {
      added.insert(key);
    }
  }
  const PropertyPath init_error({PathSegment(std::string("#initerror"))});
  if (had_init_errors && AnyContains(paths, init_error)) {
    added.insert("#initerror");
  }
  for (const std::string& key : added) {
    if (std::ranges::find(decision.keys, key) == decision.keys.end()) {
      decision.keys.push_back(key);
    }
    decision.replaces = true;
    decision.has_changes = true;
  }
}

bool TriggerReplaces(const PropertyValue& old_trigger, const PropertyValue& new_trigger) {
  const PropertyValue before = Plain(old_trigger);
  const PropertyValue after = Plain(new_trigger);
  if (ContainsUnknowns(before) || ContainsUnknowns(after)) {
    return true;
  }
  if (before.is_null() || after.is_null()) {
    return false;
  }
  return !(before == after);
}

}  // namespace davit
