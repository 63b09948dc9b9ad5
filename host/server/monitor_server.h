#pragma once
// pulumirpc.ResourceMonitor on a socket, over the Monitor of one run (P92-P107). Engine thread.

#include <functional>
#include <memory>
#include <string>

#include "engine/base/result.h"
#include "engine/base/task.h"
#include "engine/source.h"
#include "host/loop/work_pool.h"

namespace davit {

class RpcTrace;

struct MonitorServerOptions {
  Loop* loop = nullptr;
  WorkPool* pool = nullptr;
  Monitor* monitor = nullptr;  ///< outlives the server
  RunInfo info;
  /// Switches of P93.
  bool resource_references = true;
  bool output_values = true;
  /// A call was answered with Unavailable, upon which the caller ends (P92); may be empty.
  std::function<void()> on_stopped;
  RpcTrace* trace = nullptr;
};

class MonitorServer final : public MonitorEndpoint {
 public:
  static Result<std::unique_ptr<MonitorServer>> Start(MonitorServerOptions options);
  ~MonitorServer() override;
  const std::string& address() const override;
  /// Waits until the program has said that no more registrations come (P106); those it made are
  /// answered once their Monitor calls are. Completes at Close as well.
  Task<void> WaitForSignal();
  /// Whether a call was answered with Unavailable, upon which programs end (P92).
  bool has_stopped() const;
  /// Lets SignalAndWaitForShutdown return: all steps are done.
  void ReleaseShutdown();
  /// Pending and new calls get Unavailable (P92); must be awaited before destruction.
  Task<void> Close() override;

 private:
  struct Impl;
  explicit MonitorServer(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

/// Starts MonitorServers for the engine. The members of `options` that belong to a run are filled in.
class GrpcMonitorHost final : public MonitorHost {
 public:
  explicit GrpcMonitorHost(MonitorServerOptions options) : options_(std::move(options)) {}
  Result<std::unique_ptr<MonitorEndpoint>> Serve(Monitor& monitor, RunInfo info) override;

 private:
  MonitorServerOptions options_;
};

}  // namespace davit
