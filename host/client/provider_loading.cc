// ProviderClient: making a connection, loading, cancelling and closing (P21, P29, P31, P33,
// P42-P45, P49).

#include <fmt/format.h>

#include "engine/base/semver.h"
#include "engine/base/waiting.h"
#include "host/client/provider_client_impl.h"
#include "pulumirpc/plugin.pb.h"
#include "pulumirpc/provider.pb.h"

namespace davit {
namespace {

constexpr std::string_view kService = "/pulumirpc.ResourceProvider/";
constexpr std::chrono::seconds kInterruptCancel(30);  // P32
constexpr std::chrono::seconds kCloseCancel(5);       // P32
constexpr std::chrono::milliseconds kRetryPause(10);  // P29

Task<void> Pause(Loop& loop, std::chrono::nanoseconds duration) {
  auto gate = std::make_shared<Gate>();
  loop.After(duration, [gate] { gate->Open(); });
  co_await gate->Wait();
}

}  // namespace

Result<PropertyMap> DecodeOrEmpty(bool is_present,
                                  const google::protobuf::Struct& in,
                                  const CodecOptions& options) {
  if (!is_present) {
    return PropertyMap();
  }
  return DecodeStruct(in, options);
}

Unexpected NotSent(Error error, const std::string& rpc) {
  error.kind = ErrorKind::kInvalid;
  return Fail(std::move(error).WithContext("cannot encode the request of " + rpc));
}

Unexpected BadReply(Error error, const std::string& rpc, Ambiguity ambiguity) {
  error.kind =
      ambiguity == Ambiguity::kOutcomeUnknown ? ErrorKind::kOutcomeUnknown : ErrorKind::kFailed;
  return Fail(std::move(error).WithContext("the provider's reply to " + rpc + " makes no sense"));
}

ProviderClient::ProviderClient(ProviderClientOptions options)
    : impl_(std::make_shared<Impl>(std::move(options))) {}

ProviderClient::~ProviderClient() = default;

Task<RpcStatus> ProviderClient::Impl::Send(std::string rpc,
                                           const google::protobuf::Message& request,
                                           google::protobuf::Message* response,
                                           const HiddenTexts* secrets,
                                           CancelToken cancel) {
  CallOptions call;
  call.method = std::string(kService) + rpc;
  call.deadline = call_deadline;
  call.secrets = secrets;
  co_return co_await CallUnary(Peer(), std::move(call), request, response, std::move(cancel));
}

Task<Error> ProviderClient::Impl::Explain(RpcStatus status,
                                          std::string rpc,
                                          Urn urn,
                                          Ambiguity ambiguity) {
  Error error = ErrorFromStatus(status, ambiguity);
  error.urn = urn.text();
  if (error.kind != ErrorKind::kUnavailable || !options.process || is_closed) {
    co_return error;
  }
  PluginProcess& process = *options.process;
  const bool has_died = co_await process.HasDied();
  if (!has_died) {
    co_return error;  // the server gave up, or answered so itself
  }
  has_reported_exit = true;
  const std::string what = urn.empty() ? rpc : fmt::format("{} of '{}'", rpc, urn.text());
  error.message = fmt::format("the provider died during {}: {}", what, process.ExitReport());
  error.advice = "this is a fault of the plugin; what it printed may tell more";
  co_return error;
}

CodecOptions ProviderClient::Impl::Request(bool keep_unknowns, bool elide_assets) const {
  CodecOptions codec;
  codec.keep_unknowns = keep_unknowns;
  codec.keep_secrets = features.accepts_secrets;
  codec.keep_resources = features.accepts_resources;
  codec.keep_byte_strings = features.accepts_byte_strings;
  codec.elide_asset_contents = elide_assets;
  return codec;
}

CodecOptions ProviderClient::Impl::Response(Unknowns unknowns) {
  CodecOptions codec;
  codec.keep_unknowns = unknowns == Unknowns::kKeep;
  codec.reject_unknowns = unknowns == Unknowns::kReject;
  codec.keep_secrets = true;
  codec.keep_resources = true;
  return codec;
}

HiddenTexts ProviderClient::Impl::Secrets(std::initializer_list<const PropertyMap*> maps,
                                          const std::vector<View>& views) const {
  HiddenTexts secrets;
  if (options.trace != nullptr) {
    for (const PropertyMap* map : maps) {
      secrets.Add(*map);
    }
    for (const View& view : views) {
      secrets.Add(view.inputs);
      secrets.Add(view.outputs);
    }
  }
  return secrets;
}

PropertyMap ProviderClient::Impl::Annotated(PropertyMap target, const PropertyMap& source) const {
  return features.accepts_secrets ? std::move(target) : AnnotateSecrets(target, source);
}

const std::string& ProviderClient::version() const {
  return impl_->version;
}

bool ProviderClient::is_alive() const {
  return !impl_->is_closed && (!impl_->options.process || impl_->options.process->is_alive());
}

bool ProviderClient::supports_preview() const {
  return impl_->features.supports_preview;
}

bool ProviderClient::supports_autonaming() const {
  return impl_->features.supports_autonaming;
}

const ProviderFeatures& ProviderClient::features() const {
  return impl_->features;
}

void ProviderClient::SetCallDeadline(std::optional<std::chrono::nanoseconds> deadline) {
  impl_->call_deadline = deadline;
}

Task<Result<void>> ProviderClient::Handshake(HandshakeRequest request,
                                             std::chrono::nanoseconds budget,
                                             CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  Loop& loop = *impl->options.loop;
  pulumirpc::ProviderHandshakeRequest message;
  message.set_engine_address(request.engine_address);
  if (!request.root_directory.empty()) {
    message.set_root_directory(request.root_directory);
  }
  if (!request.program_directory.empty()) {
    message.set_program_directory(request.program_directory);
  }
  if (!request.loader_target.empty()) {
    message.set_loader_target(request.loader_target);
  }
  message.set_configure_with_urn(true);
  message.set_supports_views(true);  // P110
  message.set_supports_refresh_before_update(request.supports_refresh_before_update);
  message.set_invoke_with_preview(true);
  message.set_accepts_byte_string(true);
  message.set_sends_old_outputs_to_check(true);

  // While the process lives, a missing connection is waited for; its death ends the wait.
  CancelSource stop;
  const CancelRegistration on_cancel = cancel.OnCancel([&stop] { stop.Cancel(); });
  const CancelToken exited =
      impl->options.process ? impl->options.process->exited() : CancelToken();
  const CancelRegistration on_exit = exited.OnCancel([&stop] { stop.Cancel(); });
  const Loop::Clock::time_point end = loop.Now() + budget;
  pulumirpc::ProviderHandshakeResponse response;
  RpcStatus status;
  while (true) {
    CallOptions call;
    call.method = std::string(kService) + "Handshake";
    call.deadline = std::max(end - loop.Now(), Loop::Clock::duration(1));
    call.wait_for_connection = true;
    status = co_await CallUnary(impl->Peer(), std::move(call), message, &response, stop.token());
    if (status.code != RpcCode::kUnavailable || loop.Now() >= end || stop.is_cancelled()) {
      break;
    }
    co_await Pause(loop, kRetryPause);
  }
  if (status.ok()) {
    impl->has_handshake = true;
    impl->features.accepts_secrets = response.accept_secrets();
    impl->features.accepts_resources = response.accept_resources();
    impl->features.accepts_outputs = response.accept_outputs();
    impl->features.accepts_byte_strings = response.accepts_byte_string();
    impl->features.supports_autonaming = response.supports_autonaming_configuration();
    impl->features.supports_preview = true;
    co_return Result<void>();
  }
  if (status.code == RpcCode::kUnimplemented) {
    co_return Result<void>();
  }
  if (exited.is_cancelled()) {
    status.code = RpcCode::kUnavailable;
  } else if (status.code == RpcCode::kDeadlineExceeded) {
    const double seconds = std::chrono::duration<double>(budget).count();
    status.message =
        fmt::format("the plugin did not answer within {} s of printing its port", seconds);
  }
  co_return Fail(co_await impl->Explain(std::move(status), "Handshake", Urn(), Ambiguity::kNone));
}

Task<Result<void>> ProviderClient::Attach(std::string engine_address, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::PluginAttach request;
  request.set_address(engine_address);
  google::protobuf::Empty response;
  RpcStatus status = co_await impl->Send("Attach", request, &response, nullptr, std::move(cancel));
  if (!status.ok()) {
    co_return Fail(co_await impl->Explain(std::move(status), "Attach", Urn(), Ambiguity::kNone));
  }
  co_return Result<void>();
}

Task<Result<void>> ProviderClient::GetPluginInfo(CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  const google::protobuf::Empty request;
  pulumirpc::PluginInfo response;
  RpcStatus status =
      co_await impl->Send("GetPluginInfo", request, &response, nullptr, std::move(cancel));
  if (!status.ok()) {
    co_return Fail(
        co_await impl->Explain(std::move(status), "GetPluginInfo", Urn(), Ambiguity::kNone));
  }
  if (!response.version().empty()) {
    const std::optional<Semver> version = Semver::ParseTolerant(response.version());
    if (!version) {
      co_return Fail(
          ErrorKind::kFailed,
          fmt::format("the plugin reports the version '{}', which is none", response.version()));
    }
    impl->version = version->Text();
  }
  co_return Result<void>();
}

Task<Result<pulumirpc::ParameterizeResponse>> ProviderClient::Impl::ParameterizeWith(
    Parameterization value, CancelToken cancel) {
  pulumirpc::ParameterizeRequest request;
  request.mutable_value()->set_name(value.name);
  request.mutable_value()->set_version(value.version);
  request.mutable_value()->set_value(value.value);
  pulumirpc::ParameterizeResponse response;
  RpcStatus status = co_await Send("Parameterize", request, &response, nullptr, std::move(cancel));
  if (!status.ok()) {
    co_return Fail(co_await Explain(std::move(status), "Parameterize", Urn(), Ambiguity::kNone));
  }
  co_return response;
}

Task<Result<void>> ProviderClient::Extend(Parameterization value, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  DAVIT_CO_TRY(const pulumirpc::ParameterizeResponse response,
               co_await impl->ParameterizeWith(std::move(value), std::move(cancel)));
  co_return Result<void>();  // what it calls itself says nothing: it goes by its base's name
}

Task<Result<void>> ProviderClient::Parameterize(Parameterization value, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  DAVIT_CO_TRY(const pulumirpc::ParameterizeResponse response,
               co_await impl->ParameterizeWith(value, std::move(cancel)));
  if (!Semver::ParseStrict(response.version())) {
    co_return Fail(
        ErrorKind::kFailed,
        fmt::format("the plugin parameterized itself as '{}' with the version '{}', which is none",
                    response.name(),
                    response.version()));
  }
  if (response.name() != value.name) {
    co_return Fail(ErrorKind::kFailed,
                   fmt::format("the plugin parameterized itself as '{}' where '{}' was asked for",
                               response.name(),
                               value.name));
  }
  impl->subpackage_name = response.name();
  impl->subpackage_version = response.version();
  co_return Result<void>();
}

Task<Result<Parameterization>> ProviderClient::ParameterizeByArguments(
    std::vector<std::string> arguments, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::ParameterizeRequest request;
  request.mutable_args();  // present even when there are no words
  for (std::string& argument : arguments) {
    request.mutable_args()->add_args(std::move(argument));
  }
  pulumirpc::ParameterizeResponse response;
  RpcStatus status =
      co_await impl->Send("Parameterize", request, &response, nullptr, std::move(cancel));
  if (!status.ok()) {
    co_return Fail(
        co_await impl->Explain(std::move(status), "Parameterize", Urn(), Ambiguity::kNone));
  }
  if (!Semver::ParseStrict(response.version())) {
    co_return Fail(
        ErrorKind::kFailed,
        fmt::format("the plugin parameterized itself as '{}' with the version '{}', which is none",
                    response.name(),
                    response.version()));
  }
  impl->subpackage_name = response.name();
  impl->subpackage_version = response.version();
  Parameterization named;
  named.name = response.name();
  named.version = response.version();
  co_return named;
}

Task<Result<std::string>> ProviderClient::GetSchema(CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::GetSchemaRequest request;
  request.set_subpackage_name(impl->subpackage_name);
  request.set_subpackage_version(impl->subpackage_version);
  pulumirpc::GetSchemaResponse response;
  RpcStatus status =
      co_await impl->Send("GetSchema", request, &response, nullptr, std::move(cancel));
  if (!status.ok()) {
    co_return Fail(co_await impl->Explain(std::move(status), "GetSchema", Urn(), Ambiguity::kNone));
  }
  if (response.schema().find_first_not_of(" \t\r\n{}") == std::string::npos) {  // P74
    co_return Fail(ErrorKind::kUnimplemented,
                   fmt::format("the plugin '{}' has no schema", impl->options.package));
  }
  co_return std::move(*response.mutable_schema());
}

Task<Result<void>> ProviderClient::Cancel() {
  const std::shared_ptr<Impl> impl = impl_;
  if (!is_alive()) {
    co_return Result<void>();
  }
  CallOptions call;
  call.method = std::string(kService) + "Cancel";
  call.deadline = kInterruptCancel;
  const google::protobuf::Empty request;
  google::protobuf::Empty response;
  const RpcStatus status =
      co_await CallUnary(impl->Peer(), std::move(call), request, &response, CancelToken());
  if (status.ok() || status.code == RpcCode::kUnimplemented) {
    impl->has_acknowledged_cancel = true;
    co_return Result<void>();
  }
  co_return Fail(ErrorFromStatus(status, Ambiguity::kNone));
}

Task<void> ProviderClient::Abandon() {
  const std::shared_ptr<Impl> impl = impl_;
  impl->is_closed = true;
  co_await impl->channel.Close();
  if (impl->options.process) {
    co_await impl->options.process->End(std::chrono::nanoseconds(0));
  }
}

Task<void> ProviderClient::Close() {
  const std::shared_ptr<Impl> impl = impl_;
  if (impl->is_closed) {
    co_return;
  }
  impl->is_closed = true;
  const std::shared_ptr<PluginProcess> process = impl->options.process;
  const bool was_alive = !process || process->is_alive();
  if (was_alive) {
    CallOptions call;
    call.method = std::string(kService) + "Cancel";
    call.deadline = kCloseCancel;
    const google::protobuf::Empty request;
    google::protobuf::Empty response;
    const RpcStatus status =
        co_await CallUnary(impl->Peer(), std::move(call), request, &response, CancelToken());
    if (status.ok() || status.code == RpcCode::kUnimplemented) {
      impl->has_acknowledged_cancel = true;
    }
  }
  co_await impl->channel.Close();
  if (!process) {
    co_return;  // attached: not ours to end (P21)
  }
  const bool died_by_itself = !process->is_alive();
  co_await process->End(impl->options.end_grace);
  const bool is_premature = died_by_itself && !impl->has_acknowledged_cancel;
  if (is_premature && !impl->has_reported_exit && !process->is_dynamic() && impl->options.output) {
    const std::string kept = process->KeptOutput();
    std::string report =
        fmt::format("{} {} before davit had asked it to; this is a fault of the plugin",
                    process->label(),
                    process->child().exit_status()->Text());
    report += kept.empty() ? std::string() : "; it printed:" + kept;
    impl->options.output(Severity::kError, report);
  }
}

}  // namespace davit
