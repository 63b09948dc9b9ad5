#pragma once
// Asking providers about one registration: Check and Diff (E68-E87). Engine thread.

#include "engine/plan/diff_decision.h"
#include "engine/run/look_ahead.h"
#include "engine/run/run_context.h"

namespace davit {

/// Check of a resource or provider (E68, E72): the checked inputs. Failures are reported, one
/// diagnostic each; the error is then a bail. `old_state` null: no old side is sent. `ahead`: an
/// answer asked for before is used if it is to the same question.
Task<Result<PropertyMap>> CheckInputsOf(RunContext& context,
                                        Urn urn,
                                        StatePtr old_state,
                                        PropertyMap news,
                                        InstancePtr provider,
                                        std::string seed,
                                        std::shared_ptr<LookAhead> ahead = nullptr);

/// What a failed Check says about one property (E72, P78).
Error CheckFailureError(const Urn& urn, const CheckFailure& failure, const PropertyMap& inputs);

/// The comparison of E77, first test that fires; replaceOnChanges is applied (E87). `provider`
/// null: components and provider resources. `is_forced`: E81.
Task<Result<DiffDecision>> CompareWithOld(RunContext& context,
                                          const ResourceState& state,
                                          StatePtr old_state,
                                          InstancePtr provider,
                                          bool is_forced,
                                          std::shared_ptr<LookAhead> ahead = nullptr);

/// E73: whether the configuration gives the resource a name without a random part. Warns where the
/// provider cannot be told of it.
bool NameIsTaken(RunContext& context,
                 const Registration& registration,
                 const InstancePtr& provider);

}  // namespace davit
