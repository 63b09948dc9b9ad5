#include "cli/check_monitor.h"

#include "engine/plan/provider_inputs.h"

namespace davit {
namespace {

Unexpected NothingHappens() {
  return Fail(ErrorKind::kBug, "a check only looks at the program");
}

}  // namespace

Task<Result<std::string>> CheckMonitor::GetSchema(PackageDescriptor package) {
  co_return co_await pool_.GetSchema(PluginOf(package), CancelToken());
}

Task<Result<RegisterResponse>> CheckMonitor::RegisterResource(Goal) { co_return NothingHappens(); }
Task<Result<RegisterResponse>> CheckMonitor::RegisterTransformed(Goal, std::vector<Transform>) {
  co_return NothingHappens();
}
Task<Result<void>> CheckMonitor::RegisterOutputs(Urn, PropertyMap) { co_return NothingHappens(); }
Task<Result<RegisterResponse>> CheckMonitor::ReadResource(ReadGoal) { co_return NothingHappens(); }
Task<Result<InvokeOutcome>> CheckMonitor::Invoke(InvokeGoal) { co_return NothingHappens(); }
Task<Result<CallResponse>> CheckMonitor::Call(CallGoal) { co_return NothingHappens(); }
Task<Result<std::string>> CheckMonitor::RegisterPackage(PackageDescriptor) {
  co_return NothingHappens();
}

}  // namespace davit
