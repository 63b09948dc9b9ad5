#pragma once
// The `--diff` view: every property that changes, written as it happens (C110-C115). Diagnostics go
// to standard error (C106). Engine thread.

#include <map>
#include <optional>
#include <set>
#include <string>

#include "cli/display/display_options.h"

namespace davit {

class DiffView final : public Display {
 public:
  DiffView(DisplayOptions options, TextSink out, TextSink err);

  void Begin() override;
  void Emit(const Event& event, std::chrono::system_clock::time_point when) override;
  void Tick(std::chrono::system_clock::time_point) override {}
  void Finish() override;

 private:
  void Planned(const StepMetadata& step);
  void Done(const StepMetadata& step);
  bool ShouldShow(const StepMetadata& step) const;
  int LevelOf(const StepMetadata& step) const;
  std::string Heading(const StepMetadata& step, int level) const;
  std::string Properties(const StepMetadata& step, int level) const;
  std::string Outputs(const StepMetadata& step, int level) const;

  DisplayOptions options_;
  TextSink out_;
  TextSink err_;
  std::map<std::string, std::string> parents_;  ///< of everything seen
  std::set<std::string> shown_;
  std::optional<SummaryEvent> summary_;
  int failures_ = 0;
};

}  // namespace davit
