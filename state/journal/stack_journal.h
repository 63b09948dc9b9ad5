#pragma once
// The journal as the engine sees it: group commit around JournalLog. Append on the engine thread,
// the writing on the work pool.

#include <functional>
#include <memory>

#include "engine/base/loop.h"
#include "state/backend/backend.h"
#include "state/journal/journal_log.h"

namespace davit {

/// Puts what a run left into the checkpoint. Blocks.
using FoldFunction = std::function<Result<void>(JournalLog&)>;

/// One writer at a time runs through `run`; what arrives meanwhile shares the next sync.
std::unique_ptr<StackJournal> MakeStackJournal(JournalLog::Setup setup,
                                               Loop& loop,
                                               std::function<void(std::function<void()>)> run,
                                               FoldFunction fold);

}  // namespace davit
