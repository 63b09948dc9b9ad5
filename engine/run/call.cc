#include "engine/run/call.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/model/provider_ref.h"

namespace davit {

std::string PackageOfMethod(const std::string& token) {
  return std::string(PackageOf(token.substr(0, token.find('/'))));
}

Result<CallTarget> CallTargetOf(const std::string& token, const PropertyMap& args) {
  const bool is_of_provider = token.starts_with(kProviderTypePrefix);
  CallTarget target;
  const auto at = args.find("__self__");
  const PropertyValue self = at == args.end() ? PropertyValue() : Plain(at->second);
  std::string id;
  if (const ResourceReference* reference = self.as_reference()) {
    target.urn = Urn::Trusted(reference->urn);
    id = reference->id.value_or(std::string());
  } else if (const PropertyMap* map = self.as_map()) {
    const auto text = [map](std::string_view key) {
      const auto entry = map->find(key);
      const std::string* found = entry == map->end() ? nullptr : entry->second.as_string();
      return found == nullptr ? std::string() : *found;
    };
    target.urn = Urn::Trusted(text("urn"));
    id = text("id");
  }
  if (!is_of_provider) {
    return target;
  }
  if (!target.urn.is_provider()) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("the method '{}' needs a provider as '__self__'", token),
                "call it on a provider resource");
  }
  target.provider =
      ProviderRef{target.urn, id.empty() ? std::string(kUnknownId) : std::move(id)}.Text();
  return target;
}

Task<Result<CallResponse>> CallMethod(RunContext& context,
                                      PluginSurroundings& surroundings,
                                      std::string provider,
                                      CallGoal goal) {
  DAVIT_CO_TRY(InstancePtr instance,
               co_await context.providers.Ensure(provider, context.OldProvider(provider)));
  if (instance->is_config_unknown) {
    co_return CallResponse();
  }
  CallRequest request;
  DAVIT_CO_TRY(request.run, surroundings.Open(std::move(goal.stack_trace)));
  request.arg_dependencies = std::move(goal.arg_dependencies);
  for (const auto& [key, value] : goal.args) {
    std::vector<Urn>& urns = request.arg_dependencies[key];
    for (std::string& text : DependenciesIn(value)) {
      Urn dependency = Urn::Trusted(std::move(text));
      if (std::ranges::find(urns, dependency) == urns.end()) {
        urns.push_back(std::move(dependency));
      }
    }
  }
  const std::string what = fmt::format("the call of '{}' failed", goal.token);
  request.token = std::move(goal.token);
  request.args = std::move(goal.args);
  request.preview = context.preview;
  Result<CallResponse> answer =
      co_await instance->provider->Call(std::move(request), CancelToken());
  if (answer) {
    co_return answer;
  }
  if (context.stopped()) {
    co_return Fail(StoppedError());
  }
  Error error = std::move(answer).error().WithContext(what);
  error.code = 2017;
  error.urn.clear();
  co_return Fail(std::move(error));
}

}  // namespace davit
