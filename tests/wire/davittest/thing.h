#pragma once
// The resource of pulumi-resource-davittest. main.cc tells what it can be asked for.

#include <memory>

#include "providers/kit/resource_handler.h"

namespace davit::davittest {

std::shared_ptr<kit::ResourceHandler> MakeThing();

}  // namespace davit::davittest
