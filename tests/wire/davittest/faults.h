#pragma once
// The ways in which pulumi-resource-davittest misbehaves. main.cc lists them.

#include <optional>
#include <string>
#include <string_view>

#include "providers/kit/provider.h"

namespace davit::davittest {

/// Writes the call to DAVITTEST_LOG, then does what DAVITTEST_FAULTS and the `behave` of the
/// resource ask for; absent when the call is to be served as usual.
std::optional<kit::RawAnswer> Intercept(std::string_view method,
                                        const std::string& request,
                                        kit::CallContext& call);

/// Plays the faults of the start; returns when the plugin is to come up.
void DisturbStart();

}  // namespace davit::davittest
