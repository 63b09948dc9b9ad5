// Reading YAML text: scalars, keys, aliases, places (Y5, Y9-Y17, T8-T15).

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "engine/yaml/document.h"

namespace davit {
namespace {

YamlNode Value(const std::string& text) {
  const YamlDocument document = ParseYaml("Main.yaml", "v: " + text + "\n");
  REQUIRE(document.errors.empty());
  REQUIRE(document.root.entries.size() == 1);
  return document.root.entries[0].value;
}

std::vector<std::string> Errors(const std::string& text) {
  std::vector<std::string> texts;
  for (const Error& error : ParseYaml("Main.yaml", text).errors) {
    texts.push_back(error.Text());
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST_CASE("T11 Y9-Y13: what plain scalars stand for") {
  for (const char* text : {"yes",
                           "no",
                           "on",
                           "off",
                           "y",
                           "n",
                           "1:30",
                           "2024-01-31",
                           "2024-01-31T10:00:00Z",
                           "tRUE",
                           "_1",
                           "0x",
                           "1e",
                           "."}) {
    CAPTURE(text);
    CHECK(Value(text).kind == YamlNode::Kind::kString);
    CHECK(Value(text).text == text);
  }
  const std::pair<const char*, double> numbers[] = {
      {"0o17", 15},
      {"010", 8},
      {"0x1F", 31},
      {"1_000", 1000},
      {"1e3", 1000},
      {".5", 0.5},
      {"1.", 1},
      {"0b101", 5},
      {"-0x10", -16},
      {"+7", 7},
      {"08", 8},
      {"0123456789", 123456789},
      {"-.inf", -INFINITY},
      {".Inf", INFINITY},
      {"1e400", INFINITY},
      {"-2147483648", -2147483648.0},
      {"5e-324", 5e-324},
      {"1.7976931348623157e308", 1.7976931348623157e308}};
  for (const auto& [text, number] : numbers) {
    CAPTURE(text);
    CHECK(Value(text).kind == YamlNode::Kind::kNumber);
    CHECK(Value(text).number == number);
  }
  CHECK(std::isnan(Value(".NaN").number));
  CHECK(std::signbit(Value("-0.0").number));
  CHECK_FALSE(std::signbit(Value("-0").number));
  for (const char* text : {"", "~", "null", "Null", "NULL"}) {
    CHECK(Value(text).is_null());
  }
  CHECK(Value("TRUE").boolean);
  CHECK(Value("False").kind == YamlNode::Kind::kBool);
  CHECK(Value("'12'").is_string());
  CHECK(Value("!!str 12").text == "12");
  CHECK(Value("!!binary aGk=").text == "aGk=");
  CHECK(Value("!mine 12").number == 12);
  CHECK(Value("!!float 12").number == 12);
  CHECK(Errors("v: !!int abc") ==
        Texts{"Main.yaml:1:4: the value does not fit its tag 'tag:yaml.org,2002:int'"});
}

TEST_CASE("Y12: integers keep their digits; Y10: surprises are told") {
  CHECK(Value("9007199254740993").text == "9007199254740993");
  CHECK(Value("18446744073709551615").text == "18446744073709551615");
  CHECK(Value("-9223372036854775808").text == "-9223372036854775808");
  CHECK(Value("18446744073709551616").text.empty());
  CHECK(Value("0x10").text == "16");
  const YamlDocument document =
      ParseYaml("Main.yaml", "a: 08\nb: 9007199254740993\nc: 9007199254740992\n");
  REQUIRE(document.warnings.size() == 2);
  CHECK(document.warnings[0].Text() ==
        "Main.yaml:1:4: '08' is read as the number 8; quote it if it is text");
  CHECK(document.warnings[1].Text() ==
        "Main.yaml:2:4: '9007199254740993' becomes 9007199254740992 where it leaves the program; "
        "quote it to keep every digit");
}

TEST_CASE("T14 Y17: block scalars and escapes") {
  CHECK(Value(R"("\U000E0021\e\a\0x")").text == std::string("\xF3\xA0\x80\xA1\x1B\x07\0x", 8));
  CHECK(Value("|\n  a\n  b\n").text == "a\nb\n");
  CHECK(Value(">-\n  a\n  b\n").text == "a b");
}

TEST_CASE("T8 T12 T15 Y14 Y16: wrong keys and documents, all of them") {
  CHECK(Errors("a: 1\n---\nb: 2\n") ==
        Texts{"Main.yaml:2:1: a second document begins here; a file holds one document"});
  CHECK(Errors("1: x\ntrue: y\n~: z\n\"1\": fine\non: fine\n2024-01-31: fine\n\"\": fine\n") ==
        Texts{"Main.yaml:1:1: a mapping key must be a string, not a number; quote it",
              "Main.yaml:2:1: a mapping key must be a string, not a boolean; quote it",
              "Main.yaml:3:1: a mapping key must be a string, not null; quote it"});
  CHECK(Errors("a: 1\nb: {c: 1, c: 2}\na: 2\n") ==
        Texts{"Main.yaml:2:11: the key 'c' is given twice",
              "Main.yaml:3:1: the key 'a' is given twice"});
  CHECK(Errors("a: [1\nb: 2\n").size() == 1);
  CHECK(Errors("a: \xff\n").size() == 1);
}

TEST_CASE("T9 Y15: aliases and merges") {
  const YamlDocument document = ParseYaml(
      "Main.yaml", "a: &x {k: 1, l: 2}\nb: *x\nc: {<<: *x, k: 3}\nd: {<<: [{k: 4}, *x]}\n");
  REQUIRE(document.errors.empty());
  CHECK(ToPropertyValue(document.root.Find("b")->value) ==
        ToPropertyValue(document.root.Find("a")->value));
  CHECK(ToPropertyValue(document.root.Find("c")->value) ==
        PropertyValue(PropertyMap{{"k", 3}, {"l", 2}}));
  CHECK(ToPropertyValue(document.root.Find("d")->value) ==
        PropertyValue(PropertyMap{{"k", 4}, {"l", 2}}));
}

TEST_CASE("T10 Y15: cyclic and exploding aliases end in an error") {
  CHECK(Errors("a: &x [*x]\n") ==
        Texts{"Main.yaml:1:8: the alias '*x' stands inside its own anchor"});
  CHECK(Errors("a: *y\n") == Texts{"Main.yaml:1:4: no anchor '&y' precedes this alias"});
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += fmt::format(
        "a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  }
  REQUIRE(Errors(bomb).size() == 1);
  CHECK(Errors(bomb)[0].find("expand to more than") != std::string::npos);
  std::string deep;
  for (int i = 0; i < 20000; ++i) {
    deep += "[";
  }
  CHECK(Errors("a: " + deep).size() == 1);
}

TEST_CASE("Y5: an empty text is an empty map") {
  for (const char* text : {"", "\n", "# nothing\n", "\xEF\xBB\xBF"}) {
    const YamlDocument document = ParseYaml("Main.yaml", text);
    CHECK(document.errors.empty());
    CHECK(document.root.is_map());
    CHECK(document.root.entries.empty());
  }
}

TEST_CASE("T19 Y4: JSON with tabs and surrogate pairs") {
  const YamlDocument document = ParseYaml(
      "Main.json", "{\n\t\"a\":\t[1,\t\"\\ud83d\\ude00\\/\\\\ud83d\"],\n\t\"b\": {}\n}\n");
  REQUIRE(document.errors.empty());
  CHECK(document.root.Find("a")->value.items[1].text == "\xF0\x9F\x98\x80/\\ud83d");
  CHECK(document.root.Find("b")->line == 3);
}

TEST_CASE("Y159: places inside scalars") {
  const YamlDocument document = ParseYaml(
      "Main.yaml", "p: ab${x}\nq: \"ü${x}\"\nr: |\n    first\n      ${x}\ns: \"a\\tb${x}\"\n");
  REQUIRE(document.errors.empty());
  const auto place = [&](const char* key, std::size_t offset) {
    const SourceRange range = document.At(document.root.Find(key)->value, offset);
    return fmt::format("{}:{}", range.line, range.column);
  };
  CHECK(place("p", 2) == "1:6");
  CHECK(place("q", 2) == "2:6");
  CHECK(place("r", 8) == "5:7");
  CHECK(place("s", 3) == "6:4");
}

}  // namespace
}  // namespace davit
