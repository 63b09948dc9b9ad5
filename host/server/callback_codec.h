#pragma once
// What callbacks are sent and answer (P104, P105): registrations, invokes and records to messages and
// back. Pure.

#include <string>

#include "engine/callbacks.h"
#include "engine/source.h"

namespace davit {

/// Bytes of a TransformRequest.
Result<std::string> EncodeTransformRequest(const Goal& goal, bool keep_byte_strings);
/// The goal with what the answer changes; absent properties or options change nothing. Parent, type
/// and name stay.
Result<Goal> ApplyTransformResponse(const std::string& bytes, Goal goal);

Result<std::string> EncodeTransformInvokeRequest(const InvokeGoal& goal, bool keep_byte_strings);
Result<InvokeGoal> ApplyTransformInvokeResponse(const std::string& bytes, InvokeGoal goal);

/// Bytes of a ResourceHookRequest, or of an ErrorHookRequest.
Result<std::string> EncodeHookRequest(const HookRequest& request,
                                      bool is_error_hook,
                                      bool keep_byte_strings);
Result<HookAnswer> DecodeHookResponse(const std::string& bytes, bool is_error_hook);

}  // namespace davit
