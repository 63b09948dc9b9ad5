#pragma once
// A policy pack over gRPC (P119). Engine thread.

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/analyzer.h"
#include "engine/source.h"
#include "host/loop/asio_loop.h"

namespace davit {

class PluginProcess;
class RpcTrace;

/// A policy pack to load, with the configuration that the user gives it.
struct PolicyPackSpec {
  std::string path;         ///< of its folder, or of an executable
  std::string config_file;  ///< for messages; empty: none is given
  std::string config_text;
};

struct AnalyzerClientOptions {
  AsioLoop* loop = nullptr;
  std::string target;  ///< `127.0.0.1:port`
  std::shared_ptr<PluginProcess> process;
  std::string version;  ///< that of its file wins over what the pack says
  std::chrono::nanoseconds end_grace{std::chrono::seconds(5)};
  RpcTrace* trace = nullptr;
  std::vector<std::pair<std::string, std::string>> trace_metadata;  ///< P122
};

class AnalyzerClient final : public Analyzer {
 public:
  explicit AnalyzerClient(AnalyzerClientOptions options);
  ~AnalyzerClient() override;

  /// Handshake, ConfigureStack, GetAnalyzerInfo and, when the pack takes configuration, Configure.
  /// `folder` is that of the pack.
  Task<Result<void>> Load(std::string engine_address,
                          std::string folder,
                          const RunInfo& info,
                          PolicyPackSpec spec,
                          std::chrono::nanoseconds budget,
                          CancelToken cancel);

  const PolicyPack& pack() const override;
  Task<Result<Remediations>> Remediate(AnalyzedResource resource, CancelToken cancel) override;
  Task<Result<Analysis>> Analyze(AnalyzedResource resource, CancelToken cancel) override;
  Task<Result<Analysis>> AnalyzeStack(std::vector<AnalyzedResource> resources,
                                      CancelToken cancel) override;
  Task<void> Cancel() override;
  /// Ends the process.
  Task<void> Close();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace davit
