#include "engine/plan/plan_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "engine/model/provider_ref.h"
#include "engine/plan/plan_diff.h"

namespace davit {
namespace {

Error Violation(const Urn& urn, const std::string& what) {
  Error error = MakeError(
      ErrorKind::kRefused,
      fmt::format("'{}' does not follow the plan: {}", urn.text(), what),
      "undo the change, or look at it with `davit preview --save-plan` and use that plan");
  error.urn = urn.text();
  error.code = 2000;
  return error;
}

std::string Shown(const std::string& text) {
  return text.empty() ? "none" : fmt::format("'{}'", text);
}
std::string Shown(bool value) {
  return value ? "true" : "false";
}
std::string Shown(const std::optional<bool>& value) {
  return value ? Shown(*value) : "none";
}
std::string Shown(double seconds) {
  return fmt::format("{} s", NumberText(seconds));
}
std::string Text(const Urn& urn) {
  return urn.text();
}
std::string Text(const std::string& text) {
  return text;
}
std::string Text(const AliasSpec& alias) {
  if (!alias.urn.empty()) {
    return alias.urn.text();
  }
  return fmt::format("name {}, type {}, project {}, stack {}, parent {}",
                     Shown(alias.name.value_or("")),
                     Shown(alias.type.value_or("")),
                     Shown(alias.project.value_or("")),
                     Shown(alias.stack.value_or("")),
                     alias.no_parent ? "not any more" : Shown(alias.parent.text()));
}

// Collects the first difference only: the order of the checks is the order of E212.
class Comparison {
 public:
  template <typename T>
  void Value(const char* name, const T& planned, const T& actual) {
    if (first_.empty() && !(planned == actual)) {
      first_ = fmt::format("'{}' was planned as {}, is {}", name, Shown(planned), Shown(actual));
    }
  }

  template <typename T>
  void Set(const std::string& name, const std::vector<T>& planned, const std::vector<T>& actual) {
    if (!first_.empty()) {
      return;
    }
    std::set<std::string> before;
    std::set<std::string> now;
    std::ranges::transform(
        planned, std::inserter(before, before.end()), [](const T& item) { return Text(item); });
    std::ranges::transform(
        actual, std::inserter(now, now.end()), [](const T& item) { return Text(item); });
    const std::string more = Listed(now, before);
    const std::string less = Listed(before, now);
    if (!more.empty() || !less.empty()) {
      first_ = fmt::format("'{}' {}{}{}",
                           name,
                           more.empty() ? "" : "has " + more + " more than planned",
                           more.empty() || less.empty() ? "" : ", and ",
                           less.empty() ? "" : "lacks " + less);
    }
  }

  void Provider(const std::string& planned, const std::string& actual) {
    const Result<ProviderRef> before = ProviderRef::Parse(planned);
    const Result<ProviderRef> now = ProviderRef::Parse(actual);
    const bool is_open = before && now && before->urn == now->urn && before->id == kUnknownId;
    if (!is_open) {
      Value("provider", planned, actual);
    }
  }

  const std::string& first() const { return first_; }

 private:
  static std::string Listed(const std::set<std::string>& items,
                            const std::set<std::string>& others) {
    std::string list;
    for (const std::string& item : items) {
      if (!others.contains(item)) {
        list += fmt::format("{}'{}'", list.empty() ? "" : ", ", item);
      }
    }
    return list;
  }

  std::string first_;
};

void CompareKindAndPlace(const PlannedGoal& planned, const Goal& goal, Comparison& comparison) {
  comparison.Value("type", planned.type, goal.type);
  comparison.Value("name", planned.name, goal.name);
  comparison.Value("custom", planned.custom, goal.custom);
  comparison.Provider(planned.provider, goal.provider);
  comparison.Value("parent", planned.parent.text(), goal.parent.text());
  comparison.Value("protect", planned.protect, goal.protect.value_or(false));
}

void CompareRest(const PlannedGoal& planned, const Goal& goal, Comparison& comparison) {
  comparison.Value(
      "customTimeouts.create", planned.custom_timeouts.create, goal.custom_timeouts.create);
  comparison.Value(
      "customTimeouts.update", planned.custom_timeouts.update, goal.custom_timeouts.update);
  comparison.Value(
      "customTimeouts.delete", planned.custom_timeouts.delete_, goal.custom_timeouts.delete_);
  comparison.Set("ignoreChanges", planned.ignore_changes, goal.ignore_changes);
  comparison.Set(
      "additionalSecretOutputs", planned.additional_secret_outputs, goal.additional_secret_outputs);
  comparison.Set("dependencies", planned.dependencies, goal.dependencies);
}

// A planned property that turned out absent takes its dependencies along (E212).
void ComparePropertyDependencies(const PlannedGoal& planned,
                                 const Goal& goal,
                                 Comparison& comparison) {
  for (const auto& [key, urns] : goal.property_dependencies) {
    const auto at = planned.property_dependencies.find(key);
    comparison.Set(fmt::format("propertyDependencies.{}", key),
                   at == planned.property_dependencies.end() ? std::vector<Urn>() : at->second,
                   urns);
  }
}

// What an unlisted resource is held to: that nothing changes (E211). Options that a record does not
// keep are not compared.
PlannedGoal GoalOf(const ResourceState& state, const Goal& goal) {
  PlannedGoal planned;
  planned.type = state.type;
  planned.name = goal.name;
  planned.custom = state.custom;
  planned.parent = state.parent;
  planned.protect = state.protect;
  planned.dependencies = state.dependencies;
  planned.provider = state.provider;
  planned.property_dependencies = state.property_dependencies;
  planned.delete_before_replace = goal.delete_before_replace;
  planned.ignore_changes = state.ignore_changes;
  planned.additional_secret_outputs = state.additional_secret_outputs;
  planned.aliases = goal.aliases;
  planned.import_id =
      state.import_id.empty() && goal.import_id == state.id ? goal.import_id : state.import_id;
  planned.custom_timeouts = state.custom_timeouts;
  return planned;
}

std::string FirstOptionThatDiffers(const PlannedGoal& planned, const Goal& goal) {
  Comparison comparison;
  CompareKindAndPlace(planned, goal, comparison);
  comparison.Value(
      "deleteBeforeReplace", planned.delete_before_replace, goal.delete_before_replace);
  comparison.Value("import", planned.import_id, goal.import_id);
  CompareRest(planned, goal, comparison);
  comparison.Set("aliases", planned.aliases, goal.aliases);
  return comparison.first();
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string joined;
  for (const std::string& part : parts) {
    joined += (joined.empty() ? "" : "; ") + part;
  }
  return joined;
}

}  // namespace

bool IsStepAllowed(StepOp op, StepOp planned) {
  const bool is_replacement = planned == StepOp::kReplace ||
                              planned == StepOp::kCreateReplacement ||
                              planned == StepOp::kDeleteReplaced;
  if (op == StepOp::kSame) {
    return planned == op || is_replacement || planned == StepOp::kCreate ||
           planned == StepOp::kUpdate;
  }
  return planned == op || (is_replacement && op == StepOp::kUpdate);
}

PlanGuard::PlanGuard(const UpdatePlan* plan) {
  if (plan != nullptr) {
    plan_ = *plan;
  }
}

const ResourcePlan* PlanGuard::Find(const Urn& urn) const {
  const auto at = plan_->resources.find(urn);
  return at == plan_->resources.end() ? nullptr : &at->second;
}

std::string PlanGuard::SeedOf(const Urn& urn) const {
  const ResourcePlan* entry = plan_ ? Find(urn) : nullptr;
  return entry == nullptr ? std::string() : entry->seed;
}

Result<void> PlanGuard::CheckOptions(const Urn& urn,
                                     const Goal& goal,
                                     const ResourceState* old_state) const {
  const ResourcePlan* entry = plan_ ? Find(urn) : nullptr;
  if (!plan_ || (entry == nullptr && old_state == nullptr)) {
    return {};
  }
  if (entry != nullptr && !entry->goal) {
    return Fail(Violation(urn, "it was to be deleted, but the program still has it"));
  }
  const std::string difference =
      FirstOptionThatDiffers(entry != nullptr ? *entry->goal : GoalOf(*old_state, goal), goal);
  if (!difference.empty()) {
    return Fail(Violation(urn, difference));
  }
  return {};
}

Result<void> PlanGuard::CheckImport(const Urn& urn) const {
  if (plan_ && Find(urn) == nullptr) {
    return Fail(Violation(urn, "the plan has no import for it"));
  }
  return {};
}

Result<void> PlanGuard::CheckGoal(const Urn& urn,
                                  const Goal& goal,
                                  const ResourceState* old_state,
                                  const PropertyMap& old_inputs,
                                  const PropertyMap& inputs) const {
  DAVIT_TRY_VOID(CheckOptions(urn, goal, old_state));
  const ResourcePlan* entry = plan_ ? Find(urn) : nullptr;
  if (!plan_ || (entry == nullptr && old_state == nullptr)) {
    return {};
  }
  const PlannedGoal planned = entry != nullptr ? *entry->goal : GoalOf(*old_state, goal);
  const std::vector<std::string> deviations =
      DeviationsFrom(planned.input_diff, old_inputs, inputs);
  if (!deviations.empty()) {
    return Fail(Violation(urn, Joined(deviations)));
  }
  Comparison comparison;
  ComparePropertyDependencies(planned, goal, comparison);
  if (!comparison.first().empty()) {
    return Fail(Violation(urn, comparison.first()));
  }
  return {};
}

Result<void> PlanGuard::Take(const Urn& urn, StepOp op) {
  if (!plan_) {
    return {};
  }
  const auto at = plan_->resources.find(urn);
  if (at == plan_->resources.end()) {
    if (op == StepOp::kSame) {
      return {};
    }
    return Fail(Violation(
        urn, fmt::format("nothing was planned for it, but it needs '{}'", StepOpName(op))));
  }
  std::vector<StepOp>& steps = at->second.steps;
  if (steps.empty()) {
    return Fail(Violation(
        urn, fmt::format("no further step was planned, but it needs '{}'", StepOpName(op))));
  }
  const StepOp planned = steps.front();
  steps.erase(steps.begin());
  if (!IsStepAllowed(op, planned)) {
    return Fail(Violation(
        urn,
        fmt::format("'{}' was planned, but it needs '{}'", StepOpName(planned), StepOpName(op))));
  }
  return {};
}

Result<void> PlanGuard::CheckOutputs(const Urn& urn,
                                     const PropertyMap& old_outputs,
                                     const PropertyMap& outputs) const {
  if (!plan_) {
    return {};
  }
  const ResourcePlan* entry = Find(urn);
  const bool is_listed = entry != nullptr && entry->goal;
  const std::vector<std::string> deviations =
      DeviationsFrom(is_listed ? entry->goal->output_diff : PlanDiff(), old_outputs, outputs);
  if (!deviations.empty()) {
    return Fail(Violation(urn, "outputs: " + Joined(deviations)));
  }
  return {};
}

Error PlanGuard::Missing(const Urn& urn, const std::vector<StepOp>& steps) {
  std::string list;
  for (const StepOp op : steps) {
    list += fmt::format("{}'{}'", list.empty() ? "" : ", ", StepOpName(op));
  }
  return Violation(urn, fmt::format("{} was planned, but did not come", list));
}

}  // namespace davit
