#pragma once
// One plugin process from launch to end: port line, output, exit (P22-P28, P33). Engine thread.

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "engine/base/cancel.h"
#include "engine/source.h"
#include "host/process/child_process.h"

namespace davit {

/// A line of output for the user, with a stream id that is unique per process and pipe (P27).
using OutputSink =
    std::function<void(Severity severity, const std::string& message, int stream_id)>;

struct PluginLaunch {
  /// Starts what `child` describes; by default as a child of ours.
  using Starter = std::function<Result<std::unique_ptr<RunningProcess>>(AsioLoop&, ChildOptions)>;

  std::string label;   ///< for messages: `resource plugin 'random'`
  ChildOptions child;  ///< without on_line
  Starter start;       ///< empty: the default
  Severity stdout_severity = Severity::kDebug;
  Severity stderr_severity = Severity::kDebug;
  int stdout_stream = 0;
  int stderr_stream = 0;
  OutputSink output;
  std::chrono::nanoseconds port_deadline{std::chrono::seconds(60)};
  bool is_dynamic =
      false;  ///< a dynamic provider (P40): its output is not kept for the exit report of P33
};

class PluginProcess {
 public:
  /// Starts the plugin and waits for its port line. On failure nothing is left running, and the
  /// error tells how the process ended and what it printed.
  static Task<Result<std::shared_ptr<PluginProcess>>> Launch(AsioLoop& loop,
                                                             PluginLaunch launch,
                                                             CancelToken cancel);
  ~PluginProcess();

  int port() const { return port_; }
  const std::string& label() const { return label_; }
  bool is_alive() const { return !child_->exit_status().has_value(); }
  RunningProcess& child() { return *child_; }
  /// After a broken connection: waits shortly for the exit and the rest of the output; returns
  /// whether the process has exited.
  Task<bool> HasDied();
  bool is_dynamic() const { return is_dynamic_; }
  /// Cancelled when the process exits.
  CancelToken exited() const;
  /// The last lines of standard error (of standard output when there are none), newest last, for
  /// error messages.
  std::vector<std::string> LastLines() const;
  /// `resource plugin 'x' exited with status 3; its last output: ...`; empty while the process
  /// lives.
  std::string ExitReport() const;
  /// Everything that is kept of the output, for the report of a premature exit (P33).
  std::string KeptOutput() const;
  /// P33 without the Cancel call; waits for the end.
  Task<void> End(std::chrono::nanoseconds grace = std::chrono::seconds(5));

 private:
  struct Output;
  PluginProcess() = default;
  std::string label_;
  bool is_dynamic_ = false;
  int port_ = 0;
  std::unique_ptr<RunningProcess> child_;
  std::shared_ptr<Output> output_;
};

}  // namespace davit
