// Instances of the program's own components (Y192, Y193, Y196).
#include <algorithm>

#include "engine/yaml/evaluation.h"

namespace davit {

Task<std::optional<YamlResourceResult>> YamlRun::BuildComponent(const YamlComponent& component,
                                                                Goal goal) {
  goal.custom = false;
  goal.remote = false;
  YamlRun inner(*component.program, read_, program_directory_, monitor_, info_, cancel_);
  inner.packages_ = packages_;
  inner.instance_.root = instance_.root;
  inner.instance_.prefix = goal.name + "-";
  for (const YamlConfig& input : component.program->config) {
    const auto given = goal.properties.find(input.symbol);
    if (given == goal.properties.end()) {
      continue;
    }
    YamlValue& value = inner.instance_.inputs[input.symbol];
    value.value = input.is_secret ? MakeSecret(given->second) : given->second;
    value.dependencies = goal.property_dependencies[input.symbol];
  }
  Result<RegisterResponse> response = co_await monitor_.RegisterResource(std::move(goal));
  if (!response) {
    Report(std::move(response).error());
    co_return std::nullopt;
  }
  inner.stack_ = response->urn;
  co_await inner.RunNodes();
  PropertyMap outputs = co_await inner.EvaluateOutputs();
  const Result<void> sent = co_await monitor_.RegisterOutputs(response->urn, outputs);
  if (!sent) {
    Report(sent.error());
  }
  if (inner.failed_ || !sent) {
    failed_ = true;
    co_return std::nullopt;
  }
  YamlResourceResult result;
  result.urn = response->urn;
  result.outputs = std::move(outputs);
  co_return result;
}

// Y192: children were once registered without the name of their component.
void YamlRun::AddFormerName(const YamlResource& resource, Goal* goal) const {
  const std::string& prefix = instance_.prefix;
  if (prefix.empty()) {
    return;
  }
  const std::string_view name = resource.name;
  const bool is_taken =
      name.starts_with(prefix) && names_.contains({resource.type, name.substr(prefix.size())});
  if (!is_taken) {
    AliasSpec alias;
    alias.name = resource.name;
    goal->aliases.push_back(std::move(alias));
  }
}

}  // namespace davit
