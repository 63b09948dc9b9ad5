#pragma once
// Extension packages as the state keeps them (S21). Pure, any thread.

#include <map>
#include <string>

#include "engine/model/snapshot.h"
#include "state/codec/json_reader.h"

namespace davit {

/// Appends one extension as JSON.
void WriteExtension(const Extension& extension, std::string* out);
/// Reads one; what is none is an error of the reader.
Extension ReadExtension(JsonReader& reader);
/// Reads extensions by their reference.
std::map<std::string, Extension> ReadExtensions(JsonReader& reader);

}  // namespace davit
