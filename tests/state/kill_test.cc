// A real process that kills itself at each step of file work, on real files, under its lock: with
// the `crash_point` of OpenBackend, and with a fold in the middle of the run.
#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include "tests/state/journal_world.h"

namespace davit::testing {
namespace {

Snapshot Records() {
  Snapshot snapshot;
  snapshot.resources = {
      ProviderRecord(), Thing("a", {{"v", 1}}), Thing("b"), Thing("c"), Thing("d")};
  return snapshot;
}

// The child: one update; a byte goes to `acknowledge` for each entry that is durable. Ends the
// process.
[[noreturn]] void UpdateAndExit(const std::unique_ptr<Backend>& backend, int acknowledge) {
  const Result<std::unique_ptr<StackLock>> lock = backend->Lock(kWorldStack);
  if (!lock) {
    ::_exit(2);
  }
  auto manager = std::make_shared<FakeManager>();
  SeededLoop loop;
  const Snapshot base = backend->Load(kWorldStack, OpenerOf(manager), true)->snapshot;
  const std::unique_ptr<StackJournal> journal =
      *backend->OpenJournal(kWorldStack, base, manager, loop, AtOnce());
  for (const JournalEntry& entry : World::Script(base)) {
    const bool is_durable = RunTask(loop, journal->Append(entry)).has_value() && !entry.deferred;
    if (::write(acknowledge, is_durable ? "d" : "n", 1) != 1) {
      ::_exit(3);
    }
  }
  ::_exit(journal->Fold() ? 0 : 4);
}

// Opens the backend of the process that dies.
using Opener = std::function<std::unique_ptr<Backend>(const std::string& root, int crash_point)>;

int KillAtEveryPoint(const Opener& open) {
  int killed = 0;
  for (int point = 1;; ++point) {
    INFO("point " << point);
    const TemporaryFolder folder;
    const std::string url = "file://" + folder.path();
    auto manager = std::make_shared<FakeManager>();
    const std::unique_ptr<Backend> backend = *OpenBackend(url, false, "davit/test");
    REQUIRE(backend->Create(kWorldStack, manager.get()));
    REQUIRE(backend->Save(kWorldStack, Records(), manager));
    int acknowledge[2];
    REQUIRE(::pipe(acknowledge) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(acknowledge[0]);
      UpdateAndExit(open(folder.path(), point), acknowledge[1]);
    }
    ::close(acknowledge[1]);
    std::string acknowledged;
    for (char byte = 0; ::read(acknowledge[0], &byte, 1) == 1;) {
      acknowledged += byte;
    }
    ::close(acknowledge[0]);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    const Result<std::unique_ptr<StackLock>> lock = backend->Lock(kWorldStack);
    REQUIRE(lock);
    const Result<LoadedStack> loaded =
        (*OpenBackend(url, false, "davit/test"))->Load(kWorldStack, OpenerOf(manager), true);
    REQUIRE(loaded);
    const Snapshot base = Records();
    const std::vector<JournalEntry> script = World::Script(base);
    const auto replayed = [&](std::size_t count) {
      return Replay(base, {script.begin(), script.begin() + static_cast<std::ptrdiff_t>(count)});
    };
    const std::size_t durable =
        acknowledged.rfind('d') == std::string::npos ? 0 : acknowledged.rfind('d') + 1;
    const std::size_t attempted = std::min(script.size(), acknowledged.size() + 1);
    bool is_allowed = false;
    for (std::size_t count = durable; count <= attempted; ++count) {
      is_allowed = is_allowed || SameContent(loaded->snapshot, replayed(count));
    }
    CHECK(is_allowed);
    CHECK(VerifySnapshot(loaded->snapshot).empty());
    if (WIFEXITED(status)) {
      CHECK(WEXITSTATUS(status) == 0);
      CHECK(SameContent(loaded->snapshot, replayed(script.size())));
      break;
    }
    CHECK(WTERMSIG(status) == SIGKILL);
    ++killed;
  }
  return killed;
}

}  // namespace

TEST_CASE("[B141] kill -9 at every step of file work loses no finished step and leaves no lock") {
  CHECK(KillAtEveryPoint([](const std::string& root, int crash_point) {
          return *OpenBackend("file://" + root, false, "davit/test", crash_point);
        }) > 30);
}

TEST_CASE("[S171] the same with a fold in the middle of the run") {
  CHECK(KillAtEveryPoint([](const std::string& root, int crash_point) {
          auto left = std::make_shared<int>(crash_point);
          std::shared_ptr<FileLayer> files = FilesWithPoints(SystemFiles(), [left] {
            if (--*left == 0) {
              ::kill(::getpid(), SIGKILL);
            }
          });
          constexpr JournalLimits kOnceOrTwice{.smallest = 2'000, .factor = 0};
          return MakeFileBackend(std::move(files), root, "davit/test", kOnceOrTwice);
        }) > 50);
}

}  // namespace davit::testing
