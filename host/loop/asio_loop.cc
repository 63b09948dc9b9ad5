#include "host/loop/asio_loop.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <memory>

#include "host/loop/asio_loop_impl.h"

namespace davit {

namespace asio = boost::asio;

AsioLoop::AsioLoop() : impl_(std::make_unique<Impl>()) {}
AsioLoop::~AsioLoop() = default;

void AsioLoop::Run() {
  const asio::executor_work_guard<asio::io_context::executor_type> guard(impl_->io.get_executor());
  impl_->io.restart();
  impl_->io.run();
}

void AsioLoop::Stop() {
  impl_->io.stop();
}

// One drain runs what was ready when it began, so that posted work, timers and files get their turn
// in between.
void AsioLoop::Impl::Drain() {
  const std::size_t count = ready.size();
  for (std::size_t done = 0; done < count; ++done) {
    const std::coroutine_handle<> handle = ready.front();
    ready.pop_front();
    handle.resume();
  }
  if (ready.empty()) {
    is_draining = false;
    return;
  }
  asio::post(io, [this] { Drain(); });
}

void AsioLoop::Ready(std::coroutine_handle<> handle) {
  impl_->ready.push_back(handle);
  if (!impl_->is_draining) {
    impl_->is_draining = true;
    asio::post(impl_->io, [this] { impl_->Drain(); });
  }
}

void AsioLoop::Post(std::function<void()> work) {
  asio::post(impl_->io, std::move(work));
}

void AsioLoop::After(std::chrono::nanoseconds delay, std::function<void()> work) {
  auto timer = std::make_shared<asio::steady_timer>(impl_->io, delay);
  timer->async_wait([timer, work = std::move(work)](const boost::system::error_code& error) {
    if (!error) {
      work();
    }
  });
}

Loop::Clock::time_point AsioLoop::Now() const {
  return Clock::now();
}

std::chrono::system_clock::time_point AsioLoop::WallNow() const {
  return std::chrono::system_clock::now();
}

void AsioLoop::Impl::WaitForSignal() {
  signals.async_wait([this](const boost::system::error_code& error, int number) {
    if (error || !on_signal) {
      return;
    }
    WaitForSignal();
    const std::function<void(int)> handler = on_signal;  // the handler may replace itself
    handler(number);
  });
}

void AsioLoop::OnSignal(std::function<void(int)> handler) {
  const bool was_on = static_cast<bool>(impl_->on_signal);
  impl_->on_signal = std::move(handler);
  if (!impl_->on_signal) {
    impl_->signals.clear();
    impl_->signals.cancel();
    return;
  }
  if (!was_on) {
    impl_->signals.add(SIGINT);
    impl_->signals.add(SIGTERM);
    impl_->WaitForSignal();
  }
}

}  // namespace davit
