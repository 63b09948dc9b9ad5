#pragma once
// Access to checked inputs. `map` has no secret wrappers (see Plain).

#include <string>
#include <vector>

#include "engine/provider.h"
#include "engine/value/property_value.h"

namespace davit::localhost {

/// The text of a property; null when it is absent, unknown or no text.
inline const std::string* TextOf(const PropertyMap& map, std::string_view name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : found->second.as_string();
}
/// Whether a property is true; false when absent or unknown.
inline bool FlagOf(const PropertyMap& map, std::string_view name) {
  const auto found = map.find(name);
  const bool* flag = found == map.end() ? nullptr : found->second.as_bool();
  return flag != nullptr && *flag;
}

/// Adds a failure for a path that no file can have; an unknown path passes.
inline void CheckPath(const PropertyMap& map,
                      std::string_view name,
                      std::vector<CheckFailure>* failures) {
  const std::string* path = TextOf(map, name);
  if (path == nullptr) {
    return;
  }
  if (path->empty()) {
    failures->push_back({.property = std::string(name), .reason = "must not be empty"});
  } else if (path->find('\0') != std::string::npos) {
    failures->push_back({.property = std::string(name), .reason = "must not hold a zero byte"});
  }
}

}  // namespace davit::localhost
