// localhost:index:File, Directory and readFile, in the real plugin.

#include <signal.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "host/wire/message_io.h"
#include "tests/wire/plugin_driver.h"

namespace davit::testing {
namespace {

namespace rpc = pulumirpc;
namespace fs = std::filesystem;

constexpr const char* kHelloSha256 =
    "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

struct World {
  FakeEngine engine;
  TestFolder folder;
  PluginDriver plugin{{.program = BuiltPlugin("localhost"),
                       .directory = folder.path(),
                       .arguments = {engine.address()}}};
  ResourceDriver file{plugin, "localhost:index:File"};
  ResourceDriver directory{plugin, "localhost:index:Directory"};

  unsigned ModeOf(const std::string& name) const {
    struct stat found {};
    REQUIRE(::stat(folder.path(name).c_str(), &found) == 0);
    return found.st_mode & 07777;
  }
};

TEST_CASE("P78 a file's inputs are checked, by property") {
  World world;
  using Texts = std::vector<std::string>;
  CHECK(world.file.Failures({{"content", "x"}}) == Texts{"path: is required"});
  CHECK(world.file.Failures({{"path", ""}, {"content", "x"}}) == Texts{"path: must not be empty"});
  CHECK(world.file.Failures({{"path", "a"}}) == Texts{"content: or 'source' is required"});
  CHECK(world.file.Failures({{"path", "a"}, {"content", "x"}, {"source", "b"}}) ==
        Texts{"content: excludes 'source'"});
  CHECK(world.file.Failures({{"path", "a"}, {"content", "x"}, {"mode", 420}}) ==
        Texts{"mode: must be four octal digits in quotes, such as \"0644\", not '420'"});
  CHECK(world.file.Failures({{"path", "a"}, {"content", "x"}, {"mode", "0689"}}).size() == 1);
  CHECK(world.file.Failures({{"path", PropertyMap{}}, {"content", "x"}}) ==
        Texts{"path: must be of type string"});
  CHECK(world.file.Failures({{"path", "a"}, {"contents", "x"}}).at(0).substr(0, 39) ==
        "contents: is not an input of localhost:");
  CHECK(world.file.Failures({{"path", Unknown()}, {"content", Unknown()}}).empty());
}

TEST_CASE("a file is created, changed, read and deleted") {
  World world;
  const PropertyMap inputs = world.file.Checked({{"path", "a.txt"}, {"content", "hello"}});
  CHECK(inputs.at("mode") == PropertyValue("0644"));

  // A preview changes nothing, and knows what can be known.
  const PropertyMap planned = BagOf(world.file.Create(inputs, true).properties());
  CHECK(planned.at("sha256") == PropertyValue(kHelloSha256));
  CHECK_FALSE(world.folder.Has("a.txt"));

  const rpc::CreateResponse created = world.file.Create(inputs);
  const PropertyMap state = BagOf(created.properties());
  CHECK(created.id() == fs::canonical(world.folder.path("a.txt")).string());
  CHECK(state.at("path") == PropertyValue(created.id()));
  CHECK(state.at("sha256") == PropertyValue(kHelloSha256));
  CHECK(state.at("size") == PropertyValue(5));
  CHECK(world.folder.Read("a.txt") == "hello");
  CHECK(world.ModeOf("a.txt") == 0644);

  CHECK(world.file.Diff(created.id(), inputs, state, inputs).changes() ==
        rpc::DiffResponse::DIFF_NONE);
  PropertyMap news = inputs;
  news["content"] = "bye";
  news["mode"] = "0600";
  news["path"] = "./a.txt";  // the same path
  CHECK(DetailOf(world.file.Diff(created.id(), inputs, state, news)) ==
        std::vector<std::string>{"content: UPDATE", "mode: UPDATE"});
  PropertyMap moved = inputs;
  moved["path"] = "b.txt";
  CHECK(DetailOf(world.file.Diff(created.id(), inputs, state, moved)) ==
        std::vector<std::string>{"path: UPDATE_REPLACE"});

  CHECK(world.file.Update(created.id(), inputs, state, news, true).at("size") == PropertyValue(3));
  CHECK(world.folder.Read("a.txt") == "hello");
  const PropertyMap updated = world.file.Update(created.id(), inputs, state, news);
  CHECK(updated.at("size") == PropertyValue(3));
  CHECK(updated.at("path") == PropertyValue(created.id()));
  CHECK(world.folder.Read("a.txt") == "bye");
  CHECK(world.ModeOf("a.txt") == 0600);

  CHECK(world.file.Delete(created.id(), news, updated).ok());
  CHECK_FALSE(world.folder.Has("a.txt"));
  CHECK(world.file.Delete(created.id(), news, updated).ok());
  // Nothing was left behind beside it.
  CHECK(fs::is_empty(world.folder.path()));
}

TEST_CASE("P81 Read finds drift, absence and what is to be imported") {
  World world;
  const PropertyMap inputs = world.file.Checked({{"path", "a.txt"}, {"content", "hello"}});
  const rpc::CreateResponse created = world.file.Create(inputs);
  const PropertyMap state = BagOf(created.properties());
  const rpc::ReadResponse same = world.file.Read(created.id(), inputs, state);
  CHECK(BagOf(same.properties()) == state);
  CHECK(BagOf(same.inputs()) == inputs);

  world.folder.Write("a.txt", "tampered");
  fs::permissions(world.folder.path("a.txt"), fs::perms(0640));
  const rpc::ReadResponse drifted = world.file.Read(created.id(), inputs, state);
  CHECK(BagOf(drifted.inputs()).at("content") == PropertyValue("tampered"));
  CHECK(BagOf(drifted.inputs()).at("mode") == PropertyValue("0640"));
  CHECK(BagOf(drifted.properties()).at("size") == PropertyValue(8));
  const PropertyMap drifted_state = BagOf(drifted.properties());
  CHECK(DetailOf(world.file.Diff(created.id(), BagOf(drifted.inputs()), drifted_state, inputs)) ==
        std::vector<std::string>{"content: UPDATE", "mode: UPDATE"});
  // The same with old inputs, as an engine sends that keeps them.
  CHECK(DetailOf(world.file.Diff(created.id(), inputs, drifted_state, inputs)) ==
        std::vector<std::string>{"content: UPDATE", "mode: UPDATE"});

  const rpc::ReadResponse imported = world.file.Read(created.id(), {}, {});
  CHECK(BagOf(imported.inputs()) ==
        PropertyMap{
            {"path", created.id()}, {"content", "tampered"}, {"mode", "0640"}, {"force", false}});

  fs::remove(world.folder.path("a.txt"));
  const rpc::ReadResponse gone = world.file.Read(created.id(), inputs, state);
  CHECK(gone.id().empty());
  CHECK_FALSE(gone.has_properties());
}

TEST_CASE("a file that was not created here is not overwritten unless forced") {
  World world;
  world.folder.Write("a.txt", "mine");
  const PropertyMap inputs = world.file.Checked({{"path", "a.txt"}, {"content", "hello"}});
  const RpcStatus refused = world.file.CreateStatus(inputs);
  CHECK(refused.code == RpcCode::kAborted);
  CHECK_THAT(refused.message, Catch::Contains("a.txt' exists and was not created here"));
  CHECK_THAT(refused.message, Catch::Contains("force: true"));
  CHECK(world.folder.Read("a.txt") == "mine");
  world.file.Create(inputs, true);
  CHECK(world.engine.WaitForLine("was not created here").severity == 2);

  PropertyMap forced = inputs;
  forced["force"] = true;
  world.file.Create(forced);
  CHECK(world.folder.Read("a.txt") == "hello");

  fs::create_directory(world.folder.path("d"));
  forced["path"] = "d";
  CHECK_THAT(world.file.CreateStatus(forced).message, Catch::EndsWith("is a directory"));
  forced["path"] = "missing/a.txt";
  CHECK_THAT(world.file.CreateStatus(forced).message, Catch::EndsWith("No such file or directory"));
}

TEST_CASE("a file copies its source, and a change of the source is a change") {
  World world;
  world.folder.Write("from", "hello");
  const PropertyMap inputs = world.file.Checked({{"path", "to"}, {"source", "from"}});
  const rpc::CreateResponse created = world.file.Create(inputs);
  const PropertyMap state = BagOf(created.properties());
  CHECK(world.folder.Read("to") == "hello");
  CHECK(state.at("sha256") == PropertyValue(kHelloSha256));
  CHECK(world.file.Diff(created.id(), inputs, state, inputs).changes() ==
        rpc::DiffResponse::DIFF_NONE);
  world.folder.Write("from", "other");
  CHECK(DetailOf(world.file.Diff(created.id(), inputs, state, inputs)) ==
        std::vector<std::string>{"source: UPDATE"});
  world.file.Update(created.id(), inputs, state, inputs);
  CHECK(world.folder.Read("to") == "other");
  fs::remove(world.folder.path("from"));
  CHECK_THAT(world.plugin
                 .Status("Update", world.file.UpdateRequestFor(created.id(), inputs, state, inputs))
                 .message,
             Catch::Contains("cannot read"));
  CHECK(world.folder.Read("to") == "other");
}

TEST_CASE("secret content is written, stays secret and shows nowhere else") {
  World world;
  const std::string canary = "canary-7f3a9";
  const PropertyMap inputs =
      world.file.Checked({{"path", "a.txt"}, {"content", MakeSecret(PropertyValue(canary))}});
  CHECK(inputs.at("content").is_secret());
  const PropertyMap planned = BagOf(world.file.Create(inputs, true).properties());
  CHECK(planned.at("sha256").is_secret());
  const rpc::CreateResponse created = world.file.Create(inputs);
  const PropertyMap state = BagOf(created.properties());
  CHECK(world.folder.Read("a.txt") == canary);
  CHECK(state.at("content").is_secret());
  CHECK(state.at("sha256").is_secret());
  CHECK(world.file.Diff(created.id(), inputs, state, inputs).changes() ==
        rpc::DiffResponse::DIFF_NONE);
  world.folder.Write("a.txt", canary + "-2");
  const rpc::ReadResponse drifted = world.file.Read(created.id(), inputs, state);
  CHECK(BagOf(drifted.inputs()).at("content").is_secret());

  std::vector<std::string> shown;
  for (const std::string& failure : world.file.Failures({{"content", inputs.at("content")}})) {
    shown.push_back(failure);
  }
  shown.push_back(world.file.CreateStatus(inputs).message);  // exists already
  PropertyMap nowhere = inputs;
  nowhere["path"] = "missing/a.txt";
  shown.push_back(world.file.CreateStatus(nowhere).message);
  nowhere["path"] = MakeSecret(PropertyValue("b.txt"));
  nowhere["mode"] = "0444";
  world.file.Create(nowhere);
  world.plugin.End(SIGTERM);
  shown.push_back(world.plugin.TakeStderr());
  for (const FakeEngine::Line& line : world.engine.lines()) {
    shown.push_back(line.message);
  }
  for (const std::string& text : shown) {
    CHECK_THAT(text, !Catch::Contains("canary"));
  }
}

TEST_CASE("E111 a file whose path or content is not known yet can be planned") {
  World world;
  const PropertyMap inputs = world.file.Checked({{"path", Unknown()}, {"content", Unknown()}});
  const PropertyMap planned = BagOf(world.file.Create(inputs, true).properties());
  CHECK(planned.at("path").is_unknown());
  CHECK(planned.at("sha256").is_unknown());
  CHECK(planned.at("size").is_unknown());
}

TEST_CASE("a directory is created, changed, read and deleted") {
  World world;
  CHECK(world.directory.Failures({{"path", "/"}}) ==
        std::vector<std::string>{"path: must not be '/'"});
  const PropertyMap inputs = world.directory.Checked({{"path", "d/"}});
  const PropertyMap planned = BagOf(world.directory.Create(inputs, true).properties());
  CHECK(planned.at("created") == PropertyValue(true));
  CHECK_FALSE(world.folder.Has("d"));
  const rpc::CreateResponse created = world.directory.Create(inputs);
  const PropertyMap state = BagOf(created.properties());
  CHECK(created.id() == fs::canonical(world.folder.path("d")).string());
  CHECK(world.ModeOf("d") == 0755);
  CHECK_THAT(world.directory.CreateStatus(inputs).message,
             Catch::Contains("exists and was not created here"));

  PropertyMap news = inputs;
  news["mode"] = "0700";
  CHECK(DetailOf(world.directory.Diff(created.id(), inputs, state, news)) ==
        std::vector<std::string>{"mode: UPDATE"});
  const PropertyMap updated = world.directory.Update(created.id(), inputs, state, news);
  CHECK(world.ModeOf("d") == 0700);
  fs::permissions(world.folder.path("d"), fs::perms(0750));
  const rpc::ReadResponse drifted = world.directory.Read(created.id(), news, updated);
  CHECK(BagOf(drifted.inputs()).at("mode") == PropertyValue("0750"));

  world.folder.Write("d/file", "x");
  const RpcStatus full = world.directory.Delete(created.id(), news, updated);
  CHECK(full.code == RpcCode::kAborted);
  CHECK_THAT(full.message, Catch::Contains("forceDelete"));
  news["forceDelete"] = true;
  const PropertyMap forced = world.directory.Update(created.id(), inputs, updated, news);
  CHECK(world.directory.Delete(created.id(), news, forced).ok());
  CHECK_FALSE(world.folder.Has("d"));
  CHECK(world.directory.Delete(created.id(), news, forced).ok());
  CHECK(world.directory.Read(created.id(), news, forced).id().empty());
}

TEST_CASE("a directory that was there before stays when its resource goes") {
  World world;
  fs::create_directory(world.folder.path("d"));
  const PropertyMap inputs = world.directory.Checked({{"path", "d"}, {"force", true}});
  const rpc::CreateResponse created = world.directory.Create(inputs);
  const PropertyMap state = BagOf(created.properties());
  CHECK(state.at("created") == PropertyValue(false));
  CHECK(world.directory.Delete(created.id(), inputs, state).ok());
  CHECK(world.folder.Has("d"));
}

TEST_CASE("a directory makes its parents only when asked") {
  World world;
  PropertyMap inputs = world.directory.Checked({{"path", "a/b/c"}});
  CHECK_THAT(world.directory.CreateStatus(inputs).message,
             Catch::EndsWith("No such file or directory"));
  inputs["parents"] = true;
  world.directory.Create(inputs);
  CHECK(world.folder.Has("a/b/c"));
}

TEST_CASE("readFile reads a file") {
  World world;
  world.folder.Write("a.txt", "hello");
  rpc::InvokeRequest invoke;
  invoke.set_tok("localhost:index:readFile");
  SetBag({{"path", "a.txt"}}, invoke.mutable_args());
  const auto answer = world.plugin.Call<rpc::InvokeResponse>("Invoke", invoke);
  CHECK(BagOf(answer.return_()) ==
        PropertyMap{{"content", "hello"}, {"sha256", kHelloSha256}, {"size", 5}});
  SetBag({{"path", "b.txt"}}, invoke.mutable_args());
  CHECK_THAT(world.plugin.Status("Invoke", invoke).message, Catch::Contains("cannot read"));
}

TEST_CASE("Y88 the schema of localhost describes every property") {
  World world;
  const nlohmann::json schema = nlohmann::json::parse(
      world.plugin.Call<rpc::GetSchemaResponse>("GetSchema", rpc::GetSchemaRequest()).schema());
  const nlohmann::json& resources = schema.at("resources");
  CHECK(resources.size() == 3);
  for (const auto& [token, resource] : resources.items()) {
    INFO(token);
    CHECK_FALSE(resource.at("description").get<std::string>().empty());
    for (const auto& [name, property] : resource.at("inputProperties").items()) {
      INFO(name);
      CHECK(property.contains("description"));
      CHECK(resource.at("properties").contains(name));
    }
  }
}

}  // namespace
}  // namespace davit::testing
