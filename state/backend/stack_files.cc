#include "state/backend/stack_files.h"

#include <fmt/format.h>

namespace davit {
namespace {

constexpr std::size_t kMaxNameSize = 100;

Result<void> CheckName(const char* what, const std::string& name) {
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
  if (name.empty() || name.size() > kMaxNameSize || name == "." || name == ".." ||
      name.find_first_not_of(kAllowed) != std::string::npos) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("'{}' is no {} name", name, what),
                "use 1 to 100 letters, digits, '_', '.' and '-'");
  }
  return {};
}

}  // namespace

StackFiles::StackFiles(const std::string& root, const StackRef& stack) {
  const std::string base = root + "/.pulumi/";
  const std::string name = stack.project + "/" + stack.stack;
  checkpoint = base + "stacks/" + name + ".json";
  backup = checkpoint + ".bak";
  tags = base + "stacks/" + name + ".pulumi-tags";
  history = base + "history/" + name;
  backups = base + "backups/" + name;
  journal = base + "davit/journals/" + name + ".journal";
  conflict = base + "davit/journals/" + name + ".conflict.json";
  lock = base + "davit/locks/" + name + ".lock";
  foreign_locks = base + "locks/" + stack.Text();
}

Result<void> CheckNames(const StackRef& stack) {
  DAVIT_TRY_VOID(CheckName("project", stack.project));
  return CheckName("stack", stack.stack);
}

Result<void> ReplaceCheckpoint(FileLayer& files,
                               const StackFiles& paths,
                               const std::optional<std::string>& before,
                               const std::string& text) {
  DAVIT_TRY_VOID(files.MakeFolder(FolderOf(paths.checkpoint)));
  if (before) {
    DAVIT_TRY_VOID(files.Remove(paths.backup + ".attrs"));
    DAVIT_TRY_VOID(ReplaceFile(files, paths.backup, *before));
  }
  DAVIT_TRY_VOID(files.Remove(paths.checkpoint + ".attrs"));
  return ReplaceFile(files, paths.checkpoint, text);
}

Result<void> RemoveWithSidecar(FileLayer& files, const std::string& path) {
  DAVIT_TRY_VOID(files.Remove(path));
  return files.Remove(path + ".attrs");
}

}  // namespace davit
