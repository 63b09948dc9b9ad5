#pragma once
// How tasks wait for one another: a signal, a value, several tasks, a permit. Engine thread only.

#include <coroutine>
#include <deque>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/task.h"

namespace davit {

/// A one-shot signal that many may wait for; waiters are woken in the order in which they came.
/// Engine thread only.
class Gate {
 public:
  bool is_open() const { return open_; }
  /// Wakes all waiters; later waits do not suspend. Opening twice is harmless.
  void Open() {
    open_ = true;
    std::vector<Waiter> waiters = std::exchange(waiters_, {});
    for (const Waiter& waiter : waiters) {
      waiter.loop->Ready(waiter.handle);
    }
  }
  struct Awaiter {
    Gate& gate;
    bool await_ready() { return gate.open_; }
    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) {
      gate.waiters_.push_back(Waiter{handle, handle.promise().loop});
    }
    void await_resume() {}
  };
  Awaiter Wait() { return Awaiter{*this}; }

 private:
  struct Waiter {
    std::coroutine_handle<> handle;
    Loop* loop;
  };
  bool open_ = false;
  std::vector<Waiter> waiters_;
};

/// A value that arrives once; `co_await completion.Wait()` gives a reference to it. Engine thread
/// only: other threads set it through Loop::Post.
template <typename T>
class Completion {
 public:
  void Set(T value) {
    DAVIT_CHECK(!value_, "a completion was set twice");
    value_.emplace(std::move(value));
    gate_.Open();
  }
  bool is_set() const { return value_.has_value(); }
  struct Awaiter {
    Gate::Awaiter inner;
    Completion& completion;
    bool await_ready() { return inner.await_ready(); }
    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) {
      inner.await_suspend(handle);
    }
    T& await_resume() { return *completion.value_; }
  };
  Awaiter Wait() { return Awaiter{gate_.Wait(), *this}; }

 private:
  std::optional<T> value_;
  Gate gate_;
};

/// Tasks that run side by side and are all awaited. An exception of one is kept and rethrown by
/// Join.
class Scope {
 public:
  explicit Scope(Loop& loop) : loop_(loop) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() = default;

  /// Begins `task` from the ready queue. May be called by tasks of this scope as well.
  void Spawn(Task<void> task) {
    ++running_;
    Start(loop_, std::move(task), [this](std::exception_ptr failure) {
      if (failure && !failure_) {
        failure_ = failure;
      }
      --running_;
      Changed();
    });
  }
  int running() const { return running_; }

  /// Waits until nothing runs any more.
  Task<void> Join() {
    while (running_ > 0) {
      Gate gate;
      waiting_ = &gate;
      co_await gate.Wait();
      waiting_ = nullptr;
    }
    if (failure_) {
      std::rethrow_exception(std::exchange(failure_, nullptr));
    }
  }

 private:
  void Changed() {
    if (running_ == 0 && waiting_ != nullptr) {
      waiting_->Open();
    }
  }
  Loop& loop_;
  int running_ = 0;
  Gate* waiting_ = nullptr;
  std::exception_ptr failure_;
};

/// Permits for at most `limit` holders; waiters get theirs in the order in which they came. Engine
/// thread only.
class Semaphore {
 public:
  explicit Semaphore(long limit) : free_(limit) {}
  Task<void> Acquire() {
    if (free_ > 0) {
      --free_;
      co_return;
    }
    Gate gate;
    queue_.push_back(&gate);
    co_await gate.Wait();
  }
  void Release() {
    if (queue_.empty()) {
      ++free_;
      return;
    }
    Gate* next = queue_.front();
    queue_.pop_front();
    next->Open();
  }

 private:
  long free_;
  std::deque<Gate*> queue_;
};

/// Gives an acquired permit back at the end of its scope.
class Permit {
 public:
  explicit Permit(Semaphore& semaphore) : semaphore_(semaphore) {}
  Permit(const Permit&) = delete;
  Permit& operator=(const Permit&) = delete;
  ~Permit() { semaphore_.Release(); }

 private:
  Semaphore& semaphore_;
};

}  // namespace davit
