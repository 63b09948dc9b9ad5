// Serve: gRPC, threads, signals and the watch over the engine.

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

#include "host/wire/grpc_bytes.h"
#include "host/wire/message_io.h"
#include "providers/kit/engine_link.h"
#include "providers/kit/provider.h"
#include "providers/kit/provider_service.h"
#include "providers/kit/worker_pool.h"

namespace davit::kit {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kServicePrefix = "/pulumirpc.ResourceProvider/";
/// How long calls may take to stop before the process ends without them.
constexpr seconds kStopGrace{3};
constexpr milliseconds kParentPoll{500};
constexpr int kParentPollsPerHealthCheck = 120;

/// The stop sources of the calls in flight. After StopAll new calls are stopped from the start.
class CallRegistry {
 public:
  void Add(std::stop_source* source) {
    const std::lock_guard<std::mutex> lock(mutex_);
    sources_.insert(source);
    if (is_stopped_) {
      source->request_stop();
    }
  }
  void Remove(std::stop_source* source) {
    const std::lock_guard<std::mutex> lock(mutex_);
    sources_.erase(source);
  }
  void StopAll() {
    // Copies share the stop state; stop callbacks run without the lock.
    std::vector<std::stop_source> copies;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_stopped_ = true;
      for (const std::stop_source* source : sources_) {
        copies.push_back(*source);
      }
    }
    for (std::stop_source& source : copies) {
      source.request_stop();
    }
  }

 private:
  std::mutex mutex_;
  std::set<std::stop_source*> sources_;
  bool is_stopped_ = false;
};

struct Parts {
  explicit Parts(ProviderPackage package) : service(std::move(package)) {}
  ProviderService service;
  EngineLink engine;
  CallRegistry calls;
  WorkerPool pool;
};

class Context final : public ServedCall {
 public:
  Context(EngineLink& engine, std::stop_token stop) : engine_(engine), stop_(std::move(stop)) {}

  std::stop_token stop() const override { return stop_; }
  void Log(Severity severity, const std::string& message) override {
    engine_.Log({.severity = severity, .message = message, .urn = urn});
  }
  void ShowStatus(const std::string& message) override {
    engine_.Log({.message = message, .urn = urn, .is_ephemeral = true});
  }

 private:
  EngineLink& engine_;
  std::stop_token stop_;
};

/// One call. gRPC's callbacks only pass on; the handler runs on the pool.
class CallReactor final : public grpc::ServerGenericBidiReactor {
 public:
  CallReactor(Parts& parts, std::string method) : parts_(parts), method_(std::move(method)) {
    parts_.calls.Add(&stop_);
    StartRead(&request_);
  }

  void OnReadDone(bool is_ok) override {
    if (!is_ok) {
      Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the request did not arrive"));
      return;
    }
    parts_.pool.Submit([this] { Run(); });
  }
  void OnCancel() override { stop_.request_stop(); }
  void OnDone() override {
    parts_.calls.Remove(&stop_);
    delete this;
  }

 private:
  void Run() {
    const std::string request = TakeBytes(&request_);
    if (!method_.starts_with(kServicePrefix)) {
      Finish(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "unknown method '" + method_ + "'"));
      return;
    }
    const std::string_view method = std::string_view(method_).substr(kServicePrefix.size());
    parts_.engine.Connect(ProviderService::EngineAddressIn(method, request));
    if (method == "Cancel") {
      parts_.calls.StopAll();
    }
    Context context(parts_.engine, stop_.get_token());
    RawAnswer answer = parts_.service.Answer(method, request, context);
    if (!answer.status.ok()) {
      Finish(ToGrpcStatus(answer.status));
      return;
    }
    reply_ = ToByteBuffer(std::move(answer.bytes));
    StartWriteAndFinish(&reply_, grpc::WriteOptions(), grpc::Status::OK);
  }

  Parts& parts_;
  const std::string method_;
  std::stop_source stop_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer reply_;
};

class RawService final : public grpc::CallbackGenericService {
 public:
  explicit RawService(Parts& parts) : parts_(parts) {}
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    return new CallReactor(parts_, context->method());
  }

 private:
  Parts& parts_;
};

/// The engine's address among the arguments (P22); empty when there is none.
std::string EngineAddress(int argc, char** argv) {
  for (int index = 1; index < argc; ++index) {
    const std::string_view argument = argv[index];
    if (argument == "--tracing") {
      ++index;
    } else if (!argument.starts_with("-")) {
      return std::string(argument);
    }
  }
  return {};
}

/// Returns when a signal arrives, the parent dies or the engine stops answering (P37).
void WaitForEnd(const sigset_t& signals, EngineLink& engine, pid_t parent) {
  timespec poll{};
  poll.tv_nsec = std::chrono::nanoseconds(kParentPoll).count();
  for (int count = 1;; ++count) {
    if (::sigtimedwait(&signals, nullptr, &poll) > 0 || ::getppid() != parent) {
      return;
    }
    if (count % kParentPollsPerHealthCheck == 0 && !engine.IsEngineAlive()) {
      return;
    }
  }
}

}  // namespace

int Serve(ProviderPackage package, int argc, char** argv) {
  const pid_t parent = ::getppid();
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  // A shell may have set them to be ignored; then they would not arrive.
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // inherited by every thread
  ::signal(SIGPIPE, SIG_IGN);

  Parts parts(std::move(package));
  parts.engine.Connect(EngineAddress(argc, argv));
  RawService service(parts);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 16 * 1024 * 1024);
  builder.RegisterCallbackGenericService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (!server || port == 0) {
    std::fprintf(stderr, "cannot listen on 127.0.0.1\n");
    return 1;
  }
  std::printf("%d\n", port);
  std::fflush(stdout);

  WaitForEnd(signals, parts.engine, parent);
  parts.calls.StopAll();
  if (!parts.pool.WaitIdle(kStopGrace)) {
    std::_Exit(1);  // a handler does not stop, and Shutdown would wait for it
  }
  server->Shutdown(std::chrono::system_clock::now() + seconds(1));
  return 0;
}

}  // namespace davit::kit
