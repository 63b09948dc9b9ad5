#pragma once
// The files that a program is made of (C30). Pure, any thread.

#include <memory>
#include <string>
#include <vector>

#include "engine/yaml/document.h"
#include "engine/yaml/yaml_source.h"

namespace davit {

/// `main` and all files that `pulumi.include` of one of them names, by path or by pattern: `*`
/// stands for any name, `**` for any folders. Each file comes once, after the one that first names
/// it.
std::vector<std::shared_ptr<const YamlDocument>> WithIncludes(
    std::shared_ptr<const YamlDocument> main,
    const std::string& directory,
    const FileReader& read,
    const FileLister& list,
    std::vector<Error>* errors);

}  // namespace davit
