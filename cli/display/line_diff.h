#pragma once
// Differences of texts by lines (C111). Pure.

#include <string>
#include <vector>

namespace davit {

struct DiffLine {
  char mark;  ///< ' ', '+', '-'; '.' for left out lines
  std::string text;
};

/// Shortest edit script, with at most `context` equal lines around each change.
std::vector<DiffLine> DiffLines(const std::string& before,
                                const std::string& after,
                                std::size_t context);

}  // namespace davit
