#pragma once
// The journal of one run of the fuzz test.

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/model/snapshot_guard.h"
#include "tests/fuzz/model.h"

namespace davit::fuzz {

/// Keeps what survives of a run, and judges every entry of it.
class FuzzJournal final : public Journal {
 public:
  FuzzJournal(const Snapshot& base, const Move& move, const Cloud& cloud)
      : guard_(base), move_(move), cloud_(cloud) {}

  Task<Result<void>> Append(JournalEntry entry) override {
    co_await testing::Yield();
    if (move_.full_at >= 0 && static_cast<int>(entries.size()) >= move_.full_at) {
      is_full = true;
      co_return Fail(ErrorKind::kFailed, "the disk is full", "free some space");
    }
    if (move_.crash_at >= 0 && static_cast<int>(entries.size()) >= move_.crash_at &&
        !cloud_at_crash) {
      cloud_at_crash =
          cloud_;  // the process is gone; what this run does from here on did not happen
    }
    if (!cloud_at_crash) {
      Judge(entry);
      entries.push_back(std::move(entry));
    }
    co_return Result<void>();
  }

  std::vector<JournalEntry> entries;
  std::optional<Cloud> cloud_at_crash;
  bool is_full = false;
  std::optional<std::string> violation;

 private:
  void Judge(const JournalEntry& entry) {
    const std::vector<Error> errors = guard_.Apply(entry);
    if (!errors.empty() && !violation) {
      violation = fmt::format("after journal entry {} ({}): {}",
                              entries.size() + 1,
                              entry.state ? entry.state->urn.text() : "no record",
                              errors[0].message);
    }
  }

  SnapshotGuard guard_;
  const Move& move_;
  const Cloud& cloud_;
};

}  // namespace davit::fuzz
