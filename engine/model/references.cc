#include "engine/model/references.h"

#include "engine/model/provider_ref.h"

namespace davit {
namespace {

using Rewrite = std::function<Urn(ReferenceKind, const Urn&)>;

void RewriteOne(Urn& urn, ReferenceKind kind, const Rewrite& rewrite) {
  if (!urn.empty()) {
    urn = rewrite(kind, urn);
  }
}

void RewriteList(std::vector<Urn>& urns, ReferenceKind kind, const Rewrite& rewrite) {
  for (Urn& urn : urns) {
    RewriteOne(urn, kind, rewrite);
  }
  std::erase_if(urns, [](const Urn& urn) { return urn.empty(); });
}

}  // namespace

std::string_view ReferenceKindName(ReferenceKind kind) {
  switch (kind) {
    case ReferenceKind::kParent:
      return "parent";
    case ReferenceKind::kDependency:
      return "dependency";
    case ReferenceKind::kPropertyDependency:
      return "property dependency";
    case ReferenceKind::kDeletedWith:
      return "deletedWith resource";
    case ReferenceKind::kReplaceWith:
      return "replaceWith resource";
    case ReferenceKind::kProvider:
      return "provider";
    case ReferenceKind::kViewOf:
      return "viewOf resource";
  }
  return "reference";
}

bool IsDependency(ReferenceKind kind) {
  return kind != ReferenceKind::kProvider && kind != ReferenceKind::kViewOf;
}

void VisitDependencies(const ResourceState& state,
                       const std::function<void(ReferenceKind, const Urn&)>& visit) {
  const auto one = [&](ReferenceKind kind, const Urn& urn) {
    if (!urn.empty()) {
      visit(kind, urn);
    }
  };
  one(ReferenceKind::kParent, state.parent);
  for (const Urn& urn : state.dependencies) {
    one(ReferenceKind::kDependency, urn);
  }
  for (const auto& [key, urns] : state.property_dependencies) {
    for (const Urn& urn : urns) {
      one(ReferenceKind::kPropertyDependency, urn);
    }
  }
  one(ReferenceKind::kDeletedWith, state.deleted_with);
  for (const Urn& urn : state.replace_with) {
    one(ReferenceKind::kReplaceWith, urn);
  }
}

void VisitReferences(const ResourceState& state,
                     const std::function<void(ReferenceKind, const Urn&)>& visit) {
  VisitDependencies(state, visit);
  if (!state.provider.empty()) {
    if (const Result<ProviderRef> reference = ProviderRef::Parse(state.provider)) {
      visit(ReferenceKind::kProvider, reference->urn);
    }
  }
  if (!state.view_of.empty()) {
    visit(ReferenceKind::kViewOf, state.view_of);
  }
}

void RewriteReferences(ResourceState& state, const Rewrite& rewrite) {
  RewriteOne(state.parent, ReferenceKind::kParent, rewrite);
  RewriteList(state.dependencies, ReferenceKind::kDependency, rewrite);
  for (auto& [key, urns] : state.property_dependencies) {
    RewriteList(urns, ReferenceKind::kPropertyDependency, rewrite);
  }
  RewriteOne(state.deleted_with, ReferenceKind::kDeletedWith, rewrite);
  RewriteList(state.replace_with, ReferenceKind::kReplaceWith, rewrite);
  if (!state.provider.empty()) {
    if (Result<ProviderRef> reference = ProviderRef::Parse(state.provider)) {
      reference->urn = rewrite(ReferenceKind::kProvider, reference->urn);
      state.provider = reference->urn.empty() ? std::string() : reference->Text();
    }
  }
  RewriteOne(state.view_of, ReferenceKind::kViewOf, rewrite);
}

}  // namespace davit
