#pragma once
// An update plan (E198): what a preview said that an update will do, so that the update can be held
// to it. Values.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/events.h"
#include "engine/model/goal.h"

namespace davit {

/// What becomes of the properties of a resource, by name, with the new values (E210). Members that
/// only the update will know are unknown.
struct PlanDiff {
  PropertyMap adds;
  std::vector<std::string> deletes;  ///< sorted
  PropertyMap updates;
  bool empty() const { return adds.empty() && deletes.empty() && updates.empty(); }
};

/// What the program asked for (E198), as far as it is held to it.
struct PlannedGoal {
  std::string type;
  std::string name;
  bool custom = false;
  PlanDiff input_diff;
  PlanDiff output_diff;  ///< of what a component or the stack registers as its outputs
  Urn parent;
  bool protect = false;
  std::vector<Urn> dependencies;
  std::string provider;  ///< reference; its id is unknown when the preview would create it
  std::map<std::string, std::vector<Urn>> property_dependencies;
  std::optional<bool> delete_before_replace;
  std::vector<std::string> ignore_changes;
  std::vector<std::string> additional_secret_outputs;
  std::vector<AliasSpec> aliases;
  std::string import_id;
  CustomTimeouts custom_timeouts;
};

struct ResourcePlan {
  std::optional<PlannedGoal> goal;     ///< absent: only to be deleted
  std::vector<StepOp> steps;           ///< in the order in which they come
  std::optional<PropertyMap> outputs;  ///< what the preview foresaw
  std::string seed;                    ///< E71: raw bytes, given to Check again
};

struct UpdatePlan {
  std::map<Urn, ResourcePlan> resources;
};

/// The op of that name; absent for another text (E6).
std::optional<StepOp> ParseStepOp(std::string_view name);

}  // namespace davit
