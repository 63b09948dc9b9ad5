// What is checked against schemas and configuration before anything is registered (Y81-Y88, Y134,
// Y150).
#include <fmt/format.h>

#include <algorithm>

#include "engine/yaml/evaluation.h"
#include "engine/yaml/nearest.h"
#include "engine/yaml/type_check.h"

namespace davit {

Task<void> YamlRun::Check() {
  const auto report = [this](Error error) { Report(std::move(error)); };
  co_await packages_.Load(program_, monitor_, report);
  if (failed_) {
    co_return;
  }
  CheckUndeclared();
  std::vector<Error> found;
  std::vector<Error> warnings;
  TypeChecker(
      program_,
      packages_,
      [&](Error error) { found.push_back(std::move(error)); },
      [&](Error warning) { warnings.push_back(std::move(warning)); })
      .Run();
  SortByPlace(&found);
  SortByPlace(&warnings);
  for (Error& error : found) {
    Report(std::move(error));
  }
  for (const Error& warning : warnings) {
    monitor_.Log(Severity::kWarning, warning.Text(), Urn());
  }
  co_await CheckOptions();
}

void YamlRun::CheckUndeclared() {
  for (const YamlAccess& access : program_.undeclared) {
    if (!info_.config.contains(info_.project + ":" + access.root)) {
      std::vector<std::string> names;
      for (const auto& [name, node] : program_.names) {
        names.push_back(name);
      }
      Problem(SourceRange(access.where),  // a mistake wherever it stands
              fmt::format("no resource, variable or config value is named '{}'", access.root),
              DidYouMean(access.root, names));
    }
  }
}

// Options that nothing flows into are what they are going to be (Y155).
Task<void> YamlRun::CheckOptions() {
  for (const YamlResource& resource : program_.resources) {
    for (const YamlOption& option : resource.options) {
      bool is_literal = true;
      VisitAccesses(*option.value, [&](const YamlAccess&) { is_literal = false; });
      VisitCalls(*option.value, [&](const YamlExpr&) { is_literal = false; });
      if (is_literal) {
        Goal scratch;
        co_await ApplyOption(option, &scratch);
      }
    }
  }
}

}  // namespace davit
