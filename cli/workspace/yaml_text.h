#pragma once
// Configuration values as YAML text, in the style of new stack files (S93): two blanks per level,
// lists indented under their key, quotes only where the text would read as something else. Pure,
// any thread.

#include <string>
#include <string_view>

#include "cli/workspace/config_node.h"

namespace davit {

/// Text as a YAML scalar. `indent` is that of the line it stands on (a text of several lines
/// continues two deeper).
std::string YamlScalar(std::string_view text, bool in_flow, std::size_t indent);
/// A value inside `[...]` or `{...}`.
std::string YamlFlow(const ConfigNode& node);
/// What follows `key:` on a line with `indent` blanks in front: ` value`, or a line break and the
/// lines of a container.
std::string YamlAfterKey(const ConfigNode& node, std::size_t indent);

}  // namespace davit
