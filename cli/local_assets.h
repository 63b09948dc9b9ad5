#pragma once
// Contents of assets and archives from the local file system (P64, P65). Any thread.

#include <filesystem>
#include <string>
#include <vector>

#include "engine/value/asset_hash.h"

namespace davit {

/// Reads files, directories and `file://` URIs; relative paths resolve against the directory of the
/// program. Other URIs are refused, and so is everything that is neither a file nor a directory.
class LocalAssets final : public AssetContent {
 public:
  explicit LocalAssets(std::filesystem::path program_directory)
      : program_directory_(std::move(program_directory)) {}

  Result<std::string> ReadFile(const std::string& path) override;
  bool IsDirectory(const std::string& path) override;
  /// Entries named `.pulumi` and symbolic links to directories are left out, other links are
  /// followed (P65).
  Result<std::vector<std::string>> ListFiles(const std::string& path) override;
  Result<std::string> ReadUri(const std::string& uri) override;
  std::string Sha256Hex(const std::string& bytes) override;

 private:
  std::filesystem::path program_directory_;
};

}  // namespace davit
