#pragma once
// Bytes and statuses between gRPC's types and ours; for raw_call.cc and rpc_server.cc.

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <grpcpp/support/status.h>

#include <string>
#include <utility>
#include <vector>

#include "host/wire/rpc_status.h"

namespace davit {

/// A buffer that owns the text; nothing is copied.
inline grpc::ByteBuffer ToByteBuffer(std::string bytes) {
  auto* owned = new std::string(std::move(bytes));
  const grpc::Slice slice(
      owned->data(),
      owned->size(),
      [](void* text) { delete static_cast<std::string*>(text); },
      owned);
  return grpc::ByteBuffer(&slice, 1);
}

/// The bytes of a buffer, which becomes empty.
inline std::string TakeBytes(grpc::ByteBuffer* buffer) {
  std::string bytes;
  std::vector<grpc::Slice> slices;
  if (buffer->Valid() && buffer->Dump(&slices).ok()) {
    bytes.reserve(buffer->Length());
    for (const grpc::Slice& slice : slices) {
      bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    }
  }
  buffer->Clear();
  return bytes;
}

inline RpcStatus ToRpcStatus(const grpc::Status& status) {
  return RpcStatus{.code = static_cast<RpcCode>(status.error_code()),
                   .message = status.error_message(),
                   .details = status.error_details()};
}

inline grpc::Status ToGrpcStatus(const RpcStatus& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code), status.message, status.details);
}

}  // namespace davit
