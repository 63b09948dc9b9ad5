#pragma once
// What a program asks for, as the record that it will become. Pure.

#include <memory>

#include "engine/model/goal.h"
#include "engine/model/resource_state.h"

namespace davit {

/// The record without what only Check and the object tell: inputs, id, outputs, times (E57).
std::shared_ptr<ResourceState> RecordOfGoal(const Goal& goal, const Urn& urn);

}  // namespace davit
