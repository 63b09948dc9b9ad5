#include "engine/yaml/package_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace davit {
namespace {

using Json = nlohmann::json;

std::string Lower(std::string text) {
  std::ranges::transform(
      text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// The tokens that a written one may stand for, in the order of Y81.
std::vector<std::string> Candidates(const std::string& token) {
  std::vector<std::string> candidates{token};
  std::string three = token;
  if (std::ranges::count(token, ':') == 1) {
    three = token.substr(0, token.find(':')) + ":index" + token.substr(token.find(':'));
    candidates.push_back(three);
  }
  const std::size_t first = three.find(':');
  const std::size_t second = three.find(':', first + 1);
  if (second != std::string::npos && three.find('/') == std::string::npos) {
    std::string name = three.substr(second + 1);
    if (!name.empty()) {
      std::string part = name;
      part[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(part[0])));
      candidates.push_back(three.substr(0, second) + "/" + part + ":" + name);
    }
  }
  return candidates;
}

class JsonSchema final : public PackageSchema {
 public:
  JsonSchema(std::string package, Json json)
      : package_(std::move(package)), json_(std::move(json)) {
    Index("resources", &resources_);
    Index("functions", &functions_);
  }

  const SchemaMember* Resource(const std::string& token) override {
    if (token.starts_with("pulumi:providers:")) {
      if (token.substr(std::string_view("pulumi:providers:").size()) != package_) {  // Y82
        return nullptr;
      }
      return Member(token, json_.value("provider", Json::object()));
    }
    const std::string* found = Find(resources_, token);
    return found == nullptr ? nullptr : Member(*found, json_["resources"][*found]);
  }

  const SchemaMember* Function(const std::string& token) override {
    const std::string* found = Find(functions_, token);
    if (found == nullptr) {
      return nullptr;
    }
    SchemaMember& member = members_["fn " + *found];
    member.token = *found;
    return &member;
  }

  std::vector<std::string> ResourceTokens() const override { return Tokens(resources_); }
  std::vector<std::string> FunctionTokens() const override { return Tokens(functions_); }

 private:
  using TokenIndex = std::map<std::string, std::string>;  // lower case -> as spelt

  void Index(const char* section, TokenIndex* index) const {
    const auto at = json_.find(section);
    if (at != json_.end() && at->is_object()) {
      for (const auto& [token, value] : at->items()) {
        index->emplace(Lower(token), token);
      }
    }
  }

  static std::vector<std::string> Tokens(const TokenIndex& index) {
    std::vector<std::string> tokens;
    for (const auto& [lower, token] : index) {
      tokens.push_back(token);
    }
    return tokens;
  }

  static const std::string* Find(const TokenIndex& index, const std::string& token) {
    for (const std::string& candidate : Candidates(token)) {
      const auto at = index.find(Lower(candidate));
      if (at != index.end()) {
        return &at->second;
      }
    }
    return nullptr;
  }

  static void Properties(const Json& json,
                         const char* section,
                         std::set<std::string, std::less<>>* names,
                         std::vector<std::string>* secrets) {
    const auto at = json.find(section);
    if (at == json.end() || !at->is_object()) {
      return;
    }
    for (const auto& [name, property] : at->items()) {
      names->insert(name);
      if (property.is_object() && property.value("secret", false)) {
        secrets->push_back(name);
      }
    }
  }

  const SchemaMember* Member(const std::string& token, const Json& json) {
    const auto [at, is_new] = members_.try_emplace(token);
    SchemaMember& member = at->second;
    if (!is_new) {
      return &member;
    }
    member.token = token;
    member.is_component = json.value("isComponent", false);
    Properties(json, "inputProperties", &member.inputs, &member.secret_inputs);
    Properties(json, "properties", &member.outputs, &member.secret_outputs);
    const auto required = json.find("requiredInputs");
    if (required != json.end() && required->is_array()) {
      for (const Json& name : *required) {
        member.required_inputs.push_back(name.get<std::string>());
      }
    }
    for (const char* section : {"inputProperties", "properties"}) {
      const auto found = json.find(section);
      if (found == json.end()) {
        continue;
      }
      for (const auto& [name, property] : found->items()) {
        if (property.is_object() && property.value("replaceOnChanges", false) &&
            std::ranges::find(member.replace_on_changes, name) == member.replace_on_changes.end()) {
          member.replace_on_changes.push_back(name);
        }
      }
    }
    return &member;
  }

  std::string package_;
  Json json_;
  TokenIndex resources_;
  TokenIndex functions_;
  std::map<std::string, SchemaMember> members_;
};

}  // namespace

Result<std::unique_ptr<PackageSchema>> ParsePackageSchema(const std::string& package,
                                                          const std::string& json) {
  Json parsed = Json::parse(json, nullptr, false);
  if (!parsed.is_object()) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("the schema of the package '{}' is not a JSON object", package),
                "this is a fault of the plugin");
  }
  try {
    std::unique_ptr<PackageSchema> schema =
        std::make_unique<JsonSchema>(package, std::move(parsed));
    return schema;
  } catch (const Json::exception& problem) {
    return Fail(
        ErrorKind::kInvalid,
        fmt::format("the schema of the package '{}' is malformed: {}", package, problem.what()),
        "this is a fault of the plugin");
  }
}

}  // namespace davit
