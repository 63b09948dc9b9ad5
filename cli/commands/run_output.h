#pragma once
// Where the events of one run go: the chosen display or machine output, the event log, and what the
// question before the change needs to know. Engine thread.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/context.h"
#include "cli/display/display_options.h"
#include "cli/display/event_json.h"
#include "cli/display/masking.h"

namespace davit {

/// The file of `--event-log`; runs of one command follow each other in it.
class EventLog {
 public:
  static Result<std::unique_ptr<EventLog>> Open(const std::string& path);
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  void Write(const std::string& text);

 private:
  explicit EventLog(int file) : file_(file) {}
  int file_;
};

class RunOutput final : public EventSink {
 public:
  /// `log` may be null. `keep` remembers the events, for `details`.
  RunOutput(
      const Context& context, DisplayOptions options, MessageMask mask, EventLog* log, bool keep);
  ~RunOutput() override;

  void Begin();
  void Emit(const Event& event, std::chrono::system_clock::time_point when) override;
  void Tick(std::chrono::system_clock::time_point now);
  /// What the display shows after the run. The stream goes on until End.
  void Finish();
  /// The last event of the stream.
  void End(std::chrono::system_clock::time_point when);

  /// Whether a planned record holds a secret, or will.
  bool has_secrets() const { return has_secrets_; }
  /// Whether anything but the root stack changes.
  bool has_changes() const { return has_changes_; }
  /// What a deletion leaves where it is, as the prompt tells it; empty when there is nothing (C74).
  std::string LeftBehindText() const;
  /// The run in the `--diff` view, for `details` (C74).
  std::string Details() const;

 private:
  void Watch(const Event& event);

  const Context& context_;
  DisplayOptions options_;
  MessageMask mask_;
  std::unique_ptr<Display> display_;
  std::unique_ptr<EventStream> json_stream_;
  std::unique_ptr<PreviewDigest> digest_;
  std::unique_ptr<RunSummary> summary_;
  std::unique_ptr<EventStream> log_stream_;
  bool keep_;
  std::vector<std::pair<Event, std::chrono::system_clock::time_point>> kept_;
  bool has_secrets_ = false;
  bool has_changes_ = false;
  std::string left_behind_;  ///< a line for each
};

}  // namespace davit
