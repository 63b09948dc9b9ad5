#pragma once
// What a stack must look like when its program has run undisturbed until nothing changed.

#include <optional>

#include "tests/fuzz/model.h"
#include "tests/fuzz/run_history.h"

namespace davit::fuzz {

/// The first difference between a program, the records of its stack and the objects that exist.
std::optional<Finding> Compare(const Program& program, const Snapshot& state, const Cloud& cloud);

}  // namespace davit::fuzz
