#pragma once
// The files of a YAML program. Blocking file access; the command's thread.

#include "cli/options.h"
#include "engine/yaml/yaml_source.h"

namespace davit {

/// Loads the program of a project from its folder, or runs its compiler (Y6), which sees
/// `environment` and those of `variables` that are not in it.
ProgramLoad LoadProgramFiles(ProjectFile project,
                             Environment environment,
                             const Environment& variables);

/// Loads a plugin that is written in YAML from its folder (Y190). `monitor` finds the Monitor behind
/// an address.
Result<std::shared_ptr<Provider>> LoadComponentFolder(
    const std::string& folder, std::function<Monitor*(const std::string& address)> monitor);

}  // namespace davit
