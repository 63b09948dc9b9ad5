#pragma once
// The members of package `localhost`, one file each.

#include <memory>

#include "providers/kit/provider.h"

namespace davit::localhost {

std::shared_ptr<kit::ResourceHandler> MakeFileResource();
std::shared_ptr<kit::ResourceHandler> MakeDirectoryResource();
std::shared_ptr<kit::ResourceHandler> MakeCommandResource();
kit::Function MakeReadFileFunction();

}  // namespace davit::localhost
