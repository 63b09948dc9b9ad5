#include "cli/workspace/compiler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace davit {
namespace {

struct PipePair {
  int read_end = -1;
  int write_end = -1;
  PipePair() {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) == 0) {
      read_end = ends[0];
      write_end = ends[1];
    }
  }
  ~PipePair() {
    CloseWriteEnd();
    if (read_end >= 0) {
      ::close(read_end);
    }
  }
  PipePair(const PipePair&) = delete;
  PipePair& operator=(const PipePair&) = delete;
  void CloseWriteEnd() {
    if (write_end >= 0) {
      ::close(std::exchange(write_end, -1));
    }
  }
};

// Both pipes at once, so that neither can fill up and hold the process.
void ReadBoth(int output_end, int error_end, std::string* output, std::string* errors) {
  std::array<pollfd, 2> ends{pollfd{output_end, POLLIN, 0}, pollfd{error_end, POLLIN, 0}};
  const std::array<std::string*, 2> texts{output, errors};
  std::array<char, 65536> buffer;
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (::poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR) {
      return;
    }
    for (std::size_t index = 0; index < ends.size(); ++index) {
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
  }
}

}  // namespace

Result<std::vector<std::string>> ShellWords(const std::string& command) {
  std::vector<std::string> words;
  std::string word;
  bool is_word = false;
  char quote = 0;
  for (std::size_t at = 0; at < command.size(); ++at) {
    const char c = command[at];
    const bool is_escape = c == '\\' && quote != '\'' && at + 1 < command.size();
    if (is_escape) {
      word += command[++at];
      is_word = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      is_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (is_word) {
        words.push_back(std::exchange(word, {}));
      }
      is_word = false;
    } else {
      word += c;
      is_word = true;
    }
  }
  if (quote != 0) {
    return Fail(ErrorKind::kInvalid, fmt::format("a quote is not closed in '{}'", command));
  }
  if (is_word) {
    words.push_back(std::move(word));
  }
  return words;
}

Result<std::string> RunCompiler(const std::string& command,
                                const std::string& folder,
                                const Environment& environment) {
  DAVIT_TRY(std::vector<std::string> words, ShellWords(command));
  if (words.empty()) {
    return Fail(ErrorKind::kInvalid, "the compiler of the project is an empty command");
  }
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  std::vector<std::string> lines;
  for (const auto& [name, value] : environment) {
    lines.push_back(name + "=" + value);
  }
  std::vector<char*> variables;
  for (std::string& line : lines) {
    variables.push_back(line.data());
  }
  variables.push_back(nullptr);

  PipePair output_pipe;
  PipePair error_pipe;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output_pipe.write_end, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, error_pipe.write_end, STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = 0;
  const int failure =
      ::posix_spawnp(&child, words[0].c_str(), &actions, nullptr, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    return Fail(ErrorKind::kFailed,
                fmt::format("cannot start the compiler '{}': {}", words[0], std::strerror(failure)),
                "see runtime.options.compiler in the project file");
  }
  output_pipe.CloseWriteEnd();
  error_pipe.CloseWriteEnd();
  std::string output;
  std::string errors;
  ReadBoth(output_pipe.read_end, error_pipe.read_end, &output, &errors);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const std::string how = WIFEXITED(status)
                                ? fmt::format("ended with {}", WEXITSTATUS(status))
                                : fmt::format("was killed by signal {}", WTERMSIG(status));
    return Fail(ErrorKind::kFailed, fmt::format("the compiler '{}' {}:\n{}", command, how, errors));
  }
  return output;
}

}  // namespace davit
