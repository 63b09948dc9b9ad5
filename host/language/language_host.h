#pragma once
// A language host over gRPC: runs programs and plugins that are written in its language (P112-P118).
// Engine thread.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/cancel.h"
#include "engine/source.h"
#include "host/process/child_process.h"

namespace davit {

class PluginProcess;
class RpcTrace;

struct LanguageHostOptions {
  AsioLoop* loop = nullptr;
  std::string runtime;
  std::string target;                      ///< `127.0.0.1:port`
  std::shared_ptr<PluginProcess> process;  ///< null when somebody else runs the host
  std::chrono::nanoseconds end_grace{std::chrono::seconds(5)};
  RpcTrace* trace = nullptr;
  std::vector<std::pair<std::string, std::string>> trace_metadata;  ///< P122
};

/// Where a program or plugin is (P114).
struct ProgramInfo {
  std::string root_directory;     ///< absolute
  std::string program_directory;  ///< absolute
  std::string entry_point = ".";
  PropertyMap options;  ///< runtime options
};

/// One run of a program (P113).
struct ProgramRun {
  ProgramInfo program;
  const RunInfo* info = nullptr;  ///< outlives the run
  std::string monitor_address;
  std::string loader_target;
};

/// A plugin to run (P38).
struct PluginRun {
  ProgramInfo plugin;
  std::string kind = "resource";
  std::string loader_target;
  std::string working_directory;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
};

using OutputChunk = std::function<void(Pipe pipe, const std::string& bytes)>;

class LanguageHost {
 public:
  explicit LanguageHost(LanguageHostOptions options);
  ~LanguageHost();

  /// P29, P31: waits until the host answers, at most for `budget`.
  Task<Result<void>> Connect(std::chrono::nanoseconds budget, CancelToken cancel);
  /// P21: tells a host that is attached to which engine it belongs.
  Task<Result<void>> Handshake(std::string engine_address, CancelToken cancel);
  /// The resource packages that a program says it needs (P117).
  Task<Result<std::vector<PackageDescriptor>>> RequiredPackages(ProgramInfo program,
                                                                CancelToken cancel);
  /// Runs a program to its end; a bail is an error with `reported` set (P115).
  Task<Result<void>> Run(ProgramRun run);
  /// Runs a plugin to its end and gives its exit status. Cancelling ends the plugin.
  Task<Result<int>> RunPlugin(PluginRun run, OutputChunk output, CancelToken cancel);
  /// Asks running programs to end soon (P118).
  Task<void> Cancel();
  /// P33. What it still runs ends with it.
  Task<void> Close();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace davit
