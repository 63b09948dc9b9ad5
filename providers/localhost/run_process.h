#pragma once
// Runs one program to its end. Any thread; blocks.

#include <chrono>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace davit::localhost {

struct ProcessRequest {
  std::vector<std::string> arguments;              ///< the program first; searched in PATH
  std::map<std::string, std::string> environment;  ///< all of it
  std::string directory;                           ///< empty: ours
  std::string input;                               ///< for stdin
  std::optional<std::chrono::nanoseconds> limit;   ///< then it is stopped
  std::stop_token stop;
};

struct ProcessOutcome {
  enum class End { kExited, kSignalled, kStopped, kTimedOut };
  End end = End::kExited;
  int code = 0;  ///< exit status or signal number
  std::string stdout_text;
  std::string stderr_text;
  bool is_cut = false;  ///< an output was longer than kMaxCapturedBytes; the rest was dropped
};

inline constexpr std::size_t kMaxCapturedBytes = 4 * 1024 * 1024;

/// The program leads its own process group. Stopping sends SIGTERM to the group, and SIGKILL after
/// a second. Output is captured until the program exits; what it left running keeps running then,
/// unless it was stopped.
Result<ProcessOutcome> RunProcess(const ProcessRequest& request);

}  // namespace davit::localhost
