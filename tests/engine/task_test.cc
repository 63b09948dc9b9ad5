// The coroutine rules of engine/base/task.h.
#include "engine/base/task.h"

#include <catch2/catch.hpp>

#include "engine/base/cancel.h"
#include "engine/base/result.h"
#include "engine/base/waiting.h"
#include "tests/support/seeded_loop.h"

namespace davit {
namespace {

using testing::SeededLoop;

Task<int> Ready(int value) {
  co_return value;
}

Task<long> SumOfReadyAwaits(int count) {
  long sum = 0;
  for (int index = 0; index < count; ++index) {
    sum += co_await Ready(1);
  }
  co_return sum;
}

template <typename T>
T RunToEnd(SeededLoop& loop, Task<T> task) {
  std::optional<T> result;
  Start(loop, std::move(task), [&](std::exception_ptr failure, std::optional<T> value) {
    if (failure) {
      std::rethrow_exception(failure);
    }
    result = std::move(value);
  });
  loop.RunUntilIdle();
  REQUIRE(result);
  return *result;
}

Task<void> Append(std::vector<int>* order, int value, Gate* gate) {
  co_await gate->Wait();
  order->push_back(value);
}

Task<void> Throw() {
  throw std::runtime_error("broken");
  co_return;
}

Task<bool> JoinRethrows(Loop& loop) {
  Scope scope(loop);
  scope.Spawn(Throw());
  bool caught = false;
  try {
    co_await scope.Join();
  } catch (const std::runtime_error&) {
    caught = true;
  }
  co_return caught;
}

Task<int> HoldPermit(Semaphore* semaphore, int* holders, int* most, Gate* gate) {
  co_await semaphore->Acquire();
  *most = std::max(*most, ++*holders);
  co_await gate->Wait();
  --*holders;
  semaphore->Release();
  co_return 0;
}

Task<Result<int>> Tried(bool good) {
  if (!good) {
    co_return Fail(ErrorKind::kFailed, "no");
  }
  co_return 7;
}

Task<Result<int>> Chained(bool good) {
  DAVIT_CO_TRY(const int value, co_await Tried(good));
  co_return value + 1;
}

}  // namespace

TEST_CASE("a long loop of ready awaits needs no stack") {
  SeededLoop loop;
  CHECK(RunToEnd(loop, SumOfReadyAwaits(300000)) == 300000);
}

TEST_CASE("waiters of a gate wake in the order in which they came") {
  SeededLoop loop;
  std::vector<int> order;
  Gate gate;
  for (int value = 0; value < 3; ++value) {
    Start(loop, Append(&order, value, &gate), [](std::exception_ptr) {});
  }
  loop.RunUntilIdle();
  CHECK(order.empty());
  gate.Open();
  loop.RunUntilIdle();
  CHECK(order == std::vector<int>{0, 1, 2});
}

TEST_CASE("Join rethrows what a task of the scope threw") {
  SeededLoop loop;
  CHECK(RunToEnd(loop, JoinRethrows(loop)));
}

TEST_CASE("a semaphore never lets in more than its limit") {
  SeededLoop loop(7);
  Semaphore semaphore(2);
  int holders = 0;
  int most = 0;
  int done = 0;
  Gate gate;
  for (int index = 0; index < 5; ++index) {
    Start(loop,
          HoldPermit(&semaphore, &holders, &most, &gate),
          [&](std::exception_ptr, std::optional<int>) { ++done; });
  }
  loop.RunUntilIdle();
  CHECK(holders == 2);
  gate.Open();
  loop.RunUntilIdle();
  CHECK(done == 5);
  CHECK(most == 2);
}

TEST_CASE("errors pass through DAVIT_CO_TRY") {
  SeededLoop loop;
  CHECK(*RunToEnd(loop, Chained(true)) == 8);
  CHECK(RunToEnd(loop, Chained(false)).error().message == "no");
}

TEST_CASE("cancellation calls each callback once, late ones at once") {
  CancelSource source;
  int calls = 0;
  {
    const CancelRegistration gone = source.token().OnCancel([&] { calls += 100; });
  }
  const CancelRegistration kept = source.token().OnCancel([&] { ++calls; });
  source.Cancel();
  source.Cancel();
  CHECK(calls == 1);
  const CancelRegistration late = source.token().OnCancel([&] { ++calls; });
  CHECK(calls == 2);
  CHECK(source.token().is_cancelled());
  CHECK_FALSE(CancelToken().is_cancelled());
}

}  // namespace davit
