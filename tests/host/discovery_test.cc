// Finding plugins (P1-P10, P38).

#include "host/plugin/discovery.h"
#include "tests/host/host_fixture.h"

namespace davit::testing {
namespace {

struct Places {
  TempFolder folder;
  DiscoveryOptions options;

  Places() {
    options.environment = {{"PATH", folder.path("path")}, {"HOME", folder.path("home")}};
    options.program_folder = folder.path("bundled");
  }
  void InProject(const std::string& version) {
    folder.Script("project/pulumi-resource-thing", "");
    options.project_plugins.push_back(
        ProjectPlugin{"resource", "thing", folder.path("project"), version});
  }
  void OnPath() const { folder.Script("path/pulumi-resource-thing", ""); }
  void Bundled() const { folder.Script("bundled/pulumi-resource-thing", ""); }
  void InCache(const std::string& entry) const {
    folder.Script("home/.pulumi/plugins/" + entry + "/pulumi-resource-thing", "");
  }
  Result<FoundPlugin> Find(const std::string& version = {}) const {
    return FindPlugin(options, "resource", "thing", version);
  }
  std::string Entry(const std::string& version = {}) const {
    const Result<FoundPlugin> found = Find(version);
    return found ? std::filesystem::path(found->directory).filename().string()
                 : found.error().message;
  }
};

TEST_CASE("P5 project plugins come before PATH, PATH before bundled, bundled before the cache") {
  Places places;
  places.InCache("resource-thing-v1.0.0");
  REQUIRE(places.Find()->origin == FoundPlugin::Origin::kCache);
  places.Bundled();
  REQUIRE(places.Find()->origin == FoundPlugin::Origin::kBundled);
  places.OnPath();
  REQUIRE(places.Find()->origin == FoundPlugin::Origin::kPath);
  places.InProject("");
  REQUIRE(places.Find()->origin == FoundPlugin::Origin::kProject);
  REQUIRE(places.Find()->directory == places.folder.path("project"));
}

TEST_CASE("P6 a project plugin of another version is skipped with a warning") {
  Places places;
  places.InProject("1.0.0");
  places.OnPath();
  REQUIRE(places.Find("1.0.0")->origin == FoundPlugin::Origin::kProject);
  REQUIRE(places.Find()->origin == FoundPlugin::Origin::kProject);
  const Result<FoundPlugin> found = places.Find("2.0.0");
  REQUIRE(found->origin == FoundPlugin::Origin::kPath);
  RequireContains(found->warnings.front(), "1.0.0");
}

TEST_CASE("P6 a project path that is no directory is an error") {
  Places places;
  places.OnPath();
  places.options.project_plugins.push_back(ProjectPlugin{"resource", "thing", "/nowhere", ""});
  const Result<FoundPlugin> found = places.Find();
  REQUIRE(!found);
  RequireContains(found.error().message, "/nowhere");
}

TEST_CASE("P7 B084 plugins on PATH: any version, a warning, and a switch that only 1 and true set") {
  Places places;
  places.OnPath();
  const Result<FoundPlugin> found = places.Find("9.9.9");
  REQUIRE(found);
  REQUIRE(found->warnings.size() == 1);
  places.options.environment["PULUMI_IGNORE_AMBIENT_PLUGINS"] = "yes";
  REQUIRE(places.Find());
  places.options.environment["PULUMI_IGNORE_AMBIENT_PLUGINS"] = "TRUE";
  REQUIRE(!places.Find());
}

TEST_CASE("P7 no warning when PATH leads to the bundled plugin") {
  Places places;
  places.Bundled();
  std::filesystem::create_directories(places.folder.path("path"));
  std::filesystem::create_symlink(places.folder.path("bundled/pulumi-resource-thing"),
                                  places.folder.path("path/pulumi-resource-thing"));
  const Result<FoundPlugin> found = places.Find();
  REQUIRE(found->origin == FoundPlugin::Origin::kPath);
  REQUIRE(found->warnings.empty());
}

TEST_CASE("P9 the cache is searched for the equal version") {
  Places places;
  places.InCache("resource-thing-v1.2.3");
  places.InCache("resource-thing-v1.2.3+b");
  places.InCache("resource-thing-v1.10.0");
  places.InCache("resource-thing-v2.0.0-beta");
  REQUIRE(places.Entry("1.2.3") == "resource-thing-v1.2.3+b");
  REQUIRE(places.Entry("v1.10") == "resource-thing-v1.10.0");
  REQUIRE(!places.Find("1.2.4"));
  REQUIRE(!places.Find("1.0.0"));
  REQUIRE(places.Entry("2.0.0-beta") == "resource-thing-v2.0.0-beta");
}

TEST_CASE("P9 without a version the newest release wins over pre-releases") {
  Places places;
  places.InCache("resource-thing-v2.0.0-beta");
  REQUIRE(places.Entry() == "resource-thing-v2.0.0-beta");
  places.InCache("resource-thing-v1.2.3");
  places.InCache("resource-thing-v1.10.0");
  REQUIRE(places.Entry() == "resource-thing-v1.10.0");
  places.options.environment["PULUMI_ENABLE_LEGACY_PLUGIN_SEARCH"] = "x";
  REQUIRE(places.Entry("1.2.4") == "resource-thing-v1.10.0");
  REQUIRE(!places.Find("3.0.0"));
}

TEST_CASE("P9 a git-hash version is matched exactly") {
  Places places;
  places.InCache("resource-thing-v0.0.0-xabcd");
  REQUIRE(places.Find("0.0.0-xabcd"));
  REQUIRE(!places.Find("0.0.0-xabce"));
}

TEST_CASE("P3, P4 entries being installed are invisible, and use is noted") {
  Places places;
  places.InCache("resource-thing-v1.0.0");
  places.InCache("resource-thing-v2.0.0");
  places.folder.Write("home/.pulumi/plugins/resource-thing-v2.0.0.partial", "");
  places.folder.Write("home/.pulumi/plugins/resource-thing-v3.0.0", "a file");
  places.InCache("resource-thing-v4.0.0.tmp123");
  places.InCache("resource-thingy-v5.0.0");
  REQUIRE(places.Entry() == "resource-thing-v1.0.0");
  REQUIRE(std::filesystem::exists(
      places.folder.path("home/.pulumi/plugins/resource-thing-v1.0.0.lastused")));
}

TEST_CASE("P2 PULUMI_HOME replaces the home folder") {
  Places places;
  places.folder.Script("other/plugins/resource-thing-v1.0.0/pulumi-resource-thing", "");
  REQUIRE(!places.Find());
  places.options.environment["PULUMI_HOME"] = places.folder.path("other");
  REQUIRE(places.Find());
}

TEST_CASE("P10 a missing plugin is named, with version and advice") {
  const Places places;
  const Result<FoundPlugin> found = places.Find("1.2.3");
  REQUIRE(!found);
  RequireContains(found.error().message, "'thing'");
  RequireContains(found.error().message, "1.2.3");
  RequireContains(found.error().message, "PATH");
  RequireContains(found.error().advice, "pulumi-resource-thing");
  REQUIRE(!places.Find("no version"));
  REQUIRE(!FindPlugin(places.options, "resource", "../thing", ""));
}

TEST_CASE("P38 a place without executable needs a PulumiPlugin.yaml") {
  Places places;
  places.folder.Write("source/PulumiPlugin.yaml", "runtime: nodejs\n");
  places.options.project_plugins.push_back(
      ProjectPlugin{"resource", "thing", places.folder.path("source"), ""});
  const Result<FoundPlugin> source = places.Find();
  REQUIRE(source);
  REQUIRE(source->executable.empty());
  REQUIRE(source->directory == places.folder.path("source"));
  REQUIRE(source->plugin_file == places.folder.path("source/PulumiPlugin.yaml"));
  places.options.project_plugins.front().path = places.folder.path("home");
  std::filesystem::create_directories(places.folder.path("home"));
  const Result<FoundPlugin> empty = places.Find();
  REQUIRE(empty.error().kind == ErrorKind::kInvalid);
  RequireContains(empty.error().message, "neither an executable");
}

TEST_CASE("P12 a language host is an executable, whatever else its folder holds") {
  Places places;
  places.folder.Write("host/PulumiPlugin.yaml", "runtime: nodejs\n");
  places.options.project_plugins.push_back(
      ProjectPlugin{"language", "thing", places.folder.path("host"), ""});
  const Result<FoundPlugin> found = FindPlugin(places.options, "language", "thing", "");
  REQUIRE(found.error().kind == ErrorKind::kInvalid);
  places.folder.Script("host/pulumi-language-thing", "");
  REQUIRE(FindPlugin(places.options, "language", "thing", ""));
}

}  // namespace
}  // namespace davit::testing
