#include "host/wire/rpc_trace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "host/wire/json_text.h"

namespace davit {
namespace {

std::string Rfc3339(std::chrono::system_clock::time_point when) {
  const auto nanoseconds =
      std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch()).count();
  const auto seconds = static_cast<std::time_t>(nanoseconds / 1'000'000'000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z",
                     parts.tm_year + 1900,
                     parts.tm_mon + 1,
                     parts.tm_mday,
                     parts.tm_hour,
                     parts.tm_min,
                     parts.tm_sec,
                     nanoseconds % 1'000'000'000);
}

// Names of the codes as the Go library prints them.
std::string_view CodeName(RpcCode code) {
  switch (code) {
    case RpcCode::kOk:
      return "OK";
    case RpcCode::kCancelled:
      return "Canceled";
    case RpcCode::kUnknown:
      return "Unknown";
    case RpcCode::kInvalidArgument:
      return "InvalidArgument";
    case RpcCode::kDeadlineExceeded:
      return "DeadlineExceeded";
    case RpcCode::kNotFound:
      return "NotFound";
    case RpcCode::kAlreadyExists:
      return "AlreadyExists";
    case RpcCode::kPermissionDenied:
      return "PermissionDenied";
    case RpcCode::kResourceExhausted:
      return "ResourceExhausted";
    case RpcCode::kFailedPrecondition:
      return "FailedPrecondition";
    case RpcCode::kAborted:
      return "Aborted";
    case RpcCode::kOutOfRange:
      return "OutOfRange";
    case RpcCode::kUnimplemented:
      return "Unimplemented";
    case RpcCode::kInternal:
      return "Internal";
    case RpcCode::kUnavailable:
      return "Unavailable";
    case RpcCode::kDataLoss:
      return "DataLoss";
    case RpcCode::kUnauthenticated:
      return "Unauthenticated";
  }
  return "Unknown";
}

class FileTrace final : public RpcTrace {
 public:
  FileTrace(const Loop& loop,
            std::string path,
            bool show_secrets,
            std::function<void(std::string)> warn)
      : loop_(loop), path_(std::move(path)), show_secrets_(show_secrets), warn_(std::move(warn)) {}

  void Write(const RpcRecord& record) override {
    std::string line = "{\"method\":";
    AppendJsonText(record.method, &line);
    if (record.request != nullptr) {
      line += ",\"request\":" + MessageJson(*record.request, show_secrets_, record.secrets);
    }
    if (record.response != nullptr) {
      line += ",\"response\":" + MessageJson(*record.response, show_secrets_, record.secrets);
    }
    if (record.status != nullptr && !record.status->ok()) {
      std::string text = fmt::format(
          "rpc error: code = {} desc = {}", CodeName(record.status->code), record.status->message);
      if (!show_secrets_ && record.secrets != nullptr && record.secrets->IsIn(text)) {
        text = fmt::format("rpc error: code = {} desc = [secret]", CodeName(record.status->code));
      }
      line += ",\"errors\":[";
      AppendJsonText(text, &line);
      line += ']';
    }
    if (record.metadata != nullptr && !record.metadata->empty()) {
      line += ",\"metadata\":{";
      bool is_first = true;
      for (const auto& [key, text] : *record.metadata) {
        if (!std::exchange(is_first, false)) {
          line += ',';
        }
        AppendJsonText(key, &line);
        line += ':';
        AppendJsonText(text, &line);
      }
      line += '}';
    }
    if (!record.progress.empty()) {
      line += ",\"progress\":";
      AppendJsonText(record.progress, &line);
    }
    line += fmt::format(",\"timestamp\":\"{}\"", Rfc3339(loop_.WallNow()));
    if (record.duration.count() > 0) {
      line += fmt::format(",\"duration\":{}", record.duration.count());
    }
    line += "}\n";
    Append(line);
  }

 private:
  // Opened for each record, as other writers of the same file do.
  void Append(std::string_view line) {
    const int file = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    bool is_written = file >= 0;
    while (is_written && !line.empty()) {
      const ssize_t count = ::write(file, line.data(), line.size());
      is_written = count > 0 || (count < 0 && errno == EINTR);
      line.remove_prefix(count > 0 ? static_cast<std::size_t>(count) : 0);
    }
    const int error = errno;
    if (file >= 0) {
      ::close(file);
    }
    if (!is_written && !std::exchange(has_warned_, true) && warn_) {
      warn_(fmt::format("cannot write the gRPC log '{}': {}", path_, std::strerror(error)));
    }
  }

  const Loop& loop_;
  std::string path_;
  bool show_secrets_;
  std::function<void(std::string)> warn_;
  bool has_warned_ = false;
};

}  // namespace

std::unique_ptr<RpcTrace> MakeFileTrace(const Loop& loop,
                                        std::string path,
                                        bool show_secrets,
                                        std::function<void(std::string)> warn) {
  return std::make_unique<FileTrace>(loop, std::move(path), show_secrets, std::move(warn));
}

}  // namespace davit
