#pragma once
// `state move` on two snapshots (S160). Pure, any thread.

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/snapshot.h"

namespace davit {

struct StateMoveRequest {
  std::vector<Urn> urns;  ///< the root stack stands for all that it holds
  bool include_parents = false;
  std::string project;  ///< of the stack that gets them
  std::string stack;
};

/// What a move does, for the user; URNs as they are before it.
struct StateMoveReport {
  std::vector<Urn> missing;  ///< asked for, and not there
  std::vector<Urn> moved;
  std::vector<std::string> staying;  ///< what stays has lost these references to what moves
  std::vector<std::string> moving;   ///< what moves has lost these references to what stays
};

/// Moves records with all that is below them. Providers are copied where they are needed. What
/// crosses the cut is dropped and reported. Nothing to move, a URN that is there already, or a
/// provider of the same name with another configuration is an error; then both snapshots are to be
/// thrown away.
Result<StateMoveReport> MoveRecords(const StateMoveRequest& request,
                                    Snapshot* source,
                                    Snapshot* target);

}  // namespace davit
