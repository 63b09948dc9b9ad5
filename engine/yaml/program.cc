#include "engine/yaml/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

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
const std::vector<std::string> kOptions = {"additionalSecretOutputs",
                                           "aliases",
                                           "customTimeouts",
                                           "deleteBeforeReplace",
                                           "dependsOn",
                                           "ignoreChanges",
                                           "import",
                                           "parent",
                                           "protect",
                                           "provider",
                                           "providers",
                                           "version",
                                           "pluginDownloadURL",
                                           "replaceOnChanges",
                                           "retainOnDelete",
                                           "replaceWith",
                                           "deletedWith",
                                           "hideDiffs",
                                           "replacementTrigger",
                                           "envVarMappings"};

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

class Loader {
 public:
  Loader(const YamlDocument& document,
         YamlProgram* program,
         std::vector<Error>* errors,
         std::vector<Error>* warnings)
      : document_(document), program_(*program), errors_(errors), warnings_(warnings) {}

  void Run() {
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
    AddNames();
    FindDefaultProviders();
    Order();
  }

 private:
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
    if (key == "components" || key == "namespace") {
      Problem(document_.At(entry), fmt::format("'{}' is not supported in a program", key));
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
    const std::vector<YamlEntry>* entries = Section(entry);
    if (entries == nullptr) {
      return;
    }
    for (const YamlEntry& item : *entries) {
      if (is_config) {
        Config(item);
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

  void Requirements(const YamlEntry& entry) {
    const std::vector<YamlEntry>* entries = Section(entry);
    if (entries == nullptr) {
      return;
    }
    static const std::vector<std::string> kKeys = {"requiredVersion"};
    for (const YamlEntry& item : *entries) {
      if (Canonical(item, kKeys).empty()) {
        Problem(document_.At(item),
                fmt::format("'{}' is not known in 'pulumi'", item.key),
                "there is requiredVersion");
      } else {
        program_.required_version = ParseExpression(document_, item.value, errors_, warnings_);
      }
    }
  }

  std::string ConfigType(const YamlNode& node) {
    std::string type;
    for (const char c : node.text) {
      if (c != ' ') {
        type += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      }
    }
    if (type == "string" || type == "number" || type == "object") {
      return type;
    }
    if (type == "int" || type == "integer") {
      return "integer";
    }
    if (type == "bool" || type == "boolean") {
      return "boolean";
    }
    if (type == "array" || (type.starts_with("list<") && type.ends_with(">") && type.size() > 6)) {
      return "list";
    }
    Problem(document_.At(node),
            fmt::format("the configuration type '{}' is not known", node.text),
            "use string, number, integer, boolean, object, array or list<...>");
    return {};
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
    for (const YamlEntry& item : entry.value.entries) {
      const std::string key = Canonical(item, kKeys);
      if (key == "type") {
        config.type = ConfigType(item.value);
      } else if (key == "name") {
        config.key =
            ParseLiteral(document_, item.value, "the name of a configuration value", errors_);
      } else if (key == "default" || key == "value") {
        config.default_value = ParseExpression(document_, item.value, errors_, warnings_);
      } else if (key == "secret") {
        if (item.value.kind != YamlNode::Kind::kBool) {
          Problem(document_.At(item.value), "'secret' must be true or false");
        }
        config.is_secret = item.value.boolean;
      } else if (key.empty()) {
        Problem(document_.At(item),
                fmt::format("'{}' is not known in a configuration entry", item.key),
                DidYouMean(item.key, kKeys));
      }
    }
    program_.config.push_back(std::move(config));
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
        resource.type = ParseLiteral(document_, item.value, "a type", errors_);
        resource.type_where = document_.At(item.value);
        const auto colons = std::ranges::count(resource.type, ':');
        if (colons != 1 && colons != 2 && item.value.is_string()) {  // Y80, Y92
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
      } else if (std::ranges::find(kOptions, item.key) != kOptions.end()) {  // Y93
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
      const std::string key = Canonical(item, kOptions);
      if (key.empty()) {
        Problem(document_.At(item),
                fmt::format("there is no option '{}'", item.key),
                DidYouMean(item.key, kOptions));
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
      Problem(where,
              fmt::format("the {} '{}' has the name of a {}",
                          kind,
                          name,
                          kKinds[static_cast<int>(at->second.kind)]),
              "give one of them another name");
    }
  }

  void AddNames() {
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

  void FindDefaultProviders() {
    for (std::size_t index = 0; index < program_.resources.size(); ++index) {
      const YamlResource& resource = program_.resources[index];
      if (resource.is_default_provider && resource.type.starts_with("pulumi:providers:")) {
        const std::string package =
            resource.type.substr(std::string_view("pulumi:providers:").size());
        if (!program_.default_providers.emplace(package, index).second) {
          Problem(resource.where, fmt::format("there are two default providers for '{}'", package));
        }
      }
    }
  }

  // References of one node, in the order of the text; unknown names are errors.
  void Reference(const YamlAccess& access, std::vector<YamlNodeRef>* needs) {
    const std::optional<YamlNodeRef> found = program_.Resolve(access.root);
    if (found) {
      if (std::ranges::find(*needs, *found) == needs->end()) {
        needs->push_back(*found);
      }
      return;
    }
    if (access.root == "pulumi" || access.root.find(':') != std::string::npos) {
      return;
    }
    undeclared_.push_back(access);
  }

  std::vector<YamlNodeRef> NeedsOf(const YamlNodeRef& node) {
    std::vector<YamlNodeRef> needs;
    const auto visit = [&](const YamlAccess& access) { Reference(access, &needs); };
    const auto expr = [&](const YamlExprPtr& value) {
      if (value) {
        VisitAccesses(*value, visit);
        VisitCalls(*value, [&](const YamlExpr& call) {
          NeedDefaultProvider(FunctionPackage(call), &needs);
        });
      }
    };
    if (node.kind == YamlNodeKind::kConfig) {
      expr(program_.config[node.index].default_value);
    } else if (node.kind == YamlNodeKind::kVariable) {
      expr(program_.variables[node.index].value);
    } else if (node.kind == YamlNodeKind::kRequirement) {
      expr(program_.required_version);
    } else {
      const YamlResource& resource = program_.resources[node.index];
      for (const YamlProperty& property : resource.properties) {
        expr(property.value);
      }
      expr(resource.properties_expr);
      expr(resource.get_id);
      for (const YamlProperty& property : resource.get_state) {
        expr(property.value);
      }
      for (const YamlOption& option : resource.options) {
        expr(option.value);
      }
      if (resource.Option("provider") == nullptr &&
          !resource.type.starts_with("pulumi:providers:")) {
        NeedDefaultProvider(resource.type.substr(0, resource.type.find(':')), &needs);
      }
    }
    return needs;
  }

  static std::string FunctionPackage(const YamlExpr& call) {
    std::string token = call.function;
    if (token == "invoke" && call.argument->kind == YamlExpr::Kind::kMap) {
      for (const auto& [key, value] : call.argument->entries) {
        const std::string* name = key->literal.as_string();
        if (name != nullptr && SameIgnoringCase(*name, "function") && value->literal.is_string()) {
          token = *value->literal.as_string();
        }
      }
    }
    return token.find(':') == std::string::npos ? std::string() : token.substr(0, token.find(':'));
  }

  void NeedDefaultProvider(const std::string& package, std::vector<YamlNodeRef>* needs) {
    const auto at = program_.default_providers.find(package);
    if (at != program_.default_providers.end()) {
      const YamlNodeRef ref{YamlNodeKind::kResource, at->second};
      if (std::ranges::find(*needs, ref) == needs->end()) {
        needs->push_back(ref);
      }
    }
  }

  std::string NameOf(const YamlNodeRef& node) const {
    switch (node.kind) {
      case YamlNodeKind::kConfig:
        return program_.config[node.index].symbol;
      case YamlNodeKind::kResource:
        return program_.resources[node.index].key;
      case YamlNodeKind::kVariable:
        return program_.variables[node.index].key;
      case YamlNodeKind::kRequirement:
        return "pulumi.requiredVersion";
    }
    return {};
  }
  SourceRange WhereOf(const YamlNodeRef& node) const {
    switch (node.kind) {
      case YamlNodeKind::kConfig:
        return program_.config[node.index].where;
      case YamlNodeKind::kResource:
        return program_.resources[node.index].where;
      case YamlNodeKind::kVariable:
        return program_.variables[node.index].where;
      case YamlNodeKind::kRequirement:
        return program_.required_version->where;
    }
    return {};
  }

  // Depth first without recursion, so that a long chain of references cannot exhaust the stack
  // (Y130, Y131).
  void Visit(const YamlNodeRef& start) {
    struct Frame {
      YamlNodeRef node;
      std::size_t next = 0;
    };
    if (state_[start] != 0) {
      return;
    }
    std::vector<Frame> stack{{start}};
    state_[start] = 1;
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const std::vector<YamlNodeRef>& needs = program_.needs[frame.node];
      if (frame.next == needs.size()) {
        state_[frame.node] = 2;
        program_.order.push_back(frame.node);
        stack.pop_back();
        continue;
      }
      const YamlNodeRef need = needs[frame.next++];
      int& state = state_[need];
      if (state == 0) {
        state = 1;
        stack.push_back({need});
      } else if (state == 1 && !has_cycle_) {
        has_cycle_ = true;
        std::string path;
        const auto from =
            std::ranges::find_if(stack, [&](const Frame& f) { return f.node == need; });
        for (auto at = from; at != stack.end(); ++at) {
          path += fmt::format("'{}' -> ", NameOf(at->node));
        }
        Problem(WhereOf(need),
                fmt::format("these depend on each other: {}'{}'", path, NameOf(need)),
                "remove one of the references");
      }
    }
  }

  // Y22: the required version is checked before everything but what its own text needs.
  void RequireFirst(std::vector<YamlNodeRef>* all) {
    const YamlNodeRef requirement{YamlNodeKind::kRequirement, 0};
    std::set<YamlNodeRef> before;
    std::vector<YamlNodeRef> open{requirement};
    program_.needs[requirement] = NeedsOf(requirement);
    while (!open.empty()) {
      const YamlNodeRef node = open.back();
      open.pop_back();
      for (const YamlNodeRef& need : program_.needs[node]) {
        if (before.insert(need).second) {
          open.push_back(need);
        }
      }
    }
    for (const YamlNodeRef& node : *all) {
      if (node.kind != YamlNodeKind::kConfig && !before.contains(node)) {
        std::vector<YamlNodeRef>& needs = program_.needs[node];
        needs.insert(needs.begin(), requirement);
      }
    }
    all->push_back(requirement);
  }

  void Order() {
    std::vector<YamlNodeRef> all;
    for (std::size_t index = 0; index < program_.config.size(); ++index) {
      all.push_back({YamlNodeKind::kConfig, index});
    }
    for (std::size_t index = 0; index < program_.resources.size(); ++index) {
      all.push_back({YamlNodeKind::kResource, index});
    }
    for (std::size_t index = 0; index < program_.variables.size(); ++index) {
      all.push_back({YamlNodeKind::kVariable, index});
    }
    for (const YamlNodeRef& node : all) {
      program_.needs[node] = NeedsOf(node);
    }
    if (program_.required_version) {
      RequireFirst(&all);
    }
    for (const YamlNodeRef& node : all) {
      Visit(node);
    }
    std::vector<YamlNodeRef> ignored;
    for (const YamlVariable& output : program_.outputs) {
      VisitAccesses(*output.value, [&](const YamlAccess& access) { Reference(access, &ignored); });
    }
    for (const YamlAccess& access : undeclared_) {
      program_.undeclared.push_back(access);
    }
  }

  const YamlDocument& document_;
  YamlProgram& program_;
  std::vector<Error>* errors_;
  std::vector<Error>* warnings_;
  std::vector<YamlAccess> undeclared_;
  std::map<YamlNodeRef, int> state_;
  bool has_cycle_ = false;
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

YamlProgram LoadProgram(const std::string& file,
                        const std::string& text,
                        const std::string& project,
                        std::vector<Error>* errors,
                        std::vector<Error>* warnings) {
  YamlProgram program;
  program.file = file;
  program.project = project;
  const YamlDocument document = ParseYaml(file, text);
  errors->insert(errors->end(), document.errors.begin(), document.errors.end());
  warnings->insert(warnings->end(), document.warnings.begin(), document.warnings.end());
  Loader(document, &program, errors, warnings).Run();
  return program;
}

}  // namespace davit
