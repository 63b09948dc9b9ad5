#include "engine/plan/record_graph.h"

#include <algorithm>
#include <map>

#include "engine/model/references.h"

namespace davit {
namespace {

void AddUnique(std::vector<std::size_t>& list, std::size_t index) {
  if (list.empty() || list.back() != index) {  // records are entered in list order
    list.push_back(index);
  }
}

}  // namespace

RecordGraph::RecordGraph(const std::vector<StatePtr>& records) : records_(records) {
  for (std::size_t index = 0; index < records.size(); ++index) {
    const ResourceState& state = *records[index];
    by_urn_[state.urn].push_back(index);
    VisitReferences(state, [&](ReferenceKind kind, const Urn& urn) {
      if (kind == ReferenceKind::kParent) {
        children_[urn].push_back(index);
      } else if (kind != ReferenceKind::kViewOf) {
        AddUnique(dependents_[urn], index);
      }
      if (kind == ReferenceKind::kDeletedWith || kind == ReferenceKind::kReplaceWith) {
        AddUnique(tied_[urn], index);
      }
    });
  }
}

void RecordGraph::AddChildren(std::size_t component,
                              std::size_t before,
                              std::set<std::size_t>& found) const {
  std::vector<std::size_t> open{component};
  while (!open.empty()) {
    const std::size_t current = open.back();
    open.pop_back();
    const auto children = children_.find(records_[current]->urn);
    if (children == children_.end()) {
      continue;
    }
    for (const std::size_t child : children->second) {
      if (child < before && found.insert(child).second && !records_[child]->custom) {
        open.push_back(child);
      }
    }
  }
}

std::set<std::size_t> RecordGraph::Needs(std::size_t index, bool with_children) const {
  const ResourceState& state = *records_[index];
  std::set<std::size_t> found;
  const auto add = [&](const Urn& urn, bool may_have_children) {
    const auto at = by_urn_.find(urn);
    if (at == by_urn_.end()) {
      return;
    }
    for (const std::size_t candidate : at->second) {
      if (candidate >= index) {
        break;
      }
      found.insert(candidate);
      if (with_children && may_have_children && !records_[candidate]->custom) {
        AddChildren(candidate, index, found);
      }
    }
  };
  // Parent and provider count as dependencies, other children of the parent do not.
  VisitReferences(state, [&](ReferenceKind kind, const Urn& urn) {
    if (kind != ReferenceKind::kViewOf) {
      add(urn, kind != ReferenceKind::kParent && kind != ReferenceKind::kProvider);
    }
  });
  return found;
}

std::vector<std::size_t> RecordGraph::DependenciesOf(std::size_t index) const {
  const std::set<std::size_t> found = Needs(index, true);
  return {found.begin(), found.end()};
}

std::vector<std::size_t> RecordGraph::DependentsOf(std::size_t index) const {
  std::set<std::size_t> found;
  std::vector<Urn> open{records_[index]->urn};
  std::set<Urn> visited{records_[index]->urn};
  while (!open.empty()) {
    const Urn urn = open.back();
    open.pop_back();
    const auto at = dependents_.find(urn);
    if (at == dependents_.end()) {
      continue;
    }
    for (const std::size_t dependent : at->second) {
      if (dependent > index) {
        found.insert(dependent);
        if (visited.insert(records_[dependent]->urn).second) {
          open.push_back(records_[dependent]->urn);
        }
      }
    }
  }
  return {found.begin(), found.end()};
}

std::vector<std::size_t> RecordGraph::TiedTo(const Urn& urn) const {
  const auto at = tied_.find(urn);
  return at == tied_.end() ? std::vector<std::size_t>() : at->second;
}

std::set<std::size_t> RecordGraph::Reachable(const std::vector<std::size_t>& roots) const {
  std::set<std::size_t> found;
  std::vector<std::size_t> open = roots;
  while (!open.empty()) {
    const std::size_t current = open.back();
    open.pop_back();
    for (const std::size_t dependency : Needs(current, false)) {
      if (found.insert(dependency).second) {
        open.push_back(dependency);
      }
    }
  }
  return found;
}

std::vector<std::vector<std::size_t>> RecordGraph::DeleteBatches(
    const std::vector<std::size_t>& condemned) const {
  std::vector<std::size_t> ordered = condemned;
  std::ranges::sort(ordered);
  std::map<std::size_t, std::size_t> layer;
  std::vector<std::vector<std::size_t>> layers;
  for (const std::size_t index : ordered) {  // dependencies precede, so their layers are known
    std::size_t mine = 0;
    for (const std::size_t dependency : DependenciesOf(index)) {
      const auto at = layer.find(dependency);
      if (at != layer.end()) {
        mine = std::max(mine, at->second + 1);
      }
    }
    layer[index] = mine;
    if (layers.size() <= mine) {
      layers.resize(mine + 1);
    }
    layers[mine].push_back(index);
  }
  std::ranges::reverse(layers);
  return layers;
}

}  // namespace davit
