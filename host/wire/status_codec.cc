#include "host/wire/status_codec.h"

#include <fmt/format.h>
#include <google/protobuf/any.pb.h>

#include "google_rpc/status.pb.h"
#include "host/wire/message_io.h"
#include "pulumirpc/errors.pb.h"
#include "pulumirpc/provider.pb.h"

namespace davit {
namespace {

std::string_view AfterLastSlash(std::string_view text) {
  const std::size_t slash = text.rfind('/');
  return slash == std::string_view::npos ? text : text.substr(slash + 1);
}

ErrorKind KindOf(RpcCode code, Ambiguity ambiguity) {
  switch (code) {
    case RpcCode::kUnimplemented:
      return ErrorKind::kUnimplemented;
    case RpcCode::kUnavailable:
      return ErrorKind::kUnavailable;
    case RpcCode::kCancelled:
      return ErrorKind::kCancelled;
    case RpcCode::kInternal:
    case RpcCode::kDataLoss:
    case RpcCode::kUnknown:
      return ambiguity == Ambiguity::kOutcomeUnknown ? ErrorKind::kOutcomeUnknown
                                                     : ErrorKind::kFailed;
    case RpcCode::kOk:
    case RpcCode::kInvalidArgument:
    case RpcCode::kDeadlineExceeded:
    case RpcCode::kNotFound:
    case RpcCode::kAlreadyExists:
    case RpcCode::kPermissionDenied:
    case RpcCode::kResourceExhausted:
    case RpcCode::kFailedPrecondition:
    case RpcCode::kAborted:
    case RpcCode::kOutOfRange:
    case RpcCode::kUnauthenticated:
      break;
  }
  return ErrorKind::kFailed;
}

}  // namespace

bool FindDetail(const RpcStatus& status, google::protobuf::Message* detail) {
  if (status.details.empty()) {
    return false;
  }
  google::rpc::Status rich;
  if (!ParseMessage(status.details, &rich)) {
    return false;
  }
  for (const google::protobuf::Any& any : rich.details()) {
    if (AfterLastSlash(any.type_url()) == detail->GetDescriptor()->full_name()) {
      return ParseMessage(any.value(), detail);
    }
  }
  return false;
}

void AddDetail(const google::protobuf::Message& detail, RpcStatus* status) {
  google::rpc::Status rich;
  if (status->details.empty() || !ParseMessage(status->details, &rich)) {
    rich.Clear();
    rich.set_code(static_cast<int>(status->code));
    rich.set_message(status->message);
  }
  google::protobuf::Any* any = rich.add_details();
  any->set_type_url("type.googleapis.com/" + detail.GetDescriptor()->full_name());
  any->set_value(SerializeMessage(detail));
  status->details = SerializeMessage(rich);
}

Error ErrorFromStatus(const RpcStatus& status, Ambiguity ambiguity) {
  std::string message = status.message;
  if (message.empty()) {
    message = fmt::format("the plugin gave no reason, only the gRPC status {}",
                          static_cast<int>(status.code));
  }
  pulumirpc::ErrorCause cause;
  if (FindDetail(status, &cause)) {
    message += ": " + cause.message();
  }
  pulumirpc::InputPropertiesError inputs;
  if (FindDetail(status, &inputs)) {
    for (const pulumirpc::InputPropertiesError::PropertyError& entry : inputs.errors()) {
      message += fmt::format("\n  {}: {}", entry.property_path(), entry.reason());
    }
  }
  Error error = MakeError(KindOf(status.code, ambiguity), std::move(message));
  pulumirpc::ConfigureErrorMissingKeys missing;
  if (FindDetail(status, &missing) && missing.missingkeys_size() > 0) {  // P52
    error.message = "the provider lacks required configuration:";
    for (const pulumirpc::ConfigureErrorMissingKeys::MissingKey& key : missing.missingkeys()) {
      error.message += fmt::format("\n  '{}': {}", key.name(), key.description());
      error.advice += fmt::format("{}set it with `davit config set {} <value>`",
                                  error.advice.empty() ? "" : "\n",
                                  key.name());
    }
  }
  return error;
}

}  // namespace davit
