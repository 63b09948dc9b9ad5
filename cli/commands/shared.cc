#include "cli/commands/shared.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>

#include "cli/json_writer.h"

namespace davit {
namespace {

// Secrets as their ciphertext.
void WriteNode(const ConfigNode& node, JsonWriter* json) {
  switch (node.kind) {
    case ConfigNode::Kind::kNull:
      json->Null();
      return;
    case ConfigNode::Kind::kBool:
    case ConfigNode::Kind::kInteger:
    case ConfigNode::Kind::kFloat:
      json->Raw(node.text);
      return;
    case ConfigNode::Kind::kText:
      json->String(node.text);
      return;
    case ConfigNode::Kind::kSecure:
      json->BeginObject().Key("secure").String(node.text).EndObject();
      return;
    case ConfigNode::Kind::kList:
      json->BeginArray();
      for (const ConfigNode& item : node.items) {
        WriteNode(item, json);
      }
      json->EndArray();
      return;
    case ConfigNode::Kind::kMap: {
      std::map<std::string_view, const ConfigNode*> sorted;
      for (const auto& [name, member] : node.members) {
        sorted.emplace(name, &member);
      }
      json->BeginObject();
      for (const auto& [name, member] : sorted) {
        WriteNode(*member, &json->Key(name));
      }
      json->EndObject();
      return;
    }
  }
}

// A default that the project marks as secret stands in clear in the project file, and only there.
bool IsDeclaredSecret(const ProjectFile& project, const std::string& key) {
  return std::ranges::any_of(project.config, [&](const ConfigDeclaration& declaration) {
    const bool is_it = declaration.key == key || project.name + ":" + declaration.key == key;
    return declaration.is_secret && is_it;
  });
}

}  // namespace

Result<std::string> EffectiveConfigJson(const EffectiveConfig& config,
                                        const ProjectFile& project,
                                        SecretsManager* manager) {
  JsonWriter json;
  json.BeginObject();
  for (const auto& [key, node] : config.values) {
    if (!HasSecure(node) && IsDeclaredSecret(project, key)) {
      if (manager != nullptr) {
        DAVIT_TRY(std::string ciphertext, manager->Encrypt(node.text));
        WriteNode(ConfigNode::Secure(std::move(ciphertext)), &json.Key(key));
      }
      continue;
    }
    const bool is_top_level_text = !node.is_object() && node.kind != ConfigNode::Kind::kSecure;
    WriteNode(is_top_level_text ? ConfigNode::Text(node.text) : node, &json.Key(key));
  }
  json.EndObject();
  return json.Take();
}

const char* ModeName(DeploymentMode mode) {
  switch (mode) {
    case DeploymentMode::kUpdate:
      return "update";
    case DeploymentMode::kDestroy:
      return "destroy";
    case DeploymentMode::kRefresh:
      return "refresh";
    case DeploymentMode::kImport:
      return "import";
  }
  return "update";
}

bool IsApproved(const Context& context) {
  return context.invocation().Bool("yes") || context.IsTruthy("PULUMI_SKIP_CONFIRMATIONS");
}

Result<std::shared_ptr<SecretsManager>> ManagerForSaving(StackSession& session,
                                                         const Snapshot& snapshot) {
  DAVIT_TRY(std::shared_ptr<SecretsManager> manager,
            session.secrets->Resolve(session.file, snapshot.secrets_type, snapshot.secrets_state));
  const bool has_secrets = std::ranges::any_of(snapshot.resources, [](const StatePtr& state) {
    return ContainsSecrets(state->inputs) || ContainsSecrets(state->outputs);
  });
  if (!manager && has_secrets) {
    DAVIT_TRY(manager, session.ManagerForWriting());
    DAVIT_TRY_VOID(session.file.Save());
  }
  return manager;
}

Result<void> DeleteLockedStack(StackSession& session,
                               bool force,
                               bool preserve_config,
                               bool remove_backups) {
  DAVIT_TRY_VOID(session.backend->Remove(session.stack, force, remove_backups));
  if (!preserve_config) {
    std::error_code failure;
    std::filesystem::remove(session.file.path(), failure);
    if (failure) {
      return Fail(
          ErrorKind::kFailed,
          fmt::format(
              "the stack is removed, but not '{}': {}", session.file.path(), failure.message()));
    }
  }
  DAVIT_TRY(const std::string selected, session.workspace.SelectedStack());
  if (selected == session.stack.stack || selected == session.stack.Text()) {
    DAVIT_TRY_VOID(session.workspace.SelectStack(""));
  }
  return {};
}

Result<void> DeleteStack(StackSession& session,
                         bool force,
                         bool preserve_config,
                         bool remove_backups) {
  DAVIT_TRY(const std::unique_ptr<StackLock> lock, session.backend->Lock(session.stack));
  return DeleteLockedStack(session, force, preserve_config, remove_backups);
}

Result<bool> WantsJson(const Context& context) {
  const std::string form = context.invocation().Text("output");
  if (!form.empty() && form != "default" && form != "json") {
    return Fail(ErrorKind::kInvalid,
                fmt::format("'{}' is not a value for --output", form),
                "use default or json");
  }
  return form == "json";
}

std::string JsonTime(WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto whole = static_cast<std::time_t>(seconds.time_since_epoch().count());
  std::tm parts{};
  gmtime_r(&whole, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format(
      "{}.{:03}Z", text, std::chrono::floor<std::chrono::milliseconds>(time - seconds).count());
}

std::string AgoText(WallTime time) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now() - time)
          .count();
  const auto counted = [](long count, const char* unit) {
    return fmt::format("{} {}{} ago", count, unit, count == 1 ? "" : "s");
  };
  if (seconds < 1) {
    return "now";
  }
  if (seconds < 60) {
    return counted(seconds, "second");
  }
  if (seconds < 3600) {
    return counted(seconds / 60, "minute");
  }
  if (seconds < 86400) {
    return counted(seconds / 3600, "hour");
  }
  return counted(seconds / 86400, "day");
}

StackReading::StackReading(std::shared_ptr<SecretsManager> manager)
    : document_([manager](const std::string&,
                          const std::string&) -> Result<std::shared_ptr<SecretsManager>> {
        if (!manager) {
          return Fail(ErrorKind::kInvalid, "it holds secrets, and the stack has no passphrase");
        }
        return manager;
      }) {
  if (manager) {
    document_.Set(manager->type(), manager->state_json());
  }
  reading_.texts = &texts_;
  reading_.document = &document_;
}

Result<std::vector<PolicyPackSpec>> ReadyPolicyPacks(std::vector<PolicyPackSpec> packs) {
  for (PolicyPackSpec& pack : packs) {
    pack.path = std::filesystem::absolute(pack.path).lexically_normal().string();
    if (pack.path.size() > 1 && pack.path.back() == '/') {
      pack.path.pop_back();
    }
    if (pack.config_file.empty()) {
      continue;
    }
    DAVIT_TRY(std::optional<std::string> text, ReadFileIfThere(pack.config_file));
    if (!text) {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("there is no file '{}'", pack.config_file),
                  "check the path that --policy-pack-config names");
    }
    pack.config_text = *std::move(text);
  }
  return packs;
}

}  // namespace davit
