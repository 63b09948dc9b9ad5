#include "cli/workspace/config_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "cli/json_writer.h"
#include "engine/value/property_value.h"

namespace davit {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool AllDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

// Whole numbers of YAML 1.1 as the reference reads them: 0x, 0b, 0o and a leading zero for octal,
// `_` between digits.
std::optional<std::string> ResolveInteger(std::string_view text) {
  std::string digits;
  for (char c : text) {
    if (c != '_') {
      digits += c;
    }
  }
  std::string_view rest = digits;
  const bool negative = !rest.empty() && rest[0] == '-';
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    rest.remove_prefix(1);
  }
  if (rest.empty() || text[0] == '_' || !IsDigit(rest[0])) {
    return std::nullopt;
  }
  int base = 10;
  if (rest.size() > 2 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'b' || rest[1] == 'o')) {
    base = rest[1] == 'x' ? 16 : rest[1] == 'b' ? 2 : 8;
    rest.remove_prefix(2);
  } else if (rest.size() > 1 && rest[0] == '0') {
    base = 8;
  }
  unsigned long long value = 0;
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
  if (code != std::errc() || end != rest.data() + rest.size()) {
    return std::nullopt;
  }
  return (negative && value != 0 ? "-" : "") + std::to_string(value);
}

std::optional<std::string> ResolveFloat(std::string_view text) {
  std::size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  std::size_t digits = 0;
  bool dot = false;
  for (; at < text.size() && (IsDigit(text[at]) || (text[at] == '.' && !dot)); ++at) {
    dot = dot || text[at] == '.';
    digits += IsDigit(text[at]) ? 1 : 0;
  }
  if (digits == 0) {
    return std::nullopt;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) {
      ++at;
    }
    if (!AllDigits(text.substr(at))) {
      return std::nullopt;
    }
    at = text.size();
  }
  if (at != text.size()) {
    return std::nullopt;
  }
  return NumberText(std::strtod(std::string(text).c_str(), nullptr));
}

// `2020-01-01` and `2020-01-01T10:20:30Z`, the forms that people write.
std::optional<std::string> ResolveDate(std::string_view text) {
  const auto digits_at = [&](std::size_t at, std::size_t count) {
    return at + count <= text.size() && AllDigits(text.substr(at, count));
  };
  if (text.size() < 10 || !digits_at(0, 4) || text[4] != '-' || !digits_at(5, 2) ||
      text[7] != '-' || !digits_at(8, 2)) {
    return std::nullopt;
  }
  if (text.size() == 10) {
    return std::string(text) + " 00:00:00 +0000 UTC";
  }
  if (text.size() == 20 && text[10] == 'T' && digits_at(11, 2) && text[13] == ':' &&
      digits_at(14, 2) && text[16] == ':' && digits_at(17, 2) && text[19] == 'Z') {
    return fmt::format("{} {} +0000 UTC", text.substr(0, 10), text.substr(11, 8));
  }
  return std::nullopt;
}

using Segments = std::vector<PathSegment>;

constexpr int kMaxNewListLength = 100000;

Result<void> SetBelow(ConfigNode* node,
                      const PropertyPath& path,
                      std::size_t at,
                      ConfigNode value) {
  const Segments& segments = path.segments();
  if (at == segments.size()) {
    *node = std::move(value);
    return {};
  }
  const std::string where =
      PropertyPath(Segments(segments.begin(), segments.begin() + static_cast<long>(at) + 1)).Text();
  if (std::holds_alternative<Wildcard>(segments[at])) {
    return Fail(ErrorKind::kInvalid, fmt::format("{}: a wildcard cannot be set", where));
  }
  // A scalar directly below the root key gives way to a container; deeper ones do not.
  if (node->kind == ConfigNode::Kind::kNull || (at == 1 && !node->is_object())) {
    *node = ConfigNode();
    node->kind = std::holds_alternative<int>(segments[at]) ? ConfigNode::Kind::kList
                                                           : ConfigNode::Kind::kMap;
    if (const int* index = std::get_if<int>(&segments[at])) {
      if (*index < 0 || *index >= kMaxNewListLength) {
        return Fail(ErrorKind::kInvalid, fmt::format("{}: array index out of range", where));
      }
      node->items.resize(static_cast<std::size_t>(*index) + 1);
    }
  }
  if (node->kind == ConfigNode::Kind::kList) {
    const int* index = std::get_if<int>(&segments[at]);
    if (index == nullptr) {
      return Fail(ErrorKind::kInvalid, fmt::format("{}: key for an array must be an int", where));
    }
    const auto position = static_cast<std::size_t>(*index);
    if (position > node->items.size()) {
      return Fail(ErrorKind::kInvalid, fmt::format("{}: array index out of range", where));
    }
    if (position == node->items.size()) {
      node->items.emplace_back();
    }
    return SetBelow(&node->items[position], path, at + 1, std::move(value));
  }
  const std::string* key = std::get_if<std::string>(&segments[at]);
  if (node->kind != ConfigNode::Kind::kMap || key == nullptr) {
    return Fail(
        ErrorKind::kInvalid,
        fmt::format("{}: what is there is not {}", where, key == nullptr ? "a list" : "a map"));
  }
  ConfigNode* member = node->Find(*key);
  if (member == nullptr) {
    node->members.emplace_back(*key, ConfigNode());
    member = &node->members.back().second;
  }
  return SetBelow(member, path, at + 1, std::move(value));
}

const ConfigNode* Child(const ConfigNode& node, const PathSegment& segment) {
  if (const int* index = std::get_if<int>(&segment)) {
    const bool is_there = node.kind == ConfigNode::Kind::kList && *index >= 0 &&
                          static_cast<std::size_t>(*index) < node.items.size();
    return is_there ? &node.items[static_cast<std::size_t>(*index)] : nullptr;
  }
  const std::string* key = std::get_if<std::string>(&segment);
  return key == nullptr ? nullptr : node.Find(*key);
}

}  // namespace

ConfigNode* ConfigNode::Find(std::string_view key) {
  return const_cast<ConfigNode*>(static_cast<const ConfigNode*>(this)->Find(key));
}

const ConfigNode* ConfigNode::Find(std::string_view key) const {
  for (const auto& [name, value] : members) {
    if (name == key) {
      return &value;
    }
  }
  return nullptr;
}

bool HasSecure(const ConfigNode& node) {
  return node.kind == ConfigNode::Kind::kSecure ||
         std::any_of(node.items.begin(), node.items.end(), HasSecure) ||
         std::any_of(node.members.begin(), node.members.end(), [](const auto& member) {
           return HasSecure(member.second);
         });
}

ConfigNode ResolvePlain(std::string_view text) {
  ConfigNode node = ConfigNode::Text(std::string(text));
  for (std::string_view word : {"", "~", "null", "Null", "NULL"}) {
    if (text == word) {
      return {};
    }
  }
  for (std::string_view word : {"true", "True", "TRUE", "false", "False", "FALSE"}) {
    if (text == word) {
      node.kind = ConfigNode::Kind::kBool;
      node.text = word[0] == 't' || word[0] == 'T' ? "true" : "false";
      return node;
    }
  }
  if (std::optional<std::string> integer = ResolveInteger(text)) {
    node.kind = ConfigNode::Kind::kInteger;
    node.text = *std::move(integer);
  } else if (std::optional<std::string> number = ResolveFloat(text)) {
    node.kind = ConfigNode::Kind::kFloat;
    node.text = *std::move(number);
  } else if (std::optional<std::string> date = ResolveDate(text)) {
    node.text = *std::move(date);
  }
  return node;
}

Result<ConfigNode> ConfigNodeOf(const MarkedNode& node) {
  if (node.kind == MarkedNode::Kind::kScalar) {
    const bool is_plain = node.style == MarkedNode::Style::kPlain && node.tag.empty();
    return is_plain ? ResolvePlain(node.value) : ConfigNode::Text(node.value);
  }
  ConfigNode out;
  if (node.kind == MarkedNode::Kind::kSequence) {
    out.kind = ConfigNode::Kind::kList;
    for (const MarkedNode& item : node.items) {
      DAVIT_TRY(ConfigNode value, ConfigNodeOf(item));
      out.items.push_back(std::move(value));
    }
    return out;
  }
  out.kind = ConfigNode::Kind::kMap;
  for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
    const MarkedNode& key = node.items[i];
    if (key.kind != MarkedNode::Kind::kScalar) {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("line {}: the key of a map must be text", key.line));
    }
    DAVIT_TRY(const ConfigNode name, ConfigNodeOf(key));
    DAVIT_TRY(ConfigNode value, ConfigNodeOf(node.items[i + 1]));
    out.members.emplace_back(name.text, std::move(value));
  }
  // S97: a map with nothing but `secure` and a text is a secret.
  if (out.members.size() == 1 && out.members[0].first == "secure" &&
      out.members[0].second.kind == ConfigNode::Kind::kText) {
    return ConfigNode::Secure(out.members[0].second.text);
  }
  return out;
}

ConfigNode AsTopLevel(ConfigNode node) {
  if (!node.is_object() && node.kind != ConfigNode::Kind::kSecure) {
    node.kind = ConfigNode::Kind::kText;
  }
  return node;
}

Result<void> WriteConfigJson(const ConfigNode& node, const Decrypter& decrypt, JsonWriter* json) {
  switch (node.kind) {
    case ConfigNode::Kind::kNull:
      json->Null();
      return {};
    case ConfigNode::Kind::kBool:
    case ConfigNode::Kind::kInteger:
    case ConfigNode::Kind::kFloat:
      json->Raw(node.text);
      return {};
    case ConfigNode::Kind::kText:
      json->String(node.text);
      return {};
    case ConfigNode::Kind::kSecure: {
      DAVIT_TRY(const std::string clear, decrypt(node.text));
      json->String(clear);
      return {};
    }
    case ConfigNode::Kind::kList:
      json->BeginArray();
      for (const ConfigNode& item : node.items) {
        DAVIT_TRY_VOID(WriteConfigJson(item, decrypt, json));
      }
      json->EndArray();
      return {};
    case ConfigNode::Kind::kMap: {
      std::vector<const std::pair<std::string, ConfigNode>*> sorted;
      for (const auto& member : node.members) {
        sorted.push_back(&member);
      }
      std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
        return a->first < b->first;
      });
      json->BeginObject();
      for (const auto* member : sorted) {
        json->Key(member->first);
        DAVIT_TRY_VOID(WriteConfigJson(member->second, decrypt, json));
      }
      json->EndObject();
      return {};
    }
  }
  return {};
}

Result<std::string> ConfigText(const ConfigNode& node, const Decrypter& decrypt) {
  if (node.kind == ConfigNode::Kind::kSecure) {
    return decrypt(node.text);
  }
  if (!node.is_object()) {
    return node.text;
  }
  JsonWriter json;
  DAVIT_TRY_VOID(WriteConfigJson(node, decrypt, &json));
  return json.Take();
}

ConfigNode Coerced(std::string_view text) {
  ConfigNode node = ConfigNode::Text(std::string(text));
  if (text == "true" || text == "false") {
    node.kind = ConfigNode::Kind::kBool;
    return node;
  }
  std::string_view digits = text;
  if (!digits.empty() && digits[0] == '-') {
    digits.remove_prefix(1);
  }
  long long value = 0;
  const bool fits =
      std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
  if (AllDigits(digits) && (digits.size() == 1 || digits[0] != '0') && text != "-0" && fits) {
    node.kind = ConfigNode::Kind::kInteger;
  }
  return node;
}

Result<ConfigNode> SetAtPath(std::optional<ConfigNode> root,
                             const PropertyPath& path,
                             ConfigNode value) {
  ConfigNode node = std::move(root).value_or(ConfigNode());
  DAVIT_TRY_VOID(SetBelow(&node, path, 1, std::move(value)));
  return node;
}

const ConfigNode* FindAtPath(const ConfigNode& root, const PropertyPath& path) {
  const ConfigNode* node = &root;
  for (std::size_t i = 1; i < path.segments().size() && node != nullptr; ++i) {
    node = Child(*node, path.segments()[i]);
  }
  return node;
}

void RemoveAtPath(ConfigNode* root, const PropertyPath& path) {
  const Segments& segments = path.segments();
  const PropertyPath above(Segments(segments.begin(), segments.end() - 1));
  auto* parent = const_cast<ConfigNode*>(FindAtPath(*root, above));
  if (parent == nullptr || Child(*parent, segments.back()) == nullptr) {
    return;
  }
  if (const int* index = std::get_if<int>(&segments.back())) {
    parent->items.erase(parent->items.begin() + *index);
    return;
  }
  const std::string& key = std::get<std::string>(segments.back());
  std::erase_if(parent->members, [&](const auto& member) { return member.first == key; });
}

}  // namespace davit
