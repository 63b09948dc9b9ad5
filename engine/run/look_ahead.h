#pragma once
// Check and Diff asked for while a registration still waits for the generator, so that their round
// trips overlap (E15 keeps the decisions serial). Only where nothing that may yet happen in the run
// can change the questions. Engine thread.

#include "engine/base/waiting.h"
#include "engine/run/run_context.h"

namespace davit {

struct Registration;

/// The questions that were asked ahead for one registration, and their answers.
struct LookAhead {
  InstancePtr provider;
  StatePtr old_state;  ///< null: none
  PropertyMap news;    ///< inputs that Check was asked about
  bool was_skipped =
      false;  ///< the run stopped before the question was asked; valid once `check` is set
  Completion<Result<CheckResponse>> check;
  bool asks_diff = false;
  Completion<Result<DiffResponse>> diff;  ///< only with `asks_diff` and a Check without failures
  std::optional<PropertyMap> checked;     ///< the inputs that `diff` is about, once `check` is set

  bool HasChecked(const PropertyMap& inputs) const { return checked && *checked == inputs; }
};

/// Whether the answers for a registration can be asked for now; sets `registration.ahead`.
bool PrepareLookAhead(RunContext& context, Registration& registration);
/// Asks. Sets the completions of the registration's LookAhead in any case.
Task<void> AskAhead(RunContext& context,
                    std::shared_ptr<Registration> registration,
                    Semaphore* permits);

/// The requests, the same whether they are asked ahead or when the registration is planned (E68,
/// E78).
CheckRequest CheckRequestFor(const RunContext& context,
                             const Urn& urn,
                             const StatePtr& old_state,
                             PropertyMap news,
                             const Provider& provider,
                             std::string seed);
DiffRequest DiffRequestFor(const RunContext& context,
                           const Urn& urn,
                           const ResourceState& old_state,
                           PropertyMap new_inputs,
                           std::vector<std::string> ignore_changes);

}  // namespace davit
