#pragma once
// PropertyValue: the one value type of davit. Immutable and cheap to copy (composite payloads are shared), any thread.
// Rules: P55-P67 (wire), S46-S60 (state). Formatting a secret prints a placeholder; only codecs call Secret::Reveal.

#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace davit {

class PropertyValue;
using PropertyList = std::vector<PropertyValue>;
/// Sorted bytewise by key; text keys may hold any bytes.
using PropertyMap = std::map<std::string, PropertyValue, std::less<>>;

/// Recursive walks over values stop with an error beyond this depth, so that input cannot exhaust the stack.
inline constexpr int kMaxValueDepth = 5000;

/// Element type of an unknown; it selects the sentinel on the wire (P56).
enum class UnknownKind { kString, kBool, kNumber, kList, kAsset, kArchive, kMap };

struct Null {
  friend bool operator==(const Null&, const Null&) = default;
};

/// A value that only the update will know.
struct Unknown {
  UnknownKind kind = UnknownKind::kString;
  friend bool operator==(const Unknown&, const Unknown&) { return true; }  // unknowns are alike (P56)
};

/// A value that must never be shown or stored in clear.
class Secret {
 public:
  explicit Secret(PropertyValue inner);
  /// The value itself; for codecs and for computing with it.
  const PropertyValue& Reveal() const { return *inner_; }
  /// Identity of the payload, so that a codec can keep the ciphertext that belongs to it.
  const std::shared_ptr<const PropertyValue>& payload() const { return inner_; }

 private:
  std::shared_ptr<const PropertyValue> inner_;
};

/// An output value: element (absent: unknown), secretness and the URNs it depends on (P55).
struct Output {
  std::shared_ptr<const PropertyValue> element;  ///< null when unknown
  bool is_secret = false;
  std::vector<std::string> dependencies;
};

/// A reference to a resource. `id` absent: a component; present and null-like "" : the id is unknown (P59).
struct ResourceReference {
  std::string urn;
  std::optional<std::string> id;
  std::string name;
  std::string type;
  std::string package_version;
  friend bool operator==(const ResourceReference&, const ResourceReference&) = default;
};

/// A text, a local file or a URI, with the SHA-256 of its content once known (P63, P64). Equality is equality of hashes.
struct Asset {
  enum class Source { kText, kPath, kUri, kNone };
  Source source = Source::kNone;
  std::string content;  ///< the text, path or URI
  std::string hash;     ///< lower-case hex SHA-256, empty when not computed yet
};

/// A file, a URI or named assets and archives (P65, P66).
struct Archive {
  enum class Source { kAssets, kPath, kUri, kNone };
  Source source = Source::kNone;
  std::string location;                       ///< path or URI
  std::shared_ptr<const PropertyMap> assets;  ///< members; each an asset or an archive
  std::string hash;
};

enum class ValueKind {
  kNull, kBool, kNumber, kString, kList, kMap, kAsset, kArchive, kUnknown, kSecret, kOutput, kReference
};

class PropertyValue {
 public:
  PropertyValue() = default;                  // null
  PropertyValue(Null) {}                      // NOLINT(google-explicit-constructor)
  PropertyValue(bool value) : data_(value) {}  // NOLINT(google-explicit-constructor)
  PropertyValue(double value) : data_(value) {}  // NOLINT(google-explicit-constructor)
  PropertyValue(int value) : data_(static_cast<double>(value)) {}  // NOLINT(google-explicit-constructor)
  PropertyValue(std::string value);       // NOLINT(google-explicit-constructor)
  PropertyValue(std::string_view value);  // NOLINT(google-explicit-constructor)
  PropertyValue(const char* value);       // NOLINT(google-explicit-constructor)
  PropertyValue(PropertyList value);      // NOLINT(google-explicit-constructor)
  PropertyValue(PropertyMap value);       // NOLINT(google-explicit-constructor)
  PropertyValue(Unknown value) : data_(value) {}                // NOLINT(google-explicit-constructor)
  PropertyValue(Secret value) : data_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  PropertyValue(Output value);                                  // NOLINT(google-explicit-constructor)
  PropertyValue(ResourceReference value);                       // NOLINT(google-explicit-constructor)
  PropertyValue(Asset value);                                   // NOLINT(google-explicit-constructor)
  PropertyValue(Archive value);                                 // NOLINT(google-explicit-constructor)

  ValueKind kind() const;
  bool is_null() const { return kind() == ValueKind::kNull; }
  bool is_string() const { return kind() == ValueKind::kString; }
  bool is_map() const { return kind() == ValueKind::kMap; }
  bool is_list() const { return kind() == ValueKind::kList; }
  bool is_secret() const { return kind() == ValueKind::kSecret; }
  bool is_unknown() const { return kind() == ValueKind::kUnknown; }

  // The accessors give null when the value is of another kind.
  const bool* as_bool() const { return std::get_if<bool>(&data_); }
  const double* as_number() const { return std::get_if<double>(&data_); }
  const std::string* as_string() const;
  const PropertyList* as_list() const;
  const PropertyMap* as_map() const;
  const Unknown* as_unknown() const { return std::get_if<Unknown>(&data_); }
  const Secret* as_secret() const { return std::get_if<Secret>(&data_); }
  const Output* as_output() const;
  const ResourceReference* as_reference() const;
  const Asset* as_asset() const;
  const Archive* as_archive() const;

  /// Calls the overload of `visitor` for the alternative held; every alternative must be covered.
  template <typename Visitor>
  decltype(auto) Visit(Visitor&& visitor) const;

  /// Deep equality. Numbers compare bitwise but for NaN == NaN and 0 != -0; assets and archives by hash when both have one;
  /// secrets by content; outputs by all members.
  friend bool operator==(const PropertyValue& a, const PropertyValue& b);

 private:
  template <typename T>
  using Shared = std::shared_ptr<const T>;
  std::variant<Null, bool, double, Unknown, Secret, Shared<std::string>, Shared<PropertyList>, Shared<PropertyMap>,
               Shared<Output>, Shared<ResourceReference>, Shared<Asset>, Shared<Archive>>
      data_;
};

template <typename Visitor>
decltype(auto) PropertyValue::Visit(Visitor&& visitor) const {
  return std::visit(
      [&](const auto& held) -> decltype(auto) {
        using T = std::remove_cvref_t<decltype(held)>;
        if constexpr (requires { typename T::element_type; }) {
          return visitor(*held);
        } else {
          return visitor(held);
        }
      },
      data_);
}

/// Combines lambdas into one visitor.
template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

/// A secret around `value`; a secret (or a secret output) stays as it is.
PropertyValue MakeSecret(PropertyValue value);
/// Whether the value holds an unknown (or an output without element) at any depth.
bool ContainsUnknowns(const PropertyValue& value);
bool ContainsUnknowns(const PropertyMap& map);
/// Whether the value holds a secret (or a secret output) at any depth.
bool ContainsSecrets(const PropertyValue& value);
bool ContainsSecrets(const PropertyMap& map);
/// The value without secret and output wrappers at any depth (unknown outputs become unknown).
PropertyValue Plain(const PropertyValue& value);
PropertyMap Plain(const PropertyMap& map);
/// Output values become plain, unknown or secret values at any depth; their dependencies are lost (P72, E55).
PropertyValue WithoutOutputs(const PropertyValue& value);
PropertyMap WithoutOutputs(const PropertyMap& map);
/// The URNs in output values and resource references at any depth, sorted, without duplicates.
std::vector<std::string> DependenciesIn(const PropertyValue& value);
/// Secret re-attachment, rule P68: wraps values of `target` whose same-named value in `source` holds a secret.
PropertyMap AnnotateSecrets(const PropertyMap& target, const PropertyMap& source);
/// Text for people: compact, JSON-like, secrets as [secret], unknowns as [unknown].
std::string DebugText(const PropertyValue& value);
/// Whether the bytes are valid UTF-8.
bool IsUtf8(std::string_view text);
/// A number as ECMAScript and Go print it: shortest round trip, exponent from 1e21 and below 1e-6 (S59).
std::string NumberText(double value);

}  // namespace davit
