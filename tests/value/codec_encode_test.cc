#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "host/wire/value_codec.h"
#include "tests/value/struct_json.h"

namespace davit {
namespace {

using testing::JsonOf;

constexpr CodecOptions kAll = {.keep_unknowns = true,
                               .keep_secrets = true,
                               .keep_resources = true,
                               .keep_outputs = true,
                               .keep_byte_strings = true};

std::string Encoded(const PropertyMap& map, const CodecOptions& options = {}) {
  google::protobuf::Struct out;
  (*out.mutable_fields())["stale"].set_bool_value(true);
  const Result<void> result = EncodeStruct(map, options, &out);
  return result ? JsonOf(out) : result.error().message;
}

PropertyValue OutputOf(std::optional<PropertyValue> element,
                       bool is_secret = false,
                       std::vector<std::string> dependencies = {}) {
  Output output;
  if (element) {
    output.element = std::make_shared<const PropertyValue>(*std::move(element));
  }
  output.is_secret = is_secret;
  output.dependencies = std::move(dependencies);
  return output;
}

Asset AssetOf(Asset::Source source, std::string content, std::string hash = {}) {
  Asset asset;
  asset.source = source;
  asset.content = std::move(content);
  asset.hash = std::move(hash);
  return asset;
}

TEST_CASE("P57 scalars, lists and objects") {
  CHECK(Encoded({{"n", Null{}},
                 {"b", true},
                 {"x", 1.5},
                 {"s", "text"},
                 {"l", PropertyList{1, PropertyList{}}},
                 {"m", PropertyMap{{"", PropertyMap{}}}}}) ==
        R"({"b":true,"l":[1,[]],"m":{"":{}},"n":null,"s":"text","x":1.5})");
  google::protobuf::Value value;
  REQUIRE(EncodeValue(std::numeric_limits<double>::quiet_NaN(), {}, &value));
  CHECK(std::isnan(value.number_value()));
  REQUIRE(EncodeValue(-0.0, {}, &value));
  CHECK(std::signbit(value.number_value()));
}

TEST_CASE("P57 nulls of objects go with SN, those of lists stay in their places") {
  CHECK(Encoded({{"n", Null{}}, {"l", PropertyList{Null{}, PropertyMap{{"n", Null{}}}}}},
                {.skip_nulls = true}) == R"({"l":[null,{}]})");
}

TEST_CASE("P57 text that is not UTF-8 is a byte string or an error naming the property") {
  const PropertyMap map{{"a", PropertyList{PropertyMap{{"x.y", "\xff\x01"}}}}};
  CHECK(Encoded(map, {.keep_byte_strings = true}) ==
        R"({"a":[{"x.y":{"$sig":"$bytes","value":"/wE="}}]})");
  CHECK_THAT(Encoded(map), Catch::StartsWith("property \"a[0][\"x.y\"]\": "));
  CHECK_THAT(Encoded({{"\xff", 1}}, kAll), Catch::Contains("the name is not valid UTF-8"));
}

TEST_CASE("P56 P58 E9 unknowns: sentinels by kind") {
  const std::pair<UnknownKind, const char*> cases[] = {
      {UnknownKind::kBool, "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7"},
      {UnknownKind::kNumber, "3eeb2bf0-c639-47a8-9e75-3b44932eb421"},
      {UnknownKind::kString, "04da6b54-80e4-46f7-96ec-b56ff0331ba9"},
      {UnknownKind::kList, "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2"},
      {UnknownKind::kAsset, "030794c1-ac77-496b-92df-f27374a8bd58"},
      {UnknownKind::kArchive, "e48ece36-62e2-4504-bad9-02848725956a"},
      {UnknownKind::kMap, "dd056dcd-154b-4c76-9bd3-c8f88648b5ff"}};
  for (const auto& [kind, text] : cases) {
    google::protobuf::Value value;
    REQUIRE(EncodeValue(Unknown{kind}, {.keep_unknowns = true}, &value));
    CHECK(value.string_value() == text);
    CHECK(*DecodeValue(value, {.keep_unknowns = true}).value().as_unknown() == Unknown{kind});
    CHECK(DecodeValue(value, {.keep_unknowns = true}).value().as_unknown()->kind == kind);
  }
}

TEST_CASE("P58 unknowns are refused under RU and dropped without KU") {
  const PropertyMap map{{"a", 1}, {"l", PropertyList{1, Unknown{}, 2}}, {"u", Unknown{}}};
  CHECK(Encoded(map) == R"({"a":1,"l":[1,2]})");
  CHECK(Encoded(map, {.keep_unknowns = true, .reject_unknowns = true}) ==
        "property \"l[1]\": unexpected unknown value");
  CHECK(Encoded({{"u", OutputOf(std::nullopt)}}, {.reject_unknowns = true, .keep_outputs = true}) ==
        "property \"u\": unexpected unknown value");
  google::protobuf::Value value;
  REQUIRE(EncodeValue(Unknown{}, {}, &value));
  CHECK(value.kind_case() == google::protobuf::Value::kNullValue);
}

TEST_CASE("P58 KO and UP turn unknowns and secrets into output values") {
  CodecOptions options = kAll;
  options.upgrade_to_outputs = true;
  CHECK(Encoded({{"u", Unknown{}}, {"s", Secret(1)}, {"su", Secret(Unknown{})}}, options) ==
        R"({"s":{"$sig":"$output","secret":true,"value":1},)"
        R"("su":{"$sig":"$output","secret":true},"u":{"$sig":"$output"}})");
  CHECK(Encoded({{"s", Secret(OutputOf(1, false, {"urn"}))}}, options) ==
        R"({"s":{"$sig":"$output","dependencies":["urn"],"secret":true,"value":1}})");
  options.keep_outputs = false;
  CHECK(Encoded({{"s", Secret(1)}}, options) == R"({"s":{"$sig":"$secret","value":1}})");
}

TEST_CASE("P58 secrets are kept under KS, else bare") {
  const PropertyMap map{{"s", Secret(PropertyList{Secret("x")})}};
  CHECK(Encoded(map, {.keep_secrets = true}) ==
        R"({"s":{"$sig":"$secret","value":[{"$sig":"$secret","value":"x"}]}})");
  CHECK(Encoded(map) == R"({"s":["x"]})");
}

TEST_CASE("P58 a secret around a dropped unknown is dropped as a whole") {
  const PropertyMap map{
      {"s", Secret(Unknown{})}, {"l", PropertyList{OutputOf(std::nullopt, true), 1}}, {"a", 1}};
  CHECK(Encoded(map, {.keep_secrets = true}) == R"({"a":1,"l":[1]})");
  CHECK(Encoded({{"s", Secret(Unknown{})}}, {.keep_unknowns = true, .keep_secrets = true}) ==
        R"({"s":{"$sig":"$secret","value":"04da6b54-80e4-46f7-96ec-b56ff0331ba9"}})");
}

TEST_CASE("P55 P58 output values with and without KO") {
  const PropertyMap map{{"known", OutputOf("x", true, {"u1", "u2"})},
                        {"plain", OutputOf("y")},
                        {"unknown", OutputOf(std::nullopt, false, {"u3"})}};
  CHECK(Encoded(map, kAll) ==
        R"({"known":{"$sig":"$output","dependencies":["u1","u2"],"secret":true,"value":"x"},)"
        R"("plain":{"$sig":"$output","value":"y"},)"
        R"("unknown":{"$sig":"$output","dependencies":["u3"]}})");
  CHECK(Encoded(map, {.keep_unknowns = true, .keep_secrets = true}) ==
        R"({"known":{"$sig":"$secret","value":"x"},"plain":"y",)"
        R"("unknown":"04da6b54-80e4-46f7-96ec-b56ff0331ba9"})");
  CHECK(Encoded(map) == R"({"known":"x","plain":"y"})");
}

TEST_CASE("P59 resource references") {
  ResourceReference component;
  component.urn = "urn";
  ResourceReference custom = component;
  custom.id = "id";
  custom.name = "n";
  custom.type = "t";
  custom.package_version = "1.0.0";
  ResourceReference unknown = component;
  unknown.id = "";
  const PropertyMap map{{"component", component}, {"custom", custom}, {"unknown", unknown}};
  CHECK(
      Encoded(map, {.keep_resources = true}) ==
      R"({"component":{"$sig":"$reference","urn":"urn"},)"
      R"("custom":{"$sig":"$reference","id":"id","name":"n","packageVersion":"1.0.0","type":"t","urn":"urn"},)"
      R"("unknown":{"$sig":"$reference","id":"","urn":"urn"}})");
  CHECK(Encoded(map, {.keep_unknowns = true}) ==
        R"({"component":"urn","custom":"id","unknown":"04da6b54-80e4-46f7-96ec-b56ff0331ba9"})");
  CHECK(Encoded(map) == R"({"component":"urn","custom":"id"})");
  CHECK_THAT(Encoded(map, {.reject_unknowns = true}), Catch::StartsWith("property \"unknown\""));
}

TEST_CASE("P63 assets carry their hash and one content") {
  const PropertyMap map{{"empty", AssetOf(Asset::Source::kText, "")},
                        {"none", AssetOf(Asset::Source::kNone, "", "h")},
                        {"path", AssetOf(Asset::Source::kPath, "p", "h")},
                        {"text", AssetOf(Asset::Source::kText, "t", "h")},
                        {"uri", AssetOf(Asset::Source::kUri, "u")}};
  CHECK(Encoded(map) ==
        R"({"empty":{"$sig":"$asset"},"none":{"$sig":"$asset","hash":"h"},)"
        R"("path":{"$sig":"$asset","hash":"h","path":"p"},)"
        R"("text":{"$sig":"$asset","hash":"h","text":"t"},"uri":{"$sig":"$asset","uri":"u"}})");
  CHECK(Encoded({{"text", AssetOf(Asset::Source::kText, "t", "h")}},
                {.elide_asset_contents = true}) == R"({"text":{"$sig":"$asset","hash":"h"}})");
  CHECK(Encoded(map, {.reject_assets = true}) == "property \"empty\": unexpected asset");
  CHECK_THAT(Encoded({{"a", AssetOf(Asset::Source::kText, "\xff")}}, kAll),
             Catch::StartsWith("property \"a\": "));
}

TEST_CASE("P65 archives carry their hash and members, path or uri") {
  Archive members;
  members.source = Archive::Source::kAssets;
  members.hash = "h";
  Archive path;
  path.source = Archive::Source::kPath;
  path.location = "p";
  members.assets = std::make_shared<const PropertyMap>(
      PropertyMap{{"a", AssetOf(Asset::Source::kText, "t")}, {"b", path}});
  Archive uri = path;
  uri.source = Archive::Source::kUri;
  Archive empty;
  empty.source = Archive::Source::kAssets;
  CHECK(Encoded({{"m", members}, {"u", uri}, {"e", empty}}) ==
        R"({"e":{"$sig":"$archive","assets":{}},)"
        R"("m":{"$sig":"$archive","assets":{"a":{"$sig":"$asset","text":"t"},)"
        R"("b":{"$sig":"$archive","path":"p"}},"hash":"h"},"u":{"$sig":"$archive","uri":"p"}})");
  CHECK(Encoded({{"m", members}}, {.elide_asset_contents = true}) ==
        R"({"m":{"$sig":"$archive","hash":"h"}})");
  CHECK(Encoded({{"m", members}}, {.reject_assets = true}) == "property \"m\": unexpected archive");
}

TEST_CASE("P62 SI drops internal keys at the top level only") {
  CHECK(Encoded({{"__a", 1}, {"_b", PropertyMap{{"__c", 1}}}}, {.skip_internal_keys = true}) ==
        R"({"_b":{"__c":1}})");
}

TEST_CASE("errors of the codec never show values") {
  const std::string canary = "canary-4711";
  const std::string text = Encoded({{"a", Secret(PropertyList{canary + "\xff"})}}, CodecOptions{});
  CHECK(text.find(canary) == std::string::npos);
  CHECK_THAT(text, Catch::StartsWith("property \"a[0]\": "));
}

}  // namespace
}  // namespace davit
