// The pure functions of Y110.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/base64.h"
#include "engine/base/check.h"
#include "engine/base/digest.h"
#include "engine/yaml/evaluation.h"
#include "engine/yaml/graphemes.h"

namespace davit {
namespace {

void AppendQuoted(const std::string& text, std::string* out) {
  *out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
        *out += "\\\"";
        break;
      case '\\':
        *out += "\\\\";
        break;
      case '\n':
        *out += "\\n";
        break;
      case '\r':
        *out += "\\r";
        break;
      case '\t':
        *out += "\\t";
        break;
      default:
        if (byte < 0x20 || c == '<' || c == '>' || c == '&') {
          *out += fmt::format("\\u{:04x}", byte);
        } else {
          *out += c;
        }
    }
  }
  *out += '"';
}

// Compact JSON with sorted keys and `<`, `>`, `&` escaped; false for what JSON cannot say.
bool AppendJson(const PropertyValue& value, std::string* out) {
  return value.Visit(Overloaded{
      [&](const Null&) {
        *out += "null";
        return true;
      },
      [&](bool flag) {
        *out += flag ? "true" : "false";
        return true;
      },
      [&](double number) {
        *out += NumberText(number);
        return std::isfinite(number);
      },
      [&](const std::string& text) {
        AppendQuoted(text, out);
        return true;
      },
      [&](const PropertyList& list) {
        *out += '[';
        bool good = true;
        for (std::size_t index = 0; index < list.size(); ++index) {
          *out += index == 0 ? "" : ",";
          good = AppendJson(list[index], out) && good;
        }
        *out += ']';
        return good;
      },
      [&](const PropertyMap& map) {
        *out += '{';
        bool good = true;
        bool is_first = true;
        for (const auto& [key, item] : map) {
          *out += is_first ? "" : ",";
          is_first = false;
          AppendQuoted(key, out);
          *out += ':';
          good = AppendJson(item, out) && good;
        }
        *out += '}';
        return good;
      },
      [&](const auto&) { return false; },
  });
}

std::optional<PropertyValue> Split(const std::string& delimiter, const std::string& text) {
  PropertyList parts;
  if (delimiter.empty()) {
    std::string character;
    for (const char c : text) {
      if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U && !character.empty()) {
        parts.emplace_back(std::exchange(character, {}));
      }
      character += c;
    }
    if (!character.empty()) {
      parts.emplace_back(character);
    }
    return parts;
  }
  std::size_t at = 0;
  while (true) {
    const std::size_t end = text.find(delimiter, at);
    parts.emplace_back(text.substr(at, end - at));
    if (end == std::string::npos) {
      return parts;
    }
    at = end + delimiter.size();
  }
}

PropertyValue AssetOf(Asset::Source source, std::string content) {
  Asset asset;
  asset.source = source;
  asset.content = std::move(content);
  return asset;
}

PropertyValue ArchiveOf(Archive::Source source, std::string location) {
  Archive archive;
  archive.source = source;
  archive.location = std::move(location);
  return archive;
}

}  // namespace

std::optional<std::string> JsonText(const PropertyValue& value) {
  std::string json;
  return AppendJson(value, &json) ? std::optional<std::string>(std::move(json)) : std::nullopt;
}

std::optional<double> ParseTimeout(std::string_view text) {
  if (text == "0") {
    return 0.0;
  }
  double total = 0;
  if (text.empty()) {
    return std::nullopt;
  }
  while (!text.empty()) {
    std::size_t digits = 0;
    while (digits < text.size() &&
           (std::isdigit(static_cast<unsigned char>(text[digits])) != 0 || text[digits] == '.')) {
      ++digits;
    }
    std::size_t unit = digits;
    while (unit < text.size() && std::isdigit(static_cast<unsigned char>(text[unit])) == 0 &&
           text[unit] != '.') {
      ++unit;
    }
    const std::string number(text.substr(0, digits));
    const std::string_view name = text.substr(digits, unit - digits);
    if (number.empty() || number == ".") {
      return std::nullopt;
    }
    const double factor = name == "h"                    ? 3600
                          : name == "m"                  ? 60
                          : name == "s"                  ? 1
                          : name == "ms"                 ? 1e-3
                          : name == "us" || name == "µs" ? 1e-6
                          : name == "ns"                 ? 1e-9
                                                         : 0;
    if (factor == 0) {
      return std::nullopt;
    }
    total += std::stod(number) * factor;
    text.remove_prefix(unit);
  }
  return total;
}

YamlRun::Evaluated YamlRun::Function(const YamlExpr& call, YamlValue argument) {
  const std::string& name = call.function;
  if (name == "secret") {
    argument.value = MakeSecret(argument.value);
    return argument;
  }
  if (name == "unsecret") {
    argument.value = Plain(argument.value);
    return argument;
  }
  if (name == "pulumiResourceName" || name == "pulumiResourceType") {
    const ResourceReference* reference = argument.value.as_reference();
    // A reference that a provider returned does not say what the program called it.
    if (reference == nullptr || reference->name.empty()) {
      Problem(call.argument->where,
              fmt::format("'fn::{}' needs a resource of this program", name),
              "write it as ${name}");
      return std::nullopt;
    }
    YamlValue text;
    text.value = name == "pulumiResourceName" ? reference->name : reference->type;
    return text;
  }
  const bool is_secret = ContainsSecrets(argument.value);
  if (ContainsUnknowns(argument.value)) {
    argument.value = is_secret ? MakeSecret(Unknown()) : PropertyValue(Unknown());
    return argument;
  }
  const PropertyValue plain = Plain(argument.value);
  const YamlPlace& where = call.argument->where;
  const auto wrong = [&](const std::string& message) -> Evaluated {
    Problem(where, fmt::format("'fn::{}' {}", name, message));
    return std::nullopt;
  };
  const auto done = [&](PropertyValue value) -> Evaluated {
    if (value.is_string() && value.as_string()->size() > kMaxText) {
      return wrong(fmt::format("gives a text longer than {} MiB here", kMaxText >> 20U));
    }
    argument.value = is_secret ? MakeSecret(std::move(value)) : std::move(value);
    return std::move(argument);
  };
  if (name == "toJSON") {
    std::optional<std::string> json = JsonText(plain);
    return json ? done(*std::move(json))
                : wrong("cannot write resources, assets, archives or infinite numbers");
  }
  if (name == "length") {
    if (const PropertyList* list = plain.as_list()) {
      return done(static_cast<double>(list->size()));
    }
    if (const PropertyMap* map = plain.as_map()) {
      return done(static_cast<double>(map->size()));
    }
    if (const std::string* text = plain.as_string()) {
      return done(static_cast<double>(GraphemeCount(*text)));
    }
    return wrong("needs a list, a map or a string");
  }
  if (name == "singleOrNone") {
    const PropertyList* list = plain.as_list();
    if (list == nullptr || list->size() > 1) {
      return wrong(list == nullptr
                       ? std::string("needs a list")
                       : fmt::format("needs a list of at most one item, not {}", list->size()));
    }
    return done(list->empty() ? PropertyValue() : (*list)[0]);
  }
  if (name == "entries") {  // sorted by key, as maps are
    const PropertyMap* map = plain.as_map();
    if (map == nullptr) {
      return wrong("needs a map");
    }
    PropertyList entries;
    for (const auto& [key, value] : *map) {
      entries.emplace_back(PropertyMap{{"key", key}, {"value", value}});
    }
    return done(std::move(entries));
  }
  if (name == "lookup") {
    const PropertyList* parts = plain.as_list();
    const bool is_good = parts != nullptr && (parts->size() == 2 || parts->size() == 3) &&
                         (*parts)[0].is_map() && (*parts)[1].is_string();
    if (!is_good) {
      return wrong("needs a list of a map, a key and, if need be, a default");
    }
    const PropertyMap& map = *(*parts)[0].as_map();
    const auto at = map.find(*(*parts)[1].as_string());
    if (at == map.end() && parts->size() == 2) {
      return wrong(fmt::format("finds no key '{}' and has no default", *(*parts)[1].as_string()));
    }
    return done(at == map.end() ? (*parts)[2] : at->second);
  }
  if (name == "min" || name == "max") {
    const PropertyList* list = plain.as_list();
    const bool is_good = list != nullptr && !list->empty() &&
                         std::ranges::all_of(*list, [](const PropertyValue& item) {
                           return item.as_number() != nullptr;
                         });
    if (!is_good) {
      return wrong("needs a list of numbers");
    }
    double best = *(*list)[0].as_number();
    for (const PropertyValue& item : *list) {
      best = name == "min" ? std::min(best, *item.as_number()) : std::max(best, *item.as_number());
    }
    return done(best);
  }
  if (name == "join" || name == "split" || name == "select") {
    const PropertyList* pair = plain.as_list();
    if (pair == nullptr || pair->size() != 2) {
      return wrong("needs a list of two arguments");
    }
    const PropertyValue& first = (*pair)[0];
    const PropertyValue& second = (*pair)[1];
    if (name == "select") {
      const double* index = first.as_number();
      const PropertyList* list = second.as_list();
      if (index == nullptr || list == nullptr || *index != std::trunc(*index) || *index < 0 ||
          *index >= static_cast<double>(list->size())) {
        return wrong("needs an index inside the list, and a list");
      }
      return done((*list)[static_cast<std::size_t>(*index)]);
    }
    if (!first.is_string() && !first.is_null()) {
      return wrong("needs a string as delimiter");
    }
    const std::string delimiter = first.is_null() ? std::string() : *first.as_string();
    if (name == "split") {
      return second.is_string() ? done(*Split(delimiter, *second.as_string()))
                                : wrong("needs a string to split");
    }
    const PropertyList* list = second.as_list();
    if (list == nullptr) {
      return wrong("needs a list to join");
    }
    std::string text;
    for (std::size_t index = 0; index < list->size(); ++index) {
      const std::string* item = (*list)[index].as_string();
      if (item == nullptr) {
        return wrong(fmt::format("joins strings only; item {} is none", index));
      }
      text += index == 0 ? *item : delimiter + *item;
    }
    return done(std::move(text));
  }
  if (name == "assetArchive") {
    const PropertyMap* members = plain.as_map();
    if (members == nullptr) {
      return wrong("needs a map of assets and archives");
    }
    for (const auto& [key, member] : *members) {
      if (member.as_asset() == nullptr && member.as_archive() == nullptr) {
        return wrong(fmt::format("holds assets and archives only; '{}' is none", key));
      }
    }
    Archive archive;
    archive.source = Archive::Source::kAssets;
    archive.assets = std::make_shared<const PropertyMap>(*members);
    return done(std::move(archive));
  }
  const std::string* text = plain.as_string();
  if (text == nullptr) {
    return wrong("needs a string");
  }
  if (name == "toBase64") {
    return done(EncodeBase64(*text));
  }
  if (name == "fromBase64") {
    const std::optional<std::string> decoded = DecodeBase64(*text);
    if (!decoded || !IsUtf8(*decoded)) {
      return wrong("needs base64 of UTF-8 text");
    }
    return done(*decoded);
  }
  if (name == "sha1") {
    return done(HexText(Sha1(*text)));
  }
  if (name == "readFile" || name == "filebase64" || name == "filebase64sha256") {
    const Result<std::string> content =
        read_(text->starts_with('/') ? *text : program_directory_ + "/" + *text);
    if (!content) {
      return wrong(fmt::format("cannot read '{}': {}", *text, content.error().message));
    }
    return done(name == "readFile"     ? *content
                : name == "filebase64" ? EncodeBase64(*content)
                                       : EncodeBase64(Sha256(*content)));
  }
  if (name == "stringAsset") {
    return done(AssetOf(Asset::Source::kText, *text));
  }
  if (name == "fileAsset") {
    return done(AssetOf(Asset::Source::kPath, *text));
  }
  if (name == "remoteAsset") {
    return done(AssetOf(Asset::Source::kUri, *text));
  }
  if (name == "fileArchive") {
    return done(ArchiveOf(Archive::Source::kPath, *text));
  }
  DAVIT_CHECK(name == "remoteArchive", "every known function is carried out");
  return done(ArchiveOf(Archive::Source::kUri, *text));
}

}  // namespace davit
