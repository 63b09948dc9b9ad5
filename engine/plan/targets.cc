#include "engine/plan/targets.h"

#include <algorithm>
#include <string_view>

#include "engine/model/provider_ref.h"

namespace davit {
namespace {

// Linear-space matching with one position per pattern character, so that no pattern is exponential.
bool Matches(std::string_view pattern, std::string_view text) {
  struct Piece {
    char literal;
    bool is_star;
    bool any;
  };
  std::vector<Piece> pieces;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '*') {
      const bool twice = at + 1 < pattern.size() && pattern[at + 1] == '*';
      pieces.push_back({'*', true, twice});
      at += twice ? 1 : 0;
    } else {
      pieces.push_back({pattern[at], false, false});
    }
  }
  std::vector<bool> reached(pieces.size() + 1, false);
  reached[0] = true;
  const auto close = [&](std::vector<bool>& states) {
    for (std::size_t at = 0; at < pieces.size(); ++at) {
      if (states[at] && pieces[at].is_star) {
        states[at + 1] = true;
      }
    }
  };
  close(reached);
  for (const char c : text) {
    std::vector<bool> next(pieces.size() + 1, false);
    for (std::size_t at = 0; at < pieces.size(); ++at) {
      if (!reached[at]) {
        continue;
      }
      if (pieces[at].is_star ? (pieces[at].any || c != ':') : pieces[at].literal == c) {
        next[pieces[at].is_star ? at : at + 1] = true;
      }
    }
    close(next);
    reached = std::move(next);
  }
  return reached[pieces.size()];
}

bool IsGlob(const std::string& entry) {
  return entry.find('*') != std::string::npos;
}

}  // namespace

TargetList::TargetList(const std::vector<std::string>& entries) {
  for (const std::string& entry : entries) {
    (IsGlob(entry) ? globs_ : literals_).push_back(entry);
  }
  known_.insert(literals_.begin(), literals_.end());
}

bool TargetList::Names(const Urn& urn) const {
  return known_.contains(urn.text()) || std::ranges::any_of(globs_, [&](const std::string& glob) {
           return Matches(glob, urn.text());
         });
}

bool Selection::Includes(const ResourceState& state) {
  if (!is_constrained()) {
    return true;
  }
  const bool by_targets = !targets_.empty();
  const TargetList& list = by_targets ? targets_ : excludes_;
  bool is_named = list.Names(state.urn);
  if (!is_named && (by_targets ? target_dependents_ : exclude_dependents_)) {
    const std::vector<Urn> urns = DependenciesOf(state);
    // A record may be listed under the URN that it keeps while its registration has another (E126).
    is_named = std::ranges::any_of(
        urns, [&](const Urn& urn) { return named_.contains(urn) || list.Names(urn); });
    const Result<ProviderRef> provider = ProviderRef::Parse(state.provider);
    is_named = is_named || (provider && named_.contains(provider->urn));
  }
  if (is_named) {
    named_.insert(state.urn);
  }
  return by_targets ? is_named : !is_named;
}

}  // namespace davit
