#pragma once
// Where the file backend keeps what belongs to one stack (S117-S118, S170), and how a checkpoint is
// replaced.

#include <optional>
#include <string>

#include "state/backend/backend.h"
#include "state/journal/durable_file.h"

namespace davit {

/// Absolute paths.
struct StackFiles {
  StackFiles(const std::string& root, const StackRef& stack);
  std::string checkpoint;
  std::string backup;
  std::string tags;
  std::string history;  ///< folder
  std::string backups;  ///< folder
  std::string journal;
  std::string conflict;  ///< what a run saw whose checkpoint was changed by another program (S174)
  std::string lock;
  std::string foreign_locks;  ///< folder (S127)
};

/// Names that may stand in a path (S121): 1-100 of `A-Za-z0-9_.-`, and no step upwards.
Result<void> CheckNames(const StackRef& stack);

/// Replaces the checkpoint; the content before it becomes the backup (W10). Sidecars of both go
/// first (S125).
Result<void> ReplaceCheckpoint(FileLayer& files,
                               const StackFiles& paths,
                               const std::optional<std::string>& before,
                               const std::string& text);
Result<void> RemoveWithSidecar(FileLayer& files, const std::string& path);

}  // namespace davit
