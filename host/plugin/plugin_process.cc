#include "host/plugin/plugin_process.h"

#include "engine/base/waiting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace davit {
namespace {

constexpr std::size_t kKeptBytes = 64 * 1024;
constexpr std::size_t kShownLines = 10;
constexpr std::size_t kShownColumns = 500;
constexpr std::chrono::seconds kExitWait(2);  // between a broken connection and the exit behind it

bool IsBlank(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; });
}

// P26: progress sequences of some terminals may surround the number.
std::optional<int> ParsePort(std::string text) {
  for (const std::string_view sequence : {"\x1b]9;4;3;\x1b\\", "\x1b]9;4;0;\x1b\\"}) {
    std::size_t at = 0;
    while ((at = text.find(sequence, at)) != std::string::npos) {
      text.erase(at, sequence.size());
    }
  }
  std::string_view digits = text;
  while (!digits.empty() && std::isspace(static_cast<unsigned char>(digits.front())) != 0) {
    digits.remove_prefix(1);
  }
  while (!digits.empty() && std::isspace(static_cast<unsigned char>(digits.back())) != 0) {
    digits.remove_suffix(1);
  }
  int port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || port < 1 ||
      port > 65535) {
    return std::nullopt;
  }
  return port;
}

// The end of a list of lines as a paragraph for a message.
std::string Paragraph(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += "\n  ";
    text += line.substr(0, kShownColumns);
    if (line.size() > kShownColumns) {
      text += "...";
    }
  }
  return text;
}

}  // namespace

// What the callbacks of the child write to; outlives the PluginProcess as long as they need it.
struct PluginProcess::Output {
  struct Line {
    Pipe pipe;
    std::string text;
  };
  OutputSink sink;
  Severity stdout_severity = Severity::kDebug;
  Severity stderr_severity = Severity::kDebug;
  int stdout_stream = 0;
  int stderr_stream = 0;
  std::optional<std::string> first_line;  ///< the port line, or what came instead
  std::deque<Line> kept;
  std::size_t kept_bytes = 0;
  std::shared_ptr<Gate> changed = std::make_shared<Gate>();
  CancelSource exited;

  void Change() {
    const std::shared_ptr<Gate> gate = std::exchange(changed, std::make_shared<Gate>());
    gate->Open();
  }

  void Take(Pipe pipe, std::string line) {
    if (pipe == Pipe::kStdout && !first_line) {
      first_line = std::move(line);
      Change();
      return;
    }
    if (IsBlank(line)) {
      return;
    }
    kept_bytes += line.size();
    kept.push_back(Line{pipe, line});
    while (kept_bytes > kKeptBytes && kept.size() > 1) {
      kept_bytes -= kept.front().text.size();
      kept.pop_front();
    }
    if (sink) {
      const bool is_stdout = pipe == Pipe::kStdout;
      sink(is_stdout ? stdout_severity : stderr_severity,
           line,
           is_stdout ? stdout_stream : stderr_stream);
    }
  }

  std::vector<std::string> LastOf(Pipe pipe) const {
    std::vector<std::string> lines;
    for (auto at = kept.rbegin(); at != kept.rend() && lines.size() < kShownLines; ++at) {
      if (at->pipe == pipe) {
        lines.push_back(at->text);
      }
    }
    std::ranges::reverse(lines);
    return lines;
  }
};

PluginProcess::~PluginProcess() = default;

CancelToken PluginProcess::exited() const {
  return output_->exited.token();
}

std::vector<std::string> PluginProcess::LastLines() const {
  std::vector<std::string> lines = output_->LastOf(Pipe::kStderr);
  return lines.empty() ? output_->LastOf(Pipe::kStdout) : lines;
}

std::string PluginProcess::ExitReport() const {
  if (is_alive()) {
    return {};
  }
  std::string report = fmt::format("{} {}", label_, child_->exit_status()->Text());
  const std::vector<std::string> lines = LastLines();
  if (lines.empty()) {
    return report + " and printed nothing";
  }
  return report + "; the last it printed:" + Paragraph(lines);
}

std::string PluginProcess::KeptOutput() const {
  std::string text;
  for (const Output::Line& line : output_->kept) {
    text += "\n  " + line.text;
  }
  return text;
}

Task<bool> PluginProcess::HasDied() {
  const bool has_exited = co_await child_->WaitForExit(kExitWait);
  if (has_exited) {
    const bool is_drained = co_await child_->WaitForOutput(std::chrono::seconds(1));
    static_cast<void>(is_drained);
  }
  co_return has_exited;
}

Task<void> PluginProcess::End(std::chrono::nanoseconds grace) {
  co_await child_->End(grace);
}

Task<Result<std::shared_ptr<PluginProcess>>> PluginProcess::Launch(AsioLoop& loop,
                                                                   PluginLaunch launch,
                                                                   CancelToken cancel) {
  auto output = std::make_shared<Output>();
  output->sink = std::move(launch.output);
  output->stdout_severity = launch.stdout_severity;
  output->stderr_severity = launch.stderr_severity;
  output->stdout_stream = launch.stdout_stream;
  output->stderr_stream = launch.stderr_stream;
  launch.child.on_line = [output](Pipe pipe, std::string line) {
    output->Take(pipe, std::move(line));
  };
  launch.child.on_change = [output] { output->Change(); };

  std::shared_ptr<PluginProcess> process(new PluginProcess());
  process->label_ = launch.label;
  process->is_dynamic_ = launch.is_dynamic;
  process->output_ = output;
  if (!launch.start) {
    launch.start = [](AsioLoop& owner, ChildOptions options) -> Result<std::unique_ptr<RunningProcess>> {
      DAVIT_TRY(std::unique_ptr<RunningProcess> own, ChildProcess::Start(owner, std::move(options)));
      return own;
    };
  }
  Result<std::unique_ptr<RunningProcess>> child = launch.start(loop, std::move(launch.child));
  if (!child) {
    co_return Fail(std::move(child).error().WithContext(launch.label));
  }
  process->child_ = *std::move(child);

  // Wait for the port line, its impossibility, the deadline or the user.
  const Loop::Clock::time_point end = loop.Now() + launch.port_deadline;
  loop.After(launch.port_deadline, [output] { output->Change(); });
  const CancelRegistration registration = cancel.OnCancel([output] { output->Change(); });
  while (!output->first_line && process->is_alive() && !process->child_->has_ended(Pipe::kStdout) &&
         loop.Now() < end && !cancel.is_cancelled()) {
    const std::shared_ptr<Gate> gate = output->changed;
    co_await gate->Wait();
  }
  if (!output->first_line && process->is_alive() && process->child_->has_ended(Pipe::kStdout)) {
    // The end of the output usually is that of the process, of which we hear a little later.
    const bool has_exited = co_await process->child_->WaitForExit(std::chrono::seconds(1));
    static_cast<void>(has_exited);
  }
  if (!output->first_line && !process->is_alive()) {
    // The line may still be on its way.
    const bool is_drained = co_await process->child_->WaitForOutput(std::chrono::seconds(1));
    static_cast<void>(is_drained);
  }
  if (output->first_line) {
    const std::optional<int> port = ParsePort(*output->first_line);
    if (port) {
      process->port_ = *port;
      RunningProcess* raw = process->child_.get();
      const auto note_exit = [output, raw] {
        output->Change();
        if (raw->exit_status()) {
          output->exited.Cancel();
        }
      };
      raw->SetOnChange(note_exit);
      note_exit();
      co_return process;
    }
  }

  // A launch that failed: nothing is in flight, so it ends at once.
  const std::optional<std::string> first_line =
      output->first_line;  // killing ends an unfinished line, too
  const bool has_hung = process->is_alive() && !first_line;
  const bool is_late = loop.Now() >= end;
  const std::string partial = process->child_->unfinished_line(Pipe::kStdout);
  if (has_hung && cancel.is_cancelled()) {
    co_await process->End(std::chrono::nanoseconds(0));
    co_return Fail(ErrorKind::kCancelled,
                   fmt::format("the start of {} was cancelled", launch.label));
  }
  if (process->is_alive()) {
    co_await process->child_->End(std::chrono::nanoseconds(0));
  }
  const std::vector<std::string> lines = process->LastLines();
  const std::string printed =
      lines.empty() ? std::string() : "; it also printed:" + Paragraph(lines);
  Error error = MakeError(ErrorKind::kFailed, {});
  if (first_line) {
    error.message = fmt::format("{} printed '{}' instead of its port number{}",
                                launch.label,
                                first_line->substr(0, kShownColumns),
                                printed);
    error.advice =
        "a plugin must print the port that it listens on as the first line of its output";
  } else if (has_hung && is_late) {
    const double seconds = std::chrono::duration<double>(launch.port_deadline).count();
    error.message =
        partial.empty()
            ? fmt::format(
                  "{} did not print its port number within {} s{}", launch.label, seconds, printed)
            : fmt::format("{} did not print its port number within {} s, only '{}'{}",
                          launch.label,
                          seconds,
                          partial.substr(0, kShownColumns),
                          printed);
    error.advice = "if it only needs longer, set DAVIT_PLUGIN_START_TIMEOUT to a number of seconds";
  } else if (has_hung) {
    error.message = fmt::format(
        "{} closed its output before it had printed its port number{}", launch.label, printed);
  } else {
    const std::string last =
        lines.empty() ? " and printed nothing" : "; the last it printed:" + Paragraph(lines);
    error.message = fmt::format("{} {} before it had printed its port number{}",
                                launch.label,
                                process->child_->exit_status()->Text(),
                                last);
  }
  co_return Fail(std::move(error));
}

}  // namespace davit
