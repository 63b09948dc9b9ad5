#pragma once
// P67: plugins return assets without content, known by their hash alone. Pure, any thread.

#include "engine/value/property_value.h"

namespace davit {

/// `target` with the content of the assets and archives in `source` that have the same hash.
PropertyMap RefillAssets(const PropertyMap& target, const PropertyMap& source);

}  // namespace davit
