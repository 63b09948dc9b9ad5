// `davit schema`: a JSON Schema of the project's programs, for editors.

#include <filesystem>

#include "cli/app.h"
#include "cli/commands/commands.h"
#include "cli/display/editor_schema.h"
#include "cli/session.h"
#include "cli/workspace/program_files.h"
#include "cli/workspace/stack_file.h"

namespace davit {
namespace {

Result<std::vector<EditorPackage>> SchemasFor(const std::vector<PackageDescriptor>& packages,
                                              App* app) {
  std::vector<EditorPackage> schemas;
  for (const PackageDescriptor& package : packages) {
    DAVIT_TRY(std::string json, app->SchemaOf(package));
    EditorPackage entry;
    entry.name = package.parameterization ? package.parameterization->name : package.name;
    DAVIT_TRY(entry.schema, ParsePackageSchema(entry.name, std::move(json)));
    schemas.push_back(std::move(entry));
  }
  return schemas;
}

}  // namespace

Result<int> WriteEditorSchema(Context& context) {
  DAVIT_TRY(const Workspace workspace, OpenWorkspace(context));
  if (workspace.project().runtime != "yaml") {
    return Fail(ErrorKind::kInvalid,
                "the program is not written in YAML",
                "editors have other means for '" + workspace.project().runtime + "'");
  }
  const ProgramLoad load =
      LoadProgramFiles(workspace.project(),
                       context.environment(),
                       {{"PULUMI_PROJECT", workspace.project().name},
                        {"PULUMI_ROOT_DIRECTORY", workspace.project().directory}});
  if (!load.source && !load.errors.empty()) {
    return Fail(load.errors.front());
  }
  AppOptions options;
  options.context = &context;
  options.workspace = &workspace;
  DAVIT_TRY(const std::unique_ptr<App> app, App::Create(std::move(options)));
  Result<std::vector<EditorPackage>> packages = SchemasFor(load.packages, app.get());
  app->Close(nullptr);
  DAVIT_TRY(const std::vector<EditorPackage> schemas, std::move(packages));
  const std::string text = EditorSchema(schemas);
  const std::string& out = context.invocation().Text("out");
  if (out.empty()) {
    context.Out(text);
  } else {
    DAVIT_TRY_VOID(ReplaceFile((std::filesystem::path(context.directory()) / out).string(), text));
  }
  return kExitOk;
}

}  // namespace davit
