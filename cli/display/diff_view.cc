#include "cli/display/diff_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/display/op_words.h"
#include "cli/display/policy_view.h"
#include "cli/display/rows.h"
#include "cli/display/sections.h"
#include "cli/display/step_changes.h"
#include "cli/display/value_print.h"
#include "engine/model/provider_ref.h"

namespace davit {
namespace {

const ResourceState* StateOf(const StepMetadata& step) {
  return step.new_state ? step.new_state.get() : step.old_state.get();
}

std::string Indentation(int level) {
  return std::string(static_cast<std::size_t>(level) * 4, ' ');
}

bool IsDefaultProvider(const std::string& reference) {
  const Result<ProviderRef> parsed = ProviderRef::Parse(reference);
  return parsed && parsed->is_default();
}

std::string ShownProvider(const std::string& reference) {
  const std::size_t at = reference.rfind("::");
  if (at != std::string::npos && reference.substr(at + 2) == kUnknownId) {
    return reference.substr(0, at + 2) + "[unknown]";
  }
  return reference;
}

bool ProviderChanges(const StepMetadata& step) {
  return step.old_state && step.new_state && step.old_state->provider != step.new_state->provider &&
         !step.old_state->provider.empty() && !step.new_state->provider.empty() &&
         step.op != StepOp::kSame;
}

PropertyMap Only(const PropertyMap& map, const std::set<std::string>& names) {
  PropertyMap out;
  for (const auto& [name, value] : map) {
    if (names.contains(name)) {
      out.emplace(name, value);
    }
  }
  return out;
}

PrintOptions PrintingOf(const DisplayOptions& options, const ResourceState& state) {
  PrintOptions print;
  print.style = options.style;
  print.show_secrets = options.show_secrets;
  print.show_full_output = options.show_full_output;
  for (const std::string& path : state.hide_diff) {
    print.hidden.insert(path);
  }
  return print;
}

// What an import is about is known when the object is read.
bool IsReadFirst(const StepMetadata& step) {
  return step.op == StepOp::kImport && step.new_state && step.new_state->custom;
}

}  // namespace

DiffView::DiffView(DisplayOptions options, TextSink out, TextSink err)
    : options_(std::move(options)), out_(std::move(out)), err_(std::move(err)) {}

void DiffView::Begin() {
  out_(Headline(options_) + "\n");
}

bool DiffView::ShouldShow(const StepMetadata& step) const {
  if (step.op == StepOp::kRefresh || (!IsLogical(step.op) && !options_.show_replacement_steps)) {
    return false;
  }
  const bool is_read = step.op == StepOp::kRead || step.op == StepOp::kDiscard;
  if (is_read) {
    return options_.show_reads || options_.show_sames;
  }
  return step.op != StepOp::kSame || options_.show_sames || step.urn.is_root_stack();
}

int DiffView::LevelOf(const StepMetadata& step) const {
  // A deletion stands alone: its parents may be gone already.
  int level = 0;
  std::string urn = step.urn.text();
  for (auto parent = parents_.find(urn);
       parent != parents_.end() && shown_.contains(parent->second);
       parent = parents_.find(parent->second)) {
    ++level;
  }
  return level;
}

std::string DiffView::Heading(const StepMetadata& step, int level) const {
  const OpWords& words = WordsOf(step.op);
  const std::string blanks = Indentation(level);
  const std::string inner = Indentation(level + 1);
  const std::string name = options_.show_urns ? step.urn.text() : step.type;
  std::string op(StepOpName(step.op));
  if (step.is_retained) {
    op += "[retain]";
  }
  std::string line = fmt::format("{}{}: ({})", words.glyph, name, op);
  const bool was_protected = step.old_state && step.old_state->protect;
  const bool is_protected = step.new_state ? step.new_state->protect : was_protected;
  if (is_protected) {
    line += " 🔒";
  } else if (was_protected) {
    line += " 🔓";
  }
  std::string out = blanks + (words.color < 0 ? line : options_.style.Fg(words.color, line)) + "\n";
  const bool shows_id = step.old_state != nullptr && !step.old_state->id.empty();
  if (shows_id) {
    out += fmt::format("{}[id={}]\n", inner, step.old_state->id);
  } else if ((step.op == StepOp::kRead || step.op == StepOp::kImport) && step.new_state &&
             !step.new_state->id.empty()) {
    out += fmt::format("{}[id={}]\n", inner, step.new_state->id);
  }
  if (!options_.show_urns) {
    out += fmt::format("{}[urn={}]\n", inner, step.urn.text());
  }
  const std::string& provider = StateOf(step)->provider;
  if (ProviderChanges(step)) {
    out += fmt::format("{}[provider: {} => {}]\n",
                       inner,
                       step.old_state->provider,
                       ShownProvider(step.new_state->provider));
  } else if (!provider.empty() && !IsDefaultProvider(provider) && step.op != StepOp::kSame) {
    out += fmt::format("{}[provider={}]\n", inner, ShownProvider(provider));
  }
  return out;
}

std::string DiffView::Properties(const StepMetadata& step, int level) const {
  const ResourceState& state = *StateOf(step);
  const PrintOptions print = PrintingOf(options_, state);
  if (step.op == StepOp::kSame || step.op == StepOp::kRead) {
    return {};
  }
  if (options_.mode == DeploymentMode::kRefresh && !step.new_state) {
    return Indentation(level + 1) + "--outputs:--\n" +
           PrintMap(state.outputs, level + 1, ValueMark::kDelete, print);
  }
  if (!step.old_state || !step.new_state) {
    return PrintMap(state.inputs, level + 1, ValueMark::kNone, print);
  }
  const bool is_refresh = options_.mode == DeploymentMode::kRefresh;
  const PropertyMap& before = is_refresh ? step.old_state->outputs : step.old_state->inputs;
  const PropertyMap& after = is_refresh ? step.new_state->outputs : step.new_state->inputs;
  // What the provider says differs; if it names nothing, everything.
  const std::optional<std::set<std::string>> names = NamedChanges(step);
  const std::string named =
      names && !is_refresh
          ? PrintMapDiff(Only(before, *names), Only(after, *names), level + 1, print)
          : std::string();
  return named.empty() ? PrintMapDiff(before, after, level + 1, print) : named;
}

std::string DiffView::Outputs(const StepMetadata& step, int level) const {
  const ResourceState& state = *StateOf(step);
  PrintOptions print = PrintingOf(options_, state);
  print.show_sames = options_.show_sames;
  if (options_.suppress_outputs || !state.init_errors.empty()) {
    return {};
  }
  if (step.urn.is_root_stack()) {
    if (!step.new_state) {
      return PrintMap(state.outputs, level + 1, ValueMark::kDelete, print);
    }
    return StackOutputs(step, level + 1, options_);
  }
  const bool is_known = !options_.is_preview || step.op == StepOp::kRead;
  if (!is_known || options_.mode == DeploymentMode::kRefresh) {
    return {};
  }
  if (!step.new_state) {
    return PrintMap(state.outputs, level + 1, ValueMark::kDelete, print);
  }
  // Only what the inputs do not say already.
  const PropertyMap& inputs = step.new_state->inputs;
  const PropertyMap& outputs = step.new_state->outputs;
  const std::size_t width = NameWidth(outputs);
  std::string out;
  for (const auto& [name, value] : outputs) {
    const auto input = inputs.find(name);
    const bool says_more =
        step.op == StepOp::kRead || input == inputs.end() || !SameForDisplay(input->second, value);
    if (IsHiddenName(name) || IsEmptyForDisplay(value) || !says_more) {
      continue;
    }
    const PropertyValue* before = nullptr;
    if (step.old_state) {
      const auto old_at = step.old_state->outputs.find(name);
      before = old_at == step.old_state->outputs.end() ? nullptr : &old_at->second;
    }
    const bool compares = step.old_state && step.op != StepOp::kRead;
    out += compares ? PrintMemberDiff(name, before, &value, width, level + 1, print)
                    : PrintMember(name, value, width, level + 1, ValueMark::kNone, print);
  }
  return out;
}

void DiffView::Planned(const StepMetadata& step) {
  if (const ResourceState* state = StateOf(step); state != nullptr && !state->parent.empty()) {
    parents_[step.urn.text()] = state->parent.text();
  }
  if (!ShouldShow(step)) {
    return;
  }
  const int level = LevelOf(step);
  shown_.insert(step.urn.text());
  out_(Heading(step, level) + Properties(step, level));
}

void DiffView::Done(const StepMetadata& step) {
  // A refresh says only at its end what it found, and so does an import.
  const bool is_late = options_.mode == DeploymentMode::kRefresh || IsReadFirst(step);
  if (is_late && !shown_.contains(step.urn.text())) {
    Planned(step);
    return;
  }
  if (!ShouldShow(step) || !shown_.contains(step.urn.text())) {
    return;
  }
  // The stack's block ends with its outputs; those of a resource stand one level below its own
  // block.
  const int level = LevelOf(step);
  const std::string outputs = Outputs(step, level);
  if (!outputs.empty()) {
    out_(options_.style.Fg(kHeadlineColor, Indentation(level + 1) + "--outputs:--") + "\n" +
         outputs);
  }
}

void DiffView::Emit(const Event& event, std::chrono::system_clock::time_point) {
  if (const auto* prelude = std::get_if<PreludeEvent>(&event)) {
    if (options_.show_config) {
      out_(ConfigurationSection(*prelude, options_));
    }
  } else if (const auto* pre = std::get_if<ResourcePreEvent>(&event)) {
    if (!pre->metadata.is_internal && !IsReadFirst(pre->metadata)) {
      Planned(pre->metadata);
    }
  } else if (const auto* done = std::get_if<ResourceOutputsEvent>(&event)) {
    if (!done->metadata.is_internal) {
      Done(done->metadata);
    }
  } else if (std::holds_alternative<ResourceFailedEvent>(event)) {
    ++failures_;
  } else if (const auto* diagnostic = std::get_if<DiagnosticEvent>(&event)) {
    const bool is_shown =
        !diagnostic->ephemeral && (diagnostic->severity != Severity::kDebug || options_.show_debug);
    if (is_shown) {
      err_(DiagnosticText(*diagnostic, options_.style) + "\n");
    }
  } else if (const auto* output = std::get_if<StdoutEvent>(&event)) {
    out_(output->message);
  } else if (const auto* violation = std::get_if<PolicyViolationEvent>(&event)) {
    out_(ViolationText(*violation, options_));
  } else if (const auto* remediation = std::get_if<PolicyRemediationEvent>(&event)) {
    const std::string text = RemediationText(*remediation, options_);
    if (!text.empty()) {
      out_(text);
    }
  } else if (const auto* summary = std::get_if<SummaryEvent>(&event)) {
    summary_ = *summary;
  }
}

void DiffView::Finish() {
  if (summary_) {
    out_(SummarySection(*summary_, failures_, options_));
    out_(PolicyPackTable(summary_->policy_packs, options_));
  }
}

}  // namespace davit
