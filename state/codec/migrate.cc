#include "state/codec/migrate.h"

namespace davit {

void MigrateResource(int version, DependencySpelling spelling, ResourceState& state) {
  if (version >= 3) {
    return;
  }
  if (version == 1) {
    // Version 1 had neither, and its empty list of dependencies does not survive (S31).
    state.external = false;
    state.provider.clear();
    state.unknown_keys.erase("defaults");
    spelling = state.dependencies.empty() ? DependencySpelling::kAbsentOrNull : spelling;
  }
  state.property_dependencies.clear();
  state.null_property_dependencies.clear();
  for (const auto& [name, value] : state.inputs) {
    state.property_dependencies[name] = state.dependencies;
    if (state.dependencies.empty() && spelling == DependencySpelling::kAbsentOrNull) {
      state.null_property_dependencies.insert(name);
    }
  }
}

}  // namespace davit
