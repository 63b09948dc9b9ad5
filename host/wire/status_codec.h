#pragma once
// Statuses of calls to Errors, and the details that peers attach (P75-P77). Any thread.

#include <google/protobuf/message.h>

#include <string_view>

#include "engine/base/error.h"
#include "host/wire/rpc_status.h"

namespace davit {

/// Whether an ambiguous code of this call means that the remote state is not known (P76).
enum class Ambiguity { kNone, kOutcomeUnknown };

/// The error of a failed call: message, `: <cause>` of an ErrorCause, one line per entry of an
/// InputPropertiesError and one advice per key of a ConfigureErrorMissingKeys.
Error ErrorFromStatus(const RpcStatus& status, Ambiguity ambiguity);

/// Finds the detail whose type is `detail`'s (the name after the last `/` counts) and parses it.
bool FindDetail(const RpcStatus& status, google::protobuf::Message* detail);

/// Packs a detail into a status, as peers do.
void AddDetail(const google::protobuf::Message& detail, RpcStatus* status);

}  // namespace davit
