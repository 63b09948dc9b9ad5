#pragma once
// The edit behind StackFile::Save (S93, S94, S98): from the old text and the wanted content to the
// new text. Pure.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/workspace/config_node.h"
#include "engine/base/result.h"

namespace davit {

struct StackFileContent {
  std::string project;
  const std::map<std::string, ConfigNode>* config = nullptr;  ///< by normal key
  std::vector<std::string> added;                             ///< keys that are new, in their order
  /// `secretsprovider`, `encryptedkey`, `encryptionsalt`; empty ones are left out.
  std::vector<std::pair<std::string, std::string>> fields;
};

Result<std::string> EditStackFile(const std::string& text,
                                  const std::string& path,
                                  const StackFileContent& content);

}  // namespace davit
