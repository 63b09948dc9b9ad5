// localhost:index:Command in the real plugin.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <future>

#include "host/wire/message_io.h"
#include "tests/wire/plugin_driver.h"

namespace davit::testing {
namespace {

namespace rpc = pulumirpc;

struct World {
  FakeEngine engine;
  TestFolder folder;
  PluginDriver plugin{{.program = BuiltPlugin("localhost"),
                       .directory = folder.path(),
                       .arguments = {engine.address()}}};
  ResourceDriver command{plugin, "localhost:index:Command"};

  PropertyMap Run(const PropertyMap& inputs) {
    return BagOf(command.Create(command.Checked(inputs)).properties());
  }
  std::string RunError(const PropertyMap& inputs) {
    return command.CreateStatus(command.Checked(inputs)).message;
  }
};

/// A named pipe that a command opens: it tells how far the command has come, and when all its
/// processes are gone.
class Fifo {
 public:
  explicit Fifo(const std::string& path) {
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    file_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    REQUIRE(file_ >= 0);
  }
  ~Fifo() { ::close(file_); }
  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;

  /// Waits until the command writes; empty when nobody holds the pipe open any more.
  std::string Read() const {
    pollfd polled{file_, POLLIN, 0};
    REQUIRE(::poll(&polled, 1, 60'000) == 1);
    std::array<char, 256> buffer;
    const ssize_t count = ::read(file_, buffer.data(), buffer.size());
    REQUIRE(count >= 0);
    return std::string(buffer.data(), static_cast<std::size_t>(count));
  }

 private:
  int file_ = -1;
};

TEST_CASE("P78 a command's inputs are checked, by property") {
  World world;
  using Texts = std::vector<std::string>;
  CHECK(world.command.Failures({}) == Texts{"create: is required"});
  CHECK(world.command.Failures({{"create", ""}}) == Texts{"create: must not be empty"});
  CHECK(world.command.Failures({{"create", PropertyList{}}}) ==
        Texts{"create: must name a program"});
  CHECK(world.command.Failures({{"create", PropertyMap{}}}) ==
        Texts{"create: must be of type string or list of string"});
  CHECK(world.command.Failures({{"create", "true"}, {"environment", PropertyMap{{"A=B", "x"}}}}) ==
        Texts{"environment: 'A=B' cannot name a variable"});
  CHECK(world.command.Failures({{"create", "true"}, {"triggers", "x"}}) ==
        Texts{"triggers: must be of type list of any"});
}

TEST_CASE("a command runs in a shell or as a list, with input, environment and folder") {
  World world;
  const PropertyMap shell =
      world.Run({{"create", "read line; echo \"$line $WHO\"; pwd; echo oops >&2"},
                 {"stdin", "hello\n"},
                 {"environment", PropertyMap{{"WHO", 42}}},
                 {"dir", "/"}});
  CHECK(shell.at("stdout") == PropertyValue("hello 42\n/"));
  CHECK(shell.at("stderr") == PropertyValue("oops"));
  CHECK(shell.at("exitCode") == PropertyValue(0));
  const PropertyMap list = world.Run({{"create", PropertyList{"printf", "%s.", "a b", "$HOME"}}});
  CHECK(list.at("stdout") == PropertyValue("a b.$HOME."));
  const PropertyMap other = world.Run({{"create", "exit 3"}, {"okExitCodes", PropertyList{0, 3}}});
  CHECK(other.at("exitCode") == PropertyValue(3));
}

TEST_CASE("a command's input and output may be larger than a pipe") {
  World world;
  const std::string text(1024 * 1024, 'x');
  CHECK(world.Run({{"create", "cat"}, {"stdin", text}}).at("stdout") == PropertyValue(text));
  CHECK(world.Run({{"create", "true"}, {"stdin", text}}).at("stdout") == PropertyValue(""));
  const PropertyMap cut = world.Run({{"create", "head -c 5000000 /dev/zero | tr '\\0' y"}});
  CHECK(cut.at("stdout").as_string()->size() == 4 * 1024 * 1024);
  world.engine.WaitForLine("printed more than 4 MiB");
}

TEST_CASE("a command that fails says how, with its last lines") {
  World world;
  CHECK(world.RunError({{"create", "seq 1 12 >&2; exit 7"}}) ==
        "the create command exited with status 7; its last lines on stderr:\n"
        "3\n4\n5\n6\n7\n8\n9\n10\n11\n12");
  CHECK(world.RunError({{"create", "exit 7"}}) == "the create command exited with status 7");
  CHECK(world.RunError({{"create", "kill -9 $$"}}) ==
        "the create command was killed by signal 9 (Killed)");
  CHECK(world.RunError({{"create", PropertyList{"no-such-program"}}}) ==
        "program 'no-such-program' was not found; check PATH");
  CHECK_THAT(world.RunError({{"create", "true"}, {"dir", "missing"}}),
             Catch::Contains("cannot run '/bin/sh' in '") &&
                 Catch::EndsWith("missing': No such file or directory"));
}

TEST_CASE("P79 a change runs update, or replaces when there is none") {
  World world;
  const PropertyMap plain = world.command.Checked({{"create", "echo 1"}});
  const PropertyMap state = BagOf(world.command.Create(plain).properties());
  PropertyMap news = plain;
  news["create"] = "echo 2";
  news["delete"] = "true";
  CHECK(DetailOf(world.command.Diff("c", plain, state, news)) ==
        std::vector<std::string>{"create: UPDATE_REPLACE", "delete: ADD"});
  news["update"] = "echo \"updated after $DAVIT_STDOUT\"";
  CHECK(DetailOf(world.command.Diff("c", plain, state, news)) ==
        std::vector<std::string>{"create: UPDATE", "delete: ADD", "update: ADD"});
  PropertyMap triggered = news;
  triggered["triggers"] = PropertyList{1};
  CHECK(world.command.Diff("c", news, state, triggered).replaces_size() == 1);

  CHECK(world.command.Update("c", plain, state, news, true).at("stdout").is_unknown());
  const PropertyMap updated = world.command.Update("c", plain, state, news);
  CHECK(updated.at("stdout") == PropertyValue("updated after 1"));
  // A change of the commands alone is recorded, and runs nothing.
  PropertyMap renamed = news;
  renamed["update"] = "echo never";
  CHECK(world.command.Update("c", news, updated, renamed).at("stdout") ==
        PropertyValue("updated after 1"));
}

TEST_CASE("a command's outputs are unknown in a preview, and nothing runs") {
  World world;
  const PropertyMap inputs = world.command.Checked({{"create", "touch ran"}});
  const PropertyMap planned = BagOf(world.command.Create(inputs, true).properties());
  CHECK(planned.at("stdout").is_unknown());
  CHECK(planned.at("exitCode").is_unknown());
  CHECK_FALSE(world.folder.Has("ran"));
}

TEST_CASE("a command cleans up when it is deleted") {
  World world;
  const PropertyMap inputs = world.command.Checked(
      {{"create", "touch made; echo made"}, {"delete", "rm -f \"$DAVIT_STDOUT\""}});
  const rpc::CreateResponse created = world.command.Create(inputs);
  const PropertyMap state = BagOf(created.properties());
  CHECK(world.folder.Has("made"));
  CHECK_THAT(created.id(), Catch::StartsWith("command-"));
  const rpc::ReadResponse read = world.command.Read(created.id(), inputs, state);
  CHECK(BagOf(read.properties()) == state);
  CHECK(world.command.Delete(created.id(), inputs, state).ok());
  CHECK_FALSE(world.folder.Has("made"));
  CHECK(world.command.Delete(created.id(), inputs, state).ok());
  const PropertyMap without = world.command.Checked({{"create", "true"}});
  CHECK(world.command.Delete("c", without, without).ok());
  const PropertyMap failing = world.command.Checked({{"create", "true"}, {"delete", "exit 2"}});
  CHECK(world.command.Delete("c", failing, failing).message ==
        "the delete command exited with status 2");
}

TEST_CASE("a command with a secret has secret outputs, and its errors hide it") {
  World world;
  const PropertyValue canary = MakeSecret(PropertyValue("canary-7f3a9"));
  const PropertyMap ran =
      world.Run({{"create", "echo $TOKEN"}, {"environment", PropertyMap{{"TOKEN", canary}}}});
  CHECK(ran.at("stdout") == canary);
  CHECK(ran.at("stderr").is_secret());
  CHECK_FALSE(ran.at("exitCode").is_secret());
  CHECK(world.RunError({{"create", "echo \"bad token $TOKEN\" >&2; exit 1"},
                        {"environment", PropertyMap{{"TOKEN", canary}}}}) ==
        "the create command exited with status 1; its last lines on stderr:\nbad token [secret]");
  CHECK(world.RunError({{"create", PropertyList{canary}}}) ==
        "program '[secret]' was not found; check PATH");
  world.plugin.End(SIGTERM);
  CHECK_THAT(world.plugin.TakeStderr(), !Catch::Contains("canary"));
  for (const FakeEngine::Line& line : world.engine.lines()) {
    CHECK_THAT(line.message, !Catch::Contains("canary"));
  }
}

TEST_CASE("P34 Cancel kills a running command with all its processes") {
  World world;
  const Fifo fifo(world.folder.path("fifo"));
  // The inner shell and its sleep are not the command's own process.
  const PropertyMap inputs = world.command.Checked(
      {{"create",
        "trap '' TERM; exec 3> fifo; sh -c 'sleep 600 & echo sleeping >&3; wait'; echo over"}});
  auto running = std::async(std::launch::async, [&] { return world.command.CreateStatus(inputs); });
  CHECK(fifo.Read() == "sleeping\n");
  SECTION("at once") {
    CHECK(world.plugin.Status("Cancel", google::protobuf::Empty()).ok());
  }
  SECTION("when the plugin ends") {
    world.plugin.End(SIGINT);
  }
  const RpcStatus status = running.get();
  CHECK_FALSE(status.ok());
  if (status.code != RpcCode::kUnavailable) {
    CHECK(status.code == RpcCode::kUnknown);
    CHECK(status.message == "the create command was stopped by the interrupt");
  }
  CHECK(fifo.Read().empty());
}

TEST_CASE("P82 a command that takes longer than its timeout is stopped") {
  World world;
  rpc::CreateRequest request =
      world.command.CreateRequestFor(world.command.Checked({{"create", "sleep 600"}}));
  request.set_timeout(0.2);
  const RpcStatus status = world.plugin.Status("Create", request);
  CHECK(status.code == RpcCode::kUnknown);
  CHECK(status.message == "the create command was stopped after 0.2 seconds");
}

TEST_CASE("what a command leaves running neither holds it up nor ends with it") {
  World world;
  const PropertyMap inputs = world.command.Checked({{"create", "sleep 600 & echo $!"}});
  const PropertyMap state = BagOf(world.command.Create(inputs).properties());
  const pid_t left = std::stoi(*state.at("stdout").as_string());
  CHECK(::kill(left, 0) == 0);
  ::kill(left, SIGKILL);
}

}  // namespace
}  // namespace davit::testing
