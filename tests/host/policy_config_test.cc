// Configuration of policy packs (P119).
#include "host/client/policy_config.h"

#include <google/protobuf/util/json_util.h>

#include <catch2/catch.hpp>

namespace davit::testing {
namespace {

pulumirpc::AnalyzerInfo Info(const std::string& json) {
  pulumirpc::AnalyzerInfo info;
  REQUIRE(google::protobuf::util::JsonStringToMessage(json, &info).ok());
  return info;
}

// `level {"name":value,...}`, by name
std::string Text(const PolicySettings& settings) {
  const std::map<std::string, google::protobuf::Value> sorted(settings.properties.fields().begin(),
                                                              settings.properties.fields().end());
  std::string text = std::string(EnforcementLevelName(settings.level.value())) + " {";
  for (const auto& [name, value] : sorted) {
    std::string json;
    REQUIRE(google::protobuf::util::MessageToJsonString(value, &json).ok());
    text += (text.back() == '{' ? "\"" : ",\"") + name + "\":" + json;
  }
  return text + "}";
}

constexpr const char* kInfo = R"({"policies": [
    {"name": "first", "enforcementLevel": "ADVISORY", "configSchema": {"required": ["most"],
     "properties": {"most": {"type": "number", "maximum": 10, "default": 3}, "least": {"default": 1}}}},
    {"name": "second", "enforcementLevel": "DISABLED", "configSchema": {"properties": {"names":
     {"type": "array", "items": {"type": "string"}}}}}],
  "initialConfig": {"second": {"enforcementLevel": "MANDATORY", "properties": {"names": ["x"]}}}})";

}  // namespace

TEST_CASE("[P119] defaults, what the pack brings along, and the user's file, in this order") {
  const auto given = ParsePolicyConfig(
      "c.json", R"({"all": "remediate", "first": {"most": 9, "enforcementLevel": "advisory"}})");
  REQUIRE(given);
  const auto plain = ReconcilePolicyConfig(Info(kInfo), PolicyConfig());
  REQUIRE(plain);
  CHECK(Text(plain->at("first")) == R"(advisory {"least":1,"most":3})");
  CHECK(Text(plain->at("second")) == R"(mandatory {"names":["x"]})");
  const auto config = ReconcilePolicyConfig(Info(kInfo), *given);
  REQUIRE(config);
  CHECK(Text(config->at("first")) == R"(advisory {"least":1,"most":9})");
  CHECK(Text(config->at("second")) == R"(remediate {"names":["x"]})");
}

TEST_CASE("[P119] every setting that its schema does not allow is named") {
  const auto given =
      ParsePolicyConfig("c.json", R"({"first": {"most": 11}, "second": {"names": ["x", 1]}})");
  REQUIRE(given);
  const auto config = ReconcilePolicyConfig(Info(kInfo), *given);
  REQUIRE_FALSE(config);
  CHECK(config.error().message ==
        "the configuration of the policies is invalid:\n"
        "  first: '/most' violates 'maximum' of its schema\n"
        "  second: '/names/1' violates 'type' of its schema");
  const auto none = ReconcilePolicyConfig(
      Info(R"({"policies": [{"name": "p", "configSchema": {"required": ["most"]}}]})"),
      PolicyConfig());
  REQUIRE_FALSE(none);
  CHECK(none.error().message.find("p: 'most' is required") != std::string::npos);
}

TEST_CASE("[P119] a file that is no configuration of policies is refused by name") {
  const auto error = [](const char* text) {
    const auto config = ParsePolicyConfig("c.json", text);
    REQUIRE_FALSE(config);
    CHECK(config.error().message.find("'c.json'") != std::string::npos);
    return config.error().message;
  };
  CHECK(error("[1]").find("no JSON object") != std::string::npos);
  CHECK(error("{").find("no JSON object") != std::string::npos);
  CHECK(error(R"({"p": "harsh"})").find("'p'") != std::string::npos);
  CHECK(error(R"({"p": {"enforcementLevel": 3}})").find("'p'") != std::string::npos);
  CHECK(error(R"({"p": 3})").find("'p'") != std::string::npos);
  CHECK(error(R"({"environments": ["e"]})").find("environments") != std::string::npos);
  const auto empty = ParsePolicyConfig("c.json", " \n");
  REQUIRE(empty);
  CHECK(empty->empty());
}

}  // namespace davit::testing
