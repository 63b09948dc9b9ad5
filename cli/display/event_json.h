#pragma once
// Machine output: the event stream of `--json` and `--event-log` (C130-C140), the digest of
// `preview --json` (C123-C127) and the summary of `--output json` (C122). The one writer of these
// forms; secrets never leave it in clear. Engine thread.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/display/display_options.h"
#include "cli/json_writer.h"
#include "engine/events.h"

namespace davit {

/// Steps that `--json` and the displays leave out (C137).
bool IsInternalEvent(const Event& event);
/// One object of the stream, without line break (C130-C135).
std::string EventLine(const Event& event,
                      long sequence,
                      std::chrono::system_clock::time_point when);

/// A stream of events, one line each, numbered before internal ones are left out.
class EventStream final : public EventSink {
 public:
  EventStream(TextSink sink, bool include_internal)
      : sink_(std::move(sink)), include_internal_(include_internal) {}
  void Emit(const Event& event, std::chrono::system_clock::time_point when) override;

 private:
  TextSink sink_;
  bool include_internal_;
  long sequence_ = 0;
};

/// The document of `preview --json`.
class PreviewDigest final : public EventSink {
 public:
  explicit PreviewDigest(const DisplayOptions& options) : options_(options) {}
  void Emit(const Event& event, std::chrono::system_clock::time_point when) override;
  std::string Text() const;

 private:
  void AddStep(const StepMetadata& step, bool is_done);

  DisplayOptions options_;
  std::map<std::string, std::string> config_;
  std::vector<StepMetadata> steps_;
  std::vector<DiagnosticEvent> diagnostics_;
  SummaryEvent summary_;
};

/// The line of `--output json`.
class RunSummary final : public EventSink {
 public:
  explicit RunSummary(const DisplayOptions& options) : options_(options) {}
  void Emit(const Event& event, std::chrono::system_clock::time_point when) override;
  std::string Text() const;

 private:
  DisplayOptions options_;
  std::vector<StepMetadata> steps_;
  SummaryEvent summary_;
};

/// A value as JSON. Secrets become the masked object of C139, or `[secret]`, or are shown.
enum class SecretForm { kObject, kText, kShown };
void WriteValue(const PropertyValue& value, SecretForm form, JsonWriter* json);
void WriteMap(const PropertyMap& map, SecretForm form, JsonWriter* json);

}  // namespace davit
