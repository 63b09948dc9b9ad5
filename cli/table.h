#pragma once
// Plain tables: columns padded, two blanks between, further lines of a cell below its column. Pure.

#include <string>
#include <vector>

namespace davit {

/// `indent` blanks stand before each line. The last column is not padded.
std::string TableText(const std::vector<std::vector<std::string>>& rows, std::size_t indent);

}  // namespace davit
