#include "cli/display/rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/display/masking.h"
#include "cli/display/op_words.h"

namespace davit {
namespace {

using WallClock = std::chrono::system_clock;

std::string RootUrn(const DisplayOptions& options) {
  return Urn::Make(options.stack,
                   options.project,
                   Urn(),
                   kRootStackType,
                   options.project + "-" + options.stack)
      .text();
}

bool IsRead(StepOp op) {
  return op == StepOp::kRead || op == StepOp::kReadReplacement || op == StepOp::kDiscard ||
         op == StepOp::kDiscardReplaced;
}

bool IsCustom(const StepMetadata& step) {
  const ResourceState* state = step.new_state ? step.new_state.get() : step.old_state.get();
  return state != nullptr && state->custom;
}

std::string Joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ","));
}

std::string Counted(int count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

}  // namespace

std::string DiagnosticText(const DiagnosticEvent& event, const Style& style) {
  std::string text = event.message;
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.pop_back();
  }
  if (event.where && !event.where->file.empty()) {
    text =
        event.where->line > 0
            ? fmt::format(
                  "{}:{}:{}: {}", event.where->file, event.where->line, event.where->column, text)
            : fmt::format("{}: {}", event.where->file, text);
  }
  switch (event.severity) {
    case Severity::kError:
      return style.Fg(kErrorColor, "error: ") + text;
    case Severity::kWarning:
      return style.Fg(kWarningColor, "warning: ") + text;
    case Severity::kDebug:
      return "debug: " + text;
    case Severity::kInfo:
    case Severity::kInfoToStderr:
      return text;
  }
  return text;
}

std::string ChangesText(const NameChanges& changes, const Style& style) {
  std::string text = "[diff: ";
  const auto add = [&](char glyph, const std::vector<std::string>& names, StepOp op) {
    if (!names.empty()) {
      text += style.Fg(WordsOf(op).color, glyph + Joined(names));
    }
  };
  add('+', changes.added, StepOp::kCreate);
  add('-', changes.deleted, StepOp::kDelete);
  add('~', changes.updated, StepOp::kUpdate);
  return text + "]";
}

bool RowTable::ShouldShow(const StepMetadata& step) const {
  if (step.op == StepOp::kSame) {
    const bool protect_changed =
        step.old_state && step.new_state && step.old_state->protect != step.new_state->protect;
    return options_.show_sames || protect_changed;
  }
  return true;
}

bool RowTable::IsDone(const Row& row) const {
  if (row.has_failed || is_finished_) {
    return true;
  }
  // The root stack is at work until everything is.
  return !row.is_root() && !row.urn.empty() &&
         std::any_of(row.done_steps.begin(), row.done_steps.end(), [&](const StepMetadata& step) {
           return step.op == row.step.op;
         });
}

Row* RowTable::StackRow() {
  const std::string urn = RootUrn(options_);
  const auto found = by_urn_.find(urn);
  return found != by_urn_.end() ? found->second : RowFor("", nullptr);
}

Row* RowTable::RowFor(const std::string& urn, const StepMetadata* step) {
  const auto found = by_urn_.find(urn);
  if (found != by_urn_.end()) {
    return found->second;
  }
  const bool is_root = urn == RootUrn(options_);
  const auto stand_in = by_urn_.find("");
  if (is_root &&
      stand_in != by_urn_.end()) {  // what was said before the stack was registered is its
    Row* row = stand_in->second;
    by_urn_.erase(stand_in);
    row->urn = urn;
    by_urn_[urn] = row;
    return row;
  }
  rows_.push_back(std::make_unique<Row>());
  Row* row = rows_.back().get();
  row->urn = urn;
  if (step != nullptr) {
    row->step = *step;
  } else if (!urn.empty()) {
    row->step.urn = Urn::Trusted(urn);
    row->step.type = std::string(row->step.urn.type());
  }
  by_urn_[urn] = row;
  return row;
}

const Row* RowTable::Apply(const Event& event, WallClock::time_point when) {
  if (const auto* pre = std::get_if<ResourcePreEvent>(&event)) {
    return ApplyStep(event, pre->metadata, when);
  }
  if (const auto* done = std::get_if<ResourceOutputsEvent>(&event)) {
    return ApplyStep(event, done->metadata, when);
  }
  if (const auto* failed = std::get_if<ResourceFailedEvent>(&event)) {
    return ApplyStep(event, failed->metadata, when);
  }
  if (const auto* diagnostic = std::get_if<DiagnosticEvent>(&event)) {
    return ApplyDiagnostic(*diagnostic);
  }
  if (const auto* summary = std::get_if<SummaryEvent>(&event)) {
    summary_ = *summary;
  } else {
    policies_.Take(event);
  }
  return nullptr;
}

const Row* RowTable::ApplyStep(const Event& event,
                               const StepMetadata& step,
                               WallClock::time_point when) {
  if (step.is_internal) {
    return nullptr;
  }
  if (IsRead(step.op) && !options_.show_reads) {  // C97: a word on the stack's row
    if (step.op != StepOp::kRead) {
      return nullptr;
    }
    DiagnosticEvent note;
    note.message = fmt::format("read {} {}", step.type, step.urn.name());
    note.ephemeral = true;
    return ApplyDiagnostic(note);
  }
  Row* row = RowFor(step.urn.text(), &step);
  row->is_visible = row->is_visible || ShouldShow(step);
  if (std::holds_alternative<ResourcePreEvent>(event)) {
    row->begun = when;
    row->ended.reset();
    row->step = step;
    return row->is_visible ? row : nullptr;
  }
  if (std::holds_alternative<ResourceFailedEvent>(event)) {
    row->has_failed = true;
    row->ended = when;
    row->is_visible = true;
    return row;
  }
  const bool was_refresh = row->step.op == StepOp::kRefresh;
  row->ended = when;
  row->step = step;
  row->done_steps.push_back(step);
  if (row->is_root()) {
    stack_outputs_ = step;
  }
  // Without a terminal a done line is printed only where it says more than the line before.
  const bool says_more =
      was_refresh || (!options_.is_preview && IsCustom(step) && step.op != StepOp::kSame);
  return says_more && row->is_visible ? row : nullptr;
}

const Row* RowTable::ApplyDiagnostic(const DiagnosticEvent& event) {
  if (event.severity == Severity::kDebug && !options_.show_debug) {
    return nullptr;
  }
  Row* row = event.urn.empty() ? StackRow() : RowFor(event.urn, nullptr);
  row->is_visible = true;
  row->last_diagnostic = event;
  if (event.ephemeral) {
    return row;
  }
  row->diagnostics.push_back(event);
  switch (event.severity) {
    case Severity::kError:
      ++row->errors;
      break;
    case Severity::kWarning:
      ++row->warnings;
      break;
    case Severity::kInfo:
    case Severity::kInfoToStderr:
      ++row->messages;
      break;
    case Severity::kDebug:
      ++row->debugs;
      break;
  }
  return row;
}

std::vector<const Row*> RowTable::Finish(WallClock::time_point when) {
  std::vector<const Row*> open;
  for (const std::unique_ptr<Row>& row : rows_) {
    // The stack of an import has no done event (E156): its line says something only after errors.
    const bool has_news = options_.mode != DeploymentMode::kImport || !row->diagnostics.empty();
    if (!IsDone(*row) && (row->is_visible || (row->is_root() && has_news))) {
      open.push_back(row.get());
      if (!row->ended) {
        row->ended = when;
      }
    }
  }
  // A stack that goes is followed by a line for the one that stays.
  const bool begins_elsewhere = !rows_.empty() && !rows_[0]->is_root() && !rows_[0]->urn.empty();
  if (options_.mode == DeploymentMode::kDestroy && begins_elsewhere) {
    Row* row = RowFor("", nullptr);
    if (std::find(open.begin(), open.end(), row) == open.end()) {
      open.push_back(row);
    }
  }
  is_finished_ = true;
  return open;
}

int RowTable::failed_rows() const {
  return static_cast<int>(
      std::count_if(rows_.begin(), rows_.end(), [](const auto& row) { return row->errors > 0; }));
}

std::string RowTable::Glyph(const Row& row) const {
  const OpWords& words = WordsOf(row.step.op);
  if (words.color < 0) {
    return std::string(words.glyph);
  }
  return IsDone(row) ? options_.style.Fg(words.color, words.glyph)
                     : options_.style.BoldFg(words.color, words.glyph);
}

std::string RowTable::TypeText(const Row& row) const {
  if (row.urn.empty()) {
    return std::string(kRootStackType);
  }
  return row.step.type.empty() ? std::string(row.step.urn.type()) : row.step.type;
}

std::string RowTable::NameText(const Row& row) const {
  return row.urn.empty() ? options_.project + "-" + options_.stack
                         : std::string(row.step.urn.name());
}

std::string RowTable::Status(const Row& row, WallClock::time_point now) const {
  std::string status = IsDone(row) ? DoneStatus(row) : RunningStatus(row, now);
  if (row.step.is_retained && !status.empty()) {
    status += " [retain]";
  }
  return status;
}

std::string RowTable::RunningStatus(const Row& row, WallClock::time_point now) const {
  const StepOp op = row.step.op;
  if (op == StepOp::kSame) {
    return row.is_root() ? "running" : "";
  }
  const OpWords& words = WordsOf(op);
  if (words.running.empty()) {
    return {};
  }
  const std::string color = options_.style.BoldFg(
      words.color, options_.is_preview && op != StepOp::kRefresh ? words.preview : words.running);
  if (options_.is_preview || !row.begun) {
    return color;
  }
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now - *row.begun).count();
  return fmt::format("{} ({}s)", color, seconds);
}

std::string RowTable::DoneStatus(const Row& row) const {
  const StepOp op = row.step.op;
  const OpWords& words = WordsOf(op);
  if (!options_.is_preview && (row.has_failed || row.errors > 0)) {
    const bool has_word = op != StepOp::kSame && !words.running.empty();
    const std::string text = has_word ? fmt::format("**{} failed**", words.running) : "**failed**";
    return options_.style.Fg(kErrorColor, text);
  }
  if (op == StepOp::kSame) {
    return {};
  }
  if (options_.is_preview) {
    return options_.style.Fg(words.color, words.preview);
  }
  const bool was_interrupted = row.done_steps.empty() && summary_ && !row.is_root() &&
                               summary_->result != DeploymentResultKind::kSucceeded;
  if (was_interrupted) {
    return options_.style.Fg(kWarningColor, fmt::format("{} (interrupted)", words.running));
  }
  const std::string text = options_.style.Fg(words.color, words.done);
  if (!row.begun || !row.ended) {
    return text;
  }
  const std::chrono::duration<double> took = *row.ended - *row.begun;
  return took.count() < 1 ? fmt::format("{} ({:.2f}s)", text, took.count())
                          : fmt::format("{} ({}s)", text, static_cast<long>(took.count()));
}

std::string RowTable::Changes(const Row& row) const {
  const StepMetadata* step = &row.step;
  if (step->op == StepOp::kCreateReplacement || step->op == StepOp::kDeleteReplaced) {
    // The step of the replacement knows what it is about.
    for (const StepMetadata& done : row.done_steps) {
      step = done.op == StepOp::kReplace ? &done : step;
    }
  }
  if (!step->old_state || !step->new_state) {
    return {};
  }
  const ResourceState& before = *step->old_state;
  const ResourceState& after = *step->new_state;
  NameChanges changes;
  if (step->detailed_diff) {
    changes = NamesOf(*step->detailed_diff);
  } else if (options_.mode == DeploymentMode::kRefresh) {
    changes = CompareNames(Masked(before.outputs), Masked(after.outputs));
  } else {
    changes = CompareNames(Masked(before.inputs), Masked(after.inputs));
  }
  if (!step->detailed_diff && !step->diffs.empty()) {
    changes = OnlyNames(changes, step->diffs);
  }
  if (before.provider != after.provider && step->op != StepOp::kSame) {
    changes.updated.emplace_back("provider");
  }
  if (before.protect != after.protect) {
    changes.updated.emplace_back("protect");
  }
  if (before.taint != after.taint && step->op != StepOp::kSame) {
    changes.updated.emplace_back("taint");
  }
  if (changes.empty()) {
    return {};
  }
  std::sort(changes.updated.begin(), changes.updated.end());
  return ChangesText(changes, options_.style);
}

std::string RowTable::Info(const Row& row) const {
  std::string info = Changes(row);
  const auto add = [&](const std::string& text) { info += (info.empty() ? "" : "; ") + text; };
  if (is_finished_) {
    if (row.errors > 0) {
      add(Counted(row.errors, "error"));
    }
    if (row.warnings > 0) {
      add(Counted(row.warnings, "warning"));
    }
    if (row.messages > 0) {
      add(Counted(row.messages, "message"));
    }
    if (row.debugs > 0) {
      add(fmt::format("{} debug", row.debugs));
    }
  } else if (row.last_diagnostic) {
    const std::string text = DiagnosticText(*row.last_diagnostic, options_.style);
    if (!text.empty()) {
      add(text.substr(0, text.find('\n')));
    }
  }
  return info;
}

}  // namespace davit
