#pragma once
// What a provider's (or the engine's own) diff means for a resource (E77-E87). Pure.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/goal.h"
#include "engine/provider.h"

namespace davit {

/// The outcome of comparing an old record with what the program asks for now.
struct DiffDecision {
  bool has_changes = false;
  bool replaces = false;
  bool delete_first = false;       ///< asked for by the provider; the option overrides it (E88)
  std::vector<std::string> keys;   ///< names that force the replacement
  std::vector<std::string> diffs;  ///< top-level names that differ
  std::optional<std::map<std::string, PropertyDiff>> detailed;
};

/// E79, E83: interprets a provider's answer; DIFF_UNKNOWN is decided by comparing old inputs with
/// new inputs.
DiffDecision InterpretDiff(const DiffResponse& response,
                           const PropertyMap& old_inputs,
                           const PropertyMap& new_inputs,
                           const std::vector<std::string>& ignore_changes);

/// E62: components and others without provider change exactly when their inputs do.
DiffDecision DiffInputs(const PropertyMap& old_inputs,
                        const PropertyMap& new_inputs,
                        const std::vector<std::string>& ignore_changes);

/// E87: raises changes under `replace_on_changes` paths to replacements. `had_init_errors`: the old
/// record has init errors.
void ApplyReplaceOnChanges(DiffDecision& decision,
                           const std::vector<std::string>& replace_on_changes,
                           bool had_init_errors);

/// E84: whether a changed replacement trigger asks for replacement.
bool TriggerReplaces(const PropertyValue& old_trigger, const PropertyValue& new_trigger);

}  // namespace davit
