#pragma once
// What the parts of one run share: the state before and what has happened so far. Engine thread.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/base/waiting.h"
#include "engine/deployment.h"
#include "engine/model/snapshot_guard.h"
#include "engine/plan/aliases.h"
#include "engine/plan/plan_guard.h"
#include "engine/plan/plan_recorder.h"
#include "engine/plan/record_graph.h"
#include "engine/plan/targets.h"
#include "engine/run/provider_registry.h"
#include "engine/run/reporter.h"

namespace davit {

/// One of the operations that may be in flight (E16); free at the latest when destroyed.
class WorkerSlot {
 public:
  WorkerSlot() = default;
  explicit WorkerSlot(Semaphore& workers) : workers_(&workers) {}
  WorkerSlot(WorkerSlot&& other) noexcept : workers_(std::exchange(other.workers_, nullptr)) {}
  WorkerSlot& operator=(WorkerSlot&&) = delete;
  ~WorkerSlot() { Free(); }
  void Free() {
    if (workers_ != nullptr) {
      std::exchange(workers_, nullptr)->Release();
    }
  }

 private:
  Semaphore* workers_ = nullptr;
};

struct RunContext {
  RunContext(Loop& loop_in, DeploymentRequest& request_in)
      : loop(loop_in),
        request(request_in),
        preview(request_in.options.preview),
        selection(TargetList(request_in.options.targets),
                  request_in.options.target_dependents,
                  TargetList(request_in.options.excludes),
                  request_in.options.exclude_dependents),
        forced(request_in.options.replaces),
        reporter(loop_in, *request_in.events, request_in.options.preview),
        providers(request_in.pool, request_in.options.preview, CancelToken()),
        workers(request_in.options.parallel < 1 ? 1 : request_in.options.parallel),
        guard(request_in.base),
        plan_guard(request_in.plan),
        plan_recorder(request_in.makes_plan),
        extensions(request_in.base.extensions) {}

  Loop& loop;
  DeploymentRequest& request;
  const bool preview;
  Selection selection;
  TargetList forced;  ///< `--replace` (E128)
  Reporter reporter;
  ProviderRegistry providers;
  Semaphore workers;  ///< operations in flight (E16)
  /// Waits for a worker.
  Task<WorkerSlot> AcquireWorker();
  SnapshotGuard guard;
  PlanGuard plan_guard;        ///< the plan that the run is held to (E211)
  PlanRecorder plan_recorder;  ///< the plan that the run makes (E198)

  // --- the state before

  std::vector<StatePtr> base;
  std::unordered_map<Urn, std::size_t> old_by_urn;             ///< records without `delete`
  std::unordered_map<std::string, std::size_t> old_providers;  ///< by reference text
  std::unordered_map<const ResourceState*, std::int64_t> base_index;
  std::optional<RecordGraph> graph;
  std::map<std::string, Extension> extensions;  ///< of the state and of the program (E178)
  /// Extensions that registrations have asked for in this run.
  std::set<std::pair<const ProviderInstance*, std::string>> extended;
  /// The views of a record, by the record; those of the state before and those of this run (E194).
  std::unordered_map<const ResourceState*, std::vector<StatePtr>> views_of;
  /// Views that a refresh of the state found, in the order of their entries.
  std::vector<StatePtr> found_views;
  /// Views of the state before whose owner is not there.
  std::unordered_set<const ResourceState*> lost_views;
  /// Takes over a list of records as the state before.
  void SetBase(std::vector<StatePtr> records);
  /// Fills `views_of` and `lost_views` from the base's records at these places.
  void FindViews(const std::vector<std::size_t>& views);
  /// The old record of a URN, or null.
  StatePtr Old(const Urn& urn) const;
  /// The old record of a provider reference, or null.
  StatePtr OldProvider(const std::string& reference) const;
  const RecordGraph& Graph();

  // --- what has happened in this run

  AliasTable aliases;
  std::unordered_set<Urn> seen;  ///< registered, read or carried forward (E43, E45)
  std::unordered_set<Urn>
      carried_forward;  ///< of these, those that no registration has asked for (E132)
  std::unordered_map<Urn, StatePtr> news;  ///< records as they are now
  std::vector<Urn> news_order;  ///< keys of `news` in the order in which they came (E203)
  std::unordered_map<Urn, StatePtr> matched;  ///< the old record that a registration found (E49)
  std::unordered_set<const ResourceState*>
      claimed;  ///< old records that a registration or a carry took over
  /// Operation that added a record, for records that a later step of this run changes or removes.
  std::unordered_map<const ResourceState*, std::int64_t> added_by;
  /// What a refresh found, by the base record that it was; null: the object is gone (E148).
  std::unordered_map<const ResourceState*, StatePtr> refreshed;
  /// The base record that a refreshed one stands for.
  std::unordered_map<const ResourceState*, const ResourceState*> origin;
  /// Chains in flight under a selection, by the URNs of their steps.
  std::unordered_map<Urn, std::shared_ptr<Gate>> chains;
  std::unordered_map<Urn, StepOp> logical_op;  ///< what was done to it, for RegisterOutputs
  std::unordered_set<Urn> replaced;            ///< being replaced in this run (E85, E86)
  std::unordered_map<Urn, bool> delete_before_replace;  ///< the option, for policies (E109)
  std::unordered_set<Urn> made;                         ///< created or replaced in this run (E101)
  std::unordered_set<Urn> skipped_creates;              ///< D9
  std::unordered_set<Urn> untargeted;                   ///< registered and kept as they are (E126)
  std::unordered_set<Urn> failed_or_skipped;            ///< under continue-on-error (E30)
  std::unordered_set<Urn> deleted;  ///< old URNs whose delete is planned or done (E99, E102)
  /// Deleted by somebody's delete-before-replace; the keys that its own diff gave (D1, E90).
  std::unordered_map<Urn, std::vector<std::string>> deleted_first;
  std::unordered_set<const ResourceState*>
      deleted_records;  ///< old records whose delete is planned
  /// Old records that a create-first replacement condemned.
  std::unordered_set<const ResourceState*> marked_records;
  std::vector<StatePtr> failed_olds;         ///< old records of failed steps (E30)
  std::optional<PropertyMap> stack_outputs;  ///< as the program gave them (E23)
  Urn root_stack;
  std::map<std::string, std::shared_ptr<const Hook>> hooks;  ///< by name (E187)

  // --- how it stands

  bool step_failed = false;  ///< some step failed; one more error is reported at the end (E215)
  bool generator_failed = false;  ///< E37: a registration was refused
  bool program_failed = false;
  bool recorded_error = false;  ///< preview: an error that does not stop it (E37)
  bool cancelled = false;
  bool maybe_corrupt = false;
  std::int64_t last_operation = 0;

  /// No further step may begin (E29, E30, E35).
  bool stopped() const {
    return (step_failed && !request.options.continue_on_error) || generator_failed || cancelled;
  }
  bool failed() const {
    return step_failed || generator_failed || program_failed || recorded_error;
  }
  /// The base record behind an old record, itself unless a refresh replaced it (E148).
  const ResourceState* BaseOf(const StatePtr& old_state) const;
  /// The reference under which a provider is known now: its URN may have been renamed (E51).
  std::string CurrentProvider(const std::string& reference) const;
  /// The provider of a reference of an old record, live or loaded from the state (E95, E168).
  Task<Result<InstancePtr>> EnsureProvider(std::string reference);
  /// Whether the program was meant to make nothing new: refresh and destroy (E149, E153).
  bool makes_nothing() const { return request.options.mode != DeploymentMode::kUpdate; }
  /// Judges an entry and makes it durable; one that would make the state invalid is a failure, and
  /// is not written. Previews write nothing (E110) and report what is wrong (E214).
  Task<Result<void>> Write(JournalEntry entry);
};

/// The error with which registrations end that the run no longer serves (E29).
Error StoppedError();

}  // namespace davit
