#pragma once
// What the parts of one run share: the state before and what has happened so far. Engine thread.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/deployment.h"
#include "engine/plan/record_graph.h"
#include "engine/plan/targets.h"
#include "engine/run/provider_registry.h"
#include "engine/run/reporter.h"

namespace davit {

struct RunContext {
  RunContext(Loop& loop_in, DeploymentRequest& request_in)
      : loop(loop_in),
        request(request_in),
        preview(request_in.options.preview),
        targets(request_in.options.targets),
        reporter(loop_in, *request_in.events, request_in.options.preview),
        providers(request_in.pool, request_in.options.preview, CancelToken()),
        workers(request_in.options.parallel < 1 ? 1 : request_in.options.parallel) {}

  Loop& loop;
  DeploymentRequest& request;
  const bool preview;
  TargetList targets;
  Reporter reporter;
  ProviderRegistry providers;
  Semaphore workers;  ///< operations in flight (E16)

  // --- the state before

  std::vector<StatePtr> base;
  std::unordered_map<Urn, std::size_t> old_by_urn;             ///< records without `delete`
  std::unordered_map<std::string, std::size_t> old_providers;  ///< by reference text
  std::unordered_map<const ResourceState*, std::int64_t> base_index;
  std::optional<RecordGraph> graph;
  /// Takes over a list of records as the state before.
  void SetBase(std::vector<StatePtr> records);
  /// The old record of a URN, or null (E49).
  StatePtr Old(const Urn& urn) const;
  /// The old record of a provider reference, or null.
  StatePtr OldProvider(const std::string& reference) const;
  const RecordGraph& Graph();

  // --- what has happened in this run

  std::unordered_set<Urn> seen;                    ///< registered or read (E45)
  std::unordered_map<Urn, StatePtr> news;          ///< records as they are now
  std::unordered_map<Urn, std::int64_t> added_by;  ///< operation that added the record
  std::unordered_map<Urn, StepOp> logical_op;      ///< what was done to it, for RegisterOutputs
  std::unordered_set<Urn> replaced;                ///< being replaced in this run (E85, E86)
  std::unordered_set<Urn> skipped_creates;         ///< D9
  std::unordered_set<Urn> deleted;  ///< URNs whose delete is planned or done (E99, E102)
  /// Deleted by somebody's delete-before-replace; the keys that its own diff gave (D1, E90).
  std::unordered_map<Urn, std::vector<std::string>> deleted_first;
  std::unordered_set<const ResourceState*>
      deleted_records;  ///< base records whose delete is planned
  std::unordered_set<const ResourceState*>
      marked_records;  ///< base records that a create-first replacement condemned
  std::optional<PropertyMap> stack_outputs;  ///< as the program gave them (E23)
  Urn root_stack;

  // --- how it stands

  bool step_failed = false;  ///< some step failed; one more error is reported at the end (E215)
  bool generator_failed = false;  ///< E37: a registration was refused
  bool program_failed = false;
  bool recorded_error = false;  ///< preview: an error that does not stop it (E37)
  bool cancelled = false;
  bool maybe_corrupt = false;
  std::int64_t last_operation = 0;

  /// No further step may begin (E29, E35).
  bool stopped() const { return step_failed || generator_failed || cancelled; }
  bool failed() const {
    return step_failed || generator_failed || program_failed || recorded_error;
  }
  /// Makes an entry durable; previews write nothing (E110).
  Task<Result<void>> Write(JournalEntry entry);
};

/// The error with which registrations end that the run no longer serves (E29).
Error StoppedError();

}  // namespace davit
