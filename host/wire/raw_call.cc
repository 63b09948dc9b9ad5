#include "host/wire/raw_call.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/channel_arguments.h>

#include <set>
#include <utility>
#include <vector>

#include "engine/base/waiting.h"
#include "host/wire/grpc_bytes.h"
#include "host/wire/message_io.h"

namespace davit {
namespace {

constexpr int kMaxMetadataBytes = 16 * 1024 * 1024;
constexpr int kWindowBytes = 8 * 1024 * 1024;

grpc::ChannelArguments Arguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt("grpc.enable_http_proxy", 0);  // `http_proxy` would capture 127.0.0.1
  // Error details travel in a trailer (P77).
  arguments.SetInt("grpc.max_metadata_size", kMaxMetadataBytes);
  arguments.SetInt("grpc.absolute_max_metadata_size", kMaxMetadataBytes);
  // Two plugins may get the same port one after the other: no connection or back-off state is
  // shared.
  arguments.SetInt("grpc.use_local_subchannel_pool", 1);
  // Measuring bandwidth costs a ping for each answer; a connection within the machine has enough.
  arguments.SetInt("grpc.http2.bdp_probe", 0);
  arguments.SetInt("grpc.http2.lookahead_bytes", kWindowBytes);
  arguments.SetInt("grpc.enable_channelz", 0);
  // A create must never be sent twice on its own account.
  arguments.SetInt("grpc.enable_retries", 0);
  // A plugin may print its port shortly before it listens (P29).
  arguments.SetInt("grpc.initial_reconnect_backoff_ms", 10);
  arguments.SetInt("grpc.max_reconnect_backoff_ms", 100);
  return arguments;
}

gpr_timespec After(std::chrono::nanoseconds delay) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_nanos(delay.count(), GPR_TIMESPAN));
}

void Prepare(grpc::ClientContext* context, const RawRequest& request) {
  if (request.deadline) {
    context->set_deadline(After(*request.deadline));
  }
  context->set_wait_for_ready(request.wait_for_connection);
}

// What a call in flight needs; alive until its completion has been handled.
struct OpenCall {
  virtual ~OpenCall() = default;
  grpc::ClientContext context;
  std::string method;
  Completion<RpcStatus> done;  ///< engine thread
};

struct UnaryCall final : OpenCall {
  grpc::ByteBuffer request;
  grpc::ByteBuffer response;
};

}  // namespace

struct RawChannel::Impl : std::enable_shared_from_this<RawChannel::Impl> {
  Impl(Loop& owner, const std::string& target)
      : loop(owner),
        stub(grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), Arguments())) {}

  Loop& loop;
  grpc::GenericStub stub;
  std::set<OpenCall*> open;
  bool is_closed = false;
  std::vector<std::shared_ptr<Gate>> waiting_for_none;

  void Finish(OpenCall& call, RpcStatus status) {
    open.erase(&call);
    call.done.Set(std::move(status));
    if (open.empty()) {
      for (const std::shared_ptr<Gate>& gate : std::exchange(waiting_for_none, {})) {
        gate->Open();
      }
    }
  }

  void CancelAll() {
    for (OpenCall* call : open) {
      call->context.TryCancel();
    }
  }
};

namespace {

// Reads a stream of answers one at a time: the next read begins when the engine thread has taken
// the last one.
template <typename Impl>
class StreamReader final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  struct StreamCall final : OpenCall {
    grpc::ByteBuffer request;
    grpc::ByteBuffer message;
    std::function<bool(std::string)> on_message;
  };

  StreamReader(std::shared_ptr<Impl> channel, std::shared_ptr<StreamCall> call)
      : channel_(std::move(channel)), call_(std::move(call)) {}

  void Begin() {
    AddHold();  // reads begin outside reactions
    StartWriteLast(&call_->request, grpc::WriteOptions());
    StartRead(&call_->message);
    StartCall();
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      RemoveHold();
      return;
    }
    channel_->loop.Post([this] {
      const bool wants_more = call_->on_message(TakeBytes(&call_->message));
      if (!wants_more) {
        call_->context.TryCancel();
      }
      StartRead(&call_->message);  // after a cancel it ends at once
    });
  }

  void OnDone(const grpc::Status& status) override {
    // Moved, not copied: the last reference to a channel must not die on a thread of gRPC, which
    // would wait for itself.
    Loop& loop = channel_->loop;
    loop.Post(
        [channel = std::move(channel_),
         call = std::move(call_),
         outcome = ToRpcStatus(status)]() mutable { channel->Finish(*call, std::move(outcome)); });
    delete this;
  }

 private:
  std::shared_ptr<Impl> channel_;
  std::shared_ptr<StreamCall> call_;
};

RpcStatus ClosedStatus() {
  return RpcStatus{
      .code = RpcCode::kCancelled, .message = "the connection is closed", .details = {}};
}

}  // namespace

RawChannel::RawChannel(Loop& loop, const std::string& target)
    : impl_(std::make_shared<Impl>(loop, target)) {}

RawChannel::~RawChannel() {
  impl_->is_closed = true;
  impl_->CancelAll();
}

Task<RawReply> RawChannel::Call(RawRequest request, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  RawReply reply;
  if (impl->is_closed) {
    reply.status = ClosedStatus();
    co_return reply;
  }
  auto call = std::make_shared<UnaryCall>();
  call->method = std::move(request.method);
  Prepare(&call->context, request);
  call->request = ToByteBuffer(std::move(request.bytes));
  impl->open.insert(call.get());
  const CancelRegistration registration =
      cancel.OnCancel([context = &call->context] { context->TryCancel(); });
  // Moved, not copied, as in StreamReader::OnDone; it is called once.
  std::function<void(grpc::Status)> completed = [held = impl,
                                                 call](const grpc::Status& status) mutable {
    Loop& loop = held->loop;
    loop.Post(
        [held = std::move(held), call = std::move(call), outcome = ToRpcStatus(status)]() mutable {
          held->Finish(*call, std::move(outcome));
        });
  };
  impl->stub.UnaryCall(&call->context,
                       call->method,
                       grpc::StubOptions(),
                       &call->request,
                       &call->response,
                       std::move(completed));
  RpcStatus& status = co_await call->done.Wait();
  reply.status = std::move(status);
  reply.bytes = TakeBytes(&call->response);
  co_return reply;
}

Task<RpcStatus> RawChannel::CallStreaming(RawRequest request,
                                          std::function<bool(std::string)> on_message,
                                          CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  if (impl->is_closed) {
    co_return ClosedStatus();
  }
  using Reader = StreamReader<Impl>;
  auto call = std::make_shared<Reader::StreamCall>();
  call->method = std::move(request.method);
  Prepare(&call->context, request);
  call->request = ToByteBuffer(std::move(request.bytes));
  call->on_message = std::move(on_message);
  impl->open.insert(call.get());
  const CancelRegistration registration =
      cancel.OnCancel([context = &call->context] { context->TryCancel(); });
  auto* reader = new Reader(impl, call);  // deletes itself when the call is done
  impl->stub.PrepareBidiStreamingCall(&call->context, call->method, grpc::StubOptions(), reader);
  reader->Begin();
  RpcStatus& status = co_await call->done.Wait();
  co_return std::move(status);
}

Task<void> RawChannel::Close() {
  const std::shared_ptr<Impl> impl = impl_;
  impl->is_closed = true;
  impl->CancelAll();
  while (!impl->open.empty()) {
    auto gate = std::make_shared<Gate>();
    impl->waiting_for_none.push_back(gate);
    co_await gate->Wait();
  }
}

}  // namespace davit
