// The journal: bytes, group commit, deferral, failures, the fold at the end (E199-E206, S170, S171,
// docs/JOURNAL.md).
#include <catch2/catch.hpp>

#include "engine/base/digest.h"
#include "state/journal/journal_format.h"
#include "state/journal/journal_log.h"
#include "tests/state/journal_world.h"

namespace davit::testing {
namespace {

// Work that a test runs when it likes.
struct HeldWork {
  std::vector<std::function<void()>> work;
  std::function<void(std::function<void()>)> Run() {
    return [this](std::function<void()> item) { work.push_back(std::move(item)); };
  }
  void RunAll() {
    for (std::function<void()>& item : std::exchange(work, {})) {
      item();
    }
  }
};

// Begins an append and remembers how it ends.
std::shared_ptr<std::optional<Result<void>>> Appending(SeededLoop& loop,
                                                       StackJournal& journal,
                                                       JournalEntry entry) {
  auto outcome = std::make_shared<std::optional<Result<void>>>();
  Start(loop,
        journal.Append(std::move(entry)),
        [outcome](std::exception_ptr, std::optional<Result<void>> result) {
          *outcome = std::move(result);
        });
  return outcome;
}

struct Run {
  std::unique_ptr<Backend> backend;
  LoadedStack loaded;
  std::unique_ptr<StackJournal> journal;
  explicit Run(World& world, std::function<void(std::function<void()>)> run = AtOnce())
      : backend(world.Open()) {
    loaded = *backend->Load(kWorldStack, OpenerOf(world.manager), true);
    journal = *backend->OpenJournal(
        kWorldStack, loaded.snapshot, world.manager, world.loop, std::move(run));
  }
  Result<void> Append(World& world, JournalEntry entry) {
    return RunTask(world.loop, journal->Append(std::move(entry)));
  }
};

}  // namespace

TEST_CASE("CRC-32C gives the check value of its definition") {
  CHECK(Crc32c("123456789") == 0xE3069283);
}

TEST_CASE("the journal's bytes are those of docs/JOURNAL.md") {
  const std::string sha = Sha256Hex("base");
  std::string bytes = EncodeHeader(sha);
  CHECK(bytes.size() == 76);
  CHECK(bytes.substr(0, 72) == "DAVITJ1\n" + sha);
  AppendRecord(RecordKind::kEntry, "{}", &bytes);
  CHECK(bytes.substr(76, 4) == std::string("\x03\0\0\0", 4));
  CHECK(bytes.substr(84) == "E{}");
  AppendRecord(RecordKind::kSecrets, "passphrase\n{}", &bytes);
  AppendRecord(RecordKind::kFolded, sha, &bytes);
  const std::string with_tail = bytes + "tail";
  const JournalImage image = ReadJournalImage(with_tail).value();
  CHECK(image.base_sha256 == sha);
  CHECK(image.entries == std::vector<std::string_view>{"{}"});
  CHECK(image.secrets_type == "passphrase");
  CHECK(image.secrets_state == "{}");
  CHECK(image.folded_sha256 == sha);
  CHECK(image.valid_size == bytes.size());
  CHECK(image.discarded == 4);
}

TEST_CASE("any damage of a journal is noticed: reading stops before it") {
  std::string bytes = EncodeHeader(Sha256Hex("base"));
  const std::size_t header = bytes.size();
  for (int entry = 0; entry < 5; ++entry) {
    AppendRecord(
        RecordKind::kEntry, std::string(static_cast<std::size_t>(20 + entry), 'x'), &bytes);
  }
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int mask : {0x01, 0x80, 0xFF}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ mask);
      const Result<JournalImage> image = ReadJournalImage(damaged);
      if (at < header) {
        CHECK_FALSE(image);
      } else {
        REQUIRE(image);
        CHECK(image->entries.size() < 5);
        CHECK(image->valid_size <= at);
      }
    }
  }
  CHECK_FALSE(ReadJournalImage(""));
  // Zeros lie where the next records will go; they are nothing that was lost.
  CHECK(ReadJournalImage(bytes + std::string(4096, '\0'))->valid_size == bytes.size());
  CHECK(ReadJournalImage(bytes + std::string(4096, '\0'))->discarded == 0);
  CHECK(ReadJournalImage(bytes + "torn" + std::string(4096, '\0'))->discarded == 4);
}

TEST_CASE("[E200] entries survive their encoding") {
  World world;
  const Snapshot base = world.Load()->snapshot;
  SecretTexts texts;
  PropertyWriting writing;
  writing.texts = &texts;
  writing.manager = world.manager.get();
  DocumentSecrets document(OpenerOf(world.manager));
  document.Set("passphrase", world.manager->state_json());
  const PropertyReading reading{SecretsIn::kOpen, &texts, &document};
  const BaseIndex index = IndexRecords(base.resources);
  for (JournalEntry entry : World::Script(base)) {
    entry.pending_replacement_new = 5;
    entry.is_refresh = true;
    std::string json;
    WriteJournalEntry(entry, index, writing, &json);
    INFO(json);
    const Result<JournalEntry> read = ReadJournalEntry(json, base.resources, reading);
    REQUIRE(read);
    CHECK(read->kind == entry.kind);
    CHECK(read->operation_id == entry.operation_id);
    CHECK(read->remove_old == entry.remove_old);
    CHECK(read->remove_new == entry.remove_new);
    CHECK(read->delete_old == entry.delete_old);
    CHECK(read->pending_replacement_new == entry.pending_replacement_new);
    CHECK(read->operation == entry.operation);
    CHECK(read->is_refresh);
    CHECK((read->state == entry.state || *read->state == *entry.state));
  }
  JournalEntry extension;  // E200
  extension.kind = JournalKind::kExtension;
  extension.extension_ref = "ref";
  extension.extension = Extension{"ext", "1.0.0", std::string("\0b", 2)};
  std::string text;
  WriteJournalEntry(extension, index, writing, &text);
  const Result<JournalEntry> back = ReadJournalEntry(text, base.resources, reading);
  REQUIRE(back);
  CHECK(back->extension_ref == "ref");
  CHECK(back->extension.value == std::string("\0b", 2));
  CHECK(Replay(base, {*back}).extensions.at("ref").version == "1.0.0");
  std::string same;
  WriteJournalEntry(Success(1, base.resources[1], 1), index, writing, &same);
  CHECK(same ==
        R"({"kind":1,"operationID":1,"removeOld":1,"stateOfOld":1})");  // an unchanged record is
                                                                        // not repeated
  for (const char* bad : {"",
                          "[]",
                          R"({"kind":99})",
                          R"({"kind":1,"stateOfOld":99})",
                          R"({"kind":1,"operation":"x"})",
                          R"({"kind":-1})",
                          R"({"kind":0.5})",
                          R"({"new":1})"}) {
    INFO(bad);
    CHECK_FALSE(ReadJournalEntry(bad, base.resources, reading));
  }
}

TEST_CASE("[E206] a run of deferred entries writes nothing until the fold") {
  World world;
  Run run(world);
  const int syncs = world.files->syncs;
  const std::size_t written = world.files->everything_written.size();
  for (std::size_t at = 0; at < run.loaded.snapshot.resources.size(); ++at) {
    REQUIRE(run.Append(world,
                       Deferred(Success(static_cast<std::int64_t>(at) + 1,
                                        run.loaded.snapshot.resources[at],
                                        static_cast<std::int64_t>(at)))));
  }
  CHECK(world.files->syncs == syncs);
  CHECK(world.files->everything_written.size() == written);
  REQUIRE(run.journal->Fold());
  CHECK_FALSE(world.files->names.contains(kJournalPath));
  CHECK(SameContent(world.Load()->snapshot, run.loaded.snapshot));
}

TEST_CASE("[E206] deferred entries are written with the next real one, in order") {
  World world;
  Run run(world);
  const std::vector<JournalEntry> script = World::Script(run.loaded.snapshot);
  for (std::size_t at = 0; at < 3; ++at) {
    REQUIRE(run.Append(world, script[at]));
  }
  const std::string bytes = world.files->At(kJournalPath);
  CHECK(ReadJournalImage(bytes)->entries.size() == 3);
}

TEST_CASE("[E199] an append completes only when it is durable") {
  World world;
  HeldWork held;
  Run run(world, held.Run());
  const auto outcome =
      Appending(world.loop, *run.journal, Begin(1, OperationType::kCreating, Thing("x")));
  world.loop.RunUntilIdle();
  CHECK_FALSE(*outcome);
  held.RunAll();
  CHECK(world.files->durable_names.contains(kJournalPath));
  CHECK(world.files->durable_names[kJournalPath]->synced == world.files->At(kJournalPath));
  world.loop.RunUntilIdle();
  REQUIRE(*outcome);
  CHECK((*outcome)->has_value());
}

TEST_CASE("entries that wait together share one sync") {
  World world;
  HeldWork held;
  Run run(world, held.Run());
  const auto first =
      Appending(world.loop, *run.journal, Begin(1, OperationType::kCreating, Thing("x1")));
  world.loop.RunUntilIdle();
  std::vector<std::shared_ptr<std::optional<Result<void>>>> outcomes;
  for (int id = 2; id < 50; ++id) {
    outcomes.push_back(
        Appending(world.loop,
                  *run.journal,
                  Begin(id, OperationType::kCreating, Thing("x" + std::to_string(id)))));
  }
  world.loop.RunUntilIdle();
  CHECK(held.work.size() == 1);  // one writer at a time
  held.RunAll();
  world.loop.RunUntilIdle();
  CHECK(*first);
  CHECK_FALSE(*outcomes[0]);
  const int syncs = world.files->syncs;
  held.RunAll();
  world.loop.RunUntilIdle();
  CHECK(world.files->syncs == syncs + 1);
  for (const auto& outcome : outcomes) {
    REQUIRE(*outcome);
    CHECK((*outcome)->has_value());
  }
  CHECK(ReadJournalImage(world.files->At(kJournalPath))->entries.size() == 49);
}

TEST_CASE("bytes per step do not depend on the size of the stack") {
  std::vector<std::size_t> sizes;
  for (const int count : {10, 1000}) {
    World world;
    Snapshot big;
    big.resources = {ProviderRecord()};
    for (int at = 0; at < count; ++at) {
      big.resources.push_back(Thing(fmt::format("r{:04}", at), {{"v", 1}}));
    }
    REQUIRE(world.Open()->Save(kWorldStack, big, world.manager));
    Run run(world);
    const std::size_t before = world.files->everything_written.size();
    REQUIRE(run.Append(world, Begin(1, OperationType::kCreating, Thing("x"))));
    REQUIRE(run.Append(world, Success(1, Thing("x"))));
    sizes.push_back(world.files->everything_written.size() - before);
  }
  CHECK(sizes[0] == sizes[1]);
}

TEST_CASE(
    "[E203] the fold replays everything and removes the journal; [W10] .bak is the state before "
    "the update") {
  World world;
  const std::string before = world.files->At(kCheckpointPath);
  Run run(world);
  const std::vector<JournalEntry> script = World::Script(run.loaded.snapshot);
  for (const JournalEntry& entry : script) {
    REQUIRE(run.Append(world, entry));
  }
  CHECK(world.files->At(kCheckpointPath) == before);
  REQUIRE(run.journal->Fold());
  CHECK_FALSE(world.files->names.contains(kJournalPath));
  CHECK(world.files->At(std::string(kCheckpointPath) + ".bak") == before);
  const LoadedStack after = *world.Load();
  CHECK_FALSE(after.recovery);
  CHECK(SameContent(after.snapshot, Replay(run.loaded.snapshot, script)));
  CHECK(Summary(after.snapshot) ==
        std::vector<std::string>{
            "default/p-1", "a/a-1", "b/b-1", "e/e-1", "d/d-2", "d/d-1!", "+creating f"});
  CHECK(after.snapshot.manifest_version == "davit/test");
}

TEST_CASE("[E205] [S149] a run forgets old pending operations but creates") {
  World world;
  Snapshot base = world.Load()->snapshot;
  base.pending_operations = {{OperationType::kCreating, Thing("x")},
                             {OperationType::kUpdating, Thing("a")}};
  REQUIRE(world.Open()->Save(kWorldStack, base, world.manager));
  Run run(world);
  REQUIRE(run.Append(world, Begin(1, OperationType::kDeleting, base.resources[4])));
  REQUIRE(run.journal->Fold());
  const std::vector<std::string> lines = Summary(world.Load()->snapshot);
  CHECK(std::vector<std::string>(lines.end() - 2, lines.end()) ==
        std::vector<std::string>{"+deleting d", "+creating x"});
}

TEST_CASE("[B142] a full disk fails the step, forgets what did not begin and keeps what has happened") {
  World world;
  Run run(world);
  REQUIRE(run.Append(world, Deferred(Success(100, run.loaded.snapshot.resources[0], 0))));
  REQUIRE(run.Append(world, Begin(1, OperationType::kCreating, Thing("x"))));
  world.files->fail_appends = 3;
  const Result<void> begin = run.Append(world, Begin(2, OperationType::kCreating, Thing("y")));
  REQUIRE_FALSE(begin);
  CHECK_THAT(begin.error().Text(), Catch::Contains("free some space"));
  CHECK_FALSE(
      run.Append(world, Success(1, Thing("x"))));  // the object exists: this must not be lost
  CHECK_FALSE(run.journal->Fold());
  // The process dies: the begun operation is on the disk.
  MemoryFiles crashed = *world.files;
  REQUIRE(run.journal->Fold());
  CHECK(Summary(world.Load()->snapshot).back() == "d/d-1");
  CHECK(Summary(world.Load()->snapshot)[1] == "x/x-1");
  *world.files = crashed;
  world.files->Crash(LostData::kAll, LostNames::kAll);
  const Result<LoadedStack> recovered = world.Load();
  REQUIRE(recovered);
  CHECK(recovered->recovery->pending_operations == 1);
}

TEST_CASE("after a failed write the next one writes everything anew") {
  World world;
  Run run(world);
  REQUIRE(run.Append(world, Begin(1, OperationType::kCreating, Thing("x"))));
  world.files->fail_appends = 1;
  CHECK_FALSE(run.Append(world, Success(1, Thing("x"))));
  REQUIRE(run.Append(world, Begin(2, OperationType::kCreating, Thing("z"))));
  world.files->Crash(LostData::kAll, LostNames::kAll);
  const std::vector<std::string> lines = Summary(world.Load()->snapshot);
  CHECK(lines.front() == "x/x-1");
  CHECK(lines.back() == "+creating z");
}

TEST_CASE(
    "[S48] [S75] without a passphrase a finished step is stored without its secrets, and told") {
  World world;
  const StackRef plain{"proj", "plain"};
  const std::unique_ptr<Backend> backend = world.Open();
  REQUIRE(backend->Create(plain, nullptr));
  const Snapshot base = backend->Load(plain, NoPassphrase(), true)->snapshot;
  const std::unique_ptr<StackJournal> journal =
      *backend->OpenJournal(plain, base, nullptr, world.loop, AtOnce());
  const auto append = [&](JournalEntry entry) {
    return RunTask(world.loop, journal->Append(std::move(entry)));
  };
  const PropertyValue secret = MakeSecret("canary-plain");
  CHECK(append(Success(1, ProviderRecord())));
  CHECK(append(Begin(2, OperationType::kCreating, Thing("x"))));
  const Result<void> told =
      append(Success(2,
                     Thing("x",
                           {{"s", secret},
                            {"v", 1},
                            {"m", PropertyMap{{"a", PropertyList{secret, 2}}, {"b", secret}}}})));
  REQUIRE_FALSE(told);
  CHECK_THAT(told.error().Text(),
             Catch::Contains("Thing::x' is stored, but without its secret values") &&
                 Catch::Contains("PULUMI_CONFIG_PASSPHRASE") && Catch::Contains("davit refresh"));
  SECTION("the run ends") {
    REQUIRE(journal->Fold());
  }
  SECTION("the process dies") {
    world.files->Crash(LostData::kAll, LostNames::kAll);
  }
  const Snapshot after = world.Open()->Load(plain, NoPassphrase(), true)->snapshot;
  CHECK(Summary(after) == std::vector<std::string>{"default/p-1", "x/x-1"});
  CHECK(after.resources[1]->outputs ==
        PropertyMap{{"v", 1}, {"m", PropertyMap{{"a", PropertyList{Null{}, 2}}}}});
  CHECK_THAT(world.files->everything_written, !Catch::Contains("canary-plain"));
}

TEST_CASE("[S75] without a passphrase no call begins that must bring secrets") {
  World world;
  const StackRef plain{"proj", "plain"};
  const std::unique_ptr<Backend> backend = world.Open();
  REQUIRE(backend->Create(plain, nullptr));
  const Snapshot base = backend->Load(plain, NoPassphrase(), true)->snapshot;
  const std::unique_ptr<StackJournal> journal =
      *backend->OpenJournal(plain, base, nullptr, world.loop, AtOnce());
  auto marked = Thing("x");
  marked->additional_secret_outputs = {"s"};
  for (const StatePtr& state : {StatePtr(marked), StatePtr(Thing("y", {{"s", MakeSecret("t")}}))}) {
    const Result<void> begun =
        RunTask(world.loop, journal->Append(Begin(1, OperationType::kCreating, state)));
    REQUIRE_FALSE(begun);
    CHECK_THAT(begun.error().Text(), Catch::Contains("PULUMI_CONFIG_PASSPHRASE"));
  }
  REQUIRE(journal->Fold());
  CHECK(world.Open()->Load(plain, NoPassphrase(), true)->snapshot.resources.empty());
}

TEST_CASE("[S174] [B152] a checkpoint that another program changed during the run is not overwritten") {
  World world;
  Run run(world);
  REQUIRE(run.Append(world, Success(1, Thing("x"))));
  const std::string other = world.files->At(kCheckpointPath) + " ";
  world.files->Put(kCheckpointPath, other);
  const Result<void> folded = run.journal->Fold();
  REQUIRE_FALSE(folded);
  CHECK_THAT(folded.error().Text(), Catch::Contains("dev.conflict.json"));
  CHECK(world.files->At(kCheckpointPath) == other);
  CHECK_THAT(world.files->At("/s/.pulumi/davit/journals/proj/dev.conflict.json"),
             Catch::Contains("x-1"));
  // The journal stays, and the next load refuses instead of forgetting it.
  const Result<LoadedStack> loaded = world.Load();
  REQUIRE_FALSE(loaded);
  CHECK_THAT(loaded.error().Text(),
             Catch::Contains(kJournalPath) && Catch::Contains("davit stack import"));
  REQUIRE(world.Open()->Save(kWorldStack, run.loaded.snapshot, world.manager));  // what import does
  CHECK(world.Load());
  CHECK_FALSE(world.files->names.contains("/s/.pulumi/davit/journals/proj/dev.conflict.json"));
}

TEST_CASE("a journal that another run left is recovered before a new one begins") {
  World world;
  Run run(world);
  REQUIRE(run.Append(world, Success(1, Thing("x"))));
  const std::unique_ptr<Backend> next = world.Open();
  const Result<LoadedStack> peeked = next->Load(kWorldStack, OpenerOf(world.manager), false);
  REQUIRE(peeked);
  CHECK_FALSE(peeked->recovery);
  CHECK(Summary(peeked->snapshot)[0] == "x/x-1");  // its effect is seen, nothing is written
  CHECK(world.files->names.contains(kJournalPath));
  CHECK_FALSE(
      next->OpenJournal(kWorldStack, peeked->snapshot, world.manager, world.loop, AtOnce()));
  CHECK_THAT(next->Export(kWorldStack, false, NoPassphrase()).value(), Catch::Contains("x-1"));
  const Result<LoadedStack> recovered = next->Load(kWorldStack, OpenerOf(world.manager), true);
  REQUIRE(recovered);
  CHECK(recovered->recovery->entries == 1);
  CHECK(next->OpenJournal(kWorldStack, recovered->snapshot, world.manager, world.loop, AtOnce()));
}

TEST_CASE("a crashed run with another passphrase than the checkpoint is recovered and exported") {
  World world;
  auto other = std::make_shared<FakeManager>("other");
  const SecretsOpener opener =
      [&](const std::string&, const std::string& state) -> Result<std::shared_ptr<SecretsManager>> {
    return std::shared_ptr<SecretsManager>(state == other->state_json() ? other : world.manager);
  };
  const std::unique_ptr<Backend> backend = world.Open();
  const Snapshot base = backend->Load(kWorldStack, opener, true)->snapshot;
  const std::unique_ptr<StackJournal> journal =
      *backend->OpenJournal(kWorldStack, base, other, world.loop, AtOnce());
  REQUIRE(RunTask(world.loop, journal->Append(Success(1, Thing("x", {{"s", MakeSecret("new")}})))));
  const std::string exported = world.Open()->Export(kWorldStack, false, opener).value();
  CHECK_THAT(exported,
             Catch::Contains("\"other:") &&
                 Catch::Contains("{\n                \"salt\": \"other\"") &&
                 !Catch::Contains("\"salt:"));
  const Result<LoadedStack> recovered = world.Open()->Load(kWorldStack, opener, true);
  REQUIRE(recovered);
  CHECK(recovered->snapshot.secrets_state == other->state_json());
  CHECK_THAT(world.files->At(kCheckpointPath),
             Catch::Contains("\"other:") && !Catch::Contains("\"salt:"));
  CHECK(world.Open()
            ->Load(kWorldStack, OpenerOf(other), true)
            ->snapshot.resources[3]
            ->inputs.at("s") == MakeSecret("canary-base"));
}

TEST_CASE("a damaged journal header is refused with its path, a contradictory one too") {
  World world;
  world.files->Put(kJournalPath, "rubbish");
  CHECK_THAT(world.Load().error().Text(),
             Catch::Contains(kJournalPath) && Catch::Contains("header"));
  std::string bytes = EncodeHeader(Sha256Hex(world.files->At(kCheckpointPath)));
  AppendRecord(RecordKind::kEntry, R"({"kind":1,"operationID":1,"removeOld":77})", &bytes);
  world.files->Put(kJournalPath, bytes);
  CHECK_THAT(world.Load().error().Text(), Catch::Contains("does not fit its checkpoint"));
  bytes = EncodeHeader(Sha256Hex(world.files->At(kCheckpointPath)));
  AppendRecord(RecordKind::kEntry, R"({"kind":)", &bytes);
  world.files->Put(kJournalPath, bytes);
  CHECK_THAT(world.Load().error().Text(), Catch::Contains(kJournalPath));
}

TEST_CASE("[S45] an unsound result is stored with its fault, and told") {
  World world;
  Run run(world);
  auto orphan = Thing("x");
  orphan->parent = ThingUrn("nobody");
  REQUIRE(run.Append(world, Success(1, orphan)));
  const Result<void> folded = run.journal->Fold();
  REQUIRE_FALSE(folded);
  CHECK_THAT(folded.error().Text(), Catch::Contains("nobody"));
  CHECK_THAT(world.files->At(kCheckpointPath),
             Catch::Contains(R"("metadata":{"integrity_error":{"version":"3","error":)"));
  // [E208] the next sound save clears it.
  REQUIRE(world.Open()->Save(kWorldStack, run.loaded.snapshot, world.manager));
  CHECK_THAT(world.files->At(kCheckpointPath), Catch::Contains(R"("metadata":{}})"));
}

}  // namespace davit::testing
