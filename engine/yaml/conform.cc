// Values as schemas want them: conversions, constants and defaults (Y88, Y152).
#include <fmt/format.h>

#include <algorithm>

#include "engine/yaml/evaluation.h"

namespace davit {
namespace {

using Kind = SchemaType::Kind;
using MaybeValue = std::optional<PropertyValue>;

bool IsOfKind(const PropertyValue& value, Kind kind) {
  return kind == Kind::kString    ? value.is_string()
         : kind == Kind::kBoolean ? value.as_bool() != nullptr
         : kind == Kind::kInteger || kind == Kind::kNumber
             ? value.as_number() != nullptr
             : (kind == Kind::kList && value.is_list()) || (kind == Kind::kMap && value.is_map());
}

Result<MaybeValue> ScalarAs(const PropertyValue& value, Kind kind) {
  const double* number = value.as_number();
  const bool* flag = value.as_bool();
  const std::string* text = value.as_string();
  if (kind == Kind::kString && (number != nullptr || flag != nullptr)) {
    return MaybeValue(number != nullptr ? NumberInText(*number) : *flag ? "true" : "false");
  }
  if (text == nullptr || kind == Kind::kString) {
    return MaybeValue();
  }
  MaybeValue parsed = ConfigValueOf(*text, kind == Kind::kBoolean ? "boolean" : "number");
  if (!parsed) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("'{}' is no {}", *text, kind == Kind::kBoolean ? "boolean" : "number"));
  }
  return parsed;
}

Result<MaybeValue> UnionAs(const PropertyValue& value, const SchemaType& type) {
  for (const SchemaType* member : type.members) {
    const Kind kind = member->kind == Kind::kEnum ? member->element->kind : member->kind;
    if (kind == Kind::kAny || IsOfKind(value, kind)) {
      return Conformed(value, *member);
    }
  }
  const SchemaType* only = nullptr;
  int objects = 0;
  for (const SchemaType* member : type.members) {
    if (member->kind == Kind::kObject) {
      only = member;
      ++objects;
    }
  }
  if (value.is_map()) {  // which of several is meant the provider knows
    return objects == 1 ? Conformed(value, *only) : Result<MaybeValue>(MaybeValue());
  }
  for (const SchemaType* member : type.members) {
    Result<MaybeValue> converted = Conformed(value, *member);
    if (converted && *converted) {
      return converted;
    }
  }
  return MaybeValue();
}

}  // namespace

Result<std::optional<PropertyMap>> Conformed(const PropertyMap& map, const SchemaObject& object) {
  std::optional<PropertyMap> changed;
  const auto set = [&](const std::string& name, PropertyValue value) {
    if (!changed) {
      changed = map;
    }
    changed->insert_or_assign(name, std::move(value));
  };
  for (const auto& [name, property] : object.properties) {
    const auto at = map.find(name);
    if (property.constant) {
      if (at == map.end() || at->second != *property.constant) {
        set(name, *property.constant);
      }
    } else if (at == map.end()) {
      if (property.default_value) {
        set(name, *property.default_value);
      }
    } else {
      Result<MaybeValue> value = Conformed(at->second, *property.type);
      if (!value) {
        return Fail(std::move(value).error().WithContext(fmt::format("the property '{}'", name)));
      }
      if (*value) {
        set(name, **std::move(value));
      }
    }
  }
  return changed;
}

Result<std::optional<PropertyValue>> Conformed(const PropertyValue& value, const SchemaType& type) {
  if (const Secret* secret = value.as_secret()) {
    Result<MaybeValue> inner = Conformed(secret->Reveal(), type);
    return inner && *inner ? Result<MaybeValue>(MakeSecret(**std::move(inner))) : inner;
  }
  switch (type.kind) {
    case Kind::kString:
    case Kind::kBoolean:
    case Kind::kInteger:
    case Kind::kNumber:
      return ScalarAs(value, type.kind);
    case Kind::kEnum:
      return Conformed(value, *type.element);
    case Kind::kUnion:
      return UnionAs(value, type);
    case Kind::kObject: {
      const PropertyMap* map = value.as_map();
      if (map == nullptr) {
        return MaybeValue();
      }
      Result<std::optional<PropertyMap>> changed = Conformed(*map, type.object);
      if (!changed) {
        return Fail(std::move(changed).error());
      }
      return *changed ? MaybeValue(PropertyValue(**std::move(changed))) : MaybeValue();
    }
    case Kind::kList: {
      const PropertyList* list = value.as_list();
      std::optional<PropertyList> changed;
      for (std::size_t index = 0; list != nullptr && index < list->size(); ++index) {
        Result<MaybeValue> item = Conformed((*list)[index], *type.element);
        if (!item) {
          return item;
        }
        if (*item) {
          changed = changed ? std::move(changed) : std::optional<PropertyList>(*list);
          (*changed)[index] = **std::move(item);
        }
      }
      return changed ? MaybeValue(PropertyValue(*std::move(changed))) : MaybeValue();
    }
    case Kind::kMap: {
      const PropertyMap* map = value.as_map();
      std::optional<PropertyMap> changed;
      if (map != nullptr) {
        for (const auto& [key, member] : *map) {
          Result<MaybeValue> item = Conformed(member, *type.element);
          if (!item) {
            return item;
          }
          if (*item) {
            changed = changed ? std::move(changed) : std::optional<PropertyMap>(*map);
            changed->insert_or_assign(key, **std::move(item));
          }
        }
      }
      return changed ? MaybeValue(PropertyValue(*std::move(changed))) : MaybeValue();
    }
    case Kind::kAny:
    case Kind::kAsset:
    case Kind::kArchive:
    case Kind::kResource:
      return MaybeValue();
  }
  return MaybeValue();
}

}  // namespace davit
