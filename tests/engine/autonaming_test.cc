// Names that the configuration proposes (E73).

#include "engine/autonaming.h"

#include <catch2/catch.hpp>

#include <regex>

namespace davit {
namespace {

NamingStrategy Pattern(const std::string& text, bool enforce = false) {
  return NamingStrategy{NamingStrategy::Kind::kPattern, text, enforce};
}

std::string Named(const std::string& pattern, const std::string& seed = "s") {
  return NameFor(Pattern(pattern), "bucket", seed).options->proposed_name;
}

TEST_CASE("[E73] modes: verbatim enforces, disabled says so, default says nothing") {
  const NamingOutcome verbatim =
      NameFor(NamingStrategy{NamingStrategy::Kind::kVerbatim, "", false}, "bucket", "s");
  CHECK(verbatim.options->proposed_name == "bucket");
  CHECK(verbatim.options->mode == AutonamingOptions::Mode::kEnforce);
  CHECK(verbatim.deletes_first);
  const NamingOutcome disabled =
      NameFor(NamingStrategy{NamingStrategy::Kind::kDisabled, "", false}, "bucket", "s");
  CHECK(disabled.options->mode == AutonamingOptions::Mode::kDisable);
  CHECK(disabled.deletes_first);
  const NamingOutcome silent = NameFor(NamingStrategy(), "bucket", "s");
  CHECK_FALSE(silent.options);
  CHECK_FALSE(silent.deletes_first);
}

TEST_CASE("[E73] tokens of patterns, drawn from the seed; other text in braces stays") {
  CHECK(Named("p-${name}") == "p-bucket");
  CHECK(Named("${nope}-${name") == "${nope}-${name");
  CHECK(Named("${hex(0)}${hex()}${hex(x)}") == "${hex(0)}${hex()}${hex(x)}");
  CHECK(std::regex_match(Named("${hex(8)}"), std::regex("[0-9a-f]{8}")));
  CHECK(std::regex_match(Named("${alphanum(300)}"), std::regex("[0-9a-z]{300}")));
  CHECK(std::regex_match(Named("${string(40)}"), std::regex("[a-z]{40}")));
  CHECK(std::regex_match(Named("${num(40)}"), std::regex("[0-9]{40}")));
  const std::string uuid = "([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})";
  CHECK(std::regex_match(Named("${uuid}.${uuid}"), std::regex(uuid + R"(\.\1)")));
  CHECK(Named("${hex(8)}", "a") == Named("${hex(8)}", "a"));
  CHECK(Named("${hex(8)}", "a") != Named("${hex(8)}", "b"));
}

TEST_CASE("[E73] only a name with a random part lets old and new exist side by side") {
  CHECK(NameFor(Pattern("p-${name}"), "n", "s").deletes_first);
  CHECK_FALSE(NameFor(Pattern("${name}-${hex(1)}"), "n", "s").deletes_first);
  CHECK_FALSE(NameFor(Pattern("${uuid}"), "n", "s").deletes_first);
  CHECK(NameFor(Pattern("p", true), "n", "s").options->mode == AutonamingOptions::Mode::kEnforce);
  CHECK(NameFor(Pattern("p"), "n", "s").options->mode == AutonamingOptions::Mode::kPropose);
}

TEST_CASE("[E73] the rule of the type comes before that of the package, before that for all") {
  Autonaming naming;
  naming.everywhere = Pattern("all");
  naming.packages["p"] = Pattern("package");
  naming.types["p:m:T"] = Pattern("type");
  bool is_specific = false;
  CHECK(naming.For("p:m:T", &is_specific).pattern == "type");
  CHECK(is_specific);
  CHECK(naming.For("p:m:U", &is_specific).pattern == "package");
  CHECK(is_specific);
  CHECK(naming.For("q:m:T", &is_specific).pattern == "all");
  CHECK_FALSE(is_specific);
}

}  // namespace
}  // namespace davit
