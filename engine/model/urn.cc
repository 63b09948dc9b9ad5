#include "engine/model/urn.h"

#include <fmt/format.h>

namespace davit {
namespace {

constexpr std::string_view kPrefix = "urn:pulumi:";
constexpr std::string_view kSeparator = "::";
constexpr int kParts = 4;

}  // namespace

Result<Urn> Urn::Parse(std::string_view text) {
  if (text.substr(0, kPrefix.size()) != kPrefix) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("malformed URN \"{}\": it does not begin with \"{}\"", text, kPrefix));
  }
  std::size_t at = kPrefix.size();
  for (int part = 1; part < kParts; ++part) {
    at = text.find(kSeparator, at);
    if (at == std::string_view::npos) {
      return Fail(
          ErrorKind::kInvalid,
          fmt::format("malformed URN \"{}\": expected stack, project, type and name separated by "
                      "\"{}\"",
                      text,
                      kSeparator));
    }
    at += kSeparator.size();
  }
  return Urn(std::string(text));
}

Urn Urn::Make(std::string_view stack,
              std::string_view project,
              const Urn& parent,
              std::string_view type,
              std::string_view name) {
  std::string qualified_type;
  if (!parent.empty() && !parent.is_root_stack()) {
    qualified_type = fmt::format("{}$", parent.qualified_type());
  }
  return Urn(
      fmt::format("{}{}::{}::{}{}::{}", kPrefix, stack, project, qualified_type, type, name));
}

std::string_view Urn::type() const {
  const std::string_view qualified = qualified_type();
  const std::size_t last = qualified.rfind('$');
  return last == std::string_view::npos ? qualified : qualified.substr(last + 1);
}

std::string_view Urn::Part(int index) const {
  std::string_view rest = text_;
  if (rest.substr(0, kPrefix.size()) != kPrefix) {
    return {};
  }
  rest.remove_prefix(kPrefix.size());
  for (int skipped = 0; skipped < index; ++skipped) {
    const std::size_t end = rest.find(kSeparator);
    if (end == std::string_view::npos) {
      return {};
    }
    rest.remove_prefix(end + kSeparator.size());
  }
  // The last part is the name, which may contain separators itself.
  return index + 1 == kParts ? rest : rest.substr(0, rest.find(kSeparator));
}

std::string_view PackageOf(std::string_view type_token) {
  if (type_token.substr(0, kProviderTypePrefix.size()) == kProviderTypePrefix) {
    return type_token.substr(kProviderTypePrefix.size());
  }
  const std::size_t colon = type_token.find(':');
  return colon == std::string_view::npos ? std::string_view() : type_token.substr(0, colon);
}

}  // namespace davit
