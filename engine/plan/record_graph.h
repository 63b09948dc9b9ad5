#pragma once
// The dependency graph over an ordered list of records (E5, E26, E88). Built once per run; queries
// cost what they return.

#include <cstddef>
#include <set>
#include <unordered_map>
#include <vector>

#include "engine/model/resource_state.h"

namespace davit {

class RecordGraph {
 public:
  explicit RecordGraph(const std::vector<StatePtr>& records);

  /// Indices of the records that `index` depends on, directly: those that precede it and whose URN
  /// it names (provider included), and the transitive children of components among them (E26).
  /// Ascending.
  std::vector<std::size_t> DependenciesOf(std::size_t index) const;
  /// Indices of the records that transitively depend on the URN of record `index`, in list order
  /// (E88a: dependencies, property dependencies, deletedWith, replaceWith and provider; children
  /// alone do not count).
  std::vector<std::size_t> DependentsOf(std::size_t index) const;
  /// Indices of records that name this URN in `deletedWith` or `replaceWith` (E88b), in list order.
  std::vector<std::size_t> TiedTo(const Urn& urn) const;
  /// All that the records of `roots` need, directly or not, parents and providers included, but not
  /// what stands below a component among them (recorded); roots excluded unless reached.
  std::set<std::size_t> Reachable(const std::vector<std::size_t>& roots) const;

  /// Batches of `condemned` indices in the order in which they are deleted (E26): what nothing
  /// condemned depends on first.
  std::vector<std::vector<std::size_t>> DeleteBatches(
      const std::vector<std::size_t>& condemned) const;

 private:
  void AddChildren(std::size_t component, std::size_t before, std::set<std::size_t>& found) const;
  std::set<std::size_t> Needs(std::size_t index, bool with_children) const;

  const std::vector<StatePtr>& records_;
  std::unordered_map<Urn, std::vector<std::size_t>> by_urn_;
  std::unordered_map<Urn, std::vector<std::size_t>> children_;    ///< by parent URN
  std::unordered_map<Urn, std::vector<std::size_t>> dependents_;  ///< by URN named, without parents
  std::unordered_map<Urn, std::vector<std::size_t>> tied_;
};

}  // namespace davit
