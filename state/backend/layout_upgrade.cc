#include "state/backend/layout_upgrade.h"

#include <fmt/format.h>

#include "state/codec/checkpoint_json.h"

namespace davit {
namespace {

constexpr std::string_view kLegacyEnd = ".json";

Result<void> MoveFolder(FileLayer& files, const std::string& from, const std::string& to) {
  DAVIT_TRY(const std::vector<FolderItem> items, files.List(from));
  if (!items.empty()) {
    DAVIT_TRY_VOID(files.MakeFolder(to));
  }
  for (const FolderItem& item : items) {
    if (!item.is_folder) {
      DAVIT_TRY_VOID(files.Rename(from + "/" + item.name, to + "/" + item.name));
    }
  }
  return {};
}

// The new file is whole before the old one becomes its backup.
Result<void> MoveStack(FileLayer& files, const std::string& root, const std::string& name) {
  const std::string base = root + "/.pulumi/";
  const std::string old = base + "stacks/" + name + std::string(kLegacyEnd);
  DAVIT_TRY(const std::optional<std::string> text, files.Read(old));
  SecretTexts texts;
  CheckpointReading reading{SecretsIn::kClosed, &texts, SecretsOpener()};
  DAVIT_TRY(const Checkpoint checkpoint, ReadCheckpoint(text.value_or("{}"), reading));
  if (!checkpoint.snapshot || checkpoint.snapshot->resources.empty()) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("the stack '{}' is empty, so nothing tells its project", name),
                fmt::format("remove '{}', or make the stack anew", old));
  }
  const Snapshot& snapshot = *checkpoint.snapshot;
  const StackRef stack{std::string(snapshot.resources.front()->urn.project()), name};
  DAVIT_TRY_VOID(CheckNames(stack));
  const StackFiles paths(root, stack);
  DAVIT_TRY(const std::optional<std::string> there, files.Read(paths.checkpoint));
  if (there) {
    return Fail(
        ErrorKind::kRefused,
        fmt::format("there is a stack '{}' of the project '{}' already", name, stack.project));
  }
  CheckpointWriting writing;
  writing.values.secrets = SecretsOut::kAsRead;
  writing.values.texts = &texts;
  writing.secrets_type = snapshot.secrets_type;
  writing.secrets_state = snapshot.secrets_state;
  DAVIT_TRY(const std::string written, WriteCheckpoint(stack.Text(), snapshot, std::move(writing)));
  DAVIT_TRY_VOID(ReplaceCheckpoint(files, paths, text, written));
  DAVIT_TRY_VOID(MoveFolder(files, base + "history/" + name, paths.history));
  DAVIT_TRY_VOID(MoveFolder(files, base + "backups/" + name, paths.backups));
  DAVIT_TRY_VOID(RemoveWithSidecar(files, old + ".bak"));
  return RemoveWithSidecar(files, old);
}

}  // namespace

Result<int> UpgradeLayout(FileLayer& files,
                          const std::string& root,
                          std::vector<std::string>* warnings) {
  const std::string base = root + "/.pulumi/";
  DAVIT_TRY_VOID(files.MakeFolder(base + "stacks"));
  DAVIT_TRY_VOID(ReplaceFile(files, base + "meta.yaml", "version: 1\n"));
  DAVIT_TRY(const std::vector<FolderItem> items, files.List(base + "stacks"));
  int moved = 0;
  for (const FolderItem& item : items) {
    if (item.is_folder || !item.name.ends_with(kLegacyEnd)) {
      continue;
    }
    const Result<void> done =
        MoveStack(files, root, item.name.substr(0, item.name.size() - kLegacyEnd.size()));
    if (done) {
      ++moved;
    } else {
      warnings->push_back(done.error().Text());
    }
  }
  return moved;
}

}  // namespace davit
