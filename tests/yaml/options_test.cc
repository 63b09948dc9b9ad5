// Resource options (Y100-Y105).
#include <catch2/catch.hpp>

#include "tests/yaml/recording_monitor.h"

namespace davit::testing {
namespace {

Urn UrnOf(const std::string& name) {
  return Urn::Make("dev", "proj", Urn(), "p:index:Thing", name);
}

// A resource `x` with these options, after `a` and `b`, and a provider `prov`.
bool RunWith(YamlWorld* world, const std::string& options, const std::string& more = {}) {
  world->monitor.schemas["p"] = R"({"name":"p","resources":{"p:index:Thing":{
    "inputProperties":{"text":{}},"properties":{"text":{}}}},"provider":{}})";
  return world->Run(
      "resources:\n"
      "  x: {type: 'p:Thing', options: {" +
      options +
      "}}\n"
      "  a: {type: 'p:Thing'}\n"
      "  b: {type: 'p:Thing'}\n"
      "  prov: {type: 'pulumi:providers:p'}\n" +
      more);
}

std::string Wrong(const std::string& options, const std::string& more = {}) {
  YamlWorld world;
  CHECK_FALSE(RunWith(&world, options, more));
  REQUIRE_FALSE(world.monitor.errors.empty());
  return world.monitor.errors.front();
}

}  // namespace

TEST_CASE("[Y100] flags and lists reach the goal") {
  YamlWorld world;
  REQUIRE(RunWith(&world,
                  "protect: true, retainOnDelete: false, deleteBeforeReplace: true, "
                  "ignoreChanges: ['a.b[0]', 'm[\"with.dot\"]'], replaceOnChanges: [text], "
                  "hideDiffs: [text], additionalSecretOutputs: [text], version: 1.2.3, "
                  "pluginDownloadURL: 'https://example.com'"));
  const Goal& goal = world.monitor.Named("x");
  CHECK(goal.protect == true);
  CHECK(goal.retain_on_delete == false);
  CHECK(goal.delete_before_replace == true);
  CHECK(goal.ignore_changes == std::vector<std::string>{"a.b[0]", "m[\"with.dot\"]"});
  CHECK(goal.replace_on_changes == std::vector<std::string>{"text"});
  CHECK(goal.hide_diffs == std::vector<std::string>{"text"});
  CHECK(goal.additional_secret_outputs == std::vector<std::string>{"text"});
  CHECK(goal.version == "1.2.3");
  CHECK(goal.download_url == "https://example.com");
}

TEST_CASE("[Y102] T110 references in every option order the resource after what they name") {
  YamlWorld world;
  REQUIRE(
      RunWith(&world, "deletedWith: '${a}', replaceWith: ['${b}'], replacementTrigger: '${a.id}'"));
  const Goal& goal = world.monitor.Named("x");
  CHECK(goal.deleted_with == UrnOf("a"));
  CHECK(goal.replace_with == std::vector<Urn>{UrnOf("b")});
  CHECK(goal.replacement_trigger == PropertyValue("a-id"));
}

TEST_CASE("[Y100] parent and provider") {
  YamlWorld world;
  REQUIRE(RunWith(&world, "parent: '${a}', provider: '${prov}'"));
  const Goal& goal = world.monitor.Named("x");
  CHECK(goal.parent == UrnOf("a"));
  CHECK(goal.provider == "urn:pulumi:dev::proj::pulumi:providers:p::prov::prov-id");
  CHECK(Wrong("provider: '${a}'").find("Pulumi.yaml:2:44:") != std::string::npos);
  CHECK(Wrong("parent: text").find("'parent' must be a resource") != std::string::npos);
}

TEST_CASE("[Y100] T107 protect is a plain bool that is known") {
  YamlWorld world;
  world.Config("guard", "true");
  REQUIRE(RunWith(&world, "protect: '${guard}'", "config: {guard: {type: boolean}}\n"));
  CHECK(world.monitor.Named("x").protect == true);
  CHECK(Wrong("protect: 'yes'").find("'protect' must be true or false") != std::string::npos);
}

TEST_CASE("[Y100] T108 timeouts are durations, from configuration too") {
  YamlWorld world;
  world.Config("long", "7m");
  REQUIRE(RunWith(&world, "customTimeouts: {create: '${long}', update: 1h, delete: .2m}"));
  const CustomTimeouts& timeouts = world.monitor.Named("x").custom_timeouts;
  CHECK(timeouts.create == 420);
  CHECK(timeouts.update == 3600);
  CHECK(timeouts.delete_ == Approx(12));
  CHECK(Wrong("customTimeouts: {create: abc}").find("Pulumi.yaml:2:") != std::string::npos);
}

TEST_CASE("[Y100] T106 aliases as URNs and as maps, with parts from variables and resources") {
  YamlWorld world;
  REQUIRE(
      RunWith(&world,
              "aliases: ['urn:pulumi:dev::proj::p:index:Thing::old', {name: '${was}', type: "
              "'p:index:Other', project: pr, stack: st}, {parent: '${a}'}, {parent: '${a.urn}'}, "
              "{noParent: true}, {urn: 'urn:pulumi:dev::proj::p:index:Thing::x'}]",
              "variables: {was: before}\n"));
  const std::vector<AliasSpec>& aliases = world.monitor.Named("x").aliases;
  REQUIRE(aliases.size() == 6);
  CHECK(aliases[0].urn == UrnOf("old"));
  CHECK(aliases[1].name == "before");
  CHECK(aliases[1].type == "p:index:Other");
  CHECK(aliases[1].project == "pr");
  CHECK(aliases[1].stack == "st");
  CHECK(aliases[2].parent == UrnOf("a"));
  CHECK(aliases[3].parent == UrnOf("a"));
  CHECK(aliases[4].no_parent);
  CHECK(aliases[5].urn == UrnOf("x"));
  CHECK(Wrong("aliases: [{nmae: x}]").find("did you mean 'name'") != std::string::npos);
  CHECK(Wrong("aliases: [{name: [x]}]").find("must be a string") != std::string::npos);
  CHECK(Wrong("aliases: [text]").find("Pulumi.yaml:2:44: the alias 'text' is no URN") !=
        std::string::npos);
  CHECK(Wrong("aliases: {name: x}").find("must be a list") != std::string::npos);
  CHECK(Wrong("aliases: [{parent: text}]").find("'parent' of an alias") != std::string::npos);
  CHECK(Wrong("aliases: [{noParent: true, parent: '${a}'}]").find("both") != std::string::npos);
}

TEST_CASE("[Y100] T109 lists of resources may come from variables, single resources are refused") {
  YamlWorld world;
  REQUIRE(RunWith(&world,
                  "dependsOn: '${both}', replaceWith: '${both}', import: some-id",
                  "variables: {both: ['${a}', '${b}']}\n"));
  const Goal& goal = world.monitor.Named("x");
  CHECK(goal.dependencies == std::vector<Urn>{UrnOf("a"), UrnOf("b")});
  CHECK(goal.replace_with == goal.dependencies);
  CHECK(goal.import_id == "some-id");
  CHECK(Wrong("dependsOn: '${a}'").find("must be a list of resources") != std::string::npos);
}

TEST_CASE("[Y103] an option that is not known yet, or secret, is refused") {
  YamlWorld world;
  world.monitor.preview = true;
  CHECK_FALSE(RunWith(&world, "protect: '${a.id}'"));
  CHECK(world.monitor.HasError("'protect' must be known before"));
  CHECK(Wrong("version: {'fn::secret': 1.2.3}").find("cannot be a secret") != std::string::npos);
  CHECK(Wrong("version: 1.20").find("must be a string; write it in quotes") != std::string::npos);
}

TEST_CASE("[Y101] T116 a mistyped option is one error that suggests the right one") {
  YamlWorld world;
  CHECK_FALSE(RunWith(&world, "dependOn: ['${a}']"));
  REQUIRE(world.monitor.errors.size() == 1);
  CHECK(world.monitor.HasError("did you mean 'dependsOn'"));
}

TEST_CASE("[Y100] environment variables of a provider") {
  YamlWorld world;
  REQUIRE(
      world.Run("resources: {own: {type: 'pulumi:providers:p', options: {envVarMappings: "
                "{FROM: TO}}}}\n"));
  CHECK(world.monitor.Named("own").env_var_mappings ==
        std::map<std::string, std::string>{{"FROM", "TO"}});
}

}  // namespace davit::testing
