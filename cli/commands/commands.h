#pragma once
// The commands. Each gives the exit status, or the error that ends it.

#include "cli/context.h"
#include "engine/base/result.h"

namespace davit {

Result<int> RunUp(Context& context);
Result<int> RunPreview(Context& context);
Result<int> RunDestroy(Context& context);
Result<int> RunRefresh(Context& context);
Result<int> RunImportCommand(Context& context);
Result<int> RunCheck(Context& context);
Result<int> WriteEditorSchema(Context& context);

Result<int> ShowStack(Context& context);
Result<int> InitStack(Context& context);
Result<int> ListStacks(Context& context);
Result<int> SelectStack(Context& context);
Result<int> UnselectStack(Context& context);
Result<int> RemoveStack(Context& context);
Result<int> RenameStack(Context& context);
Result<int> CancelStack(Context& context);
Result<int> ShowOutputs(Context& context);
Result<int> ExportStack(Context& context);
Result<int> ImportStack(Context& context);
Result<int> ListTags(Context& context);
Result<int> GetTag(Context& context);
Result<int> SetTag(Context& context);
Result<int> RemoveTag(Context& context);
Result<int> DrawStack(Context& context);
Result<int> ShowHistory(Context& context);
Result<int> ChangeSecretsProvider(Context& context);

Result<int> ListConfig(Context& context);
Result<int> GetConfig(Context& context);
Result<int> SetConfig(Context& context);
Result<int> RemoveConfig(Context& context);
Result<int> SetAllConfig(Context& context);
Result<int> RemoveAllConfig(Context& context);
Result<int> CopyConfigCommand(Context& context);
Result<int> RefreshConfig(Context& context);

Result<int> DeleteState(Context& context);
Result<int> RenameState(Context& context);
Result<int> ProtectState(Context& context);
Result<int> UnprotectState(Context& context);
Result<int> TaintState(Context& context);
Result<int> UntaintState(Context& context);
Result<int> GetState(Context& context);
Result<int> MoveState(Context& context);
Result<int> RepairState(Context& context);
Result<int> EditStateByHand(Context& context);
Result<int> UpgradeState(Context& context);

Result<int> ShowUser(Context& context);
Result<int> ShowAbout(Context& context);
Result<int> ShowVariables(Context& context);

Result<int> InstallPlugins(Context& context);
Result<int> ListPluginsCommand(Context& context);
Result<int> RemovePlugins(Context& context);
Result<int> InstallProject(Context& context);
Result<int> ListProviders(Context& context);
Result<int> GetPackageSchema(Context& context);
Result<int> ShowPackage(Context& context);

/// Reads the words of the command line and runs what they name. Never throws.
int RunCommandLine(const std::vector<std::string>& words,
                   const Environment& environment,
                   const std::string& program);

}  // namespace davit
