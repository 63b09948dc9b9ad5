#include "host/server/rpc_server.h"

#include <google/protobuf/descriptor.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/waiting.h"
#include "host/wire/grpc_bytes.h"
#include "host/wire/message_io.h"

// One raw handler per method, in the way of the generated raw-callback methods, so that a message
// is parsed with our own limits (style 2.9), and no generated service header is needed. A reactor
// and the engine thread meet in ServedCall: the engine thread finishes it once; a caller that gives
// up only sets the cancel token.

namespace davit {
namespace {

constexpr int kMaxMetadataBytes = 16 * 1024 * 1024;

// How long a server that closes waits for callers that do not take their status.
constexpr std::chrono::milliseconds kLastStatusWait{500};

// How many calls gRPC has not sent the status of. Used by gRPC's threads and the one that closes.
class UnsentCalls {
 public:
  void Add() {
    const std::lock_guard lock(mutex_);
    ++count_;
  }
  void Remove() {
    const std::lock_guard lock(mutex_);
    --count_;
    changed_.notify_all();
  }
  void WaitForNone(std::chrono::milliseconds at_most) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, at_most, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

RpcStatus Unimplemented(const std::string& method) {
  return RpcStatus{
      .code = RpcCode::kUnimplemented, .message = "davit does not offer " + method, .details = {}};
}

}  // namespace

struct RpcServer::Impl : std::enable_shared_from_this<RpcServer::Impl> {
  class Reactor;
  // One call as the engine thread sees it.
  struct ServedCall {
    CancelSource cancel;
    Reactor* reactor = nullptr;  ///< null once finished
    grpc::ByteBuffer* response = nullptr;
  };
  using CallPtr = std::shared_ptr<ServedCall>;

  Impl(Loop& owner, WorkPool& workers, RpcStatus at_close)
      : loop(owner), pool(workers), closing(std::move(at_close)) {}

  Loop& loop;
  WorkPool& pool;
  RpcStatus closing;
  std::map<std::string, std::map<std::string, Handler>> services;
  std::vector<std::unique_ptr<grpc::Service>> grpc_services;
  std::unique_ptr<grpc::Server> server;
  std::string address;
  std::list<CallPtr> open;
  std::shared_ptr<UnsentCalls> unsent = std::make_shared<UnsentCalls>();
  bool is_closing = false;
  bool is_closed = false;
  std::vector<std::shared_ptr<Gate>> waiting;

  void Begin(CallPtr call, const std::string& method, const Handler* handler, ServerCall arguments);
  void Finish(const CallPtr& call, RawReply reply);
  grpc::ServerUnaryReactor* Accept(const std::string& method,
                                   const Handler* handler,
                                   grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* response);
};

// Runs on gRPC's threads; does nothing but post. Deletes itself when gRPC is done with it, which is
// after Finish.
class RpcServer::Impl::Reactor final : public grpc::ServerUnaryReactor {
 public:
  Reactor(Loop& loop, CallPtr call, std::shared_ptr<UnsentCalls> unsent)
      : loop_(loop), call_(std::move(call)), unsent_(std::move(unsent)) {
    unsent_->Add();
  }

  void OnCancel() override {
    loop_.Post([call = call_] { call->cancel.Cancel(); });
  }
  void OnDone() override {
    unsent_->Remove();
    delete this;
  }

 private:
  Loop& loop_;
  CallPtr call_;
  std::shared_ptr<UnsentCalls> unsent_;
};

void RpcServer::Impl::Finish(const CallPtr& call, RawReply reply) {
  Reactor* reactor = std::exchange(call->reactor, nullptr);
  if (reactor == nullptr) {
    return;  // finished before, when the server closed
  }
  open.remove(call);
  if (reply.status.ok()) {
    *call->response = ToByteBuffer(std::move(reply.bytes));
  }
  reactor->Finish(
      ToGrpcStatus(reply.status));  // neither reactor nor response may be touched from here on
}

void RpcServer::Impl::Begin(CallPtr call,
                            const std::string& method,
                            const Handler* handler,
                            ServerCall arguments) {
  open.push_back(call);
  RawReply refusal;
  if (is_closing) {
    refusal.status = closing;
    Finish(call, std::move(refusal));
    return;
  }
  if (handler == nullptr) {
    refusal.status = Unimplemented(method);
    Finish(call, std::move(refusal));
    return;
  }
  arguments.cancel = call->cancel.token();
  const auto done = [self = shared_from_this(), call, method](std::exception_ptr failure,
                                                              std::optional<RawReply> reply) {
    RawReply answer;
    if (failure) {
      answer.status.code = RpcCode::kInternal;
      try {
        std::rethrow_exception(failure);
      } catch (const std::exception& error) {
        answer.status.message = method + ": " + error.what();
      } catch (...) {
        answer.status.message = method + ": unknown exception";
      }
    } else {
      answer = *std::move(reply);
    }
    self->Finish(call, std::move(answer));
  };
  davit::Start(loop, (*handler)(std::move(arguments)), done);
}

grpc::ServerUnaryReactor* RpcServer::Impl::Accept(const std::string& method,
                                                  const Handler* handler,
                                                  grpc::CallbackServerContext* context,
                                                  const grpc::ByteBuffer* request,
                                                  grpc::ByteBuffer* response) {
  auto call = std::make_shared<ServedCall>();
  auto* reactor = new Reactor(loop, call, unsent);
  call->reactor = reactor;
  call->response = response;
  auto arguments = std::make_shared<ServerCall>();
  for (const auto& [key, value] : context->client_metadata()) {
    arguments->metadata[std::string(key.data(), key.size())] =
        std::string(value.data(), value.size());
  }
  grpc::ByteBuffer bytes = *request;  // shares the slices
  arguments->request = TakeBytes(&bytes);
  loop.Post([self = shared_from_this(), call, arguments, &method, handler] {
    self->Begin(call, method, handler, std::move(*arguments));
  });
  return reactor;
}

namespace {

// A service made of raw unary methods.
class RawService final : public grpc::Service {
 public:
  using Accept = std::function<grpc::ServerUnaryReactor*(
      grpc::CallbackServerContext*, const grpc::ByteBuffer*, grpc::ByteBuffer*)>;

  void Add(const std::string& path, Accept accept) {
    // The service keeps the pointer of a method's name.
    names_.push_back(path);
    AddMethod(new grpc::internal::RpcServiceMethod(
        names_.back().c_str(), grpc::internal::RpcMethod::NORMAL_RPC, nullptr));
    MarkMethodRawCallback(
        count_++,
        new grpc::internal::CallbackUnaryHandler<grpc::ByteBuffer, grpc::ByteBuffer>(
            std::move(accept)));
  }

 private:
  std::list<std::string> names_;
  int count_ = 0;
};

}  // namespace

RpcServer::RpcServer(Loop& loop, WorkPool& pool, RpcStatus closing)
    : impl_(std::make_shared<Impl>(loop, pool, std::move(closing))) {}

RpcServer::~RpcServer() = default;

void RpcServer::Handle(const std::string& service, const std::string& method, Handler handler) {
  impl_->services[service][method] = std::move(handler);
}

Result<void> RpcServer::Start() {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument("grpc.max_metadata_size", kMaxMetadataBytes);
  builder.AddChannelArgument("grpc.absolute_max_metadata_size", kMaxMetadataBytes);
  builder.AddChannelArgument("grpc.so_reuseport", 0);
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  Impl* impl = impl_.get();  // gRPC calls back until Close has ended it
  for (const auto& [name, handlers] : impl->services) {
    const auto* descriptor =
        google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(name);
    DAVIT_CHECK(descriptor != nullptr, "no linked protocol has the service " + name);
    auto service = std::make_unique<RawService>();
    for (int index = 0; index < descriptor->method_count(); ++index) {
      const auto* method = descriptor->method(index);
      if (method->client_streaming() || method->server_streaming()) {
        continue;  // gRPC answers Unimplemented
      }
      const auto at = handlers.find(method->name());
      const Handler* handler = at == handlers.end() ? nullptr : &at->second;
      const auto path = std::make_shared<const std::string>("/" + name + "/" + method->name());
      service->Add(*path,
                   [impl, path, handler](grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) {
                     return impl->Accept(*path, handler, context, request, response);
                   });
    }
    builder.RegisterService(service.get());
    impl->grpc_services.push_back(std::move(service));
  }
  impl->server = builder.BuildAndStart();
  if (!impl->server || port == 0) {
    impl->services.clear();  // the handlers may own this server
    return Fail(ErrorKind::kUnavailable,
                "cannot listen on a port of 127.0.0.1",
                "check that the loopback interface is up and ports are left");
  }
  for (const auto& [name, handlers] : impl->services) {
    impl->server->GetHealthCheckService()->SetServingStatus(name, true);
  }
  impl->address = "127.0.0.1:" + std::to_string(port);
  return {};
}

const std::string& RpcServer::address() const {
  return impl_->address;
}

Task<void> RpcServer::Close() {
  const std::shared_ptr<Impl> impl = impl_;
  if (impl->is_closed || !impl->server) {
    co_return;
  }
  if (impl->is_closing) {
    auto gate = std::make_shared<Gate>();
    impl->waiting.push_back(gate);
    co_await gate->Wait();
    co_return;
  }
  impl->is_closing = true;
  // Calls that are open now end first: Shutdown waits for them, whatever its deadline.
  while (!impl->open.empty()) {
    const Impl::CallPtr call = impl->open.front();
    RawReply reply;
    reply.status = impl->closing;
    impl->Finish(call, std::move(reply));
    call->cancel.Cancel();
  }
  std::function<bool()> shut_down = [server = impl->server.get(), unsent = impl->unsent] {
    // Shutdown drops the connections, and with them every status that has not left yet.
    unsent->WaitForNone(kLastStatusWait);
    server->Shutdown(std::chrono::system_clock::now());
    server->Wait();
    return true;
  };
  // Calls that arrive until then are posted to this loop, which goes on.
  const bool is_down = co_await RunOn<bool>(impl->pool, impl->loop, std::move(shut_down));
  static_cast<void>(is_down);
  impl->server.reset();
  impl->grpc_services.clear();
  impl->services.clear();
  impl->is_closed = true;
  for (const std::shared_ptr<Gate>& gate : std::exchange(impl->waiting, {})) {
    gate->Open();
  }
}

}  // namespace davit
