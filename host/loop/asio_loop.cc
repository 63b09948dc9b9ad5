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
  impl_->is_stopped = false;
  impl_->io.restart();
  impl_->io.run();
}

void AsioLoop::Stop() {
  impl_->is_stopped = true;
  impl_->io.stop();
}

// Each return to Asio costs a system call, so a turn runs more than one piece of work; it ends in
// between, so that timers, signals and files have their turn too.
void AsioLoop::Impl::RunSome() {
  constexpr int kMostPerTurn = 64;
  int left = kMostPerTurn;
  while (left > 0 && !is_stopped) {
    if (work.empty()) {
      const std::lock_guard<std::mutex> lock(mutex);
      work.swap(posted);
    }
    if (work.empty() && ready.empty()) {
      return;
    }
    for (std::size_t count = work.size(); count > 0 && left > 0 && !is_stopped; --count, --left) {
      const std::function<void()> next = std::move(work.front());
      work.pop_front();
      next();
    }
    for (std::size_t count = ready.size(); count > 0 && left > 0 && !is_stopped; --count, --left) {
      const std::coroutine_handle<> handle = ready.front();
      ready.pop_front();
      handle.resume();
    }
  }
}

void AsioLoop::Impl::Turn() {
  in_turn = true;
  RunSome();
  in_turn = false;
  const std::lock_guard<std::mutex> lock(mutex);
  is_scheduled = !work.empty() || !ready.empty() || !posted.empty();
  if (is_scheduled) {
    asio::post(io, [this] { Turn(); });
  }
}

// The mutex is held.
void AsioLoop::Impl::Schedule() {
  if (!is_scheduled) {
    is_scheduled = true;
    asio::post(io, [this] { Turn(); });
  }
}

void AsioLoop::Ready(std::coroutine_handle<> handle) {
  impl_->ready.push_back(handle);
  if (!impl_->in_turn) {
    const std::lock_guard<std::mutex> lock(impl_->mutex);
    impl_->Schedule();
  }
}

void AsioLoop::Post(std::function<void()> work) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->posted.push_back(std::move(work));
  impl_->Schedule();
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
