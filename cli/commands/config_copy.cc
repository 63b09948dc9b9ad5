// `config cp`, and the configuration that `stack init --copy-config-from` begins with (C33, C51).

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/commands/config_edit.h"

namespace davit {
namespace {

Result<ConfigNode> ForTarget(StackSession& source, StackSession& target, const ConfigNode& node) {
  if (!HasSecure(node)) {
    return node;
  }
  DAVIT_TRY(const std::shared_ptr<SecretsManager> manager, target.ManagerForWriting());
  return Reencrypted(node, SessionDecrypter(source), *manager);
}

}  // namespace

Result<void> CopyConfig(StackSession& source, StackSession& target) {
  for (const auto& [key, node] : source.file.config()) {
    DAVIT_TRY(ConfigNode copy, ForTarget(source, target, node));
    target.file.Set(key, std::move(copy));
  }
  return target.file.Save();
}

Result<int> CopyConfigCommand(Context& context) {
  const Invocation& words = context.invocation();
  const std::string target_name = words.Text("dest");
  if (target_name.empty()) {
    return Fail(ErrorKind::kInvalid, "--dest must name the stack to copy to");
  }
  DAVIT_TRY(StackSession source, OpenStack(context));
  DAVIT_TRY(StackSession target, OpenStack(context, target_name));
  if (words.arguments.empty()) {
    DAVIT_TRY_VOID(CopyConfig(source, target));
    return kExitOk;
  }
  const std::string& text = words.arguments[0];
  const bool is_path = words.Bool("path");
  DAVIT_TRY(const ConfigKey key, ParseConfigKey(text, source.stack.project, is_path));
  const auto root = source.file.config().find(key.root);
  const ConfigNode* node =
      root == source.file.config().end() ? nullptr : FindAtPath(root->second, key.path);
  if (node == nullptr) {
    return Fail(
        ErrorKind::kInvalid,
        fmt::format("configuration key '{}' not found for stack '{}'", text, source.stack.stack));
  }
  DAVIT_TRY(ConfigNode copy, ForTarget(source, target, *node));
  DAVIT_TRY_VOID(SetConfigValue(target, text, std::move(copy), is_path));
  DAVIT_TRY_VOID(target.file.Save());
  return kExitOk;
}

}  // namespace davit
