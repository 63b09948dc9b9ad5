#include "engine/model/goal_record.h"

namespace davit {

std::shared_ptr<ResourceState> RecordOfGoal(const Goal& goal, const Urn& urn) {
  auto state = std::make_shared<ResourceState>();
  state->urn = urn;
  state->type = goal.type;
  state->custom = goal.custom;
  state->parent = goal.parent;
  state->protect = goal.protect.value_or(false);
  state->dependencies = goal.dependencies;
  state->property_dependencies = goal.property_dependencies;
  state->provider = goal.provider;
  state->extension_ref = goal.extension_ref;
  state->additional_secret_outputs = goal.additional_secret_outputs;
  state->custom_timeouts = goal.custom_timeouts;
  state->retain_on_delete = goal.retain_on_delete.value_or(false);
  state->deleted_with = goal.deleted_with;
  state->replace_with = goal.replace_with;
  state->replacement_trigger = goal.replacement_trigger;
  state->source_position = goal.source_position;
  state->stack_trace = goal.stack_trace;
  state->ignore_changes = goal.ignore_changes;
  state->hide_diff = goal.hide_diffs;
  state->resource_hooks = goal.hooks;
  state->replace_on_changes = goal.replace_on_changes;
  return state;
}

}  // namespace davit
