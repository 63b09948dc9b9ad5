// Evaluation of YAML programs: configuration, interpolation, accesses, the graph and what is
// registered.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/yaml/recording_monitor.h"

namespace davit::testing {
namespace {

constexpr const char* kSchema = R"({"name":"p","resources":{
  "p:index:Thing":{"inputProperties":{"text":{},"list":{},"map":{},"hidden":{"secret":true}},
                   "properties":{"text":{},"list":{},"later":{},"out":{"secret":true}}},
  "p:index:Strict":{"inputProperties":{"need":{},"also":{}},"requiredInputs":["need"]}},
  "functions":{"p:index:echo":{"inputs":{"properties":{"k":{}}}}},"provider":{}})";

YamlWorld World() {
  YamlWorld world;
  world.monitor.schemas["p"] = kSchema;
  return world;
}

PropertyValue Out(const YamlWorld& world, const std::string& name) {
  const auto at = world.monitor.outputs.find(name);
  return at == world.monitor.outputs.end() ? PropertyValue("<absent>") : at->second;
}

std::size_t At(const std::vector<std::string>& log, const std::string& entry) {
  return static_cast<std::size_t>(std::ranges::find(log, entry) - log.begin());
}

}  // namespace

TEST_CASE("[Y5] T5 an empty program registers the stack and sends no outputs") {
  YamlWorld world = World();
  CHECK(world.Run("{}\n"));
  CHECK(world.monitor.log == std::vector<std::string>{"register stack", "outputs"});
  CHECK(world.monitor.outputs.empty());
}

TEST_CASE("[Y63] [Y65] T45 T47 interpolation") {
  YamlWorld world = World();
  REQUIRE(
      world.Run("variables: {w: world, l: [a, b], m: {k: v}, n: 1048576, t: true, e: null}\n"
                "outputs:\n"
                "  a: 'hello ${w}!'\n"
                "  b: 'hello $${w}!'\n"
                "  c: '$$5 a$b'\n"
                "  d: 'x${l} ${m} ${n} ${t} ${e}'\n"
                "  e: ${l}\n"));
  CHECK(Out(world, "a") == PropertyValue("hello world!"));
  CHECK(Out(world, "b") == PropertyValue("hello ${w}!"));
  CHECK(Out(world, "c") == PropertyValue("$5 a$b"));
  CHECK(Out(world, "d") == PropertyValue("x[a b] map[k:v] 1048576 true <nil>"));
  CHECK(Out(world, "e") == PropertyValue(PropertyList{"a", "b"}));
}

TEST_CASE("[Y67] T50 keys of maps are expressions, and must be strings") {
  YamlWorld world = World();
  REQUIRE(world.Run("variables: {k: key}\noutputs: {o: {'${k}': 1}}\n"));
  CHECK(Out(world, "o") == PropertyValue(PropertyMap{{"key", 1}}));
  YamlWorld bad = World();
  CHECK_FALSE(bad.Run("variables: {k: [1]}\noutputs: {o: {'${k}': 1}}\n"));
  CHECK(bad.monitor.HasError("Pulumi.yaml:2:15: a key must be a string"));
}

TEST_CASE("[Y76] T52 T54 walking into values") {
  YamlWorld world = World();
  REQUIRE(
      world.Run("variables: {v: [0, {quux: {bazz: deep}}], m: {k: 1}}\n"
                "outputs: {a: '${v[1].quux.bazz}', b: '${m[\"k\"]}'}\n"));
  CHECK(Out(world, "a") == PropertyValue("deep"));
  CHECK(Out(world, "b") == PropertyValue(1));
  YamlWorld bad = World();
  CHECK_FALSE(
      bad.Run("variables: {l: [1], m: {k: 1}}\n"
              "outputs:\n"
              "  a: ${l[9]}\n"
              "  b: ${l.name}\n"
              "  c: ${m[0]}\n"));
  CHECK(bad.monitor.HasError("Pulumi.yaml:3:6:"));
  CHECK(bad.monitor.HasError("Pulumi.yaml:4:6:"));
  CHECK(bad.monitor.HasError("Pulumi.yaml:5:6:"));
  CHECK(bad.monitor.errors.size() == 3);
}

TEST_CASE("[Y77] T56 below a secret everything is secret") {
  YamlWorld world = World();
  REQUIRE(
      world.Run("variables: {v: {'fn::secret': [1, {k: x}]}}\n"
                "outputs: {a: '${v[0]}', b: '${v[1].k}', c: 'x ${v[1].k}'}\n"));
  CHECK(Out(world, "a") == MakeSecret(PropertyValue(1)));
  CHECK(Out(world, "b") == MakeSecret(PropertyValue("x")));
  CHECK(Out(world, "c") == MakeSecret(PropertyValue("x x")));
}

TEST_CASE("[Y71] T57 the pulumi object") {
  YamlWorld world = World();
  REQUIRE(
      world.Run("outputs: {a: '${pulumi.cwd}', b: '${pulumi.stack}/${pulumi.project}', c: "
                "'${pulumi.organization}'}\n"));
  CHECK(Out(world, "a") == PropertyValue("/srv"));
  CHECK(Out(world, "b") == PropertyValue("dev/proj"));
  CHECK(Out(world, "c") == PropertyValue("organization"));
  YamlWorld bad = World();
  CHECK_FALSE(bad.Run("variables: {a: '${pulumi.nope}'}\n"));
  CHECK(bad.monitor.HasError("'pulumi.nope'"));
}

TEST_CASE("[Y70] [Y134] T58 T59 an undeclared name is an error before anything is registered") {
  YamlWorld world = World();
  CHECK_FALSE(
      world.Run("resources: {a: {type: 'p:Thing', properties: {text: '${other}'}}}\n"
                "outputs: {o: '${missing}'}\n"));
  CHECK(world.monitor.HasError("Pulumi.yaml:1:54: no resource, variable or config value is named 'other'"));
  CHECK(world.monitor.HasError("Pulumi.yaml:2:15: no resource, variable or config value is named 'missing'"));
  CHECK(world.monitor.log.empty());
}

TEST_CASE("[Y33] [Y34] T30 T31 T32 configuration by declared type and by looks") {
  YamlWorld world = World();
  world.Config("s", "14");
  world.Config("free", "14");
  world.Config("zero", "028111111111");
  world.Config("obj", R"({"a":{"b":[7]}})");
  REQUIRE(
      world.Run("config: {s: {type: string}}\n"
                "outputs: {a: '${s}', b: '${free}', c: '${zero}', d: '${obj.a.b[0]}', e: "
                "'${proj:s}'}\n"));
  CHECK(Out(world, "a") == PropertyValue("14"));
  CHECK(Out(world, "b") == PropertyValue(14));
  CHECK(Out(world, "c") == PropertyValue("028111111111"));
  CHECK(Out(world, "d") == PropertyValue(7));
  CHECK(Out(world, "e") == PropertyValue("14"));
}

TEST_CASE("[Y35] [Y36] T35 T36 secret configuration; [Y30] a missing value names its key") {
  YamlWorld world = World();
  world.Config("given", "x", true);
  world.Config("marked", "y");
  REQUIRE(
      world.Run("config: {given: {type: string}, marked: {type: string, secret: true}}\n"
                "outputs: {a: '${given}', b: '${marked}'}\n"));
  CHECK(Out(world, "a") == MakeSecret(PropertyValue("x")));
  CHECK(Out(world, "b") == MakeSecret(PropertyValue("y")));
  YamlWorld bad = World();
  CHECK_FALSE(bad.Run("config: {need: {type: string}}\nresources: {a: {type: 'p:Thing'}}\n"));
  CHECK(bad.monitor.HasError("'proj:need' is missing"));
}

TEST_CASE("[Y94] [Y172] T119 literal nulls are not sent, nulls of lists are kept") {
  YamlWorld world = World();
  REQUIRE(
      world.Run("resources:\n"
                "  a: {type: 'p:Thing', properties: {text: null, map: {k: null, l: 1}, list: "
                "[null, 1]}}\n"
                "  b: {type: 'p:Thing', properties: }\n"
                "outputs: {none: null}\n"));
  CHECK(world.monitor.Named("a").properties ==
        PropertyMap{{"map", PropertyMap{{"l", 1}}}, {"list", PropertyList{Null(), 1}}});
  CHECK(world.monitor.Named("b").properties.empty());
  CHECK(world.monitor.outputs.empty());
}

TEST_CASE("[Y94] T41 properties as one expression, secret members when it is secret") {
  YamlWorld world = World();
  world.Config("props", R"({"text":"a","list":[1]})", true);
  REQUIRE(
      world.Run("config: {props: {type: object}}\n"
                "resources: {a: {type: 'p:Thing', properties: '${props}'}}\n"));
  CHECK(world.monitor.Named("a").properties ==
        PropertyMap{{"list", MakeSecret(PropertyList{1})}, {"text", MakeSecret("a")}});
}

TEST_CASE("[Y137] dependencies per property and over all, dependsOn among them") {
  YamlWorld world = World();
  REQUIRE(
      world.Run("resources:\n"
                "  c: {type: 'p:Thing', properties: {text: 'x ${a.text}', list: ['${v}']}, "
                "options: {dependsOn: ['${d}']}}\n"
                "  a: {type: 'p:Thing', properties: {text: t}}\n"
                "  b: {type: 'p:Thing'}\n"
                "  d: {type: 'p:Thing'}\n"
                "variables: {v: '${b.id}'}\n"));
  const Goal& goal = world.monitor.Named("c");
  const Urn a = Urn::Make("dev", "proj", Urn(), "p:index:Thing", "a");
  const Urn b = Urn::Make("dev", "proj", Urn(), "p:index:Thing", "b");
  const Urn d = Urn::Make("dev", "proj", Urn(), "p:index:Thing", "d");
  CHECK(goal.dependencies == std::vector<Urn>{a, b, d});
  CHECK(goal.property_dependencies.at("text") == std::vector<Urn>{a});
  CHECK(goal.property_dependencies.at("list") == std::vector<Urn>{b});
  CHECK(goal.properties.at("list") == PropertyValue(PropertyList{"b-id"}));
}

TEST_CASE("[Y74] [Y75] T48 T61 what a preview does not know") {
  const std::string text =
      "resources: {a: {type: 'p:Thing', properties: {text: t}}, n: {type: 'u:index:None'}}\n"
      "outputs: {id: '${a.id}', text: '${a.text}', both: '${a.text}-${a.id}', later: '${a.later}', "
      "below: '${a.later[0].x}', odd: '${n.odd}'}\n";
  YamlWorld preview = World();
  preview.monitor.preview = true;
  REQUIRE(preview.Run(text));
  CHECK(Out(preview, "id").is_unknown());
  CHECK(Out(preview, "text") == PropertyValue("t"));
  CHECK(Out(preview, "both").is_unknown());
  CHECK(Out(preview, "later").is_unknown());
  CHECK(Out(preview, "below").is_unknown());
  CHECK(Out(preview, "odd").is_null());
  YamlWorld update = World();
  CHECK_FALSE(update.Run(text));  // below a null there is nothing to read
  CHECK(Out(update, "both") == PropertyValue("t-a-id"));
  CHECK(Out(update, "later").is_null());
  CHECK(update.monitor.HasError("Pulumi.yaml:2:101:"));
}

TEST_CASE("[Y179] members of a resource whose create was elided are unknown in an update too") {
  YamlWorld world = World();
  world.monitor.respond = [](const Goal&, RegisterResponse response) {
    response.unknown = true;
    response.id.clear();
    return response;
  };
  REQUIRE(
      world.Run("resources: {a: {type: 'p:Thing', properties: {text: t}}}\n"
                "outputs: {text: '${a.text}', id: '${a.id}'}\n"));
  CHECK(Out(world, "text").is_unknown());
  CHECK(Out(world, "id").is_unknown());
}

TEST_CASE("[Y88] T100 inputs and outputs that the schema calls secret") {
  YamlWorld world = World();
  REQUIRE(world.Run("resources: {a: {type: 'p:Thing', properties: {hidden: h}}}\n"));
  CHECK(world.monitor.Named("a").properties.at("hidden") == MakeSecret("h"));
  CHECK(world.monitor.Named("a").additional_secret_outputs == std::vector<std::string>{"out"});
}

TEST_CASE("[Y83] [Y153] T97 unknown types and properties, missing properties: all at once") {
  YamlWorld world = World();
  CHECK_FALSE(
      world.Run("resources:\n"
                "  a: {type: 'p:Thin'}\n"
                "  b: {type: 'p:Strict', properties: {ned: 1}}\n"
                "variables: {v: {'fn::p:index:ecko': {}}}\n"));
  CHECK(world.monitor.HasError("Pulumi.yaml:2:13: the package 'p' has no resource type 'p:Thin'"));
  CHECK(world.monitor.HasError("Pulumi.yaml:3:38: 'p:index:Strict' has no property 'ned'"));
  CHECK_FALSE(world.monitor.HasError("the property 'need' is missing"));  // it is 'ned'
  CHECK(world.monitor.HasError("the package 'p' has no function 'p:index:ecko'"));
  CHECK(world.monitor.log.empty());
}

TEST_CASE("[Y133] T118 what depends on a failed resource is skipped without a word") {
  YamlWorld world = World();
  world.monitor.failing = {"a"};
  CHECK_FALSE(
      world.Run("resources:\n"
                "  a: {type: 'p:Thing'}\n"
                "  b: {type: 'p:Thing', properties: {text: '${a.id}'}}\n"
                "outputs: {o: '${b.id}', fine: 1}\n"));
  CHECK(world.monitor.errors.empty());  // the engine has said what was wrong
  CHECK(world.monitor.registered.size() == 1);
  CHECK(world.monitor.outputs == PropertyMap{{"fine", 1}});  // Y136
}

TEST_CASE("[Y95] [Y172] a whole resource as input and output is a reference") {
  YamlWorld world = World();
  REQUIRE(
      world.Run("resources:\n"
                "  a: {type: 'p:Thing'}\n"
                "  b: {type: 'p:Thing', properties: {map: '${a}'}}\n"
                "outputs: {o: '${a}'}\n"));
  const ResourceReference* reference = Out(world, "o").as_reference();
  REQUIRE(reference != nullptr);
  CHECK(reference->id == "a-id");
  CHECK(world.monitor.Named("b").properties.at("map").as_reference() != nullptr);
  CHECK(world.monitor.Named("b").dependencies.size() == 1);
}

TEST_CASE("[Y103] T103 name gives the logical name, references use the key") {
  YamlWorld world = World();
  REQUIRE(
      world.Run("resources: {a: {type: 'p:Thing', name: odd name}}\noutputs: {o: '${a.urn}'}\n"));
  CHECK(Out(world, "o") == PropertyValue("urn:pulumi:dev::proj::p:index:Thing::odd name"));
}

TEST_CASE("[Y96] T104 get reads, in order, and is unknown while its id is") {
  const std::string text =
      "resources:\n"
      "  r: {type: 'p:Thing', get: {id: '${a.id}', state: {text: s}}}\n"
      "  a: {type: 'p:Thing'}\n"
      "outputs: {o: '${r.text}'}\n";
  YamlWorld world = World();
  REQUIRE(world.Run(text));
  REQUIRE(world.monitor.reads.size() == 1);
  CHECK(world.monitor.reads[0].id == "a-id");
  CHECK(world.monitor.reads[0].properties == PropertyMap{{"text", "s"}});
  CHECK(At(world.monitor.log, "register a") < At(world.monitor.log, "read r"));
  CHECK(Out(world, "o") == PropertyValue("s"));
  YamlWorld preview = World();
  preview.monitor.preview = true;
  REQUIRE(preview.Run(text));
  CHECK(Out(preview, "o").is_unknown());
}

TEST_CASE("[Y98] T111 a default provider comes first and serves resources and functions") {
  for (const bool is_preview : {true, false}) {
    YamlWorld world = World();
    world.monitor.preview = is_preview;
    REQUIRE(
        world.Run("resources:\n"
                  "  a: {type: 'p:Thing'}\n"
                  "  own: {type: 'pulumi:providers:p', defaultProvider: true}\n"
                  "variables: {v: {'fn::p:echo': {k: 1}}}\n"));
    const std::string reference = std::string("urn:pulumi:dev::proj::pulumi:providers:p::own::") +
                                  (is_preview ? std::string(kUnknownId) : "own-id");
    CHECK(world.monitor.Named("a").provider == reference);
    REQUIRE(world.monitor.invokes.size() == 1);
    CHECK(world.monitor.invokes[0].provider == reference);
    CHECK(world.monitor.Named("own").provider.empty());
  }
}

TEST_CASE("[Y130] whatever order the loop picks, each node runs after what it needs") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    YamlWorld world = World();
    world.seed = seed;
    REQUIRE(
        world.Run("resources:\n"
                  "  c: {type: 'p:Thing', properties: {text: '${v}'}}\n"
                  "  b: {type: 'p:Thing', properties: {text: '${a.id}'}}\n"
                  "  a: {type: 'p:Thing'}\n"
                  "variables: {v: '${b.id}'}\n"));
    CHECK(world.monitor.log ==
          std::vector<std::string>{
              "register stack", "register a", "register b", "register c", "outputs"});
  }
}

TEST_CASE("[Y22] T124 a required version that is not met stops everything") {
  const std::string rest = "resources: {a: {type: 'p:Thing'}}\noutputs: {o: '${a.id}'}\n";
  YamlWorld world = World();
  CHECK_FALSE(world.Run("pulumi: {requiredVersion: '=3.1.2'}\n" + rest));
  REQUIRE(world.monitor.errors.size() == 1);
  CHECK(world.monitor.HasError("Pulumi.yaml:1:27: the version 3."));
  CHECK(world.monitor.registered.empty());
  YamlWorld good = World();
  CHECK(
      good.Run("config: {r: {type: string, default: '>=3.0.0 <4.0.0 || =9.9.9'}}\n"
               "pulumi: {requiredVersion: '${r}'}\n" +
               rest));
  YamlWorld odd = World();
  CHECK_FALSE(odd.Run("pulumi: {requiredVersion: newest}\n" + rest));
  CHECK(odd.monitor.HasError("'newest' is no range"));
  YamlWorld number = World();
  CHECK_FALSE(number.Run("pulumi: {requiredVersion: 3}\n" + rest));
  CHECK(number.monitor.HasError("must be a plain string"));
}

TEST_CASE("[Y172] an output that is null without any resource in it is absent") {
  YamlWorld world = World();
  REQUIRE(
      world.Run("resources: {a: {type: 'u:index:None'}}\n"
                "outputs: {none: {'fn::singleOrNone': []}, list: [{'fn::singleOrNone': []}], "
                "read: '${a.odd}'}\n"));
  CHECK(world.monitor.outputs == PropertyMap{{"list", PropertyList{Null()}}, {"read", Null()}});
}

TEST_CASE("[Y176] a literal output that holds a secret is one secret") {
  YamlWorld world = World();
  REQUIRE(world.Run("outputs: {o: {a: {'fn::secret': 1}, b: 2}}\n"));
  CHECK(Out(world, "o") == MakeSecret(PropertyMap{{"a", 1}, {"b", 2}}));
}

TEST_CASE("[Y66] T10 texts that double at every step are an error, in bounded memory") {
  std::string text = "variables:\n  v0: xxxxxxxx\n";
  for (int index = 1; index < 60; ++index) {
    text += "  v" + std::to_string(index) + ": ${v" + std::to_string(index - 1) + "}${v" +
            std::to_string(index - 1) + "}\n";
  }
  YamlWorld world;
  CHECK_FALSE(world.Run(text));
  CHECK(world.monitor.HasError("the text is longer than 128 MiB here"));
  CHECK(world.monitor.errors.size() == 1);
}

}  // namespace davit::testing
