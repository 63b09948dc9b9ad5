#pragma once
// The marks of special values on the wire (P55, P56) and the trail of a walk, for the two halves of
// value_codec.h.

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/result.h"
#include "engine/value/property_path.h"
#include "engine/value/property_value.h"

namespace davit::wire {

inline constexpr std::string_view kSignatureKey = "4dabf18193072939515e22adb298388d";
inline constexpr std::string_view kSecretSignature = "1b47061264138c4ac30d75fd1eb44270";
inline constexpr std::string_view kOutputSignature = "d0e6a833031e9bbcd3f4e8bde6ca49a4";
inline constexpr std::string_view kReferenceSignature = "5cf8f73096256a8f31e491e813e4eb8e";
inline constexpr std::string_view kAssetSignature = "c44067f5952c0a294b673a41bacd8c17";
inline constexpr std::string_view kArchiveSignature = "0def7320c3a5731c473e5ecbe6d01bc7";
inline constexpr std::string_view kBytesSignature = "803fd3297a5875dc03ca845dda5d2a98";

inline constexpr std::string_view kInternalPrefix = "__";
/// SHA-256 of nothing: the hash of an empty text asset (P63).
inline constexpr std::string_view kEmptyHash =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

struct Sentinel {
  std::string_view text;
  UnknownKind kind;
};
inline constexpr Sentinel kSentinels[] = {
    {"04da6b54-80e4-46f7-96ec-b56ff0331ba9", UnknownKind::kString},
    {"1c4a061d-8072-4f0a-a4cb-0ff528b18fe7", UnknownKind::kBool},
    {"3eeb2bf0-c639-47a8-9e75-3b44932eb421", UnknownKind::kNumber},
    {"6a19a0b0-7e62-4c92-b797-7f8e31da9cc2", UnknownKind::kList},
    {"030794c1-ac77-496b-92df-f27374a8bd58", UnknownKind::kAsset},
    {"e48ece36-62e2-4504-bad9-02848725956a", UnknownKind::kArchive},
    {"dd056dcd-154b-4c76-9bd3-c8f88648b5ff", UnknownKind::kMap},
};

/// What became of one value. Errors are kept by the walk, so that its frames stay small (P62).
enum class Outcome { kDone, kDropped, kFailed };

/// Where a walk is, and the error that ended it.
class Trail {
 public:
  void Enter(std::string_view key) { steps_.emplace_back(key); }
  void Enter(int index) { steps_.emplace_back(index); }
  void Leave() { steps_.pop_back(); }

  /// Keeps the error; it names the property, never its value. Gives kFailed.
  Outcome Failed(std::string_view what) {
    std::vector<PathSegment> segments;
    for (const auto& step : steps_) {
      if (const int* index = std::get_if<int>(&step)) {
        segments.emplace_back(*index);
      } else {
        segments.emplace_back(std::string(std::get<std::string_view>(step)));
      }
    }
    error_ = MakeError(
        ErrorKind::kInvalid,
        segments.empty()
            ? std::string(what)
            : fmt::format("property \"{}\": {}", PropertyPath(std::move(segments)).Text(), what));
    return Outcome::kFailed;
  }
  Error TakeError() { return std::move(error_); }

 private:
  std::vector<std::variant<std::string_view, int>> steps_;
  Error error_;
};

}  // namespace davit::wire
