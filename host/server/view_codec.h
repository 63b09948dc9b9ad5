#pragma once
// Reports on parts of resources, from messages (P110). Engine thread.

#include <vector>

#include "engine/view.h"
#include "pulumirpc/resource_status.pb.h"

namespace davit {

/// The steps of a request; an operation that is none, or a state that cannot be read, is an error.
Result<std::vector<ViewStep>> DecodeViewSteps(const pulumirpc::PublishViewStepsRequest& request);

}  // namespace davit
