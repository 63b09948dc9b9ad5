#pragma once
// Structural difference of two property maps (E79, E210). Pure, any thread.

#include <map>
#include <string>
#include <vector>

#include "engine/value/property_path.h"
#include "engine/value/property_value.h"

namespace davit {

enum class ChangeKind { kAdd, kDelete, kUpdate };

/// One differing leaf (or subtree that exists on one side only).
struct ValueChange {
  PropertyPath path;
  ChangeKind kind;
};

/// All differences in path order; secret and output wrappers are removed on both sides; assets compare by hash.
/// An added or deleted container is one change at the container. A null member of a map counts as absent, and an unknown
/// differs from everything but an unknown.
std::vector<ValueChange> DiffValues(const PropertyMap& before, const PropertyMap& after);
/// The sorted top-level keys that differ.
std::vector<std::string> ChangedKeys(const PropertyMap& before, const PropertyMap& after);

}  // namespace davit
