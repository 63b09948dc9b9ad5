#pragma once
// Hiding secrets from everything that is shown or written (C139). Values, any thread.

#include <map>
#include <string>
#include <vector>

#include "engine/events.h"
#include "engine/source.h"
#include "engine/value/property_value.h"

namespace davit {

/// Replaces the clear text of secret configuration wherever it occurs in messages.
class MessageMask {
 public:
  MessageMask() = default;
  explicit MessageMask(const std::map<std::string, ConfigValue>& config);
  std::string Apply(std::string text) const;
  /// The event with its messages masked; all other events are passed on as they are.
  Event Apply(const Event& event) const;
  bool empty() const { return words_.empty(); }

 private:
  std::vector<std::string> words_;  ///< longest first
};

/// The event with all that is secret in one of a step's two states secret in both, so that a value
/// that becomes secret, or ceases to be, is not shown on its other side (B060).
Event WithSecretsOfBothSides(Event event);

/// The value with every secret replaced by the text `[secret]`, and outputs by what they hold.
PropertyValue Masked(const PropertyValue& value);
PropertyMap Masked(const PropertyMap& map);

}  // namespace davit
