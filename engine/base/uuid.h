#pragma once
// Version 4 UUIDs. Pure, any thread.

#include <string>

namespace davit {

/// The UUID, in lower-case text, that these 16 random bytes make.
std::string UuidText(std::string random);

}  // namespace davit
