#include "cli/context.h"

#include <unistd.h>

#include "cli/terminal.h"

namespace davit {
namespace {

Style ChooseStyle(const Invocation& invocation, const Environment& environment, bool is_terminal) {
  const std::string wanted = invocation.Text("color");
  if (wanted == "always") {
    return Style(ColorMode::kAlways);
  }
  if (wanted == "raw") {
    return Style(ColorMode::kRaw);
  }
  const bool is_auto = wanted.empty() || wanted == "auto";
  return Style(is_auto && is_terminal && !environment.contains("NO_COLOR") ? ColorMode::kAlways
                                                                           : ColorMode::kNever);
}

}  // namespace

Context::Context(Invocation invocation,
                 Environment environment,
                 std::string directory,
                 std::string program_folder)
    : invocation_(std::move(invocation)),
      environment_(std::move(environment)),
      directory_(std::move(directory)),
      program_folder_(std::move(program_folder)) {
  const bool is_dumb = Variable("TERM") == "dumb";
  const bool asks = !invocation_.Bool("non-interactive") && !is_dumb && !IsCi(environment_);
  has_terminal_output_ = IsTerminal(STDOUT_FILENO) && asks;
  is_interactive_ = asks && IsTerminal(STDIN_FILENO) && IsTerminal(STDOUT_FILENO);
  style_ = ChooseStyle(invocation_, environment_, IsTerminal(STDOUT_FILENO) && !is_dumb);
}

std::string Context::Variable(const std::string& name) const {
  const auto found = environment_.find(name);
  return found == environment_.end() ? std::string() : found->second;
}

bool Context::IsTruthy(const std::string& name) const {
  std::string text = Variable(name);
  for (char& c : text) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text == "1" || text == "true";
}

void Context::Out(const std::string& text) const {
  WriteText(STDOUT_FILENO, text);
}

void Context::Err(const std::string& text) const {
  WriteText(STDERR_FILENO, text);
}

void Context::Report(const Error& error) const {
  if (!error.reported) {
    Err("error: " + error.Text() + "\n");
  }
}

Unexpected Context::Failure(ExitCode code, Error error) {
  failure_code_ = code;
  return Fail(std::move(error));
}

}  // namespace davit
