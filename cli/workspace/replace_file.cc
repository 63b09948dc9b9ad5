#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/workspace/stack_file.h"

namespace davit {
namespace {

// Closes a descriptor at the end of a scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) {
      close(fd_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Unexpected SystemFailure(const std::string& what, const std::string& path) {
  return Fail(ErrorKind::kFailed,
              fmt::format("could not {} '{}': {}", what, path, std::strerror(errno)));
}

Result<void> WriteAll(int fd, const std::string& content, const std::string& path) {
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t count = write(fd, content.data() + done, content.size() - done);
    if (count < 0 && errno != EINTR) {
      return SystemFailure("write", path);
    }
    done += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  return {};
}

}  // namespace

Result<void> ReplaceFile(const std::string& path, const std::string& content, unsigned mode) {
  struct stat old {};
  const bool exists = stat(path.c_str(), &old) == 0;
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  {
    const Descriptor file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
    if (file.get() < 0) {
      return SystemFailure("write", path);
    }
    Result<void> written = WriteAll(file.get(), content, path);
    if (written && exists && fchmod(file.get(), old.st_mode & 07777U) != 0) {
      written = SystemFailure("set the mode of", path);
    }
    if (written && fsync(file.get()) != 0) {
      written = SystemFailure("sync", path);
    }
    if (!written) {
      unlink(temporary.c_str());
      return written;
    }
  }
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    const int code = errno;
    unlink(temporary.c_str());
    errno = code;
    return SystemFailure("replace", path);
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Descriptor directory(
      open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || fsync(directory.get()) != 0) {
    return SystemFailure("sync the folder of", path);
  }
  return {};
}

Result<std::optional<std::string>> ReadFileIfThere(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return std::optional<std::string>();
    }
    return SystemFailure("open", path);
  }
  std::string content;
  struct stat known {};
  if (fstat(file.get(), &known) == 0 && S_ISREG(known.st_mode)) {
    content.reserve(static_cast<std::size_t>(known.st_size));
  }
  char buffer[65536];
  while (true) {
    const ssize_t count = read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return SystemFailure("read", path);
    }
    if (count == 0) {
      return std::optional<std::string>(std::move(content));
    }
    content.append(buffer, static_cast<std::size_t>(count));
  }
}

}  // namespace davit
