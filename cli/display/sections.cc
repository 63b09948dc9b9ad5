#include "cli/display/sections.h"

#include <fmt/format.h>

#include "cli/display/op_words.h"
#include "cli/display/value_print.h"

namespace davit {
namespace {

std::string Indented(const std::string& text, const std::string& blanks) {
  std::string out;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += blanks + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

bool IsCounted(StepOp op) {
  return IsLogical(op) && op != StepOp::kSame && op != StepOp::kRead && op != StepOp::kDiscard;
}

}  // namespace

std::string ActionText(const DisplayOptions& options) {
  switch (options.mode) {
    case DeploymentMode::kUpdate:
      return options.is_preview ? "Previewing update" : "Updating";
    case DeploymentMode::kDestroy:
      return options.is_preview ? "Previewing destroy" : "Destroying";
    case DeploymentMode::kRefresh:
      return options.is_preview ? "Previewing refresh" : "Refreshing";
    case DeploymentMode::kImport:
      return options.is_preview ? "Previewing import" : "Importing";
  }
  return {};
}

std::string Headline(const DisplayOptions& options) {
  return options.style.BoldFg(kHeadlineColor,
                              fmt::format("{} ({}):", ActionText(options), options.stack));
}

std::string ConfigurationSection(const PreludeEvent& prelude, const DisplayOptions& options) {
  std::string out = options.style.BoldFg(kHeadlineColor, "Configuration:") + "\n";
  for (const auto& [key, value] : prelude.config) {
    out += fmt::format("    {}: {}\n", key, value);
  }
  return out;
}

std::string DiagnosticsSection(const RowTable& table, const DisplayOptions& options) {
  std::string out;
  for (const std::unique_ptr<Row>& row : table.rows()) {
    if (row->diagnostics.empty()) {
      continue;
    }
    if (out.empty()) {
      out = options.style.BoldFg(kHeadlineColor, "Diagnostics:") + "\n";
    }
    const std::string heading =
        options.show_urns && !row->urn.empty()
            ? row->urn
            : fmt::format("{} ({})", table.TypeText(*row), table.NameText(*row));
    out += "  " + options.style.Fg(kColumnColor, heading + ":") + "\n";
    for (std::size_t i = 0; i < row->diagnostics.size(); ++i) {
      DiagnosticEvent joined = row->diagnostics[i];
      // Pieces of one stream are one text.
      while (joined.stream_id != 0 && i + 1 < row->diagnostics.size() &&
             row->diagnostics[i + 1].stream_id == joined.stream_id) {
        const std::string& next = row->diagnostics[++i].message;
        joined.message +=
            (joined.message.empty() || joined.message.back() == '\n' ? "" : "\n") + next;
      }
      out += Indented(DiagnosticText(joined, options.style), "    ");
    }
    out += "\n";
  }
  return out;
}

std::string StackOutputs(const StepMetadata& step, int indent, const DisplayOptions& options) {
  if (!step.new_state || options.suppress_outputs) {
    return {};
  }
  PrintOptions print;
  print.style = options.style;
  print.show_secrets = options.show_secrets;
  print.show_full_output = options.show_full_output;
  // A run always shows all outputs; a preview what changes.
  print.show_sames = options.show_sames || !options.is_preview;
  const PropertyMap& after = step.new_state->outputs;
  if (!step.old_state) {
    return PrintMap(after, indent, ValueMark::kNone, print);
  }
  return PrintMapDiff(step.old_state->outputs, after, indent, print);
}

std::string SummarySection(const SummaryEvent& summary,
                           int failed_count,
                           const DisplayOptions& options) {
  std::string out = options.style.BoldFg(kHeadlineColor, "Resources:") + "\n";
  int kinds = 0;
  int changes = 0;
  for (StepOp op : OpsInOrder()) {
    const auto count = summary.changes.find(op);
    if (!IsCounted(op) || count == summary.changes.end() || count->second == 0) {
      continue;
    }
    ++kinds;
    changes += count->second;
    const OpWords& words = WordsOf(op);
    out += "    " +
           options.style.Fg(words.color,
                            fmt::format("{}{} {}",
                                        words.glyph,
                                        count->second,
                                        summary.is_preview ? words.to_do : words.summary_done)) +
           "\n";
  }
  if (summary.old_copies > 0) {
    ++kinds;
    changes += summary.old_copies;
    const OpWords& words = WordsOf(StepOp::kDelete);
    const char* noun = summary.old_copies == 1 ? "old copy" : "old copies";
    out += "    " +
           options.style.Fg(words.color,
                            fmt::format("{}{} {} {}",
                                        words.glyph,
                                        summary.old_copies,
                                        noun,
                                        summary.is_preview ? words.to_do : words.summary_done)) +
           "\n";
  }
  std::string line;
  if (kinds >= 2) {
    line = options.style.mode() == ColorMode::kNever
               ? fmt::format("{} changes", changes)
               : options.style.BoldFg(7, fmt::format("{} changes", changes));
  }
  const auto same = summary.changes.find(StepOp::kSame);
  if (same != summary.changes.end() && same->second > 0) {
    line += (line.empty() ? "" : ". ") + fmt::format("{} unchanged", same->second);
  }
  out += line.empty() ? "" : "    " + line + "\n";
  if (failed_count > 0) {
    out += "    " + options.style.Fg(kErrorColor, fmt::format("{} errored", failed_count)) + "\n";
  }
  if (!summary.is_preview) {
    out += "\n" + options.style.BoldFg(kHeadlineColor, "Duration:") + " " +
           DurationText(summary.duration) + "\n";
  }
  return out;
}

std::string EndSections(const RowTable& table, const DisplayOptions& options) {
  std::string sections;
  const std::optional<SummaryEvent>& summary = table.summary();
  if (summary) {
    sections += table.policies().Section(summary->policy_packs, options);
  }
  sections += DiagnosticsSection(table, options);
  if (const StepMetadata* step = table.stack_outputs()) {
    const std::string outputs = StackOutputs(*step, 1, options);
    if (!outputs.empty()) {
      sections += options.style.BoldFg(kHeadlineColor, "Outputs:") + "\n" + outputs + "\n";
    }
  }
  if (summary && !table.policies().has_mandatory()) {
    sections += SummarySection(*summary, table.failed_rows(), options);
  }
  return sections;
}

std::string DurationText(std::chrono::nanoseconds duration) {
  const long total = std::chrono::ceil<std::chrono::seconds>(duration).count();
  std::string out;
  if (total >= 3600) {
    out += fmt::format("{}h", total / 3600);
  }
  if (total >= 60) {
    out += fmt::format("{}m", total / 60 % 60);
  }
  return out + fmt::format("{}s", total % 60);
}

}  // namespace davit
