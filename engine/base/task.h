#pragma once
// Task<T>: a lazy coroutine on the engine thread, and the ways to start one; waiting.h has those to
// wait.
//
// Rules (g++ 12.2 miscompiles what breaks the first one):
//  - no aggregate temporary, designated initializer or owning lambda inside a statement with
//  co_await: name it, then move;
//  - parameters by value, or references that the caller provably outlives; no capturing lambda is
//  itself a coroutine;
//  - spawn only into a Scope, which is awaited; a suspended frame is never destroyed.
// There is no symmetric transfer: a completed task puts its awaiter into the loop's ready queue. A
// loop of ready awaits therefore needs no stack, and the order of wake-ups is fair and the same in
// every run.

#include <coroutine>
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/loop.h"

namespace davit {

template <typename T>
class Task;

namespace task_detail {

struct PromiseBase {
  Loop* loop = nullptr;
  std::coroutine_handle<> awaiter;
  std::exception_ptr exception;

  std::suspend_always initial_suspend() noexcept { return {}; }

  struct FinalAwaiter {
    bool await_ready() noexcept { return false; }
    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) noexcept {
      PromiseBase& promise = handle.promise();
      if (promise.awaiter) {
        promise.loop->Ready(promise.awaiter);
      }
    }
    void await_resume() noexcept {}
  };
  FinalAwaiter final_suspend() noexcept { return {}; }
  void unhandled_exception() { exception = std::current_exception(); }
};

template <typename T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  template <typename U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object();
  void return_void() {}
};

}  // namespace task_detail

/// A coroutine that has not begun. `co_await std::move(task)` (or of a temporary) runs it on the
/// awaiter's loop.
template <typename T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = task_detail::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) {
      handle_.destroy();
    }
  }

  struct Awaiter {
    Handle handle;
    bool await_ready() { return false; }
    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> awaiter) {
      handle.promise().loop = awaiter.promise().loop;
      handle.promise().awaiter = awaiter;
      handle.resume();
    }
    T await_resume() {
      if (handle.promise().exception) {
        std::rethrow_exception(handle.promise().exception);
      }
      if constexpr (!std::is_void_v<T>) {
        return std::move(*handle.promise().value);
      }
    }
  };
  Awaiter operator co_await() && { return Awaiter{handle_}; }

 private:
  Handle handle_;
};

namespace task_detail {
template <typename T>
Task<T> Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}

/// A root coroutine: owns itself, begins from the ready queue.
struct Root {
  struct promise_type {
    Loop* loop = nullptr;
    Root get_return_object() {
      return Root{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }  // RunRoot catches; nothing may get here
  };
  std::coroutine_handle<promise_type> handle;
};

template <typename T, typename Done>
Root RunRoot(Task<T> task, Done done) {
  std::exception_ptr failure;
  if constexpr (std::is_void_v<T>) {
    try {
      co_await std::move(task);
    } catch (...) {
      failure = std::current_exception();
    }
    done(failure);
  } else {
    std::optional<T> value;
    try {
      value.emplace(co_await std::move(task));
    } catch (...) {
      failure = std::current_exception();
    }
    done(failure, std::move(value));
  }
}
}  // namespace task_detail

/// Starts `task` on `loop` and calls `done(exception_ptr, optional<T>)` (or `done(exception_ptr)`)
/// on the engine thread. For the edges (main, RPC entries, tests); inside the engine use Scope.
template <typename T, typename Done>
void Start(Loop& loop, Task<T> task, Done done) {
  task_detail::Root root = task_detail::RunRoot(std::move(task), std::move(done));
  root.handle.promise().loop = &loop;
  loop.Ready(root.handle);
}

/// The loop that runs this coroutine: `Loop& loop = co_await CurrentLoop();`
struct CurrentLoop {
  Loop* loop = nullptr;
  bool await_ready() { return false; }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> handle) {
    loop = handle.promise().loop;
    return false;
  }
  Loop& await_resume() { return *loop; }
};

}  // namespace davit
