#pragma once
// What every human view prints around its rows: headline, configuration, diagnostics, outputs,
// summary (C90, C98-C102, C107).

#include <map>
#include <string>

#include "cli/display/display_options.h"
#include "cli/display/rows.h"

namespace davit {

/// `Updating (dev):`
std::string Headline(const DisplayOptions& options);
/// `Configuration:` and one line per key.
std::string ConfigurationSection(const PreludeEvent& prelude, const DisplayOptions& options);
/// `Diagnostics:`, grouped by resource in creation order (C99); empty when there are none.
std::string DiagnosticsSection(const RowTable& table, const DisplayOptions& options);
/// The members under `Outputs:`, without the heading (C100). `indent` in levels of four.
std::string StackOutputs(const StepMetadata& step, int indent, const DisplayOptions& options);
/// `Resources:` and its lines; then, after a real run, an empty line and `Duration:` (C101, C102).
std::string SummarySection(const SummaryEvent& summary,
                           int failed_count,
                           const DisplayOptions& options);
/// What comes after the rows of a run, in the order of C98: policies, diagnostics, outputs and,
/// when no policy was violated that must not be, the summary.
std::string EndSections(const RowTable& table, const DisplayOptions& options);
/// `1s`, `1m5s`, `1h0m2s`: rounded up.
std::string DurationText(std::chrono::nanoseconds duration);

}  // namespace davit
