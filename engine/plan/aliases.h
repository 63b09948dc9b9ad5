#pragma once
// Aliases: other URNs that a resource may have had, and which of them were matched in this run (E46-E52). Pure.

#include <string>
#include <unordered_map>
#include <vector>

#include "engine/model/goal.h"

namespace davit {

class AliasTable {
 public:
  /// The URNs under which an old record is looked for, after `urn` itself and in this order (E47, E48): the resource's own
  /// aliases, then what follows from its parent's alias. Without repetitions.
  std::vector<Urn> Resolve(const Urn& urn,
                           const Urn& parent,
                           const std::vector<AliasSpec>& specs) const;
  /// Remembers that the record of `old_urn` is that of `new_urn` now (E51).
  void Claim(const Urn& old_urn, const Urn& new_urn);
  /// The URN that took over the record of `old_urn`, or an empty one.
  Urn NewOf(const Urn& old_urn) const;
  /// The URN whose record `new_urn` took over, or an empty one.
  Urn OldOf(const Urn& new_urn) const;
  /// `new_urn` by which references to `urn` go on, `urn` itself when it was not renamed.
  Urn Current(const Urn& urn) const;
  bool empty() const { return new_of_.empty(); }

 private:
  std::unordered_map<Urn, Urn> new_of_;
  std::unordered_map<Urn, Urn> old_of_;
};

}  // namespace davit
