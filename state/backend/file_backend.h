#pragma once
// The file backend over a given file layer; OpenBackend makes one over the machine's files, tests
// over their own.

#include <memory>
#include <string>

#include "state/backend/backend.h"
#include "state/journal/journal_log.h"

namespace davit {

/// `root` is the folder that holds `.pulumi`; an absolute path. `limits` say when a journal is
/// folded in the middle of a run.
std::unique_ptr<Backend> MakeFileBackend(std::shared_ptr<FileLayer> files,
                                         std::string root,
                                         std::string version,
                                         JournalLimits limits = {});

}  // namespace davit
