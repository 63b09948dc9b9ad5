#include "cli/import_code.h"

#include <cctype>
#include <cmath>
#include <set>

#include "cli/workspace/yaml_text.h"

namespace davit {
namespace {

ConfigNode Scalar(ConfigNode::Kind kind, std::string text) {
  ConfigNode node;
  node.kind = kind;
  node.text = std::move(text);
  return node;
}

ConfigNode MapNode(std::string key, ConfigNode value) {
  ConfigNode node;
  node.kind = ConfigNode::Kind::kMap;
  node.members.emplace_back(std::move(key), std::move(value));
  return node;
}

ConfigNode Reference(const std::string& name) {
  return ConfigNode::Text("${" + name + "}");
}

// Y63: text that must not be read as an interpolation.
std::string Escaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char next = at + 1 < text.size() ? text[at + 1] : ' ';
    out += text[at];
    if (text[at] == '$' && (next == '$' || next == '{')) {
      out += '$';
    }
  }
  return out;
}

// Whole numbers in full, as far as a double has them exactly.
ConfigNode NumberNode(double value) {
  constexpr double kExact = 9007199254740992;
  if (std::trunc(value) == value && std::fabs(value) < kExact) {
    return Scalar(ConfigNode::Kind::kInteger, std::to_string(static_cast<long>(value)));
  }
  return Scalar(ConfigNode::Kind::kFloat, NumberText(value));
}

// `pkg:mod/name:Name` and `pkg:index:Name` are shown as `pkg:mod:Name` and `pkg:Name` (Y81).
std::string ShortType(const std::string& type) {
  const std::size_t first = type.find(':');
  const std::size_t last = type.rfind(':');
  if (first == last || type.starts_with(kProviderTypePrefix)) {
    return type;
  }
  std::string module = type.substr(first + 1, last - first - 1);
  std::string name = type.substr(last + 1);
  const std::size_t slash = module.rfind('/');
  if (slash != std::string::npos && !name.empty()) {
    std::string lower = name;
    lower[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(lower[0])));
    if (module.substr(slash + 1) == lower) {
      module.resize(slash);
    }
  }
  return type.substr(0, first + 1) + (module == "index" ? "" : module + ":") + name;
}

class CodeWriter {
 public:
  explicit CodeWriter(const ImportOrder& order) : order_(order) {
    for (const ImportNames& names : order.names) {
      taken_.insert(names.key);
    }
  }

  ImportCode Run(const std::vector<StatePtr>& records, bool with_ids) {
    ConfigNode resources;
    resources.kind = ConfigNode::Kind::kMap;
    for (std::size_t index = 0; index < records.size(); ++index) {
      if (!records[index]) {
        continue;
      }
      const ImportSpec& spec = order_.specs[index];
      const ImportNames& names = order_.names[index];
      if (spec.is_component && !spec.is_remote) {
        code_.left_out.push_back(names.key);
        continue;
      }
      resources.members.emplace_back(names.key,
                                     ResourceNode(spec, names, *records[index], with_ids));
    }
    if (!config_.members.empty()) {
      code_.text += "config:" + YamlAfterKey(config_, 0) + "\n";
    }
    if (!resources.members.empty()) {
      code_.text += "resources:" + YamlAfterKey(resources, 0) + "\n";
    }
    return std::move(code_);
  }

 private:
  ConfigNode ResourceNode(const ImportSpec& spec,
                          const ImportNames& names,
                          const ResourceState& record,
                          bool with_ids) {
    ConfigNode node = MapNode("type", ConfigNode::Text(ShortType(record.type)));
    if (spec.urn.name() != names.key) {
      node.members.emplace_back("name", ConfigNode::Text(Escaped(spec.urn.name())));
    }
    place_ = names.key;
    const PropertyMap& inputs = record.urn.is_provider() ? spec.inputs : record.inputs;
    ConfigNode properties = Members(inputs, false);
    if (!properties.members.empty()) {
      node.members.emplace_back("properties", std::move(properties));
    }
    ConfigNode options;
    options.kind = ConfigNode::Kind::kMap;
    const auto text_option = [&](const char* name, const std::string& text) {
      if (!text.empty()) {
        options.members.emplace_back(name, ConfigNode::Text(Escaped(text)));
      }
    };
    if (!names.parent.empty()) {
      options.members.emplace_back("parent", Reference(names.parent));
    }
    if (!names.provider.empty()) {
      options.members.emplace_back("provider", Reference(names.provider));
    }
    if (names.provider.empty() && !spec.package.parameterization) {
      text_option("version", spec.package.version);
      text_option("pluginDownloadURL", spec.package.download_url);
    }
    if (record.protect) {
      options.members.emplace_back("protect", Scalar(ConfigNode::Kind::kBool, "true"));
    }
    if (with_ids) {
      text_option("import", spec.id);
    }
    if (!options.members.empty()) {
      node.members.emplace_back("options", std::move(options));
    }
    return node;
  }

  // C114: names that begin with two underscores are for the provider alone.
  ConfigNode Members(const PropertyMap& map, bool is_nested) {
    ConfigNode node;
    node.kind = ConfigNode::Kind::kMap;
    for (const auto& [key, value] : map) {
      if (key.starts_with("__") || value.is_null()) {
        continue;
      }
      const std::string before = place_;
      place_ += "." + key;
      node.members.emplace_back(is_nested ? Escaped(key) : key, ValueNode(value));
      place_ = before;
    }
    return node;
  }

  ConfigNode AssetNode(const Asset& asset) {
    const char* kind = asset.source == Asset::Source::kPath  ? "fn::fileAsset"
                       : asset.source == Asset::Source::kUri ? "fn::remoteAsset"
                                                             : "fn::stringAsset";
    return MapNode(kind, ConfigNode::Text(Escaped(asset.content)));
  }

  ConfigNode ArchiveNode(const Archive& archive) {
    if (archive.source == Archive::Source::kAssets && archive.assets) {
      return MapNode("fn::assetArchive", Members(*archive.assets, true));
    }
    const bool is_uri = archive.source == Archive::Source::kUri;
    return MapNode(is_uri ? "fn::remoteArchive" : "fn::fileArchive",
                   ConfigNode::Text(Escaped(archive.location)));
  }

  // A secret stays out of the text: it comes from a configuration key.
  ConfigNode SecretNode(const Secret& secret) {
    const std::string key = SecretKey();
    ConfigNode declaration = MapNode("type", ConfigNode::Text("string"));
    declaration.members.emplace_back("secret", Scalar(ConfigNode::Kind::kBool, "true"));
    config_.kind = ConfigNode::Kind::kMap;
    config_.members.emplace_back(key, std::move(declaration));
    code_.secret_keys.push_back(key);
    return secret.Reveal().is_string() ? Reference(key) : MapNode("fn::fromJSON", Reference(key));
  }

  // `aNote` for the property `note` of `a`.
  std::string SecretKey() {
    std::string key;
    bool begins_word = false;
    for (const char c : place_) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
        begins_word = !key.empty();
        continue;
      }
      key += begins_word ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      begins_word = false;
    }
    const std::string base = key;
    for (int number = 2; !taken_.insert(key).second; ++number) {
      key = base + std::to_string(number);
    }
    return key;
  }

  ConfigNode ValueNode(const PropertyValue& value) {
    return value.Visit(Overloaded{
        [](const Null&) { return ConfigNode(); },
        [](bool held) { return Scalar(ConfigNode::Kind::kBool, held ? "true" : "false"); },
        [](double held) { return NumberNode(held); },
        [](const std::string& held) { return ConfigNode::Text(Escaped(held)); },
        [&](const PropertyList& held) {
          ConfigNode node;
          node.kind = ConfigNode::Kind::kList;
          for (const PropertyValue& item : held) {
            node.items.push_back(ValueNode(item));
          }
          return node;
        },
        [&](const PropertyMap& held) { return Members(held, true); },
        [&](const Asset& held) { return AssetNode(held); },
        [&](const Archive& held) { return ArchiveNode(held); },
        [&](const Secret& held) { return SecretNode(held); },
        [](const Unknown&) { return ConfigNode(); },
        [&](const Output& held) { return held.element ? ValueNode(*held.element) : ConfigNode(); },
        [](const ResourceReference& held) { return ConfigNode::Text(Escaped(held.urn)); }});
  }

  const ImportOrder& order_;
  ImportCode code_;
  ConfigNode config_;
  std::set<std::string> taken_;
  std::string place_;  ///< of the value at hand, for the names of secrets
};

}  // namespace

ImportCode WriteImportCode(const ImportOrder& order,
                           const std::vector<StatePtr>& records,
                           bool with_ids) {
  return CodeWriter(order).Run(records, with_ids);
}

}  // namespace davit
