// Evaluating expressions: accesses, text, lists, maps and calls.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/model/provider_ref.h"
#include "engine/yaml/evaluation.h"

namespace davit {
namespace {

void Merge(std::vector<Urn>* into, const std::vector<Urn>& more) {
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
        Merge(&result.dependencies, value->dependencies);
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
        Merge(&result.dependencies, value->dependencies);
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
    Merge(&result.dependencies, key->dependencies);
    Merge(&result.dependencies, value->dependencies);
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
    const std::string key = access.root.find(':') == std::string::npos
                                ? info_.project + ":" + access.root
                                : access.root;
    const auto at = info_.config.find(key);
    if (at == info_.config.end()) {
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
  if (member == nullptr) {
    Problem(access.where,
            fmt::format("'{}' is a resource and has no numbered members", access.root));
    return std::nullopt;
  }
  if (resource.is_stack_reference() && *member == "outputs" && access.path.size() > 1) {
    if (const std::string* name = std::get_if<std::string>(&access.path[1])) {  // Y97
      Evaluated output = OutputOfStack(access.where, resource, *name);
      return output ? Walk(access, *std::move(output), 2) : std::nullopt;
    }
  }
  if (*member == "urn") {
    value.value = PropertyValue(resource.urn.text());
  } else if (*member == "id" && !resource.id.is_null()) {
    value.value = resource.id;
  } else if (resource.is_unknown) {
    value.value = Unknown();
  } else {
    const auto at = resource.outputs.find(*member);
    if (at != resource.outputs.end()) {
      value.value = at->second;
    } else if (info_.preview && resource.schema != nullptr &&
               resource.schema->outputs.object.properties.contains(*member)) {
      value.value = Unknown();  // Y74
    }
  }
  return Walk(access, std::move(value), 1);
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

Task<YamlRun::Evaluated> YamlRun::EvaluateCall(YamlExprPtr expr) {
  const bool is_token = expr->function.find(':') != std::string::npos;
  if (expr->function == "invoke" || is_token) {
    co_return co_await Invoke(expr);
  }
  if (expr->function == "stackReference") {
    co_return co_await StackOutput(expr);
  }
  Evaluated argument = co_await Evaluate(expr->argument);
  if (!argument) {
    co_return std::nullopt;
  }
  co_return Function(*expr, *std::move(argument));
}

Task<YamlRun::Evaluated> YamlRun::Invoke(YamlExprPtr expr) {
  InvokeGoal goal;
  YamlExprPtr arguments;
  std::string member;
  std::vector<Urn> dependencies;
  if (expr->function != "invoke") {
    goal.token = expr->function;
    arguments = expr->argument;
  } else {
    if (expr->argument->kind != YamlExpr::Kind::kMap) {
      Problem(expr->where, "'fn::invoke' needs a map with 'function' and 'arguments'");
      co_return std::nullopt;
    }
    for (const auto& [key_expr, value_expr] : expr->argument->entries) {
      const std::string* key = key_expr->literal.as_string();
      const std::string* text = value_expr->literal.as_string();
      if (key != nullptr && (*key == "function" || *key == "Function") && text != nullptr) {
        goal.token = *text;
      } else if (key != nullptr && (*key == "arguments" || *key == "Arguments")) {
        arguments = value_expr;
      } else if (key != nullptr && (*key == "return" || *key == "Return") && text != nullptr) {
        member = *text;
      } else if (key != nullptr && (*key == "options" || *key == "Options") &&
                 value_expr->kind == YamlExpr::Kind::kMap) {
        for (const auto& [option_expr, option_value] : value_expr->entries) {
          YamlOption option;
          option.name =
              option_expr->literal.is_string() ? *option_expr->literal.as_string() : std::string();
          option.value = option_value;
          option.where = option_expr->where;
          static const std::vector<std::string> kKnown = {
              "dependsOn", "parent", "provider", "version", "pluginDownloadURL"};
          if (std::ranges::find(kKnown, option.name) == kKnown.end()) {
            Problem(option.where,
                    fmt::format("there is no option '{}' of a function", option.name));
            co_return std::nullopt;
          }
          Goal carrier;
          const bool good = co_await ApplyOption(option, &carrier);
          if (!good) {
            co_return std::nullopt;
          }
          Merge(&dependencies, carrier.dependencies);
          goal.parent = carrier.parent.empty() ? goal.parent : carrier.parent;
          goal.provider = carrier.provider.empty() ? goal.provider : carrier.provider;
          goal.version = carrier.version.empty() ? goal.version : carrier.version;
          goal.download_url =
              carrier.download_url.empty() ? goal.download_url : carrier.download_url;
        }
      } else {
        Problem(key_expr->where,
                fmt::format("'{}' is wrong in 'fn::invoke'", key == nullptr ? "this key" : *key),
                "there are function, arguments, options and return");
        co_return std::nullopt;
      }
    }
  }
  if (goal.token.empty()) {
    Problem(expr->where, "'fn::invoke' names no function");
    co_return std::nullopt;
  }
  const std::string package = goal.token.substr(0, goal.token.find(':'));
  const YamlPackages::Found function = packages_.Function(TokenUse(*expr));
  if (function.member != nullptr) {
    goal.token = function.member->token;
  }
  if (function.package != nullptr) {
    goal.package_ref = function.package->ref;
  }
  bool is_secret = false;
  if (arguments && !arguments->is_null()) {
    Evaluated evaluated = co_await Evaluate(arguments);
    if (!evaluated) {
      co_return std::nullopt;
    }
    if (!Plain(evaluated->value).is_map()) {
      Problem(arguments->where, "the arguments of a function must be a map");
      co_return std::nullopt;
    }
    is_secret = ContainsSecrets(evaluated->value);
    Merge(&dependencies, evaluated->dependencies);
    if (ContainsUnknowns(evaluated->value)) {  // Y116
      YamlValue unknown;
      unknown.value = MaybeSecret(is_secret, Unknown());
      unknown.dependencies = std::move(dependencies);
      co_return unknown;
    }
    goal.args = *Plain(evaluated->value).as_map();
    if (is_secret && !evaluated->value.is_secret()) {
      goal.args = *evaluated->value.as_map();
    }
    if (function.member != nullptr) {  // Y117, Y152
      Result<std::optional<PropertyMap>> changed = Conformed(goal.args, function.member->inputs);
      if (!changed) {
        Problem(arguments->where, changed.error().Text());
        co_return std::nullopt;
      }
      if (*changed) {
        goal.args = **std::move(changed);
      }
    }
  }
  const auto default_provider = program_.default_providers.find(package);
  if (goal.provider.empty() && default_provider != program_.default_providers.end()) {
    const YamlNodeResult& provider =
        results_[YamlNodeRef{YamlNodeKind::kResource, default_provider->second}];
    const std::string* id = provider.resource->id.as_string();
    goal.provider =
        ProviderRef{provider.resource->urn, id == nullptr ? std::string(kUnknownId) : *id}.Text();
  }
  goal.depends_on = dependencies;
  const std::string token = goal.token;
  Result<InvokeOutcome> outcome = co_await monitor_.Invoke(std::move(goal));
  if (!outcome) {
    Error error = std::move(outcome).error();
    if (!error.reported) {
      error.where = expr->where;
      error = std::move(error).WithContext(fmt::format("the function '{}' failed", token));
    }
    Report(std::move(error));
    co_return std::nullopt;
  }
  if (!outcome->failures.empty()) {
    for (const CheckFailure& failure : outcome->failures) {
      Problem(expr->where,
              fmt::format("the function '{}' failed: {}{}",
                          token,
                          failure.reason,
                          failure.property.empty() ? "" : fmt::format(" ({})", failure.property)));
    }
    co_return std::nullopt;
  }
  YamlValue result;
  result.dependencies = std::move(dependencies);
  if (outcome->unknown) {
    result.value = Unknown();
  } else if (member.empty()) {
    const bool is_scalar =
        function.member != nullptr && function.member->is_scalar() && outcome->result.size() == 1;
    result.value = is_scalar ? std::move(outcome->result.begin()->second)
                             : PropertyValue(std::move(outcome->result));  // Y114
  } else {
    const auto at = outcome->result.find(member);
    if (at == outcome->result.end()) {
      Problem(expr->where, fmt::format("the result of '{}' has no member '{}'", token, member));
      co_return std::nullopt;
    }
    result.value = at->second;
  }
  result.value = MaybeSecret(is_secret, std::move(result.value));
  co_return result;
}

}  // namespace davit
