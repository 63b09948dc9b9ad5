#pragma once
// Carries out a history against the engine and judges every run of it.

#include <map>
#include <optional>
#include <string>

#include "tests/fuzz/history.h"

namespace davit::fuzz {

/// What does not hold. `kind` is the same for the same fault, so that a smaller history can be
/// compared.
struct Finding {
  std::string kind;
  std::string text;
};

/// What was exercised, over all histories: operations, results, steps by name.
using Tally = std::map<std::string, long>;

/// Runs the moves of a history one after another, then, without mishaps, the last program until
/// nothing changes, and a destroy. After every journal entry the state is valid; after every run
/// each object is known to the state. Returns the first finding.
std::optional<Finding> RunHistory(const History& history, Tally* tally);

}  // namespace davit::fuzz
