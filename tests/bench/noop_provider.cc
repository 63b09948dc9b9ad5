// pulumi-resource-benchnoop: answers every call at once with what it was given, so that what
// remains is the cost of the engine and of the calls themselves.

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "pulumirpc/provider.grpc.pb.h"

namespace {

namespace rpc = pulumirpc;
using google::protobuf::Empty;
using grpc::ServerContext;
using grpc::Status;

class Noop final : public rpc::ResourceProvider::Service {
  Status Handshake(ServerContext*,
                   const rpc::ProviderHandshakeRequest*,
                   rpc::ProviderHandshakeResponse* response) override {
    response->set_accept_secrets(true);
    return Status::OK;
  }
  Status Attach(ServerContext*, const rpc::PluginAttach*, Empty*) override { return Status::OK; }
  Status GetPluginInfo(ServerContext*, const Empty*, rpc::PluginInfo* response) override {
    response->set_version("1.0.0");
    return Status::OK;
  }
  Status CheckConfig(ServerContext*,
                     const rpc::CheckRequest* request,
                     rpc::CheckResponse* response) override {
    *response->mutable_inputs() = request->news();
    return Status::OK;
  }
  Status DiffConfig(ServerContext*, const rpc::DiffRequest*, rpc::DiffResponse* response) override {
    response->set_changes(rpc::DiffResponse::DIFF_NONE);
    return Status::OK;
  }
  Status Configure(ServerContext*,
                   const rpc::ConfigureRequest*,
                   rpc::ConfigureResponse* response) override {
    response->set_acceptsecrets(true);
    response->set_supportspreview(true);
    return Status::OK;
  }
  Status Check(ServerContext*,
               const rpc::CheckRequest* request,
               rpc::CheckResponse* response) override {
    *response->mutable_inputs() = request->news();
    return Status::OK;
  }
  Status Diff(ServerContext*, const rpc::DiffRequest*, rpc::DiffResponse* response) override {
    response->set_changes(rpc::DiffResponse::DIFF_NONE);
    return Status::OK;
  }
  Status Create(ServerContext*,
                const rpc::CreateRequest* request,
                rpc::CreateResponse* response) override {
    response->set_id("id-" + std::to_string(++created_));
    *response->mutable_properties() = request->properties();
    return Status::OK;
  }
  Status Read(ServerContext*,
              const rpc::ReadRequest* request,
              rpc::ReadResponse* response) override {
    response->set_id(request->id());
    *response->mutable_inputs() = request->inputs();
    *response->mutable_properties() = request->properties();
    return Status::OK;
  }
  Status Delete(ServerContext*, const rpc::DeleteRequest*, Empty*) override { return Status::OK; }
  Status Cancel(ServerContext*, const Empty*, Empty*) override { return Status::OK; }

  std::atomic<int> created_{0};
};

}  // namespace

int main() {
  Noop service;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  std::printf("%d\n", port);
  std::fflush(stdout);
  server->Wait();
}
