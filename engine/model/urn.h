#pragma once
// URNs: `urn:pulumi:<stack>::<project>::<qualified type>::<name>` (E41, S23). Values, any thread.

#include <compare>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace davit {

inline constexpr std::string_view kRootStackType = "pulumi:pulumi:Stack";
inline constexpr std::string_view kProviderTypePrefix = "pulumi:providers:";

/// Identity of a resource. An empty Urn means "none".
class Urn {
 public:
  Urn() = default;
  /// Checks the form; the name may itself contain `::`.
  static Result<Urn> Parse(std::string_view text);
  /// Takes text that is known to be a URN (state files, our own results) without checking it.
  static Urn Trusted(std::string text) { return Urn(std::move(text)); }
  /// The URN of a resource; `parent` may be empty or the root stack (which adds nothing to the qualified type).
  static Urn Make(std::string_view stack, std::string_view project, const Urn& parent, std::string_view type,
                  std::string_view name);

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  std::string_view stack() const { return Part(0); }
  std::string_view project() const { return Part(1); }
  /// Types of the ancestors and the own type, joined by `$`.
  std::string_view qualified_type() const { return Part(2); }
  /// The own type: text after the last `$`.
  std::string_view type() const;
  std::string_view name() const { return Part(3); }
  bool is_root_stack() const { return qualified_type() == kRootStackType; }
  bool is_provider() const { return type().substr(0, kProviderTypePrefix.size()) == kProviderTypePrefix; }

  friend auto operator<=>(const Urn&, const Urn&) = default;
  friend bool operator==(const Urn&, const Urn&) = default;

 private:
  explicit Urn(std::string text) : text_(std::move(text)) {}
  std::string_view Part(int index) const;
  std::string text_;
};

/// The package of a three- or two-part type token (`aws:s3/bucket:Bucket` gives `aws`); of a provider type its package.
std::string_view PackageOf(std::string_view type_token);

}  // namespace davit

template <>
struct std::hash<davit::Urn> {
  std::size_t operator()(const davit::Urn& urn) const { return std::hash<std::string>{}(urn.text()); }
};
