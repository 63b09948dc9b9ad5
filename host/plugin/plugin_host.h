#pragma once
// PluginHost over real processes and gRPC (P1-P45). Engine thread.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/provider.h"
#include "engine/source.h"
#include "host/loop/asio_loop.h"
#include "host/loop/work_pool.h"
#include "host/plugin/discovery.h"

namespace davit {

class AnalyzerClient;
class LanguageHost;
class RpcTrace;

struct PolicyPackSpec;

/// What PulumiPlugin.yaml, or PulumiPolicy.yaml, says about how a plugin is run (P12, P119).
struct PluginFile {
  std::string runtime;
  PropertyMap options;
  std::string version;                 ///< of a policy pack; may be empty
  std::shared_ptr<Provider> provider;  ///< set: the plugin runs in this process (Y190)
};

struct PluginHostOptions {
  AsioLoop* loop = nullptr;
  WorkPool* pool = nullptr;
  std::string engine_address;     ///< `127.0.0.1:port` of the EngineServer
  std::string loader_target;      ///< address of the schema service; empty: none is served
  std::string root_directory;     ///< of the project, absolute
  std::string program_directory;  ///< working directory of plugins (P24), absolute
  std::string program_folder;     ///< folder of the davit binary, for bundled plugins (P8)
  std::vector<ProjectPlugin> project_plugins;          ///< P6
  std::map<std::string, std::string> runtime_options;  ///< PULUMI_RUNTIME_<NAME> (P23)
  std::string project;                                 ///< PULUMI_PROJECT; may be empty
  std::map<std::string, ConfigValue> config;       ///< `namespace:name`, for PULUMI_CONFIG (P36)
  std::map<std::string, std::string> environment;  ///< davit's own
  /// Time for the port line; DAVIT_PLUGIN_START_TIMEOUT (seconds) in `environment` wins.
  std::chrono::nanoseconds start_deadline{std::chrono::seconds(60)};
  /// P33: between SIGINT and SIGKILL.
  std::chrono::nanoseconds end_grace{std::chrono::seconds(5)};
  /// Output of plugins and warnings; `urn` is empty for output.
  std::function<void(
      Severity severity, const std::string& message, const std::string& urn, int stream_id)>
      output;
  /// Reads such a file; refuses one that demands another version (P12). Must be given.
  std::function<Result<PluginFile>(const std::string& path)> read_plugin_file;
  RpcTrace* trace = nullptr;  ///< may be null
};

/// Loads resource plugins and language hosts. Different ones load at the same time; the process of
/// a provider is its own, that of a language host is shared (P39).
class GrpcPluginHost final : public PluginHost {
 public:
  explicit GrpcPluginHost(PluginHostOptions options);
  ~GrpcPluginHost() override;

  Task<Result<std::shared_ptr<Provider>>> LoadProvider(PluginSpec spec,
                                                       CancelToken cancel) override;
  /// Starts a policy pack and configures it for a run (P119). Close must be awaited.
  Task<Result<std::shared_ptr<AnalyzerClient>>> LoadAnalyzer(PolicyPackSpec spec,
                                                             RunInfo info,
                                                             CancelToken cancel);
  /// The host of a language, started on first use (P112). The runtime `client` is one that runs
  /// already, at the address in the project's runtime option `address`.
  Task<Result<std::shared_ptr<LanguageHost>>> LoadLanguage(std::string runtime, CancelToken cancel);
  /// Ends the language hosts. Providers that they run must have been closed (P34).
  Task<void> CloseLanguages();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace davit
