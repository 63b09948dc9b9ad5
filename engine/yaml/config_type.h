#pragma once
// Types that a configuration entry may declare, in both vocabularies (Y28). Pure, any thread.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/yaml/document.h"

namespace davit {

struct ConfigType {
  enum class Kind { kString, kNumber, kInteger, kBoolean, kObject, kList };
  Kind kind = Kind::kString;
  std::shared_ptr<const ConfigType> items;  ///< of a list; null: anything

  /// The canonical name: `string`, `list<integer>`, ...
  std::string Text() const;
  /// Whether a literal may stand for the type (Y30, S92): integers are whole numbers or their text,
  /// booleans are booleans or `true` and `false`.
  bool Fits(const YamlNode& node) const;
};

/// `string`, `int`, `List<bool>`, `array`, ...; absent when it is no type. Case and blanks do not
/// matter.
std::optional<ConfigType> ParseConfigType(std::string_view text);

/// The names to offer when a type is not known.
inline constexpr const char* kConfigTypeNames =
    "valid types are string, number, integer, boolean, object, array and list<T>";

}  // namespace davit
