// Components of a program, and programs of several files.
#include <catch2/catch.hpp>

#include "engine/yaml/component_provider.h"
#include "tests/yaml/recording_monitor.h"

namespace davit::testing {
namespace {

YamlWorld PartsWorld() {
  YamlWorld world;
  world.monitor.schemas["p"] = R"({"name": "p", "resources": {"p:index:Thing": {
    "inputProperties": {"value": {"type": "integer"}, "text": {"type": "string"}},
    "properties": {"value": {"type": "integer"}, "text": {"type": "string"}}}},
    "functions": {"p:index:find": {}}})";
  return world;
}

constexpr const char* kPair =
    "components:\n"
    "  Pair:\n"
    "    inputs:\n"
    "      size: {type: integer, default: 2}\n"
    "      label: {type: string}\n"
    "      hidden: {type: string, secret: true, default: hush}\n"
    "    variables: {both: '${label}+${pulumi.stack}', found: {'fn::p:find': {}}}\n"
    "    resources:\n"
    "      first: {type: 'p:Thing', properties: {value: '${size}', text: '${both}'}}\n"
    "      second: {type: 'p:Thing', name: other, properties: {value: '${first.value}', text: '${hidden}'}}\n"
    "    outputs: {label: '${both}', first: '${first.value}', note: '${second.text}'}\n";

std::vector<std::string> FormerNames(const Goal& goal) {
  std::vector<std::string> names;
  for (const AliasSpec& alias : goal.aliases) {
    names.push_back(alias.name.value_or("?"));
  }
  return names;
}

}  // namespace

TEST_CASE("[Y191] [Y192] [Y193] [Y196] T125 B72 instances of a component of the program") {
  YamlWorld world = PartsWorld();
  REQUIRE(world.Run(std::string(kPair) +
                    "resources:\n"
                    "  one: {type: 'proj:index:Pair', properties: {label: l}}\n"
                    "  two: {type: 'proj:Pair', properties: {label: m, size: '${one.first}'}}\n"
                    "outputs: {one: '${one.label}', note: '${one.note}', two: '${two.first}'}\n"));
  const Goal& one = world.monitor.Named("one");
  CHECK(one.type == "proj:index:Pair");
  CHECK_FALSE(one.custom);
  CHECK_FALSE(one.remote);
  CHECK(one.properties == PropertyMap{{"label", "l"}});
  const Goal& first = world.monitor.Named("one-first");
  const Urn component = Urn::Make("dev", "proj", Urn(), "proj:index:Pair", "one");
  CHECK(first.parent == component);
  CHECK(first.properties == PropertyMap{{"value", PropertyValue(2)}, {"text", "l+dev"}});
  CHECK(FormerNames(first) == std::vector<std::string>{"first"});
  CHECK(world.monitor.Named("one-other").properties.at("text") == MakeSecret("hush"));
  const Goal& second = world.monitor.Named("two-first");
  CHECK(second.properties.at("value") == PropertyValue(2));
  CHECK(second.dependencies == std::vector<Urn>{component});
  CHECK(world.monitor.Named("two").property_dependencies.at("size") == std::vector<Urn>{component});
  CHECK(world.monitor.outputs.at("one") == PropertyValue("l+dev"));
  CHECK(world.monitor.outputs.at("note") == MakeSecret("hush"));
  CHECK(world.monitor.outputs.at("two") == PropertyValue(2));
  REQUIRE(world.monitor.invokes.size() == 2);
  CHECK(world.monitor.invokes[0].parent.name() == "one");  // Y113
}

TEST_CASE("[Y192] T127 a former name that a sibling has now is no alias") {
  YamlWorld world = PartsWorld();
  REQUIRE(
      world.Run("components: {C: {resources: {child: {type: 'p:Thing'}, res-child: {type: 'p:Thing'}}}}\n"
                "resources: {res: {type: 'proj:C'}}\n"));
  CHECK(FormerNames(world.monitor.Named("res-child")) == std::vector<std::string>{"child"});
  CHECK(FormerNames(world.monitor.Named("res-res-child")).empty());
}

TEST_CASE("[Y192] components in components add up their names") {
  YamlWorld world = PartsWorld();
  REQUIRE(
      world.Run("components:\n"
                "  Outer: {resources: {inner: {type: 'proj:Inner'}}, outputs: {v: '${inner.v}'}}\n"
                "  Inner: {resources: {res: {type: 'p:Thing', properties: {value: 1}}}, outputs: {v: "
                "'${res.value}'}}\n"
                "resources: {outer: {type: 'proj:Outer'}}\noutputs: {v: '${outer.v}'}\n"));
  CHECK(world.monitor.Named("outer-inner-res").parent.name() == "outer-inner");
  CHECK(world.monitor.outputs.at("v") == PropertyValue(1));
}

TEST_CASE("[Y196] [Y197] mistakes around components are told before anything is registered") {
  const std::vector<std::pair<std::string, const char*>> cases = {
      {"components: {C: {resources: {c: {type: 'proj:C'}}}}\nresources: {c: {type: 'proj:C'}}\n",
       "1:14: the component 'C' contains itself"},
      {"components: {C: {inputs: {i: {default: 1}}}}\n", "the input 'i' needs a type"},
      {"components: {C: {inputs: {i: {type: object}}}}\n", "the input 'i' needs a type"},
      {"components: {C: {resource: {}}}\n", "'resource' is not known in a component; existing: resources"},
      {"components: {C: []}\n", "the component 'C' must be a map, not a list"},
      {"components: {C: {variables: {v: '${stackkey}'}}}\n", "no resource, variable or input is named 'stackkey'"},
      {"components: {C: {resources: {a: {type: 'p:Thing', properties: {value: x}}}}}\nresources: {c: {type: "
       "'proj:C'}}\n",
       "1:71: 'value' must be integer, not the string 'x'"},
      {std::string(kPair) + "resources: {a: {type: 'proj:Pair', properties: {lable: x}}}\n",
       "'proj:index:Pair' has no property 'lable'; existing: label, size, hidden"},
      {std::string(kPair) + "resources: {a: {type: 'proj:Pair', properties: {size: 1}}}\n",
       "the property 'label' is missing"},
      {std::string(kPair) + "resources: {a: {type: 'proj:Pair', properties: {label: x}}}\noutputs: {o: '${a.id}'}\n",
       "'proj:index:Pair' has no property 'id'"},
      {"namespace: mine\n", "'namespace' belongs to plugins and not to a program"},
  };
  for (const auto& [program, error] : cases) {
    INFO(program);
    YamlWorld world = PartsWorld();
    world.Config("stackkey", "x");
    CHECK_FALSE(world.Run(program));
    for (const std::string& told : world.monitor.errors) {
      UNSCOPED_INFO(told);
    }
    CHECK(world.monitor.HasError(error));
    CHECK(world.monitor.log.empty());
  }
}

TEST_CASE("[Y133] a component fails with what is inside it") {
  YamlWorld world = PartsWorld();
  world.monitor.failing = {"one-first"};
  CHECK_FALSE(world.Run(std::string(kPair) +
                        "resources: {one: {type: 'proj:Pair', properties: {label: l}}, after: {type: "
                        "'p:Thing', properties: {value: '${one.first}'}}}\n"));
  for (const Goal& goal : world.monitor.registered) {
    CHECK(goal.name != "after");
  }
}

TEST_CASE("[Y7] C30 a program of several files") {
  YamlWorld world = PartsWorld();
  world.files["/srv/net.yaml"] =
      "pulumi: {include: [more/deep.yaml]}\nresources: {net: {type: 'p:Thing', properties: {value: '${size}'}}}\n";
  world.files["/srv/more/deep.yaml"] = "variables: {size: 3}\n";
  world.files["/srv/parts/a.yaml"] = "outputs: {a: '${net.value}'}\n";
  world.files["/srv/parts/b.yaml"] = "outputs: {b: '${size}'}\n";
  REQUIRE(world.Run("pulumi: {include: [./net.yaml, 'parts/*.yaml']}\noutputs: {o: '${size}'}\n"));
  CHECK(world.monitor.outputs == PropertyMap{{"a", 3}, {"b", 3}, {"o", 3}});
  CHECK(world.monitor.Named("net").source_position == "project:///net.yaml#2,13");
  const std::vector<std::pair<std::string, const char*>> wrong = {
      {"pulumi: {include: [gone.yaml]}\n", "Pulumi.yaml:1:20: cannot read 'gone.yaml'"},
      {"pulumi: {include: ['none/*.yaml']}\n", "no file matches 'none/*.yaml'"},
      {"pulumi: {include: [/etc/x.yaml]}\n", "relative to the folder of the program"},
      {"pulumi: {include: x.yaml}\n", "'include' must be a list of paths, not a string"},
      {"pulumi: {include: [twice.yaml]}\nvariables: {v: 1}\n",
       "twice.yaml:1:13: the variable 'v' has the name of a variable at Pulumi.yaml:2"},
      {"pulumi: {include: [twice.yaml]}\noutputs: {w: 1}\n",
       "twice.yaml:2:11: the output 'w' is given at Pulumi.yaml:2 too"},
      {"pulumi: {include: [round.yaml]}\n",
       "these files include each other: Pulumi.yaml -> round.yaml -> Pulumi.yaml"},
      {"pulumi: {include: [named.yaml]}\n", "'name' belongs to the project file"},
      {"pulumi: {includes: [x]}\n", "'includes' is not known in 'pulumi'"}};
  for (const auto& [program, error] : wrong) {
    INFO(program);
    YamlWorld bad = PartsWorld();
    bad.files["/srv/twice.yaml"] = "variables: {v: 1}\noutputs: {w: 1}\n";
    bad.files["/srv/round.yaml"] = "pulumi: {include: [Pulumi.yaml]}\n";
    bad.files["/srv/named.yaml"] = "name: x\n";
    CHECK_FALSE(bad.Run(program));
    for (const std::string& told : bad.monitor.errors) {
      UNSCOPED_INFO(told);
    }
    CHECK(bad.monitor.HasError(error));
  }
}

TEST_CASE("[Y190] [Y197] T129 plugins written in YAML, and what is wrong with some") {
  std::map<std::string, std::string> files{
      {"/p/PulumiPlugin.yaml", "name: parts\nversion: 1.2.0\nruntime: yaml\nnamespace: mine\n"
                               "components: {A: {outputs: {o: 1}}}\n"},
      {"/p/more.yaml", "components: {B: {inputs: {i: {type: string}}}}\n"}};
  const auto load = [&] {
    ComponentPlugin plugin;
    plugin.folder = "/p";
    plugin.read = [&](const std::string& path) { return Result<std::string>(files.at(path)); };
    for (const auto& [path, text] : files) {
      plugin.files.push_back(path);
    }
    return LoadComponentPlugin(std::move(plugin));
  };
  const Result<std::shared_ptr<Provider>> good = load();
  REQUIRE(good);
  CHECK((*good)->version() == "1.2.0");
  files["/p/more.yaml"] = "components: {A: {}}\n";
  CHECK(load().error().Text() == "/p/more.yaml:1:14: there are two components 'A'");
  files["/p/more.yaml"] = "resources: {}\n";
  CHECK(load().error().Text().find("a plugin has no 'resources' of its own") != std::string::npos);
  files["/p/more.yaml"] = "{}\n";
  files["/p/PulumiPlugin.yaml"] = "runtime: yaml\n";
  CHECK(load().error().Text().find("the plugin has no 'name'") != std::string::npos);
}

}  // namespace davit::testing
