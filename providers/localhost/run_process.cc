#include "providers/localhost/run_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <system_error>

namespace davit::localhost {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTermGrace{1};

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void Reset(int number) {
    Close();
    number_ = number;
  }
  void Close() {
    if (number_ >= 0) {
      ::close(number_);
    }
    number_ = -1;
  }
  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

struct PipePair {
  Descriptor read_end;
  Descriptor write_end;
  bool Open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      return false;
    }
    read_end.Reset(ends[0]);
    write_end.Reset(ends[1]);
    return true;
  }
};

Error Failure(const std::string& what, int error_number) {
  return MakeError(ErrorKind::kFailed,
                   fmt::format("{}: {}", what, std::generic_category().message(error_number)));
}

/// The path of a program, found before the fork so that a missing one has a clear error.
Result<std::string> FindProgram(const ProcessRequest& request) {
  const std::string& name = request.arguments.front();
  if (name.find('/') != std::string::npos) {
    return name;
  }
  const auto found = request.environment.find("PATH");
  std::string_view folders = "/usr/bin:/bin";
  if (found != request.environment.end()) {
    folders = found->second;
  }
  while (true) {
    const std::size_t colon = folders.find(':');
    const std::string folder(folders.substr(0, colon));
    std::string path = (folder.empty() ? "." : folder) + "/" + name;
    if (::access(path.c_str(), X_OK) == 0) {
      return path;
    }
    if (colon == std::string_view::npos) {
      return Fail(
          ErrorKind::kFailed, fmt::format("program '{}' was not found", name), "check PATH");
    }
    folders.remove_prefix(colon + 1);
  }
}

struct ChildPipes {
  PipePair input;
  PipePair output;
  PipePair errors;
  PipePair start_error;  ///< closed by a successful exec, else it carries errno
};

/// The child between fork and exec; only async-signal-safe calls. Never returns.
[[noreturn]] void BecomeProgram(const char* path,
                                char* const* arguments,
                                char* const* environment,
                                const char* directory,
                                const ChildPipes& pipes) {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::setpgid(0, 0);
  if (::dup2(pipes.input.read_end.get(), 0) >= 0 && ::dup2(pipes.output.write_end.get(), 1) >= 0 &&
      ::dup2(pipes.errors.write_end.get(), 2) >= 0 &&
      (directory == nullptr || ::chdir(directory) == 0)) {
    ::execve(path, arguments, environment);
  }
  const int error = errno;
  const ssize_t written = ::write(pipes.start_error.write_end.get(), &error, sizeof error);
  ::_exit(written == sizeof error ? 127 : 126);
}

std::vector<char*> Pointers(std::vector<std::string>* texts) {
  std::vector<char*> pointers;
  for (std::string& text : *texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

Result<pid_t> StartProgram(const ProcessRequest& request, ChildPipes* pipes) {
  DAVIT_TRY(const std::string path, FindProgram(request));
  std::vector<std::string> arguments = request.arguments;
  std::vector<std::string> environment;
  for (const auto& [name, value] : request.environment) {
    environment.push_back(name + "=" + value);
  }
  const std::vector<char*> argument_pointers = Pointers(&arguments);
  const std::vector<char*> environment_pointers = Pointers(&environment);
  const char* directory = request.directory.empty() ? nullptr : request.directory.c_str();
  const pid_t pid = ::fork();
  if (pid == 0) {
    BecomeProgram(
        path.c_str(), argument_pointers.data(), environment_pointers.data(), directory, *pipes);
  }
  if (pid < 0) {
    return Fail(Failure("cannot start a process", errno));
  }
  ::setpgid(pid, pid);  // both sides set it, so that it is true whoever comes first
  pipes->input.read_end.Close();
  pipes->output.write_end.Close();
  pipes->errors.write_end.Close();
  pipes->start_error.write_end.Close();
  int error = 0;
  ssize_t count = 0;
  do {
    count = ::read(pipes->start_error.read_end.get(), &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  if (count == sizeof error) {
    ::waitpid(pid, nullptr, 0);
    return Fail(Failure(
        directory == nullptr
            ? fmt::format("cannot run '{}'", request.arguments.front())
            : fmt::format("cannot run '{}' in '{}'", request.arguments.front(), request.directory),
        error));
  }
  return pid;
}

class Runner {
 public:
  Runner(const ProcessRequest& request, ChildPipes& pipes, pid_t pid)
      : request_(request), pipes_(pipes), pid_(pid), unsent_(request.input) {}

  Result<ProcessOutcome> Run() {
    const Descriptor exit(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    const Descriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!exit.is_open() || !wake.is_open()) {
      const int error = errno;
      ::kill(-pid_, SIGKILL);
      Reap();
      return Fail(Failure("cannot watch a process", error));
    }
    for (const Descriptor* pipe :
         {&pipes_.input.write_end, &pipes_.output.read_end, &pipes_.errors.read_end}) {
      ::fcntl(pipe->get(), F_SETFL, O_NONBLOCK);
    }
    const std::stop_callback on_stop(request_.stop, [&wake] { ::eventfd_write(wake.get(), 1); });
    if (request_.limit) {
      deadline_ = Clock::now() + *request_.limit;
    }
    while (!Step(exit, wake)) {
    }
    // What the program wrote before it exited is in the pipes.
    ReadSome(&pipes_.output.read_end, &outcome_.stdout_text);
    ReadSome(&pipes_.errors.read_end, &outcome_.stderr_text);
    if (is_stopping_) {
      // The leader is a zombie and so keeps the group's number from being used again.
      ::kill(-pid_, SIGKILL);
    }
    const int status = Reap();
    if (!is_stopping_) {
      outcome_.end =
          WIFSIGNALED(status) ? ProcessOutcome::End::kSignalled : ProcessOutcome::End::kExited;
    }
    outcome_.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return std::move(outcome_);
  }

 private:
  /// Waits for one thing to happen; returns whether the program has exited.
  bool Step(const Descriptor& exit, const Descriptor& wake) {
    if (unsent_.empty()) {
      pipes_.input.write_end.Close();
    }
    // A negative descriptor is skipped by poll.
    std::array<pollfd, 5> polled{
        pollfd{exit.get(), POLLIN, 0},
        pollfd{is_stopping_ ? -1 : wake.get(), POLLIN, 0},
        pollfd{pipes_.output.read_end.get(), POLLIN, 0},
        pollfd{pipes_.errors.read_end.get(), POLLIN, 0},
        pollfd{pipes_.input.write_end.get(), POLLOUT, 0},
    };
    ::poll(polled.data(), polled.size(), Timeout());
    if (polled[1].revents != 0) {
      BeginStop(ProcessOutcome::End::kStopped);
    }
    if (deadline_ && Clock::now() >= *deadline_) {
      if (is_stopping_) {
        ::kill(-pid_, SIGKILL);
        deadline_.reset();
      } else {
        BeginStop(ProcessOutcome::End::kTimedOut);
      }
    }
    if (polled[2].revents != 0) {
      ReadSome(&pipes_.output.read_end, &outcome_.stdout_text);
    }
    if (polled[3].revents != 0) {
      ReadSome(&pipes_.errors.read_end, &outcome_.stderr_text);
    }
    if (polled[4].revents != 0) {
      WriteSome();
    }
    return polled[0].revents != 0;
  }

  int Timeout() const {
    if (!deadline_) {
      return -1;
    }
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - Clock::now()).count();
    return static_cast<int>(std::clamp<long>(left, 0, 60'000));
  }

  void BeginStop(ProcessOutcome::End end) {
    is_stopping_ = true;
    outcome_.end = end;
    ::kill(-pid_, SIGTERM);
    deadline_ = Clock::now() + kTermGrace;
  }

  void ReadSome(Descriptor* pipe, std::string* text) {
    std::array<char, 65536> buffer;
    while (pipe->is_open()) {
      const ssize_t count = ::read(pipe->get(), buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) {
        continue;
      }
      if (count == 0 || (count < 0 && errno != EAGAIN)) {
        pipe->Close();
      }
      if (count <= 0) {
        return;
      }
      const std::size_t room = kMaxCapturedBytes - text->size();
      outcome_.is_cut = outcome_.is_cut || static_cast<std::size_t>(count) > room;
      text->append(buffer.data(), std::min(room, static_cast<std::size_t>(count)));
    }
  }

  void WriteSome() {
    const ssize_t count = ::write(pipes_.input.write_end.get(), unsent_.data(), unsent_.size());
    if (count > 0) {
      unsent_.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EAGAIN && errno != EINTR) {
      unsent_ = {};  // the program does not read its input, which is its own affair
    }
  }

  int Reap() const {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  const ProcessRequest& request_;
  ChildPipes& pipes_;
  const pid_t pid_;
  std::string_view unsent_;
  std::optional<Clock::time_point> deadline_;
  bool is_stopping_ = false;
  ProcessOutcome outcome_;
};

}  // namespace

Result<ProcessOutcome> RunProcess(const ProcessRequest& request) {
  ChildPipes pipes;
  if (!pipes.input.Open() || !pipes.output.Open() || !pipes.errors.Open() ||
      !pipes.start_error.Open()) {
    return Fail(Failure("cannot open a pipe", errno));
  }
  DAVIT_TRY(const pid_t pid, StartProgram(request, &pipes));
  return Runner(request, pipes, pid).Run();
}

}  // namespace davit::localhost
