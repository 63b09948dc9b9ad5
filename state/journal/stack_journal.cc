#include "state/journal/stack_journal.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/waiting.h"

namespace davit {
namespace {

struct Waiting {
  JournalEntry entry;
  std::shared_ptr<Completion<Result<void>>> done;  ///< null: deferred, nobody waits
};

// Shared with the work in flight, which may outlive the journal when a run is given up.
struct Core {
  Core(JournalLog::Setup setup,
       Loop& the_loop,
       std::function<void(std::function<void()>)> the_run,
       std::shared_ptr<JournalFold> the_fold)
      : log(std::move(setup)), fold(std::move(the_fold)), loop(the_loop), run(std::move(the_run)) {}
  JournalLog log;
  std::shared_ptr<JournalFold> fold;
  Loop& loop;
  std::function<void(std::function<void()>)> run;
  std::vector<Waiting> queue;
  bool is_writing = false;
  Loop::Clock::time_point ended;  ///< of the last sync
  std::chrono::nanoseconds took{0};
  std::optional<Error> broken;  ///< of a deferred entry: nothing may begin
};

std::vector<Result<void>> WriteAll(Core& core, std::vector<Waiting>& batch) {
  std::vector<JournalEntry> entries;
  for (Waiting& waiting : batch) {
    entries.push_back(std::move(waiting.entry));
  }
  try {
    std::vector<Result<void>> results = core.log.Write(std::move(entries));
    if (core.log.has_outgrown()) {
      core.fold->FoldSoFar(core.log);
    }
    return results;
  } catch (const std::exception& exception) {
    const Result<void> failed = Fail(ErrorKind::kBug, exception.what());
    return std::vector<Result<void>>(batch.size(), failed);
  }
}

void StartWriting(const std::shared_ptr<Core>& core);

void Finish(const std::shared_ptr<Core>& core,
            std::vector<Waiting>& batch,
            std::vector<Result<void>>& results) {
  core->is_writing = false;
  core->ended = core->loop.Now();
  for (std::size_t at = 0; at < batch.size(); ++at) {
    if (batch[at].done) {
      batch[at].done->Set(std::move(results[at]));
    } else if (!results[at] && !core->broken) {
      core->broken = results[at].error();
    }
  }
  if (std::any_of(core->queue.begin(), core->queue.end(), [](const Waiting& waiting) {
        return waiting.done != nullptr;
      })) {
    StartWriting(core);
  }
}

// A sync costs the more of the processor the fewer entries share it. So the next one leaves as much
// time after the last as that took, and more steps get ready meanwhile.
constexpr std::chrono::nanoseconds kLongestPause = std::chrono::microseconds(500);

void WriteQueue(const std::shared_ptr<Core>& core) {
  auto batch = std::make_shared<std::vector<Waiting>>(std::exchange(core->queue, {}));
  const Loop::Clock::time_point begun = core->loop.Now();
  core->run([core, batch, begun] {
    auto results = std::make_shared<std::vector<Result<void>>>(WriteAll(*core, *batch));
    core->loop.Post([core, batch, results, begun] {
      core->took = core->loop.Now() - begun;
      Finish(core, *batch, *results);
    });
  });
}

// Takes the queue only when the loop comes round, so that steps which are ready together share one
// sync.
void StartWriting(const std::shared_ptr<Core>& core) {
  core->is_writing = true;
  const std::chrono::nanoseconds pause =
      core->ended + std::min(core->took, kLongestPause) - core->loop.Now();
  if (pause > std::chrono::nanoseconds(0)) {
    core->loop.After(pause, [core] { WriteQueue(core); });
  } else {
    core->loop.Post([core] { WriteQueue(core); });
  }
}

class GroupCommitJournal final : public StackJournal {
 public:
  explicit GroupCommitJournal(std::shared_ptr<Core> core) : core_(std::move(core)) {}

  Task<Result<void>> Append(JournalEntry entry) override {
    std::shared_ptr<Core> core = core_;
    if (core->broken &&
        entry.kind == JournalKind::kBegin) {  // what has happened is kept all the same
      co_return Fail(*core->broken);
    }
    if (entry.deferred) {
      core->queue.push_back(Waiting{std::move(entry), nullptr});
      co_return Result<void>();
    }
    auto done = std::make_shared<Completion<Result<void>>>();
    core->queue.push_back(Waiting{std::move(entry), done});
    if (!core->is_writing) {
      StartWriting(core);
    }
    Result<void>& written = co_await done->Wait();
    co_return std::move(written);
  }

  Result<void> Fold() override {
    DAVIT_CHECK(!core_->is_writing, "the journal is folded while it is written");
    std::vector<JournalEntry> deferred;
    for (Waiting& waiting : core_->queue) {
      deferred.push_back(std::move(waiting.entry));
    }
    core_->queue.clear();
    core_->log.Keep(std::move(deferred));
    return core_->fold->FoldAll(core_->log);
  }

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace

std::unique_ptr<StackJournal> MakeStackJournal(JournalLog::Setup setup,
                                               Loop& loop,
                                               std::function<void(std::function<void()>)> run,
                                               std::shared_ptr<JournalFold> fold) {
  return std::make_unique<GroupCommitJournal>(
      std::make_shared<Core>(std::move(setup), loop, std::move(run), std::move(fold)));
}

}  // namespace davit
