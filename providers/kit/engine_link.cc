#include "providers/kit/engine_link.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>

#include <chrono>
#include <cstdio>

#include "grpc_health/health.pb.h"
#include "host/wire/grpc_bytes.h"
#include "host/wire/message_io.h"
#include "pulumirpc/engine.pb.h"

namespace davit::kit {
namespace {

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

struct EngineLink::Impl {
  explicit Impl(const std::string& address) : stub(MakeChannel(address)) {}

  grpc::StatusCode Call(const std::string& method, const google::protobuf::MessageLite& request) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
    grpc::CompletionQueue queue;
    const std::unique_ptr<grpc::GenericClientAsyncResponseReader> call =
        stub.PrepareUnaryCall(&context, method, ToByteBuffer(SerializeMessage(request)), &queue);
    grpc::ByteBuffer reply;
    grpc::Status status;
    call->StartCall();
    call->Finish(&reply, &status, nullptr);
    void* tag = nullptr;
    bool is_ok = false;
    queue.Next(&tag, &is_ok);
    return status.error_code();
  }

  grpc::GenericStub stub;
};

EngineLink::EngineLink() = default;
EngineLink::~EngineLink() = default;

void EngineLink::Connect(const std::string& address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!impl_ && !address.empty()) {
    impl_ = std::make_shared<Impl>(address);
  }
}

std::shared_ptr<EngineLink::Impl> EngineLink::CurrentImpl() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return impl_;
}

void EngineLink::Log(const LogLine& line) {
  pulumirpc::LogRequest request;
  const Severity severity =
      line.severity == Severity::kInfoToStderr ? Severity::kInfo : line.severity;
  request.set_severity(static_cast<pulumirpc::LogSeverity>(severity));
  request.set_message(line.message);
  request.set_urn(line.urn);
  request.set_ephemeral(line.is_ephemeral);
  const std::shared_ptr<Impl> impl = CurrentImpl();
  if (!impl || impl->Call("/pulumirpc.Engine/Log", request) != grpc::StatusCode::OK) {
    std::fprintf(stderr, "%s\n", line.message.c_str());
  }
}

bool EngineLink::IsEngineAlive() {
  const std::shared_ptr<Impl> impl = CurrentImpl();
  if (!impl) {
    return true;
  }
  const grpc::StatusCode code =
      impl->Call("/grpc.health.v1.Health/Check", grpc::health::v1::HealthCheckRequest());
  return code == grpc::StatusCode::OK || code == grpc::StatusCode::UNIMPLEMENTED;
}

}  // namespace davit::kit
