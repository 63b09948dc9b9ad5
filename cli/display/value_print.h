#pragma once
// Property values and their differences as people read them (C96, C100, C111-C114). Pure.

#include <set>
#include <string>

#include "cli/display/style.h"
#include "engine/value/property_value.h"

namespace davit {

struct PrintOptions {
  Style style;
  bool show_secrets = false;
  bool show_full_output = false;  ///< do not shorten strings (C96)
  bool show_sames = true;         ///< in a comparison: also what does not differ
  std::set<std::string> hidden;   ///< top-level names shown as `(hidden)`
};

enum class ValueMark { kNone, kAdd, kDelete, kUpdate };

/// Lines `name: value` for all members, names aligned, at `indent` levels of four blanks. A mark
/// stands two columns before the name. Names that start with `__` are left out.
std::string PrintMap(const PropertyMap& map,
                     int indent,
                     ValueMark mark,
                     const PrintOptions& options);

/// The members that differ (and, if asked for, those that do not).
std::string PrintMapDiff(const PropertyMap& before,
                         const PropertyMap& after,
                         int indent,
                         const PrintOptions& options);

/// One member, with the name padded to `width`.
std::string PrintMember(const std::string& name,
                        const PropertyValue& value,
                        std::size_t width,
                        int indent,
                        ValueMark mark,
                        const PrintOptions& options);
/// One member that may differ; empty when it does not and `options.show_sames` is false.
std::string PrintMemberDiff(const std::string& name,
                            const PropertyValue* before,
                            const PropertyValue* after,
                            std::size_t width,
                            int indent,
                            const PrintOptions& options);

/// Equality for displays: an output is what it holds, a secret differs when its content does.
bool SameForDisplay(const PropertyValue& a, const PropertyValue& b);
/// Null, or an empty text, list or map: left out where members are listed (C114).
bool IsEmptyForDisplay(const PropertyValue& value);
/// Whether the name is left out of displays (C114).
bool IsHiddenName(const std::string& name);
/// Width of the longest name that is not hidden.
std::size_t NameWidth(const PropertyMap& map);

}  // namespace davit
