#include "cli/display/terminal_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/display/sections.h"

namespace davit {
namespace {

constexpr auto kRepaintInterval = std::chrono::milliseconds(16);
constexpr auto kElapsedInterval = std::chrono::milliseconds(250);
constexpr std::size_t kLinesAround = 4;  // headline, column names, footer, cursor

constexpr std::size_t kShortestNameColumn = 12;

std::string Padded(const std::string& text, std::size_t width) {
  const std::size_t now = DisplayWidth(text);
  return now >= width ? text : text + std::string(width - now, ' ');
}

// A name that would push the status out of sight ends in an ellipsis.
std::string Shortened(const std::string& text, std::size_t width) {
  return DisplayWidth(text) <= width ? text : CutToWidth(text, width - 1) + "…";
}

}  // namespace

TerminalView::TerminalView(DisplayOptions options,
                           TextSink sink,
                           std::function<TerminalSize()> size)
    : options_(std::move(options)),
      sink_(std::move(sink)),
      size_(std::move(size)),
      table_(options_) {}

void TerminalView::Begin() {
  sink_(Headline(options_) + "\n\n");
}

bool TerminalView::IsShown(const Row& row) const {
  return row.is_visible || row.is_root();
}

std::string TerminalView::ParentOf(const Row& row) const {
  const ResourceState* state =
      row.step.new_state ? row.step.new_state.get() : row.step.old_state.get();
  return state == nullptr ? std::string() : state->parent.text();
}

// What is shown, and below what: parents of a shown row are always shown (C97).
TerminalView::Tree TerminalView::ShownTree() const {
  std::map<std::string, const Row*> by_urn;
  for (const std::unique_ptr<Row>& row : table_.rows()) {
    by_urn[row->urn] = row.get();
  }
  const auto parent_of = [&](const Row& row) -> const Row* {
    const auto found = by_urn.find(ParentOf(row));
    return found == by_urn.end() || found->second == &row || row.urn.empty() ? nullptr
                                                                             : found->second;
  };
  std::set<const Row*> shown;
  for (const std::unique_ptr<Row>& row : table_.rows()) {
    for (const Row* at = IsShown(*row) ? row.get() : nullptr;
         at != nullptr && shown.insert(at).second;) {
      at = parent_of(*at);
    }
  }
  Tree tree;
  for (const std::unique_ptr<Row>& row : table_.rows()) {
    if (shown.contains(row.get())) {
      tree[parent_of(*row)].push_back(row.get());
    }
  }
  return tree;
}

void TerminalView::AddLines(const Tree& tree,
                            const Row* parent,
                            const std::string& prefix,
                            std::chrono::system_clock::time_point now,
                            std::vector<Line>* lines) const {
  const auto children = tree.find(parent);
  if (children == tree.end()) {
    return;
  }
  const bool is_top = parent == nullptr;
  for (const Row* row : children->second) {
    const bool is_last = row == children->second.back();
    Line line;
    line.glyph = table_.Glyph(*row);
    line.type = prefix +
                (is_top    ? ""
                 : is_last ? "└─ "
                           : "├─ ") +
                (options_.show_urns && !row->urn.empty() ? row->urn : table_.TypeText(*row));
    line.name = options_.show_urns ? "" : table_.NameText(*row);
    line.status = table_.Status(*row, now);
    if (!table_.IsDone(*row) && !options_.suppress_progress && !line.status.empty()) {
      line.status += std::string(static_cast<std::size_t>(spin_ % 3) + 1, '.');
    }
    line.info = table_.Info(*row);
    lines->push_back(std::move(line));
    AddLines(tree, row, prefix + (is_top ? "" : is_last ? "   " : "│  "), now, lines);
  }
}

std::vector<std::string> TerminalView::TableLines(std::chrono::system_clock::time_point now,
                                                  std::size_t width) const {
  std::vector<Line> lines;
  AddLines(ShownTree(), nullptr, "", now, &lines);
  if (lines.empty()) {
    return {};
  }
  const bool has_info =
      std::any_of(lines.begin(), lines.end(), [](const Line& line) { return !line.info.empty(); });
  const auto heading = [&](const char* text) {
    return options_.style.UnderlinedFg(kColumnColor, text);
  };
  Line columns;
  columns.glyph = "  ";
  columns.type = heading(options_.show_urns ? "URN" : "Type");
  columns.name = options_.show_urns ? "" : heading("Name");
  columns.status = heading(options_.is_preview ? "Plan" : "Status");
  columns.info = has_info ? heading("Info") : "";
  lines.insert(lines.begin(), columns);
  std::size_t type_width = 0;
  std::size_t name_width = 0;
  std::size_t status_width = 0;
  for (const Line& line : lines) {
    type_width = std::max(type_width, DisplayWidth(line.type));
    name_width = std::max(name_width, DisplayWidth(line.name));
    status_width = std::max(status_width, DisplayWidth(line.status));
  }
  const std::size_t others = 5 + type_width + 2 + 2 + status_width + 1;
  name_width = std::min(name_width, std::max(kShortestNameColumn, width - std::min(width, others)));
  std::vector<std::string> out;
  for (const Line& line : lines) {
    std::string text = " " + line.glyph + "  " + Padded(line.type, type_width) + "  ";
    if (!options_.show_urns) {
      text += Padded(Shortened(line.name, name_width), name_width) + "  ";
    }
    text += Padded(line.status, status_width) + "  " + line.info;
    text.erase(text.find_last_not_of(' ') + 1);
    out.push_back(std::move(text));
  }
  return out;
}

std::string TerminalView::EraseText() const {
  return painted_lines_ == 0 ? std::string() : fmt::format("\x1B[{}A\r\x1B[J", painted_lines_);
}

void TerminalView::Repaint(std::chrono::system_clock::time_point now, bool is_final) {
  const auto begun = std::chrono::steady_clock::now();
  const TerminalSize size = size_();
  std::vector<std::string> lines = TableLines(now, size.width);
  const std::size_t room = size.height > kLinesAround + 1 ? size.height - kLinesAround : 2;
  if (!is_final && lines.size() > room) {
    // The newest rows stay in sight; a footer says that there are more.
    const std::size_t left_out = lines.size() - room;
    lines.erase(lines.begin() + 1, lines.begin() + 1 + static_cast<long>(left_out));
    lines.push_back(fmt::format("    ({} more above)", left_out));
  }
  std::string text = EraseText();
  for (const std::string& line : lines) {
    text += (is_final ? line : CutToWidth(line, size.width > 1 ? size.width - 1 : 1)) + "\n";
  }
  painted_lines_ = lines.size();
  is_dirty_ = false;
  last_paint_ = now;
  sink_(text);
  // A large table is painted less often, so that painting stays a small part of the work.
  paint_interval_ = std::max<std::chrono::nanoseconds>(
      kRepaintInterval, (std::chrono::steady_clock::now() - begun) * 20);
}

void TerminalView::Emit(const Event& event, std::chrono::system_clock::time_point when) {
  last_event_ = when;
  if (const auto* prelude = std::get_if<PreludeEvent>(&event)) {
    if (options_.show_config) {
      sink_(EraseText() + ConfigurationSection(*prelude, options_) + "\n");
      painted_lines_ = 0;
    }
    return;
  }
  if (const auto* output = std::get_if<StdoutEvent>(&event)) {
    sink_(EraseText() + output->message);
    painted_lines_ = 0;
    Repaint(when, false);
    return;
  }
  table_.Apply(event, when);
  is_dirty_ = true;
  Tick(when);
}

void TerminalView::Tick(std::chrono::system_clock::time_point now) {
  const auto since = last_paint_ ? now - *last_paint_ : kElapsedInterval;
  if (since >= kElapsedInterval) {
    ++spin_;
  }
  if ((is_dirty_ && since >= paint_interval_) ||
      since >= std::max<std::chrono::nanoseconds>(kElapsedInterval, paint_interval_)) {
    Repaint(now, false);
  }
}

void TerminalView::Finish() {
  table_.Finish(last_event_);
  Repaint(last_event_, true);
  painted_lines_ = 0;
  sink_("\n" + EndSections(table_, options_));
}

}  // namespace davit
