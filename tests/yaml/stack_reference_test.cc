// References to other stacks (Y97) and the package that the engine serves itself.
#include <catch2/catch.hpp>

#include "tests/yaml/recording_monitor.h"

namespace davit::testing {
namespace {

YamlWorld World() {
  YamlWorld world;
  world.monitor.respond_read = [](const ReadGoal& goal, RegisterResponse response) {
    response.outputs = {{"name", goal.id},
                        {"outputs", PropertyMap{{"plain", 4}, {"hidden", MakeSecret("h")}}},
                        {"secretOutputNames", PropertyList{"hidden"}}};
    return response;
  };
  return world;
}

}  // namespace

TEST_CASE("[Y97] T89 a stack reference is read by its name, its outputs keep their secretness") {
  YamlWorld world = World();
  REQUIRE(
      world.Run("resources:\n"
                "  ref: {type: 'pulumi:pulumi:StackReference', properties: {name: "
                "organization/p/s}}\n"
                "  proj/dev: {type: 'pulumi:pulumi:StackReference'}\n"
                "outputs: {a: '${ref.outputs[\"plain\"]}', b: '${ref.outputs.hidden}'}\n"));
  REQUIRE(world.monitor.reads.size() == 2);
  CHECK(world.monitor.reads[0].id == "proj/dev");
  CHECK(world.monitor.reads[1].id == "organization/p/s");
  CHECK(world.monitor.reads[1].properties == PropertyMap{{"name", "organization/p/s"}});
  CHECK(world.monitor.registered.empty());
  CHECK(world.monitor.outputs == PropertyMap{{"a", 4}, {"b", MakeSecret("h")}});
}

TEST_CASE("[Y97] T90 an output that the stack lacks is an error in the update only") {
  const std::string text =
      "resources: {ref: {type: 'pulumi:pulumi:StackReference', properties: {name: o/p/s}}}\n"
      "outputs: {a: '${ref.outputs.plian}'}\n";
  YamlWorld world = World();
  CHECK_FALSE(world.Run(text));
  CHECK(world.monitor.HasError("Pulumi.yaml:2:15: the stack has no output 'plian'"));
  YamlWorld preview = World();
  preview.monitor.preview = true;
  REQUIRE(preview.Run(text));
  CHECK(preview.monitor.outputs.at("a").is_unknown());
}

TEST_CASE("[Y110] T88 fn::stackReference reads each stack once and is deprecated") {
  YamlWorld world = World();
  REQUIRE(
      world.Run("variables:\n"
                "  a: {'fn::stackReference': [o/p/s, plain]}\n"
                "  b: {'fn::stackReference': [o/p/s, hidden]}\n"
                "outputs: {a: '${a}', b: '${b}'}\n"));
  CHECK(world.monitor.reads.size() == 1);
  CHECK(world.monitor.reads[0].name == "o/p/s");
  CHECK(world.monitor.outputs == PropertyMap{{"a", 4}, {"b", MakeSecret("h")}});
  CHECK(world.monitor.HasWarning("Pulumi.yaml:2:7: 'fn::stackReference' is deprecated"));
  YamlWorld bad = World();
  CHECK_FALSE(bad.Run("variables: {a: {'fn::stackReference': ['${pulumi.stack}', plain]}}\n"));
  CHECK(bad.monitor.HasError("needs a list of a literal stack"));
}

TEST_CASE("[E196] [Y81] a stash is a resource of the package pulumi") {
  YamlWorld world = World();
  REQUIRE(world.Run("resources: {k: {type: 'pulumi:Stash', properties: {input: 1}}}\n"));
  CHECK(world.monitor.Named("k").type == "pulumi:index:Stash");
  YamlWorld bad = World();
  CHECK_FALSE(bad.Run("resources: {k: {type: 'pulumi:Stash'}, l: {type: 'pulumi:Stach'}}\n"));
  CHECK(bad.monitor.HasError("the property 'input' is missing"));
  CHECK(bad.monitor.HasError("has no resource type 'pulumi:Stach'"));
}

}  // namespace davit::testing
