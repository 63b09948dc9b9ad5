#pragma once
// The composition root: builds the parts of a deployment, runs deployments one after the other on
// this thread (which is the engine thread), and takes everything down again. Order of building:
// loop, pool, engine server, plugin host, provider pool; of ending: providers, server, pool.

#include <functional>
#include <memory>
#include <string>

#include "cli/context.h"
#include "cli/display/findings.h"
#include "cli/workspace/workspace.h"
#include "engine/deployment.h"
#include "host/client/analyzer_client.h"
#include "host/plugin/discovery.h"

namespace davit {

struct AppOptions {
  const Context* context = nullptr;
  const Workspace* workspace = nullptr;
  std::map<std::string, ConfigValue> config;
  std::vector<ProjectPlugin> plugins;  ///< found before all others
  std::function<void()> abandon;       ///< called when a second interrupt ends the process at once
};

/// Where plugins of a project are looked for (P5, P6).
Result<DiscoveryOptions> DiscoveryFor(const Context& context, const Workspace& workspace);

struct RunRequest {
  DeploymentOptions options;
  RunInfo info;
  Snapshot base;
  Source* source = nullptr;
  Journal* journal = nullptr;  ///< null: nothing is kept (a preview)
  EventSink* events = nullptr;
  const UpdatePlan* plan = nullptr;  ///< what the run is held to; null: nothing
  bool makes_plan = false;
  const std::vector<ImportSpec>* imports = nullptr;  ///< of an import
  std::vector<PolicyPackSpec> policy_packs;          ///< which judge the run (E109)
  StackReader* stacks = nullptr;                     ///< for stack references
  /// Called about ten times a second while the run lasts.
  std::function<void(std::chrono::system_clock::time_point)> tick;
};

class App {
 public:
  static Result<std::unique_ptr<App>> Create(AppOptions options);
  /// Close must have been called.
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  /// The project's program, run by a language host that is started when the program is prepared.
  /// The app outlives it.
  std::unique_ptr<Source> LanguageProgram(const Workspace& workspace);
  /// What the program of a project says it needs (P117); its language host is started for that.
  Result<std::vector<PackageDescriptor>> RequiredPackages(const Workspace& workspace);
  /// The schema of a package (P108), as its provider gives it.
  Result<std::string> SchemaOf(const PackageDescriptor& package);
  /// Begins to load the providers that a program names.
  void Preload(const std::vector<PackageDescriptor>& packages);
  /// Checks a program against the schemas of its packages; nothing else happens, and providers are
  /// started only for schemas that are not on disk yet.
  Result<Findings> Check(const ProgramLoad& load, const RunInfo& info);
  /// Runs one deployment to its end. Messages of plugins become events of it.
  Result<DeploymentResult> Run(RunRequest request);
  /// Ends all providers and servers. What providers say meanwhile goes to `events`, which may be
  /// null.
  void Close(EventSink* events);

  Loop& loop();
  /// Runs blocking work off the engine thread, for the journal.
  std::function<void(std::function<void()>)> Worker();
  /// The user has interrupted the run.
  bool is_cancelled() const;

 private:
  struct Parts;
  explicit App(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace davit
