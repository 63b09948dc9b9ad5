#include "state/journal/without_secrets.h"

#include <utility>

namespace davit {
namespace {

bool IsHidden(const PropertyValue& value) {
  return value.is_secret() || (value.as_output() != nullptr && value.as_output()->is_secret);
}

PropertyMap Open(const PropertyMap& map);

PropertyValue Open(const PropertyValue& value) {
  if (const PropertyMap* map = value.as_map()) {
    return Open(*map);
  }
  if (const PropertyList* list = value.as_list()) {
    PropertyList items;
    for (const PropertyValue& item : *list) {
      items.push_back(IsHidden(item) ? PropertyValue() : Open(item));
    }
    return items;
  }
  return value;
}

PropertyMap Open(const PropertyMap& map) {
  PropertyMap open;
  for (const auto& [key, value] : map) {
    if (!IsHidden(value)) {
      open.emplace(key, Open(value));
    }
  }
  return open;
}

}  // namespace

StatePtr WithoutSecretValues(const ResourceState& state) {
  if (!ContainsSecrets(state.inputs) && !ContainsSecrets(state.outputs)) {
    return nullptr;
  }
  auto open = std::make_shared<ResourceState>(state);
  open->inputs = Open(state.inputs);
  open->outputs = Open(state.outputs);
  return open;
}

}  // namespace davit
