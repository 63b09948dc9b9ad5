#pragma once
// What AsioLoop keeps; included by the few .cc files that wait for file descriptors.

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <deque>

#include "host/loop/asio_loop.h"

namespace davit {

struct AsioLoop::Impl {
  boost::asio::io_context io{1};
  boost::asio::signal_set signals{io};
  std::function<void(int)> on_signal;
  std::deque<std::coroutine_handle<>> ready;
  bool is_draining = false;  ///< a drain of `ready` is queued or runs

  void WaitForSignal();
  void Drain();
};

}  // namespace davit
