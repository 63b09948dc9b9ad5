#pragma once
// What the human views say about policy packs (C98, C115). No output of its own; engine thread.

#include <string>
#include <vector>

#include "cli/display/display_options.h"
#include "engine/events.h"

namespace davit {

/// What the policy packs of a run have found so far.
class PolicyFindings {
 public:
  /// Takes an event; gives whether it was one of a policy.
  bool Take(const Event& event);
  bool has_mandatory() const { return has_mandatory_; }
  /// `Policies:` with a line for each pack and what it has found; empty when no pack judged.
  std::string Section(const std::vector<PolicyPack>& packs, const DisplayOptions& options) const;

 private:
  std::vector<PolicyViolationEvent> violations_;
  std::vector<PolicyRemediationEvent> remediations_;
  bool has_mandatory_ = false;
};

/// A violation as the diff view tells it, with the break at its end.
std::string ViolationText(const PolicyViolationEvent& event, const DisplayOptions& options);
/// A correction with what it changes; empty when it changes nothing.
std::string RemediationText(const PolicyRemediationEvent& event, const DisplayOptions& options);
/// The names and versions of the packs, as the diff view ends; empty when there are none.
std::string PolicyPackTable(const std::vector<PolicyPack>& packs, const DisplayOptions& options);

}  // namespace davit
