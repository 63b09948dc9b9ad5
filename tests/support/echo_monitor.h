#pragma once
// A Monitor that keeps nothing and answers at once: outputs are the inputs. For benchmarks and
// fuzzing, where a recording would be what is measured.

#include <string>

#include "engine/source.h"

namespace davit::testing {

class EchoMonitor final : public Monitor {
 public:
  /// Every package has this schema.
  explicit EchoMonitor(std::string schema) : schema_(std::move(schema)) {}

  std::size_t registered = 0;
  std::size_t reported = 0;

  Task<Result<RegisterResponse>> RegisterResource(Goal goal) override {
    ++registered;
    RegisterResponse response;
    response.urn = Urn::Make("dev", "proj", goal.parent, goal.type, goal.name);
    response.outputs = std::move(goal.properties);
    response.id = goal.custom ? "id" : "";
    co_return response;
  }
  Task<Result<RegisterResponse>> RegisterTransformed(Goal, std::vector<Transform>) override {
    co_return Fail(ErrorKind::kBug, "a YAML program has no transforms");
  }
  Task<Result<void>> RegisterOutputs(Urn, PropertyMap) override { co_return Result<void>(); }
  Task<Result<RegisterResponse>> ReadResource(ReadGoal goal) override {
    RegisterResponse response;
    response.urn = Urn::Make("dev", "proj", goal.parent, goal.type, goal.name);
    response.id = goal.id;
    response.outputs = std::move(goal.properties);
    co_return response;
  }
  Task<Result<InvokeOutcome>> Invoke(InvokeGoal goal) override {
    InvokeOutcome outcome;
    outcome.result = std::move(goal.args);
    co_return outcome;
  }
  Task<Result<CallResponse>> Call(CallGoal) override { co_return CallResponse(); }
  void RegisterStackTransform(Transform) override {}
  void RegisterStackInvokeTransform(InvokeTransform) override {}
  Result<void> RegisterHook(Hook) override { return {}; }
  Task<Result<std::string>> RegisterPackage(PackageDescriptor package) override {
    co_return package.name;
  }
  Task<Result<std::string>> GetSchema(PackageDescriptor) override { co_return schema_; }
  void Log(Severity, const std::string&, const Urn&) override {}
  void Report(const Error&) override { ++reported; }

 private:
  std::string schema_;
};

}  // namespace davit::testing
