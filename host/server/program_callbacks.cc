#include "host/server/program_callbacks.h"

#include "host/server/callback_codec.h"

namespace davit {
namespace {

// Coroutines with parameters of their own; what is handed out binds them (style 2.9).
Task<Result<Goal>> CallTransform(SharedCallbacks callbacks,
                                 pulumirpc::Callback callback,
                                 Goal goal) {
  DAVIT_CO_TRY(std::string request, EncodeTransformRequest(goal, callback.accepts_byte_string()));
  DAVIT_CO_TRY(
      const std::string answer,
      co_await callbacks->Invoke(callback.target(), callback.token(), std::move(request)));
  co_return ApplyTransformResponse(answer, std::move(goal));
}

Task<Result<InvokeGoal>> CallInvokeTransform(SharedCallbacks callbacks,
                                             pulumirpc::Callback callback,
                                             InvokeGoal goal) {
  DAVIT_CO_TRY(std::string request,
               EncodeTransformInvokeRequest(goal, callback.accepts_byte_string()));
  DAVIT_CO_TRY(
      const std::string answer,
      co_await callbacks->Invoke(callback.target(), callback.token(), std::move(request)));
  co_return ApplyTransformInvokeResponse(answer, std::move(goal));
}

Task<Result<HookAnswer>> CallHook(SharedCallbacks callbacks,
                                  pulumirpc::Callback callback,
                                  bool is_error_hook,
                                  HookRequest request) {
  DAVIT_CO_TRY(std::string bytes,
               EncodeHookRequest(request, is_error_hook, callback.accepts_byte_string()));
  DAVIT_CO_TRY(const std::string answer,
               co_await callbacks->Invoke(callback.target(), callback.token(), std::move(bytes)));
  co_return DecodeHookResponse(answer, is_error_hook);
}

}  // namespace

Transform MakeTransform(SharedCallbacks callbacks, const pulumirpc::Callback& callback) {
  return [callbacks, callback](Goal goal) {
    return CallTransform(callbacks, callback, std::move(goal));
  };
}

InvokeTransform MakeInvokeTransform(SharedCallbacks callbacks,
                                    const pulumirpc::Callback& callback) {
  return [callbacks, callback](InvokeGoal goal) {
    return CallInvokeTransform(callbacks, callback, std::move(goal));
  };
}

std::function<Task<Result<HookAnswer>>(HookRequest)> MakeHook(SharedCallbacks callbacks,
                                                              const pulumirpc::Callback& callback,
                                                              bool is_error_hook) {
  return [callbacks, callback, is_error_hook](HookRequest request) {
    return CallHook(callbacks, callback, is_error_hook, std::move(request));
  };
}

}  // namespace davit
