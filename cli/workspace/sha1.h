#pragma once
// SHA-1, which only names the workspace file (S154). Pure.

#include <string>
#include <string_view>

namespace davit {

/// Lower-case hex.
std::string Sha1Hex(std::string_view bytes);

}  // namespace davit
