// The catalogue of docs/spec/yaml.md (appendix A), as far as no other file shows it: given -> must.
#include <catch2/catch.hpp>
#include <limits>

#include "engine/yaml/program.h"
#include "tests/yaml/recording_monitor.h"

namespace davit::testing {
namespace {

constexpr const char* kWorldSchema = R"({"name": "p", "version": "2.0.0", "resources": {
  "p:index:Thing": {
    "inputProperties": {"text": {}, "list": {}, "map": {}},
    "properties": {"text": {}, "list": {}, "map": {}, "free": {}}},
  "p:index:Group": {"isComponent": true, "inputProperties": {}, "properties": {}}},
  "functions": {"p:index:echo": {"inputs": {"properties": {"k": {}}}}}, "provider": {}})";

YamlWorld Fresh() {
  YamlWorld world;
  world.monitor.schemas["p"] = kWorldSchema;
  return world;
}

PropertyValue Output(const YamlWorld& world, const std::string& name) {
  const auto at = world.monitor.outputs.find(name);
  return at == world.monitor.outputs.end() ? PropertyValue("<absent>") : at->second;
}

struct Wrong {
  const char* program;
  const char* error;
};

// Each is one error, and nothing is registered.
void AllWrong(const std::vector<Wrong>& cases) {
  for (const Wrong& one : cases) {
    INFO(one.program);
    YamlWorld world = Fresh();
    CHECK_FALSE(world.Run(one.program));
    for (const std::string& error : world.monitor.errors) {
      UNSCOPED_INFO(error);
    }
    CHECK(world.monitor.HasError(one.error));
    CHECK(world.monitor.errors.size() == 1);
    CHECK(world.monitor.log.empty());
  }
}

}  // namespace

TEST_CASE("[Y2] [Y3] T1 the first program file that there is, is the whole program") {
  YamlWorld world = Fresh();
  world.files["/srv/Main.json"] = R"({"outputs": {"from": "json"}})";
  world.files["/srv/Main.yaml"] = "outputs: {from: yaml}\n";
  REQUIRE(world.Run("outputs: {from: project, other: 1}\n"));
  CHECK(world.monitor.outputs == PropertyMap{{"from", "json"}});
  world.files.erase("/srv/Main.json");
  REQUIRE(world.Run("outputs: {from: project}\n"));
  CHECK(world.monitor.outputs == PropertyMap{{"from", "yaml"}});
}

TEST_CASE("[Y1] T2 T3 T4 main is a folder, or a file whose folder counts") {
  for (const char* main : {"sub", "./sub", "sub/any.yaml"}) {
    INFO(main);
    YamlWorld world = Fresh();
    world.main = main;
    world.files["/srv/sub/Main.yaml"] =
        "outputs: {cwd: '${pulumi.cwd}', root: '${pulumi.rootDirectory}', file: {'fn::readFile': a}}\n";
    world.files["/srv/sub/a"] = "beside";
    REQUIRE(world.Run("{}\n"));
    CHECK(Output(world, "cwd") == PropertyValue("/srv/sub"));
    CHECK(Output(world, "root") == PropertyValue("/srv"));
    CHECK(Output(world, "file") == PropertyValue("beside"));
  }
  YamlWorld none = Fresh();
  none.main = "empty";
  CHECK_FALSE(none.Run("{}\n"));
  CHECK(none.monitor.HasError("there is no program in '/srv/empty'"));
}

TEST_CASE("[Y5] [Y92] [Y93] T6 T7 T94 T95 programs and resources of the wrong form") {
  AllWrong({
      {"- a\n", "the program must be a map, not a list"},
      {"resources: {badResource}\n", "the resource 'badResource' must be a map, not null"},
      {"resources: {r: {properties: {text: x}}}\n", "1:13: the resource 'r' has no type"},
      {"resources:\n  r: {type: 'p:Thing', version: '1'}\n",
       "2:24: 'version' is an option; put it under 'options'"},
      {"resources: {r: {type: 'p:Thing', proprties: {}}}\n",
       "'proprties' is not known in a resource; did you mean 'properties'?"},
      {"resources: {r: {type: 'p:Thing', get: {id: {a: b}}}}\n", "'get.id' must be string, not an object"},
      {"resources: {r: {type: 'p:Thing', get: {id: x, state: {txt: 1}}}}\n",
       "'p:index:Thing' has no property 'txt'"},
      {"resources: {r: {type: 'p:Thing', get: {id: x, stat: {}}}}\n",
       "'stat' is not known in 'get'; did you mean 'state'?"},
      {"resources: {r: {type: 'p:Thing', get: {id: x}, properties: {text: y}}}\n",
       "both 'get' and 'properties'"},  // T105
  });
}

TEST_CASE("[Y11] T13 numbers keep their value") {
  YamlWorld world = Fresh();
  REQUIRE(world.Run("outputs: {a: -2147483648, b: 1.7976931348623157e308, c: 5e-324, d: 2.718, e: 0}\n"));
  CHECK(Output(world, "a") == PropertyValue(-2147483648.0));
  CHECK(Output(world, "b") == PropertyValue(std::numeric_limits<double>::max()));
  CHECK(Output(world, "c") == PropertyValue(std::numeric_limits<double>::denorm_min()));
  CHECK(Output(world, "d") == PropertyValue(2.718));
}

TEST_CASE("[Y16] T16 one name for two kinds of thing") {
  AllWrong({
      {"resources: {a: {type: 'p:Thing'}}\nvariables: {a: 1}\n",
       "2:13: the variable 'a' has the name of a resource"},
      {"resources: {a: {type: 'p:Thing'}}\nconfig: {a: {default: 1}}\n",
       "1:13: the resource 'a' has the name of a configuration value"},
  });
}

TEST_CASE("[Y18] T17 T18 other casing and the old block work, with a warning each") {
  YamlWorld world = Fresh();
  REQUIRE(
      world.Run("Resources: {r: {Type: 'p:Thing', properties: {text: {'fn::ToJSON': 1}}}}\n"
                "variables: {v: {'fn::Invoke': {Function: 'p:echo', arguments: {k: 1}, Return: k}}}\n"
                "outputs: {o: '${v}'}\n"));
  CHECK(Output(world, "o") == PropertyValue(1));
  for (const char* canonical : {"'Resources' is spelt 'resources'", "'Type' is spelt 'type'",
                                "'fn::ToJSON' is spelt 'fn::toJSON'", "'fn::Invoke' is spelt"}) {
    CHECK(world.monitor.HasWarning(canonical));
  }
  YamlWorld old = Fresh();
  REQUIRE(
      old.Run("configuration: {a: {default: old}, b: {default: kept}}\nconfig: {a: new}\n"
              "outputs: {o: '${a} ${b}'}\n"));
  CHECK(Output(old, "o") == PropertyValue("new kept"));  // Y21
  CHECK(old.monitor.HasWarning("'configuration' is deprecated"));
}

TEST_CASE("[Y6] T20 T21 the output of a compiler is the program") {
  YamlWorld world = Fresh();
  world.compiled = R"({"outputs": {"o": "${pulumi.project}"}})";
  REQUIRE(world.Run("outputs: {other: 1}\n"));
  CHECK(world.monitor.outputs == PropertyMap{{"o", "proj"}});
  YamlWorld bad = Fresh();
  bad.compiled = "outputs: {o: '${gone}'}\n";
  CHECK_FALSE(bad.Run("{}\n"));
  CHECK(bad.monitor.HasError("output of the compiler:1:15:"));
}

TEST_CASE("[Y19] [Y20] T22 T23 T24 top-level keys") {
  YamlWorld world = Fresh();
  REQUIRE(world.Run("x-templates: {a: 1}\nsdks: {}\noutptus: {}\nvariables:\noutputs: {o: 1}\n"));
  CHECK(world.monitor.HasWarning("'outptus' is not known; did you mean 'outputs'?"));
  CHECK(world.monitor.warnings.size() == 1);
  AllWrong({{"namespace: x\n", "'namespace' belongs to plugins"}});
}

TEST_CASE("[Y26] [Y27] [Y32] [Y33] T25 T34 T39 T40 where configuration comes from") {
  YamlWorld world = Fresh();
  world.Config("given", "stack");
  world.Config("cC-x.😃", "7");
  world.Config("obj", R"({"a": {"b": 1}})");
  world.info.config["aws:region"] = ConfigValue{"eu", false, false};
  REQUIRE(
      world.Run("config:\n  foo: hello\n  given: {type: string, default: project}\n"
                "  k: {name: 'cC-x.😃', type: integer}\n  made: {default: {'fn::join': ['-', ['${foo}', x]]}}\n"
                "outputs: {a: '${foo} ${proj:foo}', b: '${given}', c: '${k}', d: '${obj.a.b}', e: "
                "'${aws:region}', f: '${made}', g: ['${obj.none}']}\n"));
  CHECK(Output(world, "a") == PropertyValue("hello hello"));
  CHECK(Output(world, "b") == PropertyValue("stack"));
  CHECK(Output(world, "c") == PropertyValue(7));
  CHECK(Output(world, "d") == PropertyValue(1));
  CHECK(Output(world, "e") == PropertyValue("eu"));
  CHECK(Output(world, "f") == PropertyValue("hello-x"));  // Y31
  CHECK(Output(world, "g") == PropertyValue(PropertyList{Null()}));  // T55
  AllWrong({{"config: {foo: hello}\noutputs: {o: '${other:foo}'}\n",
             "no resource, variable or config value is named 'other:foo'"}});
}

TEST_CASE("[Y29] [Y30] [Y36] [Y37] T37 T42 what is wrong with the configuration is told together") {
  YamlWorld world = Fresh();
  world.Config("hidden", "x", true);
  world.Config("count", "many");
  world.Config("r", "shadow");
  world.Config("v", "shadow");
  CHECK_FALSE(
      world.Run("config:\n  hidden: {secret: false}\n  count: {type: integer}\n  none: {type: string}\n"
                "resources: {r: {type: 'p:Thing'}}\nvariables: {v: 1}\n"));
  CHECK(world.monitor.HasError("2:20: the configuration value 'proj:hidden' of stack 'dev' is a secret"));
  CHECK(world.monitor.HasError("3:3: the configuration value 'proj:count' of stack 'dev' is no integer"));
  CHECK(world.monitor.HasError("4:3: the configuration value 'proj:none' is missing"));
  CHECK(world.monitor.HasError("5:13: the resource 'r' has the name of a configuration key"));
  CHECK(world.monitor.HasError("6:13: the variable 'v' has the name of a configuration key"));
  CHECK(world.monitor.errors.size() == 5);
  CHECK(world.monitor.log.empty());
}

TEST_CASE("[Y62] T46 interpolations that are none") {
  AllWrong({
      {"outputs: {o: '${}'}\n", "1:15: an interpolation is empty"},
      {"outputs: {o: '${a'}\n", "an interpolation is not closed by '}'"},
      {"outputs: {o: '${a[\"b}'}\n", "a quote is missing in an interpolation"},
      {"outputs: {o: '${a[b]}'}\n", "a subscript must be a number or a quoted key"},
      {"outputs: {o: '${a[-1]}'}\n", "a subscript must be a number or a quoted key"},
      {"outputs: {o: '${[0]}'}\n", "an interpolation cannot begin with a number"},
      {"outputs: {o: '${a[0'}\n", "']' is missing in an interpolation"},
  });
}

TEST_CASE("[Y61] [Y69] [Y70] T49 names that are quoted") {
  YamlWorld world = Fresh();
  REQUIRE(
      world.Run("variables: {'odd name': {k: v}, 'a.b': 1}\n"
                "outputs: {a: '${[\"odd name\"].k}', b: 'x ${[\"odd name\"].k}', c: '${[\"a.b\"]}'}\n"));
  CHECK(Output(world, "a") == PropertyValue("v"));
  CHECK(Output(world, "b") == PropertyValue("x v"));
  CHECK(Output(world, "c") == PropertyValue(1));
}

TEST_CASE("[Y68] [Y80] literals where literals are demanded") {
  AllWrong({
      {"resources: {a: {type: 'p:${x}'}}\n", "a type must be a literal string"},
      {"resources: {a: {type: 'p:Thing', name: '${x}'}}\n", "a name must be a literal string"},
      {"variables: {v: {'fn::invoke': {function: '${x}'}}, x: 1}\n",
       "'function' of 'fn::invoke' must be a literal string"},
      {"variables: {v: {'fn::invoke': {function: 'p:echo', return: '${x}'}}, x: 1}\n",
       "'return' of 'fn::invoke' must be a literal string"},
      {"variables: {v: {'fn::invoke': {function: 'p:echo', arguments: [1]}}}\n",
       "'arguments' of 'fn::invoke' must be a map"},
  });
  YamlWorld world = Fresh();
  REQUIRE(world.Run("resources: {a: {type: 'p:Thing', name: 'a$${b}'}}\n"));
  CHECK(world.monitor.registered.at(0).name == "a${b}");
}

TEST_CASE("[Y79] T53 what goes wrong late names its place") {
  YamlWorld world = Fresh();
  world.monitor.respond = [](const Goal&, RegisterResponse response) {
    response.outputs["free"] = PropertyMap{{"deep", PropertyList{1}}};
    return response;
  };
  CHECK_FALSE(
      world.Run("resources:\n  a: {type: 'p:Thing'}\n  b:\n    type: 'p:Thing'\n    properties:\n"
                "      text: ${a.free.deep[3]}\n"));
  CHECK(world.monitor.HasError("Pulumi.yaml:6:13: 'a' has only 1 items where [3] is asked for"));
  CHECK(world.monitor.errors.size() == 1);
}

TEST_CASE("[Y75] T62 a map that is known in part") {
  YamlWorld world = Fresh();
  world.monitor.preview = true;
  world.monitor.respond = [](const Goal&, RegisterResponse response) {
    response.outputs["map"] = PropertyMap{{"known", 1}, {"later", Unknown()}};
    return response;
  };
  REQUIRE(
      world.Run("resources: {a: {type: 'p:Thing'}}\n"
                "outputs: {a: '${a.map.known}', b: '${a.map.later}', c: '${a.map.absent}'}\n"));
  CHECK(Output(world, "a") == PropertyValue(1));
  CHECK(Output(world, "b").is_unknown());
  CHECK(Output(world, "c").is_unknown());
}

TEST_CASE("[Y72] [Y73] ids, URNs and what a provider was given can be read") {
  YamlWorld world = Fresh();
  world.monitor.respond = [](const Goal&, RegisterResponse response) {
    response.outputs["id"] = "an output";
    return response;
  };
  REQUIRE(
      world.Run("resources:\n  a: {type: 'p:Thing'}\n  q: {type: 'pulumi:providers:p', options: {version: '1'}}\n"
                "outputs: {a: '${a.id}', b: '${a[\"urn\"]}', c: '${q.id}'}\n"));
  CHECK(Output(world, "a") == PropertyValue("a-id"));
  CHECK(Output(world, "b").as_string()->ends_with("p:index:Thing::a"));
  CHECK(Output(world, "c") == PropertyValue("q-id"));
  AllWrong({{"resources: {g: {type: 'p:Group'}}\noutputs: {o: '${g.id}'}\n",
             "'p:index:Group' has no property 'id'; existing: urn"}});
}

TEST_CASE("[Y78] [Y95] B65 what a reference refers to is read through it") {
  YamlWorld world = Fresh();
  world.monitor.respond = [](const Goal& goal, RegisterResponse response) {
    if (goal.name == "g") {
      ResourceReference child;
      child.urn = "urn:pulumi:dev::proj::p:index:Thing::child";
      child.id = "child-id";
      response.outputs["child"] = child;
    }
    return response;
  };
  world.monitor.schemas["p"] = R"({"name": "p", "resources": {"p:index:Thing": {
      "inputProperties": {"text": {}}, "properties": {"text": {}}},
    "p:index:Group": {"isComponent": true, "properties": {
      "child": {"$ref": "#/resources/p:index:Thing"}}}}})";
  world.monitor.invoke = [](const InvokeGoal& goal) -> Result<InvokeOutcome> {
    InvokeOutcome outcome;
    outcome.result = {{"urn", goal.args.at("urn")},
                      {"id", "child-id"},
                      {"state", PropertyMap{{"text", "inside"}}}};
    return outcome;
  };
  REQUIRE(
      world.Run("resources:\n  g: {type: 'p:Group'}\n  a: {type: 'p:Thing', properties: {text: x}}\n"
                "variables: {alias: '${a}'}\n"
                "outputs: {a: '${g.child.text}', b: '${g.child.id}', c: '${alias.text} ${alias.id}'}\n"));
  CHECK(Output(world, "a") == PropertyValue("inside"));
  CHECK(Output(world, "b") == PropertyValue("child-id"));
  CHECK(Output(world, "c") == PropertyValue("x a-id"));
}

TEST_CASE("[Y113] T81 options of functions") {
  YamlWorld world = Fresh();
  REQUIRE(
      world.Run("resources:\n  q: {type: 'pulumi:providers:p'}\n  a: {type: 'p:Thing'}\n"
                "variables:\n  v: {'fn::invoke': {function: 'p:echo', options: {provider: '${q}', parent: '${a}', "
                "dependsOn: ['${a}'], version: '1.2'}}}\n"));
  REQUIRE(world.monitor.invokes.size() == 1);
  const InvokeGoal& goal = world.monitor.invokes[0];
  CHECK(goal.provider.find("pulumi:providers:p::q::q-id") != std::string::npos);
  CHECK(goal.parent.name() == "a");
  CHECK(goal.depends_on.size() == 1);
  CHECK(goal.version == "1.2.0");
  for (const auto& [options, error] : std::vector<std::pair<std::string, const char*>>{
           {"{provider: '${a}'}", "'provider' must be a provider resource"},
           {"{protect: true}", "there is no option 'protect' of a function"},
           {"{dependOn: []}", "did you mean 'dependsOn'?"}}) {
    INFO(options);
    YamlWorld bad = Fresh();
    CHECK_FALSE(bad.Run("resources: {a: {type: 'p:Thing'}}\nvariables: {v: {'fn::invoke': {function: "
                        "'p:echo', options: " +
                        options + "}}}\n"));
    CHECK(bad.monitor.HasError(error));
  }
}

TEST_CASE("[Y98] T112 T113 default providers") {
  YamlWorld world = Fresh();
  REQUIRE(
      world.Run("outputs: {o: {'fn::p:echo': {k: 1}}}\n"
                "resources: {q: {type: 'pulumi:providers:p', defaultProvider: true, options: {version: "
                "'2.0.0'}}, a: {type: 'p:Thing', options: {version: '2.0.0'}}}\n"));
  CHECK(world.monitor.invokes.at(0).provider.find("::q::q-id") != std::string::npos);
  AllWrong({
      {"resources: {q: {type: 'pulumi:providers:p', defaultProvider: true, options: {version: '2.0.0'}}, a: "
       "{type: 'p:Thing', options: {version: '3.0.0'}}}\n",
       "'p:Thing' asks for the version '3.0.0', but its default provider 'q' has '2.0.0'"},
      {"resources: {q: {type: 'pulumi:providers:p', defaultProvider: true}, a: {type: 'p:Thing', options: "
       "{version: '3.0.0'}}}\n",
       "but its default provider 'q' has none"},
      {"resources: {q: {type: 'pulumi:providers:p', defaultProvider: true, options: {version: '2.0.0'}}}\n"
       "variables: {v: {'fn::invoke': {function: 'p:echo', options: {version: '2.0.0'}}}}\n",
       "'p:echo' asks for the version '2.0.0'"},
      {"resources: {a: {type: 'p:Thing', defaultProvider: true}}\n",
       "'defaultProvider' belongs to provider resources only"},
  });
}

TEST_CASE("[Y85] [Y91] T114 T115 versions and URLs of a resource") {
  YamlWorld world = Fresh();
  REQUIRE(
      world.Run("resources:\n  a: {type: 'p:Thing', options: {version: '1.2'}}\n"
                "  b: {type: 'p:Thing', options: {version: 1.23.425-beta.6}}\n"
                "  c: {type: 'p:Thing', options: {pluginDownloadURL: 'https://example.com'}}\n"));
  CHECK(world.monitor.Named("a").version == "1.2.0");
  CHECK(world.monitor.Named("b").version == "1.23.425-beta.6");
  CHECK(world.monitor.Named("c").download_url == "https://example.com");
  AllWrong({
      {"resources: {a: {type: 'p:Thing', options: {version: 1.20}}}\n", "'version' must be a string"},
      {"resources: {a: {type: 'p:Thing', options: {version: new}}}\n", "'version' must be a version"},
  });
}

TEST_CASE("[Y131] T117 cycles of any kind") {
  AllWrong({
      {"resources: {a: {type: 'p:Thing', properties: {text: '${b}'}}, b: {type: 'p:Thing', properties: "
       "{text: '${a}'}}}\n",
       "these depend on each other: 'a' -> 'b' -> 'a'"},
      {"resources: {a: {type: 'p:Thing', properties: {text: '${v}'}}}\nvariables: {v: '${a}'}\n",
       "these depend on each other: 'a' -> 'v' -> 'a'"},
      {"variables: {v: '${v}'}\n", "these depend on each other: 'v' -> 'v'"},
  });
}

TEST_CASE("[Y86] T123 what only other languages can make") {
  const auto run = [](const char* version, const char* type) {
    YamlWorld world;
    world.monitor.schemas["docker"] =
        std::string(R"({"name": "docker", "version": ")") + version +
        R"(", "resources": {"docker:index/image:Image": {}, "docker:image:Image": {}}})";
    world.monitor.schemas["kubernetes"] = R"({"name": "kubernetes", "resources": {}})";
    world.Run(std::string("resources: {a: {type: '") + type + "'}}\n");
    return world.monitor.errors;
  };
  CHECK(run("3.9.0", "docker:Image").size() == 1);
  CHECK(run("3.9.0", "docker:Image")[0].find("use version 4 of docker or later") != std::string::npos);
  CHECK(run("4.1.0", "docker:Image").empty());
  CHECK(run("1.0.0", "kubernetes:helm.sh/v3:Chart")[0].find("use kubernetes:helm.sh/v4:Chart") !=
        std::string::npos);
}

TEST_CASE("[Y87] a plugin without schema serves types that are written in full") {
  YamlWorld world = Fresh();
  REQUIRE(world.Run("resources: {a: {type: 'bare:index:Thing', properties: {any: 1}}}\n"));
  AllWrong({{"resources: {a: {type: 'bare:Thing'}}\n",
             "1:23: the plugin 'bare' has no schema, so 'bare:Thing' cannot be looked up"}});
}

TEST_CASE("[Y89] the packages that a program needs are known once it is loaded") {
  ProjectFile project;
  project.path = "/srv/Pulumi.yaml";
  project.directory = "/srv";
  project.name = "proj";
  const ProgramLoad load = LoadYamlProgram(project, [](const std::string& path) {
    const Result<std::string> missing = Fail(ErrorKind::kInvalid, "no such file");
    return path == "/srv/Pulumi.yaml"
               ? Result<std::string>(
                     "resources: {a: {type: 'q:T', options: {version: '2'}}, b: {type: 'pulumi:providers:r'}}\n"
                     "variables: {v: [{'fn::p:f': {}}]}\n")
               : missing;
  });
  REQUIRE(load.packages.size() == 3);
  CHECK(load.packages[0].name == "p");
  CHECK(load.packages[1].name == "q");
  CHECK(load.packages[1].version == "2");
  CHECK(load.packages[2].name == "r");
}

TEST_CASE("[Y104] [Y158] what is not offered is an error with a hint") {
  for (const char* option : {"hooks", "transforms", "urn", "continueOnError"}) {
    const std::string program =
        std::string("resources: {a: {type: 'p:Thing', options: {") + option + ": []}}}\n";
    const std::string error = std::string("there is no option '") + option + "'";
    AllWrong({{program.c_str(), error.c_str()}});
  }
  AllWrong({{"config: {a: {typ: string, default: x}}\n",
             "'typ' is not known in a configuration entry; did you mean 'type'?"},
            {"resources: {a: {type: 'p:Thing', options: {customTimeouts: {crate: 5m}}}}\n",
             "there is no timeout 'crate'"}});
}

TEST_CASE("[Y135] resources that do not wait for each other are registered at once") {
  YamlWorld world = Fresh();
  REQUIRE(world.Run("resources: {a: {type: 'p:Thing'}, b: {type: 'p:Thing'}, c: {type: 'p:Thing'}}\n"));
  CHECK(world.monitor.registered.size() == 3);
}

TEST_CASE("[Y170] [Y171] the stack comes first, its outputs last and once") {
  YamlWorld world = Fresh();
  world.monitor.failing = {"a"};
  CHECK_FALSE(world.Run("resources: {a: {type: 'p:Thing'}}\noutputs: {bad: '${a.id}', good: 1}\n"));
  CHECK(world.monitor.log ==
        std::vector<std::string>{"register stack", "register a", "outputs"});
  CHECK(world.monitor.outputs == PropertyMap{{"good", 1}});
}

TEST_CASE("[Y174] text that is no UTF-8 passes through") {
  YamlWorld world = Fresh();
  world.monitor.respond = [](const Goal& goal, RegisterResponse response) {
    if (goal.name == "a") {
      response.outputs["free"] = std::string("\xff\xfe");
    }
    return response;
  };
  REQUIRE(
      world.Run("resources: {a: {type: 'p:Thing'}, b: {type: 'p:Thing', properties: {text: '${a.free}'}}}\n"));
  CHECK(world.monitor.Named("b").properties.at("text") == PropertyValue(std::string("\xff\xfe")));
}

TEST_CASE("[Y191] T128 T130 the schema of components, and providers for one") {
  YamlProgram program;
  std::vector<Error> errors;
  std::vector<Error> warnings;
  program = LoadProgram({std::make_shared<const YamlDocument>(
                            ParseYaml("Pulumi.yaml",
                                      "components:\n  Pair:\n    inputs:\n      size: {type: integer, default: "
                                      "2}\n      label: {type: string, secret: true}\n    outputs: {o: 1}\n"))},
                        "parts",
                        &errors,
                        &warnings);
  REQUIRE(errors.empty());
  CHECK(ComponentSchema("parts", "", program.components) ==
        R"({"name":"parts","resources":{"parts:index:Pair":{"inputProperties":{"label":{"defaultInfo":{"environment":["label"]},"secret":true,"type":"string"},"size":{"default":2,"defaultInfo":{"environment":["size"]},"type":"integer"}},"isComponent":true,"properties":{"o":{"$ref":"pulumi.json#/Any"}},"required":["o"],"requiredInputs":["label"]}},"version":"0.0.0"})");
  YamlWorld world = Fresh();
  REQUIRE(
      world.Run("resources: {q: {type: 'pulumi:providers:p'}, g: {type: 'p:Group', options: {providers: "
                "['${q}']}}}\n"));
  CHECK(world.monitor.Named("g").providers.contains("p"));
}

}  // namespace davit::testing
