// What a program reads: records, the outputs of other stacks, the resources that outputs refer to
// (Y95-Y97).
#include <fmt/format.h>

#include <set>

#include "engine/model/provider_ref.h"
#include "engine/yaml/evaluation.h"
#include "engine/yaml/nearest.h"

namespace davit {
namespace {

void CollectReferences(const PropertyValue& value, std::set<std::string>* urns) {
  if (const ResourceReference* reference = value.as_reference()) {
    urns->insert(reference->urn);
  } else if (const PropertyMap* map = value.as_map()) {
    for (const auto& [key, item] : *map) {
      CollectReferences(item, urns);
    }
  } else if (const PropertyList* list = value.as_list()) {
    for (const PropertyValue& item : *list) {
      CollectReferences(item, urns);
    }
  } else if (const Secret* secret = value.as_secret()) {
    CollectReferences(secret->Reveal(), urns);
  }
}

}  // namespace

Task<std::optional<YamlResourceResult>> YamlRun::SendRead(ReadGoal read) {
  Result<RegisterResponse> response = co_await monitor_.ReadResource(std::move(read));
  if (!response) {
    Report(std::move(response).error());
    co_return std::nullopt;
  }
  YamlResourceResult result;
  result.urn = response->urn;
  result.is_unknown = response->unknown;
  result.id = response->id.empty() || response->id == kUnknownId ? PropertyValue(Unknown())
                                                                 : PropertyValue(response->id);
  result.outputs = std::move(response->outputs);
  co_return result;
}

// Recorded (resource-as-value): what refers to a resource is looked up, so that a reference to none
// is told at once.
Task<bool> YamlRun::LookUpReferences(const PropertyMap& outputs) {
  std::set<std::string> urns;
  for (const auto& [name, value] : outputs) {
    CollectReferences(value, &urns);
  }
  for (const std::string& urn : urns) {
    InvokeGoal goal;
    goal.token = "pulumi:pulumi:getResource";
    goal.args["urn"] = urn;
    const Result<InvokeOutcome> found = co_await monitor_.Invoke(std::move(goal));
    if (!found) {
      Report(found.error());
      co_return false;
    }
    if (!by_urn_.contains(urn)) {
      AddLookedUp(urn, *found);
    }
  }
  co_return true;
}

void YamlRun::AddLookedUp(const std::string& urn, const InvokeOutcome& found) {
  YamlResourceResult& resource = looked_up_[urn];
  resource.urn = Urn::Trusted(urn);
  resource.type = std::string(resource.urn.type());
  resource.schema = packages_->Resource(resource.type);
  resource.is_unknown = found.unknown;
  const auto id = found.result.find("id");
  const auto state = found.result.find("state");
  const bool has_id = id != found.result.end() && id->second.is_string();
  resource.id = !has_id                                             ? PropertyValue()
                : id->second.as_string()->empty() && info_.preview ? PropertyValue(Unknown())
                                                                    : id->second;
  if (state != found.result.end() && state->second.is_map()) {
    resource.outputs = *state->second.as_map();
  }
  by_urn_[urn] = &resource;
}

Task<std::optional<YamlResourceResult>> YamlRun::ReadStack(const YamlResource& resource,
                                                           Goal goal) {
  ReadGoal read;
  read.type = goal.type;
  read.name = goal.name;
  read.parent = goal.parent;
  read.provider = goal.provider;
  read.dependencies = goal.dependencies;
  read.source_position = goal.source_position;
  const auto given = goal.properties.find("name");
  const PropertyValue name =
      given == goal.properties.end() ? PropertyValue(resource.key) : given->second;
  if (name.is_unknown()) {
    YamlResourceResult unknown;
    unknown.urn = Urn::Make(info_.stack, info_.project, goal.parent, goal.type, goal.name);
    unknown.id = Unknown();
    unknown.is_unknown = true;
    co_return unknown;
  }
  if (!name.is_string()) {
    Problem(resource.where,
            fmt::format("the stack reference '{}' needs a plain string as 'name'", resource.key),
            "write it as organization/project/stack");
    co_return std::nullopt;
  }
  read.id = *name.as_string();
  read.properties.emplace("name", name);
  co_return co_await SendRead(std::move(read));
}

Task<void> YamlRun::ReadNamedStack(std::string stack) {
  ReadGoal read;
  read.type = "pulumi:pulumi:StackReference";
  read.name = stack;
  read.id = stack;
  read.parent = stack_;
  read.properties.emplace("name", PropertyValue(stack));
  std::optional<YamlResourceResult> result = co_await SendRead(std::move(read));
  StackRead& entry = stack_reads_.at(stack);
  entry.result = std::move(result);
  entry.done.Open();
}

Task<YamlRun::Evaluated> YamlRun::StackOutput(YamlExprPtr expr) {
  const YamlExpr& argument = *expr->argument;
  const std::string* stack =
      argument.items.size() == 2 ? argument.items[0]->literal.as_string() : nullptr;
  if (stack == nullptr) {
    Problem(argument.where,
            "'fn::stackReference' needs a list of a literal stack and the name of an output",
            "write it as [organization/project/stack, name]");
    co_return std::nullopt;
  }
  Evaluated name = co_await Evaluate(argument.items[1]);
  if (!name) {
    co_return std::nullopt;
  }
  const PropertyValue plain = Plain(name->value);
  if (!plain.is_string()) {
    Problem(argument.items[1]->where, "the name of an output must be a string that is known");
    co_return std::nullopt;
  }
  const bool is_new = stack_reads_.try_emplace(*stack).second;
  if (is_new) {
    co_await ReadNamedStack(*stack);
  }
  StackRead& entry = stack_reads_.at(*stack);
  co_await entry.done.Wait();
  if (!entry.result) {
    co_return std::nullopt;
  }
  co_return OutputOfStack(argument.items[1]->where, *entry.result, *plain.as_string());
}

YamlRun::Evaluated YamlRun::OutputOfStack(const YamlPlace& where,
                                          const YamlResourceResult& stack,
                                          const std::string& name) {
  YamlValue value;
  value.dependencies.push_back(stack.urn);
  const auto at = stack.outputs.find("outputs");
  const PropertyMap* outputs = at == stack.outputs.end() ? nullptr : at->second.as_map();
  if (stack.is_unknown || outputs == nullptr) {
    value.value = Unknown();
    return value;
  }
  const auto found = outputs->find(name);
  if (found != outputs->end()) {
    value.value = found->second;
    return value;
  }
  if (info_.preview) {
    value.value = Unknown();
    return value;
  }
  std::vector<std::string> names;
  for (const auto& [key, output] : *outputs) {
    names.push_back(key);
  }
  Problem(where, fmt::format("the stack has no output '{}'", name), ExistingNames(name, names));
  return std::nullopt;
}

}  // namespace davit
