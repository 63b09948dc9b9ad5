#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <catch2/catch.hpp>

#include "host/wire/value_codec.h"
#include "tests/value/struct_json.h"
#include "tests/value/value_generator.h"

namespace davit {
namespace {

namespace pb = google::protobuf;

constexpr CodecOptions kAll = {.keep_unknowns = true,
                               .keep_secrets = true,
                               .keep_resources = true,
                               .keep_outputs = true,
                               .keep_byte_strings = true};
constexpr int kRecursionLimit = 10000;

std::string BytesOf(const pb::Struct& value) {
  std::string bytes;
  pb::io::StringOutputStream stream(&bytes);
  pb::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  REQUIRE(value.SerializeToCodedStream(&coded));
  coded.Trim();
  return bytes;
}

// As the transport reads messages: with a limit for the nesting that davit's own values may have
// (P62).
bool Parse(const std::string& bytes, pb::Struct* out) {
  pb::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  pb::io::CodedInputStream coded(&stream);
  coded.SetRecursionLimit(kRecursionLimit);
  return out->ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
}

TEST_CASE("P55-P65 generated values survive the wire with all options on") {
  for (std::uint32_t seed = 1; seed <= 1500; ++seed) {
    const PropertyMap map = testing::ValueGenerator(seed).Map(6);
    pb::Struct wire;
    const Result<void> encoded = EncodeStruct(map, kAll, &wire);
    INFO("seed " << seed);
    REQUIRE(encoded);
    const std::string bytes = BytesOf(wire);
    pb::Struct received;
    REQUIRE(Parse(bytes, &received));
    const Result<PropertyMap> decoded = DecodeStruct(received, kAll);
    REQUIRE(decoded);
    CHECK(PropertyValue(*decoded) == PropertyValue(map));
    pb::Struct again;
    REQUIRE(EncodeStruct(*decoded, kAll, &again));
    CHECK(BytesOf(again) == bytes);
  }
}

TEST_CASE("P58 P60 nothing special is left when nothing is kept") {
  CodecOptions plain_texts;
  plain_texts.keep_byte_strings = true;
  for (std::uint32_t seed = 1; seed <= 500; ++seed) {
    const PropertyMap map = testing::ValueGenerator(seed).Map(6);
    pb::Struct wire;
    REQUIRE(EncodeStruct(map, plain_texts, &wire));
    const std::string text = testing::JsonOf(wire);
    CHECK(text.find("$secret") == std::string::npos);
    CHECK(text.find("$output") == std::string::npos);
    CHECK(text.find("$reference") == std::string::npos);
    // The receiver that keeps nothing gets the same from the full form, but for the places of
    // unknowns in lists (P61).
    pb::Struct full;
    REQUIRE(EncodeStruct(map, kAll, &full));
    const PropertyMap bare = DecodeStruct(full, {}).value();
    CHECK_FALSE(ContainsSecrets(bare));
    CHECK_FALSE(ContainsUnknowns(bare));
    CHECK(DependenciesIn(bare).empty());
  }
}

// A value as a hostile peer might send it: signatures with arbitrary members.
void Scramble(testing::ValueGenerator& generator, int depth, pb::Value* out) {
  static const char* const kKeys[] = {"4dabf18193072939515e22adb298388d",
                                      "value",
                                      "secret",
                                      "dependencies",
                                      "urn",
                                      "id",
                                      "name",
                                      "type",
                                      "hash",
                                      "text",
                                      "path",
                                      "uri",
                                      "assets",
                                      "__x"};
  static const char* const kTexts[] = {"1b47061264138c4ac30d75fd1eb44270",
                                       "d0e6a833031e9bbcd3f4e8bde6ca49a4",
                                       "5cf8f73096256a8f31e491e813e4eb8e",
                                       "c44067f5952c0a294b673a41bacd8c17",
                                       "0def7320c3a5731c473e5ecbe6d01bc7",
                                       "803fd3297a5875dc03ca845dda5d2a98",
                                       "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
                                       "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
                                       "urn:pulumi:a::b::c::d",
                                       "YQ==",
                                       "\xff",
                                       ""};
  switch (generator.Below(depth > 0 ? 7 : 4)) {
    case 0:
      out->set_bool_value(generator.Flip());
      return;
    case 1:
      out->set_null_value(pb::NULL_VALUE);
      return;
    case 2:
    case 3:
      out->set_string_value(kTexts[generator.Below(std::size(kTexts))]);
      return;
    case 4:
      for (int left = generator.Below(3); left >= 0; --left) {
        Scramble(generator, depth - 1, out->mutable_list_value()->add_values());
      }
      return;
    default:
      auto& fields = *out->mutable_struct_value()->mutable_fields();
      for (int left = generator.Below(4); left >= 0; --left) {
        Scramble(generator, depth - 1, &fields[kKeys[generator.Below(std::size(kKeys))]]);
      }
      if (generator.Flip()) {
        fields[kKeys[0]].set_string_value(kTexts[generator.Below(6)]);
      }
  }
}

TEST_CASE("P60 P61 scrambled messages give an error or a value that can be sent on") {
  testing::ValueGenerator generator(99);
  int decoded_count = 0;
  for (int left = 5000; left > 0; --left) {
    pb::Struct wire;
    Scramble(generator, 4, &(*wire.mutable_fields())["v"]);
    CodecOptions options;
    options.keep_unknowns = generator.Flip();
    options.reject_unknowns = generator.Below(4) == 0;
    options.keep_secrets = generator.Flip();
    options.keep_resources = generator.Flip();
    options.keep_outputs = generator.Flip();
    options.upgrade_to_outputs = generator.Flip();
    options.reject_assets = generator.Below(4) == 0;
    const Result<PropertyMap> decoded = DecodeStruct(wire, options);
    if (!decoded) {
      CHECK_THAT(decoded.error().message, Catch::StartsWith("property \"v"));
      continue;
    }
    ++decoded_count;
    CHECK((options.keep_secrets || options.keep_outputs || !ContainsSecrets(*decoded)));
    CHECK((options.keep_unknowns || !ContainsUnknowns(*decoded)));
    pb::Struct again;
    REQUIRE(EncodeStruct(*decoded, kAll, &again));
    CHECK(DecodeStruct(again, kAll));
  }
  CHECK(decoded_count > 500);
}

// Nested `levels` deep in objects (3 protobuf levels each) or lists (2 each).
pb::Struct Deep(int levels, bool in_lists) {
  pb::Struct root;
  pb::Value* value = &(*root.mutable_fields())["k"];
  for (; levels > 0; --levels) {
    value = in_lists ? value->mutable_list_value()->add_values()
                     : &(*value->mutable_struct_value()->mutable_fields())["k"];
  }
  value->set_string_value("leaf");
  return root;
}

TEST_CASE("P62 a thousand nested objects pass in both directions") {
  for (const bool in_lists : {false, true}) {
    const std::string bytes = BytesOf(Deep(1000, in_lists));
    pb::Struct received;
    REQUIRE(Parse(bytes, &received));
    const Result<PropertyMap> decoded = DecodeStruct(received, kAll);
    REQUIRE(decoded);
    pb::Struct again;
    REQUIRE(EncodeStruct(*decoded, kAll, &again));
    CHECK(BytesOf(again) == bytes);
  }
}

TEST_CASE("P62 nesting is bounded by an error in both directions") {
  for (const bool in_lists : {false, true}) {
    CHECK(DecodeStruct(Deep(kMaxValueDepth - 200, in_lists), kAll));
    const Result<PropertyMap> decoded = DecodeStruct(Deep(kMaxValueDepth + 1, in_lists), kAll);
    REQUIRE_FALSE(decoded);
    CHECK_THAT(decoded.error().message, Catch::Contains("nested too deeply"));

    PropertyValue value("leaf");
    for (int level = 0; level <= kMaxValueDepth; ++level) {
      value = in_lists ? PropertyValue(PropertyList{value}) : PropertyMap{{"k", value}};
    }
    pb::Struct out;
    const Result<void> encoded = EncodeStruct({{"k", value}}, kAll, &out);
    REQUIRE_FALSE(encoded);
    CHECK_THAT(encoded.error().message, Catch::Contains("nested too deeply"));
  }
}

}  // namespace
}  // namespace davit
