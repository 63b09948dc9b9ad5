#pragma once
// The one hook that sees every RPC, and its writer of PULUMI_DEBUG_GRPC lines (P120-P123). Engine
// thread.

#include <google/protobuf/message.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/loop.h"
#include "engine/value/property_value.h"
#include "host/wire/rpc_status.h"

namespace davit {

/// Text that must not appear in a trace: what is secret to the engine but travels bare, because the
/// peer does not accept secrets, or as text (P49).
class HiddenTexts {
 public:
  /// Remembers the scalars in the secrets of `map`.
  void Add(const PropertyMap& map);
  /// Whether a text is, or contains, one of them; short ones count only as a whole.
  bool IsIn(std::string_view text) const;

 private:
  void AddAll(const PropertyValue& value, bool is_secret);
  std::vector<std::string> texts_;
};

/// One call as far as it has come. Null pointers mean that the part is not there yet.
struct RpcRecord {
  std::string_view method;  ///< `/package.Service/Method`
  const google::protobuf::Message* request = nullptr;
  const google::protobuf::Message* response = nullptr;
  const RpcStatus* status = nullptr;  ///< written when it is an error
  /// Key and text pairs, in order (P122).
  const std::vector<std::pair<std::string, std::string>>* metadata = nullptr;
  std::string_view
      progress;  ///< `request_started`, `response_completed`, or empty for a message of a stream
  std::chrono::nanoseconds duration{};
  const HiddenTexts* secrets = nullptr;
};

class RpcTrace {
 public:
  virtual ~RpcTrace() = default;
  virtual void Write(const RpcRecord& record) = 0;
};

/// Appends JSON lines to `path` (mode 0600, opened for each). Secret values are replaced by
/// `[secret]` unless `show_secrets`. A file that cannot be written is reported once through `warn`.
std::unique_ptr<RpcTrace> MakeFileTrace(const Loop& loop,
                                        std::string path,
                                        bool show_secrets,
                                        std::function<void(std::string)> warn);

/// The message as canonical proto JSON of P120: lowerCamelCase names, defaults left out, map keys
/// sorted. Secrets (P55) and scalars in `hide` become `[secret]`, unless `show_secrets`.
std::string MessageJson(const google::protobuf::Message& message,
                        bool show_secrets,
                        const HiddenTexts* hide);

}  // namespace davit
