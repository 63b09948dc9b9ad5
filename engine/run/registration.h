#pragma once
// The Monitor of a run: preprocessing of what programs ask for (E53-E58, P96-P99), then on to the
// generator. Engine thread.

#include <map>
#include <tuple>

#include "engine/base/waiting.h"
#include "engine/run/construct.h"
#include "engine/run/generator.h"
#include "engine/run/transforms.h"

namespace davit {

class RegistrationMonitor final : public Monitor {
 public:
  RegistrationMonitor(RunContext& context, Generator& generator)
      : context_(context),
        generator_(generator),
        required_(context.request.source->RequiredPackages()) {}

  Task<Result<RegisterResponse>> RegisterResource(Goal goal) override;
  Task<Result<RegisterResponse>> RegisterTransformed(Goal goal,
                                                     std::vector<Transform> transforms) override;
  Task<Result<void>> RegisterOutputs(Urn urn, PropertyMap outputs) override;
  Task<Result<RegisterResponse>> ReadResource(ReadGoal goal) override;
  Task<Result<std::optional<bool>>> ExistsResource(ReadGoal goal) override;
  Task<Result<InvokeOutcome>> Invoke(InvokeGoal goal) override;
  Task<Result<CallResponse>> Call(CallGoal goal) override;
  void RegisterStackTransform(Transform transform) override;
  void RegisterStackInvokeTransform(InvokeTransform transform) override;
  Result<void> RegisterHook(Hook hook) override;
  Task<Result<std::string>> RegisterPackage(PackageDescriptor package) override;
  Task<Result<std::string>> GetSchema(PackageDescriptor package) override;
  void Log(Severity severity, const std::string& message, const Urn& urn) override;
  void Report(const Error& error) override;
  /// No plugin registers any more; must be awaited before destruction.
  Task<void> Close() { return surroundings_.Close(); }

 private:
  /// What children inherit (E53, E170).
  struct Inherited {
    bool is_component = false;
    std::string provider;  ///< explicit or inherited, never a default one
    std::string default_provider;  ///< the default one that a custom resource uses
    std::map<std::string, std::string> providers;
    std::optional<bool> protect;
    std::optional<bool> retain_on_delete;
    Urn deleted_with;
  };
  using DefaultKey =
      std::tuple<std::string, std::string, std::string, std::optional<Parameterization>>;
  struct DefaultProvider {
    Completion<Result<std::string>> reference;
  };

  Task<Result<std::string>> ProviderOfRead(const ReadGoal& read);
  void FillFromRequired(PackageDescriptor& package) const;
  Result<void> RefuseUnsupported(const Goal& goal) const;
  Result<PackageDescriptor> PackageFor(std::string_view package,
                                       const std::string& ref,
                                       const std::string& version,
                                       const std::string& url) const;
  std::string InheritedProvider(const Urn& parent,
                                std::string_view package,
                                bool is_component) const;
  Task<Result<std::string>> DefaultProviderFor(PackageDescriptor package);
  Task<void> RegisterDefaultProvider(std::shared_ptr<DefaultProvider> entry,
                                     PackageDescriptor package);
  Task<Result<RegisterResponse>> Register(Goal goal, std::vector<Transform> transforms);
  Task<Result<CallResponse>> CallByGoal(CallGoal goal);
  /// E117: whether something that these stand for is still to be created; waits for registrations
  /// in flight.
  Task<bool> IsPending(std::vector<Urn> urns);
  Task<Result<RegisterResponse>> Submit(std::shared_ptr<Registration> registration);
  Error Reported(Error error, const Urn& urn);

  RunContext& context_;
  Generator& generator_;
  Scope scope_{context_.loop};
  TransformTable transforms_;
  PluginSurroundings surroundings_{context_, *this};
  const std::vector<PackageDescriptor> required_;
  std::map<Urn, Inherited> inherited_;
  std::map<Urn, std::vector<Urn>> children_;        ///< as registrations came
  std::map<Urn, std::shared_ptr<Gate>> in_flight_;  ///< not answered yet
  std::map<DefaultKey, std::shared_ptr<DefaultProvider>> defaults_;
  std::map<std::string, PackageDescriptor> packages_;
  int looked_for_ = 0;  ///< objects, for the names of the reads (E219)
};

}  // namespace davit
