#pragma once
// Gives the URNs of a record other names, for `stack rename` and `state move` (S155, S160). Pure,
// any thread.

#include <functional>

#include "engine/model/resource_state.h"

namespace davit {

using UrnRenaming = std::function<Urn(const Urn&)>;

/// A value with every resource reference in it renamed; secrets are looked into.
PropertyValue WithRenamedUrns(const PropertyValue& value, const UrnRenaming& rename);
PropertyMap WithRenamedUrns(const PropertyMap& map, const UrnRenaming& rename);

}  // namespace davit
