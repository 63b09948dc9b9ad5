#pragma once
// One child process of ours: start, its output as lines, its exit, its end. Engine thread only.
// The child leads its own process group (P25) and dies with the thread that started it, so Start
// must be called on a thread that lives as long as the process: the engine thread.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/task.h"
#include "host/loop/asio_loop.h"

namespace davit {

enum class Pipe { kStdout, kStderr };

/// How a process ended.
struct ExitStatus {
  int code = 0;    ///< exit status; meaningless after a signal
  int signal = 0;  ///< number of the signal that ended it, or 0
  /// `exited with status 3` or `was killed by signal 11 (SIGSEGV)`.
  std::string Text() const;
};

struct ChildOptions {
  std::string program;                             ///< path of the executable
  std::vector<std::string> arguments;              ///< after the program name
  std::map<std::string, std::string> environment;  ///< all of it; nothing is inherited
  std::string working_directory;                   ///< empty: ours
  /// Each line of each pipe without its newline, the unfinished last one too; a line over 1 MiB
  /// comes in pieces. Pipes are read until their end, whatever happens.
  std::function<void(Pipe, std::string)> on_line;
  /// The process has exited, or a pipe has ended.
  std::function<void()> on_change;
};

class ChildProcess {
 public:
  /// Starts the program; fails when it cannot be executed.
  static Result<std::unique_ptr<ChildProcess>> Start(AsioLoop& loop, ChildOptions options);
  /// Kills what still runs, without waiting.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int pid() const;
  /// Replaces ChildOptions::on_change.
  void SetOnChange(std::function<void()> on_change);
  /// Absent while the process runs.
  const std::optional<ExitStatus>& exit_status() const;
  /// Whether a pipe has ended.
  bool has_ended(Pipe pipe) const;
  /// What was read of a line that has not ended yet.
  const std::string& unfinished_line(Pipe pipe) const;

  /// Waits for the exit, at most for `limit`; returns whether it has exited.
  Task<bool> WaitForExit(std::chrono::nanoseconds limit);
  /// Waits for the end of both pipes, at most for `limit`; descendants may hold them open.
  Task<bool> WaitForOutput(std::chrono::nanoseconds limit);
  /// P33: SIGINT to the group, then after `grace` SIGKILL to the group; waits for the exit and the
  /// rest of the output. A grace of zero kills at once. What is left of the group after the
  /// leader's exit is killed as well.
  Task<void> End(std::chrono::nanoseconds grace);

 private:
  struct Impl;
  explicit ChildProcess(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace davit
