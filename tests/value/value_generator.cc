#include "tests/value/value_generator.h"

#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace davit::testing {

std::string ValueGenerator::Text() {
  static constexpr std::array<const char*, 10> kPieces = {
      "a", "Z", "0", "\"", "\\", "\n", "__", "\u00e9", "\u4e16", "\U0001f600"};
  std::string text;
  for (int left = Below(6); left > 0; --left) {
    text += kPieces[static_cast<std::size_t>(Below(kPieces.size()))];
  }
  return text;
}

std::string ValueGenerator::Bytes() {
  std::string bytes = Text();
  for (int left = Below(4); left > 0; --left) {
    bytes += static_cast<char>(Below(256));
  }
  return bytes;
}

double ValueGenerator::Number() {
  switch (Below(5)) {
    case 0:
      return Below(2000) - 1000;
    case 1:
      return std::numeric_limits<double>::quiet_NaN();
    case 2:
      return Flip() ? -0.0 : std::numeric_limits<double>::infinity();
    default: {
      const std::uint64_t bits = (static_cast<std::uint64_t>(random_()) << 32) | random_();
      double number = 0;
      std::memcpy(&number, &bits, sizeof number);
      return number;
    }
  }
}

std::string ValueGenerator::Hash() {
  std::string hash;
  for (int left = 64; left > 0; --left) {
    hash += "0123456789abcdef"[Below(16)];
  }
  return hash;
}

PropertyValue ValueGenerator::OutputValue(int depth) {
  Output output;
  output.is_secret = Flip();
  for (int left = Below(3); left > 0; --left) {
    output.dependencies.push_back("urn:" + Text());
  }
  if (Flip()) {
    PropertyValue element = Value(depth - 1);
    // An output value around an unknown is an output value without an element.
    const Output* inner = element.as_output();
    if (!element.is_unknown() && (inner == nullptr || inner->element != nullptr)) {
      output.element = std::make_shared<const PropertyValue>(std::move(element));
    }
  }
  return output;
}

ResourceReference ValueGenerator::Reference() {
  ResourceReference reference;
  reference.urn = "urn:pulumi:dev::project::pkg:m:Type::name";
  reference.name = "n" + Text();
  reference.type = "t" + Text();
  reference.package_version = Text();
  if (Flip()) {
    reference.id = Text();
  }
  return reference;
}

Asset ValueGenerator::AssetValue() {
  Asset asset;
  asset.source = static_cast<Asset::Source>(Below(4));
  asset.hash = asset.source == Asset::Source::kNone || Flip() ? Hash() : "";
  if (asset.source != Asset::Source::kNone) {
    asset.content = "c" + Text();
  }
  return asset;
}

Archive ValueGenerator::ArchiveValue(int depth) {
  Archive archive;
  archive.source = static_cast<Archive::Source>(Below(3));
  archive.hash = Flip() ? Hash() : "";
  if (archive.source != Archive::Source::kAssets) {
    archive.location = "l" + Text();
    return archive;
  }
  PropertyMap members;
  for (int left = Below(3); left > 0; --left) {
    members[Text()] = depth > 0 && Flip() ? PropertyValue(ArchiveValue(depth - 1)) : AssetValue();
  }
  archive.assets = std::make_shared<const PropertyMap>(std::move(members));
  return archive;
}

PropertyMap ValueGenerator::Map(int depth) {
  PropertyMap map;
  for (int left = Below(5); left > 0; --left) {
    map[Text()] = Value(depth - 1);
  }
  return map;
}

PropertyValue ValueGenerator::Value(int depth) {
  switch (Below(depth > 0 ? 12 : 8)) {
    case 0:
      return Null{};
    case 1:
      return Flip();
    case 2:
      return Number();
    case 3:
      return Text();
    case 4:
      return Bytes();
    case 5:
      return Unknown{static_cast<UnknownKind>(Below(7))};
    case 6:
      return Reference();
    case 7:
      return AssetValue();
    case 8:
      return Flip() ? MakeSecret(Value(depth - 1)) : PropertyValue(ArchiveValue(depth - 1));
    case 9:
      return OutputValue(depth);
    case 10: {
      PropertyList list;
      for (int left = Below(5); left > 0; --left) {
        list.push_back(Value(depth - 1));
      }
      return list;
    }
    default:
      return Map(depth);
  }
}

}  // namespace davit::testing
