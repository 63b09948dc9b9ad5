// AsioLoop, WorkPool and SeededLoop: the contract of engine/base/loop.h.

#include <csignal>
#include <thread>

#include "engine/base/waiting.h"
#include "tests/host/host_fixture.h"
#include "tests/support/seeded_loop.h"

namespace davit::testing {
namespace {

Task<void> Note(std::vector<int>& order, int number, int rounds) {
  Loop& loop = co_await CurrentLoop{};
  for (int round = 0; round < rounds; ++round) {
    order.push_back(number);
    Gate gate;
    loop.Post([&gate] { gate.Open(); });
    co_await gate.Wait();
  }
}

TEST_CASE("AsioLoop runs ready tasks in turn and in order") {
  AsioLoop loop;
  std::vector<int> order;
  Scope scope(loop);
  for (int number = 0; number < 3; ++number) {
    scope.Spawn(Note(order, number, 2));
  }
  Await(loop, scope.Join());
  REQUIRE(order == std::vector<int>{0, 1, 2, 0, 1, 2});
}

Task<int> SpinUntil(const bool& stop) {
  Loop& loop = co_await CurrentLoop{};
  int rounds = 0;
  while (!stop) {
    Completion<int> ready;
    loop.Post([&ready] { ready.Set(1); });
    rounds += co_await ready.Wait();
  }
  co_return rounds;
}

TEST_CASE("AsioLoop lets timers run while tasks are always ready") {
  AsioLoop loop;
  bool stop = false;
  loop.After(std::chrono::milliseconds(5), [&stop] { stop = true; });
  REQUIRE(Await(loop, SpinUntil(stop)) > 0);
}

TEST_CASE("AsioLoop runs timers by their time, and may run again after Stop") {
  AsioLoop loop;
  std::string order;
  loop.After(std::chrono::milliseconds(20), [&] {
    order += "late";
    loop.Stop();
  });
  loop.After(std::chrono::milliseconds(1), [&] {
    order += "early ";
    loop.Stop();
  });
  loop.Run();
  REQUIRE(order == "early ");
  loop.Run();
  REQUIRE(order == "early late");
}

TEST_CASE("AsioLoop takes work from other threads") {
  AsioLoop loop;
  std::thread::id ran_on;
  RunBeside(loop, [&] { loop.Post([&] { ran_on = std::this_thread::get_id(); }); });
  REQUIRE(ran_on == std::this_thread::get_id());
}

TEST_CASE("AsioLoop reports signals each time, until the handler is taken away") {
  AsioLoop loop;
  std::vector<int> signals;
  loop.OnSignal([&](int number) {
    signals.push_back(number);
    if (signals.size() == 2) {
      loop.Stop();
      return;
    }
    ::raise(SIGTERM);
  });
  loop.Post([] { ::raise(SIGINT); });
  loop.Run();
  REQUIRE(signals == std::vector<int>{SIGINT, SIGTERM});
  loop.OnSignal({});
}

TEST_CASE("WorkPool gives results and exceptions back to the engine thread") {
  AsioLoop loop;
  WorkPool pool;
  const std::thread::id here = std::this_thread::get_id();
  REQUIRE(
      Await(loop, RunOn<bool>(pool, loop, [here] { return std::this_thread::get_id() != here; })));
  REQUIRE_THROWS_AS(
      Await(loop, RunOn<int>(pool, loop, []() -> int { throw std::runtime_error("no"); })),
      std::runtime_error);
}

TEST_CASE(
    "SeededLoop: seed 0 keeps the order, other seeds permute it, each the same way every time") {
  const auto run = [](std::uint64_t seed) {
    SeededLoop loop(seed);
    std::vector<int> order;
    for (int number = 0; number < 8; ++number) {
      loop.Post([&order, number] { order.push_back(number); });
    }
    loop.RunUntilIdle();
    return order;
  };
  REQUIRE(run(0) == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  REQUIRE(run(7) == run(7));
  bool is_permuted = false;
  for (std::uint64_t seed = 1; seed < 5; ++seed) {
    is_permuted = is_permuted || run(seed) != run(0);
  }
  REQUIRE(is_permuted);
}

TEST_CASE("SeededLoop: time passes only when nothing is ready") {
  SeededLoop loop;
  std::string order;
  loop.After(std::chrono::hours(2), [&] { order += "c"; });
  loop.After(std::chrono::hours(1), [&] {
    order += "b";
    loop.Post([&] { order += "!"; });
  });
  loop.Post([&] { order += "a"; });
  const Loop::Clock::time_point start = loop.Now();
  loop.RunUntilIdle();
  REQUIRE(order == "ab!c");
  REQUIRE(loop.Now() - start == std::chrono::hours(2));
}

}  // namespace
}  // namespace davit::testing
