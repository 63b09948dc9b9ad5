#include "cli/display/line_diff.h"

#include <algorithm>

namespace davit {
namespace {

// Beyond this the table of the comparison is not worth its memory: everything is shown as replaced.
constexpr std::size_t kMaxCells = 4'000'000;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (!lines.empty() && lines.back().empty() && lines.size() > 1) {
    lines.pop_back();
  }
  return lines;
}

std::vector<DiffLine> FullDiff(const std::vector<std::string>& a,
                               const std::vector<std::string>& b) {
  std::vector<DiffLine> out;
  if ((a.size() + 1) * (b.size() + 1) > kMaxCells) {
    for (const std::string& line : a) {
      out.push_back({'-', line});
    }
    for (const std::string& line : b) {
      out.push_back({'+', line});
    }
    return out;
  }
  // Longest common subsequence of the tails.
  std::vector<std::vector<unsigned>> common(a.size() + 1, std::vector<unsigned>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      common[i][j] =
          a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      out.push_back({' ', a[i]});
      ++i;
      ++j;
    } else if (i < a.size() && (j == b.size() || common[i + 1][j] >= common[i][j + 1])) {
      out.push_back({'-', a[i++]});
    } else {
      out.push_back({'+', b[j++]});
    }
  }
  return out;
}

}  // namespace

std::vector<DiffLine> DiffLines(const std::string& before,
                                const std::string& after,
                                std::size_t context) {
  const std::vector<DiffLine> full = FullDiff(Lines(before), Lines(after));
  std::vector<bool> keep(full.size(), false);
  for (std::size_t i = 0; i < full.size(); ++i) {
    if (full[i].mark != ' ') {
      const std::size_t from = i > context ? i - context : 0;
      for (std::size_t k = from; k < std::min(full.size(), i + context + 1); ++k) {
        keep[k] = true;
      }
    }
  }
  std::vector<DiffLine> out;
  for (std::size_t i = 0; i < full.size(); ++i) {
    const bool stands_alone = (i == 0 || keep[i - 1]) && (i + 1 == full.size() || keep[i + 1]);
    if (keep[i] || stands_alone) {  // `...` in place of a single line would save nothing
      out.push_back(full[i]);
    } else if (out.empty() || out.back().mark != '.') {
      out.push_back({'.', "..."});
    }
  }
  return out;
}

}  // namespace davit
