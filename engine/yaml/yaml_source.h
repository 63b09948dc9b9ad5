#pragma once
// A Pulumi YAML program as a Source (yaml.md). Loading is pure: text in, diagnostics out;
// evaluation calls the Monitor.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/source.h"

namespace davit {

struct YamlDocument;

/// How a project declares one configuration key (S90, Y26-Y28); the command line validates and
/// fills in defaults (Y39).
struct ConfigDeclaration {
  std::string key;   ///< as written
  std::string type;  ///< empty when none
  std::string items_type;
  bool is_secret = false;
  bool has_default = false;
  PropertyValue default_value;
  bool has_value = false;
  PropertyValue value;
  SourceRange where;
};

struct PluginOverride {
  std::string kind;  ///< `providers`, `languages` or `analyzers`
  std::string name;
  std::string path;  ///< relative to the project file, as written
  std::string version;
  SourceRange where;
};

/// A package whose source is a path (Y24).
struct LocalPackage {
  std::string name;
  std::string path;  ///< relative to the project file, as written
  SourceRange where;
};

/// What the project file says apart from the program (S88, Y25).
struct ProjectFile {
  std::string path;       ///< of the file, absolute
  std::string directory;  ///< absolute
  std::string name;
  std::string runtime;  ///< `yaml`, or the name of a language host
  PropertyMap runtime_options;
  std::string main;
  std::string description;
  std::string version;  ///< of a policy pack (P119)
  std::string backend_url;
  std::string stack_config_dir;
  std::string required_version;  ///< `requiredPulumiVersion`, a range (Y22); empty when none
  SourceRange required_version_where;
  std::string refresh_option;  ///< `always` or empty
  std::vector<ConfigDeclaration> config;
  std::vector<PluginOverride> plugins;
  std::vector<LocalPackage> local_packages;
  bool checks_types = true;  ///< whether the program is checked against schemas (Y150)
  /// What was parsed, so that a program in the same file is not parsed again.
  std::shared_ptr<const YamlDocument> document;
};

/// Reads a file; given by the caller so that loading stays testable.
using FileReader = std::function<Result<std::string>(const std::string& path)>;
/// The paths of all `*.yaml` files below a folder, folders of dependencies and hidden ones left
/// out.
using FileLister = std::function<std::vector<std::string>(const std::string& folder)>;

/// Parses `Pulumi.yaml` as a project file. All errors are returned, each with its place.
struct ProjectLoad {
  ProjectFile project;
  std::vector<Error> errors;
};
ProjectLoad LoadProjectFile(const std::string& path, const std::string& text);
/// Parses `PulumiPlugin.yaml` (P12) or `PulumiPolicy.yaml` (P119): runtime, packages and required
/// version of a plugin that is source code. A version that davit does not stand in for is an error.
ProjectLoad LoadPluginFile(const std::string& path, const std::string& text);
/// What is wrong with the project's `requiredPulumiVersion` (Y22); absent when all is well.
std::optional<Error> UnmetVersion(const ProjectFile& project);

/// A loaded program. `errors` is empty when it may run; `warnings` are to be shown.
struct ProgramLoad {
  std::unique_ptr<Source> source;
  std::vector<Error> errors;
  std::vector<Error> warnings;
  /// Packages that its types and functions name, sorted (Y89), so that providers can start while
  /// the rest is checked.
  std::vector<PackageDescriptor> packages;
  /// Checks the program against the schemas that `monitor` gives, and does nothing else. Errors are
  /// reported to it, warnings returned. Set with `source`; `monitor` and `info` outlive the task.
  std::function<Task<std::vector<Error>>(Monitor& monitor, const RunInfo& info)> check;
};
/// Absolute folder of the program (Y1).
std::string YamlProgramFolder(const ProjectFile& project);
/// Finds (Y2), parses and orders the program of a project. Relative paths in file functions resolve
/// against the program directory (Y1). `list` finds package declaration files below it (Y8);
/// without it there are none. `compiled`: what the compiler of the project printed, the program
/// then (Y6).
ProgramLoad LoadYamlProgram(const ProjectFile& project,
                            FileReader read,
                            const FileLister& list = {},
                            const std::optional<std::string>& compiled = std::nullopt);

}  // namespace davit
