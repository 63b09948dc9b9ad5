#pragma once
// The engine thread as the engine sees it: a queue of ready coroutines, a clock and timers.
// host/loop runs it on Asio; tests run it on a SeededLoop with a virtual clock that picks the next
// ready task by seed.

#include <chrono>
#include <coroutine>
#include <functional>

namespace davit {

class Loop {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~Loop() = default;

  /// Puts a suspended coroutine into the ready queue. Engine thread only.
  virtual void Ready(std::coroutine_handle<> handle) = 0;
  /// Runs `work` on the engine thread, later. Any thread.
  virtual void Post(std::function<void()> work) = 0;
  /// Runs `work` on the engine thread when `delay` has passed. Engine thread only.
  virtual void After(std::chrono::nanoseconds delay, std::function<void()> work) = 0;
  /// Monotonic time; virtual in tests.
  virtual Clock::time_point Now() const = 0;
  /// Wall-clock time for records and events; injected in tests.
  virtual std::chrono::system_clock::time_point WallNow() const = 0;
};

}  // namespace davit
