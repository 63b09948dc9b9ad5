#include "cli/workspace/workspace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "cli/json_writer.h"
#include "cli/workspace/stack_file.h"
#include "engine/base/digest.h"
#include "state/codec/json_reader.h"

namespace davit {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kOrganization = "organization";

// Several faults as one error: a count, then numbered entries (C79).
Error Joined(const std::vector<Error>& errors) {
  if (errors.size() == 1) {
    return errors[0];
  }
  std::string message = fmt::format("{} errors occurred:", errors.size());
  for (std::size_t i = 0; i < errors.size(); ++i) {
    message += fmt::format("\n    {}) {}", i + 1, errors[i].Text());
  }
  return MakeError(ErrorKind::kInvalid, message);
}

}  // namespace

std::string FindProjectFile(const std::string& directory) {
  for (fs::path folder = fs::path(directory).lexically_normal();; folder = folder.parent_path()) {
    for (const char* name : {"Pulumi.json", "Pulumi.yaml", "Pulumi.yml"}) {
      std::error_code ignored;  // what cannot be looked at is not found (S85)
      if (fs::is_regular_file(folder / name, ignored)) {
        return (folder / name).string();
      }
    }
    if (folder == folder.parent_path()) {
      return {};
    }
  }
}

Result<void> CheckStackName(const std::string& name) {
  if (name.empty()) {
    return Fail(ErrorKind::kInvalid, "a stack name may not be empty");
  }
  if (name.size() > 100) {
    return Fail(ErrorKind::kInvalid, "a stack name may not be longer than 100 characters");
  }
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_' || c == '.';
    if (!fits) {
      return Fail(
          ErrorKind::kInvalid,
          fmt::format(
              "a stack name may only contain alphanumeric, hyphens, underscores, or periods: "
              "invalid character '{}' at position {}",
              c,
              i));
    }
  }
  return {};
}

Result<StackRef> ParseStackRef(const std::string& text, const std::string& project) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (parts.size() > 3) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("'{}' is not a stack name", text),
                "use <stack> or organization/<project>/<stack>");
  }
  if (parts.size() > 1 && parts[0] != kOrganization) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("'{}' names an organization, which this backend does not have", text),
                "use <stack> or organization/<project>/<stack>");
  }
  StackRef ref;
  ref.project = parts.size() == 3 ? parts[1] : project;
  ref.stack = parts.back();
  DAVIT_TRY_VOID(CheckStackName(ref.stack));
  return ref;
}

Result<Workspace> Workspace::Open(const std::string& directory, Environment environment) {
  const std::string path = FindProjectFile(directory);
  if (path.empty()) {
    return Fail(
        ErrorKind::kInvalid,
        fmt::format("no Pulumi.yaml project file found (searching upwards from {})", directory),
        "write a Pulumi.yaml or use --cwd");
  }
  DAVIT_TRY(std::optional<std::string> text, ReadFileIfThere(path));
  std::string content = std::move(text).value_or("");
  if (content.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0) {
    content.erase(0, kByteOrderMark.size());
  }
  ProjectLoad load = LoadProjectFile(path, content);
  if (!load.errors.empty()) {
    return Fail(Joined(load.errors));
  }
  return Workspace(std::move(load.project), std::move(environment));
}

Workspace Workspace::Without(const std::string& directory, Environment environment) {
  ProjectFile project;
  project.directory = directory;
  return Workspace(std::move(project), std::move(environment));
}

std::string Workspace::Variable(const std::string& name) const {
  const auto found = environment_.find(name);
  return found == environment_.end() ? std::string() : found->second;
}

bool Workspace::has_own_backend() const {
  return Variable("DAVIT_BACKEND_URL").empty() && Variable("PULUMI_BACKEND_URL").empty() &&
         project_.backend_url.empty();
}

std::string Workspace::BackendUrl() const {
  for (const std::string& url :
       {Variable("DAVIT_BACKEND_URL"), Variable("PULUMI_BACKEND_URL"), project_.backend_url}) {
    if (!url.empty()) {
      return url;
    }
  }
  return "file://" + (fs::path(project_.directory) / ".davit").string();
}

std::string Workspace::StackFilePath(const std::string& stack) const {
  std::string name = stack;
  std::replace(name.begin(), name.end(), '/', '-');
  const fs::path folder = fs::path(project_.directory) / project_.stack_config_dir;
  return (folder / fmt::format("Pulumi.{}{}", name, fs::path(project_.path).extension().string()))
      .lexically_normal()
      .string();
}

std::string Workspace::ProgramDirectory() const {
  if (project_.main.empty()) {
    return project_.directory;
  }
  const fs::path main = (fs::path(project_.directory) / project_.main).lexically_normal();
  std::error_code ignored;
  return (fs::is_directory(main, ignored) ? main : main.parent_path()).string();
}

std::string Workspace::EntryPoint() const {
  const fs::path main = (fs::path(project_.directory) / project_.main).lexically_normal();
  std::error_code ignored;
  return project_.main.empty() || fs::is_directory(main, ignored) ? "." : main.filename().string();
}

Result<std::string> Workspace::SelectionPath() const {
  std::string home = Variable("PULUMI_HOME");
  if (home.empty() && !Variable("HOME").empty()) {
    home = (fs::path(Variable("HOME")) / ".pulumi").string();
  }
  if (home.empty()) {
    return Fail(ErrorKind::kInvalid, "the home folder is not known", "set HOME or PULUMI_HOME");
  }
  return (fs::path(home) / "workspaces" /
          fmt::format("{}-{}-workspace.json", project_.name, HexText(Sha1(project_.path))))
      .string();
}

Result<std::string> Workspace::SelectedStack() const {
  if (!Variable("PULUMI_STACK").empty()) {
    return Variable("PULUMI_STACK");
  }
  Result<std::string> path = SelectionPath();
  if (!path) {
    return std::string();
  }
  DAVIT_TRY(std::optional<std::string> text, ReadFileIfThere(*path));
  if (!text) {
    return std::string();
  }
  DAVIT_TRY(const StackSelection selection, ParseStackSelection(*text, *path));
  const auto found = selection.stacks.find(BackendUrl());
  return found == selection.stacks.end() ? selection.legacy_stack : found->second;
}

Result<void> Workspace::SelectStack(const std::string& stack) {
  DAVIT_TRY(const std::string path, SelectionPath());
  DAVIT_TRY(std::optional<std::string> text, ReadFileIfThere(path));
  StackSelection selection;
  if (text) {
    Result<StackSelection> parsed = ParseStackSelection(*text, path);
    if (parsed) {
      selection = *std::move(parsed);
    }
  }
  selection.legacy_stack.clear();
  if (stack.empty()) {
    selection.stacks.erase(BackendUrl());
  } else {
    selection.stacks[BackendUrl()] = StackRef{project_.name, stack}.Text();
  }
  std::error_code failure;
  if (selection.stacks.empty()) {
    fs::remove(path, failure);
    return {};
  }
  fs::create_directories(fs::path(path).parent_path(), failure);
  if (failure) {
    return Fail(ErrorKind::kFailed,
                fmt::format("could not create the folder of '{}': {}", path, failure.message()));
  }
  return ReplaceFile(path, StackSelectionText(selection), 0600);
}

Result<StackSelection> ParseStackSelection(const std::string& text, const std::string& path) {
  StackSelection selection;
  JsonReader json(text, "the file");
  std::string key;
  json.EnterObject();
  while (json.NextMember(&key)) {
    if (key == "stack") {
      json.String(&selection.legacy_stack);
    } else if (key == "stacks") {
      json.EnterObject();
      while (json.NextMember(&key)) {
        json.String(&selection.stacks[key]);
      }
    } else {
      json.Raw();
    }
  }
  json.ExpectEnd();
  if (json.failed()) {  // B147
    return Fail(
        ErrorKind::kInvalid,
        fmt::format(
            "'{}', which remembers the selected stack, is damaged: {}", path, json.error().message),
        "select a stack again with `davit stack select`, or name it with --stack");
  }
  return selection;
}

std::string StackSelectionText(const StackSelection& selection) {
  JsonWriter json(4);
  json.BeginObject();
  if (!selection.legacy_stack.empty()) {
    json.Key("stack").String(selection.legacy_stack);
  }
  json.Key("stacks").BeginObject();
  for (const auto& [url, stack] : selection.stacks) {
    json.Key(url).String(stack);
  }
  json.EndObject().EndObject();
  return json.Take() + "\n";
}

}  // namespace davit
