#pragma once
// Provider references: `<provider URN>::<id>`, split at the last `::` (E159, S25). Values, any thread.

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/model/urn.h"

namespace davit {

/// Id of what is not known yet, and the sentinel of unknown text (E9).
inline constexpr std::string_view kUnknownId = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
/// Id of the default provider of a package that the configuration denies (E10).
inline constexpr std::string_view kDeniedProviderId = "denydefaultprovider";

struct ProviderRef {
  Urn urn;
  std::string id;

  /// Parses the text form; the URN must be of a provider type. An empty id means unknown.
  static Result<ProviderRef> Parse(std::string_view text);
  std::string Text() const { return urn.text() + "::" + id; }
  /// What references are compared by: the text, in which an empty id counts as the placeholder (S39).
  std::string Key() const { return id.empty() ? urn.text() + "::" + std::string(kUnknownId) : Text(); }
  /// The package that the provider serves.
  std::string_view package() const { return urn.type().substr(kProviderTypePrefix.size()); }
  /// Whether it is a default provider: its name starts with `default` (S25).
  bool is_default() const { return urn.name().substr(0, 7) == "default"; }

  friend bool operator==(const ProviderRef&, const ProviderRef&) = default;
};

}  // namespace davit
