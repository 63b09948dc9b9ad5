// Death at every point of a run and of its recovery: no finished step is lost, calls in flight are
// pending.
#include <catch2/catch.hpp>

#include "state/journal/journal_format.h"
#include "tests/state/journal_world.h"

namespace davit::testing {
namespace {

constexpr LostData kData[] = {LostData::kAll, LostData::kHalf, LostData::kNone};
constexpr JournalLimits kLimits[] = {JournalLimits{}, kFoldAlways};
constexpr LostNames kNames[] = {LostNames::kAll, LostNames::kNone};

// Dies at the n-th point: from then on nothing changes any more.
struct Death {
  std::shared_ptr<MemoryFiles> files;
  int left = 0;
  std::function<void()> Point() {
    return [this] {
      if (--left == 0) {
        files->is_dead = true;
      }
    };
  }
  bool happened() const { return left <= 0; }
};

struct Attempt {
  Snapshot base;
  std::vector<JournalEntry> script;
  std::size_t acknowledged = 0;  ///< entries whose append completed
  std::size_t attempted = 0;
  bool folded = false;
};

// One update that dies at point `n`, if it has so many.
Attempt RunUntilDeath(World& world, Death& death) {
  Attempt attempt;
  const std::unique_ptr<Backend> backend = world.Open(death.Point());
  attempt.base = backend->Load(kWorldStack, OpenerOf(world.manager), true)->snapshot;
  attempt.script = World::Script(attempt.base);
  const std::unique_ptr<StackJournal> journal =
      *backend->OpenJournal(kWorldStack, attempt.base, world.manager, world.loop, AtOnce());
  for (const JournalEntry& entry : attempt.script) {
    ++attempt.attempted;
    const Result<void> done = RunTask(world.loop, journal->Append(entry));
    if (!done || death.happened()) {
      return attempt;
    }
    attempt.acknowledged = attempt.attempted;
  }
  attempt.folded = journal->Fold().has_value() && !death.happened();
  return attempt;
}

// Whether the snapshot is what some prefix of the script gives, not shorter than what was
// acknowledged.
bool IsAllowed(const Attempt& attempt, const Snapshot& found) {
  const auto is_real = [&](std::size_t count) {
    return count == 0 || !attempt.script[count - 1].deferred;
  };
  std::size_t least = attempt.acknowledged;
  while (!is_real(least)) {  // deferred entries at the end are not promised
    --least;
  }
  for (std::size_t count = least; count <= attempt.attempted; ++count) {
    const std::vector<JournalEntry> prefix(
        attempt.script.begin(), attempt.script.begin() + static_cast<std::ptrdiff_t>(count));
    if (is_real(count) &&
        SameContent(count == 0 ? attempt.base : Replay(attempt.base, prefix), found)) {
      return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE(
    "[S171] death at every point of a run: the finished steps are there, the rest is pending, with "
    "a fold at the end or after every write") {
  const JournalLimits limits = GENERATE(from_range(std::begin(kLimits), std::end(kLimits)));
  const LostData data = GENERATE(from_range(std::begin(kData), std::end(kData)));
  const LostNames names = GENERATE(from_range(std::begin(kNames), std::end(kNames)));
  for (int at = 1;; ++at) {
    INFO("limit " << limits.smallest << ", data " << static_cast<int>(data) << ", names "
                  << static_cast<int>(names) << ", point " << at);
    World world(limits);
    const std::string before = world.files->At(kCheckpointPath);
    Death death{world.files, at};
    const Attempt attempt = RunUntilDeath(world, death);
    if (!death.happened()) {
      CHECK(attempt.folded);
      CHECK(at > (limits.factor == 0 ? 200 : 30));
      CHECK(world.files->At(kBackupPath) == before);
      break;
    }
    world.files->Crash(data, names);
    const Result<LoadedStack> recovered = world.Load();
    if (!recovered) {
      FAIL(recovered.error().Text());
    }
    CHECK(IsAllowed(attempt, recovered->snapshot));
    CHECK(VerifySnapshot(recovered->snapshot).empty());
    if (attempt.acknowledged > 2) {  // [W10] whatever was folded since
      CHECK(world.files->At(kBackupPath) == before);
    }
    // Once recovered it stays so, and the journal is gone.
    const Result<LoadedStack> again = world.Load();
    REQUIRE(again);
    CHECK_FALSE(again->recovery);
    CHECK(SameContent(again->snapshot, recovered->snapshot));
    CHECK_FALSE(world.files->names.contains(kJournalPath));
  }
}

TEST_CASE("death at every point of the recovery: the next one finds the same") {
  const JournalLimits limits = GENERATE(from_range(std::begin(kLimits), std::end(kLimits)));
  const LostData data = GENERATE(from_range(std::begin(kData), std::end(kData)));
  const LostNames names = GENERATE(from_range(std::begin(kNames), std::end(kNames)));
  for (int at = 1;; ++at) {
    INFO("limit " << limits.smallest << ", data " << static_cast<int>(data) << ", names "
                  << static_cast<int>(names) << ", point " << at);
    World world(limits);
    const std::string before = world.files->At(kCheckpointPath);
    const std::unique_ptr<Backend> backend = world.Open();
    const Snapshot base = backend->Load(kWorldStack, OpenerOf(world.manager), true)->snapshot;
    const std::vector<JournalEntry> script = World::Script(base);
    const std::unique_ptr<StackJournal> journal =
        *backend->OpenJournal(kWorldStack, base, world.manager, world.loop, AtOnce());
    for (const JournalEntry& entry : script) {
      REQUIRE(RunTask(world.loop, journal->Append(entry)));
    }
    std::string torn = world.files->At(kJournalPath);
    torn.replace(torn.find_last_not_of('\0') + 1, 4, "torn");
    world.files->Put(kJournalPath, torn);
    Death death{world.files, at};
    const Result<LoadedStack> dying =
        world.Open(death.Point())->Load(kWorldStack, OpenerOf(world.manager), true);
    if (!death.happened()) {
      REQUIRE(dying);
      CHECK(dying->recovery->entries == (limits.factor == 0 ? 0 : static_cast<int>(script.size())));
      CHECK(dying->recovery->discarded_bytes == 4);
      CHECK(dying->recovery->pending_operations == 1);
      CHECK(at > (limits.factor == 0 ? 5 : 10));
      CHECK(world.files->At(kBackupPath) == before);
      break;
    }
    world.files->Crash(data, names);
    const Result<LoadedStack> recovered = world.Load();
    if (!recovered) {
      FAIL(recovered.error().Text());
    }
    CHECK(SameContent(recovered->snapshot, Replay(base, script)));
  }
}

TEST_CASE("a journal cut at any byte gives what is complete") {
  World world;
  const std::unique_ptr<Backend> backend = world.Open();
  const Snapshot base = backend->Load(kWorldStack, OpenerOf(world.manager), true)->snapshot;
  const std::vector<JournalEntry> script = World::Script(base);
  const std::unique_ptr<StackJournal> journal =
      *backend->OpenJournal(kWorldStack, base, world.manager, world.loop, AtOnce());
  for (const JournalEntry& entry : script) {
    REQUIRE(RunTask(world.loop, journal->Append(entry)));
  }
  const std::string whole = world.files->At(kJournalPath);
  const MemoryFiles before = *world.files;
  std::size_t most = 0;
  for (std::size_t size = 76; size <= whole.size(); size += size + 11 > whole.size() ? 1 : 11) {
    *world.files = before;
    world.files->Put(kJournalPath, whole.substr(0, size));
    const std::size_t complete = ReadJournalImage(whole.substr(0, size))->entries.size();
    most = std::max(most, complete);
    const Result<LoadedStack> recovered = world.Load();
    REQUIRE(recovered);
    const std::vector<JournalEntry> prefix(script.begin(),
                                           script.begin() + static_cast<std::ptrdiff_t>(complete));
    REQUIRE(SameContent(recovered->snapshot, Replay(base, prefix)));
    CHECK(recovered->recovery->entries == static_cast<int>(complete));
  }
  CHECK(most == script.size());
}

TEST_CASE("[S48] no plaintext of a secret is ever written: checkpoint, journal, backup") {
  World world;
  const std::shared_ptr<SecretsManager> manager = NewPassphraseManager("p", SystemRandom).value();
  const std::unique_ptr<Backend> backend = world.Open();
  const Snapshot fake = backend->Load(kWorldStack, OpenerOf(world.manager), true)->snapshot;
  REQUIRE(backend->Save(kWorldStack, fake, manager));
  std::string& written = world.files->everything_written;
  written.clear();
  const Snapshot base = backend->Load(kWorldStack, OpenerOf(manager), true)->snapshot;
  const std::unique_ptr<StackJournal> journal =
      *backend->OpenJournal(kWorldStack, base, manager, world.loop, AtOnce());
  for (const JournalEntry& entry : World::Script(base)) {
    REQUIRE(RunTask(world.loop, journal->Append(entry)));
  }
  REQUIRE(journal->Fold());
  REQUIRE(backend->Save(
      kWorldStack, backend->Load(kWorldStack, OpenerOf(manager), true)->snapshot, manager));
  for (const char* canary : {"canary-base", "canary-new", "canary-late"}) {
    INFO(canary);
    CHECK(written.find(canary) == std::string::npos);
    // Nor in a form that is only encoded.
    const std::string encoded = EncodeBase64(std::string("\"") + canary).substr(0, 12);
    CHECK(written.find(encoded) == std::string::npos);
  }
  CHECK(written.find("\"ciphertext\":\"v1:") != std::string::npos);
}

}  // namespace davit::testing
