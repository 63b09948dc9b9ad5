#pragma once
// Policy packs in a run (E109): every registration is corrected and judged after its Check, the
// stack when all else has succeeded. Engine thread.

#include "engine/model/goal.h"
#include "engine/run/run_context.h"

namespace davit {

/// Lets the packs correct the record's inputs, one after the other, and judge them, all at once. A
/// mandatory violation makes a registration of an update fail, with an error that is reported
/// already; a preview goes on and fails at its end (E37).
Task<Result<void>> ApplyPolicies(RunContext& context,
                                 std::shared_ptr<ResourceState> state,
                                 const Goal& goal);
/// Corrects the inputs that a second Check has given for a replacement as the first were; what that
/// does has been reported.
Task<Result<void>> CorrectAgain(RunContext& context,
                                std::shared_ptr<ResourceState> state,
                                const Goal& goal);
/// Judges the final outputs of all records of the run.
Task<void> AnalyzeStack(RunContext& context);

}  // namespace davit
