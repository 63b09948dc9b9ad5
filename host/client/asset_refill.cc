#include "host/client/asset_refill.h"

#include <map>

namespace davit {
namespace {

// Hash of an archive without members (P66): such an archive is complete as it is.
constexpr std::string_view kEmptyArchiveHash =
    "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef";

bool HasContent(const Asset& asset) {
  return asset.source != Asset::Source::kNone;
}

bool HasContent(const Archive& archive) {
  switch (archive.source) {
    case Archive::Source::kPath:
    case Archive::Source::kUri:
      return true;
    case Archive::Source::kAssets:
      return (archive.assets && !archive.assets->empty()) || archive.hash == kEmptyArchiveHash;
    case Archive::Source::kNone:
      return false;
  }
  return false;
}

using Contents = std::map<std::string, PropertyValue>;

void Collect(const PropertyValue& value, Contents* assets, Contents* archives) {
  if (const Asset* asset = value.as_asset()) {
    if (!asset->hash.empty() && HasContent(*asset)) {
      assets->emplace(asset->hash, value);
    }
  } else if (const Archive* archive = value.as_archive()) {
    if (!archive->hash.empty() && HasContent(*archive)) {
      archives->emplace(archive->hash, value);
    }
  } else if (const Secret* secret = value.as_secret()) {
    Collect(secret->Reveal(), assets, archives);
  } else if (const PropertyList* list = value.as_list()) {
    for (const PropertyValue& element : *list) {
      Collect(element, assets, archives);
    }
  } else if (const PropertyMap* map = value.as_map()) {
    for (const auto& [key, element] : *map) {
      Collect(element, assets, archives);
    }
  }
}

PropertyValue Refill(const PropertyValue& value, const Contents& assets, const Contents& archives) {
  if (const Asset* asset = value.as_asset()) {
    const auto found = assets.find(asset->hash);
    return HasContent(*asset) || found == assets.end() ? value : found->second;
  }
  if (const Archive* archive = value.as_archive()) {
    const auto found = archives.find(archive->hash);
    return HasContent(*archive) || found == archives.end() ? value : found->second;
  }
  if (const Secret* secret = value.as_secret()) {
    return PropertyValue(Secret(Refill(secret->Reveal(), assets, archives)));
  }
  if (const PropertyList* list = value.as_list()) {
    PropertyList filled;
    filled.reserve(list->size());
    for (const PropertyValue& element : *list) {
      filled.push_back(Refill(element, assets, archives));
    }
    return filled;
  }
  if (const PropertyMap* map = value.as_map()) {
    PropertyMap filled;
    for (const auto& [key, element] : *map) {
      filled.emplace(key, Refill(element, assets, archives));
    }
    return filled;
  }
  return value;
}

}  // namespace

PropertyMap RefillAssets(const PropertyMap& target, const PropertyMap& source) {
  Contents assets;
  Contents archives;
  for (const auto& [key, value] : source) {
    Collect(value, &assets, &archives);
  }
  if (assets.empty() && archives.empty()) {
    return target;
  }
  PropertyMap filled;
  for (const auto& [key, value] : target) {
    filled.emplace(key, Refill(value, assets, archives));
  }
  return filled;
}

}  // namespace davit
