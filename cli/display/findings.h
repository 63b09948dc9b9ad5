#pragma once
// What a check of a program found, for people and for tools (Y159). Pure, any thread.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace davit {

struct Findings {
  std::vector<Error> errors;
  std::vector<Error> warnings;
};

/// The text of a file that a finding names; absent when it cannot be read.
using SourceText = std::function<std::optional<std::string>(const std::string& file)>;

/// Each finding with its source line and a caret below the place, the same for the places related
/// to it, then how many there are.
std::string FindingsText(const Findings& findings, const SourceText& source);
/// One JSON object with `diagnostics`, `errors` and `warnings`.
std::string FindingsJson(const Findings& findings);
/// A SARIF 2.1.0 log with one run.
std::string FindingsSarif(const Findings& findings, const std::string& version);

}  // namespace davit
