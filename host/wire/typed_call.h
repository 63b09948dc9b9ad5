#pragma once
// A call with messages instead of bytes, seen by the trace (style 2.10). Engine thread.

#include <google/protobuf/message.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/cancel.h"
#include "engine/base/task.h"
#include "host/wire/raw_call.h"
#include "host/wire/rpc_trace.h"

namespace davit {

/// A server and who watches the calls to it. All of it outlives the calls.
struct RpcPeer {
  Loop* loop = nullptr;
  RawChannel* channel = nullptr;
  RpcTrace* trace = nullptr;  ///< may be null
  const std::vector<std::pair<std::string, std::string>>* trace_metadata = nullptr;
};

struct CallOptions {
  std::string method;
  std::optional<std::chrono::nanoseconds> deadline;
  bool wait_for_connection = false;
  const HiddenTexts* secrets = nullptr;  ///< hidden in the trace; outlives the call
};

/// The reply of a server that cannot be parsed has this code, like a broken stream.
inline constexpr RpcCode kUnreadableReply = RpcCode::kInternal;

/// `request` and `response` outlive the call; `response` is filled when the status is ok.
Task<RpcStatus> CallUnary(RpcPeer peer,
                          CallOptions options,
                          const google::protobuf::Message& request,
                          google::protobuf::Message* response,
                          CancelToken cancel);

/// `message` is refilled for each answer before `on_message`, which says whether it wants more.
Task<RpcStatus> CallStreaming(RpcPeer peer,
                              CallOptions options,
                              const google::protobuf::Message& request,
                              google::protobuf::Message* message,
                              std::function<bool()> on_message,
                              CancelToken cancel);

}  // namespace davit
