#pragma once
// Components that a plugin builds (E181, P83, P84), and what plugins are told that register
// resources themselves. Engine thread.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/run/run_context.h"

namespace davit {

/// The socket at which plugins reach the Monitor of a run; opened for the first plugin that needs
/// it.
class PluginSurroundings {
 public:
  PluginSurroundings(RunContext& context, Monitor& monitor)
      : context_(context), monitor_(monitor) {}

  /// For one Construct or Call that the program made at `stack_trace` (P107).
  Result<RunSurroundings> Open(std::vector<std::string> stack_trace);
  /// The frames kept under a handle, outermost call last; none for an unknown handle.
  std::vector<std::string> TraceOf(const std::string& handle) const;
  /// No call of a plugin may be in flight. Must be awaited before destruction.
  Task<void> Close();

 private:
  RunContext& context_;
  Monitor& monitor_;
  std::unique_ptr<MonitorEndpoint> endpoint_;
  std::map<std::string, std::vector<std::string>> traces_;
};

/// Lets the provider of the goal build the component (E181). With an unknown configuration the bare
/// component is registered instead and has no outputs (E113). `monitor` is the run's own.
Task<Result<RegisterResponse>> ConstructComponent(RunContext& context,
                                                  Monitor& monitor,
                                                  PluginSurroundings& surroundings,
                                                  Goal goal);

}  // namespace davit
