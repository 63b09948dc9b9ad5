#include "state/journal/durable_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace davit {
namespace {

constexpr mode_t kFileMode = 0600;
constexpr mode_t kFolderMode = 0700;

const char* AdviceFor(int code) {
  switch (code) {
    case ENOSPC:
    case EDQUOT:
      return "free some space and run the command again";
    case EACCES:
    case EPERM:
      return "check who may write there";
    case EROFS:
      return "the file system is mounted read-only; use another backend or mount it for writing";
    default:
      return "";
  }
}

Unexpected SystemFailure(const char* verb, const std::string& path, int code) {
  return Fail(
      ErrorKind::kFailed,
      fmt::format("'{}' cannot be {}: {}", path, verb, std::generic_category().message(code)),
      AdviceFor(code));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

class SystemAppendFile final : public AppendFile {
 public:
  SystemAppendFile(std::string path, Descriptor descriptor, std::size_t size)
      : path_(std::move(path)), descriptor_(std::move(descriptor)), size_(size) {}

  Result<void> Append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written =
          ::pwrite(descriptor_.get(), bytes.data(), bytes.size(), static_cast<off_t>(size_));
      if (written < 0 && errno == EINTR) {
        continue;
      }
      if (written < 0) {
        return SystemFailure("written", path_, errno);
      }
      bytes.remove_prefix(static_cast<std::size_t>(written));
      size_ += static_cast<std::size_t>(written);
    }
    return {};
  }

  // Written, not only allocated: file systems note at the sync which allocated blocks were filled.
  void Reserve(std::size_t size) override {
    const std::string zeros(size, '\0');
    (void)!::pwrite(descriptor_.get(), zeros.data(), zeros.size(), static_cast<off_t>(size_));
  }

  Result<void> Sync() override {
    if (::fdatasync(descriptor_.get()) != 0) {
      return SystemFailure("written to the disk", path_, errno);
    }
    return {};
  }

 private:
  std::string path_;
  Descriptor descriptor_;
  std::size_t size_;  // where the next bytes go
};

class SystemFileLayer final : public FileLayer {
 public:
  Result<std::optional<std::string>> Read(const std::string& path) override {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) {
      if (errno == ENOENT || errno == ENOTDIR) {
        return std::optional<std::string>();
      }
      return SystemFailure("read", path, errno);
    }
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) {
      return SystemFailure("read", path, errno);
    }
    std::string bytes;
    bytes.resize(static_cast<std::size_t>(status.st_size) + 1);
    std::size_t size = 0;
    while (true) {
      if (size == bytes.size()) {
        bytes.resize(bytes.size() * 2);
      }
      const ssize_t got = ::read(file.get(), bytes.data() + size, bytes.size() - size);
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got < 0) {
        return SystemFailure("read", path, errno);
      }
      if (got == 0) {
        break;
      }
      size += static_cast<std::size_t>(got);
    }
    bytes.resize(size);
    return std::optional<std::string>(std::move(bytes));
  }

  Result<std::vector<FolderItem>> List(const std::string& path) override {
    std::vector<FolderItem> items;
    DIR* folder = ::opendir(path.c_str());
    if (folder == nullptr) {
      if (errno == ENOENT || errno == ENOTDIR) {
        return items;
      }
      return SystemFailure("listed", path, errno);
    }
    while (const dirent* item = ::readdir(folder)) {
      const std::string name = static_cast<const char*>(item->d_name);
      struct stat status {};
      if (name != "." && name != ".." && ::stat((path + "/" + name).c_str(), &status) == 0) {
        items.push_back(FolderItem{name, S_ISDIR(status.st_mode)});
      }
    }
    ::closedir(folder);
    std::sort(items.begin(), items.end(), [](const FolderItem& a, const FolderItem& b) {
      return a.name < b.name;
    });
    return items;
  }

  Result<std::unique_ptr<AppendFile>> Create(const std::string& path) override {
    return Open(path, O_CREAT | O_TRUNC, 0);
  }

  Result<std::unique_ptr<AppendFile>> Reopen(const std::string& path, std::size_t size) override {
    if (::truncate(path.c_str(), static_cast<off_t>(size)) != 0) {
      return SystemFailure("cut", path, errno);
    }
    return Open(path, 0, size);
  }

  Result<void> Rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) {
      return SystemFailure("replaced", to, errno);
    }
    return {};
  }

  Result<void> Remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
      return SystemFailure("removed", path, errno);
    }
    return {};
  }

  Result<void> SyncFolder(const std::string& path) override {
    const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Some file systems cannot sync a folder; then there is nothing to be done about it.
    if (folder.get() < 0 || (::fsync(folder.get()) != 0 && errno != EINVAL)) {
      return SystemFailure("written to the disk", path, errno);
    }
    return {};
  }

  Result<void> MakeFolder(const std::string& path) override {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) {
      return S_ISDIR(status.st_mode) ? Result<void>()
                                     : SystemFailure("used as a folder", path, ENOTDIR);
    }
    const std::string parent = FolderOf(path);
    DAVIT_TRY_VOID(MakeFolder(parent));
    if (::mkdir(path.c_str(), kFolderMode) != 0 && errno != EEXIST) {
      return SystemFailure("created", path, errno);
    }
    return SyncFolder(parent);
  }

 private:
  static Result<std::unique_ptr<AppendFile>> Open(const std::string& path,
                                                  int flags,
                                                  std::size_t size) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, kFileMode));
    if (file.get() < 0) {
      return SystemFailure("written", path, errno);
    }
    return std::unique_ptr<AppendFile>(
        std::make_unique<SystemAppendFile>(path, std::move(file), size));
  }
};

class PointedAppendFile final : public AppendFile {
 public:
  PointedAppendFile(std::unique_ptr<AppendFile> file, const std::function<void()>& at_point)
      : file_(std::move(file)), at_point_(at_point) {}

  Result<void> Append(std::string_view bytes) override {
    at_point_();
    DAVIT_TRY_VOID(file_->Append(bytes.substr(0, bytes.size() / 2)));
    at_point_();
    DAVIT_TRY_VOID(file_->Append(bytes.substr(bytes.size() / 2)));
    at_point_();
    return {};
  }
  void Reserve(std::size_t size) override {
    at_point_();
    file_->Reserve(size);
    at_point_();
  }
  Result<void> Sync() override {
    Result<void> done = file_->Sync();
    at_point_();
    return done;
  }

 private:
  std::unique_ptr<AppendFile> file_;
  const std::function<void()>& at_point_;
};

class PointedFileLayer final : public FileLayer {
 public:
  PointedFileLayer(std::shared_ptr<FileLayer> files, std::function<void()> at_point)
      : files_(std::move(files)), at_point_(std::move(at_point)) {}

  Result<std::optional<std::string>> Read(const std::string& path) override {
    return files_->Read(path);
  }
  Result<std::vector<FolderItem>> List(const std::string& path) override {
    return files_->List(path);
  }
  Result<std::unique_ptr<AppendFile>> Create(const std::string& path) override {
    return WithPoints(files_->Create(path));
  }
  Result<std::unique_ptr<AppendFile>> Reopen(const std::string& path, std::size_t size) override {
    return WithPoints(files_->Reopen(path, size));
  }
  Result<void> Rename(const std::string& from, const std::string& to) override {
    at_point_();
    return After(files_->Rename(from, to));
  }
  Result<void> Remove(const std::string& path) override {
    at_point_();
    return After(files_->Remove(path));
  }
  Result<void> SyncFolder(const std::string& path) override {
    return After(files_->SyncFolder(path));
  }
  Result<void> MakeFolder(const std::string& path) override {
    return After(files_->MakeFolder(path));
  }

 private:
  Result<std::unique_ptr<AppendFile>> WithPoints(Result<std::unique_ptr<AppendFile>> file) {
    at_point_();
    if (!file) {
      return file;
    }
    return std::unique_ptr<AppendFile>(
        std::make_unique<PointedAppendFile>(*std::move(file), at_point_));
  }
  Result<void> After(Result<void> done) {
    at_point_();
    return done;
  }

  std::shared_ptr<FileLayer> files_;
  std::function<void()> at_point_;
};

}  // namespace

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<void> ReplaceFile(FileLayer& files, const std::string& path, std::string_view bytes) {
  const std::string beside = path + ".tmp";
  {
    DAVIT_TRY(const std::unique_ptr<AppendFile> file, files.Create(beside));
    DAVIT_TRY_VOID(file->Append(bytes));
    DAVIT_TRY_VOID(file->Sync());
  }
  DAVIT_TRY_VOID(files.Rename(beside, path));
  return files.SyncFolder(FolderOf(path));
}

std::unique_ptr<FileLayer> SystemFiles() {
  return std::make_unique<SystemFileLayer>();
}

std::unique_ptr<FileLayer> FilesWithPoints(std::shared_ptr<FileLayer> files,
                                           std::function<void()> at_point) {
  return std::make_unique<PointedFileLayer>(std::move(files), std::move(at_point));
}

}  // namespace davit
