#pragma once
// Seam: where the engine makes its steps durable. Implemented in state/journal, and in memory for
// previews and tests.

#include "engine/base/result.h"
#include "engine/base/task.h"
#include "engine/model/journal_entry.h"

namespace davit {

class Journal {
 public:
  virtual ~Journal() = default;
  /// Makes an entry durable before it completes; entries become durable in the order of the calls,
  /// and entries that wait at the same time share one sync. A deferred entry completes at once and
  /// is written with the next real one (E206). Engine thread. An error means that the entry may be
  /// lost: the step must fail and no further one may begin.
  virtual Task<Result<void>> Append(JournalEntry entry) = 0;
};

}  // namespace davit
