#include "tests/host/scripted_server.h"

#include <grpcpp/grpcpp.h>

#include <condition_variable>

#include "pulumirpc/provider.grpc.pb.h"

namespace davit::testing {

namespace rpc = pulumirpc;
using google::protobuf::Empty;
using grpc::ServerContext;
using grpc::Status;

struct ScriptedServer::Impl final : rpc::ResourceProvider::Service {
  explicit Impl(ScriptedServer* owner) : fake(owner) {}

  ScriptedServer* fake;
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  std::vector<std::string> calls;
  bool is_released = false;
  std::unique_ptr<grpc::Server> server;
  int port = 0;
  static thread_local ServerContext* current;

  void Note(const std::string& method) {
    const std::lock_guard<std::mutex> lock(mutex);
    calls.push_back(method);
    changed.notify_all();
  }

  template <typename Request, typename Response>
  Status Run(const char* method,
             ServerContext* context,
             const Script<Request, Response>& script,
             const Request& request,
             Response* response) {
    Note(method);
    if (!script) {
      return Status(grpc::StatusCode::UNIMPLEMENTED, "not scripted");
    }
    current = context;
    const FakeStatus status = script(request, response);
    current = nullptr;
    return Status(static_cast<grpc::StatusCode>(status.code), status.message, status.details);
  }

  Status Handshake(ServerContext* c,
                   const rpc::ProviderHandshakeRequest* q,
                   rpc::ProviderHandshakeResponse* r) override {
    return Run("Handshake", c, fake->handshake, *q, r);
  }
  Status Attach(ServerContext* c, const rpc::PluginAttach* q, Empty* r) override {
    return Run("Attach", c, fake->attach, *q, r);
  }
  Status GetPluginInfo(ServerContext* c, const Empty* q, rpc::PluginInfo* r) override {
    return Run("GetPluginInfo", c, fake->get_plugin_info, *q, r);
  }
  Status Parameterize(ServerContext* c,
                      const rpc::ParameterizeRequest* q,
                      rpc::ParameterizeResponse* r) override {
    return Run("Parameterize", c, fake->parameterize, *q, r);
  }
  Status GetSchema(ServerContext* c,
                   const rpc::GetSchemaRequest* q,
                   rpc::GetSchemaResponse* r) override {
    return Run("GetSchema", c, fake->get_schema, *q, r);
  }
  Status CheckConfig(ServerContext* c, const rpc::CheckRequest* q, rpc::CheckResponse* r) override {
    return Run("CheckConfig", c, fake->check_config, *q, r);
  }
  Status DiffConfig(ServerContext* c, const rpc::DiffRequest* q, rpc::DiffResponse* r) override {
    return Run("DiffConfig", c, fake->diff_config, *q, r);
  }
  Status Configure(ServerContext* c,
                   const rpc::ConfigureRequest* q,
                   rpc::ConfigureResponse* r) override {
    return Run("Configure", c, fake->configure, *q, r);
  }
  Status Check(ServerContext* c, const rpc::CheckRequest* q, rpc::CheckResponse* r) override {
    return Run("Check", c, fake->check, *q, r);
  }
  Status Diff(ServerContext* c, const rpc::DiffRequest* q, rpc::DiffResponse* r) override {
    return Run("Diff", c, fake->diff, *q, r);
  }
  Status Create(ServerContext* c, const rpc::CreateRequest* q, rpc::CreateResponse* r) override {
    return Run("Create", c, fake->create, *q, r);
  }
  Status Update(ServerContext* c, const rpc::UpdateRequest* q, rpc::UpdateResponse* r) override {
    return Run("Update", c, fake->update, *q, r);
  }
  Status Read(ServerContext* c, const rpc::ReadRequest* q, rpc::ReadResponse* r) override {
    return Run("Read", c, fake->read, *q, r);
  }
  Status Delete(ServerContext* c, const rpc::DeleteRequest* q, Empty* r) override {
    return Run("Delete", c, fake->delete_, *q, r);
  }
  Status Invoke(ServerContext* c, const rpc::InvokeRequest* q, rpc::InvokeResponse* r) override {
    return Run("Invoke", c, fake->invoke, *q, r);
  }
  Status Call(ServerContext* c, const rpc::CallRequest* q, rpc::CallResponse* r) override {
    return Run("Call", c, fake->call, *q, r);
  }
  Status Construct(ServerContext* c,
                   const rpc::ConstructRequest* q,
                   rpc::ConstructResponse* r) override {
    return Run("Construct", c, fake->construct, *q, r);
  }
  Status GetMapping(ServerContext* c,
                    const rpc::GetMappingRequest* q,
                    rpc::GetMappingResponse* r) override {
    return Run("GetMapping", c, fake->get_mapping, *q, r);
  }
  Status GetMappings(ServerContext* c,
                     const rpc::GetMappingsRequest* q,
                     rpc::GetMappingsResponse* r) override {
    return Run("GetMappings", c, fake->get_mappings, *q, r);
  }
  Status Cancel(ServerContext* c, const Empty* q, Empty* r) override {
    return Run("Cancel", c, fake->cancel, *q, r);
  }
  Status List(ServerContext* c,
              const rpc::ListRequest*,
              grpc::ServerWriter<rpc::ListResponse>* writer) override {
    Note("List");
    for (const rpc::ListResponse& response : fake->list) {
      writer->Write(response);
    }
    if (fake->list_hangs) {
      current = c;
      const bool gave_up = fake->WaitForRelease();
      current = nullptr;
      Note(gave_up ? "List cancelled" : "List released");
    }
    return Status::OK;
  }
};

thread_local ServerContext* ScriptedServer::Impl::current = nullptr;

ScriptedServer::ScriptedServer() : impl_(std::make_unique<Impl>(this)) {
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &impl_->port);
  builder.RegisterService(impl_.get());
  impl_->server = builder.BuildAndStart();
}

ScriptedServer::~ScriptedServer() {
  Release();
  impl_->server->Shutdown(std::chrono::system_clock::now());
  impl_->server->Wait();
}

std::string ScriptedServer::address() const {
  return "127.0.0.1:" + std::to_string(impl_->port);
}

int ScriptedServer::port() const {
  return impl_->port;
}

std::vector<std::string> ScriptedServer::calls() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->calls;
}

void ScriptedServer::WaitForCall(const std::string& method) const {
  std::unique_lock<std::mutex> lock(impl_->mutex);
  impl_->changed.wait(lock, [&] {
    return std::find(impl_->calls.begin(), impl_->calls.end(), method) != impl_->calls.end();
  });
}

void ScriptedServer::Release() {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->is_released = true;
  impl_->changed.notify_all();
}

bool ScriptedServer::WaitForRelease() {
  ServerContext* context = Impl::current;
  std::unique_lock<std::mutex> lock(impl_->mutex);
  // The synchronous server only tells a cancellation when asked.
  while (!impl_->is_released && !context->IsCancelled()) {
    impl_->changed.wait_for(lock, std::chrono::milliseconds(2));
  }
  return !impl_->is_released;
}

}  // namespace davit::testing
