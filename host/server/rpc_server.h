#pragma once
// A gRPC server on 127.0.0.1 whose calls are answered by coroutines on the engine thread: bytes in,
// bytes out. gRPC itself is seen by rpc_server.cc alone. Health is served for every service (P37).

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "engine/base/cancel.h"
#include "engine/base/result.h"
#include "engine/base/task.h"
#include "host/loop/work_pool.h"
#include "host/wire/raw_call.h"

namespace davit {

struct ServerCall {
  std::string request;
  std::map<std::string, std::string> metadata;  ///< of the caller, with lower-case keys
  CancelToken cancel;                           ///< the caller gave up, or the server closes
};

class RpcServer {
 public:
  /// May throw: the call then fails as Internal.
  using Handler = std::function<Task<RawReply>(ServerCall)>;

  /// `closing` is the status of calls that are open when the server closes, and of later ones.
  RpcServer(Loop& loop, WorkPool& pool, RpcStatus closing);
  /// Close must have completed, if Start succeeded.
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  /// Before Start. `service` is a full name known to the linked protocols; its unary methods
  /// without a handler, and its streaming ones, answer Unimplemented.
  void Handle(const std::string& service, const std::string& method, Handler handler);
  /// Listens on a free port of 127.0.0.1.
  Result<void> Start();
  /// `127.0.0.1:port`, after Start.
  const std::string& address() const;
  /// Finishes open calls, stops listening and waits until gRPC is done. May be called twice.
  Task<void> Close();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace davit
