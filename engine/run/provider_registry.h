#pragma once
// The providers of one run (E159-E168): loads, checks, compares and configures provider resources,
// and answers for providers whose configuration is unknown (E113) or that cannot preview (E112).
// Engine thread.

#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "engine/base/waiting.h"
#include "engine/ids.h"
#include "engine/model/provider_ref.h"
#include "engine/model/resource_state.h"
#include "engine/plan/diff_decision.h"
#include "engine/run/provider_pool.h"

namespace davit {

class ProviderRegistry {
 public:
  ProviderRegistry(std::shared_ptr<ProviderPool> pool, bool preview, CancelToken cancel)
      : pool_(std::move(pool)), preview_(preview), cancel_(std::move(cancel)) {}

  // --- provider resources as resources (E160-E162)

  /// Loads the plugin and calls CheckConfig; the instance is kept unconfigured under the URN.
  /// `warnings` gets messages for the user.
  Task<Result<CheckResponse>> Check(Urn urn,
                                    PropertyMap olds,
                                    PropertyMap news,
                                    std::vector<std::string>* warnings);
  /// DiffConfig on the instance of the last Check; never asks for replacement when unimplemented
  /// (E161).
  Task<Result<DiffDecision>> Diff(Urn urn,
                                  PropertyMap old_inputs,
                                  PropertyMap old_outputs,
                                  PropertyMap new_inputs);
  /// Configures the instance of the last Check and registers it as (urn, id).
  Task<Result<void>> Configure(Urn urn, std::string id, PropertyMap inputs);
  /// Forgets a provider; it is closed unless a later run may want it.
  void Delete(const Urn& urn, const std::string& id);

  // --- providers of resources

  /// E168: the live provider of a reference, or the one of `old_state` (may be null) loaded and
  /// configured from its record.
  Task<Result<InstancePtr>> Ensure(std::string reference, StatePtr old_state);
  /// The live provider of a reference, or null.
  InstancePtr Find(const std::string& reference) const;

  /// Gives all processes back to the pool at the end of the run.
  void ReleaseAll();

 private:
  struct Ensuring {
    Gate done;
    std::optional<Error> error;
  };
  Task<Result<void>> ConfigureInstance(InstancePtr instance,
                                       Urn urn,
                                       std::string id,
                                       PropertyMap inputs);

  std::shared_ptr<ProviderPool> pool_;
  bool preview_;
  CancelToken cancel_;
  std::map<std::string, InstancePtr> live_;       ///< by reference text
  std::unordered_map<Urn, InstancePtr> checked_;  ///< unconfigured, after Check
  std::map<std::string, std::shared_ptr<Ensuring>> ensuring_;
};

// --- calls with the rules for unknown configuration and missing preview support (P74, E112, E113)

Task<Result<CheckResponse>> CheckResource(InstancePtr instance,
                                          CheckRequest request,
                                          CancelToken cancel);
/// `unavailable` is set when the provider could not be asked because its configuration is unknown
/// (E80).
Task<Result<DiffResponse>> DiffResource(InstancePtr instance,
                                        DiffRequest request,
                                        bool* unavailable,
                                        CancelToken cancel);
Task<Result<CreateResponse>> CreateResource(InstancePtr instance,
                                            CreateRequest request,
                                            CancelToken cancel);
Task<Result<UpdateResponse>> UpdateResource(InstancePtr instance,
                                            UpdateRequest request,
                                            CancelToken cancel);
Task<Result<ReadResponse>> ReadResource(InstancePtr instance,
                                        ReadRequest request,
                                        CancelToken cancel);
Task<Result<InvokeResponse>> InvokeFunction(InstancePtr instance,
                                            InvokeRequest request,
                                            CancelToken cancel);

}  // namespace davit
