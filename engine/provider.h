#pragma once
// Seam: provider plugins as the engine uses them. Implemented over gRPC in host/client; scripted in
// tests. Each method is one RPC of plugins.md section 5 with its codec rules (P69); secrets are
// re-attached and negotiated features honoured by the implementation. All methods: engine thread,
// cancellable; after an error of kind
//   kFailed          the provider says that nothing changed,
//   kOutcomeUnknown  the remote state is not known (E8),
//   kUnimplemented   the provider does not offer the call,
//   kUnavailable     the process or the connection died; the message names exit status and last
//   output (P35).

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/cancel.h"
#include "engine/base/result.h"
#include "engine/base/task.h"
#include "engine/model/goal.h"
#include "engine/value/property_value.h"

namespace davit {

struct RunInfo;

struct CheckFailure {
  std::string property;
  std::string reason;
};

/// What Check is to do about a name that the program does not give (E73).
struct AutonamingOptions {
  enum class Mode { kPropose, kEnforce, kDisable };
  std::string proposed_name;
  Mode mode = Mode::kPropose;
};

struct CheckRequest {
  Urn urn;
  PropertyMap olds;         ///< old inputs, empty when there is no prior state (P70)
  PropertyMap old_outputs;  ///< old outputs, likewise; CheckConfig does not send them
  PropertyMap news;
  bool allow_unknowns = false;
  std::string random_seed;
  std::optional<AutonamingOptions> autonaming;  ///< only for providers that support it
};
struct CheckResponse {
  PropertyMap inputs;
  std::vector<CheckFailure> failures;
};

/// Kinds of a detailed diff entry, in wire order (P79).
enum class DiffKind {
  kAdd = 0,
  kAddReplace = 1,
  kDelete = 2,
  kDeleteReplace = 3,
  kUpdate = 4,
  kUpdateReplace = 5
};
/// `add`, `add-replace`, ... (C134).
std::string_view DiffKindName(DiffKind kind);
inline bool IsReplace(DiffKind kind) {
  return static_cast<int>(kind) % 2 == 1;
}
struct PropertyDiff {
  DiffKind kind = DiffKind::kUpdate;
  bool input_diff = false;
  friend bool operator==(const PropertyDiff&, const PropertyDiff&) = default;
};
enum class DiffChanges { kUnknown = 0, kNone = 1, kSome = 2 };

struct DiffRequest {
  std::string id;
  Urn urn;
  PropertyMap old_inputs;
  PropertyMap old_outputs;
  PropertyMap new_inputs;
  std::vector<std::string> ignore_changes;
  bool allow_unknowns = false;
};
struct DiffResponse {
  DiffChanges changes = DiffChanges::kUnknown;
  std::vector<std::string> replaces;
  std::vector<std::string> stables;
  std::vector<std::string> diffs;
  bool delete_before_replace = false;
  /// Absent when the provider gave none (E83). Keyed by property path text.
  std::optional<std::map<std::string, PropertyDiff>> detailed;
};

struct ConfigureRequest {
  Urn urn;
  std::string id;
  PropertyMap inputs;  ///< checked inputs without `__internal`
};

/// A part of a resource that its provider manages (E194).
struct View {
  std::string type;
  std::string name;
  PropertyMap inputs;
  PropertyMap outputs;
};

struct CreateRequest {
  Urn urn;
  PropertyMap inputs;
  double timeout_seconds = 0;
  bool preview = false;
  std::string status_token;  ///< resource status token; empty when none
};
/// Create and Update may succeed only in part (E34): then `init_errors` is not empty.
struct CreateResponse {
  std::string id;
  PropertyMap outputs;
  bool refresh_before_update = false;
  std::vector<std::string> init_errors;
};

struct UpdateRequest {
  std::string id;
  Urn urn;
  PropertyMap old_inputs;
  PropertyMap old_outputs;
  PropertyMap new_inputs;
  std::vector<std::string> ignore_changes;
  double timeout_seconds = 0;
  bool preview = false;
  std::string status_token;
  std::vector<View> old_views;
};
struct UpdateResponse {
  PropertyMap outputs;
  bool refresh_before_update = false;
  std::vector<std::string> init_errors;
};

struct ReadRequest {
  std::string id;
  Urn urn;
  PropertyMap inputs;
  PropertyMap state;
  bool send_inputs = true;  ///< false for an import: neither inputs nor state are sent (P81)
  double timeout_seconds = 0;
  std::string status_token;
  std::vector<View> old_views;
};
struct ReadResponse {
  std::string id;                      ///< empty: the resource is gone
  std::optional<PropertyMap> outputs;  ///< absent: does not exist
  std::optional<PropertyMap> inputs;   ///< absent: the provider gave none
  bool refresh_before_update = false;
  std::vector<std::string> init_errors;
};

struct DeleteRequest {
  std::string id;
  Urn urn;
  PropertyMap inputs;
  PropertyMap outputs;
  double timeout_seconds = 0;
  std::string status_token;
  std::vector<View> old_views;
};

struct InvokeRequest {
  std::string token;
  PropertyMap args;
  bool preview = false;
};
struct InvokeResponse {
  PropertyMap result;
  std::vector<CheckFailure> failures;
};

/// What a plugin that registers resources is told of the run (P83, P85).
struct RunSurroundings {
  const RunInfo* info = nullptr;    ///< outlives the call
  std::string monitor_address;      ///< where it registers resources
  std::string stack_trace_handle;   ///< to be quoted in its registrations (P107)
};

struct CallRequest {
  std::string token;
  PropertyMap args;
  std::map<std::string, std::vector<Urn>> arg_dependencies;
  bool preview = false;
  RunSurroundings run;
};
struct CallResponse {
  PropertyMap result;
  std::map<std::string, std::vector<Urn>> dependencies;
  std::vector<CheckFailure> failures;
};

/// A component to build (P83): the goal, its type and provider resolved.
struct ConstructRequest {
  Goal goal;
  RunSurroundings run;
};
struct ConstructResponse {
  Urn urn;
  PropertyMap state;
  std::map<std::string, std::vector<Urn>> state_dependencies;  ///< with those of output values (P84)
};

struct Parameterization {
  std::string name;
  std::string version;
  std::string value;  ///< raw bytes
  friend auto operator<=>(const Parameterization&, const Parameterization&) = default;
};

/// What to load: name (the plugin's), and as far as known version, download URL, checksums (os-arch
/// -> hex).
struct PluginSpec {
  std::string name;
  std::string version;
  std::string download_url;
  std::map<std::string, std::string> checksums;
  std::optional<Parameterization> parameterization;
  std::map<std::string, std::string> env_var_mappings;  ///< NEW -> OLD (P46)
};

/// One provider process. Before Configure only schema, parameters and configuration checks may be
/// asked for.
class Provider {
 public:
  virtual ~Provider() = default;

  /// Version that the plugin reports; may be empty.
  virtual const std::string& version() const = 0;
  /// Whether the process still runs, as far as is known.
  virtual bool is_alive() const = 0;
  /// Whether unknowns may be sent to Create and Update in a preview (E111); valid after Configure.
  virtual bool supports_preview() const = 0;
  /// Whether Check takes autonaming options (E73); valid after Configure.
  virtual bool supports_autonaming() const { return false; }

  /// The package schema as JSON text.
  virtual Task<Result<std::string>> GetSchema(CancelToken cancel) = 0;
  virtual Task<Result<CheckResponse>> CheckConfig(CheckRequest request, CancelToken cancel) = 0;
  virtual Task<Result<DiffResponse>> DiffConfig(DiffRequest request, CancelToken cancel) = 0;
  virtual Task<Result<void>> Configure(ConfigureRequest request, CancelToken cancel) = 0;

  /// Adds the types of an extension package to those of the provider (E180).
  virtual Task<Result<void>> Extend(Parameterization value, CancelToken cancel) = 0;
  virtual Task<Result<CheckResponse>> Check(CheckRequest request, CancelToken cancel) = 0;
  virtual Task<Result<DiffResponse>> Diff(DiffRequest request, CancelToken cancel) = 0;
  virtual Task<Result<CreateResponse>> Create(CreateRequest request, CancelToken cancel) = 0;
  virtual Task<Result<UpdateResponse>> Update(UpdateRequest request, CancelToken cancel) = 0;
  virtual Task<Result<ReadResponse>> Read(ReadRequest request, CancelToken cancel) = 0;
  virtual Task<Result<void>> Delete(DeleteRequest request, CancelToken cancel) = 0;
  virtual Task<Result<InvokeResponse>> Invoke(InvokeRequest request, CancelToken cancel) = 0;
  virtual Task<Result<CallResponse>> Call(CallRequest request, CancelToken cancel) = 0;
  /// Builds a component (E181). The provider registers it and its parts through the monitor while
  /// this call runs. Refused when the provider cannot keep secrets (P74).
  virtual Task<Result<ConstructResponse>> Construct(ConstructRequest request,
                                                    CancelToken cancel) = 0;

  /// Asks the provider to abandon what it is doing (P34); unimplemented counts as done.
  virtual Task<Result<void>> Cancel() = 0;
  /// Ends the process by P33. The object is of no further use.
  virtual Task<void> Close() = 0;
};

/// Starts providers: discovery, launch, Handshake, Attach, GetPluginInfo, Parameterize (P1-P45).
class PluginHost {
 public:
  virtual ~PluginHost() = default;
  virtual Task<Result<std::shared_ptr<Provider>>> LoadProvider(PluginSpec spec,
                                                               CancelToken cancel) = 0;
};

}  // namespace davit
