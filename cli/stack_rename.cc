#include "cli/stack_rename.h"

#include <fmt/format.h>

#include "cli/urn_rewrite.h"
#include "engine/model/references.h"

namespace davit {
namespace {

/// Names of one stack, as they are in another.
class StackNames {
 public:
  StackNames(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}

  Urn Of(const Urn& urn) const {
    if (urn.empty() || urn.stack() != from_) {
      return urn;
    }
    const bool is_named_for_it =
        urn.is_root_stack() && urn.name() == fmt::format("{}-{}", urn.project(), from_);
    const std::string name =
        is_named_for_it ? fmt::format("{}-{}", urn.project(), to_) : std::string(urn.name());
    return Urn::Make(to_, urn.project(), Urn(), urn.qualified_type(), name);
  }

  StatePtr Of(const ResourceState& state) const {
    auto renamed = std::make_shared<ResourceState>(state);
    renamed->urn = Of(state.urn);
    RewriteReferences(*renamed, [this](ReferenceKind, const Urn& urn) { return Of(urn); });
    for (Urn& alias : renamed->aliases) {
      alias = Of(alias);
    }
    const UrnRenaming rename = [this](const Urn& urn) { return Of(urn); };
    renamed->inputs = WithRenamedUrns(state.inputs, rename);
    renamed->outputs = WithRenamedUrns(state.outputs, rename);
    renamed->replacement_trigger = WithRenamedUrns(state.replacement_trigger, rename);
    return renamed;
  }

 private:
  std::string from_;
  std::string to_;
};

}  // namespace

void RenameStackInState(const std::string& from, const std::string& to, Snapshot* snapshot) {
  const StackNames names(from, to);
  for (StatePtr& record : snapshot->resources) {
    record = names.Of(*record);
  }
  for (PendingOperation& operation : snapshot->pending_operations) {
    operation.resource = names.Of(*operation.resource);
  }
}

}  // namespace davit
