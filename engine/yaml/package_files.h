#pragma once
// Package declaration files, which say where a namespace of type tokens comes from (Y8, Y84). Pure,
// any thread.

#include <map>
#include <string>
#include <vector>

#include "engine/yaml/yaml_source.h"

namespace davit {

/// What the files declare, by namespace, in the order of their paths. A parameterized package owns
/// the namespace of its parameterization, an extension lives in that of its base.
using DeclaredPackages = std::map<std::string, std::vector<PackageDescriptor>, std::less<>>;

/// Reads those of `paths` that are declaration files; others are passed over. Messages name a file
/// by its path below `root`.
DeclaredPackages ReadPackageFiles(const std::vector<std::string>& paths,
                                  const std::string& root,
                                  const FileReader& read,
                                  std::vector<Error>* errors);

}  // namespace davit
