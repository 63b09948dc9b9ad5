#include "cli/terminal.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace davit {
namespace {

bool Has(const std::map<std::string, std::string>& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found != environment.end() && !found->second.empty();
}

// Where a signal is noted while a question waits; written to by the handler, on any thread.
std::atomic<int> signal_note{-1};

// While a question waits, signals that would end the process end the question instead: locks are
// held (B138). A file, as a signal may come before the wait and on another thread.
class SignalsEndQuestion {
 public:
  SignalsEndQuestion() : note_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    signal_note = note_;
    struct sigaction action {};
    action.sa_handler = [](int) {
      const std::uint64_t one = 1;
      const int before = errno;
      (void)!write(signal_note, &one, sizeof one);
      errno = before;
    };
    for (std::size_t at = 0; at < kSignals.size(); ++at) {
      sigaction(kSignals[at], &action, &before_[at]);
    }
  }
  ~SignalsEndQuestion() {
    for (std::size_t at = 0; at < kSignals.size(); ++at) {
      sigaction(kSignals[at], &before_[at], nullptr);
    }
    signal_note = -1;
    close(note_);
  }
  SignalsEndQuestion(const SignalsEndQuestion&) = delete;
  SignalsEndQuestion& operator=(const SignalsEndQuestion&) = delete;

  /// Waits until there is something to read; false: a signal came first.
  bool WaitForInput() const {
    std::array<pollfd, 2> files{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{note_, POLLIN, 0}};
    while (poll(files.data(), files.size(), -1) < 0 && errno == EINTR) {
    }
    return files[1].revents == 0;
  }

 private:
  static constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
  int note_;
};

}  // namespace

bool IsTerminal(int descriptor) {
  return isatty(descriptor) == 1;
}

TerminalSize SizeOfTerminal() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {};
  }
  return {size.ws_col, size.ws_row};
}

bool IsCi(const std::map<std::string, std::string>& environment) {
  if (Has(environment, "PULUMI_DISABLE_CI_DETECTION")) {
    return false;
  }
  for (const char* name : {"PULUMI_CI_SYSTEM",    "APPVEYOR",
                           "CODEBUILD_BUILD_ARN", "bamboo_planKey",
                           "BITBUCKET_COMMIT",    "TF_BUILD",
                           "BUILDKITE",           "CIRCLECI",
                           "CF_BUILD_URL",        "DRONE",
                           "GITHUB_ACTIONS",      "GITLAB_CI",
                           "GO_PIPELINE_LABEL",   "HUDSON_URL",
                           "JENKINS_URL",         "MAGNUM",
                           "SEMAPHORE",           "SPACELIFT_MAX_REQUESTS_BURST",
                           "TEAMCITY_VERSION",    "TRAVIS"}) {
    if (Has(environment, name)) {
      return true;
    }
  }
  const auto name = environment.find("CI_NAME");
  return (name != environment.end() && name->second == "codeship") ||
         (Has(environment, "TASK_ID") && Has(environment, "RUN_ID"));
}

void WriteText(int descriptor, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = write(descriptor, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR && errno != EAGAIN) {
      return;
    }
    done += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
}

Result<std::string> ReadStandardInput() {
  std::string text;
  char buffer[65536];
  while (true) {
    const ssize_t count = read(STDIN_FILENO, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0 && errno != EBADF) {
      return Fail(ErrorKind::kFailed,
                  fmt::format("could not read standard input: {}", std::strerror(errno)));
    }
    if (count <= 0) {
      return text;
    }
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

std::optional<std::string> Ask(const std::string& question, bool hidden) {
  const SignalsEndQuestion signals;  // before the question shows: an answer may be an interrupt
  WriteText(STDERR_FILENO, question);
  termios before{};
  const bool changes_echo = hidden && tcgetattr(STDIN_FILENO, &before) == 0;
  if (changes_echo) {
    termios quiet = before;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
  }
  std::string line;
  bool at_end = false;
  while (true) {
    if (!signals.WaitForInput()) {
      WriteText(STDERR_FILENO, "\n");
      at_end = true;
      break;
    }
    char c = 0;
    const ssize_t count = read(STDIN_FILENO, &c, 1);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      at_end = line.empty();
      break;
    }
    if (c == '\n') {
      break;
    }
    line += c;
  }
  if (changes_echo) {
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    WriteText(STDERR_FILENO, "\n");
  }
  return at_end ? std::nullopt : std::optional(line);
}

}  // namespace davit
