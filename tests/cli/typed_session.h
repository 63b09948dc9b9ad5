#pragma once
// davit on a terminal of its own: a test reads what it shows and types answers.

#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>

#include "tests/cli/project.h"

namespace davit {

class TypedSession {
 public:
  /// `words` as a shell reads them.
  TypedSession(const Project& project, const std::string& words, const std::string& variables = "") {
    winsize size{};
    size.ws_col = 120;
    size.ws_row = 40;
    const std::string line = "cd '" + project.Path("") + "' && TERM=xterm PULUMI_DISABLE_CI_DETECTION=1 exec " +
                             project.Line(words, "golden", variables);
    process_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    REQUIRE(process_ >= 0);
    if (process_ == 0) {
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
  }
  TypedSession(const TypedSession&) = delete;
  TypedSession& operator=(const TypedSession&) = delete;
  ~TypedSession() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      End();
    }
    ::close(terminal_);
  }

  /// Everything that was shown until `text` was; fails when the program ends before.
  const std::string& WaitFor(const std::string& text) {
    while (screen_.find(text, seen_) == std::string::npos && ReadSome()) {
    }
    INFO(screen_);
    REQUIRE(screen_.find(text, seen_) != std::string::npos);
    seen_ = screen_.find(text, seen_) + text.size();
    return screen_;
  }
  void Type(const std::string& text) {
    REQUIRE(::write(terminal_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  /// Exit status, once the program has ended.
  int End() {
    while (ReadSome()) {
    }
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  const std::string& screen() const { return screen_; }

 private:
  bool ReadSome() {
    char buffer[4096];
    const ssize_t count = ::read(terminal_, buffer, sizeof buffer);
    screen_.append(buffer, count > 0 ? static_cast<std::size_t>(count) : 0);
    return count > 0;
  }

  int terminal_ = -1;
  pid_t process_ = -1;
  std::string screen_;
  std::size_t seen_ = 0;
};

}  // namespace davit
