// Evaluating expressions: accesses, text, lists and maps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/yaml/evaluation.h"

namespace davit {
namespace {

void MergeInto(std::vector<Urn>* into, const std::vector<Urn>& more) {
  for (const Urn& urn : more) {
    if (std::ranges::find(*into, urn) == into->end()) {
      into->push_back(urn);
    }
  }
}

PropertyValue MaybeSecret(bool is_secret, PropertyValue value) {
  return is_secret ? MakeSecret(std::move(value)) : value;
}

}  // namespace

std::string NumberInText(double value) {
  if (std::isfinite(value) && value == std::trunc(value) && std::fabs(value) < 9007199254740992.0) {
    return fmt::format("{:.0f}", value);
  }
  return NumberText(value);
}

Task<YamlRun::Evaluated> YamlRun::Evaluate(YamlExprPtr expr) {
  switch (expr->kind) {
    case YamlExpr::Kind::kLiteral: {
      YamlValue value;
      value.value = expr->literal;
      co_return value;
    }
    case YamlExpr::Kind::kAccess:
      co_return Access(expr->access);
    case YamlExpr::Kind::kText: {
      YamlValue result;
      std::string text;
      bool is_secret = false;
      bool is_unknown = false;
      for (const YamlTextPart& part : expr->parts) {
        if (const std::string* plain = std::get_if<std::string>(&part)) {
          text += *plain;
          continue;
        }
        const YamlAccess& access = std::get<YamlAccess>(part);
        Evaluated value = Access(access);
        if (!value) {
          co_return std::nullopt;
        }
        MergeInto(&result.dependencies, value->dependencies);
        is_secret = is_secret || ContainsSecrets(value->value);
        is_unknown = is_unknown || ContainsUnknowns(value->value);
        if (!is_unknown && !AppendText(access, Plain(value->value), &text)) {
          co_return std::nullopt;
        }
      }
      result.value = MaybeSecret(
          is_secret, is_unknown ? PropertyValue(Unknown()) : PropertyValue(std::move(text)));
      co_return result;
    }
    case YamlExpr::Kind::kList: {
      YamlValue result;
      PropertyList list;
      for (const YamlExprPtr& item : expr->items) {
        Evaluated value = co_await Evaluate(item);
        if (!value) {
          co_return std::nullopt;
        }
        MergeInto(&result.dependencies, value->dependencies);
        list.push_back(std::move(value->value));
      }
      result.value = std::move(list);
      co_return result;
    }
    case YamlExpr::Kind::kMap:
      co_return co_await EvaluateMap(expr);
    case YamlExpr::Kind::kCall:
      co_return co_await EvaluateCall(expr);
  }
  co_return std::nullopt;
}

Task<YamlRun::Evaluated> YamlRun::EvaluateMap(YamlExprPtr expr) {
  YamlValue result;
  PropertyMap map;
  for (const auto& [key_expr, value_expr] : expr->entries) {
    if (value_expr->is_null()) {
      continue;  // Y94, Y172: literal null members are dropped at every depth
    }
    Evaluated key = co_await Evaluate(key_expr);
    if (!key) {
      co_return std::nullopt;
    }
    const PropertyValue plain = Plain(key->value);
    if (!plain.is_string()) {
      Problem(key_expr->where, "a key must be a string that is known");
      co_return std::nullopt;
    }
    Evaluated value = co_await Evaluate(value_expr);
    if (!value) {
      co_return std::nullopt;
    }
    MergeInto(&result.dependencies, key->dependencies);
    MergeInto(&result.dependencies, value->dependencies);
    map.insert_or_assign(*plain.as_string(), std::move(value->value));
  }
  result.value = std::move(map);
  co_return result;
}

bool YamlRun::AppendText(const YamlAccess& access, const PropertyValue& value, std::string* text) {
  const std::optional<YamlNodeRef> node = program_.Resolve(access.root);
  return value.Visit(Overloaded{
      [&](const Null&) {
        *text += "<nil>";
        return true;
      },
      [&](bool flag) {
        *text += flag ? "true" : "false";
        return true;
      },
      [&](double number) {
        *text += NumberInText(number);
        return true;
      },
      [&](const std::string& string) {
        if (text->size() + string.size() > kMaxText) {
          Problem(access.where,
                  fmt::format("the text is longer than {} MiB here", kMaxText >> 20U),
                  "texts that are made of each other double in length with every step");
          return false;
        }
        *text += string;
        return true;
      },
      [&](const PropertyList& list) {
        *text += '[';
        bool good = true;
        for (std::size_t index = 0; index < list.size(); ++index) {
          *text += index == 0 ? "" : " ";
          good = AppendText(access, list[index], text) && good;
        }
        *text += ']';
        return good;
      },
      [&](const PropertyMap& map) {
        *text += "map[";
        bool good = true;
        bool is_first = true;
        for (const auto& [key, item] : map) {
          *text += is_first ? "" : " ";
          is_first = false;
          *text += key + ":";
          good = AppendText(access, item, text) && good;
        }
        *text += ']';
        return good;
      },
      [&](const auto&) {  // resources, assets, archives (Y65); secrets and unknowns were taken off
                          // before
        Problem(access.where,
                fmt::format("'{}' has no text form", access.Text()),
                node && node->kind == YamlNodeKind::kResource ? "use its .id or .urn" : "");
        return false;
      },
  });
}

YamlRun::Evaluated YamlRun::Access(const YamlAccess& access) {
  const std::optional<YamlNodeRef> node = program_.Resolve(access.root);
  if (!node) {
    if (access.root == "pulumi") {
      return PulumiValue(access);
    }
    const auto at = info_.config.find(ConfigKeyOf(access.root));
    if (at == info_.config.end() || instance_.root != &program_) {  // Y193
      Problem(access.where, fmt::format("no resource, variable or config value is named '{}'", access.root));
      return std::nullopt;
    }
    YamlValue value;
    value.value = MaybeSecret(at->second.is_secret, *ConfigValueOf(at->second.text, ""));
    return Walk(access, std::move(value), 0);
  }
  const YamlNodeResult& result = results_[*node];
  if (result.resource) {
    return AccessResource(access, *result.resource);
  }
  return Walk(access, *result.value, 0);
}

std::string YamlRun::ConfigKeyOf(const std::string& name) const {
  return name.find(':') == std::string::npos ? info_.project + ":" + name : name;
}

YamlRun::Evaluated YamlRun::PulumiValue(const YamlAccess& access) {
  YamlValue value;
  value.value = PropertyMap{{"cwd", program_directory_},
                            {"project", info_.project},
                            {"stack", info_.stack},
                            {"organization", info_.organization},
                            {"rootDirectory", info_.root_directory}};
  if (!access.path.empty()) {
    const std::string* member = std::get_if<std::string>(&access.path[0]);
    if (member == nullptr || !value.value.as_map()->contains(*member)) {
      Problem(access.where,
              fmt::format("there is no '{}'", access.Text()),
              "there are cwd, project, stack, organization and rootDirectory");
      return std::nullopt;
    }
  }
  return Walk(access, std::move(value), 0);
}

YamlRun::Evaluated YamlRun::AccessResource(const YamlAccess& access,
                                           const YamlResourceResult& resource) {
  YamlValue value;
  value.dependencies.push_back(resource.urn);
  if (access.path.empty()) {
    ResourceReference reference;
    reference.urn = resource.urn.text();
    reference.name = resource.name;
    reference.type = resource.type;
    if (!resource.id.is_null()) {
      const std::string* id = resource.id.as_string();
      reference.id = id == nullptr ? std::string() : *id;
    }
    value.value = std::move(reference);
    return value;
  }
  const std::string* member = std::get_if<std::string>(&access.path[0]);
  if (member != nullptr && resource.is_stack_reference() && *member == "outputs" && access.path.size() > 1) {
    if (const std::string* name = std::get_if<std::string>(&access.path[1])) {  // Y97
      Evaluated output = OutputOfStack(access.where, resource, *name);
      return output ? Walk(access, *std::move(output), 2) : std::nullopt;
    }
  }
  std::optional<PropertyValue> held = MemberOf(access, resource, access.path[0]);
  if (!held) {
    return std::nullopt;
  }
  value.value = *std::move(held);
  return Walk(access, std::move(value), 1);
}

std::optional<PropertyValue> YamlRun::MemberOf(const YamlAccess& access,
                                               const YamlResourceResult& resource,
                                               const PathSegment& segment) {
  const std::string* member = std::get_if<std::string>(&segment);
  if (member == nullptr) {
    Problem(access.where,
            fmt::format("'{}' asks a resource for a numbered member", access.Text()));
    return std::nullopt;
  }
  if (*member == "urn") {
    return PropertyValue(resource.urn.text());
  }
  if (*member == "id" && !resource.id.is_null()) {
    return resource.id;
  }
  if (resource.is_unknown) {
    return PropertyValue(Unknown());
  }
  const auto at = resource.outputs.find(*member);
  if (at != resource.outputs.end()) {
    return at->second;
  }
  if (info_.preview && resource.schema != nullptr &&
      resource.schema->outputs.object.properties.contains(*member)) {
    return PropertyValue(Unknown());  // Y74
  }
  return access.where.is_tried ? std::nullopt : std::optional<PropertyValue>(PropertyValue());
}

YamlRun::Evaluated YamlRun::Walk(const YamlAccess& access, YamlValue root, std::size_t first) {
  bool is_secret = false;
  PropertyValue current = std::move(root.value);
  for (std::size_t at = first; at < access.path.size(); ++at) {
    while (const Secret* secret = current.as_secret()) {
      is_secret = true;
      current = PropertyValue(secret->Reveal());
    }
    if (current.is_unknown()) {
      break;
    }
    if (const ResourceReference* reference = current.as_reference()) {  // Y78
      const auto known = by_urn_.find(reference->urn);
      if (known == by_urn_.end()) {
        Problem(access.where,
                fmt::format("the resource that '{}' refers to cannot be read", access.root));
        return std::nullopt;
      }
      MergeInto(&root.dependencies, {known->second->urn});
      std::optional<PropertyValue> held = MemberOf(access, *known->second, access.path[at]);
      if (!held) {
        return std::nullopt;
      }
      current = *std::move(held);
      continue;
    }
    PropertyValue next;
    if (const std::string* key = std::get_if<std::string>(&access.path[at])) {
      const PropertyMap* map = current.as_map();
      if (map == nullptr) {
        Problem(access.where,
                fmt::format("'{}' has no member '{}' because it is no map", access.root, *key));
        return std::nullopt;
      }
      const auto found = map->find(*key);
      if (found != map->end()) {
        next = found->second;
      } else if (ContainsUnknowns(current)) {
        next = Unknown();  // Y75
      } else if (access.where.is_tried) {
        return std::nullopt;  // Y111: what is missing cannot be had
      }
    } else {
      const int index = std::get<int>(access.path[at]);
      const PropertyList* list = current.as_list();
      if (list == nullptr || static_cast<std::size_t>(index) >= list->size()) {
        Problem(access.where,
                list == nullptr
                    ? fmt::format("'{}' is no list where [{}] is asked for", access.root, index)
                    : fmt::format("'{}' has only {} items where [{}] is asked for",
                                  access.root,
                                  list->size(),
                                  index));
        return std::nullopt;
      }
      next = (*list)[static_cast<std::size_t>(index)];
    }
    current = std::move(next);
  }
  root.value = MaybeSecret(is_secret, std::move(current));
  return root;
}

}  // namespace davit
