#pragma once
// Files as the state layer changes them, behind an interface so that tests can forget what was not
// synced and stop at every step. Calls block. One thread at a time. Errors name the path and what
// to do.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace davit {

/// A file open for appending.
class AppendFile {
 public:
  virtual ~AppendFile() = default;
  virtual Result<void> Append(std::string_view bytes) = 0;
  /// Puts zeros where the next `size` bytes will be appended: syncing those then costs about half,
  /// as the file does not grow. Until they are overwritten the file ends in zeros. A failure is not
  /// told; appending meets it again.
  virtual void Reserve(std::size_t size) = 0;
  /// What was appended survives a loss of power. After an error nothing is known about the content.
  virtual Result<void> Sync() = 0;
};

struct FolderItem {
  std::string name;
  bool is_folder = false;
};

class FileLayer {
 public:
  virtual ~FileLayer() = default;
  /// Absent when there is no such file.
  virtual Result<std::optional<std::string>> Read(const std::string& path) = 0;
  /// In lexical order; empty when there is no such folder.
  virtual Result<std::vector<FolderItem>> List(const std::string& path) = 0;
  /// Makes the file empty; only its owner may read it (W9).
  virtual Result<std::unique_ptr<AppendFile>> Create(const std::string& path) = 0;
  /// Cuts an existing file to `size` bytes and appends from there.
  virtual Result<std::unique_ptr<AppendFile>> Reopen(const std::string& path, std::size_t size) = 0;
  /// Replaces `to` at once.
  virtual Result<void> Rename(const std::string& from, const std::string& to) = 0;
  /// A missing file is no error.
  virtual Result<void> Remove(const std::string& path) = 0;
  /// Makes names (created, renamed, removed) in a folder durable.
  virtual Result<void> SyncFolder(const std::string& path) = 0;
  /// With its parents, durably; only its owner may look inside.
  virtual Result<void> MakeFolder(const std::string& path) = 0;
};

/// The folder that holds a path.
std::string FolderOf(const std::string& path);
/// Replaces a file as a whole: write beside it, sync, rename, sync the folder. After a crash the
/// path holds the old or the new content.
Result<void> ReplaceFile(FileLayer& files, const std::string& path, std::string_view bytes);

/// The file system of the machine.
std::unique_ptr<FileLayer> SystemFiles();
/// Calls `at_point` before each change of a file, after it, and half way through each append; what
/// it throws passes through.
std::unique_ptr<FileLayer> FilesWithPoints(std::shared_ptr<FileLayer> files,
                                           std::function<void()> at_point);

}  // namespace davit
