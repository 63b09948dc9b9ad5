#pragma once
// A short program that is run to its end while the caller waits. Blocking, any thread but the
// engine's.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "host/process/child_process.h"

namespace davit {

struct Command {
  std::vector<std::string> words;  ///< the program, found on PATH, and its arguments
  std::string folder;              ///< where it runs; empty: ours
  /// All of its variables; absent: ours.
  std::optional<std::map<std::string, std::string>> environment;
  std::string input;  ///< its standard input
};
struct CommandEnd {
  ExitStatus exit;
  std::string output;
  std::string errors;
};

/// The texts as exec wants them, null-terminated; they must outlive the result.
std::vector<char*> CStrings(std::vector<std::string>& texts);
/// Runs it and takes what it prints. An error: it could not be started.
Result<CommandEnd> RunCommand(const Command& command);

}  // namespace davit
