#include "engine/plan/provider_inputs.h"

#include <algorithm>
#include <cctype>

#include "engine/base/base64.h"

namespace davit {
namespace {

constexpr std::string_view kInternal = "__internal";

const PropertyValue* Find(const PropertyMap& map, std::string_view key) {
  const auto at = map.find(key);
  return at == map.end() ? nullptr : &at->second;
}

std::string TextAt(const PropertyMap& map, std::string_view key) {
  const PropertyValue* value = Find(map, key);
  const std::string* text = value == nullptr ? nullptr : value->as_string();
  return text == nullptr ? std::string() : *text;
}

std::map<std::string, std::string> TextsAt(const PropertyMap& map, std::string_view key) {
  std::map<std::string, std::string> texts;
  const PropertyValue* value = Find(map, key);
  if (value != nullptr && value->is_map()) {
    for (const auto& [name, item] : *value->as_map()) {
      if (item.is_string()) {
        texts.emplace(name, *item.as_string());
      }
    }
  }
  return texts;
}

PropertyMap AsMap(const std::map<std::string, std::string>& texts) {
  PropertyMap map;
  for (const auto& [key, text] : texts) {
    map.emplace(key, text);
  }
  return map;
}

void AppendNamePart(std::string& name, std::string_view part) {
  name += '_';
  name += part;
}

// Sanitised URL of E172: per slash-separated piece, empty pieces dropped.
std::string SanitisedUrl(std::string_view url) {
  std::string result;
  std::string piece;
  const auto flush = [&] {
    if (!piece.empty()) {
      result += result.empty() ? piece : "/" + piece;
      piece.clear();
    }
  };
  for (const char c : url) {
    if (c == '/') {
      flush();
    } else {
      const bool plain =
          std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
      piece += plain ? c : '_';
    }
  }
  flush();
  return result;
}

bool IsDynamic(std::string_view package) {
  return package == "pulumi-nodejs" || package == "pulumi-python";
}

}  // namespace

PropertyMap WithoutInternal(const PropertyMap& inputs) {
  PropertyMap result = inputs;
  result.erase(std::string(kInternal));
  return result;
}

PropertyMap WithPackage(PropertyMap config,
                        const PackageDescriptor& package,
                        const std::map<std::string, std::string>& env_var_mappings) {
  PropertyMap internal;
  const bool is_parameterized = package.parameterization.has_value();
  if (is_parameterized) {
    internal["name"] = package.name;
    if (!package.version.empty()) {
      internal["version"] = package.version;
    }
    internal["parameterization"] = EncodeBase64(package.parameterization->value);
    config["version"] = package.parameterization->version;
  } else if (!package.version.empty()) {
    config["version"] = package.version;
  }
  if (!package.download_url.empty()) {
    internal["pluginDownloadURL"] = package.download_url;
  }
  if (!package.checksums.empty()) {
    internal["pluginChecksums"] = AsMap(package.checksums);
  }
  if (!env_var_mappings.empty()) {
    internal["envVarMappings"] = AsMap(env_var_mappings);
  }
  if (!internal.empty() ||
      config.contains("version")) {  // a version alone still makes an empty one (E165)
    config[std::string(kInternal)] = std::move(internal);
  }
  return config;
}

Result<PluginSpec> PluginOf(std::string_view package, const PropertyMap& inputs) {
  const PropertyValue* found = Find(inputs, kInternal);
  const PropertyMap& internal = found != nullptr && found->is_map() ? *found->as_map() : inputs;
  PluginSpec spec;
  spec.name = std::string(package);
  spec.version = TextAt(inputs, "version");
  spec.download_url = TextAt(internal, "pluginDownloadURL");
  spec.checksums = TextsAt(internal, "pluginChecksums");
  if (spec.checksums.empty()) {
    spec.checksums =
        TextsAt(inputs, "pluginChecksums");  // P46: old versions of the reference look here
  }
  spec.env_var_mappings = TextsAt(internal, "envVarMappings");
  const std::string parameters = TextAt(internal, "parameterization");
  if (!parameters.empty()) {
    std::optional<std::string> value = DecodeBase64(parameters);
    if (!value) {
      return Fail(ErrorKind::kInvalid, "the provider's 'parameterization' is not valid base64");
    }
    Parameterization parameterization;
    parameterization.name = std::string(package);
    parameterization.version = spec.version;
    parameterization.value = *std::move(value);
    spec.parameterization = std::move(parameterization);
    spec.name = TextAt(internal, "name");
    spec.version = found != nullptr ? TextAt(internal, "version") : std::string();
  }
  return spec;
}

PluginSpec PluginOf(const PackageDescriptor& package) {
  PluginSpec spec;
  spec.name = package.name;
  spec.version = package.version;
  spec.download_url = package.download_url;
  spec.checksums = package.checksums;
  spec.parameterization = package.parameterization;
  return spec;
}

std::string DefaultProviderName(const PackageDescriptor& package) {
  std::string name = "default";
  std::string_view version =
      package.parameterization ? package.parameterization->version : package.version;
  if (!version.empty()) {
    if (version.front() == 'v') {
      version.remove_prefix(1);
    }
    std::string part;
    for (const char c : version) {  // 1.2.3-alpha.1+b gives _1_2_3_alpha_1_b
      if (c == '.' || c == '-' || c == '+') {
        AppendNamePart(name, part);
        part.clear();
      } else {
        part += c;
      }
    }
    AppendNamePart(name, part);
  }
  if (!package.download_url.empty()) {
    AppendNamePart(name, SanitisedUrl(package.download_url));
  }
  return name;
}

PropertyMap DefaultProviderConfig(std::string_view package,
                                  const std::map<std::string, ConfigValue>& config) {
  PropertyMap inputs;
  const std::string prefix = std::string(package) + ":";
  for (const auto& [key, value] : config) {
    const bool is_own = key.starts_with(prefix);
    if (!is_own && !IsDynamic(package)) {
      continue;
    }
    PropertyValue text(value.text);
    inputs.emplace(IsDynamic(package) ? key : key.substr(prefix.size()),
                   value.is_secret ? MakeSecret(std::move(text)) : std::move(text));
  }
  return inputs;
}

Result<bool> IsDefaultProviderDenied(std::string_view package,
                                     const std::map<std::string, ConfigValue>& config) {
  const auto at = config.find("pulumi:disable-default-providers");
  if (at == config.end() || at->second.text.empty() || package == "pulumi") {
    return false;
  }
  const std::string& text = at->second.text;
  const auto malformed = [&]() -> Result<bool> {
    return Fail(ErrorKind::kInvalid,
                "the configuration 'pulumi:disable-default-providers' is not a JSON list of names",
                "give package names or \"*\", as in [\"aws\", \"random\"]");
  };
  std::size_t position = text.find_first_not_of(" \t\r\n");
  if (position == std::string::npos || text[position] != '[' ||
      text.find(']') == std::string::npos) {
    return malformed();
  }
  bool denied = false;
  while ((position = text.find_first_of("\"]", position + 1)) != std::string::npos &&
         text[position] == '"') {
    const std::size_t end = text.find('"', position + 1);
    if (end == std::string::npos) {
      return malformed();
    }
    const std::string_view name = std::string_view(text).substr(position + 1, end - position - 1);
    denied = denied || name == "*" || name == package;
    position = end;
  }
  return denied;
}

}  // namespace davit
