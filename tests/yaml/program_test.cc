// Loading of YAML programs: grammar, order, and the place of every error.
#include <catch2/catch.hpp>

#include "engine/yaml/evaluation.h"

namespace davit {
namespace {

struct Loaded {
  YamlProgram program;
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
};

Loaded Load(const std::string& text) {
  std::vector<Error> errors;
  std::vector<Error> warnings;
  Loaded loaded;
  loaded.program = LoadProgram({std::make_shared<const YamlDocument>(ParseYaml("Pulumi.yaml", text))},
                               "proj", &errors, &warnings);
  for (const Error& error : errors) {
    loaded.errors.push_back(error.Text());
  }
  for (const Error& warning : warnings) {
    loaded.warnings.push_back(warning.Text());
  }
  return loaded;
}

bool Has(const std::vector<std::string>& lines, const std::string& part) {
  for (const std::string& line : lines) {
    if (line.find(part) != std::string::npos) {
      return true;
    }
  }
  return false;
}

std::vector<std::string> OrderOf(const YamlProgram& program) {
  std::vector<std::string> names;
  for (const YamlNodeRef& node : program.order) {
    names.push_back(node.kind == YamlNodeKind::kConfig     ? program.config[node.index].symbol
                    : node.kind == YamlNodeKind::kResource ? program.resources[node.index].key
                    : node.kind == YamlNodeKind::kVariable ? program.variables[node.index].key
                                                           : "required version");
  }
  return names;
}

}  // namespace

TEST_CASE("[Y130] each node comes after what it references, declaration order otherwise") {
  const Loaded loaded = Load(
      "resources:\n"
      "  b: {type: 'p:m:T', properties: {v: '${second}'}}\n"
      "  a: {type: 'p:m:T'}\n"
      "variables:\n"
      "  second: after ${first.x}\n"
      "  first: {x: '${a.out}'}\n");
  CHECK(loaded.errors.empty());
  CHECK(OrderOf(loaded.program) == std::vector<std::string>{"a", "first", "second", "b"});
}

TEST_CASE("[Y22] the required version comes after what its text needs, before all else") {
  const Loaded loaded = Load(
      "resources: {a: {type: 'p:m:T'}}\n"
      "variables: {range: '>${least}', other: 1}\n"
      "config: {least: {type: string}}\n"
      "pulumi: {requiredVersion: '${range}'}\n");
  CHECK(loaded.errors.empty());
  CHECK(OrderOf(loaded.program) ==
        std::vector<std::string>{"least", "range", "required version", "a", "other"});
  CHECK(Has(Load("pulumi: {requiredversoin: '1'}\n").errors,
            "Pulumi.yaml:1:10: 'requiredversoin' is not known in 'pulumi'"));
}

TEST_CASE("[Y28] [Y30] T26 T27 T28 T29 types and defaults of configuration, all errors at once") {
  const Loaded loaded = Load(
      "configuration:\n"
      "  a: {type: String, default: 42}\n"
      "  b: {type: Frob}\n"
      "  c: {type: integer, default: 42.2}\n"
      "  d: {type: 'List<>'}\n"
      "  e: {type: 'List< Int >', default: [1, two]}\n"
      "  f: {type: 5}\n");
  CHECK(Has(loaded.errors,
            "Pulumi.yaml:2:30: the default of 'a' is a number and not of type string"));
  CHECK(Has(loaded.errors, "Pulumi.yaml:3:13: the configuration type 'Frob' is not known"));
  CHECK(Has(loaded.errors, "Pulumi.yaml:4:31: the default of 'c'"));
  CHECK(Has(loaded.errors, "'List<>' is not known"));
  CHECK(Has(loaded.errors, "Pulumi.yaml:6:37: the default of 'e' is a list"));
  CHECK(Has(loaded.errors, "Pulumi.yaml:7:13:"));
  CHECK(loaded.errors.size() == 6);
  CHECK(Load("config: {a: {type: 'List< String >', default: []}, b: {type: int, default: 42}, c: "
             "{type: string, default: 'x${a}'}, d: {type: number, default: {'fn::length': [1]}}}\n")
            .errors.empty());
}

TEST_CASE("[Y131] a cycle is one error with its whole path") {
  const Loaded loaded = Load("variables: {a: '${b}', b: '${c}', c: '${a}'}\n");
  REQUIRE(loaded.errors.size() == 1);
  CHECK(loaded.errors[0].find("'a' -> 'b' -> 'c' -> 'a'") != std::string::npos);
}

TEST_CASE("[Y134] all errors are reported, each with file, line and column") {
  const Loaded loaded = Load(
      "resources:\n"
      "  a:\n"
      "    typo: 1\n"
      "    type: nocolon\n"
      "  b:\n"
      "    type: 'p:m:T'\n"
      "    options: {dependson: [], nonsense: 1}\n"
      "variables:\n"
      "  v: {'fn::joyn': []}\n"
      "  w: ${unclosed\n");
  CHECK(Has(loaded.errors, "Pulumi.yaml:3:5: 'typo' is not known in a resource"));
  CHECK(Has(loaded.errors, "Pulumi.yaml:4:11: 'nocolon' is not a resource type"));
  CHECK(Has(loaded.errors, "Pulumi.yaml:7:30: there is no option 'nonsense'"));
  CHECK(Has(loaded.errors, "Pulumi.yaml:9:7: there is no function 'fn::joyn'"));
  CHECK(Has(loaded.errors, "Pulumi.yaml:10:6: an interpolation is not closed"));
  CHECK(Has(loaded.warnings, "'dependson' is spelt 'dependsOn'"));  // Y18
}

TEST_CASE("[Y16] one name for two things is an error; [Y38] pulumi is reserved") {
  CHECK(Has(Load("resources: {a: {type: 'p:m:T'}}\nvariables: {a: 1}\n").errors,
            "the variable 'a' has the name of a resource"));
  CHECK(Has(Load("variables: {pulumi: 1}\n").errors, "is reserved"));
}

TEST_CASE("[Y96] get needs an id and no properties") {
  CHECK(
      Has(Load("resources: {a: {type: 'p:m:T', get: {state: {}}}}\n").errors, "'get' has no 'id'"));
  CHECK(Has(Load("resources: {a: {type: 'p:m:T', get: {id: x}, properties: {}}}\n").errors,
            "both 'get' and 'properties'"));
}

TEST_CASE("[Y20] empty sections are empty, others must be maps") {
  CHECK(Load("variables:\nresources:\n").errors.empty());
  CHECK(Has(Load("variables: [1]\n").errors, "'variables' must be a map, not a list"));
}

TEST_CASE("[Y63] dollars; [Y61] forms of access") {
  const Loaded loaded = Load("variables:\n  a: 'x$$y $$${b[0][\"k.e\"].z} $'\n  b: 1\n");
  REQUIRE(loaded.errors.empty());
  const YamlExpr& expr = *loaded.program.variables[0].value;
  REQUIRE(expr.parts.size() == 3);
  CHECK(std::get<std::string>(expr.parts[0]) == "x$y $");
  CHECK(std::get<YamlAccess>(expr.parts[1]).Text() == "b[0].k.e.z");
  CHECK(std::get<std::string>(expr.parts[2]) == " $");
}

TEST_CASE("[Y33] [Y34] configuration texts become values by declared type, else by their looks") {
  CHECK(*ConfigValueOf("14", "string") == PropertyValue("14"));
  CHECK(*ConfigValueOf("14", "") == PropertyValue(14));
  CHECK(*ConfigValueOf("028111111111", "") == PropertyValue("028111111111"));
  CHECK(*ConfigValueOf("true", "") == PropertyValue(true));
  for (const char* text : {"T", "1234e5", "nan", "0.01", "1e3"}) {  // T33, B129
    CHECK(*ConfigValueOf(text, "") == PropertyValue(text));
  }
  CHECK(*ConfigValueOf("{\"a\": [1]}", "") == PropertyValue(PropertyMap{{"a", PropertyList{1}}}));
  CHECK_FALSE(ConfigValueOf("x", "integer").has_value());
  CHECK_FALSE(ConfigValueOf("1.5", "integer").has_value());
}

TEST_CASE("[Y65] numbers inside text keep their digits") {
  CHECK(NumberInText(1048576) == "1048576");
  CHECK(NumberInText(1.5) == "1.5");
  CHECK(NumberInText(-3) == "-3");
}

TEST_CASE("[P82] durations") {
  CHECK(*ParseTimeout("1h30m") == 5400);
  CHECK(*ParseTimeout(".2m") == Approx(12));
  CHECK(*ParseTimeout("250ms") == Approx(0.25));
  CHECK_FALSE(ParseTimeout("5").has_value());
  CHECK_FALSE(ParseTimeout("").has_value());
}

TEST_CASE("[Y81] tokens are looked up exactly, with index, and with the name repeated") {
  const Result<std::unique_ptr<PackageSchema>> schema = ParsePackageSchema(
      "p",
      R"({"name":"p","resources":{"p:index:One":{},"p:s3/bucket:Bucket":{"requiredInputs":["a"],
               "inputProperties":{"a":{"type":"string","secret":true}}}}})");
  REQUIRE(schema);
  CHECK((*schema)->Resource("p:One")->token == "p:index:One");
  REQUIRE((*schema)->Resource("p:s3:Bucket") != nullptr);
  CHECK((*schema)->Resource("p:s3:Bucket")->inputs.properties.at("a").is_secret);
  CHECK((*schema)->Resource("p:Two") == nullptr);
  CHECK_FALSE(ParsePackageSchema("p", "nonsense").has_value());
}

}  // namespace davit
