#include "engine/model/provider_ref.h"

#include <fmt/format.h>

namespace davit {

Result<ProviderRef> ProviderRef::Parse(std::string_view text) {
  const std::size_t separator = text.rfind("::");
  if (separator == std::string_view::npos) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("malformed provider reference \"{}\": expected a provider's URN and id "
                            "separated by \"::\"",
                            text));
  }
  Result<Urn> urn = Urn::Parse(text.substr(0, separator));
  if (!urn) {
    return Fail(std::move(urn).error().WithContext(
        fmt::format("malformed provider reference \"{}\"", text)));
  }
  if (!urn->is_provider()) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("malformed provider reference \"{}\": type \"{}\" is not a provider's",
                            text,
                            urn->type()));
  }
  return ProviderRef{std::move(*urn), std::string(text.substr(separator + 2))};
}

}  // namespace davit
