#include "cli/display/masking.h"

#include <algorithm>
#include <array>

namespace davit {
namespace {

constexpr const char* kMask = "[secret]";

std::string WithoutTrailingBreak(std::string text) {
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

bool IsSecret(const PropertyValue& value) {
  const Output* output = value.as_output();
  return value.is_secret() || (output != nullptr && output->is_secret);
}

// Makes secret in all values what is secret in one of them.
void ShareSecrets(const std::vector<PropertyValue*>& values) {
  if (std::ranges::any_of(values, [](const PropertyValue* value) { return IsSecret(*value); })) {
    for (PropertyValue* value : values) {
      *value = IsSecret(*value) ? *value : MakeSecret(*value);
    }
    return;
  }
  std::vector<PropertyMap> maps;
  std::vector<PropertyValue*> map_values;
  std::vector<PropertyList> lists;
  std::vector<PropertyValue*> list_values;
  for (PropertyValue* value : values) {
    if (const PropertyMap* map = value->as_map()) {
      maps.push_back(*map);
      map_values.push_back(value);
    } else if (const PropertyList* list = value->as_list()) {
      lists.push_back(*list);
      list_values.push_back(value);
    }
  }
  std::map<std::string, std::vector<PropertyValue*>> members;
  for (PropertyMap& map : maps) {
    for (auto& [key, member] : map) {
      members[key].push_back(&member);
    }
  }
  std::map<std::size_t, std::vector<PropertyValue*>> items;
  for (PropertyList& list : lists) {
    for (std::size_t at = 0; at < list.size(); ++at) {
      items[at].push_back(&list[at]);
    }
  }
  for (const auto& [key, found] : members) {
    ShareSecrets(found);
  }
  for (const auto& [at, found] : items) {
    ShareSecrets(found);
  }
  for (std::size_t at = 0; at < maps.size(); ++at) {
    *map_values[at] = std::move(maps[at]);
  }
  for (std::size_t at = 0; at < lists.size(); ++at) {
    *list_values[at] = std::move(lists[at]);
  }
}

void ShareSecrets(StepMetadata* step) {
  if (!step->old_state || !step->new_state) {
    return;
  }
  const ResourceState& old_state = *step->old_state;
  const ResourceState& new_state = *step->new_state;
  const std::array<const PropertyMap*, 4> maps{
      &old_state.inputs, &old_state.outputs, &new_state.inputs, &new_state.outputs};
  if (std::ranges::none_of(maps, [](const PropertyMap* map) { return ContainsSecrets(*map); })) {
    return;  // nothing is copied for most steps
  }
  std::vector<PropertyValue> sides;
  for (const PropertyMap* map : maps) {
    sides.emplace_back(*map);
  }
  std::vector<PropertyValue*> values;
  for (PropertyValue& side : sides) {
    values.push_back(&side);
  }
  ShareSecrets(values);
  auto before = std::make_shared<ResourceState>(old_state);
  auto after = std::make_shared<ResourceState>(new_state);
  before->inputs = *sides[0].as_map();
  before->outputs = *sides[1].as_map();
  after->inputs = *sides[2].as_map();
  after->outputs = *sides[3].as_map();
  step->old_state = std::move(before);
  step->new_state = std::move(after);
}

}  // namespace

Event WithSecretsOfBothSides(Event event) {
  if (auto* planned = std::get_if<ResourcePreEvent>(&event)) {
    ShareSecrets(&planned->metadata);
  } else if (auto* done = std::get_if<ResourceOutputsEvent>(&event)) {
    ShareSecrets(&done->metadata);
  } else if (auto* failed = std::get_if<ResourceFailedEvent>(&event)) {
    ShareSecrets(&failed->metadata);
  }
  return event;
}

MessageMask::MessageMask(const std::map<std::string, ConfigValue>& config) {
  for (const auto& [key, value] : config) {
    // `true` or a single digit would tear every message apart and hides nothing.
    const std::string text = WithoutTrailingBreak(value.text);
    if (value.is_secret && text.size() > 2 && text != "true" && text != "false") {
      words_.push_back(text);
    }
  }
  std::sort(words_.begin(), words_.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
}

std::string MessageMask::Apply(std::string text) const {
  for (const std::string& word : words_) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
      text.replace(at, word.size(), kMask);
      at += std::string_view(kMask).size();
    }
  }
  return text;
}

Event MessageMask::Apply(const Event& event) const {
  if (const auto* diagnostic = std::get_if<DiagnosticEvent>(&event)) {
    DiagnosticEvent masked = *diagnostic;
    masked.message = Apply(masked.message);
    return masked;
  }
  if (const auto* output = std::get_if<StdoutEvent>(&event)) {
    return StdoutEvent{Apply(output->message)};
  }
  if (const auto* violation = std::get_if<PolicyViolationEvent>(&event)) {
    PolicyViolationEvent masked = *violation;
    masked.violation.message = Apply(masked.violation.message);
    return masked;
  }
  return event;
}

PropertyValue Masked(const PropertyValue& value) {
  if (value.as_secret() != nullptr) {
    return PropertyValue(kMask);
  }
  if (const Output* output = value.as_output()) {
    if (output->is_secret) {
      return PropertyValue(kMask);
    }
    return output->element ? Masked(*output->element) : PropertyValue(Unknown{});
  }
  if (const PropertyList* list = value.as_list()) {
    PropertyList masked;
    for (const PropertyValue& item : *list) {
      masked.push_back(Masked(item));
    }
    return masked;
  }
  if (const PropertyMap* map = value.as_map()) {
    return Masked(*map);
  }
  return value;
}

PropertyMap Masked(const PropertyMap& map) {
  PropertyMap masked;
  for (const auto& [key, value] : map) {
    masked.emplace(key, Masked(value));
  }
  return masked;
}

}  // namespace davit
