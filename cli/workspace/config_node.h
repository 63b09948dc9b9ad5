#pragma once
// One value of a stack's configuration as the stack file holds it, and its text forms (S97-S102).
// Values, any thread.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/value/property_path.h"
#include "engine/yaml/marked_tree.h"

namespace davit {

class JsonWriter;

struct ConfigNode {
  enum class Kind { kNull, kBool, kInteger, kFloat, kText, kSecure, kList, kMap };
  Kind kind = Kind::kNull;
  std::string text;  ///< of a scalar: `true`, `42`, `1.5`, the text, the ciphertext
  std::vector<ConfigNode> items;
  std::vector<std::pair<std::string, ConfigNode>> members;  ///< in the order of the file

  static ConfigNode Text(std::string text) { return {Kind::kText, std::move(text), {}, {}}; }
  static ConfigNode Secure(std::string ciphertext) {
    return {Kind::kSecure, std::move(ciphertext), {}, {}};
  }
  bool is_object() const { return kind == Kind::kList || kind == Kind::kMap; }
  ConfigNode* Find(std::string_view key);
  const ConfigNode* Find(std::string_view key) const;

  friend bool operator==(const ConfigNode&, const ConfigNode&) = default;
};

/// Gives the clear text of a ciphertext.
using Decrypter = std::function<Result<std::string>(const std::string& ciphertext)>;

/// Whether any leaf is encrypted (S97).
bool HasSecure(const ConfigNode& node);
/// How plain text in YAML reads: kind and canonical text (S98, S99). Dates become their long text
/// form.
ConfigNode ResolvePlain(std::string_view text);
/// A value as it stands in a stack file.
Result<ConfigNode> ConfigNodeOf(const MarkedNode& node);
/// The value at top level is text unless it is encrypted, a list or a map (S98).
ConfigNode AsTopLevel(ConfigNode node);
/// The value as JSON, sorted keys, secrets as `decrypt` gives them.
Result<void> WriteConfigJson(const ConfigNode& node, const Decrypter& decrypt, JsonWriter* json);
/// Text for programs: scalars as they are, lists and maps as JSON with sorted keys (S105).
Result<std::string> ConfigText(const ConfigNode& node, const Decrypter& decrypt);
/// A whole number or `true`/`false` below a root key gets its type, all else is text (S101).
ConfigNode Coerced(std::string_view text);

/// Sets what stands at `path` (its first segment is the root key itself) below `root`, absent when
/// the key is new (S101).
Result<ConfigNode> SetAtPath(std::optional<ConfigNode> root,
                             const PropertyPath& path,
                             ConfigNode value);
/// Null when nothing is there.
const ConfigNode* FindAtPath(const ConfigNode& root, const PropertyPath& path);
/// Removes what stands at `path`; list elements behind it move up (S102). Nothing there is no
/// error.
void RemoveAtPath(ConfigNode* root, const PropertyPath& path);

}  // namespace davit
