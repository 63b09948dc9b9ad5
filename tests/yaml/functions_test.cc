// The functions of Y110 and invokes (Y112-Y117).
#include <catch2/catch.hpp>

#include "tests/yaml/recording_monitor.h"

namespace davit::testing {
namespace {

constexpr const char* kSchema = R"({"name":"p","resources":{"p:index:Thing":{
  "inputProperties":{"text":{}},"properties":{"text":{},"later":{}}}},
  "functions":{"p:index:echo":{"inputs":{"properties":{"k":{}}}}},"provider":{}})";

YamlWorld World() {
  YamlWorld world;
  world.monitor.schemas["p"] = kSchema;
  return world;
}

// The value of one expression as a stack output; a string "<failed>" when the run failed.
PropertyValue Value(const std::string& expr, YamlWorld world = World()) {
  if (!world.Run("outputs: {o: " + expr + "}\n")) {
    return PropertyValue("<failed>");
  }
  return world.monitor.outputs.at("o");
}

// The first error of a run with that expression.
std::string Wrong(const std::string& expr) {
  YamlWorld world = World();
  CHECK_FALSE(world.Run("variables: {o: " + expr + "}\n"));
  return world.monitor.errors.empty() ? "" : world.monitor.errors.front();
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("[Y110] T63 T64 join") {
  CHECK(Value("{'fn::join': ['-', [foo, bar]]}") == PropertyValue("foo-bar"));
  CHECK(Value("{'fn::join': [null, [foo, bar]]}") == PropertyValue("foobar"));
  CHECK(Contains(Wrong("{'fn::join': ['-', {a: b}]}"), "Pulumi.yaml:1:"));
  CHECK(Contains(Wrong("{'fn::join': ['-', [1, a]]}"), "item 0"));
}

TEST_CASE("[Y110] T65 split") {
  CHECK(Value("{'fn::split': [',', '']}") == PropertyValue(PropertyList{""}));
  CHECK(Value("{'fn::split': [',', 'a,b,']}") == PropertyValue(PropertyList{"a", "b", ""}));
  CHECK(Value("{'fn::split': ['', 'aé']}") == PropertyValue(PropertyList{"a", "é"}));
}

TEST_CASE("[Y110] T66 select") {
  CHECK(Value("{'fn::select': [1, [a, b]]}") == PropertyValue("b"));
  for (const char* index : {"1.5", "-182", "3"}) {
    CHECK(Contains(Wrong(std::string("{'fn::select': [") + index + ", [a, b, c]]}"), "fn::select"));
  }
}

TEST_CASE("[Y110] T67 T68 toJSON") {
  CHECK(Value("{'fn::toJSON': {b: [1, null, true], a: <a&b>}}") ==
        PropertyValue(R"({"a":"\u003ca\u0026b\u003e","b":[1,null,true]})"));
  CHECK(Value("{'fn::toJSON': {a: {'fn::secret': x}}}") == MakeSecret(R"({"a":"x"})"));
}

TEST_CASE("[Y110] T69 T70 base64") {
  CHECK(Value("{'fn::toBase64': 'a😃'}") == PropertyValue("YfCfmIM="));
  CHECK(Value("{'fn::fromBase64': YfCfmIM=}") == PropertyValue("a😃"));
  CHECK(Contains(Wrong("{'fn::fromBase64': '/w=='}"), "UTF-8"));
  CHECK(Contains(Wrong("{'fn::fromBase64': '%'}"), "base64"));
}

TEST_CASE("[Y110] secret and unsecret") {
  CHECK(Value("{'fn::secret': {'fn::secret': 1}}") == MakeSecret(1));
  CHECK(Value("{'fn::unsecret': {a: {'fn::secret': 1}}}") == PropertyValue(PropertyMap{{"a", 1}}));
}

TEST_CASE("[Y119] T73 files are read relative to the program") {
  YamlWorld world = World();
  world.files["/srv/x/y.txt"] = "text\n";
  CHECK(Value("{'fn::readFile': x/y.txt}", world) == PropertyValue("text\n"));
  CHECK(Value("{'fn::readFile': '${pulumi.cwd}/x/y.txt'}", world) == PropertyValue("text\n"));
  CHECK(Value("{'fn::filebase64': /srv/x/y.txt}", world) == PropertyValue("dGV4dAo="));
  CHECK(Contains(Wrong("{'fn::readFile': none.txt}"), "none.txt"));
}

TEST_CASE("[Y110] T75 assets and archives") {
  const PropertyValue asset = Value("{'fn::stringAsset': 'x${pulumi.stack}'}");
  REQUIRE(asset.as_asset() != nullptr);
  CHECK(asset.as_asset()->content == "xdev");
  const PropertyValue archive =
      Value("{'fn::assetArchive': {in: {'fn::assetArchive': {f: {'fn::fileAsset': ./f}}}}}");
  REQUIRE(archive.as_archive() != nullptr);
  const Archive* inner = archive.as_archive()->assets->at("in").as_archive();
  REQUIRE(inner != nullptr);
  CHECK(inner->assets->at("f").as_asset()->content == "./f");
  CHECK(Contains(Wrong("{'fn::assetArchive': {a: 1}}"), "'a' is none"));
}

TEST_CASE("[Y110] T71 length counts what readers see") {
  CHECK(Value("{'fn::length': '👨‍👩‍👧‍👦-family-👶'}") == PropertyValue(10));
  CHECK(Value("{'fn::length': '🇩🇪🇫🇷🇩'}") == PropertyValue(3));
  CHECK(Value(R"({'fn::length': "e\u0301\r\n한각👍🏽"})") == PropertyValue(5));
  CHECK(Value("{'fn::length': ''}") == PropertyValue(0));
  CHECK(Value("{'fn::length': {a: 1, b: 2}}") == PropertyValue(2));
  CHECK(Value("{'fn::length': [null, {'fn::secret': 1}]}") == MakeSecret(2));
  CHECK(Contains(Wrong("{'fn::length': 7}"), "needs a list, a map or a string"));
}

TEST_CASE("[Y110] T72 singleOrNone") {
  CHECK(Value("{'fn::singleOrNone': [x]}") == PropertyValue("x"));
  CHECK(Value("[{'fn::singleOrNone': []}]") == PropertyValue(PropertyList{Null()}));
  CHECK(Value("{'fn::singleOrNone': [{'fn::secret': 1}]}") == MakeSecret(1));
  CHECK(Contains(Wrong("{'fn::singleOrNone': [1, 2]}"), "at most one item, not 2"));
}

TEST_CASE("[Y110] T74 digests") {
  CHECK(Value("{'fn::sha1': ''}") == PropertyValue("da39a3ee5e6b4b0d3255bfef95601890afd80709"));
  CHECK(Value("{'fn::sha1': abc}") == PropertyValue("a9993e364706816aba3e25717850c26c9cd0d89d"));
  CHECK(Value("{'fn::sha1': " + std::string(119, 'a') + "}") ==
        PropertyValue("ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56"));
  YamlWorld world = World();
  world.files["/srv/f"] = "abc";
  CHECK(Value("{'fn::filebase64sha256': f}", world) ==
        PropertyValue("ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="));
}

TEST_CASE("[Y110] name and type of a resource, through a variable, in a preview") {
  YamlWorld world = World();
  world.monitor.preview = true;
  REQUIRE(
      world.Run("resources: {a: {type: 'p:Thing', name: other}}\n"
                "variables: {v: '${a}'}\n"
                "outputs: {n: {'fn::pulumiResourceName': '${v}'}, t: {'fn::pulumiResourceType': "
                "'${a}'}}\n"));
  CHECK(world.monitor.outputs == PropertyMap{{"n", "other"}, {"t", "p:index:Thing"}});
  CHECK(Contains(Wrong("{'fn::pulumiResourceName': text}"), "needs a resource"));
}

TEST_CASE("[Y18] T17 functions in another case work and are warned about") {
  YamlWorld world = World();
  REQUIRE(world.Run("outputs: {a: {'fn::SHA1': abc}, b: {'Fn::Length': [1]}}\n"));
  CHECK(world.monitor.HasWarning("Pulumi.yaml:1:15: 'fn::SHA1' is spelt 'fn::sha1'"));
  CHECK(world.monitor.warnings.size() == 2);
}

TEST_CASE("[Y111] T77 an unknown function is an error with a suggestion") {
  CHECK(Contains(Wrong("{'fn::toJsno': 1}"), "did you mean 'toJSON'"));
}

TEST_CASE("[Y110] unknown arguments give unknown results, without evaluating") {
  YamlWorld world = World();
  world.monitor.preview = true;
  REQUIRE(
      world.Run("resources: {a: {type: 'p:Thing'}}\n"
                "outputs: {o: {'fn::join': ['', ['${a.id}']]}, s: {'fn::toJSON': ['${a.id}', "
                "{'fn::secret': 1}]}}\n"));
  CHECK(world.monitor.outputs.at("o").is_unknown());
  CHECK(world.monitor.outputs.at("s") == MakeSecret(Unknown()));
}

TEST_CASE("[Y112] [Y114] T78 T79 forms of invoke") {
  YamlWorld world = World();
  REQUIRE(
      world.Run("variables:\n"
                "  a: {'fn::invoke': {function: 'p:echo', arguments: {k: 1}, return: k}}\n"
                "  b: {'fn::p:index:echo': {k: 2}}\n"
                "  c: {'fn::invoke': {function: 'p:echo'}}\n"
                "outputs: {a: '${a}', b: '${b.k}', c: '${c}'}\n"));
  CHECK(world.monitor.outputs == PropertyMap{{"a", 1}, {"b", 2}, {"c", PropertyMap()}});
  for (const InvokeGoal& goal : world.monitor.invokes) {
    CHECK(goal.token == "p:index:echo");
  }
  CHECK(Contains(Wrong("{'fn::invoke': {function: 'p:echo', return: none}}"), "no member 'none'"));
  CHECK(Contains(Wrong("{'fn::invoke': {function: 'p:echo', args: {}}}"), "'args'"));
  CHECK(Contains(Wrong("{'fn::invoke': {arguments: {}}}"), "'fn::invoke' has no 'function'"));
}

TEST_CASE("[Y116] T80 T82 an invoke waits for its arguments and passes its dependencies on") {
  const std::string text =
      "resources:\n"
      "  b: {type: 'p:Thing', properties: {text: '${v.k}'}}\n"
      "  a: {type: 'p:Thing'}\n"
      "variables: {v: {'fn::p:echo': {k: '${a.id}'}}}\n";
  YamlWorld preview = World();
  preview.monitor.preview = true;
  REQUIRE(preview.Run(text));
  CHECK(preview.monitor.invokes.empty());
  CHECK(preview.monitor.Named("b").properties.at("text").is_unknown());
  YamlWorld world = World();
  REQUIRE(world.Run(text));
  const Urn a = Urn::Make("dev", "proj", Urn(), "p:index:Thing", "a");
  CHECK(world.monitor.invokes[0].depends_on == std::vector<Urn>{a});
  CHECK(world.monitor.Named("b").properties.at("text") == PropertyValue("a-id"));
  CHECK(world.monitor.Named("b").dependencies == std::vector<Urn>{a});
}

TEST_CASE("[Y115] T85 a secret member stays one member, a secret argument taints all") {
  YamlWorld world = World();
  world.monitor.invoke = [](const InvokeGoal&) {
    InvokeOutcome outcome;
    outcome.result = {{"open", 1}, {"hidden", MakeSecret("h")}};
    return Result<InvokeOutcome>(outcome);
  };
  REQUIRE(
      world.Run("variables: {a: {'fn::p:echo': {}}, b: {'fn::p:echo': {k: {'fn::secret': 1}}}}\n"
                "outputs: {a: '${a.open}', h: '${a.hidden}', b: '${b.open}'}\n"));
  CHECK(world.monitor.outputs ==
        PropertyMap{{"a", 1}, {"b", MakeSecret(1)}, {"h", MakeSecret("h")}});
}

TEST_CASE("[Y133] T83 a failing invoke is one error, its dependents are not mentioned") {
  YamlWorld world = World();
  world.monitor.invoke = [](const InvokeGoal&) {
    InvokeOutcome outcome;
    outcome.failures.push_back({"k", "is bad"});
    return Result<InvokeOutcome>(outcome);
  };
  CHECK_FALSE(
      world.Run("resources: {b: {type: 'p:Thing', properties: {text: '${v.k}'}}}\n"
                "variables: {v: {'fn::p:echo': {}}}\n"));
  REQUIRE(world.monitor.errors.size() == 1);
  CHECK(Contains(world.monitor.errors[0],
                 "Pulumi.yaml:2:16: the function 'p:index:echo' failed: is bad"));
  CHECK(world.monitor.registered.empty());
}

TEST_CASE("[Y132] T87 a variable is evaluated once, used or not") {
  YamlWorld world = World();
  REQUIRE(
      world.Run("variables: {unused: {'fn::p:echo': {}}, used: {'fn::p:echo': {}}}\n"
                "outputs: {a: '${used}', b: '${used}'}\n"));
  CHECK(world.monitor.invokes.size() == 2);
}

TEST_CASE("[Y111] B13 try, can, entries, lookup, min and max") {
  YamlWorld world = World();
  world.Config("key", R"({"a": 1, "n": null})", true);
  REQUIRE(
      world.Run("variables: {m: {'fn::unsecret': '${key}'}, l: [3, 1.5, 2]}\n"
                "outputs:\n"
                "  first: {'fn::try': ['${m.a}', other]}\n"
                "  second: {'fn::try': ['${m.b}', '${m.a[0]}', other]}\n"
                "  none: [{'fn::try': ['${m.n}', other]}]\n"
                "  hidden: {'fn::try': ['${key.b}', other]}\n"
                "  can: {'fn::can': '${m.a}'}\n"
                "  cannot: {'fn::can': 'x ${m.b}'}\n"
                "  hides: {'fn::can': '${key.b}'}\n"
                "  file: {'fn::try': [{'fn::readFile': nothing}, '']}\n"
                "  entries: {'fn::entries': {b: 2, a: 1}}\n"
                "  found: {'fn::lookup': ['${m}', a]}\n"
                "  missed: {'fn::lookup': ['${m}', zz, 9]}\n"
                "  min: {'fn::min': '${l}'}\n"
                "  max: {'fn::max': '${l}'}\n"));
  const PropertyMap& out = world.monitor.outputs;
  CHECK(out.at("first") == PropertyValue(1));
  CHECK(out.at("second") == PropertyValue("other"));
  CHECK(out.at("none") == PropertyValue(PropertyList{Null()}));
  CHECK(out.at("hidden") == MakeSecret("other"));
  CHECK(out.at("can") == PropertyValue(true));
  CHECK(out.at("cannot") == PropertyValue(false));
  CHECK(out.at("hides") == MakeSecret(PropertyValue(false)));
  CHECK(out.at("file") == PropertyValue(""));
  CHECK(out.at("entries") == PropertyValue(PropertyList{PropertyMap{{"key", "a"}, {"value", 1}},
                                                        PropertyMap{{"key", "b"}, {"value", 2}}}));
  CHECK(out.at("found") == PropertyValue(1));
  CHECK(out.at("missed") == PropertyValue(9));
  CHECK(out.at("min") == PropertyValue(1.5));
  CHECK(out.at("max") == PropertyValue(3));
  CHECK(Contains(Wrong("{'fn::try': ['${x.y}', '${v.a[0]}']}"), "'x'"));
  CHECK(Contains(Wrong("{'fn::try': a}"), "needs a list"));
  CHECK(Contains(Wrong("{'fn::min': [a]}"), "needs a list of numbers"));
  CHECK(Contains(Wrong("{'fn::lookup': [{a: 1}, b]}"), "finds no key 'b' and has no default"));
  CHECK(Contains(Wrong("{'fn::entries': [a]}"), "needs a map"));
}

TEST_CASE("[Y111] B66 a method of a resource is called") {
  YamlWorld world = World();
  world.monitor.schemas["m"] = R"({"name": "m", "resources": {"m:index:Door": {
      "methods": {"open": "m:index:Door/open"}, "isComponent": true}},
    "functions": {"m:index:Door/open": {
      "inputs": {"properties": {"__self__": {"$ref": "#/resources/m:index:Door"},
                                "wide": {"type": "boolean"}}, "required": ["__self__", "wide"]},
      "outputs": {"properties": {"state": {"type": "string"}}}}}})";
  world.monitor.call = [](const CallGoal& goal) {
    CallResponse response;
    response.result["state"] = *goal.args.at("wide").as_bool() ? "wide" : "ajar";
    return response;
  };
  REQUIRE(
      world.Run("resources: {d: {type: 'm:Door'}}\n"
                "variables: {v: {'fn::call': {resource: '${d}', method: open, arguments: {wide: true}}}}\n"
                "outputs: {s: '${v.state}', t: {'fn::call': {resource: '${d}', method: open, "
                "arguments: {wide: false}, return: state}}}\n"));
  CHECK(world.monitor.outputs.at("s") == PropertyValue("wide"));
  CHECK(world.monitor.outputs.at("t") == PropertyValue("ajar"));
  REQUIRE(world.monitor.calls.size() == 2);
  CHECK(world.monitor.calls[0].token == "m:index:Door/open");
  CHECK(world.monitor.calls[0].args.at("__self__").as_reference() != nullptr);
  CHECK(world.monitor.calls[0].arg_dependencies.at("__self__").size() == 1);
  const std::vector<std::pair<const char*, const char*>> wrong = {
      {"{resource: '${d}', method: opne, arguments: {wide: true}}",
       "'m:index:Door' has no method 'opne'; existing: open"},
      {"{resource: '${d}', method: open}", "the property 'wide' is missing"},
      {"{resource: '${d}', method: open, arguments: {wide: 1}}", "'wide' must be boolean, not 1"},
      {"{resource: '${d}', method: open, arguments: {wide: true}, return: sate}",
       "the result of 'm:index:Door/open' has no member 'sate'; existing: state"},
      {"{resource: text, method: open}", "'resource' must be a resource"},
      {"{method: open}", "'fn::call' has no 'resource'"},
      {"{resource: '${d}', method: '${d.urn}'}", "'method' of 'fn::call' must be a literal string"},
      {"{resource: '${d}', method: open, args: {}}", "'args' is not known in 'fn::call'"}};
  for (const auto& [form, error] : wrong) {
    INFO(form);
    YamlWorld bad = World();
    bad.monitor.schemas["m"] = world.monitor.schemas["m"];
    CHECK_FALSE(bad.Run("resources: {d: {type: 'm:Door'}}\nvariables: {v: {'fn::call': " +
                        std::string(form) + "}}\n"));
    CHECK(bad.monitor.HasError(error));
    CHECK(bad.monitor.log.empty());
  }
}

TEST_CASE("[Y118] T76 an asset stands alone in its map") {
  CHECK(Contains(Wrong("{'fn::stringAsset': x, other: y}"), "stands beside other keys"));
}

}  // namespace davit::testing
