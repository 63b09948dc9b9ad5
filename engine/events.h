#pragma once
// Seam: what happens in a deployment, as typed events for displays and machine output (E216,
// C130-C139). Engine thread.

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/analyzer.h"
#include "engine/provider.h"
#include "engine/source.h"

namespace davit {

/// E6, in the order in which summaries list them (C91).
enum class StepOp {
  kSame,
  kCreate,
  kUpdate,
  kDelete,
  kReplace,
  kCreateReplacement,
  kDeleteReplaced,
  kRead,
  kReadReplacement,
  kRefresh,
  kDiscard,
  kDiscardReplaced,
  kRemovePendingReplace,
  kImport,
  kImportReplacement,
  kExtendParameterize,  ///< of no resource (E180)
};
/// `same`, `create-replacement`, ... (E6).
std::string_view StepOpName(StepOp op);
/// Whether the step counts in the summary (E7).
bool IsLogical(StepOp op);

/// What an event says about its step (C133). Old and new are shared records; secrets in them are
/// masked by the writers.
struct StepMetadata {
  StepOp op = StepOp::kSame;
  Urn urn;
  std::string type;
  StatePtr old_state;
  StatePtr new_state;
  std::vector<std::string> keys;   ///< names that force the replacement
  std::vector<std::string> diffs;  ///< names that differ
  std::optional<std::map<std::string, PropertyDiff>> detailed_diff;
  std::string provider;
  bool is_internal = false;  ///< left out of displays and --json (C137, E40)
  bool is_retained = false;  ///< will be left behind by retainOnDelete (C94)
};

struct PreludeEvent {
  std::map<std::string, std::string> config;  ///< secrets already masked
};
/// A step is planned (and, in an update, begins).
struct ResourcePreEvent {
  StepMetadata metadata;
  bool planning = false;
};
/// A step is done; for components again when their outputs are registered.
struct ResourceOutputsEvent {
  StepMetadata metadata;
  bool planning = false;
};
enum class OperationStatus { kOk = 0, kPartialFailure = 1, kUnknown = 2 };
struct ResourceFailedEvent {
  StepMetadata metadata;
  OperationStatus status = OperationStatus::kOk;
  int steps = 0;
};
struct DiagnosticEvent {
  Severity severity = Severity::kInfo;
  std::string urn;  ///< may be empty
  std::string message;
  int code = 0;
  int stream_id = 0;
  bool ephemeral = false;
  std::optional<SourceRange> where;
};
/// A policy pack is about to be loaded.
struct PolicyLoadEvent {};
/// A policy is violated.
struct PolicyViolationEvent {
  Urn urn;  ///< the root stack when the whole stack was judged
  PolicyViolation violation;
};
/// A policy has changed the inputs of a resource.
struct PolicyRemediationEvent {
  Urn urn;
  std::string policy;
  std::string pack;
  std::string pack_version;
  PropertyMap before;
  PropertyMap after;
};
/// Which policies of a pack a resource, or the stack, has passed.
struct PolicySummaryEvent {
  enum class Of { kAnalysis, kRemediation, kStack };
  Of of = Of::kAnalysis;
  Urn urn;  ///< empty for the stack
  std::string pack;
  std::string pack_version;
  std::vector<std::string> passed;
  std::vector<std::string> failed;
};
enum class DeploymentResultKind { kSucceeded, kFailed, kCancelled };
struct SummaryEvent {
  bool maybe_corrupt = false;
  std::chrono::nanoseconds duration{};
  std::map<StepOp, int>
      changes;         ///< logical steps only; the root stack included, default providers not
  int old_copies = 0;  ///< deletes of copies that earlier runs left, not among `changes` (B018)
  bool is_preview = false;
  DeploymentResultKind result = DeploymentResultKind::kSucceeded;
  std::vector<PolicyPack> policy_packs;  ///< those that judged
};
struct StdoutEvent {
  std::string message;
};
struct CancelEvent {};

using Event = std::variant<PreludeEvent,
                           ResourcePreEvent,
                           ResourceOutputsEvent,
                           ResourceFailedEvent,
                           DiagnosticEvent,
                           PolicyLoadEvent,
                           PolicyViolationEvent,
                           PolicyRemediationEvent,
                           PolicySummaryEvent,
                           SummaryEvent,
                           StdoutEvent,
                           CancelEvent>;

class EventSink {
 public:
  virtual ~EventSink() = default;
  /// Takes one event; must not block on anything but local output.
  virtual void Emit(const Event& event, std::chrono::system_clock::time_point when) = 0;
};

}  // namespace davit
