#include "cli/workspace/effective_config.h"

#include <catch2/catch.hpp>

namespace davit {
namespace {

ConfigDeclaration Declared(std::string key, std::string type = "") {
  ConfigDeclaration declaration;
  declaration.key = std::move(key);
  declaration.type = std::move(type);
  return declaration;
}

ConfigDeclaration WithDefault(std::string key, PropertyValue value, std::string type = "") {
  ConfigDeclaration declaration = Declared(std::move(key), std::move(type));
  declaration.has_default = true;
  declaration.default_value = std::move(value);
  return declaration;
}

Result<std::string> Clear(const std::string& text) {
  return "clear-" + text;
}

struct Case {
  ProjectFile project;
  StackFile file;
  Case(std::vector<ConfigDeclaration> declarations, const std::string& text)
      : file(*StackFile::Parse(text, "Pulumi.dev.yaml", "p")) {
    project.name = "p";
    project.config = std::move(declarations);
  }
  std::string Fault() const {
    const Result<void> valid =
        ValidateConfig(*MergeConfig(file, project), file, project, "dev", Clear);
    return valid ? "" : valid.error().message;
  }
  std::map<std::string, ConfigValue> Values() const {
    return *Decrypted(*MergeConfig(file, project), file, project, Clear);
  }
};

TEST_CASE("[S103] the stack's value wins over the project's; defaults become text") {
  PropertyMap object = {{"k", PropertyValue(1)}};
  ConfigDeclaration foreign = Declared("aws:region");
  foreign.has_value = true;
  foreign.value = PropertyValue("eu");
  const Case test({WithDefault("a", "from project"),
                   WithDefault("n", 5),
                   WithDefault("o", object),
                   WithDefault("p:q", true),
                   foreign},
                  "config:\n  p:a: mine\n");
  const auto values = test.Values();
  CHECK(values.at("p:a").text == "mine");
  CHECK(values.at("p:n").text == "5");
  CHECK(values.at("p:q").text == "true");
  CHECK(values.at("p:o").text == "{\"k\":1}");
  CHECK(values.at("p:o").is_object);
  CHECK(values.at("aws:region").text == "eu");
  CHECK(test.Fault().empty());
}

TEST_CASE("[S103] project keys are paths") {
  const Case test({WithDefault("a.b", "deep"), WithDefault("a.c", 2)},
                  "config:\n  p:a: {b: set}\n");
  CHECK(test.Values().at("p:a").text == "{\"b\":\"set\",\"c\":2}");
}

TEST_CASE("[S104][C67] [Y39] T44 every missing key in one error, as recorded") {
  const Case all({Declared("one", "string"),
                  Declared("two", "integer"),
                  Declared("three", "array"),
                  Declared("four", "string")},
                 "");
  CHECK(all.Fault() ==
        "validating stack config: Stack 'dev' is missing configuration values 'four', 'one', "
        "'three' and 'two'");
  const Case some({Declared("one"), Declared("two"), Declared("three")}, "config: {p:one: x}\n");
  CHECK(some.Fault() ==
        "validating stack config: Stack 'dev' is missing configuration values 'three' and 'two'");
}

TEST_CASE("[S92] T43 declared types") {
  const auto fits =
      [](const std::string& type, const std::string& items, const std::string& value) {
        ConfigDeclaration declaration = Declared("k", type);
        declaration.items_type = items;
        return Case({declaration}, "config:\n  p:k: " + value + "\n").Fault().empty();
      };
  CHECK(fits("integer", "", "2"));
  CHECK(fits("integer", "", "\"-2\""));
  CHECK_FALSE(fits("integer", "", "2.5"));
  CHECK_FALSE(fits("int", "", "y"));
  CHECK(fits("boolean", "", "true"));
  CHECK_FALSE(fits("bool", "", "yes"));
  CHECK(fits("string", "", "x"));
  CHECK_FALSE(fits("string", "", "[x]"));
  CHECK(fits("array", "boolean", "[true, false]"));
  CHECK_FALSE(fits("array", "boolean", "[maybe]"));
  CHECK(fits("list<integer>", "", "[1, 2]"));
  CHECK(fits("object", "", "{a: 1}"));
  CHECK_FALSE(fits("object", "", "[1]"));
  CHECK(fits("number", "", "1.5"));
}

TEST_CASE("[C67] all faults at once") {
  ConfigDeclaration secret = Declared("four", "string");
  secret.is_secret = true;
  const Case test({Declared("one", "integer"), secret, Declared("gone")},
                  "config: {p:one: x, p:four: plain}\n");
  const std::string fault = test.Fault();
  CHECK(fault.find("missing configuration value 'gone'") != std::string::npos);
  CHECK(fault.find("'one' must be of type 'integer'") != std::string::npos);
  CHECK(fault.find("'four' must be encrypted as it's secret") != std::string::npos);
}

TEST_CASE("[S105][Y39] secrets: encrypted anywhere, or a default marked secret") {
  ConfigDeclaration secret = WithDefault("d", "open", "string");
  secret.is_secret = true;
  const Case test({secret},
                  "config:\n  p:s: {secure: v1}\n  p:o: {x: {secure: v2}}\n  p:plain: x\n");
  const auto values = test.Values();
  CHECK(values.at("p:s").text == "clear-v1");
  CHECK(values.at("p:s").is_secret);
  CHECK(values.at("p:o").text == "{\"x\":\"clear-v2\"}");
  CHECK(values.at("p:o").is_secret);
  CHECK(values.at("p:d").is_secret);
  CHECK_FALSE(values.at("p:plain").is_secret);
  CHECK(test.Fault().empty());
}

TEST_CASE("a value that cannot be decrypted is named") {
  const Case test({}, "config:\n  p:s: {secure: notcipher}\n");
  const Decrypter refuse = [](const std::string&) -> Result<std::string> {
    return Fail(ErrorKind::kInvalid, "bad value");
  };
  const auto values =
      Decrypted(*MergeConfig(test.file, test.project), test.file, test.project, refuse);
  REQUIRE_FALSE(values);
  CHECK(values.error().message.find("p:s") != std::string::npos);
  CHECK(values.error().message.find("notcipher") == std::string::npos);
}

}  // namespace
}  // namespace davit
