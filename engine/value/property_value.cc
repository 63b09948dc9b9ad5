#include "engine/value/property_value.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <set>
#include <utility>

#include "engine/base/check.h"

namespace davit {
namespace {

void CheckDepth(int depth) {
  DAVIT_CHECK(depth <= kMaxValueDepth, "a property value is nested too deeply");
}

// Payloads that may hold further payloads are released one after the other instead of one inside
// the other, so that the nesting of a value costs no stack when it dies. A payload whose last owner
// goes while another is being released waits in a list of its thread.
struct Waiting {
  Waiting* next = nullptr;
  void (*release)(Waiting*) = nullptr;
};

template <typename T>
struct Payload : Waiting {
  explicit Payload(T held) : value(std::move(held)) {}
  T value;
};

thread_local Waiting* waiting_payloads = nullptr;
thread_local bool is_releasing = false;

void ReleaseInTurn(Waiting* payload) {
  payload->next = std::exchange(waiting_payloads, payload);
  if (std::exchange(is_releasing, true)) {
    return;
  }
  while (waiting_payloads != nullptr) {
    Waiting* first = std::exchange(waiting_payloads, waiting_payloads->next);
    first->release(first);
  }
  is_releasing = false;
}

template <typename T>
std::shared_ptr<const T> Share(T value, bool is_leaf) {
  if (is_leaf) {
    return std::make_shared<const T>(std::move(value));
  }
  auto payload = std::make_unique<Payload<T>>(std::move(value));
  payload->release = [](Waiting* dead) { delete static_cast<Payload<T>*>(dead); };
  const std::shared_ptr<Payload<T>> owner(payload.release(), ReleaseInTurn);
  return std::shared_ptr<const T>(owner, &owner->value);
}

// Whether releasing the value releases no other values.
bool IsLeaf(const PropertyValue& value) {
  switch (value.kind()) {
    case ValueKind::kList:
      return value.as_list()->empty();
    case ValueKind::kMap:
      return value.as_map()->empty();
    case ValueKind::kSecret:
    case ValueKind::kOutput:
    case ValueKind::kArchive:
      return false;
    default:
      return true;
  }
}

bool AreLeaves(const PropertyList& list) {
  return std::all_of(list.begin(), list.end(), IsLeaf);
}

bool AreLeaves(const PropertyMap& map) {
  return std::all_of(
      map.begin(), map.end(), [](const auto& entry) { return IsLeaf(entry.second); });
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

}  // namespace

Secret::Secret(PropertyValue inner) {
  const bool is_leaf = IsLeaf(inner);
  inner_ = Share(std::move(inner), is_leaf);
}

PropertyValue::PropertyValue(std::string value)
    : data_(std::make_shared<const std::string>(std::move(value))) {}
PropertyValue::PropertyValue(std::string_view value) : PropertyValue(std::string(value)) {}
PropertyValue::PropertyValue(const char* value) : PropertyValue(std::string(value)) {}
PropertyValue::PropertyValue(PropertyList value) {
  const bool is_leaf = AreLeaves(value);
  data_ = Share(std::move(value), is_leaf);
}
PropertyValue::PropertyValue(PropertyMap value) {
  const bool is_leaf = AreLeaves(value);
  data_ = Share(std::move(value), is_leaf);
}
PropertyValue::PropertyValue(Output value) {
  const bool is_leaf = value.element == nullptr;
  data_ = Share(std::move(value), is_leaf);
}
PropertyValue::PropertyValue(ResourceReference value)
    : data_(std::make_shared<const ResourceReference>(std::move(value))) {}
PropertyValue::PropertyValue(Asset value)
    : data_(std::make_shared<const Asset>(std::move(value))) {}
PropertyValue::PropertyValue(Archive value) {
  const bool is_leaf = value.assets == nullptr;
  data_ = Share(std::move(value), is_leaf);
}

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

}  // namespace davit
