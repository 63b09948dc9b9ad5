#pragma once
// What the displays of one run need to know. Values.

#include <functional>
#include <string>

#include "cli/display/style.h"
#include "engine/deployment.h"

namespace davit {

struct DisplayOptions {
  DeploymentMode mode = DeploymentMode::kUpdate;
  bool is_preview = false;
  std::string stack;
  std::string project;
  Style style;
  bool show_sames = false;
  bool show_reads = false;
  bool show_replacement_steps = false;
  bool show_secrets = false;
  bool show_config = false;
  bool show_full_output = false;
  bool show_urns = false;
  bool show_debug = false;
  bool show_policy_remediations = false;
  bool suppress_outputs = false;
  bool suppress_progress = false;
};

/// `Previewing update`, `Updating`, `Destroying`, ... (C90).
std::string ActionText(const DisplayOptions& options);

/// Takes text as it is to appear.
using TextSink = std::function<void(const std::string& text)>;

/// One way to show a run. Engine thread.
class Display : public EventSink {
 public:
  /// Begins: the first lines.
  virtual void Begin() = 0;
  /// Called from time to time while the run lasts.
  virtual void Tick(std::chrono::system_clock::time_point now) = 0;
  /// Ends: what comes after all events.
  virtual void Finish() = 0;
};

}  // namespace davit
