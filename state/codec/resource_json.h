#pragma once
// One resource record as JSON (S30), both ways.

#include <memory>
#include <string>

#include "engine/model/resource_state.h"
#include "state/codec/property_json.h"

namespace davit {

/// Reads a record of a file of `version`; errors stick to the reader.
std::shared_ptr<ResourceState> ReadResource(JsonReader& reader,
                                            int version,
                                            const PropertyReading& reading);
/// Writes a record with its keys in order (S30); notes the features that it needs (S10).
void WriteResource(const ResourceState& state, PropertyWriting& writing, std::string* out);

}  // namespace davit
