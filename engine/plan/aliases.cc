#include "engine/plan/aliases.h"

#include <algorithm>

namespace davit {
namespace {

// E47: what the specification leaves out is the resource's own.
Urn UrnOf(const AliasSpec& spec, const Urn& urn, const Urn& current_parent, const AliasTable& table) {
  if (!spec.urn.empty()) {
    return spec.urn;
  }
  Urn parent = current_parent;
  if (!spec.parent.empty()) {
    const Urn before = table.OldOf(spec.parent);
    parent = before.empty() ? spec.parent : before;
  }
  if (spec.no_parent || parent.is_root_stack()) {
    parent = Urn();
  }
  const std::string name = spec.name.value_or(std::string(urn.name()));
  const std::string type = spec.type.value_or(std::string(urn.type()));
  if (!parent.empty()) {
    return Urn::Make(parent.stack(), parent.project(), parent, type, name);
  }
  return Urn::Make(spec.stack.value_or(std::string(urn.stack())),
                   spec.project.value_or(std::string(urn.project())),
                   parent,
                   type,
                   name);
}

// E48: a child's URN under the parent's old one; a name that begins with the parent's follows it.
Urn Inherited(const Urn& old_parent, const Urn& parent, std::string_view type, std::string_view name) {
  std::string child(name);
  if (child.starts_with(parent.name())) {
    child = std::string(old_parent.name()) + child.substr(parent.name().size());
  }
  return Urn::Make(old_parent.stack(), old_parent.project(), old_parent, type, child);
}

}  // namespace

std::vector<Urn> AliasTable::Resolve(const Urn& urn,
                                     const Urn& parent,
                                     const std::vector<AliasSpec>& specs) const {
  std::vector<Urn> urns;
  const auto add = [&](Urn alias) {
    if (std::ranges::find(urns, alias) == urns.end()) {
      urns.push_back(std::move(alias));
    }
  };
  for (const AliasSpec& spec : specs) {
    add(UrnOf(spec, urn, parent, *this));
  }
  const Urn old_parent = OldOf(parent);
  if (old_parent.empty()) {
    return urns;
  }
  const std::vector<Urn> own = urns;
  add(Inherited(old_parent, parent, urn.type(), urn.name()));
  for (const Urn& alias : own) {
    add(Inherited(old_parent, parent, alias.type(), alias.name()));
  }
  return urns;
}

void AliasTable::Claim(const Urn& old_urn, const Urn& new_urn) {
  new_of_[old_urn] = new_urn;
  old_of_[new_urn] = old_urn;
}

Urn AliasTable::NewOf(const Urn& old_urn) const {
  const auto at = new_of_.find(old_urn);
  return at == new_of_.end() ? Urn() : at->second;
}

Urn AliasTable::OldOf(const Urn& new_urn) const {
  const auto at = old_of_.find(new_urn);
  return at == old_of_.end() ? Urn() : at->second;
}

Urn AliasTable::Current(const Urn& urn) const {
  const auto at = new_of_.find(urn);
  return at == new_of_.end() ? urn : at->second;
}

}  // namespace davit
