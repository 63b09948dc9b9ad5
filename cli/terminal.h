#pragma once
// The terminal and the standard streams. Blocking; the command's thread.

#include <map>
#include <optional>
#include <string>

#include "cli/display/terminal_view.h"
#include "engine/base/result.h"

namespace davit {

bool IsTerminal(int descriptor);
TerminalSize SizeOfTerminal();
/// Whether a CI system is at work (C71).
bool IsCi(const std::map<std::string, std::string>& environment);
/// Writes all of `text`; what cannot be written is lost, as is usual for output.
void WriteText(int descriptor, const std::string& text);
/// All of standard input.
Result<std::string> ReadStandardInput();
/// Shows `question` on standard error and reads one line; absent at the end of the input. `hidden`
/// turns the echo off.
std::optional<std::string> Ask(const std::string& question, bool hidden);

}  // namespace davit
