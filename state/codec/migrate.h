#pragma once
// Old checkpoint versions (S31-S34). Pure.

#include "engine/model/resource_state.h"

namespace davit {

/// How a file spells the dependencies of a record.
enum class DependencySpelling { kAbsentOrNull, kList };

/// Turns a record as read from a file of version 1 or 2 into the current form; newer ones stay as
/// they are.
void MigrateResource(int version, DependencySpelling spelling, ResourceState& state);

}  // namespace davit
