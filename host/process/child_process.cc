#include "host/process/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "engine/base/waiting.h"
#include "host/loop/asio_loop_impl.h"
#include "host/process/command.h"

// fork and exec directly, not through Boost.Process v2: between the two its launcher tells the
// io_context of the child about the fork, which takes locks and allocates. A child of a process
// with gRPC's threads may do neither: a lock that another thread held at the fork is never released
// in the child.

namespace davit {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kLongestLine = std::size_t{1} << 20;

struct PipeEnds {
  int read = -1;
  int write = -1;
};

void CloseFd(int* fd) {
  if (*fd >= 0) {
    ::close(*fd);
    *fd = -1;
  }
}

class PipePair {
 public:
  PipePair() = default;
  ~PipePair() {
    CloseFd(&ends.read);
    CloseFd(&ends.write);
  }
  PipePair(const PipePair&) = delete;
  PipePair& operator=(const PipePair&) = delete;
  bool Open() {
    std::array<int, 2> fds{};
    if (::pipe2(fds.data(), O_CLOEXEC) != 0) {
      return false;
    }
    ends = PipeEnds{fds[0], fds[1]};
    return true;
  }
  int TakeRead() { return std::exchange(ends.read, -1); }
  int TakeWrite() { return std::exchange(ends.write, -1); }
  PipeEnds ends;
};

// What the child needs, prepared before the fork: afterwards nothing may allocate.
struct Launch {
  const char* program;
  char* const* argv;
  char* const* envp;
  const char* working_directory;
  int input;
  int output;
  int error_output;
  int report;  ///< gets errno when the program cannot be executed
  pid_t parent;
};

[[noreturn]] void FailInChild(const Launch& launch, int error) {
  const ssize_t ignored = ::write(launch.report, &error, sizeof error);
  static_cast<void>(ignored);
  ::_exit(127);
}

// Runs in the child between fork and exec: async-signal-safe calls only.
[[noreturn]] void RunInChild(const Launch& launch) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launch.parent) {
    ::_exit(127);  // the parent died before the death signal was set
  }
  for (int number = 1; number < NSIG; ++number) {
    if (number != SIGKILL && number != SIGSTOP) {
      ::signal(number, SIG_DFL);
    }
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (launch.working_directory != nullptr && ::chdir(launch.working_directory) != 0) {
    FailInChild(launch, errno);
  }
  // A source that is its own target would keep its close-on-exec flag; ours are all above 2 (see
  // Start).
  if (::dup2(launch.input, 0) < 0 || ::dup2(launch.output, 1) < 0 ||
      ::dup2(launch.error_output, 2) < 0) {
    FailInChild(launch, errno);
  }
  ::close_range(3, UINT_MAX, CLOSE_RANGE_CLOEXEC);
  ::execve(launch.program, launch.argv, launch.envp);
  FailInChild(launch, errno);
}

// Moves a descriptor above the standard ones, which may be closed in our own process.
bool LiftAboveStandard(int* fd) {
  if (*fd > 2) {
    return true;
  }
  const int lifted = ::fcntl(*fd, F_DUPFD_CLOEXEC, 3);
  if (lifted < 0) {
    return false;
  }
  ::close(*fd);
  *fd = lifted;
  return true;
}

}  // namespace

std::string ExitStatus::Text() const {
  if (signal == 0) {
    return fmt::format("exited with status {}", code);
  }
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("was killed by signal {}", signal)
                         : fmt::format("was killed by signal {} (SIG{})", signal, name);
}

struct ChildProcess::Impl : std::enable_shared_from_this<ChildProcess::Impl> {
  struct Reader {
    Reader(asio::io_context& io, int fd, Pipe which) : file(io, fd), pipe(which) {}
    asio::posix::stream_descriptor file;
    Pipe pipe;
    std::array<char, 16384> buffer{};
    std::string line;
    bool at_end = false;
  };

  Impl(AsioLoop& owner, pid_t child, int pidfd, int input_fd, int out, int err)
      : loop(owner),
        pid(child),
        input(input_fd),
        exit_file(owner.impl().io, pidfd),
        readers{Reader(owner.impl().io, out, Pipe::kStdout),
                Reader(owner.impl().io, err, Pipe::kStderr)} {}
  ~Impl() { CloseFd(&input); }

  AsioLoop& loop;
  pid_t pid;
  int input;  ///< our end of the child's standard input; never written to
  asio::posix::stream_descriptor exit_file;
  std::array<Reader, 2> readers;
  std::function<void(Pipe, std::string)> on_line;
  std::function<void()> on_change;
  std::optional<ExitStatus> status;
  std::vector<std::shared_ptr<Gate>> waiting;  ///< opened at every change

  void Report() {
    if (on_change) {
      const std::function<void()> callback = on_change;
      callback();
    }
  }

  void Changed() {
    const std::vector<std::shared_ptr<Gate>> gates = std::exchange(waiting, {});
    for (const std::shared_ptr<Gate>& gate : gates) {
      gate->Open();
    }
  }

  void WatchExit() {
    exit_file.async_wait(asio::posix::stream_descriptor::wait_read,
                         [self = shared_from_this()](const boost::system::error_code& error) {
                           if (!error) {
                             self->Reap();
                           }
                         });
  }

  void Reap() {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG) != 0 ||
        info.si_pid == 0) {
      return;
    }
    ExitStatus ended;
    if (info.si_code == CLD_EXITED) {
      ended.code = info.si_status;
    } else {
      ended.signal = info.si_status;
    }
    status = ended;
    boost::system::error_code ignored;
    exit_file.close(ignored);
    Changed();
    Report();
  }

  void Emit(Reader& reader, std::string text) {
    if (on_line) {
      on_line(reader.pipe, std::move(text));
    }
  }

  void Take(Reader& reader, std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::string_view piece = text.substr(0, end);
      reader.line.append(piece);
      if (end == std::string_view::npos) {
        if (reader.line.size() >= kLongestLine) {
          Emit(reader, std::exchange(reader.line, {}));
        }
        return;
      }
      Emit(reader, std::exchange(reader.line, {}));
      text.remove_prefix(end + 1);
    }
  }

  void Read(Reader& reader) {
    reader.file.async_read_some(asio::buffer(reader.buffer),
                                [self = shared_from_this(), &reader](
                                    const boost::system::error_code& error, std::size_t count) {
                                  self->Take(reader, std::string_view(reader.buffer.data(), count));
                                  if (!error) {
                                    self->Read(reader);
                                    self->Changed();
                                    return;
                                  }
                                  if (!reader.line.empty()) {
                                    self->Emit(reader, std::exchange(reader.line, {}));
                                  }
                                  reader.at_end = true;
                                  boost::system::error_code ignored;
                                  reader.file.close(ignored);
                                  self->Changed();
                                  self->Report();
                                });
  }

  void SignalGroup(int number) const {
    // Until the leader is reaped its number cannot be given to another process; the group may
    // outlive it.
    ::kill(-pid, number);
    if (!status) {
      ::kill(pid, number);
    }
  }
};

namespace {

// Waits until `done` holds or `limit` has passed; `impl` opens a gate at every change.
template <typename Impl, typename Done>
Task<bool> WaitUntil(std::shared_ptr<Impl> impl, Done done, std::chrono::nanoseconds limit) {
  const Loop::Clock::time_point end = impl->loop.Now() + limit;
  bool has_timer = false;
  while (!done(*impl)) {
    const Loop::Clock::time_point now = impl->loop.Now();
    if (now >= end) {
      co_return false;
    }
    auto gate = std::make_shared<Gate>();
    impl->waiting.push_back(gate);
    if (!has_timer) {
      has_timer = true;
      impl->loop.After(end - now, [impl] { impl->Changed(); });
    }
    co_await gate->Wait();
  }
  co_return true;
}

}  // namespace

ChildProcess::ChildProcess(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<ChildProcess>> ChildProcess::Start(AsioLoop& loop, ChildOptions options) {
  const auto system_failure = [&](const char* what, int error) {
    return Fail(
        ErrorKind::kFailed,
        fmt::format("cannot start '{}': {}: {}", options.program, what, std::strerror(error)));
  };
  PipePair input;
  PipePair output;
  PipePair errors;
  PipePair report;
  if (!input.Open() || !output.Open() || !errors.Open() || !report.Open()) {
    return system_failure("no pipe", errno);
  }
  for (PipePair* pair : {&input, &output, &errors, &report}) {
    if (!LiftAboveStandard(&pair->ends.read) || !LiftAboveStandard(&pair->ends.write)) {
      return system_failure("no descriptor", errno);
    }
  }
  std::vector<std::string> argument_texts;
  argument_texts.push_back(options.program);
  argument_texts.insert(argument_texts.end(), options.arguments.begin(), options.arguments.end());
  std::vector<std::string> environment_texts;
  for (const auto& [key, value] : options.environment) {
    environment_texts.push_back(key + "=" + value);
  }
  const std::vector<char*> argv = CStrings(argument_texts);
  const std::vector<char*> envp = CStrings(environment_texts);
  const Launch launch{.program = options.program.c_str(),
                      .argv = argv.data(),
                      .envp = envp.data(),
                      .working_directory = options.working_directory.empty()
                                               ? nullptr
                                               : options.working_directory.c_str(),
                      .input = input.ends.read,
                      .output = output.ends.write,
                      .error_output = errors.ends.write,
                      .report = report.ends.write,
                      .parent = ::getpid()};
  // No handler of ours may run in the child before it has reset them.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) {
    RunInChild(launch);
  }
  const int fork_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    return system_failure("no process", fork_error);
  }
  ::setpgid(pid, pid);  // as the child does: whoever comes first
  CloseFd(&report.ends.write);
  int child_error = 0;
  ssize_t got = 0;
  do {
    got = ::read(report.ends.read, &child_error, sizeof child_error);
  } while (got < 0 && errno == EINTR);
  const int pidfd = got == 0 ? static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)) : -1;
  if (got != 0 || pidfd < 0) {
    const int error = got != 0 ? child_error : errno;
    ::kill(-pid, SIGKILL);
    int ignored = 0;
    ::waitpid(pid, &ignored, 0);
    if (got != 0 && error == ENOENT && ::access(options.program.c_str(), F_OK) == 0) {
      return Fail(
          ErrorKind::kFailed,
          fmt::format(
              "cannot start '{}': its interpreter or its working directory '{}' does not exist",
              options.program,
              options.working_directory));
    }
    return system_failure(got != 0 ? "not executed" : "no process descriptor", error);
  }
  auto impl = std::make_shared<Impl>(
      loop, pid, pidfd, input.TakeWrite(), output.TakeRead(), errors.TakeRead());
  impl->on_line = std::move(options.on_line);
  impl->on_change = std::move(options.on_change);
  impl->WatchExit();
  impl->Read(impl->readers[0]);
  impl->Read(impl->readers[1]);
  return std::unique_ptr<ChildProcess>(new ChildProcess(std::move(impl)));
}

ChildProcess::~ChildProcess() {
  impl_->on_line = nullptr;
  impl_->on_change = nullptr;
  if (!impl_->status) {
    impl_->SignalGroup(SIGKILL);
  }
  // What Asio still holds keeps Impl alive until the pipes end and the exit is collected.
}

int ChildProcess::pid() const {
  return impl_->pid;
}

const std::optional<ExitStatus>& ChildProcess::exit_status() const {
  return impl_->status;
}

void ChildProcess::SetOnChange(std::function<void()> on_change) {
  impl_->on_change = std::move(on_change);
}

bool ChildProcess::has_ended(Pipe pipe) const {
  return impl_->readers[pipe == Pipe::kStdout ? 0 : 1].at_end;
}

const std::string& ChildProcess::unfinished_line(Pipe pipe) const {
  return impl_->readers[pipe == Pipe::kStdout ? 0 : 1].line;
}

Task<bool> ChildProcess::WaitForExit(std::chrono::nanoseconds limit) {
  return WaitUntil(
      impl_, [](const Impl& impl) { return impl.status.has_value(); }, limit);
}

Task<bool> ChildProcess::WaitForOutput(std::chrono::nanoseconds limit) {
  return WaitUntil(
      impl_,
      [](const Impl& impl) { return impl.readers[0].at_end && impl.readers[1].at_end; },
      limit);
}

Task<void> ChildProcess::End(std::chrono::nanoseconds grace) {
  const std::shared_ptr<Impl> impl = impl_;
  if (!impl->status && grace.count() > 0) {
    impl->SignalGroup(SIGINT);
    const bool has_exited = co_await WaitForExit(grace);
    static_cast<void>(has_exited);
  }
  impl->SignalGroup(SIGKILL);
  const bool has_exited = co_await WaitForExit(std::chrono::seconds(10));
  static_cast<void>(has_exited);
  // A descendant that left the group may hold the pipes open for ever.
  const bool is_drained = co_await WaitForOutput(std::chrono::seconds(1));
  static_cast<void>(is_drained);
}

}  // namespace davit
