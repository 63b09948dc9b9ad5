// The project file apart from its program (Y25, S88-S91).

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/yaml/config_type.h"
#include "engine/yaml/document.h"
#include "engine/yaml/nearest.h"
#include "engine/yaml/scalar.h"
#include "engine/yaml/yaml_source.h"

namespace davit {
namespace {

constexpr std::size_t kMaxNameLength = 100;

std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

class ProjectReader {
 public:
  ProjectReader(const YamlDocument& document, ProjectFile* project, std::vector<Error>* errors)
      : document_(document), project_(*project), errors_(*errors) {}

  void Run() {
    const YamlNode& root = document_.root;
    if (!IsMapping()) {
      return;
    }
    Name();
    Runtime();
    Text(root, "main", "", &project_.main);
    Text(root, "description", "", &project_.description);
    Text(root, "stackConfigDir", "", &project_.stack_config_dir);
    RequiredVersion();
    Backend();
    Options();
    Template();
    Plugins();
    Packages();
    Config();
  }

  void RunForPlugin() {
    what_ = "plugin file";
    if (!IsMapping()) {
      return;
    }
    Runtime();
    RequiredVersion();
    Template();
    Packages();
    Text(document_.root, "version", "", &project_.version);
  }

 private:
  bool IsMapping() {
    const YamlNode& root = document_.root;
    if (!root.is_map()) {
      Fault(document_.At(root),
            fmt::format("the {} must be a mapping, not {}", what_, root.KindName()));
    }
    return root.is_map();
  }

  void Fault(SourceRange where, std::string message, std::string advice = {}) {
    Error error = MakeError(ErrorKind::kInvalid, std::move(message), std::move(advice));
    error.where = std::move(where);
    errors_.push_back(std::move(error));
  }

  // The entry of a mapping; null when absent or null.
  static const YamlEntry* Entry(const YamlNode& map, std::string_view key) {
    const YamlEntry* entry = map.Find(key);
    return entry == nullptr || entry->value.is_null() ? nullptr : entry;
  }

  bool Text(const YamlNode& map, std::string_view key, std::string_view inside, std::string* out) {
    const YamlEntry* entry = Entry(map, key);
    if (entry == nullptr) {
      return false;
    }
    if (!entry->value.is_string()) {
      Fault(document_.At(entry->value),
            fmt::format("'{}{}' must be a string, not {}", inside, key, entry->value.KindName()));
      return false;
    }
    *out = entry->value.text;
    return true;
  }

  // The mapping at `key` with only the keys of `allowed`; null when absent or no mapping.
  const YamlNode* Closed(const YamlNode& map,
                         std::string_view key,
                         const std::vector<std::string>& allowed) {
    const YamlEntry* entry = Entry(map, key);
    if (entry == nullptr) {
      return nullptr;
    }
    if (!entry->value.is_map()) {
      Fault(document_.At(entry->value),
            fmt::format("'{}' must be a mapping, not {}", key, entry->value.KindName()));
      return nullptr;
    }
    OnlyKeys(entry->value, key, allowed);
    return &entry->value;
  }

  void OnlyKeys(const YamlNode& map,
                std::string_view what,
                const std::vector<std::string>& allowed) {
    for (const YamlEntry& entry : map.entries) {
      if (std::find(allowed.begin(), allowed.end(), entry.key) != allowed.end()) {
        continue;
      }
      std::string advice = DidYouMean(entry.key, allowed);
      if (advice.empty()) {
        advice = fmt::format("allowed are {}", Listed(allowed));
      }
      Fault(document_.At(entry),
            fmt::format("'{}' has no key '{}'", what, entry.key),
            std::move(advice));
    }
  }

  void Name() {
    const YamlEntry* entry = document_.root.Find("name");
    if (entry == nullptr) {
      std::string advice = "add 'name: <project name>'";
      for (const YamlEntry& other : document_.root.entries) {
        if (EditDistance(Lower(other.key), "name", 2) <= 2 && other.value.is_string()) {
          advice = fmt::format("did you mean 'name' instead of '{}'?", other.key);
          break;
        }
      }
      Fault(SourceRange{document_.file, document_.root.line, document_.root.column, 0, 0},
            "the project file has no 'name'",
            std::move(advice));
      return;
    }
    const YamlNode& value = entry->value;
    if (!value.is_string()) {
      Fault(document_.At(value),
            fmt::format("'name' must be a string, not {}", value.KindName()),
            "quote it");
      return;
    }
    project_.name = value.text;
    if (value.text.empty()) {
      Fault(document_.At(value), "'name' must not be empty");
    } else if (value.text.size() > kMaxNameLength) {
      Fault(document_.At(value),
            fmt::format("'name' must not be longer than {} characters", kMaxNameLength));
    } else if (value.text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789_.-") != std::string::npos) {
      Fault(document_.At(value),
            fmt::format("'{}' is not a project name", value.text),
            "use letters, digits, '-', '_' and '.'");
    }
  }

  static std::string Lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text;
  }

  void Runtime() {
    const YamlEntry* entry = Entry(document_.root, "runtime");
    if (entry == nullptr) {
      Fault(SourceRange{document_.file, document_.root.line, document_.root.column, 0, 0},
            fmt::format("the {} has no 'runtime'", what_),
            "add 'runtime: yaml'");
      return;
    }
    if (entry->value.is_string()) {
      project_.runtime = entry->value.text;
      return;
    }
    const YamlNode* runtime = Closed(document_.root, "runtime", {"name", "options"});
    if (runtime == nullptr) {
      return;
    }
    if (!Text(*runtime, "name", "runtime.", &project_.runtime) &&
        runtime->Find("name") == nullptr) {
      Fault(document_.At(*entry), "'runtime' has no 'name'", "add 'name: yaml'");
    }
    const YamlEntry* options = Entry(*runtime, "options");
    if (options == nullptr) {
      return;
    }
    if (!options->value.is_map()) {
      Fault(document_.At(options->value),
            fmt::format("'runtime.options' must be a mapping, not {}", options->value.KindName()));
      return;
    }
    for (const YamlEntry& option : options->value.entries) {
      if (option.key == "compiler" && project_.runtime == "yaml" && !option.value.is_string()) {
        Fault(document_.At(option.value),
              fmt::format("'compiler' must be a string, not {}", option.value.KindName()));
      }
      project_.runtime_options.insert_or_assign(option.key, ToPropertyValue(option.value));
    }
  }

  void RequiredVersion() {
    const YamlNode& root = document_.root;
    if (Text(root, "requiredPulumiVersion", "", &project_.required_version)) {
      project_.required_version_where = document_.At(root.Find("requiredPulumiVersion")->value);
    }
  }

  void Backend() {
    const YamlNode* backend = Closed(document_.root, "backend", {"url"});
    if (backend != nullptr) {
      Text(*backend, "url", "backend.", &project_.backend_url);
    }
  }

  void Options() {
    const YamlNode* options = Closed(document_.root, "options", {"refresh"});
    if (options == nullptr || !Text(*options, "refresh", "options.", &project_.refresh_option)) {
      return;
    }
    if (project_.refresh_option != "always") {
      Fault(document_.At(options->Find("refresh")->value),
            fmt::format("'{}' is no value of 'options.refresh'", project_.refresh_option),
            "the only value is 'always'");
    }
  }

  void Template() {
    Closed(document_.root,
           "template",
           {"displayName", "description", "quickstart", "important", "metadata", "config"});
  }

  void Plugins() {
    const YamlNode* plugins =
        Closed(document_.root, "plugins", {"providers", "languages", "analyzers"});
    if (plugins == nullptr) {
      return;
    }
    for (const YamlEntry& kind : plugins->entries) {
      if (kind.value.is_null()) {
        continue;
      }
      const std::string what = fmt::format("plugins.{}", kind.key);
      if (!kind.value.is_list()) {
        Fault(document_.At(kind.value),
              fmt::format("'{}' must be a list, not {}", what, kind.value.KindName()));
        continue;
      }
      for (const YamlNode& item : kind.value.items) {
        if (!item.is_map()) {
          Fault(document_.At(item),
                fmt::format("an entry of '{}' must be a mapping, not {}", what, item.KindName()),
                "write it as {name: ..., path: ...}");
          continue;
        }
        OnlyKeys(item, what, {"name", "path", "version"});
        PluginOverride plugin;
        plugin.kind = kind.key;
        plugin.where = document_.At(item);
        for (auto [key, member] :
             {std::pair{"name", &plugin.name}, std::pair{"path", &plugin.path}}) {
          if (Entry(item, key) == nullptr) {
            Fault(document_.At(item), fmt::format("an entry of '{}' has no '{}'", what, key));
          } else {
            Text(item, key, what + ".", member);
          }
        }
        Text(item, "version", what + ".", &plugin.version);
        project_.plugins.push_back(std::move(plugin));
      }
    }
  }

  // Y24: only the form is checked; installing makes declaration files of it.
  void Packages() {
    const YamlEntry* packages = Entry(document_.root, "packages");
    if (packages == nullptr) {
      return;
    }
    if (!packages->value.is_map()) {
      Fault(document_.At(packages->value),
            fmt::format("'packages' must be a mapping, not {}", packages->value.KindName()));
      return;
    }
    for (const YamlEntry& entry : packages->value.entries) {
      if (entry.value.is_string()) {
        AddLocalPackage(entry.key, entry.value);
        continue;
      }
      const std::string what = fmt::format("packages.{}", entry.key);
      if (!entry.value.is_map()) {
        Fault(document_.At(entry.value),
              fmt::format(
                  "'{}' must be a string or a mapping, not {}", what, entry.value.KindName()));
        continue;
      }
      OnlyKeys(entry.value,
               what,
               {"source", "version", "parameters", "pluginDownloadURL", "checksums", "extensions"});
      const YamlEntry* source = Entry(entry.value, "source");
      if (source == nullptr) {
        Fault(document_.At(entry), fmt::format("'{}' has no 'source'", what));
      } else if (source->value.is_string()) {
        AddLocalPackage(entry.key, source->value);
      }
    }
  }

  void AddLocalPackage(const std::string& name, const YamlNode& source) {
    const std::string& path = source.text;
    if (path.starts_with("./") || path.starts_with("../") || path.starts_with('/')) {
      project_.local_packages.push_back({name, path, document_.At(source)});
    }
  }

  void Config() {
    const YamlEntry* config = Entry(document_.root, "config");
    if (config == nullptr) {
      return;
    }
    if (config->value.is_string()) {
      if (!project_.stack_config_dir.empty()) {
        Fault(document_.At(config->value),
              "'config' as a folder and 'stackConfigDir' are both given",
              "remove 'config'");
      }
      project_.stack_config_dir = config->value.text;
      return;
    }
    if (!config->value.is_map()) {
      Fault(document_.At(config->value),
            fmt::format("'config' must be a mapping, not {}", config->value.KindName()));
      return;
    }
    for (const YamlEntry& entry : config->value.entries) {
      Declaration(entry);
    }
  }

  void Declaration(const YamlEntry& entry) {
    ConfigDeclaration declaration;
    declaration.key = entry.key;
    declaration.where = document_.At(entry);
    const std::size_t colon = entry.key.find(':');
    const bool is_own =
        colon == std::string::npos || entry.key.compare(0, colon, project_.name) == 0;
    if (!entry.value.is_map()) {
      if (!entry.value.is_null()) {
        (is_own ? declaration.has_default : declaration.has_value) = true;
        (is_own ? declaration.default_value : declaration.value) = Literal(entry.value);
      }
    } else {
      Members(entry.value, is_own, &declaration);
    }
    project_.config.push_back(std::move(declaration));
  }

  // Digits that a double cannot hold stay text, so that they reach the program unchanged (Y12).
  static PropertyValue Literal(const YamlNode& node) {
    return node.kind == YamlNode::Kind::kNumber && !node.text.empty() && IsLossyInteger(node)
               ? PropertyValue(node.text)
               : ToPropertyValue(node);
  }

  void Members(const YamlNode& map, bool is_own, ConfigDeclaration* declaration) {
    const std::string& key = declaration->key;
    OnlyKeys(map, key, {"type", "items", "description", "secret", "default", "value", "name"});
    const std::optional<ConfigType> type = Type(map, key);
    if (type) {
      declaration->type = type->kind == ConfigType::Kind::kList ? "array" : type->Text();
      declaration->items_type = type->items == nullptr ? "" : type->items->Text();
    }
    const YamlEntry* secret = Entry(map, "secret");
    if (secret != nullptr) {
      if (secret->value.kind != YamlNode::Kind::kBool) {
        Fault(document_.At(secret->value),
              fmt::format("'secret' must be a boolean, not {}", secret->value.KindName()));
      }
      declaration->is_secret = secret->value.boolean;
    }
    const YamlEntry* given_default = Entry(map, "default");
    const YamlEntry* given_value = Entry(map, "value");
    if (given_default != nullptr) {
      declaration->has_default = true;
      declaration->default_value = Literal(given_default->value);
    }
    if (given_value != nullptr) {
      declaration->has_value = true;
      declaration->value = Literal(given_value->value);
    }
    if (given_default != nullptr && given_value != nullptr) {
      Fault(document_.At(*given_value),
            fmt::format("'{}' has both a 'default' and a 'value'", key),
            "keep one");
    }
    if (!is_own) {
      for (const char* foreign : {"type", "default"}) {
        if (const YamlEntry* member = Entry(map, foreign)) {
          Fault(document_.At(*member),
                fmt::format("'{}' belongs to another namespace and may have no '{}'", key, foreign),
                "give it a 'value'");
        }
      }
      if (given_value == nullptr && given_default == nullptr) {
        Fault(declaration->where,
              fmt::format("'{}' belongs to another namespace and has no 'value'", key),
              "give it a 'value'");
      }
    }
    if (type && given_default != nullptr && !type->Fits(given_default->value)) {
      Fault(document_.At(given_default->value),
            fmt::format("the default of '{}' is {} and not of type {}",
                        key,
                        given_default->value.KindName(),
                        type->Text()));
    }
  }

  // The declared type; absent when there is none or it is wrong.
  std::optional<ConfigType> Type(const YamlNode& map, const std::string& key) {
    std::string name;
    if (!Text(map, "type", key + ".", &name)) {
      return std::nullopt;
    }
    std::optional<ConfigType> type = ParseConfigType(name);
    const YamlNode& place = map.Find("type")->value;
    if (!type) {
      Fault(document_.At(place),
            fmt::format("'{}' is not a type of configuration", name),
            kConfigTypeNames);
      return std::nullopt;
    }
    const YamlEntry* items = Entry(map, "items");
    if (type->kind != ConfigType::Kind::kList || type->items != nullptr) {
      if (items != nullptr) {
        Fault(document_.At(*items), fmt::format("'{}' is no array and has no 'items'", key));
      }
      return type;
    }
    if (items == nullptr) {
      Fault(document_.At(place),
            fmt::format("'{}' is an array without 'items'", key),
            "add 'items: {type: string}'");
      return std::nullopt;
    }
    if (!items->value.is_map() || Entry(items->value, "type") == nullptr) {
      Fault(document_.At(items->value),
            fmt::format("'items' of '{}' has no 'type'", key),
            "write it as {type: string}");
      return std::nullopt;
    }
    OnlyKeys(items->value, key + ".items", {"type", "items"});
    std::optional<ConfigType> inner = Type(items->value, key + ".items");
    if (!inner) {
      return std::nullopt;
    }
    type->items = std::make_shared<const ConfigType>(*std::move(inner));
    return type;
  }

  const YamlDocument& document_;
  const char* what_ = "project file";
  ProjectFile& project_;
  std::vector<Error>& errors_;
};

bool IsInProgram(const YamlDocument& document, const Error& error) {
  static const std::vector<std::string> kSections = {
      "components", "configuration", "outputs", "pulumi", "resources", "variables"};
  return error.where && std::ranges::any_of(document.root.entries, [&](const YamlEntry& entry) {
           const std::pair at(error.where->line, error.where->column);
           return std::ranges::find(kSections, entry.key) != kSections.end() &&
                  std::pair(entry.value.line, entry.value.column) <= at &&
                  at <= std::pair(entry.value.end_line, entry.value.end_column);
         });
}

}  // namespace

ProjectLoad LoadPluginFile(const std::string& path, const std::string& text) {
  ProjectLoad load;
  load.project.path = path;
  load.project.directory = path.substr(0, path.rfind('/'));
  const YamlDocument document = ParseYaml(path, text);
  load.errors = document.errors;
  if (load.errors.empty()) {
    ProjectReader(document, &load.project, &load.errors).RunForPlugin();
  }
  if (load.errors.empty()) {
    if (std::optional<Error> unmet = UnmetVersion(load.project)) {
      load.errors.push_back(*std::move(unmet));
    }
  }
  SortByPlace(&load.errors);
  return load;
}

ProjectLoad LoadProjectFile(const std::string& path, const std::string& text) {
  ProjectLoad load;
  const std::size_t slash = path.rfind('/');
  load.project.path = path;
  load.project.directory = slash == std::string::npos ? "."
                           : slash == 0               ? "/"
                                                      : path.substr(0, slash);
  load.project.document = std::make_shared<const YamlDocument>(
      ParseYaml(slash == std::string::npos ? path : path.substr(slash + 1), text));
  const YamlDocument& document = *load.project.document;
  load.errors = document.errors;
  // What is wrong inside the program is the program's error, so that other commands still work.
  std::erase_if(load.errors, [&](const Error& error) { return IsInProgram(document, error); });
  if (load.errors.empty()) {
    ProjectReader(document, &load.project, &load.errors).Run();
  }
  SortByPlace(&load.errors);
  return load;
}

}  // namespace davit
