// SnapshotGuard: each journal entry judged before it is written (E207).
#include "engine/model/snapshot_guard.h"

#include <catch2/catch.hpp>
#include <random>

#include "tests/state/journal_world.h"

namespace davit::testing {
namespace {

using Lines = std::vector<std::string>;

Lines Messages(const std::vector<Error>& errors) {
  Lines lines;
  for (const Error& error : errors) {
    lines.push_back(error.message);
  }
  return lines;
}

Snapshot Base(std::vector<StatePtr> records) {
  Snapshot base;
  base.resources = std::move(records);
  return base;
}

// Random journals, most of them wrong: records that refer to anything, removals of anything.
class RandomJournal {
 public:
  explicit RandomJournal(unsigned seed) : random_(seed) {}

  Snapshot MakeBase() {
    Snapshot base = Base({ProviderRecord()});
    for (std::size_t index = 0; index < 5; ++index) {
      base.resources.push_back(Record());
    }
    left_.assign(base.resources.size(), true);
    return base;
  }

  JournalEntry Next() {
    JournalEntry entry = Success(++last_, Chance(2) ? Record() : nullptr);
    if (Chance(40)) {
      entry = JournalEntry();
      entry.kind = JournalKind::kRebuiltBase;
      return entry;
    }
    const std::size_t old_index = Pick(left_.size());
    if (left_[old_index] && Chance(2)) {
      if (Chance(6)) {
        entry.kind = JournalKind::kRefreshSuccess;
        entry.remove_old = static_cast<std::int64_t>(old_index);
        left_[old_index] = entry.state != nullptr;
        return entry;
      }
      const auto index = static_cast<std::int64_t>(old_index);
      switch (Pick(3)) {
        case 0:
          entry.remove_old = index;
          left_[old_index] = false;
          break;
        case 1:
          entry.delete_old = index;
          break;
        default:
          entry.pending_replacement_old = index;
      }
    } else if (!added_.empty() && Chance(3)) {
      const std::size_t at = Pick(added_.size());
      entry.remove_new = added_[at];
      added_.erase(added_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    if (entry.state) {
      added_.push_back(entry.operation_id);
    }
    return entry;
  }

  void Rebuilt(std::size_t size) {
    left_.assign(size, true);
    added_.clear();
  }

 private:
  std::size_t Pick(std::size_t count) { return random_() % count; }
  bool Chance(unsigned of) { return random_() % of == 0; }
  std::string Name() { return std::string(1, static_cast<char>('a' + Pick(5))); }

  StatePtr Record() {
    if (Chance(6)) {
      return ProviderRecord();
    }
    auto state = Thing(Name());
    if (Chance(6)) {
      state->dependencies = {ThingUrn(Name())};
    }
    if (Chance(8)) {
      state->parent = ThingUrn(Name());
    }
    state->pending_delete = Chance(4);
    state->custom = !Chance(60);
    return state;
  }

  std::mt19937 random_;
  std::int64_t last_ = 0;
  std::vector<bool> left_;
  std::vector<std::int64_t> added_;
};

}  // namespace

TEST_CASE("[E207] the guard says after each entry what verification of the replay says") {
  int wrong = 0;
  int right = 0;
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    INFO("seed " << seed);
    RandomJournal journal(seed);
    const Snapshot base = journal.MakeBase();
    SnapshotGuard guard(base);
    JournalReplay replay(base);
    for (int step = 0; step < 30; ++step) {
      const JournalEntry entry = journal.Next();
      replay.Apply(entry);
      if (entry.kind == JournalKind::kRebuiltBase) {
        journal.Rebuilt(replay.base_size());
        if (replay.base_size() == 0) {
          break;
        }
      }
      const Lines expected = Messages(VerifySnapshot(replay.Current()));
      ++(expected.empty() ? right : wrong);
      REQUIRE(Messages(guard.Apply(entry)) == expected);
    }
  }
  CHECK(right > 500);
  CHECK(wrong > 500);
}

TEST_CASE("[E207] a sound run never has the whole list verified") {
  Snapshot base = Base({ProviderRecord(), Thing("root")});
  for (int index = 0; index < 2000; ++index) {
    base.resources.push_back(Thing("r" + std::to_string(index), {}, {"root"}));
  }
  SnapshotGuard guard(base);
  std::int64_t id = 0;
  CHECK(guard.Apply(Success(++id, base.resources[0], 0)).empty());
  CHECK(guard.Apply(Success(++id, base.resources[1], 1)).empty());
  for (std::int64_t index = 2; index < 1000; ++index) {
    const StatePtr old_state = base.resources[static_cast<std::size_t>(index)];
    JournalEntry replaced = Success(++id, std::make_shared<ResourceState>(*old_state));
    replaced.delete_old = index;
    CHECK(guard.Apply(Begin(id, OperationType::kCreating, old_state)).empty());
    CHECK(guard.Apply(replaced).empty());
  }
  for (std::int64_t index = 2; index < 2002; ++index) {
    CHECK(guard.Apply(Success(++id, nullptr, index)).empty());
  }
  CHECK(guard.full_checks() == 0);
  CHECK(guard.Current().resources.size() == 1000);
}

TEST_CASE("[E207] what is wrong stays reported until it is put right") {
  const Snapshot base = Base({ProviderRecord(), Thing("a"), Thing("b", {}, {"a"})});
  SnapshotGuard guard(base);
  const std::vector<Error> gone = guard.Apply(Success(1, nullptr, 1));
  REQUIRE(gone.size() == 1);
  CHECK(gone[0].urn == ThingUrn("b").text());
  CHECK(guard.Apply(Begin(2, OperationType::kCreating, Thing("c"))).size() == 1);
  CHECK(guard.Apply(Success(3, Thing("a"))).size() == 1);  // a comes before its provider
  CHECK(guard.Apply(Success(4, ProviderRecord(), 0)).size() == 1);
  CHECK(guard.Apply(Success(5, Thing("a"))).size() == 2);  // two of one URN
  JournalEntry first_goes = Success(6, nullptr);
  first_goes.remove_new = 3;
  CHECK(guard.Apply(first_goes).empty());
}

TEST_CASE("[E207] entries that contradict the base are bugs") {
  const Snapshot base = Base({ProviderRecord(), Thing("a")});
  SnapshotGuard guard(base);
  CHECK(guard.Apply(Success(1, nullptr, 7)).at(0).kind == ErrorKind::kBug);
  CHECK(guard.Apply(Success(2, nullptr, 1)).empty());
  CHECK(guard.Apply(Success(3, nullptr, 1)).at(0).kind == ErrorKind::kBug);
  JournalEntry unknown = Success(4, nullptr);
  unknown.remove_new = 99;
  CHECK(guard.Apply(unknown).at(0).kind == ErrorKind::kBug);
  JournalEntry outputs;
  outputs.kind = JournalKind::kOutputs;
  outputs.remove_old = 1;
  outputs.state = Thing("a");
  CHECK(guard.Apply(outputs).at(0).kind == ErrorKind::kBug);
}

}  // namespace davit::testing
