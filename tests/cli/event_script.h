#pragma once
// Events made by hand for display tests: a small model of what the engine sends for a run of the
// scripted provider.

#include <string>
#include <vector>

#include "cli/display/display_options.h"
#include "engine/events.h"

namespace davit::testing {

inline const std::string kStackUrn = "urn:pulumi:dev::golden::pulumi:pulumi:Stack::golden-dev";
inline std::string ThingUrn(const std::string& name) {
  return "urn:pulumi:dev::golden::testbed:index:Thing::" + name;
}

inline StatePtr MakeState(const std::string& urn,
                          PropertyMap inputs,
                          PropertyMap outputs,
                          const std::string& id = "") {
  ResourceState state;
  state.urn = Urn::Trusted(urn);
  state.type = std::string(state.urn.type());
  state.custom = !state.urn.is_root_stack();
  state.id = id;
  state.inputs = std::move(inputs);
  state.outputs = std::move(outputs);
  if (state.custom) {
    state.parent = Urn::Trusted(kStackUrn);
    state.provider = "urn:pulumi:dev::golden::pulumi:providers:testbed::default::uuid";
  }
  return std::make_shared<const ResourceState>(std::move(state));
}

inline StatePtr ThingState(const std::string& name,
                           PropertyMap inputs,
                           const std::string& id = "x-1") {
  const PropertyMap outputs = inputs;
  return MakeState(ThingUrn(name), std::move(inputs), outputs, id);
}

inline StatePtr StackState(PropertyMap outputs) {
  return MakeState(kStackUrn, {}, std::move(outputs));
}

inline StepMetadata MakeStep(StepOp op, StatePtr old_state, StatePtr new_state) {
  StepMetadata step;
  step.op = op;
  step.old_state = std::move(old_state);
  step.new_state = std::move(new_state);
  const ResourceState& state = step.new_state ? *step.new_state : *step.old_state;
  step.urn = state.urn;
  step.type = state.type;
  step.provider = state.provider;
  return step;
}

/// A clock that goes on by 10 ms per event, and the text that a display wrote.
struct Script {
  explicit Script(DisplayOptions given) : options(std::move(given)) {}
  DisplayOptions options;
  std::string text;
  std::chrono::system_clock::time_point now{std::chrono::seconds(1760000000)};

  TextSink Sink() {
    return [this](const std::string& piece) { text += piece; };
  }
  void Send(EventSink& sink, const Event& event) {
    now += std::chrono::milliseconds(10);
    sink.Emit(event, now);
  }
  void Pre(EventSink& sink, const StepMetadata& step) {
    Send(sink, ResourcePreEvent{step, options.is_preview});
  }
  void Done(EventSink& sink, const StepMetadata& step) {
    Send(sink, ResourceOutputsEvent{step, options.is_preview});
  }
  void Both(EventSink& sink, const StepMetadata& step) {
    Pre(sink, step);
    Done(sink, step);
  }
  void Say(EventSink& sink, Severity severity, const std::string& urn, const std::string& message) {
    DiagnosticEvent event;
    event.severity = severity;
    event.urn = urn;
    event.message = message;
    Send(sink, event);
  }
  void Fail(EventSink& sink, const StepMetadata& step, const std::string& message) {
    Say(sink, Severity::kError, step.urn.text(), message);
    Send(sink, ResourceFailedEvent{step, OperationStatus::kOk, 1});
  }
  void Summary(EventSink& sink,
               std::map<StepOp, int> changes,
               DeploymentResultKind result = DeploymentResultKind::kSucceeded) {
    SummaryEvent event;
    event.changes = std::move(changes);
    event.result = result;
    event.is_preview = options.is_preview;
    event.duration = std::chrono::milliseconds(300);
    Send(sink, event);
  }
};

inline DisplayOptions PlainOptions(DeploymentMode mode, bool is_preview) {
  DisplayOptions options;
  options.mode = mode;
  options.is_preview = is_preview;
  options.stack = "dev";
  options.project = "golden";
  options.suppress_progress = true;
  return options;
}

}  // namespace davit::testing
