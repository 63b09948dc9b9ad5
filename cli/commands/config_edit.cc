#include "cli/commands/config_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "cli/json_writer.h"

namespace davit {
namespace {

constexpr std::array<std::string_view, 6> kSecretWords = {
    "passwd", "pass", "password", "pwd", "secret", "token"};

std::string Lower(std::string text) {
  for (char& c : text) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

// Bits per character, by how often each occurs.
double EntropyOf(const std::string& text) {
  std::array<int, 256> counts{};
  for (char c : text) {
    ++counts[static_cast<unsigned char>(c)];
  }
  double bits = 0;
  for (int count : counts) {
    if (count > 0) {
      const double share = static_cast<double>(count) / static_cast<double>(text.size());
      bits -= share * std::log2(share);
    }
  }
  return bits;
}

int CharacterClasses(const std::string& text) {
  bool lower = false;
  bool upper = false;
  bool digit = false;
  bool other = false;
  for (char c : text) {
    const bool is_lower = c >= 'a' && c <= 'z';
    const bool is_upper = c >= 'A' && c <= 'Z';
    const bool is_digit = c >= '0' && c <= '9';
    lower = lower || is_lower;
    upper = upper || is_upper;
    digit = digit || is_digit;
    other = other || (!is_lower && !is_upper && !is_digit && c != ' ');
  }
  return static_cast<int>(lower) + static_cast<int>(upper) + static_cast<int>(digit) +
         static_cast<int>(other);
}

}  // namespace

Result<ConfigKey> ParseConfigKey(const std::string& text,
                                 const std::string& project,
                                 bool is_path) {
  ConfigKey key;
  if (!is_path) {
    DAVIT_TRY(key.root, NormalKey(text, project));
    const std::string name = key.root.substr(key.root.find(':') + 1);
    key.path = PropertyPath({PathSegment(name)});
    return key;
  }
  const std::size_t path_begin = text.find_first_of(".[");
  const std::size_t colon = text.rfind(':', path_begin);
  const bool has_space =
      colon != std::string::npos && (path_begin == std::string::npos || colon < path_begin);
  const std::string space = has_space ? text.substr(0, colon + 1) : "";
  const std::string rest = text.substr(space.size());
  Result<PropertyPath> path = PropertyPath::Parse(rest, true);
  const bool begins_with_dot = !rest.empty() && rest[0] == '.';
  if (begins_with_dot || !path || path->empty() ||
      !std::holds_alternative<std::string>(path->segments()[0])) {
    return Fail(
        ErrorKind::kInvalid,
        fmt::format(
            "'{}' is not a configuration path{}", text, path ? "" : ": " + path.error().message));
  }
  DAVIT_TRY(key.root, NormalKey(space + std::get<std::string>(path->segments()[0]), project));
  key.path = *std::move(path);
  return key;
}

bool LooksLikeSecret(const std::string& key, const std::string& value) {
  const std::string name = Lower(key);
  const bool is_named_so =
      std::any_of(kSecretWords.begin(), kSecretWords.end(), [&](std::string_view word) {
        return name.find(word) != std::string::npos;
      });
  return is_named_so && value.size() >= 10 && CharacterClasses(value) >= 3 &&
         EntropyOf(value) >= 3.0;
}

Result<ConfigNode> ConfigValueNode(StackSession& session,
                                   const std::string& text,
                                   bool is_secret,
                                   bool is_below_root) {
  if (!is_secret) {
    return is_below_root ? Coerced(text) : ConfigNode::Text(text);
  }
  DAVIT_TRY(const std::shared_ptr<SecretsManager> manager, session.ManagerForWriting());
  DAVIT_TRY(std::string ciphertext, manager->Encrypt(text));
  return ConfigNode::Secure(std::move(ciphertext));
}

Decrypter SessionDecrypter(StackSession& session) {
  return [&session](const std::string& ciphertext) -> Result<std::string> {
    DAVIT_TRY(std::shared_ptr<SecretsManager> manager, session.Manager());
    return DecrypterOf(std::move(manager))(ciphertext);
  };
}

Result<ConfigNode> Reencrypted(ConfigNode node, const Decrypter& decrypt, SecretsManager& manager) {
  if (node.kind == ConfigNode::Kind::kSecure) {
    DAVIT_TRY(const std::string clear, decrypt(node.text));
    DAVIT_TRY(node.text, manager.Encrypt(clear));
  }
  for (ConfigNode& item : node.items) {
    DAVIT_TRY(item, Reencrypted(std::move(item), decrypt, manager));
  }
  for (auto& [name, member] : node.members) {
    DAVIT_TRY(member, Reencrypted(std::move(member), decrypt, manager));
  }
  return node;
}

Result<void> WriteConfigEntry(const ConfigNode& node,
                              bool show_secrets,
                              const Decrypter& decrypt,
                              JsonWriter* json) {
  const bool is_secret = HasSecure(node);
  json->BeginObject();
  if (!is_secret || show_secrets) {
    DAVIT_TRY(const std::string text, ConfigText(node, decrypt));
    json->Key("value").String(text);
    if (node.is_object()) {
      json->Key("objectValue");
      DAVIT_TRY_VOID(WriteConfigJson(node, decrypt, json));
    }
  }
  json->Key("secret").Bool(is_secret).EndObject();
  return {};
}

Result<void> SetConfigValue(StackSession& session,
                            const std::string& key_text,
                            ConfigNode value,
                            bool is_path) {
  DAVIT_TRY(const ConfigKey key, ParseConfigKey(key_text, session.stack.project, is_path));
  const auto found = session.file.config().find(key.root);
  std::optional<ConfigNode> before;
  if (found != session.file.config().end()) {
    before = found->second;
  }
  Result<ConfigNode> after = SetAtPath(std::move(before), key.path, std::move(value));
  if (!after) {
    return Fail(std::move(after.error()).WithContext("could not set config"));
  }
  // S97: it would read as a secret that nobody encrypted.
  const bool reads_as_secret = after->kind == ConfigNode::Kind::kMap &&
                               after->members.size() == 1 && after->members[0].first == "secure" &&
                               after->members[0].second.kind == ConfigNode::Kind::kText;
  if (reads_as_secret) {
    return Fail(ErrorKind::kInvalid,
                "a map whose only key is 'secure' would read as an encrypted value");
  }
  session.file.Set(key.root, *std::move(after));
  return {};
}

Result<void> RemoveConfigValue(StackSession& session, const std::string& key_text, bool is_path) {
  DAVIT_TRY(const ConfigKey key, ParseConfigKey(key_text, session.stack.project, is_path));
  const auto found = session.file.config().find(key.root);
  if (found == session.file.config().end()) {
    return {};
  }
  if (key.path.segments().size() == 1) {
    session.file.Remove(key.root);
    return {};
  }
  ConfigNode root = found->second;
  RemoveAtPath(&root, key.path);
  session.file.Set(key.root, std::move(root));
  return {};
}

Result<std::pair<std::string, std::string>> SplitAssignment(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Fail(ErrorKind::kInvalid, fmt::format("'{}' does not have the form KEY=VALUE", text));
  }
  return std::make_pair(text.substr(0, equals), text.substr(equals + 1));
}

}  // namespace davit
