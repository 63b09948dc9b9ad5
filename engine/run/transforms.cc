#include "engine/run/transforms.h"

#include <algorithm>

namespace davit {
namespace {

void AddUrn(std::vector<Urn>* urns, const Urn& urn) {
  if (std::ranges::find(*urns, urn) == urns->end()) {
    urns->push_back(urn);
  }
}

// Each property as an output value that carries what it depends on (P104).
void Upgrade(Goal* goal) {
  for (auto& [key, value] : goal->properties) {
    if (!goal->has_property_dependencies) {
      goal->property_dependencies[key] = goal->dependencies;
    }
    const auto at = goal->property_dependencies.find(key);
    if (value.as_output() != nullptr || at == goal->property_dependencies.end() ||
        at->second.empty()) {
      continue;
    }
    Output output;
    const Secret* secret = value.as_secret();
    const PropertyValue& inner = secret != nullptr ? secret->Reveal() : value;
    output.is_secret = secret != nullptr;
    if (!inner.is_unknown()) {
      output.element = std::make_shared<const PropertyValue>(inner);
    }
    for (const Urn& urn : at->second) {
      output.dependencies.push_back(urn.text());
    }
    value = std::move(output);
  }
}

// E54: the sets out of the output values; the list out of `depends_on` and all of them.
void FindDependencies(Goal* goal) {
  goal->property_dependencies.clear();
  for (const auto& [key, value] : goal->properties) {
    std::vector<Urn>& urns = goal->property_dependencies[key];
    for (std::string& text : DependenciesIn(value)) {
      const Urn urn = Urn::Trusted(std::move(text));
      AddUrn(&urns, urn);
      AddUrn(&goal->dependencies, urn);
    }
  }
  goal->has_property_dependencies = true;
}

}  // namespace

void TransformTable::Keep(const Urn& urn, std::vector<Transform> own) {
  if (!own.empty()) {
    kept_[urn] = std::move(own);
  }
}

Task<Result<Goal>> TransformTable::Apply(Urn urn, Goal goal, std::vector<Transform> own) {
  const auto kept = kept_.find(urn);
  if (kept != kept_.end()) {
    own.insert(own.begin(), kept->second.begin(), kept->second.end());
    kept_.erase(kept);
  }
  const bool has_own = !own.empty();
  has_own_ = has_own_ || has_own;
  std::vector<Transform> all = own;
  registered_[urn] = Registered{goal.parent, std::move(own)};
  for (Urn ancestor = goal.parent; !ancestor.empty();) {
    const auto at = registered_.find(ancestor);
    if (at == registered_.end()) {
      break;
    }
    all.insert(all.end(), at->second.own.begin(), at->second.own.end());
    ancestor = at->second.parent;
  }
  all.insert(all.end(), stack_.begin(), stack_.end());
  if (has_own) {
    Upgrade(&goal);
  }
  for (const Transform& transform : all) {
    DAVIT_CO_TRY(goal, co_await transform(std::move(goal)));
  }
  if (has_own) {
    FindDependencies(&goal);
  }
  co_return goal;
}

Task<Result<InvokeGoal>> TransformTable::Apply(InvokeGoal goal) {
  const std::vector<InvokeTransform> all = invokes_;  // more may come meanwhile
  for (const InvokeTransform& transform : all) {
    DAVIT_CO_TRY(goal, co_await transform(std::move(goal)));
  }
  co_return goal;
}

}  // namespace davit
