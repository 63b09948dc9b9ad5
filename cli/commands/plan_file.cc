#include "cli/commands/plan_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/shared.h"
#include "cli/json_writer.h"
#include "state/codec/plan_json.h"

namespace davit {
namespace {

bool HasSecrets(const PlanDiff& diff) {
  return ContainsSecrets(diff.adds) || ContainsSecrets(diff.updates);
}

// As `config` of a plan shows it: secrets as their ciphertext.
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

Result<std::string> ConfigJson(const PlanFileWriting& writing) {
  if (writing.config == nullptr || writing.config->values.empty()) {
    return std::string();
  }
  JsonWriter json;
  json.BeginObject();
  for (const auto& [key, node] : writing.config->values) {
    const ProjectFile& project = writing.session->workspace.project();
    if (!HasSecure(node) && IsDeclaredSecret(project, key)) {
      if (writing.manager) {
        DAVIT_TRY(std::string ciphertext, writing.manager->Encrypt(node.text));
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

Error Unusable(Error error, const std::string& path) {
  if (error.advice.empty()) {
    error.advice =
        fmt::format("make a plan for this stack with `davit preview --save-plan {}`", path);
  }
  return std::move(error).WithContext(fmt::format("the plan file '{}' cannot be used", path));
}

}  // namespace

bool HasSecrets(const UpdatePlan& plan) {
  return std::ranges::any_of(plan.resources, [](const auto& entry) {
    const ResourcePlan& resource = entry.second;
    return (resource.outputs && ContainsSecrets(*resource.outputs)) ||
           (resource.goal &&
            (HasSecrets(resource.goal->input_diff) || HasSecrets(resource.goal->output_diff)));
  });
}

Result<void> WritePlanFile(const std::string& path,
                           UpdatePlan plan,
                           const PlanFileWriting& writing) {
  PlanDocument document;
  document.plan = std::move(plan);
  DAVIT_TRY(document.config_json, ConfigJson(writing));
  document.version = VersionText();
  document.time = writing.time;
  SecretTexts texts;
  PropertyWriting values;
  values.secrets = writing.show_secrets ? SecretsOut::kPlaintext : SecretsOut::kEncrypted;
  values.texts = &texts;
  values.manager = writing.manager.get();
  if (writing.manager) {
    values.manager_id = ManagerId(writing.manager->type(), writing.manager->state_json());
  }
  DAVIT_TRY(const std::string text, WritePlan(document, std::move(values)));
  return ReplaceFile(path, text, 0600);
}

Result<UpdatePlan> ReadPlanFile(const std::string& path,
                                const StackSession& session,
                                std::shared_ptr<SecretsManager> manager) {
  DAVIT_TRY(const std::optional<std::string> text, ReadFileIfThere(path));
  if (!text) {
    return Fail(Unusable(MakeError(ErrorKind::kInvalid, "there is no such file"), path));
  }
  const StackReading secrets(manager);
  Result<PlanDocument> read = ReadPlan(*text, secrets.reading());
  if (!read) {
    return Fail(Unusable(std::move(read).error(), path));
  }
  for (const auto& [urn, entry] : read->plan.resources) {
    if (urn.stack() != session.stack.stack || urn.project() != session.stack.project) {
      return Fail(Unusable(
          MakeError(
              ErrorKind::kInvalid,
              fmt::format("it is for stack '{}' of project '{}'", urn.stack(), urn.project())),
          path));
    }
  }
  return std::move(read->plan);
}

}  // namespace davit
