#pragma once
// What `state delete|rename|protect|unprotect|taint|untaint` do to a snapshot (S156-S159). Pure,
// any thread. A failed edit leaves the snapshot as it was.

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/snapshot.h"

namespace davit {

/// The error for a URN that no record has; it names the nearest one.
Unexpected NoSuchResource(const Urn& urn, const Snapshot& snapshot);

struct StateDeleteRequest {
  std::vector<Urn> urns;
  bool all = false;         ///< every record
  bool force = false;       ///< protected ones too
  bool dependents = false;  ///< what depends on them too
};
/// S157: refused while others depend on a record, for protected ones, and for URNs with copies.
Result<void> DeleteRecords(const StateDeleteRequest& request, Snapshot* snapshot);

/// S158: gives a record another name; every reference to it follows.
Result<void> RenameRecord(const Urn& urn, const std::string& name, Snapshot* snapshot);

/// Sets a flag on the records of these URNs (with `all` on every one) that are not marked `delete`,
/// and gives how many there are (S159).
Result<int> SetFlag(const std::vector<Urn>& urns,
                    bool all,
                    bool ResourceState::*flag,
                    bool value,
                    Snapshot* snapshot);

}  // namespace davit
