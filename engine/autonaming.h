#pragma once
// What the configuration `pulumi:autonaming` asks providers to call their resources (E73). Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/provider.h"

namespace davit {

/// One rule of the configuration.
struct NamingStrategy {
  enum class Kind { kDefault, kVerbatim, kDisabled, kPattern };
  Kind kind = Kind::kDefault;
  /// Text with `${name}`, `${hex(n)}`, `${alphanum(n)}`, `${string(n)}`, `${num(n)}` and `${uuid}`;
  /// other text in braces stands for itself.
  std::string pattern;
  bool enforce = false;  ///< the name is not to be adapted; of patterns only
};

struct Autonaming {
  /// Applies to all types without a closer rule.
  NamingStrategy everywhere;
  std::map<std::string, NamingStrategy, std::less<>> packages;
  std::map<std::string, NamingStrategy, std::less<>> types;  ///< by type token

  /// The rule for a type: its own, that of its package, or the one for all. `is_specific`: not the
  /// last.
  const NamingStrategy& For(std::string_view type, bool* is_specific) const;
};

/// What a strategy makes of one resource.
struct NamingOutcome {
  std::optional<AutonamingOptions> options;  ///< none: the provider names it as it likes
  /// The name has no random part, so old and new cannot exist side by side.
  bool deletes_first = false;
};

/// Random parts come from `seed`: equal seeds give equal names.
NamingOutcome NameFor(const NamingStrategy& strategy,
                      std::string_view name,
                      const std::string& seed);

}  // namespace davit
