#pragma once
// Setting and removing configuration values, for `config` and for `up -c` (C52, S96, S100-S102).

#include <string>

#include "cli/session.h"
#include "engine/value/property_path.h"

namespace davit {

/// A key as typed: the normal key of the root value, and the path whose first segment is its name.
struct ConfigKey {
  std::string root;
  PropertyPath path;
};
Result<ConfigKey> ParseConfigKey(const std::string& text, const std::string& project, bool is_path);

/// Whether a plain value is likely to be a secret by its key and its text (C52, S102).
bool LooksLikeSecret(const std::string& key, const std::string& value);

/// Sets one value in the session's stack file, not saved yet. A secret is encrypted.
Result<void> SetConfigValue(StackSession& session,
                            const std::string& key,
                            ConfigNode value,
                            bool is_path);
/// `text` as a node: encrypted, or plain (typed below a root key).
Result<ConfigNode> ConfigValueNode(StackSession& session,
                                   const std::string& text,
                                   bool is_secret,
                                   bool is_below_root);
/// A decrypter that opens the session's manager only when it meets a secret.
Decrypter SessionDecrypter(StackSession& session);
/// The value with every secret in it encrypted by `manager` instead.
Result<ConfigNode> Reencrypted(ConfigNode node, const Decrypter& decrypt, SecretsManager& manager);
/// `{value, objectValue, secret}`; the first two are absent for a secret that is not to be shown,
/// and so for everything that holds one (C50).
Result<void> WriteConfigEntry(const ConfigNode& node,
                              bool show_secrets,
                              const Decrypter& decrypt,
                              JsonWriter* json);
/// Copies every value of the source's stack file to that of the target, and saves it.
Result<void> CopyConfig(StackSession& source, StackSession& target);
/// Removes one value; nothing there is no error.
Result<void> RemoveConfigValue(StackSession& session, const std::string& key, bool is_path);
/// Splits `key=value`.
Result<std::pair<std::string, std::string>> SplitAssignment(const std::string& text);

}  // namespace davit
