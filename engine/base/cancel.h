#pragma once
// Cancellation: a source that says stop once, and tokens that waits take. Engine thread only.

#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace davit {

namespace cancel_detail {
struct State {
  bool cancelled = false;
  int next = 0;
  std::map<int, std::function<void()>> callbacks;
};
}  // namespace cancel_detail

/// Keeps a callback registered for as long as it lives.
class CancelRegistration {
 public:
  CancelRegistration() = default;
  CancelRegistration(std::shared_ptr<cancel_detail::State> state, int key)
      : state_(std::move(state)), key_(key) {}
  CancelRegistration(CancelRegistration&& other) noexcept = default;
  CancelRegistration& operator=(CancelRegistration&& other) noexcept {
    std::swap(state_, other.state_);
    std::swap(key_, other.key_);
    return *this;
  }
  ~CancelRegistration() {
    if (state_) {
      state_->callbacks.erase(key_);
    }
  }

 private:
  std::shared_ptr<cancel_detail::State> state_;
  int key_ = 0;
};

/// What a wait is given. A default token is never cancelled.
class CancelToken {
 public:
  CancelToken() = default;
  explicit CancelToken(std::shared_ptr<cancel_detail::State> state) : state_(std::move(state)) {}
  bool is_cancelled() const { return state_ && state_->cancelled; }
  /// Calls `callback` once when cancelled (at once when it is already), unless the registration
  /// dies before.
  [[nodiscard]] CancelRegistration OnCancel(std::function<void()> callback) const {
    if (!state_) {
      return {};
    }
    if (state_->cancelled) {
      callback();
      return {};
    }
    const int key = state_->next++;
    state_->callbacks.emplace(key, std::move(callback));
    return {state_, key};
  }

 private:
  std::shared_ptr<cancel_detail::State> state_;
};

class CancelSource {
 public:
  CancelToken token() const { return CancelToken(state_); }
  bool is_cancelled() const { return state_->cancelled; }
  /// Cancels all tokens; the second time nothing happens.
  void Cancel() {
    if (std::exchange(state_->cancelled, true)) {
      return;
    }
    std::map<int, std::function<void()>> callbacks = std::exchange(state_->callbacks, {});
    for (auto& [key, callback] : callbacks) {
      callback();
    }
  }

 private:
  std::shared_ptr<cancel_detail::State> state_ = std::make_shared<cancel_detail::State>();
};

}  // namespace davit
