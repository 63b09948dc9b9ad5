// GrpcPluginHost: real plugin processes (shell scripts) that name the port of a provider in this
// process.

#include "host/plugin/plugin_host.h"

#include <csignal>

#include "host/client/provider_client.h"
#include "host/wire/rpc_trace.h"
#include "tests/host/scripted_server.h"
#include "tests/host/host_fixture.h"

namespace davit::testing {
namespace {

namespace rpc = pulumirpc;

const Urn kUrn = Urn::Trusted("urn:pulumi:dev::golden::pkg:index:Thing::a");

struct World {
  AsioLoop loop;
  WorkPool pool;
  TempFolder folder;
  ScriptedServer fake;
  PluginHostOptions options;
  std::vector<std::string> messages;  ///< `<severity> text`

  World() {
    options.loop = &loop;
    options.pool = &pool;
    options.engine_address = "127.0.0.1:4321";
    options.root_directory = folder.path();
    options.environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", folder.path("home")}};
    options.project_plugins.push_back(ProjectPlugin{"resource", "pkg", folder.path("plugin"), ""});
    options.output = [this](
                         Severity severity, const std::string& message, const std::string&, int) {
      messages.push_back(std::to_string(static_cast<int>(severity)) + " " + message);
    };
    fake.handshake = [](const auto&, auto*) { return FakeStatus(); };
    fake.get_plugin_info = [](const auto&, rpc::PluginInfo* info) {
      info->set_version("1.0.0");
      return FakeStatus();
    };
    fake.cancel = [](const auto&, auto*) { return FakeStatus(); };
  }

  /// The plugin prints the fake's port after `before` and then does `after`.
  void Plugin(const std::string& after, const std::string& before = {}) const {
    folder.Script("plugin/pulumi-resource-pkg",
                  before + "\necho " + std::to_string(fake.port()) + "\n" + after);
  }
  Result<std::shared_ptr<Provider>> Load(PluginSpec spec) {
    GrpcPluginHost host(options);
    return Await(loop, host.LoadProvider(std::move(spec), {}));
  }
  Result<std::shared_ptr<Provider>> Load() {
    PluginSpec spec;
    spec.name = "pkg";
    return Load(std::move(spec));
  }
  bool HasMessage(const std::string& part) const {
    return std::ranges::any_of(
        messages, [&](const std::string& text) { return text.find(part) != std::string::npos; });
  }
};

using Names = std::vector<std::string>;

TEST_CASE("P42 order of calls, and P33 at the end") {
  World world;
  world.Plugin("exec sleep 60");
  const auto provider = world.Load();
  REQUIRE(provider);
  REQUIRE((*provider)->version() == "1.0.0");
  REQUIRE((*provider)->is_alive());
  Await(world.loop, (*provider)->Close());
  REQUIRE(!(*provider)->is_alive());
  REQUIRE(world.fake.calls() == Names{"Handshake", "GetPluginInfo", "Cancel"});
  REQUIRE(world.messages.empty());
}

TEST_CASE("P22-P24 arguments, environment and folder of the plugin") {
  World world;
  world.options.program_directory = world.folder.path("program");
  std::filesystem::create_directories(world.folder.path("program"));
  world.options.project = "proj";
  world.options.runtime_options = {{"typescript", "false"}};
  world.options.config = {{"pkg:region", ConfigValue{"north", false, false}},
                          {"pkg:key", ConfigValue{"a\"b", true, false}},
                          {"other:region", ConfigValue{"x", false, false}}};
  world.options.environment["NEW_KEY"] = "mapped";
  world.options.environment["OLD_KEY"] = "own";
  world.folder.Script(
      "plugin/pulumi-resource-pkg",
      "echo \"$#|$1|$(pwd)|$PULUMI_PROJECT|$PULUMI_RUNTIME_TYPESCRIPT|$PULUMI_CONFIG|$OLD_KEY\" "
      "> " +
          world.folder.path("seen") + "\necho " + std::to_string(world.fake.port()) +
          "\nexec sleep 60");
  PluginSpec spec;
  spec.name = "pkg";
  spec.env_var_mappings = {{"NEW_KEY", "OLD_KEY"}, {"UNSET", "HOME"}};
  const auto provider = world.Load(spec);
  REQUIRE(provider);
  REQUIRE(world.folder.Read("seen") ==
          "1|127.0.0.1:4321|" + world.folder.path("program") +
              "|proj|false|{\"key\":\"a\\\"b\",\"region\":\"north\"}|mapped\n");
  Await(world.loop, (*provider)->Close());
}

TEST_CASE("P43 the Handshake names the folder of the executable and the engine") {
  World world;
  rpc::ProviderHandshakeRequest seen;
  world.fake.handshake = [&](const rpc::ProviderHandshakeRequest& request, auto*) {
    seen = request;
    return FakeStatus();
  };
  world.options.environment["PULUMI_DISABLE_REFRESH_BEFORE_UPDATE"] = "true";
  world.Plugin("exec sleep 60");
  const auto provider = world.Load();
  REQUIRE(provider);
  REQUIRE(seen.engine_address() == "127.0.0.1:4321");
  REQUIRE(seen.root_directory() == world.folder.path("plugin"));
  REQUIRE(seen.program_directory() == world.folder.path("plugin"));
  REQUIRE(!seen.supports_refresh_before_update());
  REQUIRE(!seen.has_loader_target());
  Await(world.loop, (*provider)->Close());
}

TEST_CASE("P45 a parameterized package, after plugin info") {
  World world;
  world.fake.parameterize = [](const rpc::ParameterizeRequest& request,
                               rpc::ParameterizeResponse* response) {
    response->set_name(request.value().name());
    response->set_version(request.value().version());
    return FakeStatus();
  };
  world.Plugin("exec sleep 60");
  PluginSpec spec;
  spec.name = "pkg";
  spec.parameterization = Parameterization{"sub", "1.0.0", "x"};
  const auto provider = world.Load(spec);
  REQUIRE(provider);
  REQUIRE(world.fake.calls() == Names{"Handshake", "GetPluginInfo", "Parameterize"});
  Await(world.loop, (*provider)->Close());
}

TEST_CASE("P11 an old version is a warning, not an error") {
  World world;
  world.Plugin("exec sleep 60");
  PluginSpec spec;
  spec.name = "pkg";
  spec.version = "1.5.0";
  const auto provider = world.Load(spec);
  REQUIRE(provider);
  REQUIRE(world.HasMessage("version 1.0.0, but version 1.5.0"));
  Await(world.loop, (*provider)->Close());
  world.messages.clear();
  world.options.environment["PULUMI_DEV"] = "1";
  const auto quiet = world.Load(spec);
  REQUIRE(quiet);
  REQUIRE(world.messages.empty());
  Await(world.loop, (*quiet)->Close());
}

TEST_CASE("P21 [C81] a running provider is attached to, and not ended") {
  World world;
  world.options.environment["PULUMI_DEBUG_PROVIDERS"] =
      "other:1,pkg:" + std::to_string(world.fake.port());
  rpc::PluginAttach attach;
  rpc::ProviderHandshakeRequest handshake;
  world.fake.attach = [&](const rpc::PluginAttach& request, auto*) {
    attach = request;
    return FakeStatus();
  };
  world.fake.handshake = [&](const rpc::ProviderHandshakeRequest& request, auto*) {
    handshake = request;
    return FakeStatus();
  };
  const auto provider = world.Load();
  REQUIRE(provider);
  REQUIRE(attach.address() == "127.0.0.1:4321");
  REQUIRE(!handshake.has_root_directory());
  REQUIRE(world.fake.calls() == Names{"Handshake", "Attach", "GetPluginInfo"});
  Await(world.loop, (*provider)->Close());

  world.fake.attach = nullptr;
  const auto refused = world.Load();
  REQUIRE(!refused);
  RequireContains(refused.error().message, "'pkg'");
}

TEST_CASE("P21 malformed PULUMI_DEBUG_PROVIDERS is an error") {
  World world;
  for (const char* text : {"pkg", "pkg:x", "pkg:0", "a:1,b"}) {
    world.options.environment["PULUMI_DEBUG_PROVIDERS"] = text;
    const auto provider = world.Load();
    INFO(text);
    REQUIRE(!provider);
    RequireContains(provider.error().Text(), "PULUMI_DEBUG_PROVIDERS");
  }
}

TEST_CASE("P10 a plugin that is not found, P26 one that does not start") {
  World world;
  PluginSpec spec;
  spec.name = "missing";
  RequireContains(world.Load(spec).error().message, "'missing'");
  world.folder.Script("plugin/pulumi-resource-pkg", "echo 'no such library' >&2; exit 3");
  const auto provider = world.Load();
  RequireContains(provider.error().message, "exited with status 3");
  RequireContains(provider.error().message, "no such library");
}

TEST_CASE("P26 the deadline for the port line can be set") {
  World world;
  world.folder.Script("plugin/pulumi-resource-pkg", "exec sleep 60");
  world.options.start_deadline = std::chrono::milliseconds(50);
  RequireContains(world.Load().error().message, "0.05 s");
  world.options.environment["DAVIT_PLUGIN_START_TIMEOUT"] = "1";
  RequireContains(world.Load().error().message, "within 1 s");
}

TEST_CASE("P29 a plugin that dies before it answers is named, without waiting for the budget") {
  World world;
  world.folder.Script("plugin/pulumi-resource-pkg", "echo 1; echo 'cannot bind' >&2; exit 4");
  const auto provider = world.Load();
  RequireContains(provider.error().message, "exited with status 4");
  RequireContains(provider.error().message, "cannot bind");
  RequireContains(provider.error().message, "Handshake");
}

TEST_CASE("a plugin whose load fails is not left running") {
  World world;
  world.fake.get_plugin_info = [](const auto&, auto*) { return FakeStatus{2, "not today", {}}; };
  world.Plugin("exec sleep 60", "echo $$ > \"$0.pid\"");
  const auto provider = world.Load();
  RequireContains(provider.error().message, "not today");
  const int pid = std::stoi(world.folder.Read("plugin/pulumi-resource-pkg.pid"));
  REQUIRE(::kill(pid, 0) != 0);
}

TEST_CASE(
    "P35 a plugin that dies in a call: exit status, call, resource and last output are named") {
  World world;
  // The script ends when the fake has been asked to create, as a crashing provider would.
  world.Plugin(
      "while [ ! -e \"$0.crash\" ]; do sleep 0.01; done; echo 'panic: nil map' >&2; exit 2");
  world.fake.create = [&](const auto&, auto*) {
    world.folder.Write("plugin/pulumi-resource-pkg.crash", "");
    return FakeStatus{14, "Socket closed", {}};
  };
  const auto provider = world.Load();
  REQUIRE(provider);
  CreateRequest request;
  request.urn = kUrn;
  const Result<CreateResponse> response = Await(world.loop, (*provider)->Create(request, {}));
  REQUIRE(response.error().kind == ErrorKind::kUnavailable);
  REQUIRE(response.error().urn == kUrn.text());
  for (const char* part :
       {"'pkg'", "Create", "pkg:index:Thing::a", "exited with status 2", "panic: nil map"}) {
    RequireContains(response.error().message, part);
  }
  REQUIRE(!(*provider)->is_alive());
  Await(world.loop, (*provider)->Close());
  REQUIRE(world.messages.size() == 1);  // the output itself; the exit has been reported
}

TEST_CASE("P33 a plugin that died between calls is reported when it is closed") {
  World world;
  world.Plugin("while [ ! -e \"$0.crash\" ]; do sleep 0.01; done; echo 'bye' >&2; exit 5");
  const auto provider = world.Load();
  REQUIRE(provider);
  world.folder.Write("plugin/pulumi-resource-pkg.crash", "");
  while ((*provider)->is_alive()) {
    world.loop.After(std::chrono::milliseconds(1), [&] { world.loop.Stop(); });
    world.loop.Run();
  }
  Await(world.loop, (*provider)->Close());
  REQUIRE(world.HasMessage("3 the resource plugin 'pkg'"));
  REQUIRE(world.HasMessage("exited with status 5 before davit had asked it to"));
  REQUIRE(world.HasMessage("bye"));
}

TEST_CASE("P33 B080 a plugin that ignores SIGINT is killed after the grace") {
  World world;
  world.options.end_grace = std::chrono::milliseconds(50);
  world.Plugin("trap '' INT; while true; do sleep 60; done", "echo $$ > \"$0.pid\"");
  const auto provider = world.Load();
  REQUIRE(provider);
  Await(world.loop, (*provider)->Close());
  const int pid = std::stoi(world.folder.Read("plugin/pulumi-resource-pkg.pid"));
  REQUIRE(::kill(pid, 0) != 0);
}

TEST_CASE("P39 different packages load at the same time") {
  World world;
  ScriptedServer second;
  second.handshake = world.fake.handshake;
  second.get_plugin_info = world.fake.get_plugin_info;
  world.options.project_plugins.push_back(
      ProjectPlugin{"resource", "two", world.folder.path("second"), ""});
  // Each waits for the other before it prints its port.
  world.Plugin("exec sleep 60", "touch \"$0.up\"; while [ ! -e \"$0.go\" ]; do sleep 0.01; done");
  world.folder.Script("second/pulumi-resource-two",
                      "touch " + world.folder.path("plugin/pulumi-resource-pkg.go") +
                          "\nwhile [ ! -e " + world.folder.path("plugin/pulumi-resource-pkg.up") +
                          " ]; do sleep 0.01; done\necho " + std::to_string(second.port()) +
                          "\nexec sleep 60");
  GrpcPluginHost host(world.options);
  std::vector<std::shared_ptr<Provider>> providers;
  for (const char* name : {"pkg", "two"}) {
    PluginSpec spec;
    spec.name = name;
    Start(world.loop,
          host.LoadProvider(spec, {}),
          [&](std::exception_ptr, std::optional<Result<std::shared_ptr<Provider>>> provider) {
            providers.push_back(**provider);
            if (providers.size() == 2) {
              world.loop.Stop();
            }
          });
  }
  world.loop.Run();
  for (const std::shared_ptr<Provider>& provider : providers) {
    Await(world.loop, provider->Close());
  }
}

class CollectingTrace final : public RpcTrace {
 public:
  void Write(const RpcRecord& record) override {
    lines.push_back(std::string(record.progress) + " " + std::string(record.method) + " " +
                    MessageJson(*record.request, false, record.secrets));
  }
  std::vector<std::string> lines;
};

TEST_CASE("P121 every call is traced; secrets that travel bare are hidden") {
  World world;
  CollectingTrace trace;
  world.options.trace = &trace;
  world.fake.configure = [](const auto&, auto*) { return FakeStatus(); };
  world.Plugin("exec sleep 60");
  const auto provider = world.Load();
  REQUIRE(provider);
  REQUIRE(trace.lines.size() == 4);
  RequireContains(trace.lines[0], "request_started /pulumirpc.ResourceProvider/Handshake");
  RequireContains(trace.lines[3], "response_completed /pulumirpc.ResourceProvider/GetPluginInfo");
  ConfigureRequest request;
  request.urn = Urn::Trusted("urn:pulumi:dev::golden::pulumi:providers:pkg::p");
  request.inputs = {{"token", MakeSecret(PropertyValue("hunter2"))}};
  REQUIRE(Await(world.loop, (*provider)->Configure(request, {})));
  REQUIRE(trace.lines[4].find("hunter2") == std::string::npos);
  RequireContains(trace.lines[4], "\"pkg:config:token\":\"[secret]\"");
  Await(world.loop, (*provider)->Close());
}

}  // namespace
}  // namespace davit::testing
