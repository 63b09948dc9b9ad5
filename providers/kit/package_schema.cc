#include "providers/kit/package_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/value/property_path.h"
#include "engine/value/value_diff.h"

namespace davit::kit {
namespace {

using Path = std::vector<PathSegment>;

/// The value in the declared type, converted where that loses nothing; else absent and `failure`
/// is set.
std::optional<PropertyValue> Fit(const SchemaType& type,
                                 const PropertyValue& value,
                                 const Path& path,
                                 CheckFailure* failure);

std::nullopt_t Misfit(const SchemaType& type, const Path& path, CheckFailure* failure) {
  failure->property = PropertyPath(path).Text();
  failure->reason = fmt::format("must be of type {}", type.Text());
  return std::nullopt;
}

std::optional<PropertyValue> FitList(const SchemaType& type,
                                     const PropertyValue& value,
                                     const Path& path,
                                     CheckFailure* failure) {
  const PropertyList* list = value.as_list();
  if (list == nullptr) {
    return Misfit(type, path, failure);
  }
  PropertyList fitted;
  for (std::size_t index = 0; index < list->size(); ++index) {
    Path item_path = path;
    item_path.emplace_back(static_cast<int>(index));
    std::optional<PropertyValue> item =
        Fit(type.arguments().front(), (*list)[index], item_path, failure);
    if (!item) {
      return std::nullopt;
    }
    fitted.push_back(*std::move(item));
  }
  return PropertyValue(std::move(fitted));
}

std::optional<PropertyValue> FitMap(const SchemaType& type,
                                    const PropertyValue& value,
                                    const Path& path,
                                    CheckFailure* failure) {
  const PropertyMap* map = value.as_map();
  if (map == nullptr) {
    return Misfit(type, path, failure);
  }
  PropertyMap fitted;
  for (const auto& [key, item] : *map) {
    Path item_path = path;
    item_path.emplace_back(key);
    std::optional<PropertyValue> fit = Fit(type.arguments().front(), item, item_path, failure);
    if (!fit) {
      return std::nullopt;
    }
    fitted.emplace(key, *std::move(fit));
  }
  return PropertyValue(std::move(fitted));
}

std::optional<PropertyValue> FitOneOf(const SchemaType& type,
                                      const PropertyValue& value,
                                      const Path& path,
                                      CheckFailure* failure) {
  for (const SchemaType& alternative : type.arguments()) {
    CheckFailure ignored;
    std::optional<PropertyValue> fit = Fit(alternative, value, path, &ignored);
    if (fit) {
      return fit;
    }
  }
  return Misfit(type, path, failure);
}

std::optional<PropertyValue> Fit(const SchemaType& type,
                                 const PropertyValue& value,
                                 const Path& path,
                                 CheckFailure* failure) {
  if (const Secret* secret = value.as_secret()) {
    std::optional<PropertyValue> inner = Fit(type, secret->Reveal(), path, failure);
    return inner ? std::optional(MakeSecret(*std::move(inner))) : std::nullopt;
  }
  if (value.is_unknown() || type.kind() == SchemaType::Kind::kAny) {
    return value;
  }
  const double* number = value.as_number();
  switch (type.kind()) {
    case SchemaType::Kind::kAny:
      return value;
    case SchemaType::Kind::kString:
      if (value.is_string()) {
        return value;
      }
      if (number != nullptr) {
        return PropertyValue(NumberText(*number));
      }
      if (const bool* flag = value.as_bool()) {
        return PropertyValue(*flag ? "true" : "false");
      }
      return Misfit(type, path, failure);
    case SchemaType::Kind::kNumber:
      return number != nullptr ? std::optional(value) : Misfit(type, path, failure);
    case SchemaType::Kind::kInteger:
      return number != nullptr && std::trunc(*number) == *number ? std::optional(value)
                                                                 : Misfit(type, path, failure);
    case SchemaType::Kind::kBoolean:
      return value.as_bool() != nullptr ? std::optional(value) : Misfit(type, path, failure);
    case SchemaType::Kind::kList:
      return FitList(type, value, path, failure);
    case SchemaType::Kind::kMap:
      return FitMap(type, value, path, failure);
    case SchemaType::Kind::kOneOf:
      return FitOneOf(type, value, path, failure);
  }
  return Misfit(type, path, failure);
}

const PropertySchema* FindDeclared(const std::vector<PropertySchema>& declared,
                                   std::string_view name) {
  for (const PropertySchema& property : declared) {
    if (property.name == name) {
      return &property;
    }
  }
  return nullptr;
}

std::string Names(const std::vector<PropertySchema>& declared) {
  std::string names;
  for (const PropertySchema& property : declared) {
    names += (names.empty() ? "" : ", ") + property.name;
  }
  return names;
}

DiffKind KindOf(ChangeKind kind, bool is_replace) {
  switch (kind) {
    case ChangeKind::kAdd:
      return is_replace ? DiffKind::kAddReplace : DiffKind::kAdd;
    case ChangeKind::kDelete:
      return is_replace ? DiffKind::kDeleteReplace : DiffKind::kDelete;
    case ChangeKind::kUpdate:
      break;
  }
  return is_replace ? DiffKind::kUpdateReplace : DiffKind::kUpdate;
}

}  // namespace

std::string SchemaType::Text() const {
  switch (kind_) {
    case Kind::kAny:
      return "any";
    case Kind::kString:
      return "string";
    case Kind::kNumber:
      return "number";
    case Kind::kInteger:
      return "integer";
    case Kind::kBoolean:
      return "boolean";
    case Kind::kList:
      return "list of " + arguments_.front().Text();
    case Kind::kMap:
      return "map of " + arguments_.front().Text();
    case Kind::kOneOf:
      break;
  }
  std::string text;
  for (const SchemaType& alternative : arguments_) {
    text += (text.empty() ? "" : " or ") + alternative.Text();
  }
  return text;
}

CheckResponse CheckDeclared(const std::vector<PropertySchema>& declared,
                            std::string_view owner,
                            bool accepts_any,
                            const PropertyMap& inputs) {
  CheckResponse response;
  for (const auto& [name, value] : inputs) {
    const PropertySchema* property = FindDeclared(declared, name);
    if (property == nullptr && (accepts_any || name.starts_with("__"))) {
      response.inputs[name] = value;
    } else if (property == nullptr) {
      response.failures.push_back(
          {.property = name,
           .reason = fmt::format("is not an input of {}, which has {}", owner, Names(declared))});
    } else if (!value.is_null()) {
      CheckFailure failure;
      std::optional<PropertyValue> fitted = Fit(property->type, value, {name}, &failure);
      if (fitted) {
        response.inputs[name] = *std::move(fitted);
      } else {
        response.failures.push_back(std::move(failure));
        response.inputs[name] = value;
      }
    }
  }
  for (const PropertySchema& property : declared) {
    if (response.inputs.contains(property.name)) {
      continue;
    }
    if (!property.default_value.is_null()) {
      response.inputs[property.name] = property.default_value;
    } else if (property.required) {
      response.failures.push_back({.property = property.name, .reason = "is required"});
    }
  }
  return response;
}

DiffResponse DiffDeclared(const std::vector<PropertySchema>& declared,
                          const PropertyMap& old_inputs,
                          const PropertyMap& new_inputs) {
  std::map<std::string, PropertyDiff> detail;
  for (const ValueChange& change : DiffValues(old_inputs, new_inputs)) {
    const auto* top = std::get_if<std::string>(&change.path.segments().front());
    const PropertySchema* property = top == nullptr ? nullptr : FindDeclared(declared, *top);
    const bool is_replace = property != nullptr && property->replace_on_changes;
    detail[change.path.Text()] = {.kind = KindOf(change.kind, is_replace), .input_diff = true};
  }
  return DiffFromDetail(std::move(detail));
}

DiffResponse DiffFromDetail(std::map<std::string, PropertyDiff> detail) {
  DiffResponse response;
  response.changes = detail.empty() ? DiffChanges::kNone : DiffChanges::kSome;
  const auto add_once = [](const std::string& name, std::vector<std::string>* names) {
    if (std::find(names->begin(), names->end(), name) == names->end()) {
      names->push_back(name);
    }
  };
  for (const auto& [path, diff] : detail) {
    const Result<PropertyPath> parsed = PropertyPath::Parse(path);
    const std::string* top = parsed && !parsed->empty()
                                 ? std::get_if<std::string>(&parsed->segments().front())
                                 : nullptr;
    add_once(top == nullptr ? path : *top, &response.diffs);
    if (IsReplace(diff.kind)) {
      add_once(top == nullptr ? path : *top, &response.replaces);
    }
  }
  response.detailed = std::move(detail);
  return response;
}

}  // namespace davit::kit
