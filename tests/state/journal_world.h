#pragma once
// A stack in memory files, and the entries that an engine writes in one update of it.

#include "tests/state/state_fakes.h"

namespace davit::testing {

inline const StackRef kWorldStack{"proj", "dev"};
inline constexpr const char* kJournalPath = "/s/.pulumi/davit/journals/proj/dev.journal";
inline constexpr const char* kBackupPath = "/s/.pulumi/stacks/proj/dev.json.bak";
inline constexpr const char* kCheckpointPath = "/s/.pulumi/stacks/proj/dev.json";

inline JournalEntry Begin(std::int64_t id, OperationType type, StatePtr state) {
  JournalEntry entry;
  entry.kind = JournalKind::kBegin;
  entry.operation_id = id;
  entry.operation = type;
  entry.state = std::move(state);
  return entry;
}
inline JournalEntry Success(std::int64_t id,
                            StatePtr state,
                            std::optional<std::int64_t> remove_old = std::nullopt) {
  JournalEntry entry;
  entry.kind = JournalKind::kSuccess;
  entry.operation_id = id;
  entry.state = std::move(state);
  entry.remove_old = remove_old;
  return entry;
}
inline JournalEntry Failure(std::int64_t id) {
  JournalEntry entry;
  entry.kind = JournalKind::kFailure;
  entry.operation_id = id;
  return entry;
}
inline JournalEntry Deferred(JournalEntry entry) {
  entry.deferred = true;
  return entry;
}

/// Deep equality of what a run leaves.
inline bool SameContent(const Snapshot& a, const Snapshot& b) {
  const auto same_record = [](const StatePtr& x, const StatePtr& y) { return *x == *y; };
  const auto same_operation = [](const PendingOperation& x, const PendingOperation& y) {
    return x.type == y.type && *x.resource == *y.resource;
  };
  return std::ranges::equal(a.resources, b.resources, same_record) &&
         std::ranges::equal(a.pending_operations, b.pending_operations, same_operation);
}

/// Every write is folded into the checkpoint.
inline constexpr JournalLimits kFoldAlways{.smallest = 1, .factor = 0};

struct World {
  std::shared_ptr<MemoryFiles> files = std::make_shared<MemoryFiles>();
  std::shared_ptr<FakeManager> manager = std::make_shared<FakeManager>();
  SeededLoop loop;
  JournalLimits limits;

  explicit World(JournalLimits the_limits = {}) : limits(the_limits) {
    const std::unique_ptr<Backend> backend = Open();
    DAVIT_CHECK(backend->Create(kWorldStack, manager.get()).has_value(), "create");
    Snapshot snapshot;
    snapshot.resources = {ProviderRecord(),
                          Thing("a", {{"v", 1}}),
                          Thing("b", {{"s", MakeSecret("canary-base")}}, {"a"}),
                          Thing("c", {}, {"b"}),
                          Thing("d")};
    DAVIT_CHECK(backend->Save(kWorldStack, snapshot, manager).has_value(), "save");
  }
  /// A new process.
  std::unique_ptr<Backend> Open(std::function<void()> at_point = nullptr) const {
    std::shared_ptr<FileLayer> layer = files;
    if (at_point) {
      layer = FilesWithPoints(files, std::move(at_point));
    }
    return MakeFileBackend(layer, "/s", "davit/test", limits);
  }
  Result<LoadedStack> Load(bool may_recover = true) const {
    return Open()->Load(kWorldStack, OpenerOf(manager), may_recover);
  }

  /// The entries of an update of `base`: same, update, create, replacement, outputs, delete,
  /// failure, and one left open.
  static std::vector<JournalEntry> Script(const Snapshot& base) {
    const StatePtr a = base.resources[1];
    auto b = std::make_shared<ResourceState>(*base.resources[2]);
    b->inputs["v"] = 2;
    auto d = Thing("d", {{"v", 3}});
    d->id = "d-2";
    auto e = Thing("e", {{"s", MakeSecret("canary-new")}}, {"b"});
    auto e_begun = std::make_shared<ResourceState>(*e);
    e_begun->id.clear();
    auto e_outputs = std::make_shared<ResourceState>(*e);
    e_outputs->outputs["late"] = MakeSecret("canary-late");
    JournalEntry replaced = Success(4, d);
    replaced.delete_old = 4;
    JournalEntry outputs;
    outputs.kind = JournalKind::kOutputs;
    outputs.operation_id = 6;
    outputs.remove_new = 3;
    outputs.state = e_outputs;
    return {
        Deferred(Success(100, base.resources[0], 0)),
        Deferred(Success(1, a, 1)),
        Begin(2, OperationType::kUpdating, b),
        Begin(3, OperationType::kCreating, e_begun),
        Success(2, b, 2),
        Success(3, e),
        Begin(4, OperationType::kCreating, d),
        replaced,
        outputs,
        Begin(7, OperationType::kDeleting, base.resources[3]),
        Success(7, nullptr, 3),
        Begin(8, OperationType::kDeleting, base.resources[4]),
        Failure(8),
        Begin(9, OperationType::kCreating, Thing("f")),
    };
  }
};

}  // namespace davit::testing
