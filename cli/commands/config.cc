#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/commands/config_edit.h"
#include "cli/json_writer.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/workspace/effective_config.h"
#include "state/codec/json_reader.h"

namespace davit {
namespace {

const Decrypter& Mask() {
  static const Decrypter kMask = [](const std::string&) -> Result<std::string> {
    return std::string("[secret]");
  };
  return kMask;
}

std::string ShownKey(const std::string& key, const std::string& project) {
  const std::string prefix = project + ":";
  return key.compare(0, prefix.size(), prefix) == 0 ? key.substr(prefix.size()) : key;
}

// S99: a key without a value is an empty text today.
void WarnOfEmptyKeys(const Context& context, const StackFile& file) {
  if (!file.empty_keys().empty()) {
    context.Warn(
        fmt::format("the configuration has no value for {}; this is read as an empty text (write "
                    "\"\" to say so)",
                    QuotedList(file.empty_keys())));
  }
}

Result<std::string> ValueToSet(const Context& context) {
  const Invocation& words = context.invocation();
  if (words.arguments.size() > 1) {
    return words.arguments[1];
  }
  if (context.is_interactive()) {
    const std::optional<std::string> typed = Ask("value: ", words.Bool("secret"));
    return typed.value_or("");
  }
  DAVIT_TRY(std::string text, ReadStandardInput());
  if (!words.Bool("raw")) {
    if (!text.empty() && text.back() == '\n') {
      text.pop_back();
    }
    if (!text.empty() && text.back() == '\r') {
      text.pop_back();
    }
  }
  return text;
}

Result<ConfigNode> TypedNode(const std::string& type, const std::string& text) {
  const ConfigNode resolved = ResolvePlain(text);
  const auto fits = [&](ConfigNode::Kind kind) { return resolved.kind == kind; };
  if (type == "string") {
    return ConfigNode::Text(text);
  }
  if (type != "int" && type != "bool" && type != "float") {
    return Fail(ErrorKind::kInvalid,
                fmt::format("'{}' is not a type of configuration values", type),
                "use string, bool, int or float");
  }
  const bool is_right = type == "int" ? fits(ConfigNode::Kind::kInteger)
                        : type == "bool"
                            ? fits(ConfigNode::Kind::kBool)
                            : fits(ConfigNode::Kind::kInteger) || fits(ConfigNode::Kind::kFloat);
  if (!is_right) {
    return Fail(ErrorKind::kInvalid, fmt::format("the value is not of type '{}'", type));
  }
  return resolved;
}

// The value that a command looks at, project defaults included.
Result<const ConfigNode*> Find(const EffectiveConfig& config, const ConfigKey& key) {
  const auto root = config.values.find(key.root);
  return root == config.values.end() ? nullptr : FindAtPath(root->second, key.path);
}

// C53: the form of `config --json`.
Result<void> SetFromJson(StackSession& session, const std::string& text) {
  struct Entry {
    std::optional<std::string> value;
    bool is_object = false;
    bool is_secret = false;
  };
  std::map<std::string, Entry> entries;
  JsonReader reader(text, "the text of --json");
  std::string key;
  for (reader.EnterObject(); reader.NextMember(&key);) {
    Entry& entry = entries[key];
    ReadMembers(reader,
                {{"value", [&] { entry.value = reader.String(); }},
                 {"objectValue", [&] { entry.is_object = !reader.Raw().empty(); }},
                 {"secret", [&] { entry.is_secret = reader.Bool(); }}});
  }
  reader.ExpectEnd();
  DAVIT_TRY_VOID(reader.Finish());
  for (const auto& [name, entry] : entries) {
    if (!entry.value) {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("the key '{}' of --json has no 'value'", name),
                  "`davit config --json --show-secrets` gives them all");
    }
    if (entry.is_object && entry.is_secret) {
      return Fail(ErrorKind::kUnimplemented,
                  fmt::format("'{}' is a secret list or map, which --json cannot set", name),
                  "set its secret members with `davit config set --secret --path`");
    }
    ConfigNode node;
    if (entry.is_object) {  // JSON is YAML
      DAVIT_TRY(const StackFile read,
                StackFile::Parse("config: {value: " + *entry.value + "}", "--json", "json"));
      node = read.config().begin()->second;
    } else {
      DAVIT_TRY(node, ConfigValueNode(session, *entry.value, entry.is_secret, false));
    }
    DAVIT_TRY_VOID(SetConfigValue(session, name, std::move(node), false));
  }
  return {};
}

}  // namespace

Result<int> ListConfig(Context& context) {
  DAVIT_TRY(StackSession session, OpenStack(context));
  DAVIT_TRY(const EffectiveConfig config, MergeConfig(session.file, session.workspace.project()));
  const bool show_secrets = context.invocation().Bool("show-secrets");
  const Decrypter decrypt = show_secrets ? SessionDecrypter(session) : Mask();
  WarnOfEmptyKeys(context, session.file);
  if (context.invocation().Bool("json")) {
    JsonWriter json(2);
    json.BeginObject();
    for (const auto& [key, node] : config.values) {
      json.Key(key);
      DAVIT_TRY_VOID(WriteConfigEntry(node, show_secrets, decrypt, &json));
    }
    json.EndObject();
    context.Out(json.Take() + "\n");
    return kExitOk;
  }
  std::vector<std::vector<std::string>> own;
  std::vector<std::vector<std::string>> foreign;
  for (const auto& [key, node] : config.values) {
    DAVIT_TRY(const std::string text, ConfigText(node, decrypt));
    const std::string shown = ShownKey(key, session.stack.project);
    (shown == key ? foreign : own).push_back({shown, text});
  }
  std::vector<std::vector<std::string>> rows = {{"KEY", "VALUE"}};
  rows.insert(rows.end(), own.begin(), own.end());
  rows.insert(rows.end(), foreign.begin(), foreign.end());
  context.Out(TableText(rows, 0));
  return kExitOk;
}

Result<int> GetConfig(Context& context) {
  DAVIT_TRY(StackSession session, OpenStack(context));
  const std::string& text = context.invocation().arguments[0];
  DAVIT_TRY(const ConfigKey key,
            ParseConfigKey(text, session.stack.project, context.invocation().Bool("path")));
  DAVIT_TRY(const EffectiveConfig config, MergeConfig(session.file, session.workspace.project()));
  DAVIT_TRY(const ConfigNode* const node, Find(config, key));
  if (node == nullptr) {
    return Fail(
        ErrorKind::kInvalid,
        fmt::format("configuration key '{}' not found for stack '{}'", text, session.stack.stack));
  }
  const Decrypter decrypt = SessionDecrypter(session);
  if (context.invocation().Bool("json")) {
    JsonWriter json(2);
    DAVIT_TRY_VOID(WriteConfigEntry(*node, true, decrypt, &json));
    context.Out(json.Take() + "\n");
    return kExitOk;
  }
  DAVIT_TRY(const std::string value, ConfigText(*node, decrypt));
  context.Out(value + "\n");
  return kExitOk;
}

Result<int> SetConfig(Context& context) {
  const Invocation& words = context.invocation();
  const int kinds = static_cast<int>(words.Bool("secret")) +
                    static_cast<int>(words.Bool("plaintext")) +
                    static_cast<int>(words.IsSet("type"));
  if (kinds > 1) {
    return Fail(ErrorKind::kInvalid, "--secret, --plaintext and --type exclude each other");
  }
  DAVIT_TRY(StackSession session, OpenStack(context));
  const std::string& key_text = words.arguments[0];
  const bool is_path = words.Bool("path");
  DAVIT_TRY(const ConfigKey key, ParseConfigKey(key_text, session.stack.project, is_path));
  DAVIT_TRY(const std::string text, ValueToSet(context));
  if (kinds == 0 && LooksLikeSecret(key_text, text)) {
    return Fail(
        ErrorKind::kRefused,
        fmt::format("config value for '{}' looks like a secret", key.root),
        "rerun with --secret to encrypt it, or --plaintext if you meant to store in plaintext");
  }
  ConfigNode node;
  if (words.IsSet("type")) {
    DAVIT_TRY(node, TypedNode(words.Text("type"), text));
  } else {
    DAVIT_TRY(node,
              ConfigValueNode(session, text, words.Bool("secret"), key.path.segments().size() > 1));
  }
  DAVIT_TRY_VOID(SetConfigValue(session, key_text, std::move(node), is_path));
  DAVIT_TRY_VOID(session.file.Save());
  return kExitOk;
}

Result<int> RemoveConfig(Context& context) {
  return RemoveAllConfig(context);
}

Result<int> RemoveAllConfig(Context& context) {
  DAVIT_TRY(StackSession session, OpenStack(context));
  for (const std::string& key : context.invocation().arguments) {
    DAVIT_TRY_VOID(RemoveConfigValue(session, key, context.invocation().Bool("path")));
  }
  DAVIT_TRY_VOID(session.file.Save());
  return kExitOk;
}

Result<int> SetAllConfig(Context& context) {
  const Invocation& words = context.invocation();
  if (words.IsSet("json") &&
      (words.IsSet("plaintext") || words.IsSet("secret") || words.IsSet("path"))) {
    return Fail(ErrorKind::kInvalid, "--json goes without --plaintext, --secret and --path");
  }
  DAVIT_TRY(StackSession session, OpenStack(context));
  if (words.IsSet("json")) {
    DAVIT_TRY_VOID(SetFromJson(session, words.Text("json")));
  }
  const bool is_path = context.invocation().Bool("path");
  for (const char* flag : {"plaintext", "secret"}) {
    for (const std::string& assignment : context.invocation().List(flag)) {
      using Assignment = std::pair<std::string, std::string>;
      DAVIT_TRY(const Assignment parts, SplitAssignment(assignment));
      DAVIT_TRY(const ConfigKey key, ParseConfigKey(parts.first, session.stack.project, is_path));
      DAVIT_TRY(ConfigNode node,
                ConfigValueNode(session,
                                parts.second,
                                std::string_view(flag) == "secret",
                                key.path.segments().size() > 1));
      DAVIT_TRY_VOID(SetConfigValue(session, parts.first, std::move(node), is_path));
    }
  }
  DAVIT_TRY_VOID(session.file.Save());
  return kExitOk;
}

}  // namespace davit
