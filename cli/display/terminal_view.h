#pragma once
// The progress view on a terminal: a tree of rows that is repainted in place, at most every 16 ms
// (C92, C97, C103). Engine thread.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/display/display_options.h"
#include "cli/display/rows.h"

namespace davit {

struct TerminalSize {
  std::size_t width = 80;
  std::size_t height = 24;
};

class TerminalView final : public Display {
 public:
  /// `size` is asked before each repaint.
  TerminalView(DisplayOptions options, TextSink sink, std::function<TerminalSize()> size);

  void Begin() override;
  void Emit(const Event& event, std::chrono::system_clock::time_point when) override;
  void Tick(std::chrono::system_clock::time_point now) override;
  void Finish() override;

 private:
  struct Line {
    std::string glyph;
    std::string type;
    std::string name;
    std::string status;
    std::string info;
  };
  std::vector<std::string> TableLines(std::chrono::system_clock::time_point now,
                                      std::size_t width) const;
  /// Rows by the row above them; null: none.
  using Tree = std::map<const Row*, std::vector<const Row*>>;
  Tree ShownTree() const;
  void AddLines(const Tree& tree,
                const Row* parent,
                const std::string& prefix,
                std::chrono::system_clock::time_point now,
                std::vector<Line>* lines) const;
  bool IsShown(const Row& row) const;
  std::string ParentOf(const Row& row) const;
  void Repaint(std::chrono::system_clock::time_point now, bool is_final);
  std::string EraseText() const;

  DisplayOptions options_;
  TextSink sink_;
  std::function<TerminalSize()> size_;
  RowTable table_;
  std::size_t painted_lines_ = 0;
  bool is_dirty_ = true;
  std::optional<std::chrono::system_clock::time_point> last_paint_;
  std::chrono::system_clock::time_point last_event_;
  std::chrono::nanoseconds paint_interval_{0};
  int spin_ = 0;
};

}  // namespace davit
