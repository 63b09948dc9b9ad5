#pragma once
// `Pulumi.<stack>.yaml` (S86, S93-S102): reading, and saving as an edit of the text that leaves
// comments, order and the style of untouched scalars alone (S94). Plain values; only Load and Save
// touch the disk.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/workspace/config_node.h"
#include "engine/base/result.h"

namespace davit {

/// `ns:name`, from `name`, `ns:name` or `ns:config:name` (S96).
Result<std::string> NormalKey(const std::string& key, const std::string& project);

class StackFile {
 public:
  /// Reads the text of a file; an empty one is an empty configuration. Errors name `path`.
  static Result<StackFile> Parse(std::string text,
                                 const std::string& path,
                                 const std::string& project);
  /// A missing file is an empty one.
  static Result<StackFile> Load(const std::string& path, const std::string& project);

  const std::string& path() const { return path_; }
  /// By normal key (S96).
  const std::map<std::string, ConfigNode>& config() const { return config_; }
  const std::string& secrets_provider() const { return secrets_provider_; }
  const std::string& encrypted_key() const { return encrypted_key_; }
  const std::string& encryption_salt() const { return encryption_salt_; }
  bool has_environment() const { return has_environment_; }
  /// Keys without a value, for a warning (S99).
  const std::vector<std::string>& empty_keys() const { return empty_keys_; }

  void Set(const std::string& key, ConfigNode value);
  /// False when the key was not there.
  bool Remove(const std::string& key);
  void SetEncryptionSalt(std::string salt) { encryption_salt_ = std::move(salt); }
  /// A literal `secretsprovider: passphrase` disappears on save (S76).
  void ClearSecretsProvider();

  /// The text with every change since Parse (S94, S98).
  Result<std::string> Render() const;
  /// Writes Render() beside the file and renames it into place; later calls build on it.
  Result<void> Save();

 private:
  Result<void> ReadRoot(const MarkedNode& root, const std::string& project);
  Result<void> ReadConfig(const MarkedNode& node, const std::string& project);

  std::string path_;
  std::string project_;
  std::string text_;
  std::map<std::string, ConfigNode> config_;
  std::vector<std::string>
      added_;  ///< keys that are not in the text, in the order in which they came
  std::vector<std::string> empty_keys_;
  std::string secrets_provider_;
  std::string encrypted_key_;
  std::string encryption_salt_;
  bool has_environment_ = false;
};

/// Replaces a file: temporary file beside it, fsync, rename, fsync of the folder. The mode is that
/// of the old file, else `mode`.
Result<void> ReplaceFile(const std::string& path, const std::string& content, unsigned mode = 0644);
/// The content of a file; absent when there is none.
Result<std::optional<std::string>> ReadFileIfThere(const std::string& path);

}  // namespace davit
