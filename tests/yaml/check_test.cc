// Programs against the schemas of their packages: types, required and constant properties, enums,
// unions, accesses and arguments.
#include <catch2/catch.hpp>

#include "tests/yaml/recording_monitor.h"

namespace davit::testing {
namespace {

constexpr const char* kTypedSchema = R"json({"name": "p", "meta": {"moduleFormat": "(.*)(?:/[^/]*)"},
"types": {
  "p:index:Color": {"type": "string", "enum": [{"value": "red"}, {"value": "blue"}]},
  "p:index:Rule": {"type": "object", "required": ["port"], "properties": {
    "port": {"type": "integer"}, "note": {"type": "string"},
    "level": {"type": "integer", "default": 3},
    "next": {"$ref": "#/types/p:index:Rule"}}},
  "p:index:Replacing": {"type": "object", "properties": {
    "key": {"type": "string", "replaceOnChanges": true}}}},
"resources": {
  "p:index:Shape": {
    "inputProperties": {
      "text": {"type": "string"}, "flag": {"type": "boolean"}, "count": {"type": "integer"},
      "ratio": {"type": "number"}, "texts": {"type": "array", "items": {"type": "string"}},
      "labels": {"type": "object", "additionalProperties": {"type": "string"}},
      "free": {"$ref": "pulumi.json#/Any"}, "file": {"$ref": "pulumi.json#/Asset"},
      "zip": {"$ref": "pulumi.json#/Archive"},
      "color": {"$ref": "#/types/p:index:Color"}, "rule": {"$ref": "#/types/p:index:Rule"},
      "rules": {"type": "array", "items": {"$ref": "#/types/p:index:Rule"}},
      "loose": {"oneOf": [{"type": "string"}, {"$ref": "#/types/p:index:Color"}]},
      "either": {"oneOf": [{"type": "integer"}, {"$ref": "#/types/p:index:Rule"}]},
      "peer": {"$ref": "#/resources/p:index:Shape"}, "old": {"type": "string",
        "deprecationMessage": "use text"},
      "hidden": {"type": "string", "secret": true},
      "parts": {"type": "array", "items": {"$ref": "#/types/p:index:Replacing"}}},
    "properties": {
      "text": {"type": "string"}, "flag": {"type": "boolean"}, "count": {"type": "integer"},
      "texts": {"type": "array", "items": {"type": "string"}}, "free": {"$ref": "pulumi.json#/Any"},
      "rule": {"$ref": "#/types/p:index:Rule"}, "peer": {"$ref": "#/resources/p:index:Shape"},
      "key": {"type": "string", "secret": true}, "labels": {"type": "object"},
      "parts": {"type": "array", "items": {"$ref": "#/types/p:index:Replacing"}}},
    "aliases": [{"type": "p:index:Form"}]},
  "p:index:Fixed": {
    "inputProperties": {"kind": {"type": "string", "const": "Fixed"},
                        "size": {"type": "integer", "default": 1}, "need": {"type": "string"}},
    "requiredInputs": ["kind", "size", "need"], "properties": {"kind": {"type": "string"}}},
  "p:index:Group": {"isComponent": true, "inputProperties": {"count": {"type": "integer"}},
                    "properties": {"all": {"type": "array", "items": {"type": "string"}}}},
  "p:index:Old": {"deprecationMessage": "use Shape"},
  "p:s3/bucket:Bucket": {}, "p:iam/iAMMember:IAMMember": {}, "p:index:IAMMember": {}},
"functions": {
  "p:index:find": {"inputs": {"required": ["name"], "properties": {
      "name": {"type": "string"}, "limit": {"type": "integer"}}},
    "outputs": {"properties": {"id": {"type": "string"}, "count": {"type": "integer"}}}},
  "p:index:isThere": {"inputs": {"properties": {"name": {"type": "string"}}},
                      "returnType": {"type": "boolean"}}},
"provider": {"inputProperties": {"region": {"type": "string"}}}})json";

YamlWorld TypedWorld() {
  YamlWorld world;
  world.monitor.schemas["p"] = kTypedSchema;
  return world;
}

struct Case {
  const char* program;
  const char* error;  ///< empty: the program runs
};

void Examine(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    INFO(one.program);
    YamlWorld world = TypedWorld();
    const bool is_good = world.Run(one.program);
    for (const std::string& error : world.monitor.errors) {
      UNSCOPED_INFO(error);
    }
    if (*one.error == '\0') {
      CHECK(is_good);
    } else {
      CHECK(world.monitor.HasError(one.error));
      CHECK(world.monitor.errors.size() == 1);
      CHECK(world.monitor.log.empty());
    }
  }
}

std::string With(const std::string& property, const std::string& value) {
  return "resources: {a: {type: 'p:Shape', properties: {" + property + ": " + value + "}}}\n";
}

struct ValueCase {
  const char* property;
  const char* value;
  const char* error;
};

}  // namespace

TEST_CASE("[Y150] [Y151] [Y152] [Y160] T96 T98 what fits a property, and what does not") {
  const std::vector<ValueCase> cases = {
      {"text", "plain", ""},
      {"text", "7", ""},
      {"text", "true", ""},
      {"text", "[a]", "1:53: 'text' must be string, not a list"},
      {"text", "{a: b}", "'text' must be string, not an object"},
      {"flag", "true", ""},
      {"flag", "yes", "'flag' must be boolean, not the string 'yes'"},
      {"flag", "1", "'flag' must be boolean, not 1"},
      {"count", "7", ""},
      {"count", "1.5", ""},
      {"count", "'7'", "'count' must be integer, not the string '7'; write it without quotes"},
      {"ratio", "7", ""},
      {"ratio", "true", "'ratio' must be number, not true"},
      {"texts", "[a, 1, true]", ""},
      {"texts", "a", "'texts' must be List<string>, not the string 'a'"},
      {"texts", "[a, [b]]", "item 1 of 'texts' must be string, not a list"},
      {"labels", "{a: b, c: 1}", ""},
      {"labels", "{a: [b]}", "'a' of 'labels' must be string, not a list"},
      {"labels", "[a]", "'labels' must be Map<string>, not a list"},
      {"free", "{a: [1, {b: null}]}", ""},
      {"file", "{'fn::stringAsset': x}", ""},
      {"file", "{'fn::fileArchive': ./x}", ""},
      {"file", "x", "'file' must be asset, not the string 'x'"},
      {"zip", "{'fn::stringAsset': x}", "'zip' must be archive, not asset"},
      {"color", "red", ""},
      {"color", "green", "'color' cannot be 'green'; allowed are 'red', 'blue'"},
      {"loose", "green", ""},
      {"either", "3", ""},
      {"either", "{port: 1}", ""},
      {"either", "{port: x}", "'port' must be integer, not the string 'x'"},
      {"either", "[1]", "'either' must be Union<integer, p:index:Rule>, not a list"},
      {"rule", "{port: 1, note: x, next: {port: 2}}", ""},
      {"rule", "{}", "the property 'port' is missing; 'p:index:Rule' requires it"},
      {"rule", "{port: 1, nots: x}", "'p:index:Rule' has no property 'nots'; existing: note"},
      {"rule", "{port: 1, next: {port: x}}", "'port' must be integer"},
      {"rules", "[{port: 1}, {prt: 1, port: 2}]", "'p:index:Rule' has no property 'prt'"},
      {"peer", "some-urn", "'peer' must be p:index:Shape, not the string 'some-urn'"},
      {"text", "null", ""},
      {"text", "{'fn::secret': [a]}", "'text' must be string, not a list"},
      {"count", "{'fn::length': [a]}", ""},
      {"texts", "{'fn::split': [',', 'a,b']}", ""},
      {"texts", "{'fn::join': [',', [a]]}", "'texts' must be List<string>, not string"},
  };
  for (const ValueCase& one : cases) {
    const std::string program = With(one.property, one.value);
    Examine({{program.c_str(), one.error}});
  }
  YamlWorld both = TypedWorld();
  CHECK_FALSE(both.Run("resources: {a: {type: 'p:Shape', properties: {count: three, flag: 7}}}\n"));
  CHECK(both.monitor.errors.size() == 2);
}

TEST_CASE("[Y153] [Y156] T51 T97 unknown and missing properties") {
  Examine({
      {"resources: {a: {type: 'p:Shape', properties: {txet: x}}}\n",
       "1:47: 'p:index:Shape' has no property 'txet'; existing: text, free, peer, texts, count and 13 more"},
      {"resources: {a: {type: 'p:Shape', properties: {'${k}': x}}}\n",
       "'p:index:Shape' has no property '${k}'"},
      {"resources: {a: {type: 'p:Fixed'}}\n",
       "1:13: the property 'need' is missing; 'p:index:Fixed' requires it"},
      {"resources: {a: {type: 'p:Fixed', properties: {need: null}}}\n", "'need' is missing"},
      {"resources: {a: {type: 'p:Fixed', properties: {need: x}}}\n", ""},
      {"resources: {a: {type: 'pulumi:providers:p', properties: {regoin: x}}}\n",
       "'pulumi:providers:p' has no property 'regoin'; existing: region"},
      {"resources: {a: {type: 'pulumi:providers:p', properties: {region: x}, options: {version: '1.0.0'}}}\n", ""},
  });
}

TEST_CASE("[Y151] [Y154] what flows through accesses") {
  const std::string shape =
      "resources:\n  a: {type: 'p:Shape'}\n  g: {type: 'p:Group'}\n  q: {type: 'pulumi:providers:p', "
      "properties: {region: eu}}\nvariables: {o: {k: 1, n: {m: [x]}}, s: some}\n";
  const std::vector<Case> cases = {
      {"outputs: {o: '${a.nosuch}'}\n", "Pulumi.yaml:6:15: 'p:index:Shape' has no property 'nosuch'; existing: "},
      {"outputs: {o: '${a.text.more}'}\n", "'a.text.more' asks for a part of a value of type string"},
      {"outputs: {o: '${a.rule.prt}'}\n", "'p:index:Rule' has no property 'prt'; existing: port"},
      {"outputs: {o: '${a.texts.first}'}\n", "asks a List<string> for the member 'first'"},
      {"outputs: {o: '${a.labels[0]}'}\n", "asks Map<string> for the item [0]"},
      {"outputs: {o: '${a.peer.peer.nosuch}'}\n", "'p:index:Shape' has no property 'nosuch'"},
      {"outputs: {o: '${g.id}'}\n", "'p:index:Group' has no property 'id'"},
      {"outputs: {o: '${o.none}'}\n", "'o' has no member 'none'; existing: n, k"},
      {"outputs: {o: '${o.n.m[1]}'}\n", "'o' has only 1 items where [1] is asked for"},
      {"outputs: {o: '${o.n.m.x}'}\n", "asks a list for the member 'x'"},
      {"outputs: {o: '${o[0]}'}\n", "asks an object for the item [0]"},
      {"outputs: {o: '${o.k.x}'}\n", "asks for a part of a plain value"},
      {"outputs: {o: '${a.free.any[\"thing\"]}', p: '${a.urn} ${a.id}', q: '${o[\"n\"].m[0]}', r: "
       "'${q.region}', t: '${s}'}\n",
       ""},
  };
  for (const Case& one : cases) {
    INFO(one.program);
    YamlWorld world = TypedWorld();
    world.monitor.respond = [](const Goal&, RegisterResponse response) {
      response.outputs["free"] = PropertyMap{{"any", PropertyMap{{"thing", 1}}}};
      return response;
    };
    const bool is_good = world.Run(shape + one.program);
    for (const std::string& error : world.monitor.errors) {
      UNSCOPED_INFO(error);
    }
    CHECK(is_good == (*one.error == '\0'));
    CHECK((*one.error == '\0' || world.monitor.HasError(one.error)));
    CHECK((*one.error == '\0' || world.monitor.log.empty()));
  }
  const std::vector<ValueCase> values = {
      {"flag", "${a.flag}", ""},
      {"flag", "${a.count}", "'flag' must be boolean, not integer"},
      {"flag", "${o.k}", "'flag' must be boolean, not 1"},
      {"texts", "${o.n.m}", ""},
      {"texts", "${a.rule}", "'texts' must be List<string>, not p:index:Rule"},
      {"text", "${a}", ""},
      {"peer", "${a}", ""},
      {"peer", "${a.peer}", ""},
      {"peer", "${g}", "'peer' must be p:index:Shape, not the resource p:index:Group"},
      {"rule", "${a.rule}", ""},
      {"text", "x ${a.count}", ""},
      {"color", "${a.text}", ""},
  };
  for (const ValueCase& one : values) {
    INFO(one.value);
    YamlWorld world = TypedWorld();
    world.monitor.respond = [](const Goal&, RegisterResponse response) {
      response.outputs["flag"] = true;
      return response;
    };
    const bool is_good = world.Run("variables: {o: {k: 1, n: {m: [x]}}}\n"
                                   "resources:\n  a: {type: 'p:Shape'}\n  g: {type: 'p:Group'}\n"
                                   "  b: {type: 'p:Shape', properties: {" +
                                   std::string(one.property) + ": '" + one.value + "'}}\n");
    for (const std::string& error : world.monitor.errors) {
      UNSCOPED_INFO(error);
    }
    CHECK(is_good == (*one.error == '\0'));
    CHECK((*one.error == '\0' || world.monitor.HasError(one.error)));
  }
}

TEST_CASE("[Y117] [Y114] T84 T86 arguments and results of functions") {
  Examine({
      {"variables: {v: {'fn::p:find': {name: x, limit: 3}}}\n", ""},
      {"variables: {v: {'fn::p:find': {nmae: x, name: y}}}\n",
       "1:32: 'p:index:find' has no property 'nmae'; existing: name, limit"},
      {"variables: {v: {'fn::p:find': {}}}\n",
       "the property 'name' is missing; 'p:index:find' requires it"},
      {"variables: {v: {'fn::invoke': {function: 'p:find', arguments: {name: x, limit: many}}}}\n",
       "'limit' must be integer, not the string 'many'"},
      {"variables: {v: {'fn::invoke': {function: 'p:find', arguments: {name: x}, return: cuont}}}\n",
       "the result of 'p:index:find' has no member 'cuont'; existing: count, id"},
      {"variables: {v: {'fn::invoke': {function: 'p:isThere', return: x}}}\n",
       "'p:index:isThere' returns a boolean and no object; remove 'return'"},
      {"variables: {v: {'fn::p:fnid': {name: x}}}\n",
       "the package 'p' has no function 'p:fnid'; did you mean 'p:index:find'?"},
      {"variables: {v: {'fn::p:find': {name: x}}}\noutputs: {o: '${v.nosuch}'}\n",
       "'p:index:find' has no property 'nosuch'"},
      {"variables: {v: {'fn::p:isThere': {name: x}}}\noutputs: {o: '${v.a}'}\n",
       "asks for a part of a value of type boolean"},
  });
  YamlWorld world = TypedWorld();
  world.monitor.invoke = [](const InvokeGoal&) -> Result<InvokeOutcome> {
    InvokeOutcome outcome;
    outcome.result["result"] = true;
    return outcome;
  };
  REQUIRE(world.Run("variables: {v: {'fn::p:isThere': {name: x}}}\noutputs: {o: '${v}'}\n"));
  CHECK(world.monitor.outputs.at("o") == PropertyValue(true));
}

TEST_CASE("[Y81] [Y83] T91 T92 T93 type tokens") {
  const std::vector<std::pair<const char*, const char*>> tokens = {
      {"p:s3:Bucket", "p:s3/bucket:Bucket"},
      {"p:s3/bucket:Bucket", "p:s3/bucket:Bucket"},
      {"p:S3:bucket", "p:s3/bucket:Bucket"},
      {"p:IAMMember", "p:index:IAMMember"},
      {"p::IAMMember", "p:index:IAMMember"},
      {"p:iam:IAMMember", "p:iam/iAMMember:IAMMember"}};
  for (const auto& [written, canonical] : tokens) {
    INFO(written);
    YamlWorld world = TypedWorld();
    REQUIRE(world.Run(std::string("resources: {a: {type: '") + written + "'}}\n"));
    CHECK(world.monitor.Named("a").type == canonical);
  }
  Examine({
      {"resources: {a: {type: nogood}}\n", "1:23: 'nogood' is not a resource type"},
      {"resources: {a: {type: 'p:a:b:c'}}\n", "'p:a:b:c' is not a resource type"},
      {"resources: {a: {type: 'p:Shap'}}\n",
       "1:23: the package 'p' has no resource type 'p:Shap'; did you mean 'p:index:Shape'?"},
  });
}

TEST_CASE("[Y88] [Y82] T99 T100 T101 T102 what a schema adds to a registration") {
  YamlWorld world = TypedWorld();
  REQUIRE(
      world.Run("resources:\n"
                "  a: {type: 'p:Shape', properties: {hidden: x, rule: {port: 1}}, options: "
                "{replaceOnChanges: [text], aliases: [{name: b}]}}\n"
                "  f: {type: 'p:Fixed', properties: {need: x}}\n"
                "  g: {type: 'p:Group'}\n"));
  const Goal& shape = world.monitor.Named("a");
  CHECK(shape.properties.at("hidden") == MakeSecret(PropertyValue("x")));
  CHECK(shape.properties.at("rule") == PropertyValue(PropertyMap{{"port", 1}, {"level", 3}}));
  CHECK(shape.additional_secret_outputs == std::vector<std::string>{"key"});
  CHECK(shape.replace_on_changes == std::vector<std::string>{"parts[*].key", "text"});
  REQUIRE(shape.aliases.size() == 2);
  CHECK(shape.aliases[0].type == "p:index:Form");
  const Goal& fixed = world.monitor.Named("f");
  CHECK(fixed.properties ==
        PropertyMap{{"kind", PropertyValue("Fixed")}, {"need", PropertyValue("x")}, {"size", 1}});
  const Goal& group = world.monitor.Named("g");
  CHECK_FALSE(group.custom);
  CHECK(group.remote);
}

TEST_CASE("[Y152] values are sent as the schema wants them") {
  YamlWorld world = TypedWorld();
  world.Config("number", "7");
  world.Config("text", "12");
  world.Config("word", "many");
  REQUIRE(
      world.Run("config: {number: {type: integer}, text: {type: string}}\n"
                "resources: {a: {type: 'p:Shape', properties: {text: '${number}', count: '${text}', "
                "labels: {a: 1, b: true}, texts: [1.5], loose: 2, rule: {port: '${text}'}, "
                "old: 123456789012345678901, free: 5}}}\n"));
  const PropertyMap& properties = world.monitor.Named("a").properties;
  CHECK(properties.at("text") == PropertyValue("7"));
  CHECK(properties.at("count") == PropertyValue(12));
  CHECK(properties.at("labels") == PropertyValue(PropertyMap{{"a", "1"}, {"b", "true"}}));
  CHECK(properties.at("texts") == PropertyValue(PropertyList{"1.5"}));
  CHECK(properties.at("loose") == PropertyValue("2"));
  CHECK(*properties.at("rule").as_map()->at("port").as_number() == 12);
  CHECK(properties.at("free") == PropertyValue(5));
  YamlWorld bad = TypedWorld();
  bad.Config("word", "many");
  CHECK_FALSE(bad.Run("resources: {a: {type: 'p:Shape', properties: {count: '${word}'}}}\n"));
  CHECK(bad.monitor.HasError("1:54: 'count' of 'a': 'many' is no number"));
}

TEST_CASE("[Y150] the switch that turns the checks off leaves meaning alone") {
  YamlWorld world = TypedWorld();
  world.checks_types = false;
  CHECK(world.Run("resources: {a: {type: 'p:Shape', properties: {odd: 1, flag: 7}}}\n"));
  YamlWorld bad = TypedWorld();
  bad.checks_types = false;
  CHECK_FALSE(bad.Run("resources: {a: {type: 'p:Shap'}}\nvariables: {v: {'fn::invoke': {}}}\n"));
  CHECK(bad.monitor.errors.size() == 2);
}

TEST_CASE("[Y157] T60 what is not known raises nothing") {
  Examine({
      {"variables: {d: {'fn::p:find': {name: x}}, v: '${d.id}'}\noutputs: {o: '${v}'}\n", ""},
      {"resources:\n  a: {type: 'p:Shape', properties: {free: {x: {y: 1}}}}\n  b: {type: 'p:Shape', "
       "properties: {flag: '${a.free.x.z}'}}\n",
       ""},
  });
}

TEST_CASE("[Y88] deprecated types and properties are warned of") {
  YamlWorld world = TypedWorld();
  REQUIRE(world.Run("resources: {a: {type: 'p:Old'}, b: {type: 'p:Shape', properties: {old: x}}}\n"));
  CHECK(world.monitor.HasWarning("1:23: 'p:index:Old' is deprecated: use Shape"));
  CHECK(world.monitor.HasWarning("'old' of 'p:index:Shape' is deprecated: use text"));
}

TEST_CASE("[Y155] options that are literals are checked before anything is registered") {
  const std::vector<Case> cases = {
      {"options: {protect: 1}", "'protect' must be true or false"},
      {"options: {dependsOn: [x]}", "'dependsOn' must be a list of resources"},
      {"options: {customTimeouts: {create: abc}}", "the timeout 'create' must be a duration"},
      {"options: {envVarMappings: {a: 1}}", "'envVarMappings' must be a map of strings"},
      {"options: {aliases: [{nmae: x}]}", "there is no 'nmae' in an alias; did you mean 'name'?"},
      {"options: {version: 1.20}", "'version' must be a string; write it in quotes"},
  };
  for (const Case& one : cases) {
    INFO(one.program);
    YamlWorld world = TypedWorld();
    CHECK_FALSE(world.Run("resources:\n  first: {type: 'p:Shape'}\n  a: {type: 'p:Shape', " +
                          std::string(one.program) + "}\n"));
    CHECK(world.monitor.HasError(one.error));
    CHECK(world.monitor.log.empty());
  }
}

TEST_CASE("[Y8] [Y84] [Y90] T120 T122 package declaration files") {
  YamlWorld world = TypedWorld();
  world.monitor.schemas["bridge"] = R"({"name": "q", "resources": {"q:index:Pet": {}},
                                        "functions": {"q:index:get": {}}})";
  world.files["/srv/sdks/q/q.yaml"] =
      "packageDeclarationVersion: 1\nname: bridge\nversion: 1.2.0\nparameterization:\n  name: q\n  "
      "version: 0.1.0\n  value: eyJhIjoxfQ==\n";
  world.files["/srv/sdks/other.yaml"] = "name: [unclosed packageDeclarationVersion\n";
  world.files["/srv/data/some.yaml"] = "packageDeclarationVersion: 2\nname: p\n";
  REQUIRE(world.Run("resources: {a: {type: 'q:Pet'}, b: {type: 'p:Shape'}, c: {type: 'q:Pet', "
                    "options: {version: 9.0.0}}}\nvariables: {v: {'fn::q:get': {}}}\n"));
  REQUIRE(world.monitor.packages.size() == 1);
  const PackageDescriptor& package = world.monitor.packages[0];
  CHECK(package.name == "bridge");
  CHECK(package.version == "1.2.0");
  REQUIRE(package.parameterization);
  CHECK(package.parameterization->name == "q");
  CHECK(package.parameterization->value == "{\"a\":1}");
  CHECK(world.monitor.Named("a").package_ref == "bridge-ref");
  CHECK(world.monitor.Named("b").package_ref.empty());
  CHECK(world.monitor.Named("c").package_ref.empty());
  CHECK(world.monitor.Named("c").version == "9.0.0");
  CHECK(world.monitor.invokes.at(0).package_ref == "bridge-ref");

  const std::vector<std::pair<const char*, const char*>> wrong = {
      {"version: 1.0.0\n", "sdks/x.yaml:1:1: the package declaration has no 'name'"},
      {"name: p\nparameterization: {name: q}\n", "the package declaration has no 'version'"},
      {"name: p\nparameterization: {name: q, version: '1'}\nextension: {name: q, version: '1'}\n",
       "sdks/x.yaml:4:1: a package has both 'parameterization' and 'extension'"},
      {"name: p\nparameterization: {name: q, version: '1', value: '!'}\n", "must be base64"},
      {"name: 7\n", "'name' must be a string, not a number"}};
  for (const auto& [text, error] : wrong) {
    INFO(text);
    YamlWorld bad = TypedWorld();
    bad.files["/srv/sdks/x.yaml"] = std::string("packageDeclarationVersion: 1\n") + text;
    CHECK_FALSE(bad.Run("{}\n"));
    CHECK(bad.monitor.HasError(error));
  }
}

TEST_CASE("[Y84] T121 an extension adds types to the namespace of its base") {
  YamlWorld world = TypedWorld();
  world.monitor.schema_of = [](const PackageDescriptor& package) {
    return package.parameterization
               ? R"({"name": "ext", "resources": {"p:index:Greeting": {}}})"
               : R"({"name": "p", "resources": {"p:index:Plain": {}}})";
  };
  world.files["/srv/sdks/ext.yaml"] =
      "packageDeclarationVersion: 1\nname: p\nversion: 1.0.0\nextension: {name: ext, version: 2.0.0, "
      "value: eA==}\n";
  REQUIRE(world.Run("resources: {a: {type: 'p:Greeting'}, b: {type: 'p:Plain'}}\n"));
  CHECK(world.monitor.Named("a").package_ref == "p-ref");
  REQUIRE(world.monitor.packages.size() == 2);
  REQUIRE(world.monitor.packages[0].extension);
  CHECK(world.monitor.packages[0].extension->name == "ext");
  CHECK(world.monitor.packages[0].extension->value == "x");
  CHECK_FALSE(world.monitor.packages[1].extension);
}

}  // namespace davit::testing
