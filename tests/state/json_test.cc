// The JSON reader and writer (S6, S28, S59, S60).
#include <catch2/catch.hpp>

#include <cmath>

#include "engine/value/property_value.h"
#include "state/codec/json_writer.h"

namespace davit::testing {
namespace {

std::string Quoted(std::string_view text, HtmlEscaping html = HtmlEscaping::kOff) {
  std::string out;
  AppendJsonString(text, html, &out);
  return out;
}

std::string Compact(std::string_view text) {
  JsonReader reader(text);
  std::string out = CompactJson(reader);
  reader.ExpectEnd();
  return reader.failed() ? "error: " + reader.error().message : out;
}

}  // namespace

TEST_CASE("[S60] texts are escaped as the reference does") {
  CHECK(Quoted("a\"b\\c/\n\r\t\b\f") == R"("a\"b\\c/\n\r\t\b\f")");
  CHECK(Quoted(std::string("\x01\x1f\x7f\0", 4)) == "\"\\u0001\\u001f\x7f\\u0000\"");
  CHECK(Quoted("<&>") == "\"<&>\"");
  CHECK(Quoted("<&>", HtmlEscaping::kOn) == R"("\u003c\u0026\u003e")");
  CHECK(Quoted("\xE2\x80\xA8\xE2\x80\xA9") == R"("\u2028\u2029")");
  CHECK(Quoted("é😃") == "\"é😃\"");
  CHECK(Quoted("a\xFFz\xC3") == R"("a\ufffdz\ufffd")");
}

TEST_CASE("[S60] what is written is read back") {
  for (const std::string& text :
       {std::string("\"\\/\n\r\t\b\f\x01"), std::string("é😃\xE2\x80\xA8"), std::string()}) {
    const std::string quoted = Quoted(text, HtmlEscaping::kOn);
    JsonReader escaped(quoted);
    CHECK(escaped.String() == text);
  }
}

TEST_CASE("escapes, surrogates and bad UTF-8 on reading") {
  const auto read = [](const char* text) {
    JsonReader reader(text);
    std::string value = reader.String();
    return reader.failed() ? "error: " + reader.error().message : value;
  };
  CHECK(read(R"("\u00e9\ud83d\ude03\/")") == "é😃/");
  CHECK(read(R"("\ud83dx\ude03")") == "\xEF\xBF\xBDx\xEF\xBF\xBD");
  CHECK(read("\"a\xFFz\"") == "a\xEF\xBF\xBDz");
  CHECK_THAT(read(R"("\x")"), Catch::Contains("unknown escape"));
  CHECK_THAT(read(R"("\u12g4")"), Catch::Contains("hexadecimal"));
  CHECK_THAT(read("\"a\nb\""), Catch::Contains("control character"));
  CHECK_THAT(read("\"abc"), Catch::Contains("does not end"));
  CHECK_THAT(read("\"abc\\"), Catch::Contains("unknown escape"));
}

TEST_CASE("[S59] numbers keep their value and the sign of zero") {
  const auto read = [](const char* text) {
    JsonReader reader(text);
    const double value = reader.Number();
    return reader.failed() ? std::nan("") : value;
  };
  CHECK(read("1e+21") == 1e21);
  CHECK(read("-12.5e-1") == -1.25);
  CHECK(std::signbit(read("-0")));
  CHECK(read("9007199254740993") == 9007199254740992.0);
  CHECK(read("1e-400") == 0);
  CHECK(read("5e-324") == 5e-324);
  CHECK(std::isnan(read("1e400")));
  CHECK(std::isnan(read("-")));
  CHECK(std::isnan(read("+1")));
  CHECK(std::isnan(read(".5")));
  CHECK(std::isnan(read("1.")));
}

TEST_CASE("compact form keeps content and refuses what is no JSON") {
  CHECK(Compact(" { \"a\" : [ 1 , 2.50 , { } , [ ] , null , true ] , \"b\":\"x\\u0041\" } ") ==
        R"({"a":[1,2.50,{},[],null,true],"b":"xA"})");
  for (const char* bad : {"",
                          "{",
                          "[1,]",
                          "{\"a\":1,}",
                          "[1 2]",
                          "{\"a\" 1}",
                          "[}",
                          "{]",
                          "nul",
                          "[1]]",
                          "{a:1}",
                          "01"}) {
    INFO(bad);
    CHECK_THAT(Compact(bad), Catch::StartsWith("error: "));
  }
}

TEST_CASE("depth is an error, not a crash") {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  CHECK(Compact(nested(kMaxValueDepth)) == nested(kMaxValueDepth));
  CHECK_THAT(Compact(nested(1'000'000)), Catch::Contains("too deep"));
  const std::string deep = nested(kMaxValueDepth + 1);
  JsonReader reader(deep);
  reader.Raw();
  CHECK(reader.failed());
}

TEST_CASE("errors name line and column") {
  JsonReader reader("{\n  \"a\": 1,\n  \"b\" 2}", "the file");
  std::string key;
  reader.EnterObject();
  while (reader.NextMember(&key)) {
    reader.Raw();
  }
  REQUIRE(reader.failed());
  CHECK(reader.error().message == "the file is damaged at line 3, column 7: expected ':'");
}

TEST_CASE("[S7] indentation") {
  CHECK(IndentJson(R"({"a":[],"b":{},"c":[1,{"d":"x,{\"y"}]})", 4) ==
        "{\n    \"a\": [],\n    \"b\": {},\n    \"c\": [\n        1,\n        {\n            "
        "\"d\": \"x,{\\\"y\"\n"
        "        }\n    ]\n}");
}

}  // namespace davit::testing
