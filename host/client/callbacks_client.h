#pragma once
// pulumirpc.Callbacks of programs and plugins: one connection per target (P104). Engine thread.

#include <map>
#include <memory>
#include <string>

#include "engine/base/cancel.h"
#include "engine/base/loop.h"
#include "engine/base/result.h"
#include "engine/base/task.h"

namespace davit {

class RawChannel;

class CallbacksClient {
 public:
  explicit CallbacksClient(Loop& loop) : loop_(loop) {}
  ~CallbacksClient();

  /// Calls the function behind `token` with the bytes of a request; gives those of its answer. The
  /// payload is not traced: it may hold secrets.
  Task<Result<std::string>> Invoke(std::string target, std::string token, std::string request);
  /// Ends what is open; later calls fail. Must be awaited before destruction.
  Task<void> Close();

 private:
  Loop& loop_;
  bool is_closed_ = false;
  std::map<std::string, std::shared_ptr<RawChannel>> channels_;
};

}  // namespace davit
