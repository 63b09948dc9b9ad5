#include "host/process/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

extern char** environ;

namespace davit {
namespace {

// Both ends are closed at the latest with the object.
struct CommandPipe {
  std::array<int, 2> ends{-1, -1};
  CommandPipe() = default;
  CommandPipe(const CommandPipe&) = delete;
  CommandPipe& operator=(const CommandPipe&) = delete;
  ~CommandPipe() {
    Close(0);
    Close(1);
  }
  bool Open() { return ::pipe2(ends.data(), O_CLOEXEC) == 0; }
  int read_end() const { return ends[0]; }
  int write_end() const { return ends[1]; }
  void Close(std::size_t end) {
    if (ends[end] >= 0) {
      ::close(std::exchange(ends[end], -1));
    }
  }
};

// All pipes at once, so that none can fill up and hold the process.
void Exchange(const std::string& input,
              CommandPipe& in,
              CommandPipe& out,
              CommandPipe& err,
              CommandEnd* end) {
  std::array<pollfd, 3> ends{pollfd{out.read_end(), POLLIN, 0},
                             pollfd{err.read_end(), POLLIN, 0},
                             pollfd{in.write_end(), POLLOUT, 0}};
  const std::array<std::string*, 2> texts{&end->output, &end->errors};
  std::array<char, 65536> buffer;
  std::size_t written = 0;
  ::fcntl(in.write_end(), F_SETFL, O_NONBLOCK);
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (ends[2].fd >= 0 && written == input.size()) {
      in.Close(1);
      ends[2].fd = -1;
    }
    if (::poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR) {
      return;
    }
    for (std::size_t index = 0; index < texts.size(); ++index) {
      if (ends[index].fd < 0 || ends[index].revents == 0) {
        continue;
      }
      const ssize_t count = ::read(ends[index].fd, buffer.data(), buffer.size());
      if (count > 0) {
        texts[index]->append(buffer.data(), static_cast<std::size_t>(count));
      } else if (count == 0 || errno != EINTR) {
        ends[index].fd = -1;
      }
    }
    if (ends[2].fd >= 0 && ends[2].revents != 0) {
      const ssize_t count = ::write(ends[2].fd, &input[written], input.size() - written);
      if (count >= 0) {
        written += static_cast<std::size_t>(count);
      } else if (errno != EINTR && errno != EAGAIN) {
        written = input.size();  // nobody reads it any more
      }
    }
  }
}

}  // namespace

std::vector<char*> CStrings(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

Result<CommandEnd> RunCommand(const Command& command) {
  CommandPipe in;
  CommandPipe out;
  CommandPipe err;
  if (!in.Open() || !out.Open() || !err.Open()) {
    return Fail(ErrorKind::kFailed, fmt::format("no pipe: {}", std::strerror(errno)));
  }
  std::vector<std::string> words = command.words;
  std::vector<std::string> variables;
  if (command.environment) {
    for (const auto& [name, value] : *command.environment) {
      variables.push_back(name + "=" + value);
    }
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in.read_end(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out.write_end(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.write_end(), STDERR_FILENO);
  if (!command.folder.empty()) {
    ::posix_spawn_file_actions_addchdir_np(&actions, command.folder.c_str());
  }
  pid_t child = 0;
  const int failure = ::posix_spawnp(&child,
                                     words[0].c_str(),
                                     &actions,
                                     nullptr,
                                     CStrings(words).data(),
                                     command.environment ? CStrings(variables).data() : environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    return Fail(ErrorKind::kUnavailable,
                fmt::format("'{}' cannot be started: {}", words[0], std::strerror(failure)));
  }
  in.Close(0);
  out.Close(1);
  err.Close(1);
  CommandEnd end;
  Exchange(command.input, in, out, err, &end);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  end.exit.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  end.exit.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return end;
}

}  // namespace davit
