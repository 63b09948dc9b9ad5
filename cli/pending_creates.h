#pragma once
// What `refresh` does with creates that an earlier run began and that may or may not have happened
// (E151, C15). Pure, any thread.

#include <map>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/snapshot.h"

namespace davit {

struct PendingCreateChoices {
  std::vector<Urn> cleared;            ///< nothing was made: forget them
  std::map<Urn, std::string> adopted;  ///< the object is there, with this id
};

/// The creates that wait for an answer, in the order of the state.
std::vector<Urn> PendingCreates(const Snapshot& snapshot);
/// `--import-pending-creates`: URN and id in turn.
Result<std::map<Urn, std::string>> ParseAdopted(const std::vector<std::string>& words);
/// Clears and adopts; an adopted object is a record that the refresh reads, and the record that it
/// was to replace waits for its deletion. Errors name a URN without pending create. A failure
/// leaves the snapshot as it was.
Result<void> SettlePendingCreates(const PendingCreateChoices& choices, Snapshot* snapshot);

}  // namespace davit
