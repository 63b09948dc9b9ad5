#pragma once
// Target lists: URNs and globs (E120). Pure.

#include <string>
#include <vector>

#include "engine/model/urn.h"

namespace davit {

class TargetList {
 public:
  TargetList() = default;
  /// `*` is any text without `:`, `**` any text; everything else is literal. An empty list means
  /// everything.
  explicit TargetList(std::vector<std::string> entries) : entries_(std::move(entries)) {}

  bool is_constrained() const { return !entries_.empty(); }
  /// Whether the list names the URN; true when unconstrained.
  bool Contains(const Urn& urn) const;
  /// Entries without `*`, which have to exist (E131).
  std::vector<std::string> Literals() const;

 private:
  std::vector<std::string> entries_;
};

}  // namespace davit
