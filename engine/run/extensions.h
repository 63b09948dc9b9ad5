#pragma once
// Extension packages (E175-E180): types that a program adds to those of a provider. Engine thread.

#include <string>

#include "engine/run/run_context.h"

namespace davit {

/// Who needs the extension: a registration, which makes a step of it that is shown and kept in the
/// state (E180), or a record of the state (E179).
enum class ExtensionUse { kRegistration, kRecord };

/// The reference of an extension package (E175).
std::string ExtensionReference(const Parameterization& extension);
/// Returns when the process of the provider has been given the extension; an empty reference needs
/// nothing. Each process is given it once; after a failure it may be tried again.
Task<Result<void>> EnsureExtension(RunContext& context,
                                   InstancePtr provider,
                                   std::string reference,
                                   ExtensionUse use);

}  // namespace davit
