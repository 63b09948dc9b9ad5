#pragma once
// Turns what happens in a run into events, and counts (E39, E40, E215, E216). Engine thread.

#include <map>
#include <string>
#include <vector>

#include "engine/events.h"
#include "engine/run/step.h"

namespace davit {

class Reporter {
 public:
  Reporter(Loop& loop, EventSink& sink, bool preview)
      : loop_(loop), sink_(sink), preview_(preview) {}

  void Prelude(const std::map<std::string, ConfigValue>& config);
  void Planned(const Step& step);
  /// The step is done; it is counted. `with_event` false: a component in an update, whose event
  /// waits for its outputs.
  void Done(const Step& step, bool with_event);
  /// A provider is given an extension (E180); internal, about no resource.
  void ExtensionPlanned();
  void ExtensionDone();
  /// The done event of a component whose outputs are there now.
  void OutputsRegistered(const Step& step);
  /// Reports the error (once) and, in an update, the failed step.
  void Failed(const Step& step, const Error& error);
  /// A diagnostic; the error's own URN, place and code are used. Does nothing for an error that is
  /// reported already.
  void Report(const Error& error);
  void Warn(const Urn& urn, const std::string& message);
  void Log(Severity severity, const std::string& message, const Urn& urn);
  void Count(StepOp op, const Urn& urn);
  /// What a refresh found of a part counts even where it is `refresh` (recorded, views-life).
  void CountPart(StepOp op) { ++changes_[op]; }
  void Summary(DeploymentResultKind result, bool maybe_corrupt, std::vector<PolicyPack> packs);

  /// An event as it is, at the time of now.
  void Emit(const Event& event);

  const std::map<StepOp, int>& changes() const { return changes_; }

 private:
  StepMetadata MetadataOf(const Step& step) const;

  Loop& loop_;
  EventSink& sink_;
  bool preview_;
  Loop::Clock::time_point begun_ = loop_.Now();
  std::map<StepOp, int> changes_;
  int old_copies_ = 0;
};

/// Whether displays leave the record out: default providers (E40).
bool IsInternal(const Urn& urn);

}  // namespace davit
