#include "host/loop/work_pool.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace davit {

struct WorkPool::Impl {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> queue;
  bool is_closing = false;
  std::vector<std::thread> threads;

  void Serve() {
    while (true) {
      std::function<void()> work;
      {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [this] { return is_closing || !queue.empty(); });
        if (queue.empty()) {
          return;
        }
        work = std::move(queue.front());
        queue.pop_front();
      }
      work();
    }
  }
};

WorkPool::WorkPool() : impl_(std::make_unique<Impl>()) {
  for (int count = 0; count < 2; ++count) {
    impl_->threads.emplace_back([impl = impl_.get()] { impl->Serve(); });
  }
}

WorkPool::~WorkPool() {
  {
    const std::lock_guard<std::mutex> lock(impl_->mutex);
    impl_->is_closing = true;
  }
  impl_->changed.notify_all();
  for (std::thread& thread : impl_->threads) {
    thread.join();
  }
}

void WorkPool::Run(std::function<void()> work) {
  {
    const std::lock_guard<std::mutex> lock(impl_->mutex);
    impl_->queue.push_back(std::move(work));
  }
  impl_->changed.notify_one();
}

}  // namespace davit
