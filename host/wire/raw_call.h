#pragma once
// One call over one connection: bytes in, bytes out (style 2.9). gRPC itself is seen by raw_call.cc
// alone. Engine thread; completions arrive through the loop, and what a call needs outlives it
// whatever the caller does.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/base/cancel.h"
#include "engine/base/task.h"
#include "host/wire/rpc_status.h"

namespace davit {

struct RawRequest {
  std::string method;  ///< `/package.Service/Method`
  std::string bytes;
  std::optional<std::chrono::nanoseconds> deadline;  ///< from now
  /// Waits for the connection instead of failing while there is none; needs a deadline.
  bool wait_for_connection = false;
};
struct RawReply {
  RpcStatus status;
  std::string bytes;
};

/// A plaintext connection to a server on this machine. Limits and options as P30 says.
class RawChannel {
 public:
  /// `target` is `host:port`. The connection is made by the first call.
  RawChannel(Loop& loop, const std::string& target);
  /// Open calls are cancelled; their completions still come through the loop, which must outlive
  /// them (await Close).
  ~RawChannel();
  RawChannel(const RawChannel&) = delete;
  RawChannel& operator=(const RawChannel&) = delete;

  /// One unary call. Cancelling asks the server to stop and still waits for the end of the call.
  Task<RawReply> Call(RawRequest request, CancelToken cancel);
  /// One call with a stream of answers; `on_message` gets each on the engine thread and says
  /// whether it wants more (no cancels the call).
  Task<RpcStatus> CallStreaming(RawRequest request,
                                std::function<bool(std::string)> on_message,
                                CancelToken cancel);
  /// Cancels what is open and waits for it; later calls fail as cancelled.
  Task<void> Close();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace davit
