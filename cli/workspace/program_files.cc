#include "cli/workspace/program_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/workspace/stack_file.h"

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

}  // namespace

ProgramLoad LoadProgramFiles(const ProjectFile& project) {
  return LoadYamlProgram(project, ReadProgramFile, YamlFilesBelow);
}

}  // namespace davit
