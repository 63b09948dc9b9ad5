#pragma once
// The rows of the progress views: one per resource, built from events (C92-C97). No output of its
// own; engine thread.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/display/display_options.h"
#include "cli/display/policy_view.h"
#include "cli/display/step_changes.h"
#include "engine/events.h"

namespace davit {

/// Severity prefix, place and text of a diagnostic, without line breaks at the end (C99).
std::string DiagnosticText(const DiagnosticEvent& event, const Style& style);

/// `[diff: +a-b~c]`
std::string ChangesText(const NameChanges& changes, const Style& style);

struct Row {
  std::string urn;  ///< empty: stands for the stack until its own row exists
  StepMetadata step;
  std::vector<StepMetadata> done_steps;
  bool is_visible = false;
  bool has_failed = false;
  std::optional<std::chrono::system_clock::time_point> begun;
  std::optional<std::chrono::system_clock::time_point> ended;
  std::optional<DiagnosticEvent> last_diagnostic;
  std::vector<DiagnosticEvent> diagnostics;  ///< to be listed at the end
  int errors = 0;
  int warnings = 0;
  int messages = 0;
  int debugs = 0;

  bool is_root() const { return step.urn.is_root_stack(); }
};

class RowTable {
 public:
  explicit RowTable(const DisplayOptions& options) : options_(options) {}

  /// Takes an event; gives the row that a view without a terminal prints now, null for none.
  const Row* Apply(const Event& event, std::chrono::system_clock::time_point when);
  /// The run is over: rows count as done and show what they add up to. Gives those that were not
  /// done before.
  std::vector<const Row*> Finish(std::chrono::system_clock::time_point when);

  /// In the order in which resources were first heard of.
  const std::vector<std::unique_ptr<Row>>& rows() const { return rows_; }
  bool is_finished() const { return is_finished_; }
  bool IsDone(const Row& row) const;
  /// The root stack's last step with outputs, if it has registered any.
  const StepMetadata* stack_outputs() const { return stack_outputs_ ? &*stack_outputs_ : nullptr; }
  const std::optional<SummaryEvent>& summary() const { return summary_; }
  const PolicyFindings& policies() const { return policies_; }
  /// Rows with an error (C101).
  int failed_rows() const;

  // Columns of a row.
  std::string Glyph(const Row& row) const;
  std::string TypeText(const Row& row) const;
  std::string NameText(const Row& row) const;
  std::string Status(const Row& row, std::chrono::system_clock::time_point now) const;
  std::string Info(const Row& row) const;

 private:
  Row* RowFor(const std::string& urn, const StepMetadata* step);
  Row* StackRow();
  const Row* ApplyStep(const Event& event,
                       const StepMetadata& step,
                       std::chrono::system_clock::time_point when);
  const Row* ApplyDiagnostic(const DiagnosticEvent& event);
  bool ShouldShow(const StepMetadata& step) const;
  std::string RunningStatus(const Row& row, std::chrono::system_clock::time_point now) const;
  std::string DoneStatus(const Row& row) const;
  std::string Changes(const Row& row) const;

  DisplayOptions options_;
  std::vector<std::unique_ptr<Row>> rows_;
  std::map<std::string, Row*> by_urn_;
  std::optional<StepMetadata> stack_outputs_;
  std::optional<SummaryEvent> summary_;
  PolicyFindings policies_;
  bool is_finished_ = false;
};

}  // namespace davit
