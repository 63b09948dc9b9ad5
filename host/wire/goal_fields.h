#pragma once
// Options of a registration as messages spell them: URNs and texts in lists, durations, aliases.
// Shared by Construct and by the callbacks of programs (P83, P104).

#include <fmt/format.h>
#include <google/protobuf/repeated_ptr_field.h>

#include <string>
#include <vector>

#include "engine/model/goal.h"
#include "pulumirpc/alias.pb.h"

namespace davit {

using WireTexts = google::protobuf::RepeatedPtrField<std::string>;

inline void AddUrns(const std::vector<Urn>& urns, WireTexts* out) {
  for (const Urn& urn : urns) {
    *out->Add() = urn.text();
  }
}

inline void AddTexts(const std::vector<std::string>& texts, WireTexts* out) {
  out->Add(texts.begin(), texts.end());
}

/// Seconds as `1.5s`; empty for none.
inline std::string DurationText(double seconds) {
  return seconds == 0 ? std::string() : fmt::format("{}s", seconds);
}

inline void SetAlias(const AliasSpec& alias, pulumirpc::Alias* out) {
  if (!alias.urn.empty()) {
    out->set_urn(alias.urn.text());
    return;
  }
  pulumirpc::Alias::Spec* spec = out->mutable_spec();
  spec->set_name(alias.name.value_or(""));
  spec->set_type(alias.type.value_or(""));
  spec->set_project(alias.project.value_or(""));
  spec->set_stack(alias.stack.value_or(""));
  if (alias.no_parent) {
    spec->set_noparent(true);
  } else if (!alias.parent.empty()) {
    spec->set_parenturn(alias.parent.text());
  }
}

}  // namespace davit
