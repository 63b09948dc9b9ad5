#include "cli/commands/run_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/display/diff_view.h"
#include "cli/display/plain_view.h"
#include "cli/display/terminal_view.h"
#include "cli/terminal.h"

namespace davit {
namespace {

std::unique_ptr<Display> MakeDisplay(const Context& context, const DisplayOptions& options) {
  TextSink out = [&context](const std::string& text) { context.Out(text); };
  if (context.invocation().Bool("diff")) {
    TextSink err = [&context](const std::string& text) { context.Err(text); };
    return std::make_unique<DiffView>(options, std::move(out), std::move(err));
  }
  if (context.has_terminal_output()) {
    return std::make_unique<TerminalView>(options, std::move(out), SizeOfTerminal);
  }
  return std::make_unique<PlainView>(options, std::move(out));
}

}  // namespace

Result<std::unique_ptr<EventLog>> EventLog::Open(const std::string& path) {
  if (path.compare(0, 6, "tcp://") == 0) {
    return Fail(
        ErrorKind::kUnimplemented, "davit cannot send the event log over TCP yet", "give a file");
  }
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) {
    return Fail(ErrorKind::kFailed,
                fmt::format("could not open the event log '{}': {}", path, std::strerror(errno)));
  }
  return std::unique_ptr<EventLog>(new EventLog(file));
}

EventLog::~EventLog() {
  close(file_);
}

void EventLog::Write(const std::string& text) {
  WriteText(file_, text);
}

RunOutput::RunOutput(
    const Context& context, DisplayOptions options, MessageMask mask, EventLog* log, bool keep)
    : context_(context), options_(std::move(options)), mask_(std::move(mask)), keep_(keep) {
  const Invocation& words = context.invocation();
  if (words.Text("output") == "json") {
    summary_ = std::make_unique<RunSummary>(options_);
  } else if (words.Bool("json")) {
    const bool streams =
        !options_.is_preview || context.IsTruthy("PULUMI_ENABLE_STREAMING_JSON_PREVIEW");
    if (streams) {
      json_stream_ = std::make_unique<EventStream>(
          [&context](const std::string& text) { context.Out(text); }, false);
    } else {
      digest_ = std::make_unique<PreviewDigest>(options_);
    }
  } else {
    display_ = MakeDisplay(context, options_);
  }
  if (log != nullptr) {
    log_stream_ =
        std::make_unique<EventStream>([log](const std::string& text) { log->Write(text); }, true);
  }
}

RunOutput::~RunOutput() = default;

void RunOutput::Begin() {
  if (display_) {
    display_->Begin();
  }
}

void RunOutput::Watch(const Event& event) {
  const auto* pre = std::get_if<ResourcePreEvent>(&event);
  if (pre == nullptr) {
    return;
  }
  const StepMetadata& step = pre->metadata;
  if (step.new_state) {
    has_secrets_ = has_secrets_ || ContainsSecrets(step.new_state->inputs) ||
                   ContainsSecrets(step.new_state->outputs) ||
                   !step.new_state->additional_secret_outputs.empty();
  }
  const bool is_change =
      step.op != StepOp::kSame && step.op != StepOp::kRefresh && step.op != StepOp::kRead;
  const bool is_delete = step.op == StepOp::kDelete || step.op == StepOp::kDeleteReplaced;
  if (is_delete && step.old_state && step.old_state->retain_on_delete) {
    left_behind_ += fmt::format("    {}\n", step.urn.text());
  }
  has_changes_ = has_changes_ || (is_change && !step.is_internal && !step.urn.is_root_stack());
}

void RunOutput::Emit(const Event& event, std::chrono::system_clock::time_point when) {
  Watch(event);
  const Event masked = WithSecretsOfBothSides(mask_.empty() ? event : mask_.Apply(event));
  if (log_stream_) {
    log_stream_->Emit(masked, when);
  }
  for (EventSink* sink : {static_cast<EventSink*>(json_stream_.get()),
                          static_cast<EventSink*>(digest_.get()),
                          static_cast<EventSink*>(summary_.get())}) {
    if (sink != nullptr) {
      sink->Emit(masked, when);
    }
  }
  if (display_) {
    display_->Emit(options_.show_secrets ? event : masked, when);
  }
  if (keep_) {
    kept_.emplace_back(masked, when);
  }
}

void RunOutput::Tick(std::chrono::system_clock::time_point now) {
  if (display_) {
    display_->Tick(now);
  }
}

void RunOutput::Finish() {
  if (display_) {
    display_->Finish();
    display_.reset();
  }
  if (digest_) {
    context_.Out(digest_->Text());
    digest_.reset();
  }
  if (summary_) {
    context_.Out(summary_->Text());
    summary_.reset();
  }
}

void RunOutput::End(std::chrono::system_clock::time_point when) {
  if (log_stream_) {
    log_stream_->Emit(CancelEvent{}, when);
    log_stream_.reset();
  }
  if (json_stream_) {
    json_stream_->Emit(CancelEvent{}, when);
    json_stream_.reset();
  }
}

std::string RunOutput::LeftBehindText() const {
  return left_behind_.empty()
             ? std::string()
             : "\nThese leave the state and go on to exist, as retainOnDelete asks:\n" + left_behind_;
}

std::string RunOutput::Details() const {
  std::string text;
  const TextSink sink = [&text](const std::string& piece) { text += piece; };
  DisplayOptions full = options_;
  full.show_full_output = true;
  DiffView view(full, sink, sink);
  view.Begin();
  for (const auto& [event, when] : kept_) {
    view.Emit(event, when);
  }
  view.Finish();
  return text;
}

}  // namespace davit
