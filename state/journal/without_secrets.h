#pragma once
// What can be kept of a finished step when its secrets cannot be encrypted. Pure.

#include "engine/model/resource_state.h"

namespace davit {

/// The record without its secret values: members of maps go, items of lists become null. Null when
/// the record holds none. A secret never reaches a file in clear (S48), and an object that exists
/// must not be forgotten for it: what is left out comes back with a refresh.
StatePtr WithoutSecretValues(const ResourceState& state);

}  // namespace davit
