#pragma once
// What every command is given: its words, the environment, the streams, and how failures become
// exit statuses (C77, C79).

#include <string>

#include "cli/display/style.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "engine/base/result.h"

namespace davit {

class Context {
 public:
  Context(Invocation invocation,
          Environment environment,
          std::string directory,
          std::string program_folder);

  const Invocation& invocation() const { return invocation_; }
  const Environment& environment() const { return environment_; }
  std::string Variable(const std::string& name) const;
  /// Exactly `1` or any casing of `true`.
  bool IsTruthy(const std::string& name) const;
  /// Absolute folder in which the command runs.
  const std::string& directory() const { return directory_; }
  /// Folder of the davit binary.
  const std::string& program_folder() const { return program_folder_; }

  /// C70.
  bool is_interactive() const { return is_interactive_; }
  bool has_terminal_output() const { return has_terminal_output_; }
  const Style& style() const { return style_; }

  void Out(const std::string& text) const;
  void Err(const std::string& text) const;
  void Warn(const std::string& message) const { Err("warning: " + message + "\n"); }
  /// `error: TEXT`
  void Report(const Error& error) const;

  /// A failure that ends the command with this status instead of 1.
  Unexpected Failure(ExitCode code, Error error);
  int failure_code() const { return failure_code_; }

 private:
  Invocation invocation_;
  Environment environment_;
  std::string directory_;
  std::string program_folder_;
  bool is_interactive_ = false;
  bool has_terminal_output_ = false;
  Style style_;
  int failure_code_ = kExitFailed;
};

}  // namespace davit
