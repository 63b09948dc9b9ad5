#pragma once
// The configuration value `pulumi:autonaming` (E73). Pure, any thread.

#include "engine/source.h"

namespace davit {

/// Reads the value among the configuration of `info`; without it nothing is said of names.
/// `${organization}`, `${project}`, `${stack}` and `${config.KEY}` in patterns are filled in.
/// Errors say which member is wrong.
Result<Autonaming> ReadAutonaming(const RunInfo& info);

}  // namespace davit
