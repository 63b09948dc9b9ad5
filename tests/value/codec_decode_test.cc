#include <catch2/catch.hpp>

#include "host/wire/value_codec.h"
#include "tests/value/struct_json.h"

namespace davit {
namespace {

using testing::Json;

constexpr const char* kUnknownText = R"("04da6b54-80e4-46f7-96ec-b56ff0331ba9")";
constexpr CodecOptions kAll = {
    .keep_unknowns = true, .keep_secrets = true, .keep_resources = true, .keep_outputs = true};

PropertyMap Decoded(const std::string& json, const CodecOptions& options = {}) {
  const Result<PropertyMap> result = DecodeStruct(Json(json), options);
  INFO(json);
  if (!result) {
    FAIL(result.error().message);
  }
  return *result;
}

std::string Refusal(const std::string& json, const CodecOptions& options = {}) {
  const Result<PropertyMap> result = DecodeStruct(Json(json), options);
  return result ? "" : result.error().message;
}

PropertyValue Value(const std::string& json, const CodecOptions& options = {}) {
  return Decoded("{\"v\":" + json + "}", options).at("v");
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

TEST_CASE("P60 objects without a signature") {
  CHECK(PropertyValue(Decoded(R"({"n":null,"b":true,"x":1.5,"l":[1,[]],"m":{"":{}}})")) ==
        PropertyValue(PropertyMap{{"n", Null{}},
                                  {"b", true},
                                  {"x", 1.5},
                                  {"l", PropertyList{1, PropertyList{}}},
                                  {"m", PropertyMap{{"", PropertyMap{}}}}}));
  CHECK(DecodeValue(google::protobuf::Value(), {}).value().is_null());
}

TEST_CASE("P60 unknown signatures are errors naming the property") {
  CHECK_THAT(Refusal(R"({"a":[{"b":{"$sig":"else"}}]})"),
             Catch::StartsWith("property \"a[0].b\": "));
  CHECK_FALSE(Refusal(R"({"a":{"$sig":1}})").empty());
  CHECK_FALSE(Refusal(R"({"a":{"$sig":{}}})").empty());
}

TEST_CASE("P60 members are decoded before the signature is looked at") {
  CHECK_THAT(Refusal(R"({"a":{"$sig":"else","z":{"$sig":"other"}}})"),
             Catch::StartsWith("property \"a.z\": "));
}

TEST_CASE("P60 missing and wrong members are errors naming the property") {
  for (const char* json : {R"({"$sig":"$secret"})",
                           R"({"$sig":"$bytes"})",
                           R"({"$sig":"$bytes","value":1})",
                           R"({"$sig":"$bytes","value":"/w"})",
                           R"({"$sig":"$reference"})",
                           R"({"$sig":"$reference","urn":1})",
                           R"({"$sig":"$reference","urn":"u","id":1})",
                           R"({"$sig":"$reference","urn":"u","name":1})",
                           R"({"$sig":"$reference","urn":"u","type":[]})",
                           R"({"$sig":"$reference","urn":"u","packageVersion":true})",
                           R"({"$sig":"$output","secret":"true"})",
                           R"({"$sig":"$output","dependencies":"u"})",
                           R"({"$sig":"$output","dependencies":[1]})",
                           R"({"$sig":"$asset","hash":1})",
                           R"({"$sig":"$asset","text":{}})",
                           R"({"$sig":"$archive","path":1})",
                           R"({"$sig":"$archive","assets":[]})",
                           R"({"$sig":"$archive","assets":{"a":"text"}})"}) {
    INFO(json);
    CHECK_THAT(Refusal(std::string("{\"v\":") + json + "}", kAll),
               Catch::StartsWith("property \"v\": "));
  }
}

TEST_CASE("P60 secrets and output values follow KS and KO") {
  const std::string secret = R"({"$sig":"$secret","value":["x"]})";
  CHECK(Value(secret, kAll) == PropertyValue(Secret(PropertyList{"x"})));
  CHECK(Value(secret) == PropertyValue(PropertyList{"x"}));
  const std::string output = R"({"$sig":"$output","value":"x","secret":true,"dependencies":["u"]})";
  CHECK(Value(output, kAll) == OutputOf("x", true, {"u"}));
  CHECK(Value(output, {.keep_secrets = true}) == PropertyValue(Secret("x")));
  CHECK(Value(output) == PropertyValue("x"));
  CHECK(Value(R"({"$sig":"$output","value":null})", kAll) == OutputOf(Null{}));
}

TEST_CASE("P61 unknowns: kept, refused, or vanished from objects and null in lists") {
  const std::string json = std::string("{\"a\":") + kUnknownText + ",\"l\":[1," + kUnknownText +
                           ",2],\"m\":{\"x\":{\"$sig\":\"$output\"},\"y\":1}}";
  CHECK(PropertyValue(Decoded(json)) == PropertyValue(PropertyMap{{"l", PropertyList{1, Null{}, 2}},
                                                                  {"m", PropertyMap{{"y", 1}}}}));
  CHECK(PropertyValue(Decoded(json, {.keep_unknowns = true})) ==
        PropertyValue(PropertyMap{{"a", Unknown{}},
                                  {"l", PropertyList{1, Unknown{}, 2}},
                                  {"m", PropertyMap{{"x", Unknown{}}, {"y", 1}}}}));
  CHECK(Refusal(json, {.keep_unknowns = true, .reject_unknowns = true}) ==
        "property \"a\": unexpected unknown value");
  CHECK(Refusal(R"({"m":{"$sig":"$output"}})", {.reject_unknowns = true, .keep_outputs = true}) ==
        "property \"m\": unexpected unknown value");
}

TEST_CASE("P61 unknowns become output values under KO and UP") {
  CodecOptions options = kAll;
  options.upgrade_to_outputs = true;
  CHECK(Value(kUnknownText, options) == OutputOf(std::nullopt));
  const std::string nested =
      std::string(R"({"$sig":"$output","dependencies":["u"],"value":)") + kUnknownText + "}";
  CHECK(Value(nested, options) == OutputOf(std::nullopt, false, {"u"}));
  CHECK(Value(nested, kAll) == OutputOf(std::nullopt, false, {"u"}));
  CHECK(Value(R"({"$sig":"$output","secret":true})",
              {.keep_unknowns = true, .keep_secrets = true}) == PropertyValue(Secret(Unknown{})));
}

TEST_CASE("P61 an unknown that is not wanted takes its wrapper along") {
  const std::string secret = std::string(R"({"$sig":"$secret","value":)") + kUnknownText + "}";
  CHECK(Decoded("{\"v\":" + secret + "}", {.keep_secrets = true}).empty());
  CHECK(Value("[" + secret + "]", {.keep_secrets = true}) == PropertyValue(PropertyList{Null{}}));
  CHECK(Value(secret, {.keep_unknowns = true, .keep_secrets = true}) ==
        PropertyValue(Secret(Unknown{})));
}

TEST_CASE("P57 byte strings are always decoded") {
  CHECK(Value(R"({"$sig":"$bytes","value":"/wE="})") == PropertyValue("\xff\x01"));
}

TEST_CASE("P59 P60 resource references") {
  const std::string urn = "urn:pulumi:dev::p::a:b:C$d:e:F::name";
  const std::string json = R"({"$sig":"$reference","urn":")" + urn + R"(","id":"i"})";
  ResourceReference reference;
  reference.urn = urn;
  reference.id = "i";
  reference.name = "name";
  reference.type = "d:e:F";
  CHECK(Value(json, kAll) == PropertyValue(reference));
  CHECK(Value(json) == PropertyValue("i"));
  CHECK(Value(R"({"$sig":"$reference","urn":"u"})") == PropertyValue("u"));
  reference = {};
  reference.urn = "u";
  reference.name = "n";
  reference.package_version = "1.0.0";
  CHECK(Value(R"({"$sig":"$reference","urn":"u","name":"n","packageVersion":"1.0.0"})", kAll) ==
        PropertyValue(reference));
}

TEST_CASE("P60 ids of references may be unknown or output values") {
  for (const std::string& id :
       {std::string("\"\""), std::string(kUnknownText), std::string(R"({"$sig":"$output"})")}) {
    const std::string json = R"({"$sig":"$reference","urn":"u","id":)" + id + "}";
    INFO(json);
    CHECK(Value(json, kAll).as_reference()->id == "");
    CHECK(Value(json, {.keep_resources = true}).as_reference()->id == "");
    CHECK(Value(json, {.keep_unknowns = true}).is_unknown());
  }
  CHECK(Value(R"({"$sig":"$reference","urn":"u","id":{"$sig":"$output","value":"i"}})", kAll)
            .as_reference()
            ->id == "i");
}

TEST_CASE("P63 what an asset is") {
  const std::string empty_hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  const std::tuple<std::string, Asset::Source, const char*> cases[] = {
      {R"({"$sig":"$asset","text":"t","hash":"h"})", Asset::Source::kText, "t"},
      {R"({"$sig":"$asset","path":"p","text":"t"})", Asset::Source::kPath, "p"},
      {R"({"$sig":"$asset","uri":"u","text":"t"})", Asset::Source::kUri, "u"},
      {R"({"$sig":"$asset"})", Asset::Source::kText, ""},
      {R"({"$sig":"$asset","hash":")" + empty_hash + "\"}", Asset::Source::kText, ""},
      {R"({"$sig":"$asset","hash":"h"})", Asset::Source::kNone, ""}};
  for (const auto& [json, source, content] : cases) {
    INFO(json);
    const PropertyValue value = Value(json);
    REQUIRE(value.as_asset() != nullptr);
    CHECK(value.as_asset()->source == source);
    CHECK(value.as_asset()->content == content);
  }
  CHECK(Value(R"({"$sig":"$asset","hash":"h"})").as_asset()->hash == "h");
  CHECK(Refusal(R"({"a":{"$sig":"$asset"}})", {.reject_assets = true}) ==
        "property \"a\": unexpected asset");
}

TEST_CASE("P65 what an archive is: path, uri, assets, else no members") {
  CHECK(Value(R"({"$sig":"$archive","path":"p","uri":"u","assets":{}})").as_archive()->source ==
        Archive::Source::kPath);
  CHECK(Value(R"({"$sig":"$archive","uri":"u","assets":{}})").as_archive()->location == "u");
  const PropertyValue members =
      Value(R"({"$sig":"$archive","assets":{"a":{"$sig":"$asset"},"b":{"$sig":"$archive"}}})");
  CHECK(members.as_archive()->assets->at("a").kind() == ValueKind::kAsset);
  CHECK(members.as_archive()->assets->at("b").kind() == ValueKind::kArchive);
  const PropertyValue empty = Value(R"({"$sig":"$archive","hash":"h"})");
  CHECK(empty.as_archive()->source == Archive::Source::kAssets);
  CHECK(empty.as_archive()->assets->empty());
  CHECK(empty.as_archive()->hash == "h");
  CHECK(Refusal(R"({"a":{"$sig":"$archive"}})", {.reject_assets = true}) ==
        "property \"a\": unexpected archive");
}

TEST_CASE("P57 P62 UTF-8 of texts and keys is checked, keys in sorted order") {
  google::protobuf::Struct in;
  (*in.mutable_fields())["b"].set_string_value("\xff");
  CHECK(DecodeStruct(in, {}).error().message == "property \"b\": the text is not valid UTF-8");
  (*in.mutable_fields())["c"].mutable_struct_value();
  (*in.mutable_fields())["a"].set_string_value("\xff");
  CHECK(DecodeStruct(in, {}).error().message == "property \"a\": the text is not valid UTF-8");
  google::protobuf::Struct keys;
  (*keys.mutable_fields())["\xff"].set_bool_value(true);
  CHECK_THAT(DecodeStruct(keys, {}).error().message, Catch::Contains("the name is not valid"));
}

TEST_CASE("P62 SI and SN when decoding") {
  CHECK(PropertyValue(Decoded(R"({"__a":1,"b":{"__c":1}})", {.skip_internal_keys = true})) ==
        PropertyValue(PropertyMap{{"b", PropertyMap{{"__c", 1}}}}));
  CHECK(PropertyValue(Decoded(R"({"a":null,"b":[null],"c":{"d":null}})", {.skip_nulls = true})) ==
        PropertyValue(PropertyMap{{"b", PropertyList{Null{}}}, {"c", PropertyMap{}}}));
}

}  // namespace
}  // namespace davit
