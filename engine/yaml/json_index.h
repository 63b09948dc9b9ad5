#pragma once
// Where the members of a JSON object stand in its text, so that a schema of many megabytes is read
// once and only what is needed is decoded (C60, C61). Pure, any thread.

#include <functional>
#include <string>
#include <string_view>

namespace davit {

/// Calls `visit` with the key and the text of each member of the object that `json` begins with.
/// False when it is no object or ends early; values are checked for balance only.
bool VisitJsonMembers(std::string_view json,
                      const std::function<void(std::string key, std::string_view value)>& visit);

}  // namespace davit
