// The project file (Y25-Y28, S88-S91).

#include <catch2/catch.hpp>

#include "engine/yaml/yaml_source.h"

namespace davit {
namespace {

using Texts = std::vector<std::string>;

Texts Errors(const std::string& text) {
  Texts texts;
  for (const Error& error : LoadProjectFile("/srv/app/Pulumi.yaml", text).errors) {
    texts.push_back(error.Text());
  }
  return texts;
}

TEST_CASE("S88: what a project file says") {
  const ProjectLoad load = LoadProjectFile("/srv/app/Pulumi.yaml",
                                           "name: app\n"
                                           "runtime: {name: yaml, options: {x: 1}}\n"
                                           "main: sub\n"
                                           "description: d\n"
                                           "backend: {url: 'file:///tmp'}\n"
                                           "stackConfigDir: conf\n"
                                           "options: {refresh: always}\n"
                                           "plugins:\n"
                                           "  providers:\n"
                                           "    - {name: p, path: ./p, version: 1.0.0}\n"
                                           "resources: {}\n"
                                           "x-notes: anything\n");
  REQUIRE(load.errors.empty());
  CHECK(load.project.directory == "/srv/app");
  CHECK(load.project.name == "app");
  CHECK(load.project.runtime == "yaml");
  CHECK(load.project.runtime_options.at("x") == PropertyValue(1));
  CHECK(load.project.main == "sub");
  CHECK(load.project.backend_url == "file:///tmp");
  CHECK(load.project.stack_config_dir == "conf");
  CHECK(load.project.refresh_option == "always");
  REQUIRE(load.project.plugins.size() == 1);
  CHECK(load.project.plugins[0].kind == "providers");
  CHECK(load.project.plugins[0].path == "./p");
  CHECK(load.project.plugins[0].version == "1.0.0");
}

TEST_CASE("Y25: mistakes are all named, each at its place") {
  CHECK(Errors("nmae: app\nruntime: yaml\n") ==
        Texts{"Pulumi.yaml:1:1: the project file has no 'name'; did you mean 'name' instead of "
              "'nmae'?"});
  CHECK(Errors("name: ''\nruntime: yaml\n") == Texts{"Pulumi.yaml:1:7: 'name' must not be empty"});
  CHECK(Errors("name: 12\n") ==
        Texts{"Pulumi.yaml:1:1: the project file has no 'runtime'; add 'runtime: yaml'",
              "Pulumi.yaml:1:7: 'name' must be a string, not a number; quote it"});
  CHECK(
      Errors("name: a b\nruntime: yaml\nbackend: {ulr: x}\noptions: {refresh: never}\nplugins: "
             "{providers: [{name: a}]}\n") ==
      Texts{
          "Pulumi.yaml:1:7: 'a b' is not a project name; use letters, digits, '-', '_' and '.'",
          "Pulumi.yaml:3:11: 'backend' has no key 'ulr'; allowed are url",
          "Pulumi.yaml:4:20: 'never' is no value of 'options.refresh'; the only value is 'always'",
          "Pulumi.yaml:5:23: an entry of 'plugins.providers' has no 'path'"});
  CHECK(Errors("[a]") == Texts{"Pulumi.yaml:1:1: the project file must be a mapping, not a list"});
  CHECK(Errors("name: a\nruntime: yaml\nname: b\n") ==
        Texts{"Pulumi.yaml:3:1: the key 'name' is given twice"});
}

TEST_CASE("Y26 Y28 S90: configuration declarations") {
  const ProjectLoad load = LoadProjectFile(
      "/srv/app/Pulumi.yaml",
      "name: app\nruntime: yaml\n"
      "config:\n"
      "  short: hello\n"
      "  aws:region: here\n"
      "  app:own: 5\n"
      "  word: {type: string, secret: true}\n"
      "  list: {type: array, items: {type: array, items: {type: integer}}, default: [[1]]}\n"
      "  other: {type: List< int >}\n"
      "  big: 9007199254740993\n"
      "  nothing:\n");
  REQUIRE(load.errors.empty());
  const auto& config = load.project.config;
  REQUIRE(config.size() == 8);
  CHECK(config[0].has_default);
  CHECK(config[0].default_value == PropertyValue("hello"));
  CHECK(config[1].has_value);
  CHECK_FALSE(config[1].has_default);
  CHECK(config[2].has_default);
  CHECK(config[3].type == "string");
  CHECK(config[3].is_secret);
  CHECK(config[4].type == "array");
  CHECK(config[4].items_type == "list<integer>");
  CHECK(config[5].type == "array");
  CHECK(config[5].items_type == "integer");
  CHECK(config[6].default_value == PropertyValue("9007199254740993"));
  CHECK_FALSE(config[7].has_default);
}

TEST_CASE("T26 T27 S91: wrong declarations") {
  CHECK(Errors("name: app\nruntime: yaml\nconfig:\n"
               "  a: {type: string, default: 42}\n"
               "  b: {type: integer, default: 42.2}\n"
               "  c: {type: integer, default: 42}\n"
               "  d: {type: frob}\n"
               "  e: {type: array}\n"
               "  f: {default: 1, value: 2}\n"
               "  aws:g: {type: string}\n"
               "  h: {defualt: 1}\n") ==
        Texts{"Pulumi.yaml:4:30: the default of 'a' is a number and not of type string",
              "Pulumi.yaml:5:31: the default of 'b' is a number and not of type integer",
              "Pulumi.yaml:7:13: 'frob' is not a type of configuration; valid types are string, "
              "number, integer, "
              "boolean, object, array and list<T>",
              "Pulumi.yaml:8:13: 'e' is an array without 'items'; add 'items: {type: string}'",
              "Pulumi.yaml:9:19: 'f' has both a 'default' and a 'value'; keep one",
              "Pulumi.yaml:10:3: 'aws:g' belongs to another namespace and has no 'value'; give it "
              "a 'value'",
              "Pulumi.yaml:10:11: 'aws:g' belongs to another namespace and may have no 'type'; "
              "give it a 'value'",
              "Pulumi.yaml:11:7: 'h' has no key 'defualt'; did you mean 'default'?"});
}

TEST_CASE("[Y14] what is wrong inside the program does not stop commands that need no program") {
  CHECK(LoadProjectFile("/app/Pulumi.yaml", "name: a\nruntime: yaml\noutputs: {o: {1: x}}\n")
            .errors.empty());
  CHECK(LoadProjectFile("/app/Pulumi.yaml", "name: a\nruntime: yaml\n1: x\n").errors.size() == 1);
}

TEST_CASE("[P12] what a plugin file says") {
  const ProjectLoad load = LoadPluginFile("/srv/plugin/PulumiPlugin.yaml",
                                          "runtime: {name: nodejs, options: {typescript: false}}\n"
                                          "requiredPulumiVersion: '>=3.0.0'\n"
                                          "packages: {other: ../other}\n");
  REQUIRE(load.errors.empty());
  CHECK(load.project.runtime == "nodejs");
  CHECK(load.project.runtime_options.contains("typescript"));
  CHECK(load.project.directory == "/srv/plugin");
  REQUIRE(load.project.local_packages.size() == 1);
  CHECK(load.project.local_packages[0].path == "../other");
  CHECK(LoadPluginFile("/p/PulumiPlugin.yaml", "packages: {}\n").errors.size() == 1);
  const ProjectLoad newer =
      LoadPluginFile("/p/PulumiPlugin.yaml", "runtime: go\nrequiredPulumiVersion: '>=99.0.0'\n");
  REQUIRE(newer.errors.size() == 1);
  CHECK(newer.errors[0].where->line == 2);
}

}  // namespace
}  // namespace davit
