#include "engine/base/check.h"

#include <fmt/format.h>

namespace davit {

void CheckFailed(const char* file, int line, const char* condition, const std::string& message) {
  throw BugError(
      fmt::format("{} ({}:{}: {} does not hold); this is a fault of davit, please report it",
                  message,
                  file,
                  line,
                  condition));
}

}  // namespace davit
