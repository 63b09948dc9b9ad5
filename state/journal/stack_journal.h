#pragma once
// The journal as the engine sees it: group commit around JournalLog. Append on the engine thread,
// the writing on the work pool.

#include <functional>
#include <memory>

#include "engine/base/loop.h"
#include "state/backend/backend.h"
#include "state/journal/journal_log.h"

namespace davit {

/// How a journal gets into the checkpoint. Blocks.
class JournalFold {
 public:
  virtual ~JournalFold() = default;
  /// In the middle of a run, when the journal has outgrown the checkpoint. What fails is no loss:
  /// the entries are in the journal.
  virtual void FoldSoFar(JournalLog& log) = 0;
  /// At the end of the run.
  virtual Result<void> FoldAll(JournalLog& log) = 0;
};

/// One writer at a time runs through `run`; what arrives meanwhile shares the next sync.
std::unique_ptr<StackJournal> MakeStackJournal(JournalLog::Setup setup,
                                               Loop& loop,
                                               std::function<void(std::function<void()>)> run,
                                               std::shared_ptr<JournalFold> fold);

}  // namespace davit
