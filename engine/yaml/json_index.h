#pragma once
// Where the members of a JSON object stand in its text, so that a schema of many megabytes is read
// once and only what is needed is decoded (C60, C61). Pure, any thread.

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

namespace davit {

/// Takes a member: `section` is empty, or the member that holds it.
using JsonMemberVisitor =
    std::function<void(std::string_view section, std::string key, std::string_view value)>;

/// Calls `visit` for each member of the object that `json` begins with. Of those that are named in
/// `sections` and hold an object the members are visited instead, so that the text is passed over
/// once. False when it is no object or ends early; values are checked for balance only.
bool VisitJsonMembers(std::string_view json,
                      std::initializer_list<std::string_view> sections,
                      const JsonMemberVisitor& visit);

}  // namespace davit
