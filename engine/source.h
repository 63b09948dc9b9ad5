#pragma once
// Seams: the program (Source) and what a running deployment offers it (Monitor). YAML programs call
// Monitor in the process; host/server puts the same interface on a socket for language hosts.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/autonaming.h"
#include "engine/base/cancel.h"
#include "engine/base/result.h"
#include "engine/base/task.h"
#include "engine/callbacks.h"
#include "engine/model/goal.h"
#include "engine/model/snapshot.h"
#include "engine/provider.h"

namespace davit {

enum class RegisterResult { kSuccess = 0, kFail = 1, kSkip = 2 };

struct RegisterResponse {
  Urn urn;
  std::string id;  ///< empty for components and in previews of creates; for providers kUnknownId then
  PropertyMap outputs;
  /// What each output comes from; of remote components only (P102).
  std::map<std::string, std::vector<Urn>> property_dependencies;
  bool unknown = false;  ///< the create was elided: every output is unknown (E31)
  RegisterResult result = RegisterResult::kSuccess;
};

/// A package that a program declares by name, version, URL and parameters (E175).
struct PackageDescriptor {
  std::string name;
  std::string version;
  std::string download_url;
  std::map<std::string, std::string> checksums;
  std::optional<Parameterization> parameterization;
  /// What the package adds to the provider of `name` (E177); not together with `parameterization`.
  std::optional<Parameterization> extension;
};

struct ReadGoal {
  std::string type;
  std::string name;
  std::string id;
  Urn parent;
  PropertyMap properties;
  std::vector<Urn> dependencies;
  std::string provider;  ///< reference, empty: default
  std::string version;
  std::string download_url;
  std::string package_ref;
  std::vector<std::string> additional_secret_outputs;
  std::string source_position;
};

struct InvokeGoal {
  std::string token;
  PropertyMap args;
  std::string provider;
  std::string version;
  std::string download_url;
  std::string package_ref;
  Urn parent;
  std::vector<Urn> depends_on;
};
struct InvokeOutcome {
  PropertyMap result;
  std::vector<CheckFailure> failures;
  bool unknown =
      false;  ///< not called, because something it depends on is still to be created (E117)
};

/// A method of a component or provider (E182).
struct CallGoal {
  std::string token;
  PropertyMap args;  ///< `__self__` names the object
  std::map<std::string, std::vector<Urn>> arg_dependencies;
  std::string provider;
  std::string version;
  std::string download_url;
  std::string package_ref;
  std::vector<std::string> stack_trace;
  std::string parent_stack_trace_handle;  ///< P107
};

enum class Severity { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3, kInfoToStderr = 4 };

/// What a program may ask of a running deployment. Engine thread. Registrations fail with
/// Error::reported set when the engine has shown the reason already; the program then just ends.
class Monitor {
 public:
  virtual ~Monitor() = default;
  virtual Task<Result<RegisterResponse>> RegisterResource(Goal goal) = 0;
  /// A registration with transforms of its own (E184). An error of a transform is not reported: it
  /// fails this registration only.
  virtual Task<Result<RegisterResponse>> RegisterTransformed(Goal goal,
                                                             std::vector<Transform> transforms) = 0;
  virtual Task<Result<void>> RegisterOutputs(Urn urn, PropertyMap outputs) = 0;
  virtual Task<Result<RegisterResponse>> ReadResource(ReadGoal goal) = 0;
  /// Whether the object is there, which is not recorded; absent: nobody can tell yet (E219). The
  /// goal has no name.
  virtual Task<Result<std::optional<bool>>> ExistsResource(ReadGoal) {
    co_return Fail(ErrorKind::kUnimplemented, "objects cannot be looked for in this run");
  }
  virtual Task<Result<InvokeOutcome>> Invoke(InvokeGoal goal) = 0;
  virtual Task<Result<CallResponse>> Call(CallGoal goal) = 0;
  /// For all later registrations, in the order in which they come (E184).
  virtual void RegisterStackTransform(Transform transform) = 0;
  virtual void RegisterStackInvokeTransform(InvokeTransform transform) = 0;
  /// Names are unique (E187).
  virtual Result<void> RegisterHook(Hook hook) = 0;
  /// Gives the reference that later goals carry as `package_ref`.
  virtual Task<Result<std::string>> RegisterPackage(PackageDescriptor package) = 0;
  /// The package's schema as JSON text, from the process that will serve its resources.
  virtual Task<Result<std::string>> GetSchema(PackageDescriptor package) = 0;
  /// A message for the user; `urn` may be empty; `where` is shown with it.
  virtual void Log(Severity severity, const std::string& message, const Urn& urn) = 0;
  /// Shows an error of the program as a diagnostic (E12).
  virtual void Report(const Error& error) = 0;
};

/// One configuration value as programs get it: raw text, objects as JSON (S105).
struct ConfigValue {
  std::string text;
  bool is_secret = false;
  bool is_object = false;
};

struct RunInfo {
  std::string organization = "organization";
  std::string project;
  std::string stack;
  std::string root_directory;                 ///< directory of the project file, absolute
  std::string program_directory;              ///< absolute
  std::map<std::string, ConfigValue> config;  ///< `namespace:name`, decrypted
  Autonaming autonaming;                      ///< what `pulumi:autonaming` among them says (E73)
  bool preview = false;
  int parallel = 1;
};

/// A Monitor on a socket. Close must be awaited before destruction.
class MonitorEndpoint {
 public:
  virtual ~MonitorEndpoint() = default;
  /// `127.0.0.1:port`
  virtual const std::string& address() const = 0;
  /// Pending and new calls get Unavailable (P92).
  virtual Task<void> Close() = 0;
};

/// Puts the Monitor of a run on a socket, for plugins that register resources (E181, E182).
class MonitorHost {
 public:
  virtual ~MonitorHost() = default;
  /// `monitor` outlives the endpoint.
  virtual Result<std::unique_ptr<MonitorEndpoint>> Serve(Monitor& monitor, RunInfo info) = 0;
};

/// The state of stacks, for stack references (E195, E197).
class StackReader {
 public:
  virtual ~StackReader() = default;
  /// `name` as programs write it, such as `organization/project/stack`. Its state as stored; an
  /// error that names it when there is no such stack.
  virtual Task<Result<Snapshot>> Read(std::string name) = 0;
};

/// A program. For each run Prepare, then Run, then Finish are called, the latter whatever became of
/// Run. An error with `reported` set is a bail.
class Source {
 public:
  virtual ~Source() = default;
  /// Starts what runs the program; RequiredPackages is known afterwards.
  virtual Task<Result<void>> Prepare(CancelToken) { co_return Result<void>(); }
  /// The packages that the program says it needs, with versions and URLs as far as it names any;
  /// default providers take from here what their resources leave out (E171).
  virtual std::vector<PackageDescriptor> RequiredPackages() const { return {}; }
  /// Completes when every registration is answered and none will follow. `monitor` and `info`
  /// outlive Finish.
  virtual Task<Result<void>> Run(Monitor& monitor, const RunInfo& info, CancelToken cancel) = 0;
  /// All steps are done, so the hooks of the program are not needed any more (P106). Completes when
  /// the program has ended.
  virtual Task<Result<void>> Finish() { co_return Result<void>(); }
};

}  // namespace davit
