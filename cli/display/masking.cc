#include "cli/display/masking.h"

#include <algorithm>

namespace davit {
namespace {

constexpr const char* kMask = "[secret]";

std::string WithoutTrailingBreak(std::string text) {
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

}  // namespace

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
