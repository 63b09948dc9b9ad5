// Launching plugins that behave, and ones that do not (P24-P28, P33, P35).

#include "host/plugin/plugin_process.h"
#include "tests/host/host_fixture.h"

namespace davit::testing {
namespace {

struct Output {
  std::vector<std::string> lines;  ///< `<severity>/<stream> text`
};

struct Started {
  AsioLoop loop;
  TempFolder folder;
  Output output;

  Result<std::shared_ptr<PluginProcess>> Launch(
      const std::string& script,
      std::chrono::nanoseconds deadline = std::chrono::seconds(30),
      CancelToken cancel = {}) {
    PluginLaunch launch;
    launch.label = "the plugin 'x'";
    launch.child.program = folder.Script("plugin", script);
    launch.child.environment = {{"PATH", "/usr/bin:/bin"}};
    launch.stdout_severity = Severity::kInfo;
    launch.stderr_severity = Severity::kInfoToStderr;
    launch.stdout_stream = 7;
    launch.stderr_stream = 8;
    launch.port_deadline = deadline;
    launch.output = [this](Severity severity, const std::string& message, int stream_id) {
      output.lines.push_back(std::to_string(static_cast<int>(severity)) + "/" +
                             std::to_string(stream_id) + " " + message);
    };
    return Await(loop, PluginProcess::Launch(loop, std::move(launch), std::move(cancel)));
  }
  std::string Failure(const std::string& script,
                      std::chrono::nanoseconds deadline = std::chrono::seconds(30)) {
    const Result<std::shared_ptr<PluginProcess>> process = Launch(script, deadline);
    REQUIRE(!process);
    RequireContains(process.error().message, "the plugin 'x'");
    return process.error().Text();
  }
};

TEST_CASE("P26 the port line may have white space and terminal sequences around it") {
  Started started;
  auto process =
      started.Launch("printf '\\033]9;4;3;\\033\\\\ 12345 \\033]9;4;0;\\033\\\\\\r\\n'; exec sleep 60");
  REQUIRE(process);
  REQUIRE((*process)->port() == 12345);
  REQUIRE((*process)->is_alive());
  Await(started.loop, (*process)->End());
}

TEST_CASE("P26 B078 anything else on the first line is fatal, and shown") {
  Started started;
  RequireContains(started.Failure("echo 'Welcome to plugin'; exec sleep 60"), "'Welcome to plugin'");
  RequireContains(started.Failure("echo 0; exec sleep 60"), "'0'");
  RequireContains(started.Failure("echo 65536; exec sleep 60"), "'65536'");
  RequireContains(started.Failure("echo; exec sleep 60"), "''");
  RequireContains(started.Failure("head -c 2000000 /dev/zero | tr '\\0' x; exec sleep 60"),
                  "instead of its port");
}

TEST_CASE("P26 B079 an exit before the port line gives status and output") {
  Started started;
  const std::string text = started.Failure("echo 'cannot find libfoo' >&2; exit 3");
  RequireContains(text, "exited with status 3");
  RequireContains(text, "cannot find libfoo");
  RequireContains(started.Failure("kill -9 $$"), "SIGKILL");
}

TEST_CASE("P26 a closed output without a port line is no endless wait") {
  Started started;
  RequireContains(started.Failure("exec >&-; exec sleep 60"), "closed its output");
}

TEST_CASE("P26 the deadline tells what was printed so far") {
  Started started;
  const std::string text = started.Failure("printf 'loading'; echo 'still busy' >&2; exec sleep 60",
                                           std::chrono::milliseconds(500));
  RequireContains(text, "0.5 s");
  RequireContains(text, "'loading'");
  RequireContains(text, "still busy");
  RequireContains(text, "DAVIT_PLUGIN_START_TIMEOUT");
}

TEST_CASE("a start can be cancelled") {
  Started started;
  CancelSource cancel;
  started.loop.After(std::chrono::milliseconds(20), [&cancel] { cancel.Cancel(); });
  const auto process = started.Launch("exec sleep 60", std::chrono::seconds(30), cancel.token());
  REQUIRE(!process);
  REQUIRE(process.error().kind == ErrorKind::kCancelled);
}

Task<void> WaitForExit(PluginProcess& process) {
  const bool has_exited = co_await process.child().WaitForExit(std::chrono::seconds(30));
  const bool is_drained = co_await process.child().WaitForOutput(std::chrono::seconds(30));
  DAVIT_CHECK(has_exited && is_drained, "the plugin hangs");
}

TEST_CASE("P27 later output is forwarded line by line, blank lines are not") {
  Started started;
  auto process = started.Launch(
      "echo 'early' >&2; echo 1234; echo one; echo; echo '  '; printf two; printf err >&2");
  REQUIRE(process);
  Await(started.loop, WaitForExit(**process));
  std::vector<std::string> lines = started.output.lines;
  std::ranges::sort(lines);
  REQUIRE(lines == std::vector<std::string>{"1/7 one", "1/7 two", "4/8 early", "4/8 err"});
}

TEST_CASE("P35 the exit report has status and the last lines of standard error") {
  Started started;
  auto process = started.Launch(
      "echo 1234; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo line$i >&2; done; exit 9");
  REQUIRE(process);
  Await(started.loop, WaitForExit(**process));
  REQUIRE((*process)->exited().is_cancelled());
  const std::string report = (*process)->ExitReport();
  RequireContains(report, "exited with status 9");
  RequireContains(report, "line12");
  RequireContains(report, "line3");
  REQUIRE(report.find("line2\n") == std::string::npos);
  RequireContains((*process)->KeptOutput(), "line1\n");
}

TEST_CASE("a plugin that cannot be executed is named") {
  Started started;
  PluginLaunch launch;
  launch.label = "the plugin 'x'";
  launch.child.program = started.folder.path("missing");
  const auto process =
      Await(started.loop, PluginProcess::Launch(started.loop, std::move(launch), {}));
  REQUIRE(!process);
  RequireContains(process.error().message, "the plugin 'x'");
  RequireContains(process.error().message, "No such file");
}

}  // namespace
}  // namespace davit::testing
