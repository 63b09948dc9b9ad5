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

/// A process that somebody runs for us: we ourselves, or a language host (P38).
class RunningProcess {
 public:
  virtual ~RunningProcess() = default;
  /// Replaces ChildOptions::on_change.
  virtual void SetOnChange(std::function<void()> on_change) = 0;
  /// Absent while the process runs.
  virtual const std::optional<ExitStatus>& exit_status() const = 0;
  /// Whether a pipe has ended.
  virtual bool has_ended(Pipe pipe) const = 0;
  /// What was read of a line that has not ended yet.
  virtual const std::string& unfinished_line(Pipe pipe) const = 0;

  /// Waits for the exit, at most for `limit`; returns whether it has exited.
  virtual Task<bool> WaitForExit(std::chrono::nanoseconds limit) = 0;
  /// Waits for the end of both pipes, at most for `limit`; descendants may hold them open.
  virtual Task<bool> WaitForOutput(std::chrono::nanoseconds limit) = 0;
  /// Asks the process to end, makes it end after `grace`, and waits for the exit and the rest of the
  /// output (P33).
  virtual Task<void> End(std::chrono::nanoseconds grace) = 0;
};

class ChildProcess final : public RunningProcess {
 public:
  /// Starts the program; fails when it cannot be executed.
  static Result<std::unique_ptr<ChildProcess>> Start(AsioLoop& loop, ChildOptions options);
  /// Kills what still runs, without waiting.
  ~ChildProcess() override;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int pid() const;
  void SetOnChange(std::function<void()> on_change) override;
  const std::optional<ExitStatus>& exit_status() const override;
  bool has_ended(Pipe pipe) const override;
  const std::string& unfinished_line(Pipe pipe) const override;
  Task<bool> WaitForExit(std::chrono::nanoseconds limit) override;
  Task<bool> WaitForOutput(std::chrono::nanoseconds limit) override;
  /// SIGINT to the group, then after `grace` SIGKILL to the group. A grace of zero kills at once.
  /// What is left of the group after the leader's exit is killed as well.
  Task<void> End(std::chrono::nanoseconds grace) override;

 private:
  struct Impl;
  explicit ChildProcess(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace davit
