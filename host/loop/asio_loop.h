#pragma once
// The engine thread on Boost.Asio: ready coroutines, posted work, timers, signals and the files of
// child processes. Everything runs on the thread that calls Run; only Post and Stop may be called
// from elsewhere.

#include <functional>
#include <memory>

#include "engine/base/loop.h"

namespace davit {

class AsioLoop final : public Loop {
 public:
  AsioLoop();
  /// Nothing may run any more. Coroutines that are still suspended are left alone, never destroyed.
  ~AsioLoop() override;
  AsioLoop(const AsioLoop&) = delete;
  AsioLoop& operator=(const AsioLoop&) = delete;

  /// Runs work on the calling thread, which thereby is the engine thread, until Stop is called. May
  /// be called again.
  void Run();
  /// Makes Run return after the work at hand; what is queued waits for the next Run. Any thread.
  void Stop();

  void Ready(std::coroutine_handle<> handle) override;
  void Post(std::function<void()> work) override;
  void After(std::chrono::nanoseconds delay, std::function<void()> work) override;
  Clock::time_point Now() const override;
  std::chrono::system_clock::time_point WallNow() const override;

  /// Calls `handler` on the engine thread for each SIGINT and SIGTERM from now on; an empty one
  /// gives the signals back to the system. Engine thread (or before Run).
  void OnSignal(std::function<void(int)> handler);

  /// The Asio side, for host/process: see asio_loop_impl.h.
  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace davit
