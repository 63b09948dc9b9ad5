#pragma once
// State-only refresh (E138-E146): reads every record from its provider and rebuilds the state.
// Engine thread.

#include "engine/run/run_context.h"

namespace davit {

enum class RefreshScope {
  kStandalone,  ///< `davit refresh`: result operations are counted and shown (E217)
  kBeforeRun,   ///< `--refresh` before the program (E144)
  kMarked,      ///< only records with `refreshBeforeUpdate` (E145)
};

/// Refreshes the selected records of the base (E139), in parallel and without order; a failure does
/// not stop the others (E33). Afterwards the context's base is the rebuilt list (E143).
Task<void> RunRefresh(RunContext& context, RefreshScope which);

/// The end of a refresh that the program drove: what it did not register is read with providers
/// from the state (E149).
Task<void> RefreshUnregistered(RunContext& context);

}  // namespace davit
