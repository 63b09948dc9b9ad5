// The kit's declarations: schema, default Check and default Diff. No process.

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "providers/kit/package_schema.h"

namespace davit::kit {
namespace {

using Json = nlohmann::json;

std::vector<PropertySchema> Declared() {
  return {
      {.name = "name", .type = SchemaType::String(), .required = true, .replace_on_changes = true},
      {.name = "count", .type = SchemaType::Integer(), .default_value = 1},
      {.name = "tags", .type = SchemaType::MapOf(SchemaType::String())},
      {.name = "command",
       .type =
           SchemaType::OneOf({SchemaType::String(), SchemaType::ListOf(SchemaType::String())})}};
}

std::vector<std::string> FailuresOf(const PropertyMap& inputs) {
  std::vector<std::string> texts;
  for (const CheckFailure& failure :
       CheckDeclared(Declared(), "pkg:index:Thing", false, inputs).failures) {
    texts.push_back(failure.property + ": " + failure.reason);
  }
  return texts;
}

TEST_CASE("Y88 the schema says types, requirements, secrets, defaults and replacement") {
  PackageSchema package;
  package.name = "pkg";
  package.version = "1.2.3";
  package.config = {
      {.name = "token", .type = SchemaType::String(), .required = true, .secret = true}};
  ResourceSchema resource;
  resource.token = "pkg:index:Thing";
  resource.description = "says \"<hi>\"";
  resource.inputs = Declared();
  resource.outputs = {{.name = "size", .type = SchemaType::Number(), .required = true}};
  package.resources = {resource};
  package.functions = {{.token = "pkg:index:get", .inputs = {{.name = "key"}}}};
  const Json schema = Json::parse(SchemaJson(package));
  CHECK(schema.at("name") == "pkg");
  CHECK(schema.at("version") == "1.2.3");
  CHECK(schema.at("config").at("variables").at("token").at("secret") == true);
  CHECK(schema.at("provider").at("requiredInputs") == Json::parse(R"(["token"])"));
  const Json& thing = schema.at("resources").at("pkg:index:Thing");
  CHECK(thing.at("description") == "says \"<hi>\"");
  CHECK(thing.at("requiredInputs") == Json::parse(R"(["name"])"));
  CHECK(thing.at("inputProperties").at("name") ==
        Json::parse(R"({"type": "string", "willReplaceOnChanges": true})"));
  CHECK(thing.at("inputProperties").at("count").at("default") == 1);
  CHECK(thing.at("inputProperties").at("command") ==
        Json::parse(
            R"({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})"));
  CHECK(thing.at("properties").at("tags") ==
        Json::parse(R"({"type": "object", "additionalProperties": {"type": "string"}})"));
  CHECK(thing.at("required") == Json::parse(R"(["size", "name"])"));
  CHECK(schema.at("functions").at("pkg:index:get").at("inputs").at("properties").at("key") ==
        Json::parse(R"({"$ref": "pulumi.json#/Any"})"));
}

TEST_CASE("P78 inputs are checked against their declarations") {
  CHECK(FailuresOf({{"name", "n"}}).empty());
  CHECK(FailuresOf({}) == std::vector<std::string>{"name: is required"});
  CHECK(FailuresOf({{"name", Null()}}) == std::vector<std::string>{"name: is required"});
  CHECK(FailuresOf({{"name", "n"}, {"nmae", 1}}) ==
        std::vector<std::string>{
            "nmae: is not an input of pkg:index:Thing, which has name, count, tags, command"});
  CHECK(FailuresOf({{"name", PropertyList{}}, {"count", 1.5}}) ==
        std::vector<std::string>{"count: must be of type integer", "name: must be of type string"});
  CHECK(FailuresOf({{"name", "n"}, {"tags", PropertyMap{{"a.b", PropertyMap{}}}}}) ==
        std::vector<std::string>{"tags[\"a.b\"]: must be of type string"});
  CHECK(FailuresOf({{"name", "n"}, {"command", PropertyMap{}}}) ==
        std::vector<std::string>{"command: must be of type string or list of string"});
  CHECK(FailuresOf({{"name", Unknown()}, {"count", Unknown()}}).empty());
}

TEST_CASE("Check fills defaults in and turns scalars into text, secrets staying secret") {
  const PropertyMap inputs{{"name", MakeSecret(PropertyValue(7))},
                           {"tags", PropertyMap{{"on", true}}},
                           {"command", PropertyList{"ls", 1}}};
  const CheckResponse checked = CheckDeclared(Declared(), "t", false, inputs);
  CHECK(checked.failures.empty());
  CHECK(checked.inputs == PropertyMap{{"name", MakeSecret(PropertyValue("7"))},
                                      {"count", 1},
                                      {"tags", PropertyMap{{"on", "true"}}},
                                      {"command", PropertyList{"ls", "1"}}});
}

TEST_CASE("P79 the default diff is detailed and replaces where declared") {
  const PropertyMap olds{{"name", "a"}, {"count", 1}, {"tags", PropertyMap{{"x", "1"}}}};
  CHECK(DiffDeclared(Declared(), olds, olds).changes == DiffChanges::kNone);
  const PropertyMap news{{"name", MakeSecret(PropertyValue("b"))},
                         {"tags", PropertyMap{{"x", "2"}, {"y", "3"}}}};
  const DiffResponse diff = DiffDeclared(Declared(), olds, news);
  CHECK(diff.changes == DiffChanges::kSome);
  CHECK(diff.replaces == std::vector<std::string>{"name"});
  CHECK(diff.diffs == std::vector<std::string>{"count", "name", "tags"});
  const PropertyDiff update{.kind = DiffKind::kUpdate, .input_diff = true};
  CHECK(*diff.detailed == std::map<std::string, PropertyDiff>{
                              {"count", {.kind = DiffKind::kDelete, .input_diff = true}},
                              {"name", {.kind = DiffKind::kUpdateReplace, .input_diff = true}},
                              {"tags.x", update},
                              {"tags.y", {.kind = DiffKind::kAdd, .input_diff = true}}});
}

TEST_CASE("P79 an unknown input differs from a known one") {
  const DiffResponse diff = DiffDeclared(Declared(), {{"name", "a"}}, {{"name", Unknown()}});
  CHECK(diff.replaces == std::vector<std::string>{"name"});
}

}  // namespace
}  // namespace davit::kit
