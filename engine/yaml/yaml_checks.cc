// What is checked against schemas and configuration before anything is registered (Y81-Y88, Y134,
// Y150).
#include <fmt/format.h>

#include <algorithm>

#include "engine/yaml/evaluation.h"
#include "engine/yaml/nearest.h"
#include "engine/yaml/type_check.h"

namespace davit {

Task<std::vector<Error>> YamlRun::Check() {
  const auto report = [this](Error error) { Report(std::move(error)); };
  co_await packages_->Load(program_, monitor_, report);
  if (failed_) {
    co_return std::vector<Error>();
  }
  CheckConfig();
  CheckUndeclared(program_, false);
  for (const YamlComponent& component : program_.components) {
    CheckUndeclared(*component.program, true);
  }
  std::vector<Error> warnings = CheckTypes();
  co_await CheckOptions(program_);
  for (const YamlComponent& component : program_.components) {
    co_await CheckOptions(*component.program);
  }
  co_return warnings;
}

// What arrives is looked at here, so that all that is wrong with it is told together (Y134); a check
// without a stack has nothing to look at.
void YamlRun::CheckConfig() {
  if (info_.stack.empty()) {
    return;
  }
  for (const YamlConfig& config : program_.config) {
    if (!config.default_value || info_.config.contains(ConfigKeyOf(config.key))) {
      YamlNodeResult ignored;
      EvaluateConfig(config, &ignored);
    }
  }
  for (const auto& [name, node] : program_.names) {
    const bool is_config = node.kind == YamlNodeKind::kConfig;
    if (!is_config && info_.config.contains(ConfigKeyOf(name))) {  // Y37
      const bool is_resource = node.kind == YamlNodeKind::kResource;
      Problem(is_resource ? program_.resources[node.index].where
                          : program_.variables[node.index].where,
              fmt::format("the {} '{}' has the name of a configuration key of the stack '{}'",
                          is_resource ? "resource" : "variable",
                          name,
                          info_.stack),
              "give one of them another name");
    }
  }
}

std::vector<Error> YamlRun::CheckTypes() {
  std::vector<Error> found;
  std::vector<Error> warnings;
  const auto check = [&](const YamlProgram& program) {
    TypeChecker(
        program,
        *packages_,
        [&](Error error) { found.push_back(std::move(error)); },
        [&](Error warning) { warnings.push_back(std::move(warning)); })
        .Run();
  };
  check(program_);
  for (const YamlComponent& component : program_.components) {
    check(*component.program);
  }
  SortByPlace(&found);
  SortByPlace(&warnings);
  for (Error& error : found) {
    Report(std::move(error));
  }
  return warnings;
}

void YamlRun::CheckUndeclared(const YamlProgram& program, bool is_component) {
  for (const YamlAccess& access : program.undeclared) {
    // Y193: the configuration of a stack is no business of a component.
    if (is_component || !info_.config.contains(ConfigKeyOf(access.root))) {
      std::vector<std::string> names;
      for (const auto& [name, node] : program.names) {
        names.push_back(name);
      }
      Problem(SourceRange(access.where),  // a mistake wherever it stands
              fmt::format("no resource, variable or {} is named '{}'",
                          is_component ? "input" : "config value",
                          access.root),
              DidYouMean(access.root, names));
    }
  }
}

// Options that nothing flows into are what they are going to be (Y155).
Task<void> YamlRun::CheckOptions(const YamlProgram& program) {
  for (const YamlResource& resource : program.resources) {
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
