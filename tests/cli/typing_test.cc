// davit and a person at a terminal: questions, their answers, and interrupts.

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <chrono>

#include "tests/cli/typed_session.h"

namespace davit {
namespace {

const std::string kPlugins =
    "plugins:\n  providers:\n    - name: davittest\n      path: " DAVIT_BINARY_DIR
    "/tests/plugins\n";

std::string Things(const std::string& options = "") {
  return kPlugins + "resources:\n  x:\n    type: davittest:index:Thing\n    properties: {value: 1}\n" +
         options;
}

TEST_CASE("[C70][C74] the question of a run: details, no, yes") {
  const Project project("typing", Things());
  project.Ok("stack init dev");
  {
    TypedSession run(project, "up");
    run.WaitFor("perform this update? [yes/no/details] (no): ");
    run.Type("details\n");
    run.WaitFor("+ davittest:index:Thing: (create)");
    run.WaitFor("[yes/no/details] (no): ");
    run.Type("\n");  // no is the default
    run.WaitFor("confirmation declined, not proceeding with the update");
    CHECK(run.End() == 1);
  }
  CHECK_FALSE(Has(project("stack export").out, "Thing::x"));
  {
    TypedSession run(project, "up --diff");
    run.WaitFor("perform this update? [yes/no] (no): ");
    CHECK_FALSE(Has(run.screen(), "Nothing beyond the stack itself"));
    run.Type("yes\n");
    CHECK(run.End() == 0);
  }
  CHECK(Has(project("stack export").out, "Thing::x"));
  {
    TypedSession run(project, "up");
    run.WaitFor("Nothing beyond the stack itself would change.");
    run.WaitFor("(no): ");
    run.Type("no\n");
    CHECK(run.End() == 1);
  }
  {
    TypedSession run(project, "refresh");
    run.WaitFor("Only the state changes: no resource is created, updated or deleted.");
    run.WaitFor("perform this refresh?");
    run.Type("yes\n");
    CHECK(run.End() == 0);
  }
  TypedSession quiet(project, "up --non-interactive");
  CHECK(quiet.End() == 2);
  TypedSession ended(project, "up");
  ended.WaitFor("(no): ");
  ended.Type("\x04");  // the end of what is typed
  CHECK(ended.End() == 1);
}

TEST_CASE("[C74] what stays behind is listed before the answer") {
  const Project project("typing-retain", Things("    options: {retainOnDelete: true}\n"));
  project.Ok("stack init dev");
  project.Ok("up --yes");
  TypedSession run(project, "destroy");
  run.WaitFor("go on to exist, as retainOnDelete asks:");
  run.WaitFor("Thing::x");
  run.WaitFor("perform this destroy?");
  run.Type("yes\n");
  CHECK(run.End() == 0);
}

TEST_CASE("[B072] what is edited while the question waits is not part of the run") {
  const Project project("typing-edit", Things());
  project.Ok("stack init dev");
  TypedSession run(project, "up");
  run.WaitFor("(no): ");
  project.Write("Pulumi.yaml",
                project.Read("Pulumi.yaml") +
                    "  unseen:\n    type: davittest:index:Thing\n    properties: {value: 2}\n");
  run.Type("yes\n");
  CHECK(run.End() == 0);
  const std::string stored = project("stack export").out;
  CHECK(Has(stored, "Thing::x"));
  CHECK_FALSE(Has(stored, "unseen"));
}

TEST_CASE("[C35][C75] what is deleted for good has to be typed") {
  const Project project("typing-names");
  project.Ok("stack init dev");
  for (const auto& [words, wrong] : {std::pair("stack rm", "prod\n"), {"plugin rm --all", "y\n"}}) {
    fs::create_directories(project.Path("home/plugins/resource-sample-v1.0.0"));
    TypedSession run(project, words);
    run.WaitFor("typing");
    run.Type(wrong);
    CHECK(run.End() == 1);
  }
  CHECK(project("stack --show-name").out == "dev\n");
  CHECK(fs::exists(project.Path("home/plugins/resource-sample-v1.0.0")));
  TypedSession plugins(project, "plugin rm --all");
  plugins.WaitFor("typing `yes`: ");
  plugins.Type("yes\n");
  CHECK(plugins.End() == 0);
  CHECK_FALSE(fs::exists(project.Path("home/plugins/resource-sample-v1.0.0")));
  TypedSession stack(project, "stack rm");
  stack.WaitFor("typing");
  stack.Type("dev\n");
  CHECK(stack.End() == 0);
  CHECK(project("stack --show-name").status == 1);
}

// The plugin that works in the folder of the project.
pid_t PluginOf(const Project& project) {
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    std::error_code gone;
    const std::string folder = fs::read_symlink(entry.path() / "cwd", gone).string();
    const std::string program = fs::read_symlink(entry.path() / "exe", gone).filename().string();
    if (program == "pulumi-resource-davittest" && folder + "/" == project.Path("")) {
      return std::stoi(entry.path().filename().string());
    }
  }
  return 0;
}

TEST_CASE("[C76][B137][P25] two interrupts while a plugin hangs and ignores them") {
  const Project project("typing-interrupt", Things());
  project.Ok("stack init dev");
  const std::string log = project.Path("log.jsonl");
  const std::string calls = project.Path("calls");  // whoever reads a pipe is woken by each call
  REQUIRE(::mkfifo(calls.c_str(), 0600) == 0);
  const int pipe = ::open(calls.c_str(), O_RDWR | O_CLOEXEC);
  TypedSession run(project, "up --skip-preview --event-log '" + log + "'", "DAVITTEST_FAULTS=Create:hang DAVITTEST_LOG='" + calls + "'");
  for (std::string read; !Has(read, "\"Create\"");) {
    char buffer[4096];
    const ssize_t count = ::read(pipe, buffer, sizeof buffer);
    REQUIRE(count > 0);
    read.append(buffer, static_cast<std::size_t>(count));
  }
  const pid_t plugin = PluginOf(project);
  REQUIRE(plugin > 0);
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, plugin, 0));
  REQUIRE(handle >= 0);
  run.Type("\x03");
  run.WaitFor("operations that have begun will end; press ^C again to stop at once");
  run.WaitFor("may leave resources that the state does not know");
  const auto begin = std::chrono::steady_clock::now();
  run.Type("\x03");
  run.WaitFor("stopping at once");
  CHECK(run.End() == 8);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2));
  pollfd ended{handle, POLLIN, 0};
  CHECK(::poll(&ended, 1, 2000) == 1);
  ::close(handle);
  ::close(pipe);
  const std::string events = project.Read("log.jsonl");
  const std::size_t first = events.find("\"stdoutEvent\"");
  REQUIRE(first != std::string::npos);
  CHECK(events.find("\"stdoutEvent\"", first + 1) != std::string::npos);
  CHECK(fs::is_empty(project.Path(".davit/.pulumi/locks/organization/golden/dev")));
  const std::string stored = project("stack export").out;
  CHECK(Has(stored, "\"type\": \"creating\""));
  CHECK(Has(stored, "Thing::x"));
}

}  // namespace
}  // namespace davit
