#pragma once
// Two threads for work that can wait: syncing files, deriving keys, hashing, shutting servers down
// (style 2.9).

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "engine/base/task.h"
#include "engine/base/waiting.h"

namespace davit {

class WorkPool {
 public:
  WorkPool();
  /// Finishes what is queued, then joins the threads.
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  /// Runs `work` on one of the threads. Any thread. `work` must not throw.
  void Run(std::function<void()> work);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Runs `work` on the pool and gives its result, or its exception, to the engine thread. `work`
/// owns what it uses.
template <typename T>
Task<T> RunOn(WorkPool& pool, Loop& loop, std::function<T()> work) {
  struct Outcome {
    std::optional<T> value;
    std::exception_ptr failure;
  };
  auto done = std::make_shared<Completion<Outcome>>();
  std::function<void()> job = [&loop, done, work = std::move(work)] {
    auto outcome = std::make_shared<Outcome>();
    try {
      outcome->value.emplace(work());
    } catch (...) {
      outcome->failure = std::current_exception();
    }
    loop.Post([done, outcome] { done->Set(std::move(*outcome)); });
  };
  pool.Run(std::move(job));
  Outcome& outcome = co_await done->Wait();
  if (outcome.failure) {
    std::rethrow_exception(outcome.failure);
  }
  co_return std::move(*outcome.value);
}

}  // namespace davit
