#include "host/language/hosted_process.h"

#include <algorithm>
#include <csignal>

#include "engine/base/waiting.h"
#include "host/loop/asio_loop.h"

namespace davit {
namespace {

// The host ends the plugin; davit cannot kill it if that takes longer.
constexpr std::chrono::nanoseconds kLeastEndWait = std::chrono::seconds(10);

struct HostedRun {
  AsioLoop* loop = nullptr;
  ChildOptions child;
  std::string lines[2];
  std::optional<ExitStatus> status;
  CancelSource stop;
  std::vector<std::shared_ptr<Gate>> waiting;

  std::string& LineOf(Pipe pipe) { return lines[pipe == Pipe::kStdout ? 0 : 1]; }

  void Take(Pipe pipe, const std::string& bytes) {
    std::string& line = LineOf(pipe);
    line += bytes;
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = line.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      child.on_line(pipe, line.substr(begin, end - begin));
    }
    line.erase(0, begin);
  }

  void End(ExitStatus how) {
    for (const Pipe pipe : {Pipe::kStdout, Pipe::kStderr}) {
      if (!LineOf(pipe).empty()) {
        child.on_line(pipe, std::exchange(LineOf(pipe), {}));
      }
    }
    status = how;
    for (const std::shared_ptr<Gate>& gate : std::exchange(waiting, {})) {
      gate->Open();
    }
    if (child.on_change) {
      child.on_change();
    }
  }
};

Task<void> DriveHosted(std::shared_ptr<HostedRun> run,
                       std::shared_ptr<LanguageHost> host,
                       PluginRun plugin) {
  OutputChunk take = [raw = run.get()](Pipe pipe, const std::string& bytes) {
    raw->Take(pipe, bytes);
  };
  const Result<int> code =
      co_await host->RunPlugin(std::move(plugin), std::move(take), run->stop.token());
  ExitStatus how;
  if (code) {
    how.code = *code;
  } else if (run->stop.is_cancelled()) {
    how.signal = SIGINT;
  } else {
    how.code = 1;
    run->Take(Pipe::kStderr, code.error().Text());
  }
  run->End(how);
}

class HostedProcess final : public RunningProcess {
 public:
  explicit HostedProcess(std::shared_ptr<HostedRun> run) : run_(std::move(run)) {}
  ~HostedProcess() override {
    run_->child.on_change = nullptr;
    run_->child.on_line = [](Pipe, const std::string&) {};
    run_->stop.Cancel();
  }

  void SetOnChange(std::function<void()> on_change) override {
    run_->child.on_change = std::move(on_change);
  }
  const std::optional<ExitStatus>& exit_status() const override { return run_->status; }
  bool has_ended(Pipe) const override { return run_->status.has_value(); }
  const std::string& unfinished_line(Pipe pipe) const override { return run_->LineOf(pipe); }

  Task<bool> WaitForExit(std::chrono::nanoseconds limit) override {
    const std::shared_ptr<HostedRun> run = run_;
    if (!run->status) {
      auto gate = std::make_shared<Gate>();
      run->waiting.push_back(gate);
      run->loop->After(limit, [gate] { gate->Open(); });
      co_await gate->Wait();
    }
    co_return run->status.has_value();
  }
  Task<bool> WaitForOutput(std::chrono::nanoseconds limit) override { return WaitForExit(limit); }
  Task<void> End(std::chrono::nanoseconds grace) override {
    run_->stop.Cancel();
    const bool has_exited = co_await WaitForExit(std::max(grace, kLeastEndWait));
    static_cast<void>(has_exited);
  }

 private:
  std::shared_ptr<HostedRun> run_;
};

}  // namespace

std::unique_ptr<RunningProcess> StartHosted(AsioLoop& loop,
                                            std::shared_ptr<LanguageHost> host,
                                            PluginRun run,
                                            ChildOptions child) {
  run.arguments = std::move(child.arguments);
  run.environment = std::move(child.environment);
  run.working_directory = std::move(child.working_directory);
  auto state = std::make_shared<HostedRun>();
  state->loop = &loop;
  state->child = std::move(child);
  Start(loop, DriveHosted(state, std::move(host), std::move(run)), [](std::exception_ptr) {});
  return std::make_unique<HostedProcess>(std::move(state));
}

}  // namespace davit
