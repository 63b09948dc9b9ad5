#include "engine/yaml/yaml_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "engine/yaml/evaluation.h"
#include "engine/yaml/includes.h"

namespace davit {
namespace {

class YamlSource final : public Source {
 public:
  YamlSource(std::shared_ptr<const YamlProgram> program, FileReader read, std::string program_directory)
      : program_(std::move(program)),
        read_(std::move(read)),
        program_directory_(std::move(program_directory)) {}

  std::vector<PackageDescriptor> RequiredPackages() const override { return PackagesOf(*program_); }

  Task<Result<void>> Run(Monitor& monitor, const RunInfo& info, CancelToken cancel) override {
    YamlRun run(*program_, read_, program_directory_, monitor, info, std::move(cancel));
    co_return co_await run.Run();
  }

 private:
  std::shared_ptr<const YamlProgram> program_;
  FileReader read_;
  std::string program_directory_;
};

Task<std::vector<Error>> CheckOnly(std::shared_ptr<const YamlProgram> program,
                                   FileReader read,
                                   std::string program_directory,
                                   Monitor& monitor,
                                   const RunInfo& info) {
  YamlRun run(
      *program, std::move(read), std::move(program_directory), monitor, info, CancelToken());
  co_return co_await run.Check();
}

bool EndsLikeFile(const std::string& main) {
  return main.ends_with(".yaml") || main.ends_with(".yml") || main.ends_with(".json");
}

bool BySource(const Error& a, const Error& b) {
  const SourceRange none;
  const SourceRange& x = a.where ? *a.where : none;
  const SourceRange& y = b.where ? *b.where : none;
  return std::tie(x.file, x.line, x.column) < std::tie(y.file, y.line, y.column);
}

}  // namespace

std::string YamlProgramFolder(const ProjectFile& project) {
  std::string main = project.main;
  if (EndsLikeFile(main)) {
    const std::size_t at = main.rfind('/');
    main = at == std::string::npos ? std::string() : main.substr(0, at);
  }
  while (main.starts_with("./")) {
    main = main.substr(2);
  }
  if (main.empty() || main == ".") {
    return project.directory;
  }
  return main.starts_with('/') ? main : project.directory + "/" + main;
}

std::optional<Error> UnmetVersion(const ProjectFile& project) {
  std::optional<Error> unmet = project.required_version.empty()
                                   ? std::nullopt
                                   : VersionProblem(project.required_version);
  if (unmet) {
    unmet->where = project.required_version_where;
  }
  return unmet;
}

ProgramLoad LoadYamlProgram(const ProjectFile& project,
                            FileReader read,
                            const FileLister& list,
                            const std::optional<std::string>& compiled) {
  ProgramLoad load;
  if (std::optional<Error> unmet = UnmetVersion(project)) {
    load.errors.push_back(*std::move(unmet));
    return load;
  }
  const std::string directory = YamlProgramFolder(project);
  std::string path;
  std::string text;
  std::vector<std::string> candidates{
      directory + "/Main.json", directory + "/Main.yaml", directory + "/Main.yml"};  // Y2
  if (directory == project.directory) {
    candidates.push_back(project.path);
  } else {
    candidates.push_back(directory + "/Pulumi.yaml");
  }
  if (compiled) {
    path = "output of the compiler";
    text = *compiled;
    candidates.clear();
  }
  for (const std::string& candidate : candidates) {
    Result<std::string> content = read(candidate);
    if (content) {
      path = candidate;
      text = *std::move(content);
      break;
    }
  }
  if (path.empty()) {
    load.errors.push_back(MakeError(ErrorKind::kInvalid,
                                    fmt::format("there is no program in '{}'", directory),
                                    "write a Main.yaml or Pulumi.yaml there, or correct 'main'"));
    return load;
  }
  const bool is_below = path.starts_with(project.directory + "/");
  const std::string shown = is_below ? path.substr(project.directory.size() + 1) : path;
  std::shared_ptr<const YamlDocument> document = project.document;
  if (!document || document->file != shown || document->text != text) {
    document = std::make_shared<const YamlDocument>(ParseYaml(shown, text));
  }
  YamlProgram program =
      LoadProgram(WithIncludes(std::move(document), directory, read, list, &load.errors),
                  project.name,
                  &load.errors,
                  &load.warnings);
  program.checks_types = project.checks_types;
  if (list) {
    program.declared = ReadPackageFiles(list(directory), project.directory, read, &load.errors);
  }
  std::ranges::stable_sort(load.errors, BySource);
  std::ranges::stable_sort(load.warnings, BySource);
  if (load.errors.empty()) {
    load.packages = PackagesOf(program);
    auto shared = std::make_shared<const YamlProgram>(std::move(program));
    load.check = [shared, read, directory](Monitor& monitor, const RunInfo& info) {
      return CheckOnly(shared, read, directory, monitor, info);
    };
    load.source = std::make_unique<YamlSource>(std::move(shared), std::move(read), directory);
  }
  return load;
}

}  // namespace davit
