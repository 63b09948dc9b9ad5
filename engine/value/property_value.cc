#include "engine/value/property_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "engine/base/check.h"

namespace davit {
namespace {

void CheckDepth(int depth) {
  DAVIT_CHECK(depth <= kMaxValueDepth, "a property value is nested too deeply");
}

// The children of a value, for walks that treat all containers alike. Members of archives are
// assets and archives: they hold no secrets, unknowns or dependencies, so that such walks leave
// them alone.
template <typename Visit>
bool AnyChild(const PropertyValue& value, const Visit& visit) {
  if (const PropertyList* list = value.as_list()) {
    return std::any_of(list->begin(), list->end(), visit);
  }
  if (const PropertyMap* map = value.as_map()) {
    return std::any_of(
        map->begin(), map->end(), [&](const auto& entry) { return visit(entry.second); });
  }
  if (const Secret* secret = value.as_secret()) {
    return visit(secret->Reveal());
  }
  if (const Output* output = value.as_output()) {
    return output->element != nullptr && visit(*output->element);
  }
  return false;
}

// Whether `test` holds for the value or for anything inside.
template <typename Test>
bool AnyInside(const PropertyValue& value, const Test& test, int depth) {
  CheckDepth(depth);
  return test(value) || AnyChild(value, [&](const PropertyValue& child) {
           return AnyInside(child, test, depth + 1);
         });
}

bool IsUnknownHere(const PropertyValue& value) {
  const Output* output = value.as_output();
  return value.is_unknown() || (output != nullptr && output->element == nullptr);
}

bool IsSecretHere(const PropertyValue& value) {
  const Output* output = value.as_output();
  return value.is_secret() || (output != nullptr && output->is_secret);
}

bool IsOutputHere(const PropertyValue& value) {
  return value.kind() == ValueKind::kOutput;
}

bool IsWrappedHere(const PropertyValue& value) {
  return value.is_secret() || IsOutputHere(value);
}

// The value with every container rebuilt and every wrapper given to `unwrap`, which gets the
// wrapper and its rewritten inner value (unknown for an output without element).
template <typename Unwrap>
PropertyValue Rewrite(const PropertyValue& value, const Unwrap& unwrap, int depth) {
  CheckDepth(depth);
  if (const PropertyList* list = value.as_list()) {
    PropertyList result;
    result.reserve(list->size());
    for (const PropertyValue& item : *list) {
      result.push_back(Rewrite(item, unwrap, depth + 1));
    }
    return result;
  }
  if (const PropertyMap* map = value.as_map()) {
    PropertyMap result;
    for (const auto& [key, item] : *map) {
      result.emplace_hint(result.end(), key, Rewrite(item, unwrap, depth + 1));
    }
    return result;
  }
  if (const Secret* secret = value.as_secret()) {
    return unwrap(value, Rewrite(secret->Reveal(), unwrap, depth + 1));
  }
  if (const Output* output = value.as_output()) {
    return unwrap(value,
                  output->element != nullptr ? Rewrite(*output->element, unwrap, depth + 1)
                                             : PropertyValue(Unknown{}));
  }
  return value;
}

PropertyValue DropWrapper(const PropertyValue& /*wrapper*/, PropertyValue inner) {
  return inner;
}

PropertyValue KeepSecretness(const PropertyValue& wrapper, PropertyValue inner) {
  return IsSecretHere(wrapper) ? MakeSecret(std::move(inner)) : inner;
}

// Applies `function` to every value of the map.
template <typename Function>
PropertyMap MapValues(const PropertyMap& map, const Function& function) {
  PropertyMap result;
  for (const auto& [key, value] : map) {
    result.emplace_hint(result.end(), key, function(value));
  }
  return result;
}

bool SameNumber(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) {
    return std::isnan(a) && std::isnan(b);
  }
  return std::memcmp(&a, &b, sizeof a) == 0;
}

bool Equal(const PropertyValue& a, const PropertyValue& b, int depth);

bool Equal(const PropertyMap& a, const PropertyMap& b, int depth) {
  return &a == &b ||
         std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
           return x.first == y.first && Equal(x.second, y.second, depth);
         });
}

bool Equal(const Asset& a, const Asset& b) {
  if (!a.hash.empty() && !b.hash.empty()) {
    return a.hash == b.hash;
  }
  return a.source == b.source && a.content == b.content;
}

bool Equal(const Archive& a, const Archive& b, int depth) {
  if (!a.hash.empty() && !b.hash.empty()) {
    return a.hash == b.hash;
  }
  static const PropertyMap kNoMembers;
  return a.source == b.source && a.location == b.location &&
         Equal(a.assets ? *a.assets : kNoMembers, b.assets ? *b.assets : kNoMembers, depth);
}

bool Equal(const Output& a, const Output& b, int depth) {
  if (a.is_secret != b.is_secret || a.dependencies != b.dependencies ||
      (a.element == nullptr) != (b.element == nullptr)) {
    return false;
  }
  return a.element == b.element || Equal(*a.element, *b.element, depth);
}

bool Equal(const PropertyValue& a, const PropertyValue& b, int depth) {
  CheckDepth(depth);
  if (a.kind() != b.kind()) {
    return false;
  }
  switch (a.kind()) {
    case ValueKind::kNull:
    case ValueKind::kUnknown:
      return true;
    case ValueKind::kBool:
      return *a.as_bool() == *b.as_bool();
    case ValueKind::kNumber:
      return SameNumber(*a.as_number(), *b.as_number());
    case ValueKind::kString:
      return *a.as_string() == *b.as_string();
    case ValueKind::kList: {
      const PropertyList& x = *a.as_list();
      const PropertyList& y = *b.as_list();
      return &x == &y || std::equal(x.begin(),
                                    x.end(),
                                    y.begin(),
                                    y.end(),
                                    [&](const PropertyValue& m, const PropertyValue& n) {
                                      return Equal(m, n, depth + 1);
                                    });
    }
    case ValueKind::kMap:
      return Equal(*a.as_map(), *b.as_map(), depth + 1);
    case ValueKind::kAsset:
      return Equal(*a.as_asset(), *b.as_asset());
    case ValueKind::kArchive:
      return Equal(*a.as_archive(), *b.as_archive(), depth + 1);
    case ValueKind::kSecret:
      return a.as_secret()->payload() == b.as_secret()->payload() ||
             Equal(a.as_secret()->Reveal(), b.as_secret()->Reveal(), depth + 1);
    case ValueKind::kOutput:
      return Equal(*a.as_output(), *b.as_output(), depth + 1);
    case ValueKind::kReference:
      return *a.as_reference() == *b.as_reference();
  }
  return false;
}

void CollectDependencies(const PropertyValue& value, std::set<std::string>* urns) {
  AnyInside(
      value,
      [&](const PropertyValue& item) {
        if (const Output* output = item.as_output()) {
          urns->insert(output->dependencies.begin(), output->dependencies.end());
        } else if (const ResourceReference* reference = item.as_reference()) {
          urns->insert(reference->urn);
        }
        return false;
      },
      0);
}

PropertyMap Annotate(const PropertyMap& target, const PropertyMap& source, int depth) {
  CheckDepth(depth);
  PropertyMap result = target;
  for (const auto& [key, hint] : source) {
    const auto found = result.find(key);
    if (found == result.end()) {
      continue;
    }
    PropertyValue& value = found->second;
    if (value.is_map() && hint.is_map()) {
      value = Annotate(*value.as_map(), *hint.as_map(), depth + 1);
    } else if (ContainsSecrets(hint)) {
      value = MakeSecret(std::move(value));
    }
  }
  return result;
}

// Length of the UTF-8 sequence at the beginning of `text`; 0 when there is none. Surrogates,
// overlong forms and code points beyond U+10FFFF are not UTF-8.
std::size_t SequenceLength(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  if (first < 0x80) {
    return 1;
  }
  std::size_t length = 0;
  unsigned char low = 0x80;  // range of the second byte
  unsigned char high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    low = first == 0xE0 ? 0xA0 : low;
    high = first == 0xED ? 0x9F : high;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    low = first == 0xF0 ? 0x90 : low;
    high = first == 0xF4 ? 0x8F : high;
  }
  if (length == 0 || text.size() < length || byte(1) < low || byte(1) > high) {
    return 0;
  }
  for (std::size_t at = 2; at < length; ++at) {
    if (byte(at) < 0x80 || byte(at) > 0xBF) {
      return 0;
    }
  }
  return length;
}

void AppendQuoted(std::string_view text, std::string* out) {
  *out += '"';
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = SequenceLength(text);
    if (first == '"' || first == '\\') {
      *out += '\\';
      *out += text[0];
    } else if (first == '\n') {
      *out += "\\n";
    } else if (first == '\t') {
      *out += "\\t";
    } else if (length == 0 || first < 0x20 || first == 0x7F) {
      *out += fmt::format("\\x{:02x}", first);
    } else {
      *out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  *out += '"';
}

void AppendDebugText(const PropertyValue& value, int depth, std::string* out);

void AppendDebugText(const PropertyMap& map, int depth, std::string* out) {
  *out += '{';
  bool first = true;
  for (const auto& [key, item] : map) {
    if (!std::exchange(first, false)) {
      *out += ',';
    }
    AppendQuoted(key, out);
    *out += ':';
    AppendDebugText(item, depth, out);
  }
  *out += '}';
}

void AppendDebugText(const PropertyList& list, int depth, std::string* out) {
  *out += '[';
  bool first = true;
  for (const PropertyValue& item : list) {
    if (!std::exchange(first, false)) {
      *out += ',';
    }
    AppendDebugText(item, depth, out);
  }
  *out += ']';
}

// Assets show where they come from, never a text: that may be long.
std::string SourceText(const Asset& asset) {
  if (asset.source == Asset::Source::kPath || asset.source == Asset::Source::kUri) {
    return asset.content;
  }
  return asset.source == Asset::Source::kText ? "text" : asset.hash;
}

std::string SourceText(const Archive& archive) {
  if (archive.source == Archive::Source::kAssets) {
    return fmt::format("of {}", archive.assets ? archive.assets->size() : 0);
  }
  return archive.source == Archive::Source::kNone ? archive.hash : archive.location;
}

void AppendDebugText(const PropertyValue& value, int depth, std::string* out) {
  CheckDepth(depth);
  switch (value.kind()) {
    case ValueKind::kNull:
      *out += "null";
      return;
    case ValueKind::kBool:
      *out += *value.as_bool() ? "true" : "false";
      return;
    case ValueKind::kNumber:
      *out += NumberText(*value.as_number());
      return;
    case ValueKind::kString:
      return AppendQuoted(*value.as_string(), out);
    case ValueKind::kList:
      return AppendDebugText(*value.as_list(), depth + 1, out);
    case ValueKind::kMap:
      return AppendDebugText(*value.as_map(), depth + 1, out);
    case ValueKind::kAsset:
      *out += fmt::format("[asset {}]", SourceText(*value.as_asset()));
      return;
    case ValueKind::kArchive:
      *out += fmt::format("[archive {}]", SourceText(*value.as_archive()));
      return;
    case ValueKind::kUnknown:
      *out += "[unknown]";
      return;
    case ValueKind::kSecret:
      *out += "[secret]";
      return;
    case ValueKind::kOutput: {
      const Output& output = *value.as_output();
      if (output.is_secret) {
        *out += "[secret]";
      } else if (output.element == nullptr) {
        *out += "[unknown]";
      } else {
        AppendDebugText(*output.element, depth + 1, out);
      }
      return;
    }
    case ValueKind::kReference:
      *out += fmt::format("[resource {}]", value.as_reference()->urn);
      return;
  }
}

// The decimal text of 0.d1d2d3... * 10^(exponent + 1) by S59.
std::string PlaceDigits(std::string digits, int exponent) {
  if (exponent < -6 || exponent >= 21) {
    if (digits.size() > 1) {
      digits.insert(1, ".");
    }
    return fmt::format("{}e{:+}", digits, exponent);
  }
  if (exponent < 0) {
    return "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  }
  const std::size_t whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) {
    return digits + std::string(whole - digits.size(), '0');
  }
  return digits.insert(whole, ".");
}

}  // namespace

Secret::Secret(PropertyValue inner)
    : inner_(std::make_shared<const PropertyValue>(std::move(inner))) {}

PropertyValue::PropertyValue(std::string value)
    : data_(std::make_shared<const std::string>(std::move(value))) {}
PropertyValue::PropertyValue(std::string_view value) : PropertyValue(std::string(value)) {}
PropertyValue::PropertyValue(const char* value) : PropertyValue(std::string(value)) {}
PropertyValue::PropertyValue(PropertyList value)
    : data_(std::make_shared<const PropertyList>(std::move(value))) {}
PropertyValue::PropertyValue(PropertyMap value)
    : data_(std::make_shared<const PropertyMap>(std::move(value))) {}
PropertyValue::PropertyValue(Output value)
    : data_(std::make_shared<const Output>(std::move(value))) {}
PropertyValue::PropertyValue(ResourceReference value)
    : data_(std::make_shared<const ResourceReference>(std::move(value))) {}
PropertyValue::PropertyValue(Asset value)
    : data_(std::make_shared<const Asset>(std::move(value))) {}
PropertyValue::PropertyValue(Archive value)
    : data_(std::make_shared<const Archive>(std::move(value))) {}

ValueKind PropertyValue::kind() const {
  // In the order of the alternatives of data_.
  static constexpr ValueKind kKinds[] = {ValueKind::kNull,
                                         ValueKind::kBool,
                                         ValueKind::kNumber,
                                         ValueKind::kUnknown,
                                         ValueKind::kSecret,
                                         ValueKind::kString,
                                         ValueKind::kList,
                                         ValueKind::kMap,
                                         ValueKind::kOutput,
                                         ValueKind::kReference,
                                         ValueKind::kAsset,
                                         ValueKind::kArchive};
  static_assert(std::size(kKinds) == std::variant_size_v<decltype(data_)>);
  return kKinds[data_.index()];
}

namespace {
template <typename T, typename Variant>
const T* Pointee(const Variant& data) {
  const auto* shared = std::get_if<std::shared_ptr<const T>>(&data);
  return shared != nullptr ? shared->get() : nullptr;
}
}  // namespace

const std::string* PropertyValue::as_string() const {
  return Pointee<std::string>(data_);
}
const PropertyList* PropertyValue::as_list() const {
  return Pointee<PropertyList>(data_);
}
const PropertyMap* PropertyValue::as_map() const {
  return Pointee<PropertyMap>(data_);
}
const Output* PropertyValue::as_output() const {
  return Pointee<Output>(data_);
}
const ResourceReference* PropertyValue::as_reference() const {
  return Pointee<ResourceReference>(data_);
}
const Asset* PropertyValue::as_asset() const {
  return Pointee<Asset>(data_);
}
const Archive* PropertyValue::as_archive() const {
  return Pointee<Archive>(data_);
}

bool operator==(const PropertyValue& a, const PropertyValue& b) {
  return Equal(a, b, 0);
}

PropertyValue MakeSecret(PropertyValue value) {
  if (IsSecretHere(value)) {
    return value;
  }
  return Secret(std::move(value));
}

bool ContainsUnknowns(const PropertyValue& value) {
  return AnyInside(value, IsUnknownHere, 0);
}

bool ContainsUnknowns(const PropertyMap& map) {
  return std::any_of(
      map.begin(), map.end(), [](const auto& entry) { return ContainsUnknowns(entry.second); });
}

bool ContainsSecrets(const PropertyValue& value) {
  return AnyInside(value, IsSecretHere, 0);
}

bool ContainsSecrets(const PropertyMap& map) {
  return std::any_of(
      map.begin(), map.end(), [](const auto& entry) { return ContainsSecrets(entry.second); });
}

PropertyValue Plain(const PropertyValue& value) {
  // Most values have no wrappers: keep sharing them.
  return AnyInside(value, IsWrappedHere, 0) ? Rewrite(value, DropWrapper, 0) : value;
}

PropertyMap Plain(const PropertyMap& map) {
  return MapValues(map, [](const PropertyValue& value) { return Plain(value); });
}

PropertyValue WithoutOutputs(const PropertyValue& value) {
  return AnyInside(value, IsOutputHere, 0) ? Rewrite(value, KeepSecretness, 0) : value;
}

PropertyMap WithoutOutputs(const PropertyMap& map) {
  return MapValues(map, [](const PropertyValue& value) { return WithoutOutputs(value); });
}

std::vector<std::string> DependenciesIn(const PropertyValue& value) {
  std::set<std::string> urns;
  CollectDependencies(value, &urns);
  return {urns.begin(), urns.end()};
}

PropertyMap AnnotateSecrets(const PropertyMap& target, const PropertyMap& source) {
  return Annotate(target, source, 0);
}

std::string DebugText(const PropertyValue& value) {
  std::string text;
  AppendDebugText(value, 0, &text);
  return text;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = SequenceLength(text);
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

std::string NumberText(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-Infinity" : "Infinity";
  }
  if (value == 0) {
    return std::signbit(value) ? "-0" : "0";
  }
  // The shortest digits that read back as the same number; "-d.ddde+XXX" is at most 24 characters.
  char buffer[32];
  const std::to_chars_result written = std::to_chars(
      std::begin(buffer), std::end(buffer), std::fabs(value), std::chars_format::scientific);
  DAVIT_CHECK(written.ec == std::errc(), "the buffer for a number is too small");
  const std::string_view scientific(buffer, static_cast<std::size_t>(written.ptr - buffer));
  const std::size_t exponent_at = scientific.find('e');
  std::string digits(scientific.substr(0, exponent_at));
  std::erase(digits, '.');
  // from_chars takes no plus sign.
  int exponent = 0;
  const std::size_t sign = exponent_at + 1;
  std::from_chars(buffer + sign + (buffer[sign] == '+' ? 1 : 0), written.ptr, exponent);
  return (value < 0 ? "-" : "") + PlaceDigits(std::move(digits), exponent);
}

}  // namespace davit
