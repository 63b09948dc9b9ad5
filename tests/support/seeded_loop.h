#pragma once
// A Loop for tests: virtual time, and the next ready task is chosen by a seed, so that many orders
// can be tried and each can be repeated. One thread; Post from other threads is allowed.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/base/loop.h"

namespace davit::testing {

class SeededLoop final : public Loop {
 public:
  /// Seed 0 runs everything in the order in which it became ready.
  explicit SeededLoop(std::uint64_t seed = 0) : state_(seed) {}

  void Ready(std::coroutine_handle<> handle) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    ready_.emplace_back([handle] { handle.resume(); });
  }
  void Post(std::function<void()> work) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    ready_.push_back(std::move(work));
  }
  void After(std::chrono::nanoseconds delay, std::function<void()> work) override {
    timers_.emplace(now_ + delay, std::move(work));
  }
  Clock::time_point Now() const override { return now_; }
  std::chrono::system_clock::time_point WallNow() const override {
    const auto passed = now_.time_since_epoch() + std::chrono::hours(24 * 365 * 50);
    return std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(passed));
  }

  /// Runs until nothing is ready and no timer is left; the clock jumps to the next timer when
  /// nothing is ready.
  void RunUntilIdle() {
    while (RunReady() || RunTimer()) {
    }
  }
  /// Runs what is ready, without letting time pass. Returns whether anything ran.
  bool RunReady() {
    bool any = false;
    while (RunOne()) {
      any = true;
    }
    return any;
  }
  /// Lets `duration` pass, running what becomes due in between.
  void Advance(std::chrono::nanoseconds duration) {
    const Clock::time_point end = now_ + duration;
    RunReady();
    while (!timers_.empty() && timers_.begin()->first <= end) {
      RunTimer();
      RunReady();
    }
    now_ = end;
  }
  /// Runs one ready task; false when there is none.
  bool RunOne() {
    std::function<void()> work;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (ready_.empty()) {
        return false;
      }
      const std::size_t index = state_ == 0 ? 0 : static_cast<std::size_t>(Next() % ready_.size());
      work = std::move(ready_[index]);
      ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(index));
    }
    work();
    return true;
  }

 private:
  bool RunTimer() {
    if (timers_.empty()) {
      return false;
    }
    const auto first = timers_.begin();
    now_ = std::max(now_, first->first);
    std::function<void()> work = std::move(first->second);
    timers_.erase(first);
    work();
    return true;
  }
  // xorshift64*: small, the same everywhere.
  std::uint64_t Next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return (state_ * 2685821657736338717ULL) >> 16;
  }

  std::mutex mutex_;
  std::uint64_t state_;
  Clock::time_point now_{};
  std::deque<std::function<void()>> ready_;
  std::multimap<Clock::time_point, std::function<void()>> timers_;
};

}  // namespace davit::testing
