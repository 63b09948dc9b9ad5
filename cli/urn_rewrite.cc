#include "cli/urn_rewrite.h"

namespace davit {

PropertyMap WithRenamedUrns(const PropertyMap& map, const UrnRenaming& rename) {
  PropertyMap renamed;
  for (const auto& [key, value] : map) {
    renamed.emplace(key, WithRenamedUrns(value, rename));
  }
  return renamed;
}

PropertyValue WithRenamedUrns(const PropertyValue& value, const UrnRenaming& rename) {
  switch (value.kind()) {
    case ValueKind::kList: {
      PropertyList items;
      for (const PropertyValue& item : *value.as_list()) {
        items.push_back(WithRenamedUrns(item, rename));
      }
      return items;
    }
    case ValueKind::kMap:
      return WithRenamedUrns(*value.as_map(), rename);
    case ValueKind::kSecret:
      return MakeSecret(WithRenamedUrns(value.as_secret()->Reveal(), rename));
    case ValueKind::kReference: {
      ResourceReference reference = *value.as_reference();
      reference.urn = rename(Urn::Trusted(reference.urn)).text();
      return reference;
    }
    default:
      return value;
  }
}

}  // namespace davit
