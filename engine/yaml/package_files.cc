#include "engine/yaml/package_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/base64.h"
#include "engine/yaml/document.h"

namespace davit {
namespace {

class PackageFileReader {
 public:
  PackageFileReader(const YamlDocument& document,
                    DeclaredPackages* packages,
                    std::vector<Error>* errors)
      : document_(document), packages_(*packages), errors_(*errors) {}

  void Run() {
    const YamlNode& root = document_.root;
    PackageDescriptor package;
    std::string space = Text(root, "name", true);
    package.name = space;
    package.version = Text(root, "version", false);
    package.download_url = Text(root, "downloadUrl", false);
    const YamlEntry* parameters = root.Find("parameterization");
    const YamlEntry* extension = root.Find("extension");
    if (parameters != nullptr && extension != nullptr) {
      Fault(document_.At(*extension), "a package has both 'parameterization' and 'extension'");
    } else if (extension != nullptr) {
      package.extension = Parameters(*extension);  // its types are in the namespace of its base
    } else if (parameters != nullptr) {
      package.parameterization = Parameters(*parameters);
      space = package.parameterization->name;
    }
    if (errors_.empty()) {
      packages_[space].push_back(std::move(package));
    }
  }

 private:
  void Fault(SourceRange where, std::string message, std::string advice = {}) {
    Error error = MakeError(ErrorKind::kInvalid, std::move(message), std::move(advice));
    error.where = std::move(where);
    errors_.push_back(std::move(error));
  }

  std::string Text(const YamlNode& map, const char* key, bool is_required) {
    const YamlEntry* entry = map.Find(key);
    if (entry == nullptr || entry->value.is_null()) {
      if (is_required) {
        Fault(document_.At(map),
              fmt::format("the package declaration has no '{}'", key),
              "install the package again");
      }
      return {};
    }
    if (!entry->value.is_string()) {
      Fault(document_.At(entry->value),
            fmt::format("'{}' must be a string, not {}", key, entry->value.KindName()),
            "write it in quotes");
      return {};
    }
    return entry->value.text;
  }

  Parameterization Parameters(const YamlEntry& entry) {
    Parameterization parameters;
    parameters.name = Text(entry.value, "name", true);
    parameters.version = Text(entry.value, "version", true);
    const std::optional<std::string> value = DecodeBase64(Text(entry.value, "value", false));
    if (!value) {
      Fault(document_.At(entry), "the value of a parameterization must be base64");
    }
    parameters.value = value.value_or(std::string());
    return parameters;
  }

  const YamlDocument& document_;
  DeclaredPackages& packages_;
  std::vector<Error>& errors_;
};

}  // namespace

DeclaredPackages ReadPackageFiles(const std::vector<std::string>& paths,
                                  const std::string& root,
                                  const FileReader& read,
                                  std::vector<Error>* errors) {
  DeclaredPackages packages;
  std::vector<std::string> sorted = paths;
  std::ranges::sort(sorted);
  for (const std::string& path : sorted) {
    Result<std::string> text = read(path);
    // Most files below a program are none of ours, so a look comes before the parser.
    if (!text || text->find("packageDeclarationVersion") == std::string::npos) {
      continue;
    }
    const std::string shown = path.starts_with(root + "/") ? path.substr(root.size() + 1) : path;
    const YamlDocument document = ParseYaml(shown, *std::move(text));
    const YamlEntry* marker = document.root.Find("packageDeclarationVersion");
    if (!document.errors.empty() || marker == nullptr ||
        marker->value.kind != YamlNode::Kind::kNumber || marker->value.number != 1) {
      continue;
    }
    std::vector<Error> found;
    PackageFileReader(document, &packages, &found).Run();
    errors->insert(errors->end(), found.begin(), found.end());
  }
  return packages;
}

}  // namespace davit
