// The configuration value `pulumi:autonaming` (E73).

#include "cli/workspace/autonaming_config.h"

#include <catch2/catch.hpp>

namespace davit {
namespace {

Result<Autonaming> Read(const std::string& json) {
  RunInfo info;
  info.project = "shop";
  info.stack = "dev";
  info.config["shop:zone"] = ConfigValue{"east", false, false};
  info.config["shop:token"] = ConfigValue{"canary", true, false};
  info.config["pulumi:autonaming"] = ConfigValue{json, false, true};
  return ReadAutonaming(info);
}

std::string Refused(const std::string& json) {
  const Result<Autonaming> naming = Read(json);
  REQUIRE_FALSE(naming);
  return naming.error().Text();
}

TEST_CASE("[E73] rules for all, for a package and for a type; what a pattern may name") {
  const Autonaming naming =
      Read(R"({"pattern": "${organization}-${project}-${stack}-${config.zone}-${name}",
               "enforce": true,
               "providers": {"p": {"mode": "disabled",
                                   "resources": {"p:m:T": {"pattern": "t-${hex(4)}"}}},
                             "q": {"resources": {"q:m:U": {"mode": "verbatim"}}}}})")
          .value();
  CHECK(naming.everywhere.pattern == "organization-shop-dev-east-${name}");
  CHECK(naming.everywhere.enforce);
  CHECK(naming.packages.at("p").kind == NamingStrategy::Kind::kDisabled);
  CHECK(naming.packages.count("q") == 0);
  CHECK(naming.types.at("p:m:T").pattern == "t-${hex(4)}");
  CHECK(naming.types.at("q:m:U").kind == NamingStrategy::Kind::kVerbatim);
  CHECK(Read("{}")->everywhere.kind == NamingStrategy::Kind::kDefault);
  CHECK(ReadAutonaming(RunInfo())->packages.empty());
}

TEST_CASE("[E73] mistakes are named with their place, and no secret becomes part of a name") {
  using Catch::Contains;
  CHECK_THAT(Refused(R"({"mode": "frob"})"), Contains("frob") && Contains("verbatim"));
  CHECK_THAT(Refused(R"({"mode": "verbatim", "enforce": true})"), Contains("but not both"));
  CHECK_THAT(Refused(R"({"provider": {}})"), Contains("no member 'provider'"));
  CHECK_THAT(Refused(R"({"providers": {"p": {"resources": {"p:m:T": {"x": 1}}}}})"),
             Contains("providers.p.resources.p:m:T"));
  CHECK_THAT(Refused(R"({"pattern": "${config.nope}"})"), Contains("'nope', which is not set"));
  const std::string secret = Refused(R"({"pattern": "${config.token}"})");
  CHECK_THAT(secret, Contains("secret") && !Contains("canary"));
  CHECK_THAT(Refused("verbatim"), Contains("pulumi:autonaming"));
}

}  // namespace
}  // namespace davit
