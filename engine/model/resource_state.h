#pragma once
// One resource record (E1, S30) and the small values in it. Records are shared and never changed once made.

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/model/urn.h"
#include "engine/value/property_value.h"

namespace davit {

using WallTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

/// Seconds, 0 = the provider's default.
struct CustomTimeouts {
  double create = 0;
  double update = 0;
  double delete_ = 0;
  double read = 0;
  friend bool operator==(const CustomTimeouts&, const CustomTimeouts&) = default;
};

struct ResourceState {
  Urn urn;
  std::string type;
  bool custom = false;
  bool pending_delete = false;  ///< `delete`: an old copy that waits for its deletion after a create-first replacement
  std::string id;
  PropertyMap inputs;
  PropertyMap outputs;
  Urn parent;
  bool protect = false;
  bool taint = false;
  bool external = false;
  std::vector<Urn> dependencies;
  std::vector<std::string> init_errors;
  std::string provider;  ///< provider reference, empty for components and providers
  std::map<std::string, std::vector<Urn>> property_dependencies;
  /// Names in `property_dependencies` whose empty list a file spells `null`, not `[]` (S28, S31); written back alike.
  std::set<std::string> null_property_dependencies;
  bool pending_replacement = false;
  std::vector<std::string> additional_secret_outputs;
  std::vector<Urn> aliases;
  CustomTimeouts custom_timeouts;
  std::string import_id;
  bool retain_on_delete = false;
  Urn deleted_with;
  std::vector<Urn> replace_with;
  std::optional<WallTime> created;
  std::optional<WallTime> modified;
  std::string source_position;
  std::vector<std::string> stack_trace;  ///< source position of each frame, possibly empty
  std::vector<std::string> ignore_changes;
  std::vector<std::string> hide_diff;  ///< property paths in text form
  std::vector<std::string> replace_on_changes;
  PropertyValue replacement_trigger;  ///< null when there is none
  bool refresh_before_update = false;
  Urn view_of;
  std::map<std::string, std::vector<std::string>> resource_hooks;
  std::string extension_ref;
  std::string snippet_id;
  /// Keys that davit does not know, as JSON text, carried through unchanged (S11).
  std::map<std::string, std::string> unknown_keys;

  friend bool operator==(const ResourceState&, const ResourceState&) = default;
};

using StatePtr = std::shared_ptr<const ResourceState>;

/// The URNs that a record depends on, in the order of E5: parent, dependencies, property dependencies, deletedWith,
/// replaceWith. The provider is not among them.
std::vector<Urn> DependenciesOf(const ResourceState& state);

/// Whether two records differ in nothing that forces a write of a `same` step (E201).
bool EqualForWriting(const ResourceState& a, const ResourceState& b);

}  // namespace davit
