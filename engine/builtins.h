#pragma once
// The package `pulumi`, which davit serves itself: stack references (E195) and stashes (E196).
// Engine thread.

#include <functional>
#include <memory>
#include <string>

#include "engine/ids.h"
#include "engine/provider.h"

namespace davit {

/// The outputs of a stack, named as programs do (`organization/project/stack`, or a stack of the
/// same project). An error of a stack that does not exist names it.
using StackOutputs = std::function<Result<PropertyMap>(const std::string& stack)>;

/// A host that serves the package `pulumi` in the process and asks `inner` for everything else;
/// `inner` and `ids` must outlive it.
std::unique_ptr<PluginHost> WithBuiltins(PluginHost& inner, Ids& ids, StackOutputs outputs);

}  // namespace davit
