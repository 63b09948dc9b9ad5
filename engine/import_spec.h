#pragma once
// What a bulk import is asked for (E155). Values.

#include <optional>
#include <string>
#include <vector>

#include "engine/source.h"

namespace davit {

/// One entry: an object that exists, a component, or (by its type) a provider that the others use.
struct ImportSpec {
  Urn urn;         ///< that the record will have
  std::string id;  ///< empty for components and providers
  Urn parent;      ///< empty: the root stack
  Urn provider;    ///< empty: the default one of `package`
  PackageDescriptor package;
  bool is_component = false;
  bool is_remote = false;  ///< a component that a plugin builds, and that so has a provider
  bool protect = true;
  bool limits_properties = false;  ///< some were named; the state has all that Read gives (E158)
  PropertyMap inputs;              ///< fill what Read leaves out
  std::optional<PropertyMap> outputs;  ///< all of them: the object is not read
};

}  // namespace davit
