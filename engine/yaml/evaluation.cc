#include "engine/yaml/evaluation.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/semver.h"
#include "engine/model/provider_ref.h"

namespace davit {
namespace {

void AddDependency(std::vector<Urn>* list, const Urn& urn) {
  if (!urn.empty() && std::ranges::find(*list, urn) == list->end()) {
    list->push_back(urn);
  }
}

void AddDependencies(std::vector<Urn>* list, const std::vector<Urn>& more) {
  for (const Urn& urn : more) {
    AddDependency(list, urn);
  }
}

// Y177 as recorded: a stack output taken whole from a resource loses the secrets inside it.
PropertyValue WithoutInnerSecrets(const PropertyValue& value) {
  if (value.is_secret()) {
    return PropertyMap();
  }
  if (const PropertyList* list = value.as_list()) {
    PropertyList result;
    for (const PropertyValue& item : *list) {
      result.push_back(WithoutInnerSecrets(item));
    }
    return result;
  }
  if (const PropertyMap* map = value.as_map()) {
    PropertyMap result;
    for (const auto& [key, item] : *map) {
      result.emplace(key, WithoutInnerSecrets(item));
    }
    return result;
  }
  return value;
}

std::string BaseName(const std::string& path) {
  const std::size_t at = path.rfind('/');
  return at == std::string::npos ? path : path.substr(at + 1);
}

}  // namespace

void YamlRun::Report(Error error) {
  failed_ = true;
  if (!error.reported) {
    monitor_.Report(error);
  }
}

void YamlRun::Problem(const YamlPlace& where, std::string message, std::string advice) {
  if (where.is_tried) {
    return;
  }
  Error error = MakeError(ErrorKind::kInvalid, std::move(message), std::move(advice));
  error.where = where;
  Report(std::move(error));
}

Task<Result<void>> YamlRun::Run() {
  const std::vector<Error> warnings = co_await Check();
  for (const Error& warning : warnings) {
    monitor_.Log(Severity::kWarning, warning.Text(), Urn());
  }
  Error bail = MakeError(ErrorKind::kFailed, "the program failed");
  bail.reported = true;
  if (failed_) {
    co_return Fail(std::move(bail));
  }
  DAVIT_CO_TRY_VOID(co_await packages_->Register(monitor_));
  Goal stack;
  stack.type = std::string(kRootStackType);
  stack.name = info_.project + "-" + info_.stack;
  stack.custom = false;
  Result<RegisterResponse> root = co_await monitor_.RegisterResource(std::move(stack));
  if (!root) {
    co_return Fail(std::move(root).error());
  }
  stack_ = root->urn;
  co_await RunNodes();
  co_await SendOutputs();
  if (failed_) {
    co_return Fail(std::move(bail));
  }
  co_return Result<void>();
}

Task<void> YamlRun::RunNodes() {
  for (const YamlResource& resource : program_.resources) {
    if (!instance_.prefix.empty()) {
      names_.emplace(resource.type, resource.name);
    }
  }
  for (const YamlNodeRef& node : program_.order) {
    done_.try_emplace(node);
  }
  Loop& loop = co_await CurrentLoop();
  Scope scope(loop);
  for (const YamlNodeRef& node : program_.order) {
    scope.Spawn(RunNode(node));
  }
  co_await scope.Join();
}

Task<void> YamlRun::RunNode(YamlNodeRef node) {
  bool is_poisoned = false;
  for (const YamlNodeRef& need : program_.needs.at(node)) {
    co_await done_.at(need).Wait();
    const YamlNodeResult& result = results_[need];
    is_poisoned = is_poisoned || (!result.value && !result.resource);
  }
  if (!is_poisoned && !cancel_.is_cancelled()) {
    co_await EvaluateNode(node);
  }
  done_.at(node).Open();
}

Task<void> YamlRun::EvaluateNode(YamlNodeRef node) {
  switch (node.kind) {
    case YamlNodeKind::kConfig: {
      const YamlConfig& config = program_.config[node.index];
      const auto input = instance_.inputs.find(config.symbol);
      if (input != instance_.inputs.end()) {
        results_[node].value = input->second;
        co_return;
      }
      const bool has_arrived = info_.config.contains(ConfigKeyOf(config.key));
      if (!has_arrived && config.default_value) {
        Evaluated value = co_await Evaluate(config.default_value);
        if (value && config.is_secret) {
          value->value = MakeSecret(value->value);
        }
        results_[node].value = std::move(value);
      } else {
        EvaluateConfig(config, &results_[node]);
      }
      co_return;
    }
    case YamlNodeKind::kVariable: {
      Evaluated value = co_await Evaluate(program_.variables[node.index].value);
      results_[node].value = std::move(value);
      co_return;
    }
    case YamlNodeKind::kResource: {
      co_await places_.Acquire();
      const Permit place(places_);
      co_await RunResource(node.index);
      co_return;
    }
    case YamlNodeKind::kRequirement:
      co_await CheckRequiredVersion(node);
      co_return;
  }
}

std::optional<Error> VersionProblem(const std::string& range) {
  const Result<bool> is_met = IsInRange(*Semver::ParseStrict(kCompatibleVersion), range);
  if (!is_met) {
    Error error = is_met.error();
    return std::move(error).WithContext(fmt::format("'{}' is no range of versions", range));
  }
  if (*is_met) {
    return std::nullopt;
  }
  return MakeError(
      ErrorKind::kRefused,
      fmt::format("the version {} that davit is compatible with is not in the range '{}'",
                  kCompatibleVersion,
                  range),
      "widen the range, or use another version of davit");
}

Task<void> YamlRun::CheckRequiredVersion(YamlNodeRef node) {
  const YamlExprPtr& expr = program_.required_version;
  Evaluated range = co_await Evaluate(expr);
  if (!range) {
    co_return;
  }
  const std::string* text = range->value.as_string();
  if (text == nullptr) {
    Problem(expr->where, "'requiredVersion' must be a plain string that is known");
    co_return;
  }
  std::optional<Error> unmet = VersionProblem(*text);
  if (unmet) {
    unmet->where = expr->where;
    Report(*std::move(unmet));
    co_return;
  }
  results_[node].value = std::move(range);
}

void YamlRun::EvaluateConfig(const YamlConfig& config, YamlNodeResult* result) {
  const std::string key = ConfigKeyOf(config.key);
  const auto at = info_.config.find(key);
  if (at == info_.config.end()) {
    Problem(config.where,
            fmt::format("the configuration value '{}' is missing", key),
            fmt::format("set it with `davit config set {} VALUE`", config.key));
    return;
  }
  std::optional<PropertyValue> value = ConfigValueOf(at->second.text, config.type);
  if (!value) {
    Problem(
        config.where,
        fmt::format(
            "the configuration value '{}' of stack '{}' is no {}", key, info_.stack, config.type),
        "set a fitting value, or change the declared type");
    return;
  }
  if (at->second.is_secret && config.is_plain) {  // Y36
    Problem(*config.is_plain,
            fmt::format("the configuration value '{}' of stack '{}' is a secret", key, info_.stack),
            "remove 'secret: false', or store the value in plain");
    return;
  }
  YamlValue held;
  held.value =
      at->second.is_secret || config.is_secret ? MakeSecret(*std::move(value)) : *std::move(value);
  result->value = std::move(held);
}

Task<void> YamlRun::RunResource(std::size_t index) {
  const YamlResource& resource = program_.resources[index];
  const YamlPackages::Found found = packages_->Resource(TokenUse(resource));
  const SchemaMember* member = found.member;
  std::optional<Goal> goal = co_await GoalOf(resource, found);
  if (!goal || failed_) {
    co_return;
  }
  YamlResourceResult result;
  const std::string name = goal->name;
  const YamlComponent* component = ComponentOf(*instance_.root, goal->type);
  const bool is_stack = goal->type == "pulumi:pulumi:StackReference";
  if (component != nullptr) {
    std::optional<YamlResourceResult> built =
        co_await BuildComponent(*component, *std::move(goal));
    if (!built) {
      co_return;
    }
    result = *std::move(built);
  } else if (resource.get_id || is_stack) {
    Task<std::optional<YamlResourceResult>> reading = resource.get_id
                                                          ? ReadResource(resource, *std::move(goal))
                                                          : ReadStack(resource, *std::move(goal));
    std::optional<YamlResourceResult> read = co_await std::move(reading);
    if (!read) {
      co_return;
    }
    result = *std::move(read);
  } else {
    const bool is_custom = goal->custom;
    Result<RegisterResponse> response = co_await monitor_.RegisterResource(*std::move(goal));
    if (!response) {
      Report(std::move(response).error());
      co_return;
    }
    result.urn = response->urn;
    result.is_unknown = response->unknown;
    if (is_custom) {
      const bool has_id = !response->id.empty() && response->id != kUnknownId;
      result.id = has_id ? PropertyValue(response->id) : PropertyValue(Unknown());
    }
    result.outputs = std::move(response->outputs);
    const bool looked_up = co_await LookUpReferences(result.outputs);
    if (!looked_up) {
      co_return;
    }
  }
  result.name = name;
  result.type = member == nullptr ? resource.type : member->token;
  result.schema = member;
  std::optional<YamlResourceResult>& held =
      results_[YamlNodeRef{YamlNodeKind::kResource, index}].resource;
  held = std::move(result);
  by_urn_[held->urn.text()] = &*held;
}

Task<std::optional<YamlResourceResult>> YamlRun::ReadResource(const YamlResource& resource,
                                                              Goal goal) {
  // Recorded (y-get): only what `dependsOn` names is a dependency of a read record.
  Evaluated id = co_await Evaluate(resource.get_id);
  if (!id) {
    co_return std::nullopt;
  }
  const PropertyValue plain = Plain(id->value);
  if (!plain.is_string() && !plain.is_unknown()) {
    Problem(resource.get_id->where, "'get.id' must be a string");
    co_return std::nullopt;
  }
  YamlResourceResult result;
  if (plain.is_unknown()) {  // Y96: nothing to ask for yet
    result.urn = Urn::Make(info_.stack, info_.project, goal.parent, goal.type, goal.name);
    result.id = Unknown();
    result.is_unknown = true;
    co_return result;
  }
  ReadGoal read;
  read.type = goal.type;
  read.name = goal.name;
  read.id = *plain.as_string();
  read.parent = goal.parent;
  read.provider = goal.provider;
  read.version = goal.version;
  read.download_url = goal.download_url;
  read.package_ref = goal.package_ref;
  read.additional_secret_outputs = goal.additional_secret_outputs;
  read.source_position = goal.source_position;
  read.dependencies = goal.dependencies;
  for (const YamlProperty& property : resource.get_state) {
    Evaluated value = co_await Evaluate(property.value);
    if (!value) {
      co_return std::nullopt;
    }
    read.properties.emplace(property.name, std::move(value->value));
  }
  co_return co_await SendRead(std::move(read));
}

Task<std::optional<Goal>> YamlRun::GoalOf(const YamlResource& resource,
                                          const YamlPackages::Found& found) {
  const SchemaMember* member = found.member;
  Goal goal;
  goal.type = member == nullptr ? resource.type : member->token;
  goal.name = instance_.prefix + resource.name;
  goal.parent = stack_;
  goal.custom = member == nullptr || !member->is_component;
  goal.remote = !goal.custom;
  goal.source_position = fmt::format(
      "project:///{}#{},{}", BaseName(resource.where.file), resource.where.line, resource.where.column);
  goal.package_ref = found.package == nullptr ? std::string() : found.package->ref;
  for (const YamlProperty& property : resource.properties) {
    if (property.value->is_null()) {
      continue;  // Y94: literal nulls are not sent
    }
    Evaluated value = co_await Evaluate(property.value);
    if (!value) {
      co_return std::nullopt;
    }
    const Secret* secret = value->value.as_secret();
    if (secret != nullptr && secret->Reveal().is_null() && value->dependencies.empty()) {
      continue;  // nor is a secret that hides nothing (recorded: y-secret-null)
    }
    AddDependencies(&goal.dependencies, value->dependencies);
    goal.property_dependencies[property.name] = std::move(value->dependencies);
    goal.properties[property.name] = std::move(value->value);
  }
  if (resource.properties_expr) {
    Evaluated value = co_await Evaluate(resource.properties_expr);
    if (!value) {
      co_return std::nullopt;
    }
    const bool is_secret = value->value.is_secret();
    const PropertyValue& inner = is_secret ? value->value.as_secret()->Reveal() : value->value;
    if (!inner.is_map()) {
      Problem(resource.properties_expr->where, "'properties' must give a map");
      co_return std::nullopt;
    }
    AddDependencies(&goal.dependencies, value->dependencies);
    for (const auto& [key, item] : *inner.as_map()) {
      goal.property_dependencies[key] = value->dependencies;
      goal.properties[key] = is_secret ? MakeSecret(item) : item;
    }
  }
  if (member != nullptr && !ApplySchema(resource, *member, &goal)) {
    co_return std::nullopt;
  }
  bool is_good = true;
  for (const YamlOption& option : resource.options) {
    const bool good = co_await ApplyOption(option, &goal);
    is_good = is_good && good;
  }
  if (!is_good) {
    co_return std::nullopt;
  }
  AddFormerName(resource, &goal);
  const std::string package(PackageOf(resource.type));
  const auto default_provider = program_.default_providers.find(package);
  if (goal.provider.empty() && default_provider != program_.default_providers.end() &&
      !resource.type.starts_with(kProviderTypePrefix)) {
    const YamlNodeResult& result =
        results_[YamlNodeRef{YamlNodeKind::kResource, default_provider->second}];
    const std::string* id = result.resource->id.as_string();
    goal.provider =
        ProviderRef{result.resource->urn, id == nullptr ? std::string(kUnknownId) : *id}.Text();
  }
  co_return goal;
}

bool YamlRun::ApplySchema(const YamlResource& resource, const SchemaMember& member, Goal* goal) {
  bool is_good = true;
  for (const YamlProperty& property : resource.properties) {
    const auto input = member.inputs.properties.find(property.name);
    const auto given = goal->properties.find(property.name);
    if (input == member.inputs.properties.end() || given == goal->properties.end()) {
      continue;
    }
    if (input->second.type->kind == SchemaType::Kind::kString && !property.value->digits.empty()) {
      given->second = PropertyValue(property.value->digits);  // Y12: every digit counts
    }
    const Result<std::optional<PropertyValue>> fits =
        Conformed(given->second, *input->second.type);
    if (!fits) {
      Problem(property.value->where,
              fmt::format("'{}' of '{}': {}", property.name, resource.key, fits.error().message));
      is_good = false;
    }
  }
  if (!is_good || resource.get_id) {
    return is_good;
  }
  SchemaObject inputs = member.inputs;
  if (member.is_component) {
    for (auto& [name, property] : inputs.properties) {
      property.default_value.reset();  // which the component takes itself (Y193)
    }
  }
  Result<std::optional<PropertyMap>> changed = Conformed(goal->properties, inputs);
  if (!changed) {
    Problem(resource.where, changed.error().Text());
    return false;
  }
  if (*changed) {
    goal->properties = **std::move(changed);
  }
  for (const auto& [name, property] : member.inputs.properties) {  // Y88
    const auto at = goal->properties.find(name);
    if (property.is_secret && at != goal->properties.end()) {
      at->second = MakeSecret(at->second);
    }
  }
  for (const auto& [name, property] : member.outputs.object.properties) {
    if (property.is_secret) {
      goal->additional_secret_outputs.push_back(name);
    }
  }
  goal->replace_on_changes = member.replace_on_changes;
  for (const std::string& type : member.aliases) {
    AliasSpec alias;
    alias.type = type;
    goal->aliases.push_back(std::move(alias));
  }
  return true;
}

Task<void> YamlRun::SendOutputs() {
  PropertyMap outputs = co_await EvaluateOutputs();
  const Result<void> sent = co_await monitor_.RegisterOutputs(stack_, std::move(outputs));
  if (!sent) {
    Report(sent.error());
  }
}

Task<PropertyMap> YamlRun::EvaluateOutputs() {
  PropertyMap outputs;
  for (const YamlVariable& output : program_.outputs) {
    if (output.value->is_null()) {
      continue;  // Y172
    }
    bool is_poisoned = false;
    VisitAccesses(*output.value, [&](const YamlAccess& access) {
      const std::optional<YamlNodeRef> node = program_.Resolve(access.root);
      is_poisoned = is_poisoned || (node && !results_[*node].value && !results_[*node].resource);
    });
    if (is_poisoned) {
      continue;
    }
    Evaluated value = co_await Evaluate(output.value);
    if (!value) {
      continue;
    }
    if (value->value.is_null() && value->dependencies.empty()) {
      continue;  // Y172: what no resource flows into is as good as literal
    }
    PropertyValue held = std::move(value->value);
    const bool is_of_stack = instance_.root == &program_;
    const bool has_inner = is_of_stack && !held.is_secret() && ContainsSecrets(held);
    if (has_inner) {
      const std::optional<YamlNodeRef> root = output.value->kind == YamlExpr::Kind::kAccess
                                                  ? program_.Resolve(output.value->access.root)
                                                  : std::nullopt;
      const bool is_taken_whole = root && root->kind == YamlNodeKind::kResource;
      held = is_taken_whole ? WithoutInnerSecrets(held) : MakeSecret(Plain(held));  // Y177, Y176
    }
    outputs.emplace(output.key, std::move(held));
  }
  co_return outputs;
}

}  // namespace davit
