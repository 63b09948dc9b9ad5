#pragma once
// The progress view without a terminal: one line per change of a row (C93, C98, C104, C150). Engine
// thread.

#include <optional>

#include "cli/display/display_options.h"
#include "cli/display/rows.h"

namespace davit {

class PlainView final : public Display {
 public:
  PlainView(DisplayOptions options, TextSink sink);

  void Begin() override;
  void Emit(const Event& event, std::chrono::system_clock::time_point when) override;
  /// Prints a dot for each second without other output.
  void Tick(std::chrono::system_clock::time_point now) override;
  void Finish() override;

 private:
  void Print(const std::string& text);
  void PrintRow(const Row& row, std::chrono::system_clock::time_point now);

  DisplayOptions options_;
  TextSink sink_;
  RowTable table_;
  std::chrono::system_clock::time_point last_event_;
  std::optional<std::chrono::system_clock::time_point> last_dot_;
  bool is_waiting_ = false;  ///< a line of dots is open
};

}  // namespace davit
