#pragma once
// Target lists: URNs and globs (E120), and what they select of a program (E121, E122). Pure.

#include <string>
#include <unordered_set>
#include <vector>

#include "engine/model/resource_state.h"

namespace davit {

class TargetList {
 public:
  TargetList() = default;
  /// `*` is any text without `:`, `**` any text; everything else is literal.
  explicit TargetList(const std::vector<std::string>& entries);

  bool empty() const { return literals_.empty() && globs_.empty(); }
  /// Whether the list names the URN.
  bool Names(const Urn& urn) const;
  /// Entries without `*`, which have to exist (E131).
  const std::vector<std::string>& Literals() const { return literals_; }

 private:
  std::vector<std::string> literals_;      ///< in the order given
  std::unordered_set<std::string> known_;  ///< the same, to look one up
  std::vector<std::string> globs_;
};

/// Which resources a run acts on. Records are asked about in list or program order, so that what
/// follows a selected resource can be selected too. Targets win over excludes when both are given.
class Selection {
 public:
  Selection(TargetList targets,
            bool target_dependents,
            TargetList excludes,
            bool exclude_dependents)
      : targets_(std::move(targets)),
        excludes_(std::move(excludes)),
        target_dependents_(target_dependents),
        exclude_dependents_(exclude_dependents) {}

  bool is_constrained() const { return !targets_.empty() || !excludes_.empty(); }
  bool has_targets() const { return !targets_.empty(); }
  bool includes_dependents() const { return target_dependents_; }
  /// Whether the run acts on this record (E121); remembers the answer for what depends on it.
  bool Includes(const ResourceState& state);
  const TargetList& targets() const { return targets_; }
  const TargetList& excludes() const { return excludes_; }
  bool excludes_dependents() const { return exclude_dependents_; }

 private:
  TargetList targets_;
  TargetList excludes_;
  bool target_dependents_;
  bool exclude_dependents_;
  std::unordered_set<Urn> named_;  ///< on the list, or a dependent of what is
};

}  // namespace davit
