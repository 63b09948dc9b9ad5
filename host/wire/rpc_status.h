#pragma once
// The outcome of one call, as both ends of the wire see it. Plain data without gRPC types.

#include <string>

namespace davit {

/// The status codes of gRPC.
enum class RpcCode {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

struct RpcStatus {
  RpcCode code = RpcCode::kOk;
  std::string message;
  std::string details;  ///< a serialised google.rpc.Status, from the trailer
                        ///< `grpc-status-details-bin` (P77)
  bool ok() const { return code == RpcCode::kOk; }
};

}  // namespace davit
