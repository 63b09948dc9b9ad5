#include "providers/localhost/command_run.h"

#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "providers/localhost/file_system.h"
#include "providers/localhost/inputs.h"
#include "providers/localhost/run_process.h"

namespace davit::localhost {
namespace {

constexpr std::size_t kErrorLines = 10;
constexpr std::size_t kErrorBytes = 4096;
/// Linux refuses one variable above 128 KiB.
constexpr std::size_t kMaxVariableBytes = 100 * 1024;

bool HasZeroByte(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

void CheckArguments(const PropertyMap& inputs,
                    const std::string& verb,
                    std::vector<CheckFailure>* failures) {
  const auto found = inputs.find(verb);
  if (found == inputs.end()) {
    return;
  }
  if (const std::string* text = found->second.as_string()) {
    if (text->empty()) {
      failures->push_back({.property = verb, .reason = "must not be empty"});
    } else if (HasZeroByte(*text)) {
      failures->push_back({.property = verb, .reason = "must not hold a zero byte"});
    }
  }
  if (const PropertyList* list = found->second.as_list()) {
    if (list->empty()) {
      failures->push_back({.property = verb, .reason = "must name a program"});
    }
    for (const PropertyValue& item : *list) {
      const std::string* text = item.as_string();
      if (text != nullptr && HasZeroByte(*text)) {
        failures->push_back({.property = verb, .reason = "must not hold a zero byte"});
      }
    }
  }
}

Result<std::vector<std::string>> Arguments(const PropertyValue& command) {
  if (const std::string* text = command.as_string()) {
    return std::vector<std::string>{"/bin/sh", "-c", *text};
  }
  std::vector<std::string> arguments;
  if (const PropertyList* list = command.as_list()) {
    for (const PropertyValue& item : *list) {
      const std::string* text = item.as_string();
      if (text == nullptr) {
        return Fail(ErrorKind::kInvalid, "an argument of the command is not known");
      }
      arguments.push_back(*text);
    }
  }
  if (arguments.empty()) {
    return Fail(ErrorKind::kInvalid, "the command is not known");
  }
  return arguments;
}

std::map<std::string, std::string> Environment(const PropertyMap& inputs,
                                               const PropertyMap& old_outputs) {
  std::map<std::string, std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) {
      environment[std::string(text.substr(0, equals))] = text.substr(equals + 1);
    }
  }
  for (const auto& [variable, output] :
       {std::pair("DAVIT_STDOUT", "stdout"), std::pair("DAVIT_STDERR", "stderr")}) {
    const std::string* text = TextOf(old_outputs, output);
    if (text != nullptr && text->size() <= kMaxVariableBytes && !HasZeroByte(*text)) {
      environment[variable] = *text;
    }
  }
  const auto own = inputs.find("environment");
  const PropertyMap* variables = own == inputs.end() ? nullptr : own->second.as_map();
  if (variables != nullptr) {
    for (const auto& [name, value] : *variables) {
      if (const std::string* text = value.as_string()) {
        environment[name] = *text;
      }
    }
  }
  return environment;
}

/// The texts in the secrets of a value, with the lines of each, which a program may print alone.
void CollectSecretTexts(const PropertyValue& value, bool is_secret, std::vector<std::string>* out) {
  if (const Secret* secret = value.as_secret()) {
    CollectSecretTexts(secret->Reveal(), true, out);
  } else if (const PropertyMap* map = value.as_map()) {
    for (const auto& [key, item] : *map) {
      CollectSecretTexts(item, is_secret, out);
    }
  } else if (const PropertyList* list = value.as_list()) {
    for (const PropertyValue& item : *list) {
      CollectSecretTexts(item, is_secret, out);
    }
  } else if (const std::string* text = value.as_string(); text != nullptr && is_secret) {
    std::string_view rest = *text;
    out->push_back(*text);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      out->emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
}

std::string Redacted(std::string text, const PropertyMap& inputs) {
  std::vector<std::string> secrets;
  CollectSecretTexts(inputs, false, &secrets);
  // Longest first, so that a part of a secret does not hide the whole.
  std::sort(secrets.begin(), secrets.end(), [](const std::string& a, const std::string& b) {
    return a.size() > b.size();
  });
  constexpr std::string_view kPlaceholder = "[secret]";
  for (const std::string& secret : secrets) {
    std::size_t at = 0;
    while (!secret.empty() && (at = text.find(secret, at)) != std::string::npos) {
      text.replace(at, secret.size(), kPlaceholder);
      at += kPlaceholder.size();
    }
  }
  return text;
}

std::string WithoutLastNewline(std::string text) {
  if (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

/// The last lines, as valid UTF-8, each on a line of its own.
std::string LastLines(const std::string& text) {
  std::string_view rest = text;
  std::size_t begin = rest.size();
  for (std::size_t lines = 0; lines < kErrorLines && begin > 0; ++lines) {
    const std::size_t newline = begin < 2 ? std::string_view::npos : rest.rfind('\n', begin - 2);
    begin = newline == std::string_view::npos ? 0 : newline + 1;
  }
  rest.remove_prefix(std::max(begin, rest.size() - std::min(rest.size(), kErrorBytes)));
  if (!IsUtf8(rest)) {
    return "(its output is not text)";
  }
  return std::string(rest);
}

bool IsAccepted(int exit_code, const PropertyMap& inputs) {
  const auto found = inputs.find("okExitCodes");
  const PropertyList* codes = found == inputs.end() ? nullptr : found->second.as_list();
  if (codes == nullptr) {
    return exit_code == 0;
  }
  return std::any_of(codes->begin(), codes->end(), [&](const PropertyValue& code) {
    return code.as_number() != nullptr && *code.as_number() == exit_code;
  });
}

std::string HowItEnded(const ProcessOutcome& outcome, double timeout_seconds) {
  switch (outcome.end) {
    case ProcessOutcome::End::kExited:
      return fmt::format("exited with status {}", outcome.code);
    case ProcessOutcome::End::kSignalled:
      return fmt::format("was killed by signal {} ({})", outcome.code, ::strsignal(outcome.code));
    case ProcessOutcome::End::kStopped:
      return "was stopped by the interrupt";
    case ProcessOutcome::End::kTimedOut:
      break;
  }
  return fmt::format("was stopped after {} seconds", NumberText(timeout_seconds));
}

}  // namespace

void CheckCommandInputs(const PropertyMap& plain_inputs, std::vector<CheckFailure>* failures) {
  for (const char* verb : {"create", "update", "delete"}) {
    CheckArguments(plain_inputs, verb, failures);
  }
  CheckPath(plain_inputs, "dir", failures);
  const auto found = plain_inputs.find("environment");
  const PropertyMap* variables = found == plain_inputs.end() ? nullptr : found->second.as_map();
  if (variables == nullptr) {
    return;
  }
  for (const auto& [name, value] : *variables) {
    const std::string* text = value.as_string();
    if (name.empty() || name.find('=') != std::string::npos || HasZeroByte(name)) {
      failures->push_back(
          {.property = "environment", .reason = fmt::format("'{}' cannot name a variable", name)});
    } else if (text != nullptr && HasZeroByte(*text)) {
      failures->push_back(
          {.property = "environment",
           .reason = fmt::format("the value of '{}' must not hold a zero byte", name)});
    }
  }
}

Result<std::optional<CommandOutput>> RunCommand(const std::string& verb,
                                                const PropertyMap& inputs,
                                                const PropertyMap& old_outputs,
                                                double timeout_seconds,
                                                kit::CallContext& call) {
  const PropertyMap plain = Plain(inputs);
  const auto command = plain.find(verb);
  if (command == plain.end()) {
    return std::optional<CommandOutput>();
  }
  ProcessRequest request;
  DAVIT_TRY(request.arguments, Arguments(command->second));
  request.environment = Environment(plain, Plain(old_outputs));
  if (const std::string* dir = TextOf(plain, "dir")) {
    request.directory = AbsolutePath(*dir);
  }
  if (const std::string* input = TextOf(plain, "stdin")) {
    request.input = *input;
  }
  if (timeout_seconds > 0) {
    request.limit = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(timeout_seconds));
  }
  request.stop = call.stop();
  Result<ProcessOutcome> ran = RunProcess(request);
  if (!ran) {
    Error error = std::move(ran).error();
    error.message = Redacted(std::move(error.message), inputs);
    return Fail(std::move(error));
  }
  ProcessOutcome& outcome = *ran;
  if (outcome.end != ProcessOutcome::End::kExited || !IsAccepted(outcome.code, plain)) {
    std::string message =
        fmt::format("the {} command {}", verb, HowItEnded(outcome, timeout_seconds));
    const std::string lines =
        LastLines(WithoutLastNewline(Redacted(std::move(outcome.stderr_text), inputs)));
    if (!lines.empty()) {
      message += "; its last lines on stderr:\n" + lines;
    }
    // A command that was stopped may have done anything before.
    return Fail(outcome.end == ProcessOutcome::End::kExited ? ErrorKind::kFailed
                                                            : ErrorKind::kOutcomeUnknown,
                std::move(message));
  }
  if (outcome.is_cut) {
    call.Log(Severity::kWarning,
             fmt::format("the {} command printed more than {} MiB; the outputs hold the beginning",
                         verb,
                         kMaxCapturedBytes / (1024 * 1024)));
  }
  return std::optional(
      CommandOutput{.stdout_text = WithoutLastNewline(std::move(outcome.stdout_text)),
                    .stderr_text = WithoutLastNewline(std::move(outcome.stderr_text)),
                    .exit_code = outcome.code});
}

}  // namespace davit::localhost
