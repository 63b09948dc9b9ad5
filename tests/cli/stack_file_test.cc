#include "cli/workspace/stack_file.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "cli/workspace/yaml_text.h"

namespace davit {
namespace {

// The file of the recording `config-file-format`.
constexpr const char* kRecorded = R"(# a comment at the top
config:
  # about z
  golden:z: 1   # trailing
  golden:quoted: "02"
  golden:octal: 010
  golden:hex: 0x1F
  golden:float: 1.50
  golden:exp: 1e3
  golden:flag: true
  golden:word: yes
  golden:date: 2020-01-01
  golden:nothing:
  golden:tilde: ~
  golden:block: |
    two
    lines
  golden:list: [1, two, null, 1.5, true]
  golden:map: {1: int key, true: bool key, nested: {n: null, d: 2020-01-01}}
  bare: no namespace
  golden:config:three: parts
)";

// What a save leaves of it, after `config set aa first` and with the given first lines.
std::string Saved(const std::string& head) {
  return "# a comment at the top\nconfig:\n" + head + R"(  golden:quoted: "02"
  golden:octal: "8"
  golden:hex: "31"
  golden:float: "1.5"
  golden:exp: "1000"
  golden:flag: "true"
  golden:word: yes
  golden:date: 2020-01-01 00:00:00 +0000 UTC
  golden:nothing: ""
  golden:tilde: ""
  golden:block: |
    two
    lines
  golden:list: [1, two, null, 1.5, true]
  golden:map: {"1": int key, "true": bool key, nested: {n: null, d: '2020-01-01 00:00:00 +0000 UTC'}}
  golden:bare: no namespace
  golden:three: parts
  golden:aa: first
encryptionsalt: v1:salt
)";
}

StackFile Read(const std::string& text) {
  Result<StackFile> file = StackFile::Parse(text, "Pulumi.dev.yaml", "golden");
  INFO((file ? std::string() : file.error().Text()));
  REQUIRE(file);
  return *std::move(file);
}

std::string Rendered(const StackFile& file) {
  Result<std::string> text = file.Render();
  REQUIRE(text);
  return *text;
}

Result<std::string> NoSecrets(const std::string&) {
  return Fail(ErrorKind::kRefused, "no secrets here");
}

TEST_CASE("[S94][S98][S99] saving edits the file as recorded") {
  StackFile file = Read(kRecorded);
  CHECK(file.empty_keys() == std::vector<std::string>{"golden:nothing", "golden:tilde"});
  file.Set("golden:aa", ConfigNode::Text("first"));
  file.SetEncryptionSalt("v1:salt");
  const std::string first = Rendered(file);
  CHECK(first == Saved("  # about z\n  golden:z: \"1\" # trailing\n"));

  StackFile second = Read(first);
  second.Set("golden:z", ConfigNode::Text("2"));
  CHECK(Rendered(second) == Saved("  # about z\n  golden:z: \"2\" # trailing\n"));

  CHECK(second.Remove("golden:z"));
  CHECK(Rendered(second) == Saved(""));
}

TEST_CASE("[S98][S105] values as programs get them") {
  const StackFile file = Read(kRecorded);
  const auto text = [&](const std::string& key) {
    return *ConfigText(file.config().at("golden:" + key), NoSecrets);
  };
  CHECK(text("octal") == "8");
  CHECK(text("date") == "2020-01-01 00:00:00 +0000 UTC");
  CHECK(text("nothing").empty());
  CHECK(text("block") == "two\nlines\n");
  CHECK(text("list") == R"([1,"two",null,1.5,true])");
  CHECK(
      text("map") ==
      R"({"1":"int key","nested":{"d":"2020-01-01 00:00:00 +0000 UTC","n":null},"true":"bool key"})");
  CHECK(text("three") == "parts");
}

// The recording `config-commands`, one call per command.
TEST_CASE("[S93][S101][S102] a new file grows as recorded") {
  StackFile file = Read("");
  const auto set = [&](const std::string& key, ConfigNode value) {
    file.Set("golden:" + key, std::move(value));
    file = Read(Rendered(file));
  };
  const auto set_path = [&](const std::string& path_text, ConfigNode value) {
    const PropertyPath path = *PropertyPath::Parse(path_text, true);
    const std::string key = "golden:" + std::get<std::string>(path.segments()[0]);
    const auto found = file.config().find(key);
    Result<ConfigNode> changed = SetAtPath(
        found == file.config().end() ? std::nullopt : std::optional<ConfigNode>(found->second),
        path,
        std::move(value));
    if (changed) {
      file.Set(key, *std::move(changed));
      file = Read(Rendered(file));
      return std::string();
    }
    return changed.error().message;
  };
  set("word", ConfigNode::Text("hello"));
  set("n", ConfigNode::Text("42"));
  ConfigNode typed = ConfigNode::Text("42");
  typed.kind = ConfigNode::Kind::kInteger;
  file.Set("golden:typed", typed);
  CHECK(Rendered(file) ==
        "config:\n  golden:word: hello\n  golden:n: \"42\"\n  golden:typed: 42\n");
  file = Read(Rendered(file));
  set("empty", ConfigNode::Text(""));
  set("raw", ConfigNode::Text("piped\n"));
  CHECK(set_path("tree.list[0]", Coerced("1")).empty());
  CHECK(set_path("tree.list[1].x", Coerced("true")).empty());
  CHECK(set_path("tree[\"odd key\"]", Coerced("007")).empty());
  CHECK(set_path("tree.list[9]", Coerced("far")) == "tree.list[9]: array index out of range");
  CHECK(set_path("tree.list.x", Coerced("y")) == "tree.list.x: key for an array must be an int");
  CHECK(set_path("word.below", Coerced("x")).empty());
  CHECK(set_path("new[3]", Coerced("x")).empty());
  set("token", ConfigNode::Secure("v1:a:b"));
  CHECK(set_path("tree.hidden", ConfigNode::Secure("v1:c:d")).empty());
  CHECK(Rendered(file) == R"(config:
  golden:word:
    below: x
  golden:n: "42"
  golden:typed: "42"
  golden:empty: ""
  golden:raw: |
    piped
  golden:tree:
    list:
      - 1
      - x: true
    odd key: "007"
    hidden:
      secure: v1:c:d
  golden:new:
    - null
    - null
    - null
    - x
  golden:token:
    secure: v1:a:b
)");
  ConfigNode tree = file.config().at("golden:tree");
  RemoveAtPath(&tree, *PropertyPath::Parse("tree.list[0]"));
  file.Set("golden:tree", tree);
  CHECK(Rendered(file).find("    list:\n      - x: true\n    odd key") != std::string::npos);
  CHECK(file.config().at("golden:token").kind == ConfigNode::Kind::kSecure);
  CHECK(HasSecure(file.config().at("golden:tree")));
}

TEST_CASE("[S93] a file from nothing has the canonical order; comments of an empty file stay") {
  StackFile file = Read("# mine\n");
  file.SetEncryptionSalt("v1:x");
  file.Set("golden:b", ConfigNode::Text("1"));
  file.Set("golden:a", ConfigNode::Text("x: y"));
  CHECK(Rendered(file) ==
        "# mine\nencryptionsalt: v1:x\nconfig:\n  golden:a: 'x: y'\n  golden:b: \"1\"\n");
  StackFile empty = Read("config: {}\nencryptionsalt: v1:x\n");
  empty.Set("golden:a", ConfigNode::Text("1"));
  CHECK(Rendered(empty) == "config:\n  golden:a: \"1\"\nencryptionsalt: v1:x\n");
}

TEST_CASE("[S94] the last value takes the section with it; other sections stay") {
  StackFile file = Read("encryptionsalt: v1:x # keep\nconfig:\n  golden:a: b\nenvironment: []\n");
  CHECK(file.Remove("golden:a"));
  CHECK(Rendered(file) == "encryptionsalt: v1:x # keep\nenvironment: []\n");
  StackFile both = Read("config:\n  golden:a: b\n  golden:c: d");
  both.Remove("golden:c");
  both.Set("golden:e", ConfigNode::Text("f"));
  CHECK(Rendered(both) == "config:\n  golden:a: b\n  golden:e: f\n");
}

TEST_CASE("[S94] nothing changes when nothing is set") {
  const std::string text =
      "config:\n  golden:a: 'b'   \n  golden:m:\n    # why\n    x: 1\n    y: [1,  2]\n";
  CHECK(Rendered(Read(text)) == text);
}

TEST_CASE("[S76] a literal secrets provider goes") {
  StackFile file = Read("secretsprovider: passphrase\nencryptionsalt: v1:x\n");
  file.ClearSecretsProvider();
  CHECK(Rendered(file) == "encryptionsalt: v1:x\n");
}

TEST_CASE("[S96] keys") {
  CHECK(*NormalKey("a", "p") == "p:a");
  CHECK(*NormalKey("aws:region", "p") == "aws:region");
  CHECK(*NormalKey("p:config:a", "p") == "p:a");
  CHECK_FALSE(NormalKey("a:b:c", "p"));
  CHECK_FALSE(NormalKey("", "p"));
}

TEST_CASE("a stack file that cannot be is refused with its place") {
  const auto error = [](const std::string& text) {
    Result<StackFile> file = StackFile::Parse(text, "Pulumi.dev.yaml", "golden");
    REQUIRE_FALSE(file);
    return file.error().Text();
  };
  CHECK(error("config: [1]\n").find("Pulumi.dev.yaml:1:9") != std::string::npos);
  CHECK(error("config:\n  golden:a:b:c: x\n").find("Pulumi.dev.yaml:2:3") != std::string::npos);
  CHECK(error("config:\n  a: 1\n  golden:a: 2\n").find("twice") != std::string::npos);
  CHECK(error("config: {a: [}\n").find("Pulumi.dev.yaml:1:") != std::string::npos);
  CHECK(error("- a\n").find("must be a map") != std::string::npos);
}

TEST_CASE("[S97] secrets at any depth") {
  const StackFile file = Read(
      "config:\n  golden:a: {list: [{secure: v1:n:c}], secure: 1}\n  golden:b: {secure: v1:x:y}\n");
  CHECK(HasSecure(file.config().at("golden:a")));
  CHECK(file.config().at("golden:a").kind == ConfigNode::Kind::kMap);
  CHECK(file.config().at("golden:b").kind == ConfigNode::Kind::kSecure);
  const Decrypter clear = [](const std::string& text) -> Result<std::string> {
    return "clear " + text;
  };
  CHECK(*ConfigText(file.config().at("golden:a"), clear) ==
        R"({"list":["clear v1:n:c"],"secure":1})");
}

TEST_CASE("[S93] scalars are quoted only where they must be") {
  const auto scalar = [](const char* text) { return YamlScalar(text, false, 0); };
  CHECK(scalar("plain text") == "plain text");
  CHECK(scalar("v1:abc:def==") == "v1:abc:def==");
  CHECK(scalar("true") == "\"true\"");
  CHECK(scalar("no") == "\"no\"");
  CHECK(scalar("1e3") == "\"1e3\"");
  CHECK(scalar("- x") == "'- x'");
  CHECK(scalar("a # b") == "'a # b'");
  CHECK(scalar("it's: so") == "'it''s: so'");
  CHECK(scalar("tab\there") == "\"tab\\there\"");
  CHECK(scalar("a\nb") == "|-\n  a\n  b");
  CHECK(YamlScalar("a, b", true, 0) == "'a, b'");
}

TEST_CASE("saving replaces the file in one step and keeps its mode") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("davit-stack-file-" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "Pulumi.dev.yaml").string();
  StackFile file = *StackFile::Load(path, "golden");
  file.Set("golden:a", ConfigNode::Text("b"));
  REQUIRE(file.Save());
  std::filesystem::permissions(
      path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  StackFile again = *StackFile::Load(path, "golden");
  again.Set("golden:c", ConfigNode::Text("d"));
  REQUIRE(again.Save());
  CHECK(**ReadFileIfThere(path) == "config:\n  golden:a: b\n  golden:c: d\n");
  CHECK(std::distance(std::filesystem::directory_iterator(folder),
                      std::filesystem::directory_iterator()) == 1);
  CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::others_read) ==
        std::filesystem::perms::none);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace davit
