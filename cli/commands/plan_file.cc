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
  if (writing.config != nullptr && !writing.config->values.empty()) {
    DAVIT_TRY(document.config_json,
              EffectiveConfigJson(
                  *writing.config, writing.session->workspace.project(), writing.manager.get()));
  }
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
