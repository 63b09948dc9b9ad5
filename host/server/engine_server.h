#pragma once
// What davit offers to every plugin and program while it runs: pulumirpc.Engine, ResourceStatus,
// codegen.Loader, health and reflection, on one address (P37, P89-P91, P101, P108, P110). Engine
// thread.

#include <functional>
#include <memory>
#include <string>

#include "engine/base/semver.h"
#include "engine/base/result.h"
#include "engine/base/task.h"
#include "engine/source.h"
#include "engine/view.h"
#include "host/loop/work_pool.h"

namespace davit {

class RpcTrace;

/// A message that a plugin or program wants shown (P90).
struct LogMessage {
  Severity severity = Severity::kInfo;
  std::string message;
  std::string urn;  ///< may be empty
  int stream_id = 0;
  bool ephemeral = false;
};

struct EngineServerOptions {
  Loop* loop = nullptr;
  WorkPool* pool = nullptr;
  std::function<void(const LogMessage&)> log;
  /// Schema of a package as JSON text (P108); empty: the Loader answers Unimplemented.
  std::function<Task<Result<std::string>>(PackageDescriptor)> get_schema;
  ViewBoard* views = nullptr;  ///< takes what providers report on parts (P110); null: nothing does
  /// The version of the reference that davit stands in for (P101).
  std::string compatible_version = kCompatibleVersion;
  RpcTrace* trace = nullptr;
};

class EngineServer {
 public:
  static Result<std::unique_ptr<EngineServer>> Start(EngineServerOptions options);
  ~EngineServer();
  /// `127.0.0.1:port`
  const std::string& address() const;
  /// Changes where messages go, for example once a display exists.
  void SetLog(std::function<void(const LogMessage&)> log);
  void SetSchemaSource(std::function<Task<Result<std::string>>(PackageDescriptor)> get_schema);
  /// Ends open calls as cancelled and stops; must be awaited before destruction.
  Task<void> Close();

 private:
  struct Impl;
  explicit EngineServer(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace davit
