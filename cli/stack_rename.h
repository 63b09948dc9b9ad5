#pragma once
// `stack rename` on a snapshot (S155). Pure, any thread.

#include <string>

#include "engine/model/snapshot.h"

namespace davit {

/// Every URN of the stack `from` becomes one of the stack `to`, wherever a record, a value that is
/// at hand, or a pending operation names it; the root stack's name follows.
void RenameStackInState(const std::string& from, const std::string& to, Snapshot* snapshot);

}  // namespace davit
