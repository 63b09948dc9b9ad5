// The kit as a process: what the engine sees of a plugin written with it.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <future>
#include <nlohmann/json.hpp>

#include "host/wire/message_io.h"
#include "host/wire/status_codec.h"
#include "pulumirpc/plugin.pb.h"
#include "tests/wire/plugin_driver.h"

namespace davit::testing {
namespace {

namespace rpc = pulumirpc;
using Json = nlohmann::json;

constexpr const char* kThing = "davittest:index:Thing";

PluginOptions DavitTest(const FakeEngine& engine,
                        std::map<std::string, std::string> environment = {}) {
  return {.program = BuiltPlugin("davittest"),
          .directory = {},
          .arguments = {engine.address()},
          .environment = std::move(environment)};
}

/// Inputs whose `behave` has a fault of one method.
PropertyMap WithFault(const std::string& method, const std::string& fault) {
  return {{"behave", PropertyMap{{"fault", PropertyMap{{method, fault}}}}}};
}

TEST_CASE("P26 P44 the port line, the abilities and the version of a plugin") {
  FakeEngine engine;
  PluginOptions options = DavitTest(engine);
  // P22: flags may come before the engine's address.
  options.arguments = {
      "--logtostderr", "-v=3", "--tracing", "http://127.0.0.1:1", engine.address()};
  PluginDriver plugin(options);
  CHECK(std::stoi(plugin.first_line()) > 0);
  rpc::ProviderHandshakeRequest handshake;
  handshake.set_accepts_byte_string(true);
  const auto answer = plugin.Call<rpc::ProviderHandshakeResponse>("Handshake", handshake);
  CHECK(answer.accept_secrets());
  CHECK(answer.accept_resources());
  CHECK_FALSE(answer.accept_outputs());
  CHECK(plugin.Call<rpc::PluginInfo>("GetPluginInfo", google::protobuf::Empty()).version() ==
        "1.2.3");
  const auto configured = plugin.Call<rpc::ConfigureResponse>("Configure", rpc::ConfigureRequest());
  CHECK(configured.supportspreview());
  const Json schema = Json::parse(
      plugin.Call<rpc::GetSchemaResponse>("GetSchema", rpc::GetSchemaRequest()).schema());
  CHECK(schema.at("resources").contains(kThing));
  // The log reaches the address that stood behind the flags.
  ResourceDriver(plugin, kThing).Create({{"behave", PropertyMap{{"log", "mind the gap"}}}});
  const FakeEngine::Line line = engine.WaitForLine("mind the gap");
  CHECK(line.severity == 2);
  CHECK(line.urn == UrnOf(kThing, "it"));
}

TEST_CASE("P47 P79 configuration is checked and compared") {
  FakeEngine engine;
  PluginDriver plugin(DavitTest(engine));
  rpc::CheckRequest check;
  SetBag({{"region", "here"}, {"token", 5}, {"version", "1.0.0"}}, check.mutable_news());
  const auto checked = plugin.Call<rpc::CheckResponse>("CheckConfig", check);
  CHECK(checked.failures().empty());
  CHECK(BagOf(checked.inputs()) ==
        PropertyMap{{"region", "here"}, {"token", "5"}, {"version", "1.0.0"}});
  SetBag({{"regoin", "here"}}, check.mutable_news());
  CHECK(plugin.Call<rpc::CheckResponse>("CheckConfig", check).failures(0).property() == "regoin");
  rpc::DiffRequest diff;
  SetBag({{"region", "here"}, {"version", "1.0.0"}}, diff.mutable_old_inputs());
  SetBag({{"region", "there"}, {"version", "2.0.0"}}, diff.mutable_news());
  const auto found = plugin.Call<rpc::DiffResponse>("DiffConfig", diff);
  CHECK(DetailOf(found) == std::vector<std::string>{"region: UPDATE_REPLACE"});
}

TEST_CASE("a resource goes through its life in the example provider") {
  TestFolder folder;
  PluginDriver plugin({.program = BuiltPlugin("example"), .directory = folder.path()});
  ResourceDriver note(plugin, "example:index:Note");
  CHECK(note.Failures({{"folder", "."}}) == std::vector<std::string>{"text: is required"});
  const PropertyMap inputs = note.Checked({{"folder", folder.path()}, {"text", "hello"}});
  const rpc::CreateResponse planned = note.Create(inputs, true);
  CHECK(planned.id().empty());
  CHECK_FALSE(folder.Has("it.txt"));
  const rpc::CreateResponse created = note.Create(inputs);
  CHECK(created.id() == folder.path("it.txt"));
  CHECK(BagOf(created.properties()).at("length") == PropertyValue(5));
  CHECK(folder.Read("it.txt") == "hello");
  const PropertyMap state = BagOf(created.properties());
  folder.Write("it.txt", "drifted");
  const rpc::ReadResponse read = note.Read(created.id(), inputs, state);
  CHECK(BagOf(read.inputs()).at("text") == PropertyValue("drifted"));
  PropertyMap news = inputs;
  news["text"] = "bye";
  CHECK(DetailOf(note.Diff(created.id(), inputs, state, news)) ==
        std::vector<std::string>{"text: UPDATE"});
  CHECK(note.Update(created.id(), inputs, state, news).at("length") == PropertyValue(3));
  CHECK(folder.Read("it.txt") == "bye");
  CHECK(note.Delete(created.id(), news, state).ok());
  CHECK(note.Delete(created.id(), news, state).ok());
  CHECK(note.Read(created.id(), inputs, state).id().empty());
}

TEST_CASE("P62 P30 deep and large values pass in both directions") {
  FakeEngine engine;
  PluginDriver plugin(DavitTest(engine));
  ResourceDriver thing(plugin, kThing);
  const rpc::CreateResponse deep = thing.Create({{"behave", PropertyMap{{"levels", 1000}}}});
  const PropertyMap outputs = BagOf(deep.properties());
  PropertyValue value = outputs.at("deep");
  int levels = 0;
  while (value.is_map()) {
    value = PropertyValue(value.as_map()->at("d"));
    ++levels;
  }
  CHECK(levels == 1000);
  CHECK(BagOf(thing.Create({{"deep", outputs.at("deep")}}).properties()) == outputs);
  const int bytes = 8 * 1024 * 1024;
  const rpc::CreateResponse huge = thing.Create({{"behave", PropertyMap{{"bytes", bytes}}}});
  CHECK(BagOf(huge.properties()).at("huge").as_string()->size() == std::size_t(bytes));
  CHECK(thing.Create({{"text", std::string(bytes, 'x')}}).id() == "it-4");
}

TEST_CASE(
    "P57 text that is not UTF-8 passes when the engine accepts it, and is refused otherwise") {
  FakeEngine engine;
  PluginDriver plugin(DavitTest(engine));
  ResourceDriver thing(plugin, kThing);
  const PropertyMap inputs{{"text", "\xff\xfe"}};
  const RpcStatus refused = thing.CreateStatus(inputs);
  CHECK_FALSE(refused.ok());
  CHECK_THAT(refused.message, Catch::Contains("text"));
  rpc::ProviderHandshakeRequest handshake;
  handshake.set_accepts_byte_string(true);
  plugin.Call<rpc::ProviderHandshakeResponse>("Handshake", handshake);
  CHECK(BagOf(thing.Create(inputs).properties()) == inputs);
}

TEST_CASE("P77 a partial failure carries the resource") {
  FakeEngine engine;
  PluginDriver plugin(DavitTest(engine));
  const PropertyMap partial{{"Create", PropertyList{"no answer", "not healthy"}}};
  const RpcStatus status =
      ResourceDriver(plugin, kThing)
          .CreateStatus({{"a", 1}, {"behave", PropertyMap{{"partial", partial}}}});
  CHECK(status.code == RpcCode::kUnknown);
  CHECK(status.message == "the resource is not ready: no answer; not healthy");
  rpc::ErrorResourceInitFailed detail;
  REQUIRE(FindDetail(status, &detail));
  CHECK(detail.id() == "it-1");
  CHECK(detail.reasons_size() == 2);
  CHECK(BagOf(detail.properties()) == PropertyMap{{"a", 1}});
  CHECK(BagOf(detail.inputs()).contains("behave"));
}

TEST_CASE("what a plugin does not have is named") {
  FakeEngine engine;
  PluginDriver plugin(DavitTest(engine));
  const RpcStatus list = plugin.Status("List", rpc::ListRequest());
  CHECK(list.code == RpcCode::kUnimplemented);
  CHECK(list.message == "provider 'davittest' does not offer List");
  const RpcStatus type = ResourceDriver(plugin, "davittest:index:Nothing").CreateStatus({});
  CHECK(type.code == RpcCode::kInvalidArgument);
  CHECK(type.message == "package 'davittest' has no resource type 'davittest:index:Nothing'");
  rpc::InvokeRequest invoke;
  invoke.set_tok("davittest:index:nothing");
  CHECK(plugin.Status("Invoke", invoke).message ==
        "package 'davittest' has no function 'davittest:index:nothing'");
  CHECK(plugin.CallBytes("Create", "\xff\xff\xff").status.code == RpcCode::kInvalidArgument);
}

TEST_CASE("a function answers, and names arguments it does not know") {
  FakeEngine engine;
  PluginDriver plugin(DavitTest(engine));
  rpc::InvokeRequest invoke;
  invoke.set_tok("davittest:index:echo");
  const PropertyMap args{{"value", MakeSecret(PropertyValue("s"))}};
  SetBag(args, invoke.mutable_args());
  CHECK(BagOf(plugin.Call<rpc::InvokeResponse>("Invoke", invoke).return_()) == args);
  SetBag({{"vlaue", 1}}, invoke.mutable_args());
  CHECK(plugin.Call<rpc::InvokeResponse>("Invoke", invoke).failures(0).property() == "vlaue");
}

TEST_CASE("P34 Cancel stops the calls in flight, and later ones") {
  FakeEngine engine;
  PluginDriver plugin(DavitTest(engine));
  ResourceDriver thing(plugin, kThing);
  auto hanging = std::async(std::launch::async,
                            [&] { return thing.CreateStatus(WithFault("Create", "hang")); });
  engine.WaitForLine("hanging in Create");
  CHECK(plugin.Status("Cancel", google::protobuf::Empty()).ok());
  const RpcStatus status = hanging.get();
  CHECK(status.code == RpcCode::kCancelled);
  CHECK(status.message == "Create was cancelled");
  CHECK(thing.CreateStatus(WithFault("Create", "hang")).message == "Create was cancelled");
}

TEST_CASE("a call that its caller gives up is stopped") {
  FakeEngine engine;
  PluginDriver plugin(DavitTest(engine));
  const rpc::CreateRequest request =
      ResourceDriver(plugin, kThing).CreateRequestFor(WithFault("Create", "hang"));
  const WireReply reply =
      plugin.CallBytes("Create", SerializeMessage(request), std::chrono::milliseconds(300));
  CHECK(reply.status.code == RpcCode::kDeadlineExceeded);
  engine.WaitForLine("stopped in Create");
}

TEST_CASE("a handler that hangs holds up nobody else") {
  FakeEngine engine;
  PluginDriver plugin(DavitTest(engine));
  ResourceDriver thing(plugin, kThing);
  std::vector<std::future<RpcStatus>> hanging;
  for (int index = 0; index < 20; ++index) {
    hanging.push_back(std::async(std::launch::async,
                                 [&] { return thing.CreateStatus(WithFault("Create", "hang")); }));
  }
  CHECK(thing.Create({{"a", 1}}).id() == "it-1");
  CHECK(plugin.Status("Cancel", google::protobuf::Empty()).ok());
  for (std::future<RpcStatus>& call : hanging) {
    CHECK(call.get().code == RpcCode::kCancelled);
  }
}

TEST_CASE("P33 a signal stops the calls and ends the plugin") {
  FakeEngine engine;
  PluginDriver plugin(DavitTest(engine));
  ResourceDriver thing(plugin, kThing);
  auto hanging = std::async(std::launch::async,
                            [&] { return thing.CreateStatus(WithFault("Create", "hang")); });
  engine.WaitForLine("hanging in Create");
  const int status = plugin.End(GENERATE(SIGINT, SIGTERM));
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK_FALSE(hanging.get().ok());
}

TEST_CASE("P33 a handler that does not stop cannot keep the plugin alive") {
  FakeEngine engine;
  PluginDriver plugin(DavitTest(engine));
  ResourceDriver thing(plugin, kThing);
  auto hanging = std::async(
      std::launch::async, [&] { return thing.CreateStatus(WithFault("Create", "hang=forever")); });
  engine.WaitForLine("hanging in Create");
  const int status = plugin.End(SIGTERM);
  CHECK(WEXITSTATUS(status) == 1);
  CHECK(hanging.get().code == RpcCode::kUnavailable);
}

TEST_CASE("P37 a plugin whose parent has died ends") {
  // The shell is the parent; its `wait` ends with its death, and the plugin holds the pipe open.
  PluginDriver shell({.program = "/bin/sh",
                      .directory = {},
                      .arguments = {"-c", "\"$0\" & wait", BuiltPlugin("example")}});
  const int status = shell.End(SIGKILL);
  CHECK(WIFSIGNALED(status));
  CHECK(shell.WaitForEndOfOutput());
}

TEST_CASE("P35 a plugin may die in a call") {
  FakeEngine engine;
  PluginDriver plugin(DavitTest(engine));
  ResourceDriver thing(plugin, kThing);
  SECTION("by exiting") {
    CHECK(thing.CreateStatus(WithFault("Create", "exit=7")).code == RpcCode::kUnavailable);
    CHECK(WEXITSTATUS(plugin.WaitForExit()) == 7);
    CHECK(plugin.TakeStderr() == "davittest: leaving in Create\n");
  }
  SECTION("by a signal") {
    CHECK(thing.CreateStatus(WithFault("Create", "signal=11")).code == RpcCode::kUnavailable);
    CHECK(WTERMSIG(plugin.WaitForExit()) == SIGSEGV);
  }
}

TEST_CASE("P76 the test provider fails as it is told") {
  FakeEngine engine;
  TestFolder folder;
  PluginDriver plugin(DavitTest(engine,
                                {{"DAVITTEST_LOG", folder.path("log")},
                                 {"DAVITTEST_FAULTS", "GetSchema:fail=13,Configure:garbage"}}));
  ResourceDriver thing(plugin, kThing);
  const RpcStatus failed = thing.CreateStatus(WithFault("Create", "fail=15"));
  CHECK(failed.code == RpcCode::kDataLoss);
  CHECK(failed.message == "Create was told to fail");
  CHECK(plugin.Status("GetSchema", rpc::GetSchemaRequest()).code == RpcCode::kInternal);
  const WireReply garbage = plugin.CallBytes("Configure", {});
  CHECK(garbage.status.ok());
  rpc::ConfigureResponse unreadable;
  CHECK_FALSE(ParseMessage(garbage.bytes, &unreadable));
  // Previews are spared, and every call is in the log.
  CHECK(thing.Create(WithFault("Create", "fail=15"), true).id().empty());
  std::istringstream log(folder.Read("log"));
  std::vector<std::string> methods;
  std::string line;
  while (std::getline(log, line)) {
    methods.push_back(Json::parse(line).at("method"));
  }
  CHECK(methods == std::vector<std::string>{"Create", "GetSchema", "Configure", "Create"});
}

TEST_CASE("P26 the test provider starts as it is told") {
  FakeEngine engine;
  SECTION("not at all") {
    PluginDriver plugin(DavitTest(engine, {{"DAVITTEST_START_ERROR", "no such library"}}));
    CHECK(plugin.first_line().empty());
    CHECK(WEXITSTATUS(plugin.WaitForExit()) == 3);
    CHECK(plugin.TakeStderr() == "no such library\n");
  }
  SECTION("with a banner") {
    PluginDriver plugin(DavitTest(engine, {{"DAVITTEST_PORT_LINE", "welcome"}}));
    CHECK(plugin.first_line() == "welcome");
  }
  SECTION("late") {
    PluginDriver plugin(DavitTest(engine, {{"DAVITTEST_START_DELAY_MS", "50"}}));
    CHECK(std::stoi(plugin.first_line()) > 0);
  }
}

TEST_CASE("the test provider plans, drifts and replaces as it is told") {
  FakeEngine engine;
  PluginDriver plugin(DavitTest(engine));
  ResourceDriver thing(plugin, kThing);
  const PropertyMap behave{{"computed", PropertyMap{{"out", 1}}},
                           {"secret", PropertyList{"a"}},
                           {"replace", PropertyList{"b"}},
                           {"drift", PropertyMap{{"a", "moved"}}}};
  const PropertyMap inputs{{"a", "x"}, {"b", "y"}, {"behave", behave}};
  CHECK(BagOf(thing.Create(inputs, true).properties()) ==
        PropertyMap{{"a", MakeSecret(PropertyValue("x"))}, {"b", "y"}, {"out", Unknown()}});
  const PropertyMap outputs = BagOf(thing.Create(inputs).properties());
  CHECK(outputs == PropertyMap{{"a", MakeSecret(PropertyValue("x"))}, {"b", "y"}, {"out", 1}});
  PropertyMap news = inputs;
  news["a"] = "z";
  news["b"] = "z";
  CHECK(DetailOf(thing.Diff("it-1", inputs, outputs, news)) ==
        std::vector<std::string>{"a: UPDATE", "b: UPDATE_REPLACE"});
  CHECK(BagOf(thing.Read("it-1", inputs, outputs).properties()).at("a") == PropertyValue("moved"));
  CHECK(thing.Failures({{"behave", PropertyMap{{"badInputs", PropertyMap{{"a", "is odd"}}}}}}) ==
        std::vector<std::string>{"a: is odd"});
}

}  // namespace
}  // namespace davit::testing
