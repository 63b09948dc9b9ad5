#include "engine/yaml/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "engine/yaml/config_type.h"
#include "engine/yaml/nearest.h"

namespace davit {
namespace {

const std::vector<std::string> kTopLevel = {"name",           "runtime",
                                            "main",           "description",
                                            "author",         "website",
                                            "license",        "backend",
                                            "template",       "options",
                                            "stackConfigDir", "plugins",
                                            "packages",       "requiredPulumiVersion",
                                            "config",         "configuration",
                                            "variables",      "resources",
                                            "outputs",        "pulumi",
                                            "components",     "namespace",
                                            "version"};
const std::vector<std::string> kResourceKeys = {
    "type", "name", "properties", "options", "get", "defaultProvider"};
const std::vector<std::string> kComponentKeys = {
    "description", "inputs", "variables", "resources", "outputs", "pulumi"};

class Loader {
 public:
  enum class FileKind { kProgram, kIncluded, kPlugin };

  Loader(const YamlDocument& document,
         FileKind file_kind,
         YamlProgram* program,
         std::vector<Error>* errors,
         std::vector<Error>* warnings)
      : document_(document),
        file_kind_(file_kind),
        program_(*program),
        errors_(errors),
        warnings_(warnings) {}

  void Read() {
    const YamlNode& root = document_.root;
    if (!root.is_map()) {
      if (!root.is_null()) {
        Problem(document_.At(root),
                fmt::format("the program must be a map, not {}", root.KindName()));
      }
      return;
    }
    for (const YamlEntry& entry : root.entries) {
      TopLevel(entry);
    }
  }

  // Once everything is read.
  void Finish() {
    AddNames();
    OrderProgram(&program_, errors_);
  }

 private:
  static bool IsOfPrograms(const std::string& key) {
    return key == "config" || key == "configuration" || key == "variables" || key == "resources" ||
           key == "outputs";
  }

  void Problem(SourceRange where, std::string message, std::string advice = {}) {
    Error error = MakeError(ErrorKind::kInvalid, std::move(message), std::move(advice));
    error.where = std::move(where);
    errors_->push_back(std::move(error));
  }
  void Warn(SourceRange where, std::string message) {
    Error warning = MakeError(ErrorKind::kInvalid, std::move(message));
    warning.where = std::move(where);
    warnings_->push_back(std::move(warning));
  }

  // The canonical spelling of a structure name (Y18); empty when it is none.
  std::string Canonical(const YamlEntry& entry, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (name == entry.key) {
        return name;
      }
    }
    for (const std::string& name : names) {
      if (SameIgnoringCase(name, entry.key)) {
        Warn(document_.At(entry), fmt::format("'{}' is spelt '{}'", entry.key, name));
        return name;
      }
    }
    return {};
  }

  // The entries of a section; null means empty (Y20).
  const std::vector<YamlEntry>* Section(const YamlEntry& entry) {
    static const std::vector<YamlEntry> kNone;
    if (entry.value.is_null()) {
      return &kNone;
    }
    if (!entry.value.is_map()) {
      Problem(document_.At(entry.value),
              fmt::format("'{}' must be a map, not {}", entry.key, entry.value.KindName()));
      return nullptr;
    }
    return &entry.value.entries;
  }

  void TopLevel(const YamlEntry& entry) {
    const std::string key = Canonical(entry, kTopLevel);
    if (key.empty()) {
      const std::vector<std::string> near = Nearest(entry.key, kTopLevel, 2);
      if (!near.empty()) {  // Y19
        Warn(document_.At(entry),
             fmt::format("'{}' is not known; did you mean '{}'?", entry.key, near.front()));
      }
      return;
    }
    if (file_kind_ == FileKind::kPlugin && IsOfPrograms(key)) {  // Y190
      Problem(document_.At(entry),
              fmt::format("a plugin has no '{}' of its own", key),
              "put it into a component");
      return;
    }
    if (key == "namespace" && file_kind_ != FileKind::kPlugin) {
      Problem(document_.At(entry), "'namespace' belongs to plugins and not to a program");
      return;
    }
    if (file_kind_ == FileKind::kIncluded && (key == "name" || key == "runtime")) {
      Problem(document_.At(entry),
              fmt::format("'{}' belongs to the project file and not to an included one", key));
      return;
    }
    if (key == "components") {
      if (const std::vector<YamlEntry>* entries = Section(entry)) {
        for (const YamlEntry& item : *entries) {
          Component(item);
        }
      }
      return;
    }
    if (key == "pulumi") {
      Requirements(entry);
      return;
    }
    const bool is_config = key == "config" || key == "configuration";
    if (key == "config" && entry.value.is_string()) {
      return;  // the deprecated name of stackConfigDir (S88)
    }
    if (!is_config && key != "variables" && key != "resources" && key != "outputs") {
      return;
    }
    if (key == "configuration") {
      Warn(document_.At(entry), "'configuration' is deprecated; use 'config'");
    }
    Entries(key, entry);
  }

  void Entries(const std::string& key, const YamlEntry& entry) {
    const std::vector<YamlEntry>* entries = Section(entry);
    if (entries == nullptr) {
      return;
    }
    for (const YamlEntry& item : *entries) {
      if (key == "config" || key == "configuration" || key == "inputs") {
        Config(item);
        program_.config.back().is_of_old_block = key == "configuration";
      } else if (key == "variables") {
        program_.variables.push_back({item.key,
                                      ParseExpression(document_, item.value, errors_, warnings_),
                                      document_.At(item)});
      } else if (key == "outputs") {
        program_.outputs.push_back({item.key,
                                    ParseExpression(document_, item.value, errors_, warnings_),
                                    document_.At(item)});
      } else {
        Resource(item);
      }
    }
  }

  void Component(const YamlEntry& entry) {
    YamlComponent component{entry.key, document_.At(entry), std::make_shared<YamlProgram>()};
    component.program->file = program_.file;
    component.program->project = program_.project;
    Loader inner(document_, file_kind_, component.program.get(), errors_, warnings_);
    for (const YamlComponent& other : program_.components) {
      if (other.name == entry.key) {
        Problem(component.where, fmt::format("there are two components '{}'", entry.key));
        return;
      }
    }
    if (!entry.value.is_map()) {
      Problem(document_.At(entry.value),
              fmt::format(
                  "the component '{}' must be a map, not {}", entry.key, entry.value.KindName()));
      return;
    }
    for (const YamlEntry& item : entry.value.entries) {
      const std::string key = inner.Canonical(item, kComponentKeys);
      if (key.empty()) {
        Problem(document_.At(item),
                fmt::format("'{}' is not known in a component", item.key),
                ExistingNames(item.key, kComponentKeys));
      } else if (key == "pulumi") {
        inner.Requirements(item);
      } else if (key != "description") {
        inner.Entries(key, item);
      }
    }
    for (const YamlConfig& input : component.program->config) {
      const bool has_type = input.type == "string" || input.type == "integer" ||
                            input.type == "boolean" || input.type == "list";
      if (!has_type) {  // Y191
        Problem(input.where,
                fmt::format("the input '{}' needs a type", input.symbol),
                "valid types are string, integer, boolean and array");
      }
    }
    inner.Finish();
    program_.components.push_back(std::move(component));
  }

  void Requirements(const YamlEntry& entry) {
    const std::vector<YamlEntry>* entries = Section(entry);
    if (entries == nullptr) {
      return;
    }
    static const std::vector<std::string> kKeys = {"requiredVersion", "include"};
    for (const YamlEntry& item : *entries) {
      const std::string key = Canonical(item, kKeys);
      if (key.empty()) {
        Problem(document_.At(item),
                fmt::format("'{}' is not known in 'pulumi'", item.key),
                "there are requiredVersion and include");
      } else if (key == "requiredVersion") {
        if (program_.required_version) {
          Problem(document_.At(item), "'requiredVersion' is given twice");
        }
        program_.required_version = ParseExpression(document_, item.value, errors_, warnings_);
      }
    }
  }

  void Config(const YamlEntry& entry) {
    YamlConfig config;
    config.symbol = entry.key;
    config.key = entry.key;
    config.where = document_.At(entry);
    if (!entry.value.is_map()) {
      config.default_value = entry.value.is_null()
                                 ? nullptr
                                 : ParseExpression(document_, entry.value, errors_, warnings_);
      program_.config.push_back(std::move(config));
      return;
    }
    static const std::vector<std::string> kKeys = {
        "type", "name", "default", "secret", "value", "items", "description"};
    std::optional<ConfigType> type;
    const YamlNode* default_node = nullptr;
    for (const YamlEntry& item : entry.value.entries) {
      const std::string key = Canonical(item, kKeys);
      if (key == "type") {
        type = item.value.is_string() ? ParseConfigType(item.value.text) : std::nullopt;
        if (!type) {
          Problem(document_.At(item.value),
                  fmt::format("the configuration type {} is not known",
                              item.value.is_string() ? fmt::format("'{}'", item.value.text)
                                                     : std::string(item.value.KindName())),
                  kConfigTypeNames);
        }
      } else if (key == "name") {
        config.key =
            ParseLiteral(document_, item.value, "the name of a configuration value", errors_);
      } else if (key == "default" || key == "value") {
        config.default_value = ParseExpression(document_, item.value, errors_, warnings_);
        default_node = &item.value;
      } else if (key == "secret") {
        if (item.value.kind != YamlNode::Kind::kBool) {
          Problem(document_.At(item.value), "'secret' must be true or false");
        }
        config.is_secret = item.value.boolean;
        if (item.value.kind == YamlNode::Kind::kBool && !item.value.boolean) {
          config.is_plain = document_.At(item.value);
        }
      } else if (key.empty()) {
        Problem(document_.At(item),
                fmt::format("'{}' is not known in a configuration entry", item.key),
                DidYouMean(item.key, kKeys));
      }
    }
    if (type) {
      config.type = type->kind == ConfigType::Kind::kList ? "list" : type->Text();
    }
    // Y30. What is computed shows its type only when it runs.
    if (type && default_node != nullptr && IsLiteral(*config.default_value) &&
        !type->Fits(*default_node)) {
      Problem(document_.At(*default_node),
              fmt::format("the default of '{}' is {} and not of type {}",
                          entry.key,
                          default_node->KindName(),
                          type->Text()),
              "change the default or the type");
    }
    program_.config.push_back(std::move(config));
  }

  static bool IsLiteral(const YamlExpr& expr) {
    bool is_literal = true;
    VisitAccesses(expr, [&](const YamlAccess&) { is_literal = false; });
    VisitCalls(expr, [&](const YamlExpr&) { is_literal = false; });
    return is_literal;
  }

  std::vector<YamlProperty> Properties(const YamlNode& node) {
    std::vector<YamlProperty> properties;
    for (const YamlEntry& item : node.entries) {
      properties.push_back({item.key,
                            ParseExpression(document_, item.value, errors_, warnings_),
                            document_.At(item)});
    }
    return properties;
  }

  void Resource(const YamlEntry& entry) {
    YamlResource resource;
    resource.key = entry.key;
    resource.name = entry.key;
    resource.where = document_.At(entry);
    if (!entry.value.is_map()) {
      Problem(document_.At(entry),
              fmt::format(
                  "the resource '{}' must be a map, not {}", entry.key, entry.value.KindName()));
      return;
    }
    bool has_get = false;
    for (const YamlEntry& item : entry.value.entries) {
      const std::string key = Canonical(item, kResourceKeys);
      if (key == "type") {
        const std::size_t before = errors_->size();
        resource.type = ParseLiteral(document_, item.value, "a type", errors_);
        resource.type_where = document_.At(item.value);
        const auto colons = std::ranges::count(resource.type, ':');
        if (colons != 1 && colons != 2 && errors_->size() == before) {  // Y80, Y92
          Problem(resource.type_where,
                  fmt::format("'{}' is not a resource type", resource.type),
                  "write it as package:module:Name");
        }
      } else if (key == "name") {
        resource.name = ParseLiteral(document_, item.value, "a name", errors_);
      } else if (key == "properties") {
        resource.has_properties = true;
        if (item.value.is_map()) {
          resource.properties = Properties(item.value);
        } else if (item.value.is_string()) {
          resource.properties_expr = ParseExpression(document_, item.value, errors_, warnings_);
        } else if (!item.value.is_null()) {
          Problem(document_.At(item.value),
                  fmt::format("'properties' must be a map, not {}", item.value.KindName()));
        }
      } else if (key == "options") {
        Options(item, &resource);
      } else if (key == "get") {
        has_get = true;
        Get(item, &resource);
      } else if (key == "defaultProvider") {
        if (item.value.kind != YamlNode::Kind::kBool) {
          Problem(document_.At(item.value), "'defaultProvider' must be true or false");
        } else if (item.value.boolean && !resource.type.empty() &&
                   !resource.type.starts_with("pulumi:providers:")) {
          Problem(document_.At(item), "'defaultProvider' belongs to provider resources only");
        }
        resource.is_default_provider = item.value.boolean;
      } else if (std::ranges::count(YamlOptionNames(), item.key) != 0) {  // Y93
        Problem(document_.At(item),
                fmt::format("'{}' is an option", item.key),
                "put it under 'options'");
      } else {
        Problem(document_.At(item),
                fmt::format("'{}' is not known in a resource", item.key),
                DidYouMean(item.key, kResourceKeys));
      }
    }
    if (resource.type.empty() && resource.type_where.line == 0) {
      Problem(resource.where,
              fmt::format("the resource '{}' has no type", entry.key),
              "give it a 'type'");
    }
    if (has_get && resource.has_properties) {
      Problem(resource.where,
              fmt::format("the resource '{}' has both 'get' and 'properties'", entry.key),
              "a resource that is read has no properties; use 'get.state'");
    }
    program_.resources.push_back(std::move(resource));
  }

  void Options(const YamlEntry& entry, YamlResource* resource) {
    const std::vector<YamlEntry>* entries = Section(entry);
    if (entries == nullptr) {
      return;
    }
    for (const YamlEntry& item : *entries) {
      const std::string key = Canonical(item, YamlOptionNames());
      if (key.empty()) {
        Problem(document_.At(item),
                fmt::format("there is no option '{}'", item.key),
                DidYouMean(item.key, YamlOptionNames()));
        continue;
      }
      resource->options.push_back(
          {key, ParseExpression(document_, item.value, errors_, warnings_), document_.At(item)});
    }
  }

  void Get(const YamlEntry& entry, YamlResource* resource) {
    const std::vector<YamlEntry>* entries = Section(entry);
    if (entries == nullptr) {
      return;
    }
    static const std::vector<std::string> kKeys = {"id", "state"};
    for (const YamlEntry& item : *entries) {
      const std::string key = Canonical(item, kKeys);
      if (key == "id") {
        resource->get_id = ParseExpression(document_, item.value, errors_, warnings_);
      } else if (key == "state") {
        resource->get_state = Properties(item.value);
      } else {
        Problem(document_.At(item),
                fmt::format("'{}' is not known in 'get'", item.key),
                DidYouMean(item.key, kKeys));
      }
    }
    if (!resource->get_id) {
      Problem(document_.At(entry), "'get' has no 'id'", "give the id of the resource to read");
    }
  }

  void AddName(const std::string& name,
               YamlNodeRef ref,
               const SourceRange& where,
               const char* kind) {
    static const char* const kKinds[] = {"configuration value", "resource", "variable"};
    if (name == "pulumi") {  // Y38
      Problem(where, fmt::format("the name 'pulumi' is reserved and cannot be a {}", kind));
      return;
    }
    const auto [at, is_new] = program_.names.emplace(name, ref);
    if (!is_new) {
      const SourceRange& other = PlaceOf(at->second);
      Problem(where,
              fmt::format("the {} '{}' has the name of a {}{}",
                          kind,
                          name,
                          kKinds[static_cast<int>(at->second.kind)],
                          InOtherFile(other, where)),
              "give one of them another name");
      errors_->back().related.push_back({"first defined here", other});
    }
  }

  const SourceRange& PlaceOf(const YamlNodeRef& node) const {
    return node.kind == YamlNodeKind::kConfig     ? program_.config[node.index].where
           : node.kind == YamlNodeKind::kResource ? program_.resources[node.index].where
                                                  : program_.variables[node.index].where;
  }

  // C30: where the other one is, when that is not the file of the message.
  static std::string InOtherFile(const SourceRange& other, const SourceRange& where) {
    return other.file == where.file ? std::string()
                                    : fmt::format(" at {}:{}", other.file, other.line);
  }

  void AddNames() {
    std::set<std::string> kept;
    for (const YamlConfig& config : program_.config) {
      if (!config.is_of_old_block) {
        kept.insert(config.symbol);
      }
    }
    std::erase_if(program_.config, [&](const YamlConfig& config) {  // Y21
      return config.is_of_old_block && kept.contains(config.symbol);
    });
    std::map<std::string, const YamlVariable*> outputs;
    for (const YamlVariable& output : program_.outputs) {
      const auto [at, is_new] = outputs.emplace(output.key, &output);
      if (!is_new) {
        Problem(output.where,
                fmt::format("the output '{}' is given at {}:{} too",
                            output.key,
                            at->second->where.file,
                            at->second->where.line));
        errors_->back().related.push_back({"first defined here", at->second->where});
      }
    }
    for (std::size_t index = 0; index < program_.config.size(); ++index) {
      AddName(program_.config[index].symbol,
              {YamlNodeKind::kConfig, index},
              program_.config[index].where,
              "configuration value");
    }
    for (std::size_t index = 0; index < program_.resources.size(); ++index) {
      AddName(program_.resources[index].key,
              {YamlNodeKind::kResource, index},
              program_.resources[index].where,
              "resource");
    }
    for (std::size_t index = 0; index < program_.variables.size(); ++index) {
      AddName(program_.variables[index].key,
              {YamlNodeKind::kVariable, index},
              program_.variables[index].where,
              "variable");
    }
  }

  const YamlDocument& document_;
  const FileKind file_kind_;
  YamlProgram& program_;
  std::vector<Error>* errors_;
  std::vector<Error>* warnings_;
};

}  // namespace

const YamlOption* YamlResource::Option(std::string_view wanted) const {
  const auto at = std::ranges::find_if(
      options, [&](const YamlOption& option) { return option.name == wanted; });
  return at == options.end() ? nullptr : &*at;
}

std::optional<YamlNodeRef> YamlProgram::Resolve(std::string_view root) const {
  auto at = names.find(root);
  if (at == names.end() && root.starts_with(project + ":")) {
    at = names.find(root.substr(project.size() + 1));
  }
  return at == names.end() ? std::nullopt : std::optional<YamlNodeRef>(at->second);
}

namespace {

YamlProgram Loaded(const std::vector<std::shared_ptr<const YamlDocument>>& documents,
                   const std::string& project,
                   Loader::FileKind first,
                   Loader::FileKind others,
                   std::vector<Error>* errors,
                   std::vector<Error>* warnings) {
  YamlProgram program;
  program.file = documents.front()->file;
  program.project = project;
  for (const std::shared_ptr<const YamlDocument>& document : documents) {
    errors->insert(errors->end(), document->errors.begin(), document->errors.end());
    warnings->insert(warnings->end(), document->warnings.begin(), document->warnings.end());
    const Loader::FileKind kind = document == documents.front() ? first : others;
    Loader(*document, kind, &program, errors, warnings).Read();
  }
  Loader(*documents.front(), first, &program, errors, warnings).Finish();
  CheckNesting(program, errors);
  return program;
}

}  // namespace

YamlProgram LoadProgram(const std::vector<std::shared_ptr<const YamlDocument>>& documents,
                        const std::string& project,
                        std::vector<Error>* errors,
                        std::vector<Error>* warnings) {
  using Kind = Loader::FileKind;
  return Loaded(documents, project, Kind::kProgram, Kind::kIncluded, errors, warnings);
}

YamlProgram LoadPlugin(const std::vector<std::shared_ptr<const YamlDocument>>& documents,
                       const std::string& name,
                       std::vector<Error>* errors,
                       std::vector<Error>* warnings) {
  using Kind = Loader::FileKind;
  return Loaded(documents, name, Kind::kPlugin, Kind::kPlugin, errors, warnings);
}

}  // namespace davit
