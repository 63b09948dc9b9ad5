// Folds in the middle of a run: the checkpoint takes what was journaled, the journal goes on from
// there, and nothing of it shows in the result (S171, docs/JOURNAL.md).
#include <catch2/catch.hpp>

#include <random>

#include "engine/base/digest.h"
#include "state/codec/replay_json.h"
#include "state/journal/journal_format.h"
#include "tests/state/journal_world.h"

namespace davit::testing {
namespace {

struct Run {
  std::unique_ptr<Backend> backend;
  Snapshot base;
  std::unique_ptr<StackJournal> journal;
  explicit Run(World& world) : backend(world.Open()) {
    base = backend->Load(kWorldStack, OpenerOf(world.manager), true)->snapshot;
    journal = *backend->OpenJournal(kWorldStack, base, world.manager, world.loop, AtOnce());
  }
  Result<void> Append(World& world, JournalEntry entry) {
    return RunTask(world.loop, journal->Append(std::move(entry)));
  }
};

// The point as it comes back from the checkpoint of a fold and its record.
ReplayPoint WrittenAndRead(const ReplayPoint& point) {
  const auto manager = std::make_shared<FakeManager>();
  SecretTexts texts;
  PropertyWriting writing;
  writing.texts = &texts;
  writing.manager = manager.get();
  writing.manager_id = ManagerId(manager->type(), manager->state_json());
  const Snapshot folded = JournalReplay(point).Current();
  std::string record;
  WriteReplayPoint(point, folded, writing, &record);
  CheckpointWriting checkpoint;
  checkpoint.secrets_type = manager->type();
  checkpoint.secrets_state = manager->state_json();
  checkpoint.values = writing;
  const std::string text = WriteCheckpoint("dev", folded, checkpoint).value();
  const SecretsOpener opener = OpenerOf(manager);
  CheckpointReading reading{SecretsIn::kOpen, &texts, opener};
  const Snapshot read = ReadCheckpoint(text, reading)->snapshot.value();
  DocumentSecrets document(opener);
  document.Set(manager->type(), manager->state_json());
  PropertyReading values;
  values.texts = &texts;
  values.document = &document;
  Result<ReplayPoint> result = ReadReplayPoint(record, read, values);
  if (!result) {
    FAIL(result.error().Text() << " in " << record);
  }
  return *std::move(result);
}

// Entries of every kind, as an engine might write them; "old" numbers below 5.
std::vector<JournalEntry> RandomEntries(std::mt19937& random, const Snapshot& base) {
  const auto pick = [&](std::size_t count) { return random() % count; };
  std::vector<JournalEntry> entries;
  std::vector<std::int64_t> begun;
  std::vector<std::int64_t> added;
  std::vector<std::string> names = {"old0", "old1", "old2", "old3", "old4"};
  const auto take = [&](std::vector<std::int64_t>* from) {
    const std::size_t which = pick(from->size());
    const std::int64_t taken = (*from)[which];
    from->erase(from->begin() + static_cast<std::ptrdiff_t>(which));
    return taken;
  };
  for (std::int64_t id = 1; id < 40; ++id) {
    auto state = Thing("n" + std::to_string(id), {{"v", static_cast<double>(id)}});
    state->dependencies = {ThingUrn(names[pick(names.size())])};
    state->parent = ThingUrn(names[pick(names.size())]);
    switch (pick(8)) {
      case 0:
        entries.push_back(Begin(id, OperationType::kUpdating, state));
        begun.push_back(id);
        break;
      case 1:
      case 2:
        if (!begun.empty()) {
          const std::int64_t ended = take(&begun);
          entries.push_back(pick(3) == 0 ? Failure(ended) : Success(ended, state));
          if (entries.back().kind == JournalKind::kSuccess) {
            added.push_back(ended);
            names.emplace_back(state->urn.name());
            if (pick(4) == 0) {
              entries.back().renamed_from = ThingUrn(fmt::format("old{}", pick(5)));
            }
            if (pick(3) == 0) {
              entries.back().delete_old = static_cast<std::int64_t>(pick(5));
            }
          }
        }
        break;
      case 3:
        if (!added.empty()) {
          JournalEntry outputs = Success(id, state);
          outputs.kind = JournalKind::kOutputs;
          outputs.remove_new = added[pick(added.size())];
          entries.push_back(outputs);
        }
        break;
      case 4:
        if (!added.empty()) {
          JournalEntry remove = Success(id, nullptr);
          (pick(2) == 0 ? remove.remove_new : remove.delete_new) = take(&added);
          entries.push_back(remove);
        }
        break;
      case 5: {
        const std::size_t index = pick(5);
        auto refreshed = std::make_shared<ResourceState>(*base.resources[index]);
        refreshed->outputs["r"] = static_cast<double>(id);
        entries.push_back(
            Success(id, pick(3) == 0 ? nullptr : refreshed, static_cast<std::int64_t>(index)));
        entries.back().kind = JournalKind::kRefreshSuccess;
        break;
      }
      case 6:
        if (pick(8) == 0) {
          entries.push_back(Failure(id));
          entries.back().kind = JournalKind::kRebuiltBase;
          added.clear();
        }
        break;
      default:
        entries.push_back(Success(id, nullptr, static_cast<std::int64_t>(pick(5))));
    }
  }
  return entries;
}

}  // namespace

TEST_CASE("[S171] [E203] a replay that a fold cuts anywhere goes on to the same snapshot") {
  std::mt19937 random(11);
  int compared = 0;
  for (int round = 0; round < 60; ++round) {
    Snapshot base;
    for (int at = 0; at < 5; ++at) {
      auto record = Thing(fmt::format("old{}", at), {{"s", MakeSecret("x")}});
      if (at > 0) {
        record->parent = ThingUrn(fmt::format("old{}", at - 1));
        record->dependencies = {record->parent};
      }
      base.resources.push_back(record);
    }
    base.pending_operations = {{OperationType::kCreating, Thing("waiting")},
                               {OperationType::kDeleting, Thing("forgotten")}};
    const std::vector<JournalEntry> entries = RandomEntries(random, base);
    Snapshot expected;
    try {
      expected = Replay(base, entries);
    } catch (const std::exception&) {  // a rebuilt base may be shorter than a number
      continue;
    }
    for (std::size_t cut = 0; cut <= entries.size(); ++cut) {
      const auto middle = entries.begin() + static_cast<std::ptrdiff_t>(cut);
      JournalReplay first(base);
      std::for_each(
          entries.begin(), middle, [&](const JournalEntry& entry) { first.Apply(entry); });
      JournalReplay second(WrittenAndRead(first.point()));
      std::for_each(middle, entries.end(), [&](const JournalEntry& entry) { second.Apply(entry); });
      REQUIRE(SameContent(second.Current(), expected));
      REQUIRE(SameContent(JournalReplay(WrittenAndRead(second.point())).Current(), expected));
      ++compared;
    }
  }
  CHECK(compared > 500);
}

TEST_CASE("[S171] a journal that outgrows the checkpoint is folded into it, with calls in flight") {
  World world;
  const std::string before = world.files->At(kCheckpointPath);
  Run run(world);
  const std::string filler(20'000, 'x');
  std::vector<JournalEntry> written;
  const auto append = [&](JournalEntry entry) {
    REQUIRE(run.Append(world, entry));
    written.push_back(std::move(entry));
  };
  std::size_t largest = 0;
  const std::size_t bytes_before = world.files->everything_written.size();
  append(Deferred(Success(1000, run.base.resources[0], 0)));
  append(Begin(1, OperationType::kDeleting, run.base.resources[4]));
  for (std::int64_t id = 2; id <= 200; ++id) {  // 8 MB
    const StatePtr state = Thing(fmt::format("x{}", id % 20), {{"f", filler}});
    append(Begin(id, OperationType::kCreating, state));
    append(id < 20 ? Success(id, state) : Failure(id));
    largest = std::max(largest, world.files->At(kJournalPath).find_last_not_of('\0') + 1);
  }
  append(Success(500, nullptr, 3));
  const std::size_t limit =
      std::max(std::size_t{1} << 20, 2 * world.files->At(kCheckpointPath).size());
  CHECK(largest < limit + 64'000);
  CHECK(world.files->everything_written.size() - bytes_before < std::size_t{3} * 8'000'000);
  // Another program sees what is done and what is under way.
  CHECK(world.files->At(kCheckpointPath) != before);
  CHECK_THAT(world.files->At(kCheckpointPath),
             Catch::Contains("Thing::x5") && Catch::Contains(R"("type":"deleting")"));
  CHECK(world.files->At(kBackupPath) == before);
  CHECK(ReadJournalImage(world.files->At(kJournalPath))->base == JournalBase::kDuringRun);
  const Result<LoadedStack> peeked = world.Load(false);
  REQUIRE(peeked);
  CHECK(SameContent(peeked->snapshot, Replay(run.base, written)));
  SECTION("the process dies") {
    world.files->Crash(LostData::kAll, LostNames::kAll);
    const Result<LoadedStack> recovered = world.Load();
    REQUIRE(recovered);
    CHECK(recovered->recovery->pending_operations == 1);
    CHECK(SameContent(recovered->snapshot, Replay(run.base, written)));
  }
  SECTION("the run ends") {
    REQUIRE(run.journal->Fold());
    CHECK(SameContent(world.Load()->snapshot, Replay(run.base, written)));
  }
  CHECK(world.files->At(kBackupPath) == before);
  CHECK_FALSE(world.files->names.contains(kJournalPath));
}

TEST_CASE("[S171] what is written stays in proportion to what is journaled while a stack grows") {
  World world(JournalLimits{.smallest = 4'000, .factor = 2});
  Run run(world);
  std::size_t journaled = 0;
  REQUIRE(run.Append(world, Deferred(Success(2000, run.base.resources[0], 0))));
  const std::size_t before = world.files->everything_written.size();
  for (std::int64_t id = 1; id <= 1000; ++id) {
    const StatePtr state = Thing(fmt::format("grown{}", id), {{"f", std::string(300, 'x')}});
    for (const JournalEntry& entry :
         {Begin(id, OperationType::kCreating, state), Success(id, state)}) {
      REQUIRE(run.Append(world, entry));
      journaled += 800;  // about the size of either
    }
  }
  const std::size_t written = world.files->everything_written.size() - before;
  CHECK(written > journaled);
  CHECK(written < 4 * journaled);
}

TEST_CASE("[S171] a write that fails anywhere around a fold loses nothing that has happened") {
  for (int good = 0;; ++good) {
    INFO("the write after " << good << " good ones fails");
    World world(kFoldAlways);
    Run run(world);
    const std::vector<JournalEntry> script = World::Script(run.base);
    world.files->good_appends = good;
    world.files->fail_appends = 1;
    std::vector<JournalEntry> happened;
    bool last_is_durable = false;
    for (const JournalEntry& entry : script) {
      last_is_durable = run.Append(world, entry).has_value();
      if (last_is_durable || entry.kind != JournalKind::kBegin) {
        happened.push_back(entry);
      }
    }
    const Snapshot expected = Replay(run.base, happened);
    if (last_is_durable) {
      const MemoryFiles running = *world.files;
      world.files->fail_appends = 0;
      world.files->Crash(LostData::kAll, LostNames::kAll);
      const Result<LoadedStack> recovered = world.Load();
      if (!recovered) {
        FAIL(recovered.error().Text());
      }
      CHECK(SameContent(recovered->snapshot, expected));
      *world.files = running;
    }
    const Result<void> folded = run.journal->Fold();
    const bool has_failed = world.files->fail_appends == 0;
    world.files->fail_appends = 0;
    if (!folded) {
      CHECK_THAT(folded.error().Text(), Catch::Contains("free some space"));
      REQUIRE(run.journal->Fold());
    }
    CHECK(SameContent(world.Load()->snapshot, expected));
    if (!has_failed) {
      CHECK(good > 30);
      break;
    }
  }
}

TEST_CASE("[S174] a checkpoint that another program changed is not folded over") {
  World world(kFoldAlways);
  Run run(world);
  REQUIRE(run.Append(world, Deferred(Success(1000, run.base.resources[0], 0))));
  REQUIRE(run.Append(world, Success(1, Thing("x"))));
  const std::string other = world.files->At(kCheckpointPath) + " ";
  world.files->Put(kCheckpointPath, other);
  REQUIRE(run.Append(world, Success(2, Thing("y"))));
  CHECK(world.files->At(kCheckpointPath) == other);
  const Result<void> folded = run.journal->Fold();
  REQUIRE_FALSE(folded);
  CHECK_THAT(folded.error().Text(), Catch::Contains("dev.conflict.json"));
  CHECK(world.files->At(kCheckpointPath) == other);
  CHECK_THAT(world.files->At("/s/.pulumi/davit/journals/proj/dev.conflict.json"),
             Catch::Contains("x-1") && Catch::Contains("y-1"));
  CHECK_THAT(world.Load().error().Text(), Catch::Contains(kJournalPath));
}

TEST_CASE("[S45] a state that is not sound in the middle of a run is not folded before its end") {
  World world(kFoldAlways);
  const std::string before = world.files->At(kCheckpointPath);
  Run run(world);
  REQUIRE(run.Append(world, Deferred(Success(1000, run.base.resources[0], 0))));
  auto child = Thing("child");
  child->parent = ThingUrn("late");
  REQUIRE(run.Append(world, Success(1, child)));
  CHECK(world.files->At(kCheckpointPath) == before);
  CHECK(run.Append(world, Begin(2, OperationType::kCreating, Thing("z"))));
  world.files->Crash(LostData::kAll, LostNames::kAll);
  CHECK(Summary(world.Load()->snapshot)[1] == "child/child-1");
}

TEST_CASE("a journal that was begun in the middle of a run must say where the run stood") {
  World world;
  std::string bytes =
      EncodeHeader(Sha256Hex(world.files->At(kCheckpointPath)), JournalBase::kDuringRun);
  world.files->Put(kJournalPath, bytes);
  CHECK_THAT(world.Load().error().Text(),
             Catch::Contains(kJournalPath) && Catch::Contains("where the run stood"));
  AppendRecord(RecordKind::kCarried, R"({"added":[],"base":[77]})", &bytes);
  world.files->Put(kJournalPath, bytes);
  CHECK_THAT(world.Load().error().Text(), Catch::Contains("names nothing in the checkpoint"));
}

}  // namespace davit::testing
