#include "engine/update_plan.h"

namespace davit {

std::optional<StepOp> ParseStepOp(std::string_view name) {
  constexpr int kLast = static_cast<int>(StepOp::kExtendParameterize);
  for (int number = 0; number <= kLast; ++number) {
    const StepOp op = static_cast<StepOp>(number);
    if (StepOpName(op) == name) {
      return op;
    }
  }
  return std::nullopt;
}

}  // namespace davit
