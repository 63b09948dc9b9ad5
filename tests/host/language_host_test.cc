// LanguageHost and the Source over it, against a host in this process (P112-P118).

#include "host/language/language_host.h"

#include "host/server/typed_handler.h"
#include "pulumirpc/language.pb.h"
#include "tests/host/host_fixture.h"

namespace davit::testing {
namespace {

namespace rpc = pulumirpc;

const std::string kService = "pulumirpc.LanguageRuntime";

// Methods without a script answer Unimplemented.
struct ScriptedLanguage {
  AsioLoop loop;
  WorkPool pool;
  RpcServer server{loop, pool, RpcStatus()};
  std::unique_ptr<LanguageHost> host;

  template <typename Request, typename Response>
  void Script(const std::string& method, std::function<void(const Request&, Response*)> script) {
    server.Handle(kService, method, [script](ServerCall call) -> Task<RawReply> {
      return Answer<Request, Response>(script, std::move(call));
    });
  }
  template <typename Request, typename Response>
  static Task<RawReply> Answer(std::function<void(const Request&, Response*)> script,
                               ServerCall call) {
    Request request;
    Response response;
    REQUIRE(ParseMessage(call.request, &request));
    script(request, &response);
    RawReply reply;
    reply.bytes = SerializeMessage(response);
    co_return reply;
  }
  LanguageHost& Host() {
    REQUIRE(server.Start());
    LanguageHostOptions options;
    options.loop = &loop;
    options.runtime = "cobol";
    options.target = server.address();
    host = std::make_unique<LanguageHost>(options);
    return *host;
  }
  ~ScriptedLanguage() {
    Await(loop, host->Close());
    Await(loop, server.Close());
  }
};

ProgramInfo Program() {
  ProgramInfo program;
  program.root_directory = "/project";
  program.program_directory = "/project/src";
  program.entry_point = "main.cob";
  program.options = {{"dialect", PropertyValue("plain")}};
  return program;
}

TEST_CASE("[P117] packages of the program, of both kinds of hosts") {
  ScriptedLanguage world;
  const auto add = [](auto* package, const std::string& name, const std::string& kind) {
    package->set_name(name);
    package->set_kind(kind);
    package->set_version("v1.2.0");
    package->set_server("https://example.com");
  };
  const bool is_old = GENERATE(true, false);
  if (is_old) {
    world.Script<rpc::GetRequiredPluginsRequest, rpc::GetRequiredPluginsResponse>(
        "GetRequiredPlugins",
        [add](const rpc::GetRequiredPluginsRequest& request, auto* response) {
          REQUIRE(request.pwd() == "/project/src");
          REQUIRE(request.program() == "main.cob");
          add(response->add_plugins(), "cobol", "language");
          add(response->add_plugins(), "random", "resource");
        });
  } else {
    world.Script<rpc::GetRequiredPackagesRequest, rpc::GetRequiredPackagesResponse>(
        "GetRequiredPackages",
        [add](const rpc::GetRequiredPackagesRequest& request, auto* response) {
          REQUIRE(request.info().entry_point() == "main.cob");
          add(response->add_packages(), "cobol", "language");
          rpc::PackageDependency* package = response->add_packages();
          add(package, "random", "resource");
          package->mutable_parameterization()->set_name("other");
        });
  }
  const auto packages =
      Await(world.loop, world.Host().RequiredPackages(Program(), CancelToken()));
  REQUIRE(packages);
  REQUIRE(packages->size() == 1);
  const PackageDescriptor& package = packages->front();
  REQUIRE(package.name == "random");
  REQUIRE(package.version == "1.2.0");
  REQUIRE(package.download_url == "https://example.com");
  REQUIRE(package.parameterization.has_value() == !is_old);
}

TEST_CASE("[P117] a host that cannot tell says that there are none") {
  ScriptedLanguage world;
  const auto packages =
      Await(world.loop, world.Host().RequiredPackages(Program(), CancelToken()));
  REQUIRE(packages);
  REQUIRE(packages->empty());
}

TEST_CASE("[P113] [P114] [P115] a run, and how programs end") {
  ScriptedLanguage world;
  rpc::RunRequest seen;
  rpc::RunResponse answer;
  world.Script<rpc::RunRequest, rpc::RunResponse>(
      "Run", [&](const rpc::RunRequest& request, rpc::RunResponse* response) {
        seen = request;
        *response = answer;
      });
  LanguageHost& host = world.Host();
  RunInfo info;
  info.project = "proj";
  info.stack = "dev";
  info.preview = true;
  info.parallel = 7;
  info.config = {{"proj:plain", ConfigValue{"text", false, false}},
                 {"proj:hidden", ConfigValue{"pass", true, false}}};
  const auto run = [&] {
    ProgramRun request;
    request.program = Program();
    request.info = &info;
    request.monitor_address = "127.0.0.1:1";
    request.loader_target = "127.0.0.1:2";
    return Await(world.loop, host.Run(std::move(request)));
  };
  REQUIRE(run());
  REQUIRE(seen.project() == "proj");
  REQUIRE(seen.stack() == "dev");
  REQUIRE(seen.organization() == "organization");
  REQUIRE(seen.pwd() == "/project/src");
  REQUIRE(seen.program() == "main.cob");
  REQUIRE(seen.dryrun());
  REQUIRE(seen.parallel() == 7);
  REQUIRE(seen.monitor_address() == "127.0.0.1:1");
  REQUIRE(seen.loader_target() == "127.0.0.1:2");
  REQUIRE(seen.config().at("proj:hidden") == "pass");
  REQUIRE(seen.config().size() == 2);
  REQUIRE(seen.configsecretkeys_size() == 1);
  REQUIRE(seen.configsecretkeys(0) == "proj:hidden");
  REQUIRE(!seen.has_configpropertymap());
  REQUIRE(seen.info().root_directory() == "/project");
  REQUIRE(seen.info().program_directory() == "/project/src");
  REQUIRE(seen.info().options().fields().at("dialect").string_value() == "plain");

  answer.set_error("it broke");
  const Result<void> broken = run();
  REQUIRE(!broken.error().reported);
  RequireContains(broken.error().message, "it broke");
  answer.set_bail(true);
  REQUIRE(run().error().reported);
}

TEST_CASE("[P115] an answer that does not come names the host") {
  ScriptedLanguage world;
  ProgramRun request;
  const RunInfo info;
  request.info = &info;
  const Result<void> run = Await(world.loop, world.Host().Run(std::move(request)));
  RequireContains(run.error().message, "cobol");
}

}  // namespace
}  // namespace davit::testing
