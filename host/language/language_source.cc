#include "host/language/language_source.h"

#include "engine/base/waiting.h"

namespace davit {
namespace {

// One run. Its tasks are awaited by Finish.
struct RunningProgram {
  explicit RunningProgram(Loop& loop) : scope(loop) {}
  std::shared_ptr<LanguageHost> host;
  std::unique_ptr<MonitorServer> server;
  Gate paused;  ///< no registration follows: the program has said so, or ended
  Gate ended;
  Result<void> outcome;  ///< once ended
  CancelToken cancel;
  CancelRegistration on_cancel;
  Scope scope;
};

Task<void> DriveProgram(RunningProgram& running, ProgramRun run) {
  running.outcome = co_await running.host->Run(std::move(run));
  running.ended.Open();
  running.paused.Open();
}

Task<void> AwaitSignal(RunningProgram& running) {
  co_await running.server->WaitForSignal();
  running.paused.Open();
}

class LanguageSource final : public Source {
 public:
  explicit LanguageSource(LanguageProgram program) : program_(std::move(program)) {}

  Task<Result<void>> Prepare(CancelToken cancel) override {
    DAVIT_CO_TRY(host_, co_await program_.plugins->LoadLanguage(program_.runtime, cancel));
    DAVIT_CO_TRY(packages_, co_await host_->RequiredPackages(program_.info, cancel));
    co_return Result<void>();
  }

  std::vector<PackageDescriptor> RequiredPackages() const override { return packages_; }

  Task<Result<void>> Run(Monitor& monitor, const RunInfo& info, CancelToken cancel) override {
    running_ = std::make_unique<RunningProgram>(*program_.monitor.loop);
    RunningProgram& running = *running_;
    running.host = host_;
    running.cancel = cancel;
    MonitorServerOptions options = program_.monitor;
    options.monitor = &monitor;
    options.info = info;
    DAVIT_CO_TRY(running.server, MonitorServer::Start(std::move(options)));
    ProgramRun run;
    run.program = program_.info;
    run.info = &info;
    run.monitor_address = running.server->address();
    run.loader_target = program_.loader_target;
    running.scope.Spawn(AwaitSignal(running));
    running.scope.Spawn(DriveProgram(running, std::move(run)));
    running.on_cancel =
        cancel.OnCancel([&running] { running.scope.Spawn(running.host->Cancel()); });  // P34
    co_await running.paused.Wait();
    co_return running.ended.is_open() ? Outcome() : Result<void>();
  }

  Task<Result<void>> Finish() override {
    RunningProgram& running = *running_;
    if (!running.server) {
      co_return Result<void>();
    }
    running.server->ReleaseShutdown();  // P106: before the end is awaited
    co_await running.ended.Wait();
    running.on_cancel = CancelRegistration();
    co_await running.server->Close();
    co_await running.scope.Join();
    co_return Outcome();
  }

 private:
  // How the program ended, once. One that was told to end has nothing to say that is not known.
  Result<void> Outcome() {
    Result<void> outcome = std::exchange(running_->outcome, Result<void>());
    if (!outcome && (running_->cancel.is_cancelled() || running_->server->has_stopped())) {
      outcome.error().reported = true;
    }
    return outcome;
  }

  LanguageProgram program_;
  std::shared_ptr<LanguageHost> host_;
  std::vector<PackageDescriptor> packages_;
  std::unique_ptr<RunningProgram> running_;
};

}  // namespace

std::unique_ptr<Source> MakeLanguageSource(LanguageProgram program) {
  return std::make_unique<LanguageSource>(std::move(program));
}

}  // namespace davit
