#include "cli/commands/import.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/commands/shared.h"
#include "cli/import_code.h"

namespace davit {
namespace {

Result<ImportFile> ReadFile(const std::string& path, std::shared_ptr<SecretsManager> manager) {
  DAVIT_TRY(const std::optional<std::string> text, ReadFileIfThere(path));
  if (!text) {
    return Fail(ErrorKind::kInvalid, fmt::format("there is no import file '{}'", path));
  }
  const StackReading secrets(manager);
  Result<ImportFile> file = ReadImportFile(*text, secrets.reading());
  if (!file) {
    return Fail(std::move(file.error()).WithContext(fmt::format("cannot read '{}'", path)));
  }
  return file;
}

// `--parent` and `--provider`: a name for the code, and what it stands for.
Result<void> TakeNamed(const Invocation& words,
                       const char* flag,
                       ImportFile* file,
                       std::string* name) {
  const std::string text = words.Text(flag);
  if (text.empty()) {
    return {};
  }
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || !Urn::Parse(text.substr(equals + 1))) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("'{}' is not a value for --{}", text, flag),
                "write it as name=urn; `davit stack --show-urns` lists the URNs");
  }
  *name = text.substr(0, equals);
  const auto [at, is_new] = file->names.emplace(*name, text.substr(equals + 1));
  if (!is_new && at->second != text.substr(equals + 1)) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("the name '{}' stands for a parent and for another provider", *name));
  }
  return {};
}

Result<ImportFile> OfWords(const Invocation& words) {
  constexpr const char* kParts[] = {"a type", "a name", "an id"};
  const std::vector<std::string>& given = words.arguments;
  if (given.size() < 3) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("{} is missing", kParts[given.size()]),
                "say what to import: `davit import TYPE NAME ID`, or `davit import -f FILE`");
  }
  ImportFile file;
  ImportEntry& entry = file.entries.emplace_back();
  entry.type = given[0];
  entry.name = given[1];
  entry.id = given[2];
  DAVIT_TRY_VOID(TakeNamed(words, "parent", &file, &entry.parent));
  DAVIT_TRY_VOID(TakeNamed(words, "provider", &file, &entry.provider));
  entry.properties = words.List("properties");
  return file;
}

bool WantsCode(const Invocation& words) {
  return !words.IsSet("generate-code") || words.Bool("generate-code");
}

std::string OutPath(const Context& context) {
  const std::string out = context.invocation().Text("out");
  return out.empty() ? out : (std::filesystem::path(context.directory()) / out).string();
}

}  // namespace

Result<ImportOrder> ReadImportOrder(const Context& context,
                                    const StackSession& session,
                                    std::shared_ptr<SecretsManager> manager) {
  const Invocation& words = context.invocation();
  const std::string& runtime = session.workspace.project().runtime;
  if (runtime != "yaml" && WantsCode(words)) {
    return Fail(
        ErrorKind::kUnimplemented,
        fmt::format("davit writes code for YAML programs only, and this one is for '{}'", runtime),
        "use --generate-code=false, and write the resources into the program yourself");
  }
  const std::string path = words.Text("file");
  ImportFile file;
  if (path.empty()) {
    DAVIT_TRY(file, OfWords(words));
  } else {
    const bool names_one = !words.arguments.empty() || words.IsSet("parent") ||
                           words.IsSet("provider") || words.IsSet("properties");
    if (names_one) {
      return Fail(ErrorKind::kInvalid,
                  "--file goes without TYPE, NAME, ID, --parent, --provider and --properties",
                  "write them into the file");
    }
    DAVIT_TRY(file,
              ReadFile((std::filesystem::path(context.directory()) / path).string(), manager));
  }
  std::error_code ignored;
  const std::string out = OutPath(context);
  if (!out.empty() &&
      !std::filesystem::is_directory(std::filesystem::path(out).parent_path(), ignored)) {
    return Fail(ErrorKind::kInvalid, fmt::format("there is no folder for '{}'", out));
  }
  return ResolveImports(file,
                        session.stack.stack,
                        session.stack.project,
                        !words.IsSet("protect") || words.Bool("protect"));
}

Result<void> ShowImportCode(const Context& context,
                            const ImportOrder& order,
                            const std::vector<StatePtr>& records) {
  const Invocation& words = context.invocation();
  const std::string out = OutPath(context);
  if (!WantsCode(words)) {
    if (!out.empty()) {
      context.Err("note: with --generate-code=false nothing is written to the file of --out\n");
    }
    return {};
  }
  const bool is_machine = words.Bool("json") || words.Text("output") == "json";
  const ImportCode code = WriteImportCode(order, records, words.Bool("preview-only"));
  for (const std::string& key : code.left_out) {
    context.Err(
        fmt::format("note: the component '{}' is not in the code: a YAML program can only "
                    "register what a plugin builds\n",
                    key));
  }
  for (const std::string& key : code.secret_keys) {
    context.Err(
        fmt::format("note: a secret is not in the code; give it with `davit config set "
                    "--secret {}`\n",
                    key));
  }
  if (!out.empty()) {
    return ReplaceFile(out, code.text);
  }
  if (is_machine || code.text.empty()) {
    return {};
  }
  context.Out(
      "\nAdd this to the program; an update without it would want to delete what was "
      "imported.\n");
  if (!words.IsSet("protect") || words.Bool("protect")) {
    context.Out(
        "The resources are protected: before one can be deleted, its `protect` has to go "
        "and `davit up`\nhas to run.\n");
  }
  context.Out("\n" + code.text);
  return {};
}

}  // namespace davit
