#include "cli/table.h"

#include <algorithm>

#include "cli/display/style.h"

namespace davit {
namespace {

std::vector<std::string> LinesOfCell(const std::string& cell) {
  std::vector<std::string> lines(1);
  for (char c : cell) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

}  // namespace

std::string TableText(const std::vector<std::vector<std::string>>& rows, std::size_t indent) {
  std::vector<std::size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (const std::string& line : LinesOfCell(row[i])) {
        widths[i] = std::max(widths[i], DisplayWidth(line));
      }
    }
  }
  std::string out;
  for (const std::vector<std::string>& row : rows) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (const std::string& cell : row) {
      cells.push_back(LinesOfCell(cell));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
      out.append(indent, ' ');
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string text = line < cells[i].size() ? cells[i][line] : "";
        out += text;
        if (i + 1 < cells.size()) {
          out.append(widths[i] - DisplayWidth(text) + 2, ' ');
        }
      }
      out += '\n';
    }
  }
  return out;
}

}  // namespace davit
