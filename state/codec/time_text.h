#pragma once
// Times in state files: RFC 3339 with up to nine digits of a second, trailing zeros dropped. Pure.

#include <optional>
#include <string>
#include <string_view>

#include "engine/model/resource_state.h"

namespace davit {

/// The form of a time that was never set.
inline constexpr std::string_view kZeroTime = "0001-01-01T00:00:00Z";

/// In UTC.
std::string TimeText(WallTime time);
/// Absent when the text is no time, or one that 64 bits of nanoseconds do not hold (kZeroTime is
/// such).
std::optional<WallTime> ParseTime(std::string_view text);

}  // namespace davit
