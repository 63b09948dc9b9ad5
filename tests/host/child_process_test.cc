// ChildProcess: start, output, exit and end (P24, P25, P27, P33).

#include <sys/wait.h>

#include <csignal>

#include "engine/base/waiting.h"
#include "host/process/child_process.h"
#include "tests/host/host_fixture.h"

namespace davit::testing {
namespace {

struct Lines {
  std::vector<std::string> out;
  std::vector<std::string> err;
};

ChildOptions Shell(const std::string& script, Lines* lines) {
  ChildOptions options;
  options.program = "/bin/sh";
  options.arguments = {"-c", script};
  options.environment = {{"PATH", "/usr/bin:/bin"}};
  options.on_line = [lines](Pipe pipe, std::string line) {
    (pipe == Pipe::kStdout ? lines->out : lines->err).push_back(std::move(line));
  };
  return options;
}

Task<ExitStatus> RunToEnd(ChildProcess& child) {
  const bool has_exited = co_await child.WaitForExit(std::chrono::seconds(30));
  const bool is_drained = co_await child.WaitForOutput(std::chrono::seconds(30));
  DAVIT_CHECK(has_exited && is_drained, "the child hangs");
  co_return *child.exit_status();
}

ExitStatus Run(ChildOptions options) {
  AsioLoop loop;
  Result<std::unique_ptr<ChildProcess>> child = ChildProcess::Start(loop, std::move(options));
  REQUIRE(child);
  return Await(loop, RunToEnd(**child));
}

TEST_CASE("P27 both pipes come as lines, the unfinished last one too") {
  Lines lines;
  const ExitStatus status = Run(Shell("echo one; echo two >&2; printf three; exit 4", &lines));
  REQUIRE(lines.out == std::vector<std::string>{"one", "three"});
  REQUIRE(lines.err == std::vector<std::string>{"two"});
  REQUIRE(status.Text() == "exited with status 4");
}

TEST_CASE("a process that dies by a signal is told apart") {
  Lines lines;
  const ExitStatus status = Run(Shell("kill -SEGV $$", &lines));
  REQUIRE(status.Text() == "was killed by signal 11 (SIGSEGV)");
}

TEST_CASE("P24 the child has the given environment and folder, and an open standard input") {
  const TempFolder folder;
  Lines lines;
  ChildOptions options = Shell("pwd; env | grep ^DAVIT_; test -p /dev/stdin && echo pipe", &lines);
  options.working_directory = folder.path();
  options.environment["DAVIT_X"] = "a b=c";
  Run(std::move(options));
  REQUIRE(lines.out == std::vector<std::string>{folder.path(), "DAVIT_X=a b=c", "pipe"});
}

TEST_CASE("P25 the child leads a process group of its own, without our descriptors") {
  Lines lines;
  Run(Shell("ps -o pid=,pgid= -p $$ | tr -s ' ' | sed 's/^ //'; ls /proc/$$/fd | tr '\\n' ' '",
            &lines));
  REQUIRE(lines.out.size() == 2);
  const std::size_t space = lines.out[0].find(' ');
  REQUIRE(lines.out[0].substr(0, space) == lines.out[0].substr(space + 1));
  REQUIRE(lines.out[1].substr(0, 6) == "0 1 2 ");
  REQUIRE(lines.out[1].size() <= 9);  // the shell may keep one of its own
}

TEST_CASE("P27 output is drained however much there is, and long lines come in pieces") {
  Lines lines;
  Run(Shell("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end", &lines));
  std::size_t total = 0;
  for (const std::string& line : lines.out) {
    total += line.size();
  }
  REQUIRE(total == 3'000'003);
  REQUIRE(lines.out.size() > 2);
  REQUIRE(lines.out.back() == "end");
}

TEST_CASE("a program that cannot be started says why") {
  AsioLoop loop;
  Lines lines;
  ChildOptions missing = Shell("", &lines);
  missing.program = "/nowhere/plugin";
  const auto first = ChildProcess::Start(loop, std::move(missing));
  REQUIRE(!first);
  RequireContains(first.error().message, "/nowhere/plugin");
  RequireContains(first.error().message, "No such file");

  ChildOptions no_folder = Shell("true", &lines);
  no_folder.working_directory = "/nowhere/at/all";
  const auto second = ChildProcess::Start(loop, std::move(no_folder));
  REQUIRE(!second);
  RequireContains(second.error().message, "/nowhere/at/all");

  const TempFolder folder;
  folder.Write("data", "not a program");
  ChildOptions not_executable = Shell("", &lines);
  not_executable.program = folder.path("data");
  const auto third = ChildProcess::Start(loop, std::move(not_executable));
  REQUIRE(!third);
  RequireContains(third.error().message, "Permission denied");
}

Task<void> WaitForLine(AsioLoop& loop, const std::vector<std::string>& lines) {
  while (lines.empty()) {
    Gate gate;
    loop.After(std::chrono::milliseconds(1), [&gate] { gate.Open(); });
    co_await gate.Wait();
  }
}

Task<std::string> EndWhenReady(AsioLoop& loop,
                               ChildProcess& child,
                               const Lines& lines,
                               std::chrono::nanoseconds grace) {
  co_await WaitForLine(loop, lines.out);
  co_await child.End(grace);
  co_return child.exit_status()->Text();
}

TEST_CASE("P33 the end of a process: SIGINT to the group first") {
  AsioLoop loop;
  Lines lines;
  auto child = ChildProcess::Start(
      loop, Shell("trap 'echo bye; exit 0' INT; echo up; sleep 60 & wait", &lines));
  REQUIRE(child);
  REQUIRE(Await(loop, EndWhenReady(loop, **child, lines, std::chrono::seconds(30))) ==
          "exited with status 0");
  REQUIRE(lines.out == std::vector<std::string>{"up", "bye"});
}

TEST_CASE("P33 the end of a process: SIGKILL to the whole group after the grace") {
  AsioLoop loop;
  Lines lines;
  auto child = ChildProcess::Start(
      loop, Shell("trap '' INT; sleep 61 & echo $!; while true; do sleep 61; done", &lines));
  REQUIRE(child);
  REQUIRE(Await(loop, EndWhenReady(loop, **child, lines, std::chrono::milliseconds(50))) ==
          "was killed by signal 9 (SIGKILL)");
  // The pipes have ended, so the grandchild that held them is gone as well.
  REQUIRE((*child)->has_ended(Pipe::kStdout));
}

TEST_CASE("a child that is dropped is killed") {
  AsioLoop loop;
  Lines lines;
  auto child = ChildProcess::Start(loop, Shell("echo up; sleep 62", &lines));
  REQUIRE(child);
  const pid_t pid = (*child)->pid();
  Await(loop, WaitForLine(loop, lines.out));
  (*child).reset();
  siginfo_t info{};
  // The loop has not collected the exit yet, so the process can still be waited for.
  REQUIRE(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) == 0);
  REQUIRE(info.si_status == SIGKILL);
}

}  // namespace
}  // namespace davit::testing
