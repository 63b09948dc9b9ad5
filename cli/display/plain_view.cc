#include "cli/display/plain_view.h"

#include <fmt/format.h>

#include "cli/display/sections.h"

namespace davit {

PlainView::PlainView(DisplayOptions options, TextSink sink)
    : options_(std::move(options)), sink_(std::move(sink)), table_(options_) {}

void PlainView::Print(const std::string& text) {
  if (is_waiting_) {
    sink_("\n");
    is_waiting_ = false;
  }
  last_dot_.reset();
  sink_(text);
}

void PlainView::Begin() {
  sink_(Headline(options_) + "\n\n");
  if (!options_.suppress_progress) {
    std::string action = ActionText(options_);
    sink_(options_.style.Fg(kHeadlineColor, fmt::format("@ {}...", action)) +
          options_.style.Fg(kWarningColor, "."));
    is_waiting_ = true;
  }
}

void PlainView::Tick(std::chrono::system_clock::time_point now) {
  if (options_.suppress_progress) {
    return;
  }
  if (!last_dot_) {
    last_dot_ = now;
    return;
  }
  if (now - *last_dot_ < std::chrono::seconds(1)) {
    return;
  }
  last_dot_ = now;
  if (!is_waiting_) {
    sink_(options_.style.Fg(kHeadlineColor, fmt::format("@ {}...", ActionText(options_))));
    is_waiting_ = true;
  }
  sink_(options_.style.Fg(kWarningColor, "."));
}

void PlainView::PrintRow(const Row& row, std::chrono::system_clock::time_point now) {
  const std::string name = options_.show_urns && !row.urn.empty()
                               ? row.urn
                               : fmt::format("{} {}", table_.TypeText(row), table_.NameText(row));
  Print(fmt::format(
      " {} {} {} {}\n", table_.Glyph(row), name, table_.Status(row, now), table_.Info(row)));
}

void PlainView::Emit(const Event& event, std::chrono::system_clock::time_point when) {
  last_event_ = when;
  if (const auto* prelude = std::get_if<PreludeEvent>(&event)) {
    if (options_.show_config) {
      Print(ConfigurationSection(*prelude, options_) + "\n");
    }
    return;
  }
  if (const auto* output = std::get_if<StdoutEvent>(&event)) {
    Print(output->message);
    return;
  }
  if (const Row* row = table_.Apply(event, when)) {
    PrintRow(*row, when);
  }
}

void PlainView::Finish() {
  for (const Row* row : table_.Finish(last_event_)) {
    PrintRow(*row, last_event_);
  }
  Print(EndSections(table_, options_));
}

}  // namespace davit
