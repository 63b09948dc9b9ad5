// `stack`, `stack output`, `stack export`, `stack import` (C30, C37-C39, C68).

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/commands/commands.h"
#include "cli/commands/shared.h"
#include "cli/display/event_json.h"
#include "cli/json_writer.h"
#include "cli/session.h"
#include "cli/table.h"
#include "cli/terminal.h"

namespace davit {
namespace {

SecretForm FormOf(bool show_secrets) {
  return show_secrets ? SecretForm::kShown : SecretForm::kText;
}

// Text bare, everything else as compact JSON.
std::string OutputText(const PropertyValue& value, SecretForm form) {
  JsonWriter json;
  WriteValue(value, form, &json);
  const PropertyValue shown = form == SecretForm::kShown ? Plain(value) : value;
  if (const std::string* text = shown.as_string()) {
    return *text;
  }
  return value.is_secret() && form != SecretForm::kShown ? "[secret]" : json.Take();
}

PropertyMap OutputsOf(const Snapshot& snapshot) {
  for (const StatePtr& state : snapshot.resources) {
    if (state->urn.is_root_stack() && !state->pending_delete) {
      return state->outputs;
    }
  }
  return {};
}

Result<LoadedStack> LoadForLooking(StackSession& session, bool show_secrets) {
  return show_secrets ? session.backend->Load(session.stack, session.secrets->Opener(), false)
                      : session.LoadMasked();
}

std::string OutputsSection(const PropertyMap& outputs, SecretForm form) {
  std::string out = fmt::format("Current stack outputs ({}):\n", outputs.size());
  if (outputs.empty()) {
    return out + "    No output values currently in this stack\n";
  }
  std::vector<std::vector<std::string>> rows = {{"OUTPUT", "VALUE"}};
  for (const auto& [name, value] : outputs) {
    rows.push_back({name, OutputText(value, form)});
  }
  return out + TableText(rows, 4);
}

// C31, C68.
Result<std::string> StackJson(StackSession& session, const Snapshot& snapshot, SecretForm form) {
  using StackTags = std::map<std::string, std::string>;
  DAVIT_TRY(const StackTags tags, session.backend->Tags(session.stack));
  JsonWriter json(2);
  json.BeginObject();
  json.Key("project").String(session.stack.project);
  json.Key("stack").String(session.stack.stack);
  json.Key("backend").String(session.backend->url());
  json.Key("tags").BeginObject();
  for (const auto& [name, value] : tags) {
    json.Key(name).String(value);
  }
  json.EndObject();
  if (snapshot.manifest_time) {
    json.Key("manifest").BeginObject();
    json.Key("time").String(JsonTime(*snapshot.manifest_time));
    json.Key("pulumiVersion").String(snapshot.manifest_version);
    json.EndObject();
  }
  if (!snapshot.secrets_type.empty()) {
    json.Key("secretsProvider").BeginObject().Key("type").String(snapshot.secrets_type);
    DAVIT_TRY(const std::string salt, SaltOf(snapshot.secrets_state));
    json.Key("state").BeginObject().Key("salt").String(salt).EndObject().EndObject();
  }
  json.Key("resources").BeginArray();
  for (const StatePtr& record : snapshot.resources) {
    json.BeginObject().Key("urn").String(record->urn.text()).Key("type").String(record->type);
    json.Key("name").String(record->urn.name());
    if (!record->id.empty()) {
      json.Key("id").String(record->id);
    }
    if (!record->parent.empty()) {
      json.Key("parent").String(record->parent.text());
    }
    json.EndObject();
  }
  json.EndArray().Key("outputs");
  WriteMap(OutputsOf(snapshot), form, &json);
  return json.EndObject().Take();
}

// For a POSIX shell, as recorded: backslashes, and quotes only around line breaks.
std::string ShellQuoted(const std::string& text) {
  if (text.empty()) {
    return "''";
  }
  if (text.find('\n') != std::string::npos) {
    std::string out = "'";
    for (char c : text) {
      out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return out + "'";
  }
  std::string out;
  for (char c : text) {
    if (std::string_view(" \t\\'\"`$&|;<>()*?[{#~!").find(c) != std::string_view::npos) {
      out += '\\';
    }
    out += c;
  }
  return out;
}

// The tree of resources: two columns, and below each row what else was asked for.
class ResourceTree {
 public:
  ResourceTree(const Snapshot& snapshot, bool show_urns, bool show_ids)
      : show_urns_(show_urns), show_ids_(show_ids) {
    std::map<std::string, const ResourceState*> by_urn;
    const ResourceState* root = nullptr;
    for (const StatePtr& state : snapshot.resources) {
      by_urn.emplace(state->urn.text(), state.get());
      root = state->urn.is_root_stack() ? state.get() : root;
    }
    for (const StatePtr& state : snapshot.resources) {
      const auto parent = by_urn.find(state->parent.text());
      const ResourceState* above = parent == by_urn.end() ? root : parent->second;
      children_[above == state.get() ? nullptr : above].push_back(state.get());
    }
    for (auto& [parent, list] : children_) {
      std::stable_sort(
          list.begin(), list.end(), [](const ResourceState* a, const ResourceState* b) {
            return a->urn.is_provider() < b->urn.is_provider();
          });
    }
  }

  std::string Text() {
    rows_ = {{"TYPE", "NAME", ""}};
    Add(nullptr, "");
    std::size_t width = 0;
    for (const Row& row : rows_) {
      width = std::max(width, DisplayWidth(row.type));
    }
    std::string out;
    for (const Row& row : rows_) {
      out += "    " + row.type + std::string(width - DisplayWidth(row.type) + 2, ' ') + row.name +
             "\n" + row.below;
    }
    return out;
  }

 private:
  struct Row {
    std::string type;
    std::string name;
    std::string below;
  };
  void Add(const ResourceState* parent, const std::string& prefix) {
    const std::vector<const ResourceState*> list = children_[parent];
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool is_last = i + 1 == list.size();
      const bool is_top = parent == nullptr;
      const std::string inner = prefix + (is_top ? "" : is_last ? "   " : "│  ");
      const std::string bar = "    " + inner + (children_.contains(list[i]) ? "│  " : "   ");
      std::string below;
      if (show_urns_) {
        below += bar + "URN: " + list[i]->urn.text() + "\n";
      }
      if (show_ids_ && !list[i]->id.empty()) {
        below += bar + "ID: " + list[i]->id + "\n";
      }
      rows_.push_back({prefix +
                           (is_top    ? ""
                            : is_last ? "└─ "
                                      : "├─ ") +
                           list[i]->type,
                       std::string(list[i]->urn.name()),
                       below});
      Add(list[i], inner);
    }
  }
  bool show_urns_;
  bool show_ids_;
  std::map<const ResourceState*, std::vector<const ResourceState*>> children_;
  std::vector<Row> rows_;
};

}  // namespace

Result<int> ShowStack(Context& context) {
  const Invocation& words = context.invocation();
  DAVIT_TRY(StackSession session, OpenStack(context));
  if (words.Bool("show-name")) {
    context.Out(session.stack.stack + "\n");
    return kExitOk;
  }
  const bool show_secrets = words.Bool("show-secrets");
  DAVIT_TRY(const LoadedStack loaded, LoadForLooking(session, show_secrets));
  const Snapshot& snapshot = loaded.snapshot;
  DAVIT_TRY(const bool as_json, WantsJson(context));
  if (as_json) {
    DAVIT_TRY(const std::string json, StackJson(session, snapshot, FormOf(show_secrets)));
    context.Out(json + "\n");
    return kExitOk;
  }
  std::string out = fmt::format(
      "Current stack is {}:\n    Kept in {}\n", session.stack.stack, session.backend->url());
  if (snapshot.manifest_time) {
    out += fmt::format("    Last updated: {} ({})\n",
                       AgoText(*snapshot.manifest_time),
                       JsonTime(*snapshot.manifest_time));
  }
  if (!snapshot.manifest_version.empty()) {
    out += fmt::format("    Version used: {}\n", snapshot.manifest_version);
  }
  out += fmt::format("    Secrets provider: {}\n",
                     snapshot.secrets_type.empty() ? "none" : snapshot.secrets_type);
  out += fmt::format("Current stack resources ({}):\n", snapshot.resources.size());
  if (snapshot.resources.empty()) {
    out += "    No resources currently in this stack\n";
  } else {
    out += ResourceTree(snapshot, words.Bool("show-urns"), words.Bool("show-ids")).Text();
    out += "\n" + OutputsSection(OutputsOf(snapshot), FormOf(show_secrets));
  }
  context.Out(out +
              "\nUse `davit stack select` to change stack; `davit stack ls` lists known ones\n");
  return kExitOk;
}

Result<int> ShowOutputs(Context& context) {
  const Invocation& words = context.invocation();
  const bool as_json = words.Bool("json");
  if (as_json && words.Bool("shell")) {
    return Fail(ErrorKind::kInvalid, "only one of --json and --shell may be set");
  }
  DAVIT_TRY(StackSession session, OpenStack(context));
  const bool show_secrets = words.Bool("show-secrets");
  DAVIT_TRY(const LoadedStack loaded, LoadForLooking(session, show_secrets));
  PropertyMap outputs = OutputsOf(loaded.snapshot);
  const SecretForm form = FormOf(show_secrets);
  if (!words.arguments.empty()) {
    const std::string& name = words.arguments[0];
    const auto found = outputs.find(name);
    if (found == outputs.end()) {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("current stack does not have output property '{}'", name));
    }
    if (as_json) {
      JsonWriter json(2);
      WriteValue(found->second, form, &json);
      context.Out(json.Take() + "\n");
      return kExitOk;
    }
    outputs = PropertyMap{{name, found->second}};
    if (!words.Bool("shell")) {
      context.Out(OutputText(outputs.begin()->second, form) + "\n");
      return kExitOk;
    }
  }
  if (words.Bool("shell")) {
    for (const auto& [name, value] : outputs) {
      context.Out(fmt::format("{}={}\n", name, ShellQuoted(OutputText(value, form))));
    }
    return kExitOk;
  }
  if (as_json) {
    JsonWriter json(2);
    WriteMap(outputs, form, &json);
    context.Out(json.Take() + "\n");
    return kExitOk;
  }
  context.Out(OutputsSection(outputs, form));
  return kExitOk;
}

Result<int> ExportStack(Context& context) {
  DAVIT_TRY(StackSession session, OpenStack(context));
  DAVIT_TRY(
      std::string text,
      session.backend->Export(
          session.stack, context.invocation().Bool("show-secrets"), session.secrets->Opener()));
  if (text.empty() || text.back() != '\n') {
    text += '\n';
  }
  const std::string file = context.invocation().Text("file");
  if (file.empty()) {
    context.Out(text);
    return kExitOk;
  }
  DAVIT_TRY_VOID(
      ReplaceFile((std::filesystem::path(context.directory()) / file).string(), text, 0600));
  return kExitOk;
}

Result<int> ImportStack(Context& context) {
  const Invocation& words = context.invocation();
  DAVIT_TRY(StackSession session, OpenStack(context));
  std::string text;
  if (words.IsSet("file")) {
    const std::string path =
        (std::filesystem::path(context.directory()) / words.Text("file")).string();
    DAVIT_TRY(std::optional<std::string> content, ReadFileIfThere(path));
    if (!content) {
      return Fail(ErrorKind::kInvalid, fmt::format("there is no file '{}'", path));
    }
    text = *std::move(content);
  } else {
    DAVIT_TRY(text, ReadStandardInput());
  }
  DAVIT_TRY(const std::unique_ptr<StackLock> lock, session.backend->Lock(session.stack));
  std::vector<std::string> warnings;
  DAVIT_TRY(const Snapshot snapshot,
            session.backend->ReadImport(
                session.stack, text, words.Bool("force"), session.secrets->Opener(), &warnings));
  for (const std::string& warning : warnings) {
    context.Warn(warning);
  }
  DAVIT_TRY(std::shared_ptr<SecretsManager> manager, session.Manager());
  if (!manager) {
    DAVIT_TRY(manager, ManagerForSaving(session, snapshot));
  }
  DAVIT_TRY_VOID(session.backend->Save(session.stack, snapshot, manager));
  context.Out("Import complete.\n");
  return kExitOk;
}

}  // namespace davit
