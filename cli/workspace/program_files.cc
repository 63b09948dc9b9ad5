#include "cli/workspace/program_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/workspace/compiler.h"
#include "cli/workspace/stack_file.h"
#include "engine/yaml/component_provider.h"

namespace davit {
namespace {

Result<std::string> ReadProgramFile(const std::string& path) {
  DAVIT_TRY(std::optional<std::string> text, ReadFileIfThere(path));
  if (!text) {
    return Fail(ErrorKind::kInvalid, fmt::format("there is no file '{}'", path));
  }
  return *std::move(text);
}

// Y8. What cannot be entered holds no declarations.
std::vector<std::string> YamlFilesBelow(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code failure;
  std::filesystem::recursive_directory_iterator at(
      folder, std::filesystem::directory_options::skip_permission_denied, failure);
  for (; !failure && at != std::filesystem::recursive_directory_iterator(); at.increment(failure)) {
    const std::string name = at->path().filename().string();
    std::error_code ignored;
    if (at->is_directory(ignored)) {
      if (name.starts_with('.') || name == "node_modules") {
        at.disable_recursion_pending();
      }
    } else if (name.ends_with(".yaml")) {
      paths.push_back(at->path().string());
    }
  }
  return paths;
}

ProgramLoad LoadProgramText(const ProjectFile& project,
                            Environment environment,
                            const Environment& variables) {
  const auto compiler = project.runtime_options.find("compiler");
  const std::string* command =
      compiler == project.runtime_options.end() ? nullptr : compiler->second.as_string();
  if (command == nullptr) {
    return LoadYamlProgram(project, ReadProgramFile, YamlFilesBelow);
  }
  std::vector<Error> warnings;
  for (const auto& [name, value] : variables) {
    const auto [at, is_new] = environment.emplace(name, value);
    if (!is_new && at->second != value) {
      warnings.push_back(MakeError(
          ErrorKind::kInvalid,
          fmt::format("the compiler sees the value that the environment has for {}", name),
          "unset it to let davit say what it is"));
    }
  }
  Result<std::string> text = RunCompiler(*command, YamlProgramFolder(project), environment);
  ProgramLoad load;
  if (text) {
    load = LoadYamlProgram(project, ReadProgramFile, YamlFilesBelow, *text);
  } else {
    load.errors.push_back(std::move(text).error());
  }
  load.warnings.insert(load.warnings.begin(), warnings.begin(), warnings.end());
  return load;
}

}  // namespace

ProgramLoad LoadProgramFiles(ProjectFile project,
                             Environment environment,
                             const Environment& variables) {
  const auto off = environment.find("PULUMI_DEBUG_YAML_DISABLE_TYPE_CHECKING");
  if (off != environment.end() && (off->second == "1" || off->second == "true")) {  // Y150
    project.checks_types = false;
    ProgramLoad load = LoadProgramText(project, std::move(environment), variables);
    load.warnings.insert(load.warnings.begin(),
                         MakeError(ErrorKind::kInvalid,
                                   "PULUMI_DEBUG_YAML_DISABLE_TYPE_CHECKING is set, so the program "
                                   "is not checked against schemas"));
    return load;
  }
  return LoadProgramText(project, std::move(environment), variables);
}

Result<std::shared_ptr<Provider>> LoadComponentFolder(
    const std::string& folder, std::function<Monitor*(const std::string& address)> monitor) {
  ComponentPlugin plugin;
  plugin.folder = folder;
  plugin.read = ReadProgramFile;
  plugin.monitor = std::move(monitor);
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    if (entry.path().extension() == ".yaml") {
      plugin.files.push_back(entry.path().string());
    }
  }
  return LoadComponentPlugin(std::move(plugin));
}

}  // namespace davit
