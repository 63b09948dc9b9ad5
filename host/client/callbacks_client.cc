#include "host/client/callbacks_client.h"

#include <fmt/format.h>

#include "host/wire/status_codec.h"
#include "host/wire/typed_call.h"
#include "pulumirpc/callback.pb.h"

namespace davit {

CallbacksClient::~CallbacksClient() = default;

Task<Result<std::string>> CallbacksClient::Invoke(std::string target,
                                                  std::string token,
                                                  std::string request) {
  if (is_closed_) {
    co_return Fail(ErrorKind::kCancelled, "the run has ended; callbacks are no longer made");
  }
  std::shared_ptr<RawChannel>& slot = channels_[target];
  if (!slot) {
    slot = std::make_shared<RawChannel>(loop_, target);
  }
  const std::shared_ptr<RawChannel> channel = slot;
  pulumirpc::CallbackInvokeRequest message;
  message.set_token(token);
  message.set_request(std::move(request));
  pulumirpc::CallbackInvokeResponse response;
  RpcPeer peer;
  peer.loop = &loop_;
  peer.channel = channel.get();
  CallOptions call;
  call.method = "/pulumirpc.Callbacks/Invoke";
  const RpcStatus status =
      co_await CallUnary(peer, std::move(call), message, &response, CancelToken());
  if (!status.ok()) {
    co_return Fail(ErrorFromStatus(status, Ambiguity::kNone));
  }
  co_return std::move(*response.mutable_response());
}

Task<void> CallbacksClient::Close() {
  is_closed_ = true;
  for (auto& [target, channel] : channels_) {
    co_await channel->Close();
  }
}

}  // namespace davit
