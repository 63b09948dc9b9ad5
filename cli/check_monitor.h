#pragma once
// The Monitor of a check: schemas are there to be had, and nothing else happens. Engine thread.

#include <utility>

#include "cli/display/findings.h"
#include "engine/run/provider_pool.h"
#include "engine/source.h"

namespace davit {

class CheckMonitor final : public Monitor {
 public:
  explicit CheckMonitor(ProviderPool& pool) : pool_(pool) {}

  Findings TakeFindings() { return std::move(findings_); }

  Task<Result<std::string>> GetSchema(PackageDescriptor package) override;
  void Report(const Error& error) override { findings_.errors.push_back(error); }

  // A check registers, reads and calls nothing.
  Task<Result<RegisterResponse>> RegisterResource(Goal goal) override;
  Task<Result<RegisterResponse>> RegisterTransformed(Goal goal,
                                                     std::vector<Transform> transforms) override;
  Task<Result<void>> RegisterOutputs(Urn urn, PropertyMap outputs) override;
  Task<Result<RegisterResponse>> ReadResource(ReadGoal goal) override;
  Task<Result<InvokeOutcome>> Invoke(InvokeGoal goal) override;
  Task<Result<CallResponse>> Call(CallGoal goal) override;
  Task<Result<std::string>> RegisterPackage(PackageDescriptor package) override;
  void RegisterStackTransform(Transform) override {}
  void RegisterStackInvokeTransform(InvokeTransform) override {}
  Result<void> RegisterHook(Hook) override { return {}; }
  void Log(Severity, const std::string&, const Urn&) override {}

 private:
  ProviderPool& pool_;
  Findings findings_;
};

}  // namespace davit
