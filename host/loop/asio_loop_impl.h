#pragma once
// What AsioLoop keeps; included by the few .cc files that wait for file descriptors.

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <deque>
#include <mutex>

#include "host/loop/asio_loop.h"

namespace davit {

struct AsioLoop::Impl {
  boost::asio::io_context io{1};
  boost::asio::signal_set signals{io};
  std::function<void(int)> on_signal;
  std::deque<std::coroutine_handle<>> ready;
  std::deque<std::function<void()>> work;  ///< taken from `posted`, in its turn
  bool in_turn = false;

  std::mutex mutex;
  std::deque<std::function<void()>> posted;  ///< by any thread; under the mutex
  bool is_scheduled = false;                 ///< a turn is queued or runs; under the mutex
  std::atomic<bool> is_stopped = false;

  void WaitForSignal();
  void Schedule();
  void Turn();
  void RunSome();
};

}  // namespace davit
