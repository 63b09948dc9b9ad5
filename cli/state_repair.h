#pragma once
// `state repair` on a snapshot (S161). Pure, any thread.

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/snapshot.h"

namespace davit {

struct StateRepairReport {
  std::vector<Urn> moved;            ///< now stand elsewhere in the list
  std::vector<std::string> changes;  ///< a line for each record that changed, and for each change
};

/// Puts every record behind what it needs, and drops references to what does not exist. A provider
/// is never invented, so the result may still be unsound. A circle is an error that names a member.
Result<StateRepairReport> RepairSnapshot(Snapshot* snapshot);

}  // namespace davit
