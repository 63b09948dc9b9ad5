#pragma once
// Transforms and hooks of programs as functions that the engine can call (P104, P105). Engine thread.

#include <functional>
#include <memory>

#include "engine/callbacks.h"
#include "engine/source.h"
#include "host/client/callbacks_client.h"
#include "pulumirpc/callback.pb.h"

namespace davit {

/// Shared by everything that calls back; fails once it is closed.
using SharedCallbacks = std::shared_ptr<CallbacksClient>;

Transform MakeTransform(SharedCallbacks callbacks, const pulumirpc::Callback& callback);
InvokeTransform MakeInvokeTransform(SharedCallbacks callbacks, const pulumirpc::Callback& callback);
std::function<Task<Result<HookAnswer>>(HookRequest)> MakeHook(SharedCallbacks callbacks,
                                                              const pulumirpc::Callback& callback,
                                                              bool is_error_hook);

}  // namespace davit
