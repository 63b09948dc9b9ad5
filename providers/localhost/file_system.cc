#include "providers/localhost/file_system.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "engine/base/check.h"

namespace davit::localhost {
namespace {

constexpr std::size_t kChunkBytes = 256 * 1024;

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    DAVIT_CHECK(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1,
                "SHA-256 is not available");
  }
  void Add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string Hex() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), digest, &size);
    std::string text;
    for (unsigned int index = 0; index < size; ++index) {
      text += fmt::format("{:02x}", digest[index]);
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

class FileHandle {
 public:
  explicit FileHandle(int number) : number_(number) {}
  ~FileHandle() { Close(); }
  FileHandle(const FileHandle&) = delete;
  FileHandle& operator=(const FileHandle&) = delete;
  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  /// Returns 0 or an error number.
  int Close() {
    const int number = number_;
    number_ = -1;
    return number >= 0 && ::close(number) != 0 ? errno : 0;
  }

 private:
  int number_;
};

/// Calls `use` with each piece of the file.
template <typename Use>
Result<void> ForEachChunk(const std::string& path, Use use) {
  const FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file.is_open()) {
    return Fail(SystemError("read", path, errno));
  }
  std::string chunk(kChunkBytes, '\0');
  while (true) {
    const ssize_t count = ::read(file.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return Fail(SystemError("read", path, errno));
    }
    if (count == 0) {
      return {};
    }
    DAVIT_TRY_VOID(use(std::string_view(chunk).substr(0, static_cast<std::size_t>(count))));
  }
}

std::string TemporaryNameBeside(const std::string& path) {
  std::uint64_t random = 0;
  DAVIT_CHECK(::getrandom(&random, sizeof random, 0) == sizeof random, "no random bytes");
  return (std::filesystem::path(path).parent_path() / fmt::format(".davit-{:016x}.tmp", random))
      .string();
}

/// Gives the file its name unless that is taken. Returns 0 or an error number.
int RenameToFreeName(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    return 0;
  }
  if (errno != EINVAL && errno != ENOSYS) {
    return errno;
  }
  // The file system does not know the flag: a hard link does not replace either.
  if (::link(from.c_str(), to.c_str()) != 0) {
    return errno;
  }
  ::unlink(from.c_str());
  return 0;
}

Result<FileDigest> FillFile(const std::string& path, const FileSource& source, mode_t mode) {
  FileHandle file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) {
    return Fail(SystemError("create", path, errno));
  }
  Sha256 hash;
  FileDigest digest;
  const auto write = [&](std::string_view bytes) -> Result<void> {
    hash.Add(bytes);
    digest.size += bytes.size();
    while (!bytes.empty()) {
      const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
      if (count < 0 && errno != EINTR) {
        return Fail(SystemError("write", path, errno));
      }
      bytes.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
    }
    return {};
  };
  if (const CopyOf* copy = std::get_if<CopyOf>(&source)) {
    DAVIT_TRY_VOID(ForEachChunk(copy->path, write));
  } else {
    DAVIT_TRY_VOID(write(std::get<std::string>(source)));
  }
  // fchmod: the mode of open() is cut by the umask.
  if (::fchmod(file.get(), mode) != 0 || ::fsync(file.get()) != 0) {
    return Fail(SystemError("write", path, errno));
  }
  if (const int error = file.Close(); error != 0) {
    return Fail(SystemError("write", path, error));
  }
  digest.sha256 = hash.Hex();
  return digest;
}

}  // namespace

Error SystemError(const char* verb, const std::string& path, int error_number) {
  return MakeError(
      ErrorKind::kFailed,
      fmt::format("cannot {} '{}': {}", verb, path, std::generic_category().message(error_number)));
}

std::string AbsolutePath(const std::string& path) {
  std::string text = std::filesystem::absolute(path).lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') {
    text.pop_back();
  }
  return text;
}

std::optional<mode_t> ParseMode(const std::string& text) {
  if (text.size() != 4) {
    return std::nullopt;
  }
  mode_t mode = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '7') {
      return std::nullopt;
    }
    mode = mode * 8 + static_cast<mode_t>(digit - '0');
  }
  return mode;
}

std::string ModeText(mode_t mode) {
  return fmt::format("{:04o}", mode & 07777);
}

std::string Sha256Hex(const std::string& bytes) {
  Sha256 hash;
  hash.Add(bytes);
  return hash.Hex();
}

Result<Entry> LookAt(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return Entry{};
    }
    return Fail(SystemError("look at", path, errno));
  }
  Entry entry;
  entry.mode = found.st_mode & 07777;
  entry.kind = S_ISREG(found.st_mode)   ? EntryKind::kFile
               : S_ISDIR(found.st_mode) ? EntryKind::kDirectory
                                        : EntryKind::kOther;
  return entry;
}

Result<FileDigest> DigestFile(const std::string& path) {
  Sha256 hash;
  FileDigest digest;
  DAVIT_TRY_VOID(ForEachChunk(path, [&](std::string_view bytes) -> Result<void> {
    hash.Add(bytes);
    digest.size += bytes.size();
    return {};
  }));
  digest.sha256 = hash.Hex();
  return digest;
}

Result<std::string> ReadFile(const std::string& path) {
  std::string content;
  DAVIT_TRY_VOID(ForEachChunk(path, [&](std::string_view bytes) -> Result<void> {
    if (content.size() + bytes.size() > kMaxContentBytes) {
      return Fail(ErrorKind::kRefused,
                  fmt::format("'{}' is larger than {} MiB, too large for a property",
                              path,
                              kMaxContentBytes / (1024 * 1024)));
    }
    content += bytes;
    return {};
  }));
  return content;
}

Result<FileDigest> WriteFile(const std::string& path,
                             const FileSource& source,
                             mode_t mode,
                             IfExists if_exists) {
  const std::string temporary = TemporaryNameBeside(path);
  Result<FileDigest> filled = FillFile(temporary, source, mode);
  if (!filled) {
    ::unlink(temporary.c_str());
    return filled;
  }
  int error = 0;
  if (if_exists == IfExists::kFail) {
    error = RenameToFreeName(temporary, path);
  } else if (::rename(temporary.c_str(), path.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    ::unlink(temporary.c_str());
    return Fail(SystemError("write", path, error));
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const FileHandle handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle.is_open() && ::fsync(handle.get()) != 0) {
    Error failure = SystemError("sync", folder, errno);
    failure.kind = ErrorKind::kOutcomeUnknown;
    return Fail(std::move(failure));
  }
  return filled;
}

Result<void> RemoveFile(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
    return Fail(SystemError("delete", path, errno));
  }
  return {};
}

Result<void> ChangeMode(const std::string& path, mode_t mode) {
  if (::chmod(path.c_str(), mode) != 0) {
    return Fail(SystemError("change the mode of", path, errno));
  }
  return {};
}

}  // namespace davit::localhost
