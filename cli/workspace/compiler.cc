#include "cli/workspace/compiler.h"

#include <fmt/format.h>

#include <utility>

#include "host/process/command.h"

namespace davit {

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
  Command run;
  run.words = std::move(words);
  run.folder = folder;
  run.environment = environment;
  Result<CommandEnd> end = RunCommand(run);
  if (!end) {
    Error error = std::move(end).error().WithContext("cannot start the compiler");
    error.advice = "see runtime.options.compiler in the project file";
    return Fail(std::move(error));
  }
  if (end->exit.signal != 0 || end->exit.code != 0) {
    const std::string how =
        end->exit.signal != 0 ? end->exit.Text() : fmt::format("ended with {}", end->exit.code);
    return Fail(ErrorKind::kFailed,
                fmt::format("the compiler '{}' {}:\n{}", command, how, end->errors));
  }
  return std::move(end->output);
}

}  // namespace davit
