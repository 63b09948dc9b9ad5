#pragma once
// A ResourceProvider in this process, on gRPC's own synchronous server, independent of davit's wire
// code: handlers by script, and every request is kept.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "pulumirpc/provider.pb.h"

namespace davit::testing {

/// What a scripted method answers; code 0 is success.
struct FakeStatus {
  int code = 0;
  std::string message;
  std::string details;
};

class ScriptedServer {
 public:
  ScriptedServer();
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  std::string address() const;
  int port() const;
  /// Names of the methods called, in order.
  std::vector<std::string> calls() const;
  /// Waits until a method has been called.
  void WaitForCall(const std::string& method) const;
  /// Lets calls that wait return.
  void Release();
  /// Waits until Release, or until the caller gives up; says whether it gave up. For handlers.
  bool WaitForRelease();

  // Scripts; an absent one answers Unimplemented. Called on gRPC's threads.
  template <typename Request, typename Response>
  using Script = std::function<FakeStatus(const Request&, Response*)>;
  Script<pulumirpc::ProviderHandshakeRequest, pulumirpc::ProviderHandshakeResponse> handshake;
  Script<pulumirpc::PluginAttach, google::protobuf::Empty> attach;
  Script<google::protobuf::Empty, pulumirpc::PluginInfo> get_plugin_info;
  Script<pulumirpc::ParameterizeRequest, pulumirpc::ParameterizeResponse> parameterize;
  Script<pulumirpc::GetSchemaRequest, pulumirpc::GetSchemaResponse> get_schema;
  Script<pulumirpc::CheckRequest, pulumirpc::CheckResponse> check_config;
  Script<pulumirpc::DiffRequest, pulumirpc::DiffResponse> diff_config;
  Script<pulumirpc::ConfigureRequest, pulumirpc::ConfigureResponse> configure;
  Script<pulumirpc::CheckRequest, pulumirpc::CheckResponse> check;
  Script<pulumirpc::DiffRequest, pulumirpc::DiffResponse> diff;
  Script<pulumirpc::CreateRequest, pulumirpc::CreateResponse> create;
  Script<pulumirpc::UpdateRequest, pulumirpc::UpdateResponse> update;
  Script<pulumirpc::ReadRequest, pulumirpc::ReadResponse> read;
  Script<pulumirpc::DeleteRequest, google::protobuf::Empty> delete_;
  Script<pulumirpc::InvokeRequest, pulumirpc::InvokeResponse> invoke;
  Script<pulumirpc::CallRequest, pulumirpc::CallResponse> call;
  Script<pulumirpc::ConstructRequest, pulumirpc::ConstructResponse> construct;
  Script<pulumirpc::GetMappingRequest, pulumirpc::GetMappingResponse> get_mapping;
  Script<pulumirpc::GetMappingsRequest, pulumirpc::GetMappingsResponse> get_mappings;
  Script<google::protobuf::Empty, google::protobuf::Empty> cancel;
  /// Answers List: the messages, in order; then waits for the caller to give up if `list_hangs`.
  std::vector<pulumirpc::ListResponse> list;
  bool list_hangs = false;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace davit::testing
