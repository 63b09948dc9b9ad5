#pragma once
// Folding: the entries of a run become a checkpoint, in the middle of the run when they have
// outgrown it, and at its end (docs/JOURNAL.md; S135, S171, S174). Blocking; one thread at a time.

#include <functional>
#include <memory>
#include <string>

#include "state/backend/stack_files.h"
#include "state/journal/stack_journal.h"

namespace davit {

/// Stamps a checkpoint that is about to be written.
void StampManifest(const std::string& version, Snapshot* snapshot);
std::string JoinMessages(const std::vector<Error>& errors);

struct FoldPlace {
  std::shared_ptr<FileLayer> files;
  StackFiles paths;
  StackRef stack;
  std::string version;  ///< of the writer, for the manifest
};
/// `on_folded` hears the SHA-256 of the checkpoint at the end of the run.
std::shared_ptr<JournalFold> MakeRunFold(FoldPlace place,
                                         std::function<void(const std::string&)> on_folded);

}  // namespace davit
