#pragma once
// Threads that run blocking handlers: as many as there are calls, kept for the next ones, so that a
// handler that hangs holds up nobody (Cancel has to come through).

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace davit::kit {

class WorkerPool {
 public:
  WorkerPool() = default;
  /// Waits for what was submitted.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Runs `work` on some thread, at once unless kMaxThreads are busy. Any thread; does not block.
  void Submit(std::function<void()> work);
  /// Waits until nothing runs or waits to run, at most for `limit`; returns whether that came true.
  bool WaitIdle(std::chrono::nanoseconds limit);

 private:
  static constexpr int kMaxThreads = 1024;

  void Run();

  std::mutex mutex_;
  std::condition_variable has_work_;
  std::condition_variable has_changed_;
  std::deque<std::function<void()>> waiting_;
  int threads_ = 0;
  int idle_ = 0;
  bool is_closing_ = false;
};

}  // namespace davit::kit
