#include "cli/display/schema_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace davit {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kUsualModule = "index";

std::string TextOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const Json& Member(const Json& object, const char* key) {
  static const Json kNothing = Json::object();
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : kNothing;
}

struct Token {
  std::string module;  ///< `s3` of `aws:s3/bucket:Bucket`
  std::string name;
};

Token Split(const std::string& text) {
  const std::size_t first = text.find(':');
  const std::size_t last = text.rfind(':');
  Token token;
  token.name = text.substr(last + 1);
  const std::string middle =
      first == last ? std::string() : text.substr(first + 1, last - first - 1);
  token.module = middle.substr(0, middle.find('/'));
  if (token.module.empty()) {
    token.module = kUsualModule;
  }
  return token;
}

std::string FirstLine(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \n");
  return begin == std::string::npos ? std::string()
                                    : text.substr(begin, text.find('\n', begin) - begin);
}

std::string TypeText(const Json& type) {
  if (const std::string reference = TextOf(type, "$ref"); !reference.empty()) {
    const std::string last = reference.substr(reference.rfind('/') + 1);
    return reference.find("/resources/") != std::string::npos ||
                   reference.find("/types/") != std::string::npos
               ? reference.substr(reference.find("s/") + 2)
               : last.substr(last.find('#') + 1);
  }
  const std::string name = TextOf(type, "type");
  if (name == "array") {
    return fmt::format("List<{}>", TypeText(Member(type, "items")));
  }
  if (name == "object") {
    return fmt::format("Map<{}>", TypeText(Member(type, "additionalProperties")));
  }
  const auto choices = type.find("oneOf");
  if (choices != type.end() && choices->is_array()) {
    std::string text;
    for (const Json& choice : *choices) {
      text += (text.empty() ? "" : " | ") + TypeText(choice);
    }
    return text;
  }
  return name.empty() ? "any" : name;
}

std::string Properties(const char* title,
                       const Json& properties,
                       const Json& owner,
                       const char* required_key) {
  std::set<std::string> required;
  const auto names = owner.find(required_key);
  if (names != owner.end() && names->is_array()) {
    for (const Json& name : *names) {
      required.insert(name.is_string() ? name.get<std::string>() : "");
    }
  }
  std::map<std::string, const Json*> sorted;
  for (const auto& [name, property] : properties.items()) {
    sorted.emplace(name, &property);
  }
  std::string text = fmt::format("\n{}:\n", title);
  for (const auto& [name, property] : sorted) {
    const std::string about = FirstLine(TextOf(*property, "description"));
    text += fmt::format(" - {}{} ({}){}\n",
                        name,
                        required.contains(name) ? "*" : "",
                        TypeText(*property),
                        about.empty() ? "" : ": " + about);
  }
  return text;
}

class SchemaTeller {
 public:
  SchemaTeller(const Json& schema, const SchemaQuestion& question)
      : schema_(schema), question_(question) {}

  Result<std::string> Tell() const {
    if (!question_.resource.empty()) {
      DAVIT_TRY(const std::string token, Find("resource", "resources", question_.resource));
      const Json& resource = Member(Member(schema_, "resources"), token.c_str());
      return fmt::format("Resource: {}\n", token) + About(resource) +
             Properties("Inputs", Member(resource, "inputProperties"), resource, "requiredInputs") +
             Properties("Outputs", Member(resource, "properties"), Json::object(), "") +
             Legend(resource, "requiredInputs");
    }
    if (!question_.function.empty()) {
      DAVIT_TRY(const std::string token, Find("function", "functions", question_.function));
      const Json& function = Member(Member(schema_, "functions"), token.c_str());
      const Json& inputs = Member(function, "inputs");
      return fmt::format("Function: {}\n", token) + About(function) +
             Properties("Inputs", Member(inputs, "properties"), inputs, "required") +
             Properties(
                 "Outputs", Member(Member(function, "outputs"), "properties"), Json::object(), "") +
             Legend(inputs, "required");
    }
    return TellPackage();
  }

 private:
  static std::string About(const Json& what) {
    const std::string text = FirstLine(TextOf(what, "description"));
    return text.empty() ? "" : text + "\n";
  }
  static std::string Legend(const Json& owner, const char* key) {
    const auto names = owner.find(key);
    const bool has_any = names != owner.end() && names->is_array() && !names->empty();
    return has_any ? "\n* must be given\n" : "";
  }

  Result<std::string> Find(const char* what, const char* list, const std::string& name) const {
    std::vector<std::string> found;
    for (const auto& [token, about] : Member(schema_, list).items()) {
      const Token parts = Split(token);
      const bool is_in = question_.module.empty() || parts.module == question_.module;
      if (token == name || (is_in && parts.name == name)) {
        found.push_back(token);
      }
    }
    if (found.size() == 1) {
      return found[0];
    }
    return found.empty() ? Fail(ErrorKind::kInvalid, fmt::format("{} \"{}\" not found", what, name))
                         : Fail(ErrorKind::kInvalid,
                                fmt::format("several modules have a {} \"{}\": {}",
                                            what,
                                            name,
                                            fmt::join(found, ", ")),
                                "choose one with --module");
  }

  Result<std::string> TellPackage() const {
    std::map<std::string, std::pair<std::string, std::string>> modules;
    std::map<std::string, std::pair<int, int>> counts;
    const auto collect = [&](const char* list, bool is_function) {
      std::map<std::string, std::string> sorted;
      for (const auto& [token, about] : Member(schema_, list).items()) {
        const Token parts = Split(token);
        sorted[token] =
            fmt::format(" - {}: {}\n", parts.name, FirstLine(TextOf(about, "description")));
        auto& count = counts[parts.module];
        ++(is_function ? count.second : count.first);
      }
      for (const auto& [token, line] : sorted) {
        auto& texts = modules[Split(token).module];
        (is_function ? texts.second : texts.first) += line;
      }
    };
    collect("resources", false);
    collect("functions", true);
    const bool has_one = modules.size() <= 1;
    const std::string module = !question_.module.empty() ? question_.module
                               : !has_one                ? std::string()
                               : modules.empty()         ? kUsualModule
                                                         : modules.begin()->first;
    std::string text = fmt::format("Name: {}\n", TextOf(schema_, "name"));
    text += module.empty() ? "" : fmt::format("Module: {}\n", module);
    text += fmt::format("Version: {}\nDescription: {}\n",
                        TextOf(schema_, "version"),
                        FirstLine(TextOf(schema_, "description")));
    if (module.empty()) {
      text += fmt::format("Modules: {}\n\n", modules.size());
      for (const auto& [name, count] : counts) {
        text += fmt::format(" - {}: {} resources, {} functions\n", name, count.first, count.second);
      }
      return text;
    }
    if (!question_.module.empty() && !modules.contains(module)) {
      return Fail(ErrorKind::kInvalid, fmt::format("module \"{}\" not found", module));
    }
    return text + fmt::format("Resources: {}\n\n{}\nFunctions: {}\n\n{}",
                              counts[module].first,
                              modules[module].first,
                              counts[module].second,
                              modules[module].second);
  }

  const Json& schema_;
  const SchemaQuestion& question_;
};

Result<Json> Parsed(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    return Fail(ErrorKind::kInvalid, "the schema is no JSON object");
  }
  return json;
}

}  // namespace

Result<std::string> SchemaText(const std::string& schema, const SchemaQuestion& question) {
  DAVIT_TRY(const Json json, Parsed(schema));
  return SchemaTeller(json, question).Tell();
}

Result<std::string> IndentedJson(const std::string& text) {
  DAVIT_TRY(const Json json, Parsed(text));
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace davit
