#pragma once
// Files and folders as the localhost resources need them. Errors name the path and the reason,
// never content. Any thread.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "engine/base/result.h"

namespace davit::localhost {

/// Largest file whose bytes become a property.
inline constexpr std::uint64_t kMaxContentBytes = 16 * 1024 * 1024;

/// The path made absolute against the working directory and freed of `.`, `..` and a final `/`;
/// symbolic links stay.
std::string AbsolutePath(const std::string& path);
/// The bits of four octal digits (`0644`); absent when the text is not that.
std::optional<mode_t> ParseMode(const std::string& text);
std::string ModeText(mode_t mode);
std::string Sha256Hex(const std::string& bytes);

enum class EntryKind { kMissing, kFile, kDirectory, kOther };
struct Entry {
  EntryKind kind = EntryKind::kMissing;
  mode_t mode = 0;  ///< permission bits
};
/// What is at the path itself; a symbolic link is kOther.
Result<Entry> LookAt(const std::string& path);

struct FileDigest {
  std::string sha256;  ///< lower-case hex
  std::uint64_t size = 0;
};
/// Reads the whole file, however large.
Result<FileDigest> DigestFile(const std::string& path);
/// The bytes of a file of at most kMaxContentBytes.
Result<std::string> ReadFile(const std::string& path);

/// Where the bytes of a new file come from.
struct CopyOf {
  std::string path;
};
using FileSource = std::variant<std::string, CopyOf>;
enum class IfExists { kFail, kReplace };

/// Writes a file so that others see all of it or nothing, and on the disk before it returns: to a
/// temporary file beside it, then renamed. A directory is never replaced.
Result<FileDigest> WriteFile(const std::string& path,
                             const FileSource& source,
                             mode_t mode,
                             IfExists if_exists);
/// Removes a file or symbolic link; one that is gone already is fine.
Result<void> RemoveFile(const std::string& path);
Result<void> ChangeMode(const std::string& path, mode_t mode);

/// "cannot <verb> '<path>': <reason>" from `errno`.
Error SystemError(const char* verb, const std::string& path, int error_number);

}  // namespace davit::localhost
