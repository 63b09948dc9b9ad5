#include "providers/kit/worker_pool.h"

#include <thread>

namespace davit::kit {

WorkerPool::~WorkerPool() {
  std::unique_lock<std::mutex> lock(mutex_);
  is_closing_ = true;
  has_work_.notify_all();
  has_changed_.wait(lock, [this] { return threads_ == 0; });
}

void WorkerPool::Submit(std::function<void()> work) {
  const std::lock_guard<std::mutex> lock(mutex_);
  waiting_.push_back(std::move(work));
  if (static_cast<int>(waiting_.size()) > idle_ && threads_ < kMaxThreads) {
    // Detached: the destructor waits for the count to reach zero instead.
    std::thread([this] { Run(); }).detach();
    ++threads_;
  } else {
    has_work_.notify_one();
  }
}

bool WorkerPool::WaitIdle(std::chrono::nanoseconds limit) {
  std::unique_lock<std::mutex> lock(mutex_);
  return has_changed_.wait_for(
      lock, limit, [this] { return waiting_.empty() && idle_ == threads_; });
}

void WorkerPool::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    if (waiting_.empty()) {
      ++idle_;
      has_changed_.notify_all();
      has_work_.wait(lock, [this] { return is_closing_ || !waiting_.empty(); });
      --idle_;
      if (waiting_.empty()) {
        break;
      }
    }
    const std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
  --threads_;
  // Still under the lock: after it is released the pool may be gone.
  has_changed_.notify_all();
}

}  // namespace davit::kit
