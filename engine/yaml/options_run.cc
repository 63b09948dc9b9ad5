// Resource options (Y100): each is evaluated like any expression, then must be of its form.
#include <fmt/format.h>

#include <algorithm>

#include "engine/base/semver.h"
#include "engine/model/provider_ref.h"
#include "engine/yaml/evaluation.h"
#include "engine/yaml/nearest.h"

namespace davit {
namespace {

void AddUrn(std::vector<Urn>* list, Urn urn) {
  if (std::ranges::find(*list, urn) == list->end()) {
    list->push_back(std::move(urn));
  }
}

// The place of item `index` of a literal list; else of the whole.
const SourceRange& PlaceOf(const YamlExprPtr& expr, std::size_t index) {
  return expr->kind == YamlExpr::Kind::kList && index < expr->items.size()
             ? expr->items[index]->where
             : expr->where;
}

// The place of the member `key` of a literal map; else of the whole.
const SourceRange& PlaceOf(const YamlExprPtr& expr, const std::string& key) {
  for (const auto& [key_expr, value_expr] : expr->entries) {
    const std::string* text = key_expr->literal.as_string();
    if (text != nullptr && *text == key) {
      return value_expr->where;
    }
  }
  return expr->where;
}

// The reference that goals carry for a provider resource; absent when the value is none.
std::optional<std::string> ProviderIn(const PropertyValue& value) {
  const ResourceReference* reference = value.as_reference();
  const Result<Urn> urn = reference == nullptr ? Result<Urn>(Urn()) : Urn::Parse(reference->urn);
  if (!urn || urn->empty() || !urn->is_provider() || !reference->id) {
    return std::nullopt;
  }
  return ProviderRef{*urn, reference->id->empty() ? std::string(kUnknownId) : *reference->id}
      .Text();
}

// The URN of a resource that is given whole, or by its URN as text; absent when it is neither.
std::optional<Urn> UrnIn(const PropertyValue& value, bool accepts_text) {
  const ResourceReference* reference = value.as_reference();
  const std::string* text = accepts_text ? value.as_string() : nullptr;
  if (reference == nullptr && text == nullptr) {
    return std::nullopt;
  }
  Result<Urn> urn = Urn::Parse(reference == nullptr ? *text : reference->urn);
  return urn ? std::optional<Urn>(*std::move(urn)) : std::nullopt;
}

constexpr const char* kReferenceAdvice = "write it as ${name}";
constexpr const char* kReferencesAdvice = "write it as [\"${a}\", \"${b}\"]";

}  // namespace

const std::vector<std::string>& YamlOptionNames() {
  static const std::vector<std::string> kNames = {"additionalSecretOutputs",
                                                  "aliases",
                                                  "customTimeouts",
                                                  "deleteBeforeReplace",
                                                  "dependsOn",
                                                  "ignoreChanges",
                                                  "import",
                                                  "parent",
                                                  "protect",
                                                  "provider",
                                                  "providers",
                                                  "version",
                                                  "pluginDownloadURL",
                                                  "replaceOnChanges",
                                                  "retainOnDelete",
                                                  "replaceWith",
                                                  "deletedWith",
                                                  "hideDiffs",
                                                  "replacementTrigger",
                                                  "envVarMappings"};
  return kNames;
}

bool YamlRun::WrongOption(const SourceRange& where,
                          const YamlOption& option,
                          const char* wanted,
                          std::string advice) {
  Problem(where, fmt::format("'{}' must be {}", option.name, wanted), std::move(advice));
  return false;
}

Task<bool> YamlRun::ApplyOption(const YamlOption& option, Goal* goal) {
  const YamlExprPtr& expr = option.value;
  if (expr->is_null()) {
    co_return true;  // Y20: an option without a value is not given
  }
  Evaluated evaluated = co_await Evaluate(expr);
  if (!evaluated) {
    co_return false;
  }
  const PropertyValue& value = evaluated->value;
  const std::string& name = option.name;
  if (name == "replacementTrigger") {
    goal->replacement_trigger = value;
    co_return true;
  }
  if (ContainsUnknowns(value)) {  // Y103
    Problem(expr->where,
            fmt::format("the option '{}' must be known before the resource is registered", name),
            "use a literal or a configuration value");
    co_return false;
  }
  if (ContainsSecrets(value)) {  // Y100: options are stored and shown in clear
    Problem(expr->where,
            fmt::format("the option '{}' cannot be a secret", name),
            "use a plain value, or fn::unsecret if it may be shown");
    co_return false;
  }
  if (name == "aliases") {
    co_return SetAliases(option, value, goal);
  }
  if (name == "dependsOn" || name == "replaceWith" || name == "parent" || name == "deletedWith" ||
      name == "provider" || name == "providers") {
    co_return SetReferences(option, value, goal);
  }
  if (name == "protect" || name == "deleteBeforeReplace" || name == "retainOnDelete") {
    co_return SetFlag(option, value, goal);
  }
  if (name == "version" || name == "pluginDownloadURL" || name == "import") {
    co_return SetText(option, value, goal);
  }
  if (name == "envVarMappings" || name == "customTimeouts") {
    co_return SetMap(option, value, goal);
  }
  co_return SetTextList(option, value, goal);
}

bool YamlRun::SetReferences(const YamlOption& option, const PropertyValue& value, Goal* goal) {
  const YamlExprPtr& expr = option.value;
  if (option.name == "parent" || option.name == "deletedWith") {
    std::optional<Urn> urn = UrnIn(value, false);
    if (!urn) {
      return WrongOption(expr->where, option, "a resource", kReferenceAdvice);
    }
    (option.name == "parent" ? goal->parent : goal->deleted_with) = *std::move(urn);
    return true;
  }
  if (option.name == "provider") {
    std::optional<std::string> reference = ProviderIn(value);
    if (!reference) {
      return WrongOption(expr->where, option, "a provider resource", kReferenceAdvice);
    }
    goal->provider = *std::move(reference);
    return true;
  }
  const bool is_providers = option.name == "providers";
  const PropertyList* list = value.as_list();
  if (list == nullptr) {
    return WrongOption(expr->where,
                       option,
                       is_providers ? "a list of provider resources" : "a list of resources",
                       kReferencesAdvice);
  }
  for (std::size_t index = 0; index < list->size(); ++index) {
    if (is_providers) {
      std::optional<std::string> reference = ProviderIn((*list)[index]);
      if (!reference) {
        return WrongOption(
            PlaceOf(expr, index), option, "a list of provider resources", kReferencesAdvice);
      }
      goal->providers[std::string(ProviderRef::Parse(*reference)->package())] = *reference;
      continue;
    }
    std::optional<Urn> urn = UrnIn((*list)[index], false);
    if (!urn) {
      return WrongOption(PlaceOf(expr, index), option, "a list of resources", kReferencesAdvice);
    }
    AddUrn(option.name == "dependsOn" ? &goal->dependencies : &goal->replace_with, *std::move(urn));
  }
  return true;
}

bool YamlRun::SetFlag(const YamlOption& option, const PropertyValue& value, Goal* goal) {
  const bool* flag = value.as_bool();
  if (flag == nullptr) {
    return WrongOption(option.value->where, option, "true or false");
  }
  (option.name == "protect"          ? goal->protect
   : option.name == "retainOnDelete" ? goal->retain_on_delete
                                     : goal->delete_before_replace) = *flag;
  return true;
}

bool YamlRun::SetText(const YamlOption& option, const PropertyValue& value, Goal* goal) {
  if (!value.is_string()) {
    return WrongOption(option.value->where,
                       option,
                       "a string",
                       value.as_number() == nullptr ? "" : "write it in quotes");  // Y91
  }
  if (option.name == "version") {  // Y91
    const std::optional<Semver> version = Semver::ParseTolerant(*value.as_string());
    if (!version) {
      return WrongOption(option.value->where, option, "a version", "write it as \"1.2.3\"");
    }
    goal->version = version->Text();
    return true;
  }
  (option.name == "import" ? goal->import_id : goal->download_url) = *value.as_string();
  return true;
}

bool YamlRun::SetMap(const YamlOption& option, const PropertyValue& value, Goal* goal) {
  const YamlExprPtr& expr = option.value;
  if (!value.is_map()) {
    return WrongOption(expr->where, option, "a map");
  }
  for (const auto& [key, item] : *value.as_map()) {
    const SourceRange& where = PlaceOf(expr, key);
    if (option.name == "envVarMappings") {
      if (!item.is_string()) {
        return WrongOption(where, option, "a map of strings");
      }
      goal->env_var_mappings[key] = *item.as_string();
      continue;
    }
    double* field = key == "create"   ? &goal->custom_timeouts.create
                    : key == "update" ? &goal->custom_timeouts.update
                    : key == "delete" ? &goal->custom_timeouts.delete_
                    : key == "read"   ? &goal->custom_timeouts.read
                                      : nullptr;
    if (field == nullptr) {  // Y158
      Problem(where,
              fmt::format("there is no timeout '{}'", key),
              "there are create, update, delete and read");
      return false;
    }
    const std::string* text = item.as_string();
    const std::optional<double> seconds = text == nullptr ? std::nullopt : ParseTimeout(*text);
    if (!seconds) {
      Problem(where,
              fmt::format("the timeout '{}' must be a duration", key),
              "write it as \"5m\" or \"1h30m\"");
      return false;
    }
    *field = *seconds;
  }
  return true;
}

bool YamlRun::SetTextList(const YamlOption& option, const PropertyValue& value, Goal* goal) {
  const PropertyList* items = value.as_list();
  if (items == nullptr) {
    return WrongOption(option.value->where, option, "a list of strings");
  }
  std::vector<std::string>* list = option.name == "ignoreChanges"      ? &goal->ignore_changes
                                   : option.name == "replaceOnChanges" ? &goal->replace_on_changes
                                   : option.name == "hideDiffs"        ? &goal->hide_diffs
                                                                : &goal->additional_secret_outputs;
  for (std::size_t index = 0; index < items->size(); ++index) {
    const std::string* text = (*items)[index].as_string();
    if (text == nullptr) {
      return WrongOption(PlaceOf(option.value, index), option, "a list of strings");
    }
    list->push_back(*text);
  }
  return true;
}

bool YamlRun::SetAliases(const YamlOption& option, const PropertyValue& value, Goal* goal) {
  const PropertyList* items = value.as_list();
  if (items == nullptr) {
    return WrongOption(
        option.value->where, option, "a list of URNs and maps", "write it as [{name: before}]");
  }
  for (std::size_t index = 0; index < items->size(); ++index) {
    std::optional<AliasSpec> alias = AliasOf(PlaceOf(option.value, index), (*items)[index]);
    if (!alias) {
      return false;
    }
    goal->aliases.push_back(*std::move(alias));
  }
  return true;
}

std::optional<AliasSpec> YamlRun::AliasOf(const SourceRange& where, const PropertyValue& value) {
  static const std::vector<std::string> kKeys = {
      "name", "noParent", "parent", "project", "stack", "type", "urn"};
  const auto wrong = [&](std::string message, std::string advice = {}) {
    Problem(where, std::move(message), std::move(advice));
    return std::nullopt;
  };
  AliasSpec alias;
  if (value.is_string()) {
    const std::optional<Urn> urn = UrnIn(value, true);
    if (!urn) {
      return wrong(fmt::format("the alias '{}' is no URN", *value.as_string()),
                   "for a former name write {name: ...}");
    }
    alias.urn = *urn;
    return alias;
  }
  if (!value.is_map()) {
    return wrong("an alias must be a URN or a map", "write it as {name: before}");
  }
  for (const auto& [key, item] : *value.as_map()) {
    if (key == "parent" || key == "urn") {
      const std::optional<Urn> urn = UrnIn(item, true);
      if (!urn) {
        return wrong(fmt::format(
            "'{}' of an alias must be {}", key, key == "urn" ? "a URN" : "a resource or a URN"));
      }
      (key == "urn" ? alias.urn : alias.parent) = *urn;
    } else if (key == "noParent") {
      const bool* flag = item.as_bool();
      if (flag == nullptr) {
        return wrong("'noParent' of an alias must be true or false");
      }
      alias.no_parent = *flag;
    } else if (std::ranges::find(kKeys, key) == kKeys.end()) {
      return wrong(fmt::format("there is no '{}' in an alias", key), DidYouMean(key, kKeys));
    } else if (!item.is_string()) {
      return wrong(fmt::format("'{}' of an alias must be a string", key));
    } else {
      (key == "name"      ? alias.name
       : key == "type"    ? alias.type
       : key == "project" ? alias.project
                          : alias.stack) = *item.as_string();
    }
  }
  if (alias.no_parent && !alias.parent.empty()) {
    return wrong("an alias has both 'parent' and 'noParent'", "remove one of them");
  }
  return alias;
}

}  // namespace davit
