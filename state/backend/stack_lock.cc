#include "state/backend/stack_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/base/uuid.h"
#include "state/codec/json_writer.h"
#include "state/codec/time_text.h"

namespace davit {
namespace {

constexpr std::string_view kMadeByDavit = "davit";

struct Holder {
  long pid = 0;
  std::string username;
  std::string hostname;
  std::string timestamp;
  bool made_by_davit = false;

  std::string Text() const {
    return fmt::format("{}@{} (process {}) since {}", username, hostname, pid, timestamp);
  }
  std::string Json() const {
    std::string json;
    JsonObjectWriter object(&json);
    *object.Key("pid") += fmt::format("{}", pid);
    object.String("username", username);
    object.String("hostname", hostname);
    object.String("timestamp", timestamp);
    object.TrueIf(kMadeByDavit, made_by_davit);
    object.End();
    return json;
  }
};

Result<Holder> ParseHolder(const std::string& json, const std::string& path) {
  JsonReader reader(json, fmt::format("the lock '{}'", path));
  Holder holder;
  std::string key;
  reader.EnterObject();
  while (reader.NextMember(&key)) {
    if (key == "pid") {
      holder.pid = static_cast<long>(reader.Number());
    } else if (key == "username") {
      holder.username = reader.String();
    } else if (key == "hostname") {
      holder.hostname = reader.String();
    } else if (key == "timestamp") {
      holder.timestamp = reader.String();
    } else if (key == kMadeByDavit) {
      holder.made_by_davit = reader.Bool();
    } else {
      reader.Raw();
    }
  }
  reader.ExpectEnd();
  DAVIT_TRY_VOID(reader.Finish());
  return holder;
}

Holder Ourselves() {
  Holder holder;
  holder.pid = ::getpid();
  std::array<char, 256> host{};
  holder.hostname = ::gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "unknown";
  const passwd* user = ::getpwuid(::getuid());
  holder.username = user != nullptr ? user->pw_name : fmt::format("{}", ::getuid());
  holder.timestamp = TimeText(
      std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now()));
  holder.made_by_davit = true;
  return holder;
}

bool IsLockName(const std::string& name) {  // W8: leftovers of other kinds are no locks
  constexpr std::string_view kEnd = ".json";
  return name.size() == 36 + kEnd.size() && name.substr(36) == kEnd;
}

// The flock on a file of ours; the kernel releases it when the process dies.
class KernelLock {
 public:
  static Result<KernelLock> Take(const std::string& path, const StackRef& stack) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
      return Fail(
          ErrorKind::kFailed,
          fmt::format(
              "the lock '{}' cannot be opened: {}", path, std::generic_category().message(errno)),
          "check who may write there");
    }
    KernelLock lock(fd);
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) {
      return lock;
    }
    if (errno != EWOULDBLOCK) {
      return Fail(
          ErrorKind::kFailed,
          fmt::format(
              "the lock '{}' cannot be taken: {}", path, std::generic_category().message(errno)));
    }
    const Result<Holder> holder = ParseHolder(lock.Content(), path);
    return Fail(ErrorKind::kRefused,
                fmt::format("the stack '{}' is locked by {}",
                            stack.stack,
                            holder ? holder->Text() : std::string("another davit process")),
                "wait until it has ended");
  }
  KernelLock(KernelLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  KernelLock& operator=(KernelLock&&) = delete;
  ~KernelLock() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }

  // For the message of the one who finds the stack locked; the lock itself does not depend on it.
  void SetContent(const std::string& text) const {
    if (::ftruncate(fd_, 0) == 0) {
      [[maybe_unused]] const ssize_t written = ::pwrite(fd_, text.data(), text.size(), 0);
    }
  }

 private:
  explicit KernelLock(int fd) : fd_(fd) {}
  std::string Content() const {
    std::array<char, 1024> buffer{};
    const ssize_t size = ::pread(fd_, buffer.data(), buffer.size(), 0);
    return std::string(buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  }
  int fd_;
};

class TakenLock final : public StackLock {
 public:
  TakenLock(KernelLock kernel, std::string object)
      : kernel_(std::move(kernel)), object_(std::move(object)) {}
  ~TakenLock() override {
    ::unlink(object_.c_str());
    kernel_.SetContent("");
  }

 private:
  KernelLock kernel_;
  std::string object_;
};

// Refuses if another program holds a lock (S128). Ours are leftovers of dead processes: whoever
// holds the kernel lock is the only davit on this host that works on the stack.
Result<void> CheckForeignLocks(FileLayer& files,
                               const StackFiles& paths,
                               const StackRef& stack,
                               const Holder& ours,
                               const std::string& own_object) {
  DAVIT_TRY(const std::vector<FolderItem> items, files.List(paths.foreign_locks));
  std::string holders;
  for (const FolderItem& item : items) {
    const std::string path = paths.foreign_locks + "/" + item.name;
    if (item.is_folder || !IsLockName(item.name) || path == own_object) {
      continue;
    }
    DAVIT_TRY(const std::optional<std::string> json, files.Read(path));
    if (!json) {
      continue;  // released just now
    }
    DAVIT_TRY(const Holder holder, ParseHolder(*json, path));
    if (holder.made_by_davit && holder.hostname == ours.hostname) {
      DAVIT_TRY_VOID(RemoveWithSidecar(files, path));
      continue;
    }
    holders += fmt::format("{}{} ('{}')", holders.empty() ? "" : ", ", holder.Text(), path);
  }
  if (!holders.empty()) {
    return Fail(
        ErrorKind::kRefused,
        fmt::format("the stack '{}' is locked by {}", stack.stack, holders),
        "wait until it has ended; if that process is dead, `davit cancel` removes its lock");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<StackLock>> TakeStackLock(FileLayer& files,
                                                 const StackFiles& paths,
                                                 const StackRef& stack) {
  DAVIT_TRY_VOID(files.MakeFolder(FolderOf(paths.lock)));
  DAVIT_TRY(KernelLock kernel, KernelLock::Take(paths.lock, stack));
  const Holder ours = Ourselves();
  kernel.SetContent(ours.Json());
  const std::string object = paths.foreign_locks + "/" + UuidText(SystemRandom(16)) + ".json";
  DAVIT_TRY_VOID(CheckForeignLocks(files, paths, stack, ours, object));
  DAVIT_TRY_VOID(files.MakeFolder(paths.foreign_locks));
  {
    // Written elsewhere first: an object that is there but empty breaks Pulumi's check (S129).
    const std::string beside = paths.lock + ".tmp";
    DAVIT_TRY(const std::unique_ptr<AppendFile> file, files.Create(beside));
    DAVIT_TRY_VOID(file->Append(ours.Json()));
    DAVIT_TRY_VOID(files.Rename(beside, object));
  }
  auto lock = std::make_unique<TakenLock>(std::move(kernel), object);
  DAVIT_TRY_VOID(CheckForeignLocks(files, paths, stack, ours, object));
  return std::unique_ptr<StackLock>(std::move(lock));
}

Result<int> BreakStackLocks(FileLayer& files, const StackFiles& paths, const StackRef& stack) {
  DAVIT_TRY_VOID(files.MakeFolder(FolderOf(paths.lock)));
  Result<KernelLock> kernel = KernelLock::Take(paths.lock, stack);
  if (!kernel) {
    Error error = std::move(kernel).error();
    error.advice = "interrupt that process, or wait until it has ended";
    return Fail(std::move(error));
  }
  DAVIT_TRY(const std::vector<FolderItem> items, files.List(paths.foreign_locks));
  int removed = 0;
  for (const FolderItem& item : items) {
    if (!item.is_folder && IsLockName(item.name)) {
      DAVIT_TRY_VOID(RemoveWithSidecar(files, paths.foreign_locks + "/" + item.name));
      ++removed;
    }
  }
  return removed;
}

}  // namespace davit
