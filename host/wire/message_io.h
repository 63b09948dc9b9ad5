#pragma once
// Messages to bytes and back, with limits that fit deep property values (P62) and large ones (P30).
// Any thread.

#include <google/protobuf/message_lite.h>

#include <string>
#include <string_view>

namespace davit {

/// Largest message that is received (P30).
inline constexpr int kMaxMessageBytes = 400 * 1024 * 1024;
/// Nesting that is parsed; an object costs three levels, a list two.
inline constexpr int kMaxMessageDepth = 10000;

/// False when the bytes are not such a message, or nested deeper than kMaxMessageDepth.
[[nodiscard]] bool ParseMessage(std::string_view bytes, google::protobuf::MessageLite* message);
std::string SerializeMessage(const google::protobuf::MessageLite& message);

}  // namespace davit
