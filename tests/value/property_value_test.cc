#include "engine/value/property_value.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "engine/base/check.h"
#include "tests/value/value_generator.h"

namespace davit {
namespace {

PropertyValue OutputOf(PropertyValue element,
                       bool is_secret = false,
                       std::vector<std::string> dependencies = {}) {
  Output output;
  output.element = std::make_shared<const PropertyValue>(std::move(element));
  output.is_secret = is_secret;
  output.dependencies = std::move(dependencies);
  return output;
}

PropertyValue UnknownOutput(bool is_secret = false) {
  Output output;
  output.is_secret = is_secret;
  return output;
}

Asset TextAsset(std::string text, std::string hash = {}) {
  Asset asset;
  asset.source = Asset::Source::kText;
  asset.content = std::move(text);
  asset.hash = std::move(hash);
  return asset;
}

// `wrap` applied `levels` times.
template <typename Wrap>
PropertyValue Nest(int levels, const Wrap& wrap) {
  PropertyValue value("leaf");
  for (; levels > 0; --levels) {
    value = wrap(std::move(value));
  }
  return value;
}

TEST_CASE("accessors give the alternative held and null for others") {
  CHECK(PropertyValue().kind() == ValueKind::kNull);
  CHECK(PropertyValue(true).kind() == ValueKind::kBool);
  CHECK(PropertyValue(1).kind() == ValueKind::kNumber);
  CHECK(PropertyValue("x").kind() == ValueKind::kString);
  CHECK(PropertyValue(PropertyList{}).kind() == ValueKind::kList);
  CHECK(PropertyValue(PropertyMap{}).kind() == ValueKind::kMap);
  CHECK(PropertyValue(Asset{}).kind() == ValueKind::kAsset);
  CHECK(PropertyValue(Archive{}).kind() == ValueKind::kArchive);
  CHECK(PropertyValue(Unknown{}).kind() == ValueKind::kUnknown);
  CHECK(PropertyValue(Secret(1)).kind() == ValueKind::kSecret);
  CHECK(PropertyValue(Output{}).kind() == ValueKind::kOutput);
  CHECK(PropertyValue(ResourceReference{}).kind() == ValueKind::kReference);
  CHECK(*PropertyValue("x").as_string() == "x");
  CHECK(PropertyValue("x").as_list() == nullptr);
  CHECK(PropertyValue(2.5).as_string() == nullptr);
}

TEST_CASE("numbers are equal bit by bit, but for NaN") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(PropertyValue(nan) == PropertyValue(-nan));
  CHECK_FALSE(PropertyValue(0.0) == PropertyValue(-0.0));
  CHECK(PropertyValue(0.1) == PropertyValue(0.1));
  CHECK_FALSE(PropertyValue(1) == PropertyValue("1"));
}

TEST_CASE("assets and archives are equal by hash when both have one (P63)") {
  CHECK(PropertyValue(TextAsset("a", "h")) == PropertyValue(TextAsset("b", "h")));
  CHECK_FALSE(PropertyValue(TextAsset("a", "h")) == PropertyValue(TextAsset("a", "i")));
  CHECK(PropertyValue(TextAsset("a", "h")) == PropertyValue(TextAsset("a")));
  CHECK_FALSE(PropertyValue(TextAsset("a")) == PropertyValue(TextAsset("b")));
  Archive archive;
  archive.source = Archive::Source::kAssets;
  Archive other = archive;
  other.assets = std::make_shared<const PropertyMap>();
  CHECK(PropertyValue(archive) == PropertyValue(other));
  other.assets = std::make_shared<const PropertyMap>(PropertyMap{{"a", TextAsset("a")}});
  CHECK_FALSE(PropertyValue(archive) == PropertyValue(other));
}

TEST_CASE("secrets are equal by content, outputs by all members, unknowns always (P56)") {
  CHECK(PropertyValue(Secret("a")) == PropertyValue(Secret("a")));
  CHECK_FALSE(PropertyValue(Secret("a")) == PropertyValue("a"));
  CHECK(OutputOf(1, true, {"u"}) == OutputOf(1, true, {"u"}));
  CHECK_FALSE(OutputOf(1, true) == OutputOf(1, false));
  CHECK_FALSE(OutputOf(1, false, {"u"}) == OutputOf(1));
  CHECK_FALSE(OutputOf(1) == UnknownOutput());
  CHECK(PropertyValue(Unknown{UnknownKind::kList}) == PropertyValue(Unknown{UnknownKind::kBool}));
}

TEST_CASE("generated values equal themselves and their rebuilt copies") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    const PropertyValue value = testing::ValueGenerator(seed).Value(5);
    const PropertyValue again = testing::ValueGenerator(seed).Value(5);
    CHECK(value == value);
    CHECK(value == again);
  }
}

TEST_CASE("a secret is wrapped once") {
  const PropertyValue once = MakeSecret("x");
  CHECK(once.is_secret());
  CHECK(MakeSecret(once) == once);
  CHECK(MakeSecret(OutputOf("x", true)).kind() == ValueKind::kOutput);
  CHECK(MakeSecret(OutputOf("x", false)).is_secret());
}

TEST_CASE("unknowns and secrets are found at any depth") {
  const PropertyValue unknown(PropertyMap{{"a", PropertyList{1, Secret(Unknown{})}}});
  CHECK(ContainsUnknowns(unknown));
  CHECK(ContainsSecrets(unknown));
  CHECK(ContainsUnknowns(PropertyValue(PropertyList{UnknownOutput()})));
  CHECK_FALSE(ContainsUnknowns(OutputOf(1)));
  CHECK(ContainsSecrets(PropertyValue(PropertyList{OutputOf(1, true)})));
  CHECK(ContainsSecrets(OutputOf(PropertyList{Secret(1)})));
  CHECK_FALSE(ContainsSecrets(PropertyValue(PropertyMap{{"a", 1}})));
  CHECK(ContainsUnknowns(PropertyMap{{"a", 1}, {"b", Unknown{}}}));
  CHECK_FALSE(ContainsSecrets(PropertyMap{{"a", 1}}));
}

TEST_CASE("plain values have neither secrets nor outputs at any depth") {
  const PropertyMap map{{"s", Secret(PropertyList{Secret("x"), OutputOf(2)})},
                        {"o", OutputOf(PropertyMap{{"k", UnknownOutput(true)}})}};
  CHECK(PropertyValue(Plain(map)) ==
        PropertyValue(
            PropertyMap{{"s", PropertyList{"x", 2}}, {"o", PropertyMap{{"k", Unknown{}}}}}));
  const PropertyValue untouched(PropertyList{1, 2});
  CHECK(Plain(untouched).as_list() == untouched.as_list());
}

TEST_CASE("outputs become plain, unknown or secret values (P72)") {
  const PropertyMap map{{"plain", OutputOf(PropertyList{OutputOf(1, false, {"u"})})},
                        {"unknown", UnknownOutput()},
                        {"secret", OutputOf("x", true)},
                        {"both", UnknownOutput(true)},
                        {"kept", Secret(OutputOf("y", true))}};
  CHECK(PropertyValue(WithoutOutputs(map)) == PropertyValue(PropertyMap{{"plain", PropertyList{1}},
                                                                        {"unknown", Unknown{}},
                                                                        {"secret", Secret("x")},
                                                                        {"both", Secret(Unknown{})},
                                                                        {"kept", Secret("y")}}));
}

TEST_CASE("dependencies are gathered from outputs and references, sorted") {
  ResourceReference reference;
  reference.urn = "b";
  const PropertyValue value(PropertyMap{{"x", OutputOf(reference, false, {"c", "a"})},
                                        {"y", Secret(PropertyList{OutputOf(1, true, {"a"})})}});
  CHECK(DependenciesIn(value) == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("P68 annotate: maps recurse, other values are wrapped whole") {
  const PropertyMap target{{"map", PropertyMap{{"a", 1}, {"b", 2}}},
                           {"list", PropertyList{1, 2}},
                           {"already", Secret("x")},
                           {"wrapped", PropertyMap{{"a", 1}}},
                           {"other", 1}};
  const PropertyMap source{{"map", PropertyMap{{"a", Secret(9)}, {"absent", Secret(9)}}},
                           {"list", PropertyList{9, Secret(9)}},
                           {"already", Secret("y")},
                           {"wrapped", Secret(PropertyMap{{"a", 9}})},
                           {"other", 9},
                           {"gone", Secret(9)}};
  CHECK(PropertyValue(AnnotateSecrets(target, source)) ==
        PropertyValue(PropertyMap{{"map", PropertyMap{{"a", Secret(1)}, {"b", 2}}},
                                  {"list", Secret(PropertyList{1, 2})},
                                  {"already", Secret("x")},
                                  {"wrapped", Secret(PropertyMap{{"a", 1}})},
                                  {"other", 1}}));
}

TEST_CASE("text for people never shows a secret") {
  const std::string canary = "canary-4711";
  const PropertyValue value(PropertyMap{
      {"a", Secret(PropertyMap{{"b", canary}})},
      {"c", OutputOf(canary, true)},
      {"d", PropertyList{OutputOf(Secret(PropertyList{canary})), Unknown{}, UnknownOutput()}},
      {"e", "line\n\"\xff\""}});
  const std::string text = DebugText(value);
  CHECK(text.find(canary) == std::string::npos);
  CHECK(text ==
        "{\"a\":[secret],\"c\":[secret],\"d\":[[secret],[unknown],[unknown]],"
        "\"e\":\"line\\n\\\"\\xff\\\"\"}");
  CHECK(DebugText(PropertyList{Null{}, true, 1.5, TextAsset("long text")}) ==
        "[null,true,1.5,[asset text]]");
}

TEST_CASE("UTF-8 is checked strictly") {
  for (const char* text : {"", "a", "\u00e9", "\u4e16", "\U0010ffff", "\ud7ff", "\ue000"}) {
    CHECK(IsUtf8(text));
  }
  for (const char* text : {"\x80",
                           "\xc0\x80",
                           "\xc1\xbf",
                           "\xc3",
                           "\xe0\x9f\xbf",
                           "\xed\xa0\x80",
                           "\xe4\xb8",
                           "\xf0\x8f\xbf\xbf",
                           "\xf4\x90\x80\x80",
                           "\xf5\x80\x80\x80",
                           "\xff",
                           "ok\xc3(",
                           "\xf0\x9f\x98"}) {
    CHECK_FALSE(IsUtf8(text));
  }
}

TEST_CASE("S59 numbers are shortest, with an exponent from 1e21 and below 1e-6") {
  const std::pair<double, const char*> cases[] = {
      {0, "0"},
      {-0.0, "-0"},
      {1, "1"},
      {-100, "-100"},
      {0.1, "0.1"},
      {1.5, "1.5"},
      {-123.456, "-123.456"},
      {1e21, "1e+21"},
      {1e20, "100000000000000000000"},
      {123456789012345678901.0, "123456789012345680000"},
      {1e-6, "0.000001"},
      {1e-7, "1e-7"},
      {1.25e-9, "1.25e-9"},
      {-2.5e+30, "-2.5e+30"},
      {9007199254740993.0, "9007199254740992"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {std::numeric_limits<double>::quiet_NaN(), "NaN"},
      {std::numeric_limits<double>::infinity(), "Infinity"},
      {-std::numeric_limits<double>::infinity(), "-Infinity"}};
  for (const auto& [number, text] : cases) {
    CHECK(NumberText(number) == text);
  }
}

TEST_CASE("S59 numbers read back as the same number") {
  testing::ValueGenerator generator(7);
  for (int left = 2000; left > 0; --left) {
    const PropertyValue value = generator.Value(0);
    const double* number = value.as_number();
    if (number != nullptr && std::isfinite(*number)) {
      CHECK(std::stod(NumberText(*number)) == *number);
    }
  }
}

TEST_CASE("P62 values of the greatest depth are walked and destroyed, deeper ones are refused") {
  const auto in_map = [](PropertyValue v) {
    return PropertyValue(PropertyMap{{"k", std::move(v)}});
  };
  const auto in_list = [](PropertyValue v) { return PropertyValue(PropertyList{std::move(v)}); };
  const auto in_secret = [](PropertyValue v) { return PropertyValue(Secret(std::move(v))); };
  const auto in_output = [](PropertyValue v) { return OutputOf(std::move(v)); };
  const auto walk = [](const auto& wrap) {
    const PropertyValue deepest = Nest(kMaxValueDepth, wrap);
    CHECK(deepest == deepest);
    CHECK(deepest == Nest(kMaxValueDepth, wrap));
    CHECK_FALSE(ContainsUnknowns(deepest));
    CHECK_FALSE(ContainsSecrets(Plain(deepest)));
    CHECK(WithoutOutputs(deepest) == WithoutOutputs(deepest));
    CHECK_FALSE(DebugText(deepest).empty());
    const PropertyValue deeper = Nest(kMaxValueDepth + 1, wrap);
    CHECK_THROWS_AS(ContainsUnknowns(deeper), BugError);
    CHECK_THROWS_AS(deeper == Nest(kMaxValueDepth + 1, wrap), BugError);
  };
  walk(in_map);
  walk(in_list);
  walk(in_secret);
  walk(in_output);
}

TEST_CASE("P62 the depth of a dying value costs no stack") {
  const PropertyValue value = Nest(
      300000, [](PropertyValue v) { return PropertyValue(PropertyList{Secret(std::move(v))}); });
  CHECK(value.is_list());
}

}  // namespace
}  // namespace davit
