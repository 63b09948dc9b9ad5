#pragma once
// Differences of property maps as plans hold them, and what fits one (E210, E212). Pure.

#include "engine/update_plan.h"

namespace davit {

/// The top-level difference (E210). A null member counts as absent; a secret differs from its plain
/// value, and an unknown from everything.
PlanDiff DiffForPlan(const PropertyMap& before, const PropertyMap& after);

/// Whether `actual` is what was planned; where the plan does not know yet, anything is (E212).
bool FitsPlanned(const PropertyValue& planned, const PropertyValue& actual);

/// What in the change from `before` to `after` the plan does not allow, one sentence per property
/// (E212); empty: it fits. Secrets are masked.
std::vector<std::string> DeviationsFrom(const PlanDiff& planned,
                                        const PropertyMap& before,
                                        const PropertyMap& after);

}  // namespace davit
