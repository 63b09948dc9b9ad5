#include "state/codec/time_text.h"

#include <charconv>
#include <chrono>
#include <cstdint>

namespace davit {
namespace {

// Takes `digits` digits from the front; absent when they are not there.
std::optional<int> TakeNumber(std::string_view* text, std::size_t digits) {
  int value = 0;
  const std::string_view part = text->substr(0, digits);
  const std::from_chars_result read =
      std::from_chars(part.data(), part.data() + part.size(), value);
  if (part.size() != digits || read.ec != std::errc() || read.ptr != part.data() + digits ||
      part[0] == '-') {
    return std::nullopt;
  }
  text->remove_prefix(digits);
  return value;
}

bool Take(std::string_view* text, std::string_view any_of) {
  if (text->empty() || any_of.find(text->front()) == std::string_view::npos) {
    return false;
  }
  text->remove_prefix(1);
  return true;
}

std::optional<std::chrono::nanoseconds> TakeFraction(std::string_view* text) {
  std::int64_t nanoseconds = 0;
  std::int64_t unit = 100'000'000;
  std::size_t digits = 0;
  while (!text->empty() && text->front() >= '0' && text->front() <= '9') {
    nanoseconds += unit * (text->front() - '0');
    unit /= 10;
    ++digits;
    text->remove_prefix(1);
  }
  if (digits == 0) {
    return std::nullopt;
  }
  return std::chrono::nanoseconds(nanoseconds);
}

}  // namespace

std::string TimeText(WallTime time) {
  const auto days = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(days);
  const std::chrono::hh_mm_ss clock(time - days);
  std::string text = "0000-00-00T00:00:00.000000000";
  const auto put = [&text](std::size_t end, auto number) {
    for (; number != 0; number /= 10) {
      text[--end] = static_cast<char>('0' + number % 10);
    }
  };
  put(4, static_cast<int>(date.year()));
  put(7, static_cast<unsigned>(date.month()));
  put(10, static_cast<unsigned>(date.day()));
  put(13, clock.hours().count());
  put(16, clock.minutes().count());
  put(19, clock.seconds().count());
  put(29, clock.subseconds().count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') {
    text.pop_back();
  }
  return text + "Z";
}

std::optional<WallTime> ParseTime(std::string_view text) {
  const std::optional<int> year = TakeNumber(&text, 4);
  if (!year || !Take(&text, "-") || *year < 1678 || *year > 2261) {
    return std::nullopt;
  }
  const std::optional<int> month = TakeNumber(&text, 2);
  if (!month || !Take(&text, "-")) {
    return std::nullopt;
  }
  const std::optional<int> day = TakeNumber(&text, 2);
  if (!day || !Take(&text, "Tt ")) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  const std::optional<int> hour = TakeNumber(&text, 2);
  if (!date.ok() || !hour || !Take(&text, ":")) {
    return std::nullopt;
  }
  const std::optional<int> minute = TakeNumber(&text, 2);
  if (!minute || !Take(&text, ":")) {
    return std::nullopt;
  }
  const std::optional<int> second = TakeNumber(&text, 2);
  if (!second) {
    return std::nullopt;
  }
  std::chrono::nanoseconds fraction{0};
  if (Take(&text, ".,")) {
    const std::optional<std::chrono::nanoseconds> taken = TakeFraction(&text);
    if (!taken) {
      return std::nullopt;
    }
    fraction = *taken;
  }
  WallTime time = std::chrono::sys_days(date) + std::chrono::hours(*hour) +
                  std::chrono::minutes(*minute) + std::chrono::seconds(*second) + fraction;
  if (text == "Z" || text == "z") {
    return time;
  }
  const bool is_ahead = !text.empty() && text.front() == '+';
  if (!Take(&text, "+-")) {
    return std::nullopt;
  }
  const std::optional<int> offset_hours = TakeNumber(&text, 2);
  if (!offset_hours || !Take(&text, ":")) {
    return std::nullopt;
  }
  const std::optional<int> offset_minutes = TakeNumber(&text, 2);
  if (!offset_minutes || !text.empty()) {
    return std::nullopt;
  }
  const std::chrono::minutes offset =
      std::chrono::hours(*offset_hours) + std::chrono::minutes(*offset_minutes);
  return is_ahead ? time - offset : time + offset;
}

}  // namespace davit
