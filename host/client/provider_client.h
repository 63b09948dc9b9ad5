#pragma once
// A provider plugin over gRPC: every RPC of pulumirpc.ResourceProvider as a method (P42-P45, P49,
// P67-P87). Engine thread. Property bags are encoded as P69 says; secrets are re-attached where the
// plugin does not keep them.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/provider.h"
#include "engine/source.h"

namespace davit {

class AsioLoop;
class PluginProcess;
class RpcTrace;

struct ProviderClientOptions {
  AsioLoop* loop = nullptr;
  std::string package;                     ///< the plugin's name, for messages
  std::string target;                      ///< `127.0.0.1:port`
  std::string status_address;              ///< of the ResourceStatus service (P80)
  std::shared_ptr<PluginProcess> process;  ///< null when attached (P21)
  std::chrono::nanoseconds end_grace{std::chrono::seconds(5)};
  RpcTrace* trace = nullptr;
  std::vector<std::pair<std::string, std::string>> trace_metadata;  ///< P122
  /// For the premature-exit report (P33).
  std::function<void(Severity severity, const std::string& message)> output;
};

/// P43. Empty texts are sent as absent.
struct HandshakeRequest {
  std::string engine_address;
  std::string root_directory;
  std::string program_directory;
  bool supports_refresh_before_update = true;
  std::string loader_target;
};
/// Abilities of the plugin (P44).
struct ProviderFeatures {
  bool accepts_secrets = false;
  bool accepts_resources = false;
  bool accepts_outputs = false;
  bool accepts_byte_strings = false;
  bool supports_preview = false;
  bool supports_autonaming = false;
};

struct ListedResource {
  std::string id;
  std::string name;
};
struct ListOutcome {
  bool is_computed = false;  ///< depends on values that are not known yet
  std::vector<ListedResource> resources;
  std::string continuation;  ///< empty: there is no more
};
struct ListQuery {
  std::string token;
  PropertyMap query;
  long limit = 0;  ///< below 1: none
  long page_size = 0;
  std::string continuation;
};

class ProviderClient final : public Provider {
 public:
  explicit ProviderClient(ProviderClientOptions options);
  ~ProviderClient() override;

  // --- loading, by PluginHost

  /// P29, P43, P44: tries until `budget` is used up; an unimplemented Handshake is fine.
  Task<Result<void>> Handshake(HandshakeRequest request,
                               std::chrono::nanoseconds budget,
                               CancelToken cancel);
  /// P21.
  Task<Result<void>> Attach(std::string engine_address, CancelToken cancel);
  /// P31; fills version().
  Task<Result<void>> GetPluginInfo(CancelToken cancel);
  /// P45, by a stored value: the answer must name the same package.
  Task<Result<void>> Parameterize(Parameterization value, CancelToken cancel);
  /// P45, by words of the command line; gives name and version of the package.
  Task<Result<Parameterization>> ParameterizeByArguments(std::vector<std::string> arguments,
                                                         CancelToken cancel);
  const ProviderFeatures& features() const;
  /// Ends a process that could not be loaded, at once.
  Task<void> Abandon();

  // --- Provider

  const std::string& version() const override;
  bool is_alive() const override;
  bool supports_preview() const override;
  bool supports_autonaming() const override;
  Task<Result<std::string>> GetSchema(CancelToken cancel) override;
  Task<Result<CheckResponse>> CheckConfig(CheckRequest request, CancelToken cancel) override;
  Task<Result<DiffResponse>> DiffConfig(DiffRequest request, CancelToken cancel) override;
  Task<Result<void>> Configure(ConfigureRequest request, CancelToken cancel) override;
  Task<Result<void>> Extend(Parameterization value, CancelToken cancel) override;
  Task<Result<CheckResponse>> Check(CheckRequest request, CancelToken cancel) override;
  Task<Result<DiffResponse>> Diff(DiffRequest request, CancelToken cancel) override;
  Task<Result<CreateResponse>> Create(CreateRequest request, CancelToken cancel) override;
  Task<Result<UpdateResponse>> Update(UpdateRequest request, CancelToken cancel) override;
  Task<Result<ReadResponse>> Read(ReadRequest request, CancelToken cancel) override;
  Task<Result<void>> Delete(DeleteRequest request, CancelToken cancel) override;
  Task<Result<InvokeResponse>> Invoke(InvokeRequest request, CancelToken cancel) override;
  Task<Result<CallResponse>> Call(CallRequest request, CancelToken cancel) override;
  Task<Result<ConstructResponse>> Construct(ConstructRequest request, CancelToken cancel) override;
  Task<Result<void>> Cancel() override;
  Task<void> Close() override;

  // --- beyond Provider

  /// P87: one page, read to its end.
  Task<Result<ListOutcome>> List(ListQuery query, CancelToken cancel);
  /// The mapping to another ecosystem; empty when the plugin has none.
  Task<Result<std::string>> GetMapping(std::string key, std::string provider, CancelToken cancel);
  /// The providers with a mapping; absent when the plugin cannot list them (P74).
  Task<Result<std::optional<std::vector<std::string>>>> GetMappings(std::string key,
                                                                    CancelToken cancel);

  /// Deadline of every later call that has none of its own; absent by default (P32).
  void SetCallDeadline(std::optional<std::chrono::nanoseconds> deadline);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace davit
