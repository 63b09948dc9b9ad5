#pragma once
// Methods of components and providers (E182, P97). Engine thread.

#include "engine/run/construct.h"

namespace davit {

/// The URN that `__self__` names, and the reference of a provider that it is; both may be empty.
struct CallTarget {
  Urn urn;
  std::string provider;  ///< set for a method of a provider resource
};

/// Reads `__self__` for a token. A method of a provider must name the provider.
Result<CallTarget> CallTargetOf(const std::string& token, const PropertyMap& args);

/// The package whose default provider serves a method when nothing else does.
std::string PackageOfMethod(const std::string& token);

/// Calls the method on the provider of a reference. An unknown configuration gives an empty result
/// (E113). A failed call has code 2017 and no URN (E38).
Task<Result<CallResponse>> CallMethod(RunContext& context,
                                      PluginSurroundings& surroundings,
                                      std::string provider,
                                      CallGoal goal);

}  // namespace davit
