// `state edit`: the deployment as JSON in an editor (C57, S162).

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "cli/commands/commands.h"
#include "cli/commands/shared.h"
#include "cli/display/line_diff.h"
#include "cli/session.h"
#include "cli/terminal.h"
#include "state/codec/json_writer.h"

namespace davit {
namespace {

constexpr std::size_t kContextLines = 3;

// A file that only its owner reads, and that goes with the command.
class EditedFile {
 public:
  static Result<EditedFile> Make(const std::string& text) {
    std::string path =
        (std::filesystem::temp_directory_path() / "davit-state-XXXXXX.json").string();
    const int file = ::mkstemps(path.data(), 5);
    if (file < 0) {
      return Fail(ErrorKind::kFailed, fmt::format("no temporary file like '{}' can be made", path));
    }
    ::close(file);
    EditedFile edited(path);
    DAVIT_TRY_VOID(ReplaceFile(path, text, 0600));
    return edited;
  }
  EditedFile(EditedFile&& other) noexcept : path_(std::exchange(other.path_, std::string())) {}
  EditedFile& operator=(EditedFile&&) = delete;
  ~EditedFile() {
    if (!path_.empty()) {
      ::unlink(path_.c_str());
    }
  }

  /// Runs the editor and gives what it leaves.
  Result<std::string> Edit(const std::string& editor) const {
    const int status = std::system(fmt::format("{} '{}'", editor, path_).c_str());
    if (status != 0) {
      return Fail(ErrorKind::kFailed, fmt::format("the editor '{}' has failed", editor));
    }
    DAVIT_TRY(std::optional<std::string> text, ReadFileIfThere(path_));
    return std::move(text).value_or("");
  }

 private:
  explicit EditedFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

struct ExportParts {
  std::string head;  ///< the document up to the deployment
  std::string deployment;
};

Result<ExportParts> SplitExport(const std::string& text) {
  JsonReader reader(text, "the exported state");
  ExportParts parts;
  parts.head = "{";
  std::string key;
  for (reader.EnterObject(); reader.NextMember(&key);) {
    const std::string value = CompactJson(reader);
    if (key == "deployment") {
      parts.deployment = IndentJson(value, 2);
    } else {
      parts.head += fmt::format("\"{}\":{},", key, value);
    }
  }
  DAVIT_TRY_VOID(reader.Finish());
  parts.head += "\"deployment\":";
  return parts;
}

std::string Changes(const std::string& before, const std::string& after) {
  std::string text;
  for (const DiffLine& line : DiffLines(before, after, kContextLines)) {
    text += line.mark == '.' ? "...\n" : fmt::format("{} {}\n", line.mark, line.text);
  }
  return text;
}

}  // namespace

Result<int> EditStateByHand(Context& context) {
  if (!context.is_interactive()) {
    return Fail(ErrorKind::kInvalid,
                "`davit state edit` needs a terminal",
                "use `davit stack export` and `davit stack import`");
  }
  const std::string editor = context.Variable("EDITOR");
  if (editor.empty()) {
    return Fail(ErrorKind::kInvalid, "EDITOR is not set", "set it to the program to edit with");
  }
  DAVIT_TRY(StackSession session, OpenStack(context));
  DAVIT_TRY(const std::unique_ptr<StackLock> lock, session.backend->Lock(session.stack));
  DAVIT_TRY_VOID(session.backend->Load(session.stack, session.secrets->Opener(), true));
  DAVIT_TRY(const std::string exported,
            session.backend->Export(session.stack, false, session.secrets->Opener()));
  DAVIT_TRY(const ExportParts before, SplitExport(exported));
  DAVIT_TRY(const EditedFile file, EditedFile::Make(before.deployment));
  while (true) {
    DAVIT_TRY(const std::string edited, file.Edit(editor));
    if (edited == before.deployment) {
      context.Out("Nothing was changed.\n");
      return kExitOk;
    }
    std::vector<std::string> warnings;
    const Result<Snapshot> snapshot = session.backend->ReadImport(
        session.stack, before.head + edited + "}", false, session.secrets->Opener(), &warnings);
    if (snapshot) {
      for (const std::string& warning : warnings) {
        context.Warn(warning);
      }
      context.Out(Changes(before.deployment, edited));
    } else {
      context.Report(snapshot.error());
    }
    const std::string answer =
        Ask(snapshot ? "Store this? [yes/no/edit] (no): " : "Edit again? [edit/no] (no): ", false)
            .value_or("no");
    if (answer == "edit") {
      continue;
    }
    if (!snapshot || (answer != "yes" && answer != "y")) {
      return Fail(ErrorKind::kRefused, "nothing was stored");
    }
    DAVIT_TRY(std::shared_ptr<SecretsManager> manager, ManagerForSaving(session, *snapshot));
    DAVIT_TRY_VOID(session.backend->Save(session.stack, *snapshot, std::move(manager)));
    context.Out("State edited\n");
    return kExitOk;
  }
}

}  // namespace davit
