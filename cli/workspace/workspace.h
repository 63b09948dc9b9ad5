#pragma once
// Where a command runs: the project around the working directory (S85), its backend, the selected
// stack (S154) and the files of a stack (S86). Blocking file access; the command's thread.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "engine/base/result.h"
#include "engine/yaml/yaml_source.h"
#include "state/backend/backend.h"

namespace davit {

/// Path of the project file in `directory` or the nearest folder above it (S85); empty when there
/// is none.
std::string FindProjectFile(const std::string& directory);

/// A name by S121: 1 to 100 of `A-Za-z0-9_.-`.
Result<void> CheckStackName(const std::string& name);
/// `stack`, `organization/stack` or `organization/project/stack` (S121).
Result<StackRef> ParseStackRef(const std::string& text, const std::string& project);

class Workspace {
 public:
  /// Finds and reads the project above `directory`. All faults of the project file are in the
  /// error.
  static Result<Workspace> Open(const std::string& directory, Environment environment);

  /// For commands that need no project: one without a name in this folder.
  static Workspace Without(const std::string& directory, Environment environment);

  const ProjectFile& project() const { return project_; }
  /// Frees what was kept of the project file for loading the program in it.
  void DropDocument() { project_.document.reset(); }
  const Environment& environment() const { return environment_; }
  /// DAVIT_BACKEND_URL, PULUMI_BACKEND_URL, the project's `backend.url`, else `.davit` beside the
  /// project file.
  std::string BackendUrl() const;
  /// Whether BackendUrl() is the folder that davit makes on demand.
  bool has_own_backend() const;

  /// The stack of PULUMI_STACK or of the workspace file; empty when none is selected.
  Result<std::string> SelectedStack() const;
  /// Empty: none is selected any more.
  Result<void> SelectStack(const std::string& stack);
  /// S86.
  std::string StackFilePath(const std::string& stack) const;
  /// Absolute folder of the program (`main`).
  std::string ProgramDirectory() const;
  /// `.`, or the file that `main` names (P114).
  std::string EntryPoint() const;

 private:
  Workspace(ProjectFile project, Environment environment)
      : project_(std::move(project)), environment_(std::move(environment)) {}
  std::string Variable(const std::string& name) const;
  Result<std::string> SelectionPath() const;

  ProjectFile project_;
  Environment environment_;
};

/// The workspace file: which stack is selected in which backend (S154).
struct StackSelection {
  std::map<std::string, std::string> stacks;  ///< backend URL -> `organization/project/stack`
  std::string legacy_stack;
};
Result<StackSelection> ParseStackSelection(const std::string& text, const std::string& path);
std::string StackSelectionText(const StackSelection& selection);

}  // namespace davit
