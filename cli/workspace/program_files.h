#pragma once
// The files of a YAML program. Blocking file access; the command's thread.

#include "engine/yaml/yaml_source.h"

namespace davit {

/// Loads the program of a project from its folder.
ProgramLoad LoadProgramFiles(const ProjectFile& project);

}  // namespace davit
