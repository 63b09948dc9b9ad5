#include "engine/model/resource_state.h"

#include <algorithm>

#include "engine/model/references.h"

namespace davit {
namespace {

// Dependencies are a set where writing is concerned (E201).
bool SameSet(std::vector<Urn> a, std::vector<Urn> b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  return a == b;
}

}  // namespace

std::vector<Urn> DependenciesOf(const ResourceState& state) {
  std::vector<Urn> urns;
  VisitDependencies(state, [&](ReferenceKind, const Urn& urn) { urns.push_back(urn); });
  return urns;
}

bool EqualForWriting(const ResourceState& a, const ResourceState& b) {
  return a.urn == b.urn && a.type == b.type && a.custom == b.custom && a.custom_timeouts == b.custom_timeouts &&
         a.retain_on_delete == b.retain_on_delete && a.provider == b.provider && a.parent == b.parent &&
         a.deleted_with == b.deleted_with && SameSet(a.replace_with, b.replace_with) && a.protect == b.protect &&
         a.taint == b.taint && a.inputs == b.inputs && a.outputs == b.outputs &&
         SameSet(a.dependencies, b.dependencies) && a.property_dependencies == b.property_dependencies &&
         a.resource_hooks == b.resource_hooks && a.replacement_trigger == b.replacement_trigger;
}

}  // namespace davit
