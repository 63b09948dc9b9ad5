#pragma once
// Every kind of reference from one record to another, listed in one place: whoever verifies,
// cleans, renames or orders records goes through here, so that a new kind is added once. Pure, any
// thread.

#include <functional>
#include <string_view>

#include "engine/model/resource_state.h"

namespace davit {

enum class ReferenceKind {
  kParent,
  kDependency,
  kPropertyDependency,
  kDeletedWith,
  kReplaceWith,
  kProvider,
  kViewOf
};

/// For messages: "parent", "property dependency".
std::string_view ReferenceKindName(ReferenceKind kind);

/// Whether the kind is one of the dependencies of E5, which must precede the record; providers are
/// judged by URN and id (S40), and nothing requires the owner of a view (S41).
bool IsDependency(ReferenceKind kind);

/// Calls `visit` for each dependency of a record, in the order of E5. Absent ones are left out.
void VisitDependencies(const ResourceState& state,
                       const std::function<void(ReferenceKind, const Urn&)>& visit);

/// Calls `visit` for each reference of a record: its dependencies, then provider and viewOf.
/// Absent references are left out, and so is a provider whose text is malformed.
void VisitReferences(const ResourceState& state,
                     const std::function<void(ReferenceKind, const Urn&)>& visit);

/// Gives each reference the URN that `rewrite` returns for it; an empty one drops the reference. A
/// provider keeps its id.
void RewriteReferences(ResourceState& state,
                       const std::function<Urn(ReferenceKind, const Urn&)>& rewrite);

}  // namespace davit
