#include "cli/workspace/workspace.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "cli/commands/config_edit.h"
#include "cli/table.h"
#include "engine/base/digest.h"

namespace davit {
namespace {

namespace fs = std::filesystem;

// A folder that goes with the test.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(fs::temp_directory_path() /
              ("davit-workspace-" + name + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string text() const { return path_.string(); }
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    REQUIRE(ReplaceFile((path_ / name).string(), text));
  }

 private:
  fs::path path_;
};

const std::string kProject = "name: demo\nruntime: yaml\n";

TEST_CASE("[S85] the project file is looked for upwards, .json before .yaml before .yml") {
  const Folder folder("find");
  CHECK(FindProjectFile(folder / "a/b").empty());
  folder.Write("Pulumi.yml", kProject);
  folder.Write("a/b/x", "");
  CHECK(FindProjectFile(folder / "a/b") == folder / "Pulumi.yml");
  folder.Write("a/Pulumi.yaml", kProject);
  CHECK(FindProjectFile(folder / "a/b") == folder / "a/Pulumi.yaml");
  folder.Write("a/Pulumi.json", "{}");
  CHECK(FindProjectFile(folder / "a/b") == folder / "a/Pulumi.json");
}

TEST_CASE("[S109] where stacks are kept") {
  const Folder folder("backend");
  folder.Write("Pulumi.yaml", kProject);
  const auto url = [&](const Environment& environment) {
    return Workspace::Open(folder.text(), environment)->BackendUrl();
  };
  CHECK(url({}) == "file://" + (folder / ".davit"));
  CHECK(url({{"PULUMI_BACKEND_URL", "file:///p"}}) == "file:///p");
  CHECK(url({{"PULUMI_BACKEND_URL", "file:///p"}, {"DAVIT_BACKEND_URL", "file:///d"}}) ==
        "file:///d");
  folder.Write("Pulumi.yaml", kProject + "backend: {url: 'file:///y'}\n");
  CHECK(url({}) == "file:///y");
  CHECK_FALSE(Workspace::Open(folder.text(), {})->has_own_backend());
}

TEST_CASE("[S86] the stack file stands beside the project file or in stackConfigDir") {
  const Folder folder("stack-file");
  folder.Write("Pulumi.yaml", kProject);
  CHECK(Workspace::Open(folder.text(), {})->StackFilePath("dev") == folder / "Pulumi.dev.yaml");
  folder.Write("Pulumi.yaml", kProject + "stackConfigDir: stacks\n");
  CHECK(Workspace::Open(folder.text(), {})->StackFilePath("dev") ==
        folder / "stacks/Pulumi.dev.yaml");
}

TEST_CASE("[S154] selecting a stack, by project file and backend") {
  const Folder folder("select");
  folder.Write("Pulumi.yaml", kProject);
  const Environment environment = {{"PULUMI_HOME", folder / "home"}};
  Workspace workspace = *Workspace::Open(folder.text(), environment);
  CHECK(workspace.SelectedStack()->empty());
  REQUIRE(workspace.SelectStack("dev"));
  CHECK(*workspace.SelectedStack() == "organization/demo/dev");
  const std::string file = (folder / "home/workspaces/demo-") +
                           HexText(Sha1(folder / "Pulumi.yaml")) + "-workspace.json";
  REQUIRE(fs::exists(file));
  CHECK((fs::status(file).permissions() & fs::perms::others_read) == fs::perms::none);
  Environment elsewhere = environment;
  elsewhere["DAVIT_BACKEND_URL"] = "file:///other";
  CHECK(Workspace::Open(folder.text(), elsewhere)->SelectedStack()->empty());
  Environment named = environment;
  named["PULUMI_STACK"] = "prod";
  CHECK(*Workspace::Open(folder.text(), named)->SelectedStack() == "prod");
  REQUIRE(workspace.SelectStack(""));
  CHECK_FALSE(fs::exists(file));
}

TEST_CASE("[S154] the workspace file of the reference is understood, its older key too") {
  const StackSelection selection = *ParseStackSelection(
      R"({"stack": "old", "stacks": {"file:///x": "organization/p/dev"}})", "w.json");
  CHECK(selection.legacy_stack == "old");
  CHECK(selection.stacks.at("file:///x") == "organization/p/dev");
  CHECK(ParseStackSelection(StackSelectionText(selection), "w.json")->stacks == selection.stacks);
}

TEST_CASE("[S121] stack names and references") {
  CHECK(ParseStackRef("dev", "p")->Text() == "organization/p/dev");
  CHECK(ParseStackRef("organization/dev", "p")->Text() == "organization/p/dev");
  CHECK(ParseStackRef("organization/q/dev", "p")->Text() == "organization/q/dev");
  CHECK_FALSE(ParseStackRef("acme/q/dev", "p"));
  CHECK_FALSE(ParseStackRef("a/b/c/d", "p"));
  CHECK_FALSE(ParseStackRef("", "p"));
  CHECK(ParseStackRef("sp ace", "p").error().message.find("character ' ' at position 2") !=
        std::string::npos);
  CHECK_FALSE(CheckStackName(std::string(101, 'a')));
}

TEST_CASE("[S154] SHA-1") {
  CHECK(HexText(Sha1("")) == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  CHECK(HexText(Sha1("abc")) == "a9993e364706816aba3e25717850c26c9cd0d89d");
  CHECK(HexText(Sha1(std::string(56, 'a'))) == "c2db330f6083854c99d4b5bfb6e8f29f201be699");
  CHECK(HexText(Sha1(std::string(1000, 'a'))) == "291e9a6c66994949b57ba5e650361e98fc36b1ba");
}

TEST_CASE("[S96][S100] keys and paths of `config`") {
  const auto root = [](const std::string& text, bool is_path) {
    return ParseConfigKey(text, "p", is_path)->root;
  };
  CHECK(root("a", false) == "p:a");
  CHECK(root("a.b", false) == "p:a.b");
  CHECK(root("a.b[0]", true) == "p:a");
  CHECK(root("aws:region.x", true) == "aws:region");
  CHECK(root("[\"odd.key\"].x", true) == "p:odd.key");
  CHECK_FALSE(ParseConfigKey(".x", "p", true));
  CHECK_FALSE(ParseConfigKey("a:b:c", "p", false));
}

TEST_CASE("[C52][S102] what looks like a secret") {
  CHECK(LooksLikeSecret("p:password", "Xk9$2mQz7!pLwTrv"));
  CHECK(LooksLikeSecret("apiToken", "a8F3kd92LmQpZ71x"));
  CHECK_FALSE(LooksLikeSecret("p:name", "Xk9$2mQz7!pLwTrv"));
  CHECK_FALSE(LooksLikeSecret("p:password", "changeme"));
  CHECK_FALSE(LooksLikeSecret("p:secretName", "database-credentials"));
}

TEST_CASE("tables: padded columns, further lines below their column") {
  CHECK(TableText({{"KEY", "VALUE"}, {"long key", "a\nb"}}, 2) ==
        "  KEY       VALUE\n  long key  a\n            b\n");
}

}  // namespace
}  // namespace davit
