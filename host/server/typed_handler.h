#pragma once
// Handlers that see messages instead of bytes; included by the servers alone. Engine thread.

#include <google/protobuf/message.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/server/rpc_server.h"
#include "host/wire/message_io.h"
#include "host/wire/rpc_trace.h"

namespace davit {

/// Who watches the calls of a server (P122); `trace` may be null.
struct ServerTrace {
  const Loop* loop = nullptr;
  RpcTrace* trace = nullptr;
};

inline RpcStatus Refuse(RpcCode code, std::string message) {
  return RpcStatus{.code = code, .message = std::move(message), .details = {}};
}

/// Fills the response; the arguments outlive the task.
template <typename Request, typename Response>
using TypedBody = std::function<Task<RpcStatus>(const Request&, Response*, const ServerCall&)>;

template <typename Request, typename Response>
Task<RawReply> RunTyped(std::shared_ptr<const TypedBody<Request, Response>> body,
                        std::shared_ptr<const std::string> method,
                        ServerTrace watcher,
                        ServerCall call) {
  RawReply reply;
  Request request;
  Response response;
  if (!ParseMessage(call.request, &request)) {
    reply.status =
        Refuse(RpcCode::kInternal, "the request cannot be read: it is damaged, or nested too deep");
    co_return reply;
  }
  const std::vector<std::pair<std::string, std::string>> metadata = {{"mode", "server"}};
  RpcRecord record;
  Loop::Clock::time_point start;
  if (watcher.trace != nullptr) {
    start = watcher.loop->Now();
    record.method = *method;
    record.request = &request;
    record.metadata = &metadata;
    record.progress = "request_started";
    watcher.trace->Write(record);
  }
  reply.status = co_await (*body)(request, &response, call);
  if (watcher.trace != nullptr) {
    record.progress = "response_completed";
    record.response = reply.status.ok() ? &response : nullptr;
    record.status = &reply.status;
    record.duration = watcher.loop->Now() - start;
    watcher.trace->Write(record);
  }
  if (reply.status.ok()) {
    reply.bytes = SerializeMessage(response);
  }
  co_return reply;
}

/// Makes `object`'s member the handler of `service`.`method`. The server lets go of the object when
/// it is closed; calls that still run then keep it.
template <typename Request, typename Response, typename Object>
void HandleWith(RpcServer& server,
                const std::string& service,
                const std::string& method,
                ServerTrace watcher,
                std::shared_ptr<Object> object,
                Task<RpcStatus> (Object::*member)(const Request&, Response*, const ServerCall&)) {
  auto body = std::make_shared<const TypedBody<Request, Response>>(
      [object, member](const Request& request, Response* response, const ServerCall& call) {
        return (object.get()->*member)(request, response, call);
      });
  auto path = std::make_shared<const std::string>("/" + service + "/" + method);
  server.Handle(service, method, [body, path, watcher](ServerCall call) {
    return RunTyped<Request, Response>(body, path, watcher, std::move(call));
  });
}

}  // namespace davit
