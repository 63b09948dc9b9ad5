#include "host/language/language_host.h"

#include <fmt/format.h>

#include "engine/base/semver.h"
#include "host/loop/asio_loop.h"
#include "host/plugin/plugin_process.h"
#include "host/wire/status_codec.h"
#include "host/wire/typed_call.h"
#include "host/wire/value_codec.h"
#include "pulumirpc/language.pb.h"

namespace davit {
namespace {

constexpr std::chrono::seconds kCancelLimit(5);  // P32

Result<void> FillInfo(const ProgramInfo& program, pulumirpc::ProgramInfo* info) {
  info->set_root_directory(program.root_directory);
  info->set_program_directory(program.program_directory);
  info->set_entry_point(program.entry_point);
  return EncodeStruct(program.options, CodecOptions(), info->mutable_options());
}

bool IsUnimplemented(const RpcStatus& status) {
  return status.code == RpcCode::kUnimplemented;
}

// P117: of both answers, the old one and the new one.
template <typename Dependency>
Result<PackageDescriptor> ToDescriptor(const Dependency& sent) {
  PackageDescriptor package;
  package.name = sent.name();
  package.download_url = sent.server();
  if (!sent.version().empty()) {
    const std::optional<Semver> version = Semver::ParseTolerant(sent.version());
    if (!version) {
      return Fail(ErrorKind::kFailed,
                  fmt::format("the language host says that the program needs '{}' in the version "
                              "'{}', which is none",
                              sent.name(),
                              sent.version()));
    }
    package.version = version->Text();
  }
  return package;
}

}  // namespace

struct LanguageHost::Impl {
  explicit Impl(LanguageHostOptions given)
      : options(std::move(given)), channel(*options.loop, options.target) {}

  LanguageHostOptions options;
  RawChannel channel;
  bool is_closed = false;

  Task<RpcStatus> Send(std::string rpc,
                       const google::protobuf::Message& request,
                       google::protobuf::Message* response,
                       std::optional<std::chrono::nanoseconds> deadline,
                       CancelToken cancel,
                       const HiddenTexts* secrets = nullptr) {
    CallOptions call = Options(std::move(rpc), secrets);
    call.deadline = deadline;
    co_return co_await CallUnary(Peer(), std::move(call), request, response, std::move(cancel));
  }

  CallOptions Options(std::string rpc, const HiddenTexts* secrets) const {
    CallOptions call;
    call.method = "/pulumirpc.LanguageRuntime/" + std::move(rpc);
    call.secrets = secrets;
    return call;
  }

  RpcPeer Peer() {
    return RpcPeer{.loop = options.loop,
                   .channel = &channel,
                   .trace = options.trace,
                   .trace_metadata = &options.trace_metadata};
  }

  // P35 holds for hosts, too.
  Task<Error> Explain(RpcStatus status, std::string rpc) {
    Error error = ErrorFromStatus(status, Ambiguity::kNone);
    if (error.kind == ErrorKind::kUnavailable && options.process && !is_closed) {
      const bool has_died = co_await options.process->HasDied();
      if (has_died) {
        error.message =
            fmt::format("it died during {}: {}", rpc, options.process->ExitReport());
      }
    }
    co_return std::move(error).WithContext(fmt::format("the language host '{}'", options.runtime));
  }
};

LanguageHost::LanguageHost(LanguageHostOptions options)
    : impl_(std::make_shared<Impl>(std::move(options))) {}

LanguageHost::~LanguageHost() = default;

Task<Result<void>> LanguageHost::Connect(std::chrono::nanoseconds budget, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  CallOptions call = impl->Options("GetPluginInfo", nullptr);
  call.deadline = budget;
  call.wait_for_connection = true;
  const google::protobuf::Empty request;
  pulumirpc::PluginInfo response;
  RpcStatus status =
      co_await CallUnary(impl->Peer(), std::move(call), request, &response, std::move(cancel));
  if (!status.ok()) {
    co_return Fail(co_await impl->Explain(std::move(status), "GetPluginInfo"));
  }
  co_return Result<void>();
}

Task<Result<void>> LanguageHost::Handshake(std::string engine_address, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::LanguageHandshakeRequest request;
  request.set_engine_address(std::move(engine_address));
  pulumirpc::LanguageHandshakeResponse response;
  RpcStatus status =
      co_await impl->Send("Handshake", request, &response, std::nullopt, std::move(cancel));
  if (!status.ok()) {
    co_return Fail(co_await impl->Explain(std::move(status), "Handshake"));
  }
  co_return Result<void>();
}

Task<Result<std::vector<PackageDescriptor>>> LanguageHost::RequiredPackages(ProgramInfo program,
                                                                            CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::GetRequiredPackagesRequest request;
  DAVIT_CO_TRY_VOID(FillInfo(program, request.mutable_info()));
  pulumirpc::GetRequiredPackagesResponse response;
  RpcStatus status =
      co_await impl->Send("GetRequiredPackages", request, &response, std::nullopt, cancel);
  std::vector<PackageDescriptor> packages;
  if (IsUnimplemented(status)) {
    pulumirpc::GetRequiredPluginsRequest old_request;
    old_request.set_project("deprecated");
    old_request.set_pwd(program.program_directory);
    old_request.set_program(program.entry_point);
    *old_request.mutable_info() = request.info();
    pulumirpc::GetRequiredPluginsResponse plugins;
    status = co_await impl->Send("GetRequiredPlugins", old_request, &plugins, std::nullopt, cancel);
    if (IsUnimplemented(status)) {
      co_return packages;
    }
    for (const pulumirpc::PluginDependency& plugin : plugins.plugins()) {
      if (plugin.kind() == "resource") {
        DAVIT_CO_TRY(PackageDescriptor package, ToDescriptor(plugin));
        packages.push_back(std::move(package));
      }
    }
  }
  if (!status.ok()) {
    co_return Fail(co_await impl->Explain(std::move(status), "GetRequiredPackages"));
  }
  if (response.specs_size() > 0) {
    co_return Fail(ErrorKind::kFailed,
                   fmt::format("the package '{}' of the program is not installed",
                               response.specs(0).source()),
                   "install what the program needs");
  }
  for (const pulumirpc::PackageDependency& needed : response.packages()) {
    if (needed.kind() != "resource") {
      continue;
    }
    DAVIT_CO_TRY(PackageDescriptor package, ToDescriptor(needed));
    if (needed.has_parameterization()) {
      Parameterization& parameters = package.parameterization.emplace();
      parameters.name = needed.parameterization().name();
      parameters.version = needed.parameterization().version();
      parameters.value = needed.parameterization().value();
    }
    packages.push_back(std::move(package));
  }
  co_return packages;
}

Task<Result<void>> LanguageHost::Run(ProgramRun run) {
  const std::shared_ptr<Impl> impl = impl_;
  const RunInfo& info = *run.info;
  pulumirpc::RunRequest request;
  request.set_project(info.project);
  request.set_stack(info.stack);
  request.set_organization(info.organization);
  request.set_pwd(run.program.program_directory);
  request.set_program(run.program.entry_point);
  request.set_dryrun(info.preview);
  request.set_parallel(info.parallel);
  request.set_monitor_address(std::move(run.monitor_address));
  request.set_loader_target(std::move(run.loader_target));
  DAVIT_CO_TRY_VOID(FillInfo(run.program, request.mutable_info()));
  PropertyMap hidden;
  for (const auto& [key, value] : info.config) {
    (*request.mutable_config())[key] = value.text;
    if (value.is_secret) {
      request.add_configsecretkeys(key);
      hidden.emplace(key, PropertyValue(Secret(PropertyValue(value.text))));
    }
  }
  HiddenTexts secrets;
  secrets.Add(hidden);
  pulumirpc::RunResponse response;
  RpcStatus status =
      co_await impl->Send("Run", request, &response, std::nullopt, CancelToken(), &secrets);
  if (!status.ok()) {
    co_return Fail(co_await impl->Explain(std::move(status), "Run"));
  }
  if (response.bail()) {
    Error bail = MakeError(ErrorKind::kFailed, "the program failed and has said why");
    bail.reported = true;
    co_return Fail(std::move(bail));
  }
  if (!response.error().empty()) {
    co_return Fail(ErrorKind::kFailed, "an unhandled error occurred: " + response.error());
  }
  co_return Result<void>();
}

Task<Result<int>> LanguageHost::RunPlugin(PluginRun run, OutputChunk output, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::RunPluginRequest request;
  request.set_pwd(run.working_directory);
  request.set_kind(run.kind);
  request.set_loader_target(run.loader_target);
  DAVIT_CO_TRY_VOID(FillInfo(run.plugin, request.mutable_info()));
  for (std::string& argument : run.arguments) {
    request.add_args(std::move(argument));
  }
  for (const auto& [name, value] : run.environment) {
    request.add_env(name + "=" + value);
  }
  pulumirpc::RunPluginResponse message;
  int code = 0;
  std::function<bool()> take = [&] {
    if (message.has_exitcode()) {
      code = message.exitcode();
    } else {
      const bool is_error = message.has_stderr();
      output(is_error ? Pipe::kStderr : Pipe::kStdout,
             is_error ? message.stderr() : message.stdout());
    }
    return true;
  };
  // The environment may hold secrets, so the request is not for the trace.
  RpcPeer peer = impl->Peer();
  peer.trace = nullptr;
  RpcStatus status = co_await CallStreaming(peer,
                                            impl->Options("RunPlugin", nullptr),
                                            request,
                                            &message,
                                            std::move(take),
                                            std::move(cancel));
  if (!status.ok()) {
    co_return Fail(co_await impl->Explain(std::move(status), "RunPlugin"));
  }
  co_return code;
}

Task<void> LanguageHost::Cancel() {
  const std::shared_ptr<Impl> impl = impl_;
  const google::protobuf::Empty request;
  google::protobuf::Empty response;
  // Whatever it answers, nothing more can be done about it.
  const RpcStatus status =
      co_await impl->Send("Cancel", request, &response, kCancelLimit, CancelToken());
  static_cast<void>(status);
}

Task<void> LanguageHost::Close() {
  const std::shared_ptr<Impl> impl = impl_;
  if (std::exchange(impl->is_closed, true)) {
    co_return;
  }
  const std::shared_ptr<PluginProcess> process = impl->options.process;
  if (!process || process->is_alive()) {
    co_await Cancel();
  }
  co_await impl->channel.Close();
  if (process) {
    co_await process->End(impl->options.end_grace);
  }
}

}  // namespace davit
