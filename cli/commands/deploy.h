#pragma once
// One `up`, `preview`, `destroy`, `refresh` or `import`: what it was asked for, and its parts in
// order. Used by deploy.cc alone.

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/commands/deploy_flags.h"
#include "cli/commands/import.h"
#include "cli/commands/run_output.h"
#include "cli/session.h"
#include "cli/workspace/effective_config.h"

namespace davit {

class DeployCommand {
 public:
  DeployCommand(Context& context, DeployFlags flags)
      : context_(context), flags_(std::move(flags)) {}
  /// Holds the stack's lock through preview and question when it may change something.
  Result<int> Run();

 private:
  Result<void> Open();
  Result<void> SetGivenConfig();
  Result<void> LoadState();
  Result<std::optional<int>> CheckOptions();
  Result<void> SettlePending();
  Result<void> LoadConfig();
  Result<void> LoadProgram();
  Result<void> PrepareSecrets();
  Result<int> RunBoth();
  Result<DeploymentResult> RunOne(bool is_preview, RunOutput& output);
  Result<std::optional<int>> Preview();
  Result<int> Change();
  Result<bool> Approved(const RunOutput& preview);
  Result<void> NeedManagerFor(bool has_secrets);
  Result<void> LoadPlan();
  Result<void> SavePlan(UpdatePlan plan, bool has_secrets);
  int ExitOf(const DeploymentResult& result, bool is_preview) const;
  DisplayOptions DisplayFor(bool is_preview) const;
  Result<void> AfterDestroy();
  /// Whether davit evaluates the program itself; otherwise a language host runs it (P112).
  bool IsYaml() const { return session_->workspace.project().runtime == "yaml"; }
  DeploymentMode mode() const { return flags_.options.mode; }

  Context& context_;
  DeployFlags flags_;
  std::optional<StackSession> session_;
  std::unique_ptr<StackLock> lock_;
  bool has_settled_ = false;  ///< the state was edited and is not stored yet
  LoadedStack state_;
  std::shared_ptr<SecretsManager> manager_;
  EffectiveConfig effective_config_;
  std::map<std::string, ConfigValue> config_;
  ImportOrder imports_;
  std::optional<UpdatePlan> plan_;  ///< what the runs are held to (E211)
  std::unique_ptr<EventLog> log_;
  std::unique_ptr<App> app_;
  std::unique_ptr<Source> source_;
  std::vector<PackageDescriptor> packages_;
  std::future<Result<void>> verified_;
};

}  // namespace davit
