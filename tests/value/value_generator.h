#pragma once
// Random property values for tests. The same seed gives the same values on every machine.

#include <cstdint>
#include <random>
#include <string>

#include "engine/value/property_value.h"

namespace davit::testing {

class ValueGenerator {
 public:
  explicit ValueGenerator(std::uint32_t seed) : random_(seed) {}

  /// A number from 0 to `bound` - 1.
  int Below(int bound) { return static_cast<int>(random_() % static_cast<std::uint32_t>(bound)); }
  bool Flip() { return Below(2) == 0; }

  /// A value of any kind that the wire can express without loss; containers end at `depth` levels.
  PropertyValue Value(int depth);
  PropertyMap Map(int depth);
  /// Text in UTF-8.
  std::string Text();
  /// Text that may not be UTF-8.
  std::string Bytes();

 private:
  double Number();
  PropertyValue OutputValue(int depth);
  ResourceReference Reference();
  Asset AssetValue();
  Archive ArchiveValue(int depth);
  std::string Hash();

  std::mt19937 random_;
};

}  // namespace davit::testing
