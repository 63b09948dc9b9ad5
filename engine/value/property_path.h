#pragma once
// Property paths: `a.b[0]["quoted key"]`, with `*` and `[*]` as wildcards (E74, S100). Pure, any thread.

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/result.h"
#include "engine/value/property_value.h"

namespace davit {

struct Wildcard {
  friend bool operator==(const Wildcard&, const Wildcard&) = default;
};
using PathSegment = std::variant<std::string, int, Wildcard>;

class PropertyPath {
 public:
  PropertyPath() = default;
  explicit PropertyPath(std::vector<PathSegment> segments) : segments_(std::move(segments)) {}

  /// Parses the text form; strict mode refuses `.[`; errors name the position.
  static Result<PropertyPath> Parse(std::string_view text, bool strict = false);
  /// The text form; keys that need it are quoted.
  std::string Text() const;

  const std::vector<PathSegment>& segments() const { return segments_; }
  bool empty() const { return segments_.empty(); }
  /// Whether `other` lies at or below this path (wildcards match one segment each).
  bool Contains(const PropertyPath& other) const;

  // A wildcard names no single place: Get, Set and Delete are absent for paths with one.

  /// The value at the path, looking through secrets and outputs (what was inside a secret is given as a secret); absent
  /// when a step is missing.
  std::optional<PropertyValue> Get(const PropertyValue& root) const;
  /// The root with the value at the path replaced or added. Intermediate containers are never created and lists never grow;
  /// absent when a step is missing. Secret wrappers along the way are kept.
  std::optional<PropertyValue> Set(const PropertyValue& root, PropertyValue value) const;
  /// The root without what is at the path (list elements shift); absent when nothing is there.
  std::optional<PropertyValue> Delete(const PropertyValue& root) const;

  friend bool operator==(const PropertyPath&, const PropertyPath&) = default;

 private:
  std::vector<PathSegment> segments_;
};

/// ignoreChanges preprocessing (E74, E75): for each path copies the old value over the new one. Gives the adjusted inputs;
/// `failed` collects the paths that could not be applied (an information for the user, never an error).
PropertyMap ApplyIgnoreChanges(const PropertyMap& old_inputs,
                               const PropertyMap& new_inputs,
                               const std::vector<std::string>& paths,
                               std::vector<std::string>* failed);

}  // namespace davit
