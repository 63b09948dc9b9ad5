// Evaluating calls: functions of packages, methods, and what may fail.
#include <fmt/format.h>

#include <algorithm>

#include "engine/model/provider_ref.h"
#include "engine/yaml/evaluation.h"
#include "engine/yaml/nearest.h"

namespace davit {
namespace {

void MergeUrns(std::vector<Urn>* into, const std::vector<Urn>& more) {
  for (const Urn& urn : more) {
    if (std::ranges::find(*into, urn) == into->end()) {
      into->push_back(urn);
    }
  }
}

PropertyValue SecretIf(bool is_secret, PropertyValue value) {
  return is_secret ? MakeSecret(std::move(value)) : value;
}

}  // namespace

Task<YamlRun::Evaluated> YamlRun::EvaluateCall(YamlExprPtr expr) {
  const bool is_token = expr->function.find(':') != std::string::npos;
  if (expr->function == "invoke" || is_token) {
    co_return co_await Invoke(expr);
  }
  if (expr->function == "stackReference") {
    co_return co_await StackOutput(expr);
  }
  if (expr->function == "try") {
    co_return co_await Try(expr);
  }
  if (expr->function == "can") {
    co_return co_await Can(expr);
  }
  if (expr->function == "call") {
    co_return co_await CallMethod(expr);
  }
  Evaluated argument = co_await Evaluate(expr->argument);
  if (!argument) {
    co_return std::nullopt;
  }
  co_return Function(*expr, *std::move(argument));
}

Task<YamlRun::Evaluated> YamlRun::Invoke(YamlExprPtr expr) {
  InvokeGoal goal;
  const bool has_form = expr->function == "invoke";  // which the checks have looked at
  goal.token = has_form ? *ArgumentOf(*expr, "function")->literal.as_string() : expr->function;
  const YamlExprPtr arguments = has_form ? ArgumentOf(*expr, "arguments") : expr->argument;
  const YamlExprPtr options = has_form ? ArgumentOf(*expr, "options") : nullptr;
  std::vector<Urn> dependencies;
  if (options) {
    for (const auto& [option_expr, option_value] : options->entries) {
      YamlOption option;
      option.name =
          option_expr->literal.is_string() ? *option_expr->literal.as_string() : std::string();
      option.value = option_value;
      option.where = option_expr->where;
      static const std::vector<std::string> kKnown = {
          "dependsOn", "parent", "provider", "version", "pluginDownloadURL"};
      if (std::ranges::find(kKnown, option.name) == kKnown.end()) {
        Problem(option.where,
                fmt::format("there is no option '{}' of a function", option.name),
                DidYouMean(option.name, kKnown));
        co_return std::nullopt;
      }
      Goal carrier;
      const bool good = co_await ApplyOption(option, &carrier);
      if (!good) {
        co_return std::nullopt;
      }
      MergeUrns(&dependencies, carrier.dependencies);
      goal.parent = carrier.parent.empty() ? goal.parent : carrier.parent;
      goal.provider = carrier.provider.empty() ? goal.provider : carrier.provider;
      goal.version = carrier.version.empty() ? goal.version : carrier.version;
      goal.download_url = carrier.download_url.empty() ? goal.download_url : carrier.download_url;
    }
  }
  const std::string package = goal.token.substr(0, goal.token.find(':'));
  const YamlPackages::Found function = packages_->Function(TokenUse(*expr));
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
    MergeUrns(&dependencies, evaluated->dependencies);
    if (ContainsUnknowns(evaluated->value)) {  // Y116
      YamlValue unknown;
      unknown.value = SecretIf(is_secret, Unknown());
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
  if (instance_.root != &program_ && goal.parent.empty()) {
    goal.parent = stack_;  // Y113: which hands down its providers
  }
  const std::string token = goal.token;
  Result<InvokeOutcome> outcome = co_await monitor_.Invoke(std::move(goal));
  if (!outcome) {
    FailCall(*expr, token, std::move(outcome).error());
    co_return std::nullopt;
  }
  if (HasFailed(*expr, token, outcome->failures)) {
    co_return std::nullopt;
  }
  Evaluated result = YamlValue();
  if (outcome->unknown) {
    result->value = Unknown();
  } else {
    result = ResultOf(*expr, token, function.member, std::move(outcome->result));
  }
  if (result) {
    result->value = SecretIf(is_secret, std::move(result->value));
    result->dependencies = std::move(dependencies);
  }
  co_return result;
}

void YamlRun::FailCall(const YamlExpr& call, const std::string& token, Error error) {
  if (call.where.is_tried && !error.reported) {
    return;
  }
  if (!error.reported) {
    error.where = call.where;
    error = std::move(error).WithContext(fmt::format("the function '{}' failed", token));
  }
  Report(std::move(error));
}

bool YamlRun::HasFailed(const YamlExpr& call,
                        const std::string& token,
                        const std::vector<CheckFailure>& failures) {
  for (const CheckFailure& failure : failures) {
    Problem(call.where,
            fmt::format("the function '{}' failed: {}{}",
                        token,
                        failure.reason,
                        failure.property.empty() ? "" : fmt::format(" ({})", failure.property)));
  }
  return !failures.empty();
}

// Y114: the member that `return` names, the bare value of a scalar function, or all.
YamlRun::Evaluated YamlRun::ResultOf(const YamlExpr& call,
                                     const std::string& token,
                                     const SchemaMember* function,
                                     PropertyMap result) {
  const bool has_form = call.function == "invoke" || call.function == "call";
  const YamlExprPtr returned = has_form ? ArgumentOf(call, "return") : nullptr;
  YamlValue value;
  if (returned) {
    const std::string& member = *returned->literal.as_string();
    const auto at = result.find(member);
    if (at == result.end()) {
      Problem(call.where, fmt::format("the result of '{}' has no member '{}'", token, member));
      return std::nullopt;
    }
    value.value = at->second;
    return value;
  }
  const bool is_scalar = function != nullptr && function->is_scalar() && result.size() == 1;
  value.value =
      is_scalar ? std::move(result.begin()->second) : PropertyValue(std::move(result));
  return value;
}

bool YamlRun::TouchesSecret(const YamlExpr& expr) const {
  bool touches = false;
  VisitAccesses(expr, [&](const YamlAccess& access) {
    const std::optional<YamlNodeRef> node = program_.Resolve(access.root);
    const auto result = node ? results_.find(*node) : results_.end();
    if (result == results_.end()) {
      const auto config = info_.config.find(ConfigKeyOf(access.root));
      touches = touches || (config != info_.config.end() && config->second.is_secret);
      return;
    }
    touches = touches || (result->second.value && ContainsSecrets(result->second.value->value)) ||
              (result->second.resource &&
               ContainsSecrets(PropertyValue(result->second.resource->outputs)));
  });
  return touches;
}

// The first alternative that can be evaluated. That one failed may tell of a secret, so its
// secretness counts.
Task<YamlRun::Evaluated> YamlRun::Try(YamlExprPtr expr) {
  if (expr->argument->kind != YamlExpr::Kind::kList || expr->argument->items.empty()) {
    Problem(expr->argument->where, "'fn::try' needs a list of values of which the first good one counts");
    co_return std::nullopt;
  }
  bool is_secret = false;
  for (const YamlExprPtr& alternative : expr->argument->items) {
    Evaluated value = co_await Evaluate(alternative);
    if (value) {
      value->value = SecretIf(is_secret, std::move(value->value));
      co_return value;
    }
    is_secret = is_secret || TouchesSecret(*alternative);
  }
  co_return std::nullopt;
}

Task<YamlRun::Evaluated> YamlRun::Can(YamlExprPtr expr) {
  Evaluated value = co_await Evaluate(expr->argument);
  YamlValue answer;
  answer.value = value.has_value();
  if (value) {
    answer.dependencies = std::move(value->dependencies);
    if (Plain(value->value).is_unknown()) {
      answer.value = Unknown();
    }
  }
  const bool is_secret =
      TouchesSecret(*expr->argument) || (value && ContainsSecrets(value->value));
  answer.value = SecretIf(is_secret, std::move(answer.value));
  co_return answer;
}

Task<YamlRun::Evaluated> YamlRun::CallMethod(YamlExprPtr expr) {
  Evaluated self = co_await Evaluate(ArgumentOf(*expr, "resource"));
  if (!self) {
    co_return std::nullopt;
  }
  const ResourceReference* reference = self->value.as_reference();
  const SchemaMember* resource = reference == nullptr ? nullptr : packages_->Resource(reference->type);
  if (reference == nullptr || resource == nullptr) {
    Problem(ArgumentOf(*expr, "resource")->where,
            "'resource' of 'fn::call' must be a resource whose package has a schema",
            "write it as ${name}");
    co_return std::nullopt;
  }
  const std::string& method = *ArgumentOf(*expr, "method")->literal.as_string();
  const auto token = resource->methods.find(method);
  if (token == resource->methods.end()) {
    Problem(ArgumentOf(*expr, "method")->where,
            fmt::format("'{}' has no method '{}'", resource->token, method));
    co_return std::nullopt;
  }
  const YamlPackages::Found function = packages_->Method(*resource, token->second);
  CallGoal goal;
  goal.token = token->second;
  goal.package_ref = function.package == nullptr ? std::string() : function.package->ref;
  goal.arg_dependencies["__self__"] = self->dependencies;
  std::vector<Urn> dependencies = self->dependencies;
  bool is_secret = false;
  const YamlExprPtr arguments = ArgumentOf(*expr, "arguments");
  if (arguments && !arguments->is_null()) {
    Evaluated evaluated = co_await Evaluate(arguments);
    if (!evaluated) {
      co_return std::nullopt;
    }
    const PropertyMap* map = evaluated->value.as_map();
    if (map == nullptr) {
      Problem(arguments->where, "the arguments of a method must be a map that is known");
      co_return std::nullopt;
    }
    is_secret = ContainsSecrets(evaluated->value);
    MergeUrns(&dependencies, evaluated->dependencies);
    goal.args = *map;
    for (const auto& [name, value] : goal.args) {
      goal.arg_dependencies[name] = evaluated->dependencies;
    }
  }
  goal.args["__self__"] = std::move(self->value);
  const std::string called = goal.token;
  Result<CallResponse> response = co_await monitor_.Call(std::move(goal));
  if (!response) {
    FailCall(*expr, called, std::move(response).error());
    co_return std::nullopt;
  }
  if (HasFailed(*expr, called, response->failures)) {
    co_return std::nullopt;
  }
  for (const auto& [name, urns] : response->dependencies) {
    MergeUrns(&dependencies, urns);
  }
  Evaluated result = YamlValue();
  if (response->result.empty() && info_.preview) {
    result->value = Unknown();  // the provider is not configured yet
  } else {
    result = ResultOf(*expr, called, function.member, std::move(response->result));
  }
  if (result) {
    result->value = SecretIf(is_secret, std::move(result->value));
    result->dependencies = std::move(dependencies);
  }
  co_return result;
}

}  // namespace davit
