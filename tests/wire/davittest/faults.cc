#include "tests/wire/davittest/faults.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/struct.pb.h>
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "host/wire/message_io.h"
#include "host/wire/rpc_trace.h"
#include "host/wire/value_codec.h"
#include "pulumirpc/provider.pb.h"

namespace davit::davittest {
namespace {

namespace pb = google::protobuf;

std::string Variable(const char* name) {
  const char* value = ::getenv(name);
  return value == nullptr ? "" : value;
}

std::unique_ptr<pb::Message> ParseRequest(std::string_view method, const std::string& bytes) {
  const pb::MethodDescriptor* found = pulumirpc::CreateRequest::descriptor()
                                          ->file()
                                          ->FindServiceByName("ResourceProvider")
                                          ->FindMethodByName(std::string(method));
  if (found == nullptr) {
    return nullptr;
  }
  std::unique_ptr<pb::Message> message(
      pb::MessageFactory::generated_factory()->GetPrototype(found->input_type())->New());
  return ParseMessage(bytes, message.get()) ? std::move(message) : nullptr;
}

void WriteLog(std::string_view method, const pb::Message* request) {
  const std::string path = Variable("DAVITTEST_LOG");
  if (path.empty()) {
    return;
  }
  const std::string line =
      fmt::format("{{\"method\":\"{}\",\"request\":{}}}\n",
                  method,
                  request == nullptr ? "null" : MessageJson(*request, true, nullptr));
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  // One write, so that lines of calls at the same time do not mix.
  if (file < 0 || ::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    std::fprintf(stderr, "cannot write '%s'\n", path.c_str());
  }
  ::close(file);
}

/// The `behave` that travels in a call: of the new inputs where there are any.
PropertyMap BehaviourIn(const pb::Message& request) {
  for (const char* name : {"news", "old_inputs", "inputs", "properties", "args"}) {
    const pb::FieldDescriptor* field = request.GetDescriptor()->FindFieldByName(name);
    if (field == nullptr || field->message_type() != pb::Struct::descriptor() ||
        !request.GetReflection()->HasField(request, field)) {
      continue;
    }
    const auto& bag =
        static_cast<const pb::Struct&>(request.GetReflection()->GetMessage(request, field));
    CodecOptions options;
    options.keep_unknowns = true;
    const Result<PropertyMap> inputs = DecodeStruct(bag, options);
    const auto behave = inputs ? inputs->find("behave") : PropertyMap::const_iterator();
    if (inputs && behave != inputs->end() && behave->second.is_map()) {
      return *behave->second.as_map();
    }
  }
  return {};
}

bool IsPreview(const pb::Message& request) {
  const pb::FieldDescriptor* field = request.GetDescriptor()->FindFieldByName("preview");
  return field != nullptr && request.GetReflection()->GetBool(request, field);
}

/// `3`, or the default when there is no number.
int NumberIn(std::string_view text, int fallback) {
  int number = fallback;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Waits until the call is asked to stop, or the time is over; returns whether it was asked.
bool WaitForStop(const std::stop_token& stop, std::optional<std::chrono::milliseconds> limit) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock<std::mutex> lock(mutex);
  const auto never = [] { return false; };
  if (limit) {
    changed.wait_for(lock, stop, *limit, never);
  } else {
    changed.wait(lock, stop, never);
  }
  return stop.stop_requested();
}

kit::RawAnswer Status(RpcCode code, std::string message) {
  RpcStatus status{.code = code, .message = std::move(message)};
  return {.status = std::move(status), .bytes = {}};
}

/// Plays one fault, written as `name` or `name=argument`.
std::optional<kit::RawAnswer> Play(std::string_view method,
                                   std::string_view fault,
                                   kit::CallContext& call) {
  const std::size_t equals = fault.find('=');
  const std::string_view name = fault.substr(0, equals);
  const std::string_view argument =
      equals == std::string_view::npos ? std::string_view() : fault.substr(equals + 1);
  if (name == "exit") {
    std::fprintf(stderr, "davittest: leaving in %s\n", std::string(method).c_str());
    std::_Exit(NumberIn(argument, 1));
  }
  if (name == "signal") {
    std::fprintf(stderr, "davittest: dying in %s\n", std::string(method).c_str());
    const int number = NumberIn(argument, SIGKILL);
    ::signal(number, SIG_DFL);
    ::kill(::getpid(), number);
    ::pause();
  }
  if (name == "hang") {
    call.Log(Severity::kInfo, fmt::format("hanging in {}", method));
    if (argument == "forever") {
      WaitForStop({}, std::nullopt);
    }
    WaitForStop(call.stop(), std::nullopt);
    call.Log(Severity::kInfo, fmt::format("stopped in {}", method));
    return Status(RpcCode::kCancelled, fmt::format("{} was cancelled", method));
  }
  if (name == "slow") {
    if (WaitForStop(call.stop(), std::chrono::milliseconds(NumberIn(argument, 100)))) {
      return Status(RpcCode::kCancelled, fmt::format("{} was cancelled", method));
    }
    return std::nullopt;
  }
  if (name == "fail") {
    const int code = NumberIn(argument, 2);
    return Status(static_cast<RpcCode>(code), fmt::format("{} was told to fail", method));
  }
  if (name == "garbage") {
    return kit::RawAnswer{.status = {}, .bytes = "\xff\xff garbage"};
  }
  return Status(RpcCode::kInvalidArgument,
                fmt::format("davittest does not know the fault '{}'", fault));
}

/// The fault of a method in `Method:fault,Method:fault`.
std::string_view FaultFor(std::string_view method, std::string_view faults) {
  while (!faults.empty()) {
    const std::size_t comma = faults.find(',');
    const std::string_view entry = faults.substr(0, comma);
    const std::size_t colon = entry.find(':');
    if (colon != std::string_view::npos && entry.substr(0, colon) == method) {
      return entry.substr(colon + 1);
    }
    faults.remove_prefix(comma == std::string_view::npos ? faults.size() : comma + 1);
  }
  return {};
}

}  // namespace

std::optional<kit::RawAnswer> Intercept(std::string_view method,
                                        const std::string& request,
                                        kit::CallContext& call) {
  const std::unique_ptr<pb::Message> message = ParseRequest(method, request);
  WriteLog(method, message.get());
  const std::string faults = Variable("DAVITTEST_FAULTS");
  if (const std::string_view fault = FaultFor(method, faults); !fault.empty()) {
    if (std::optional<kit::RawAnswer> answer = Play(method, fault, call)) {
      return answer;
    }
  }
  if (!message || IsPreview(*message)) {
    return std::nullopt;
  }
  const PropertyMap behave = BehaviourIn(*message);
  const auto own = behave.find("fault");
  const PropertyMap* by_method = own == behave.end() ? nullptr : own->second.as_map();
  if (by_method == nullptr) {
    return std::nullopt;
  }
  const auto found = by_method->find(method);
  const std::string* fault = found == by_method->end() ? nullptr : found->second.as_string();
  return fault == nullptr ? std::nullopt : Play(method, *fault, call);
}

void DisturbStart() {
  if (const std::string text = Variable("DAVITTEST_START_ERROR"); !text.empty()) {
    std::fprintf(stderr, "%s\n", text.c_str());
    std::exit(3);
  }
  if (const int delay = NumberIn(Variable("DAVITTEST_START_DELAY_MS"), 0); delay > 0) {
    WaitForStop({}, std::chrono::milliseconds(delay));
  }
  if (const std::string line = Variable("DAVITTEST_PORT_LINE"); !line.empty()) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
    WaitForStop({}, std::nullopt);
  }
}

}  // namespace davit::davittest
