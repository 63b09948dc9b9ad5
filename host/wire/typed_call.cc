#include "host/wire/typed_call.h"

#include <fmt/format.h>

#include "host/wire/message_io.h"

namespace davit {
namespace {

RpcStatus Unreadable(const std::string& method) {
  return RpcStatus{.code = kUnreadableReply,
                   .message = fmt::format(
                       "the reply to {} cannot be read: it is damaged, or nested too deep", method),
                   .details = {}};
}

}  // namespace

Task<RpcStatus> CallUnary(RpcPeer peer,
                          CallOptions options,
                          const google::protobuf::Message& request,
                          google::protobuf::Message* response,
                          CancelToken cancel) {
  const Loop::Clock::time_point start = peer.loop->Now();
  RpcRecord record;
  record.method = options.method;
  record.request = &request;
  record.metadata = peer.trace_metadata;
  record.secrets = options.secrets;
  if (peer.trace != nullptr) {
    record.progress = "request_started";
    peer.trace->Write(record);
  }
  RawRequest raw;
  raw.method = options.method;
  raw.bytes = SerializeMessage(request);
  raw.deadline = options.deadline;
  raw.wait_for_connection = options.wait_for_connection;
  RawReply reply = co_await peer.channel->Call(std::move(raw), std::move(cancel));
  if (reply.status.ok() && !ParseMessage(reply.bytes, response)) {
    reply.status = Unreadable(options.method);
  }
  if (peer.trace != nullptr) {
    record.progress = "response_completed";
    record.response = reply.status.ok() ? response : nullptr;
    record.status = &reply.status;
    record.duration = peer.loop->Now() - start;
    peer.trace->Write(record);
  }
  co_return std::move(reply.status);
}

Task<RpcStatus> CallStreaming(RpcPeer peer,
                              CallOptions options,
                              const google::protobuf::Message& request,
                              google::protobuf::Message* message,
                              std::function<bool()> on_message,
                              CancelToken cancel) {
  RpcRecord record;
  record.method = options.method;
  record.metadata = peer.trace_metadata;
  record.secrets = options.secrets;
  if (peer.trace != nullptr) {
    record.request = &request;
    peer.trace->Write(record);
    record.request = nullptr;
  }
  RawRequest raw;
  raw.method = options.method;
  raw.bytes = SerializeMessage(request);
  raw.deadline = options.deadline;
  raw.wait_for_connection = options.wait_for_connection;
  bool is_unreadable = false;
  bool has_stopped = false;
  std::function<bool(std::string)> take = [&](const std::string& bytes) {
    if (has_stopped) {
      return false;
    }
    if (!ParseMessage(bytes, message)) {
      is_unreadable = true;
      has_stopped = true;
      return false;
    }
    if (peer.trace != nullptr) {
      record.response = message;
      peer.trace->Write(record);
    }
    has_stopped = !on_message();
    return !has_stopped;
  };
  RpcStatus status =
      co_await peer.channel->CallStreaming(std::move(raw), std::move(take), std::move(cancel));
  if (is_unreadable) {
    status = Unreadable(options.method);
  } else if (has_stopped) {
    status = RpcStatus();  // ended because the caller had enough
  }
  if (peer.trace != nullptr && !status.ok()) {
    record.response = nullptr;
    record.status = &status;
    peer.trace->Write(record);
  }
  co_return status;
}

}  // namespace davit
