#include "host/client/policy_config.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>
#include <rapidjson/schema.h>
#include <rapidjson/stringbuffer.h>

#include <algorithm>

namespace davit {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

constexpr const char* kLevelKey = "enforcementLevel";
constexpr const char* kLevels = "use advisory, mandatory, remediate or disabled";

Result<EnforcementLevel> LevelOf(const std::string& policy, const Value& value) {
  const std::optional<EnforcementLevel> level = value.kind_case() == Value::kStringValue
                                                    ? ParseEnforcementLevel(value.string_value())
                                                    : std::nullopt;
  if (!level) {
    return Fail(
        ErrorKind::kInvalid, fmt::format("the enforcement level of '{}' is none", policy), kLevels);
  }
  return *level;
}

Result<PolicySettings> SettingsOf(const std::string& policy, const Value& value) {
  PolicySettings settings;
  if (value.kind_case() != Value::kStructValue) {
    DAVIT_TRY(settings.level, LevelOf(policy, value));
    return settings;
  }
  settings.properties = value.struct_value();
  const auto level = settings.properties.fields().find(kLevelKey);
  if (level != settings.properties.fields().end()) {
    DAVIT_TRY(settings.level, LevelOf(policy, level->second));
    settings.properties.mutable_fields()->erase(kLevelKey);
  }
  return settings;
}

PolicyConfig Defaults(const pulumirpc::AnalyzerInfo& info) {
  PolicyConfig config;
  for (const pulumirpc::PolicyInfo& policy : info.policies()) {
    PolicySettings& settings = config[policy.name()];
    settings.level = static_cast<EnforcementLevel>(policy.enforcementlevel());
    for (const auto& [name, schema] : policy.configschema().properties().fields()) {
      const auto& parts = schema.struct_value().fields();
      const auto value = parts.find("default");
      if (value != parts.end()) {
        (*settings.properties.mutable_fields())[name] = value->second;
      }
    }
  }
  return config;
}

void Apply(const PolicyConfig& given, PolicyConfig* config) {
  const auto all = given.find("all");
  if (all != given.end() && all->second.level) {
    for (auto& [policy, settings] : *config) {
      settings.level = all->second.level;
    }
  }
  for (const auto& [policy, wanted] : given) {
    PolicySettings& settings = (*config)[policy];
    settings.level = wanted.level ? wanted.level : settings.level;
    for (const auto& [name, value] : wanted.properties.fields()) {
      (*settings.properties.mutable_fields())[name] = value;
    }
  }
}

rapidjson::Document JsonOf(const Struct& value) {
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(value, &text);
  rapidjson::Document document;
  document.Parse(status.ok() ? text.c_str() : "{}");
  return document;
}

std::string PointerText(const rapidjson::Pointer& pointer) {
  rapidjson::StringBuffer text;
  pointer.Stringify(text);
  return text.GetSize() == 0 ? std::string("its properties")
                             : fmt::format("'{}'", text.GetString());
}

// A property at a time, so that every one that is wrong is named.
void Validate(const pulumirpc::PolicyInfo& policy,
              const Struct& properties,
              std::vector<std::string>* faults) {
  const pulumirpc::PolicyConfigSchema& schema = policy.configschema();
  for (const std::string& name : schema.required()) {
    if (!properties.fields().contains(name)) {
      faults->push_back(fmt::format("{}: '{}' is required", policy.name(), name));
    }
  }
  for (const auto& [name, value] : properties.fields()) {
    const auto rule = schema.properties().fields().find(name);
    if (rule == schema.properties().fields().end()) {
      continue;
    }
    Struct wrapped;
    (*(*wrapped.mutable_fields())["properties"].mutable_struct_value()->mutable_fields())[name] =
        rule->second;
    Struct one;
    (*one.mutable_fields())[name] = value;
    const rapidjson::SchemaDocument document(JsonOf(wrapped));
    rapidjson::SchemaValidator validator(document);
    if (!JsonOf(one).Accept(validator)) {
      faults->push_back(fmt::format("{}: {} violates '{}' of its schema",
                                    policy.name(),
                                    PointerText(validator.GetInvalidDocumentPointer()),
                                    validator.GetInvalidSchemaKeyword()));
    }
  }
}

}  // namespace

Result<PolicyConfig> ParsePolicyConfig(const std::string& file, const std::string& text) {
  PolicyConfig config;
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return config;
  }
  const std::string context = fmt::format("the policy configuration '{}'", file);
  Struct parsed;
  const auto status = google::protobuf::util::JsonStringToMessage(text, &parsed);
  if (!status.ok()) {
    return Fail(MakeError(ErrorKind::kInvalid,
                          fmt::format("is no JSON object: {}", status.message().ToString()),
                          "write an object from policies to levels or to their properties")
                    .WithContext(context));
  }
  for (const auto& [policy, value] : parsed.fields()) {
    if (policy == "environments") {
      return Fail(MakeError(ErrorKind::kInvalid,
                            "names `environments`, which davit cannot open",
                            "write the settings themselves into the file")
                      .WithContext(context));
    }
    Result<PolicySettings> settings = SettingsOf(policy, value);
    if (!settings) {
      return Fail(std::move(settings).error().WithContext(context));
    }
    if (settings->level || !settings->properties.fields().empty()) {
      config[policy] = *std::move(settings);
    }
  }
  return config;
}

Result<PolicyConfig> ReconcilePolicyConfig(const pulumirpc::AnalyzerInfo& info,
                                           const PolicyConfig& given) {
  PolicyConfig config = Defaults(info);
  PolicyConfig initial;
  for (const auto& [policy, settings] : info.initialconfig()) {
    initial[policy] = PolicySettings{static_cast<EnforcementLevel>(settings.enforcementlevel()),
                                     settings.properties()};
  }
  Apply(initial, &config);
  Apply(given, &config);
  std::vector<std::string> faults;
  for (const pulumirpc::PolicyInfo& policy : info.policies()) {
    Validate(policy, config[policy.name()].properties, &faults);
  }
  if (!faults.empty()) {
    std::ranges::sort(faults);
    return Fail(ErrorKind::kInvalid,
                fmt::format("the configuration of the policies is invalid:\n  {}",
                            fmt::join(faults, "\n  ")),
                "correct it in the file that --policy-pack-config names");
  }
  return config;
}

}  // namespace davit
