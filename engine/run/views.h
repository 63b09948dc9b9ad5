#pragma once
// The parts of a resource that its provider manages and reports (E192-E194). They have no life of
// their own: reports while a call on their owner runs are all that changes them. Engine thread.

#include <string>
#include <vector>

#include "engine/run/run_context.h"
#include "engine/view.h"

namespace davit {

/// The parts of a record as they are now, for a call of its provider.
std::vector<View> OldViews(const RunContext& context, const StatePtr& owner);

/// Takes what the provider reports on parts while one call of it runs: each report is checked
/// against the parts of the old record, shown as planned, and kept in the step.
class ViewReports {
 public:
  /// `owner` must outlive the object. What an earlier attempt reported is forgotten.
  ViewReports(RunContext& context, Step& owner);
  ViewReports(const ViewReports&) = delete;
  ViewReports& operator=(const ViewReports&) = delete;
  ~ViewReports();
  /// To be sent with the call.
  const std::string& token() const { return token_; }

 private:
  RunContext& context_;
  std::string token_;
};

/// Adds what the owner's step means for parts that nothing was reported on, shown as planned:
/// `same` leaves them alone, and with an owner that is gone they go too.
void AddUnreportedViews(RunContext& context, Step& owner);
/// Records the steps on parts, and shows how they ended; `stored` is the record of the owner now,
/// null when it is gone. False when one of them failed, which has been reported.
Task<bool> RecordViews(RunContext& context, Step& owner, StatePtr stored);

}  // namespace davit
