#include "host/client/analyzer_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/waiting.h"
#include "host/client/policy_config.h"
#include "host/plugin/plugin_process.h"
#include "host/wire/status_codec.h"
#include "host/wire/typed_call.h"
#include "host/wire/value_codec.h"

namespace davit {
namespace {

constexpr std::chrono::seconds kStopLimit(5);  // P32

CodecOptions ForPolicies(bool skip_internal_keys) {
  CodecOptions codec;
  codec.keep_unknowns = true;
  codec.keep_secrets = true;
  codec.skip_internal_keys = skip_internal_keys;
  return codec;
}

const char* SeverityText(pulumirpc::PolicySeverity severity) {
  switch (severity) {
    case pulumirpc::POLICY_SEVERITY_LOW:
      return "low";
    case pulumirpc::POLICY_SEVERITY_MEDIUM:
      return "medium";
    case pulumirpc::POLICY_SEVERITY_HIGH:
      return "high";
    case pulumirpc::POLICY_SEVERITY_CRITICAL:
      return "critical";
    default:
      return "";
  }
}

Result<EnforcementLevel> LevelFromWire(pulumirpc::EnforcementLevel level) {
  if (!pulumirpc::EnforcementLevel_IsValid(static_cast<int>(level))) {
    return Fail(ErrorKind::kFailed,
                fmt::format("answered with the enforcement level {}, which is none",
                            static_cast<int>(level)));
  }
  return static_cast<EnforcementLevel>(level);
}

PolicyKind KindFromWire(pulumirpc::PolicyType type) {
  switch (type) {
    case pulumirpc::POLICY_TYPE_RESOURCE:
      return PolicyKind::kResource;
    case pulumirpc::POLICY_TYPE_STACK:
      return PolicyKind::kStack;
    default:
      return PolicyKind::kUnknown;
  }
}

void FillOptions(const AnalyzedResource& resource, pulumirpc::AnalyzerResourceOptions* out) {
  const ResourceState& state = *resource.state;
  out->set_protect(state.protect);
  for (const std::string& path : state.ignore_changes) {
    out->add_ignorechanges(path);
  }
  out->set_deletebeforereplace(resource.delete_before_replace.value_or(false));
  out->set_deletebeforereplacedefined(resource.delete_before_replace.has_value());
  for (const std::string& name : state.additional_secret_outputs) {
    out->add_additionalsecretoutputs(name);
  }
  for (const Urn& alias : state.aliases) {
    out->add_aliases(alias.text());
  }
  pulumirpc::AnalyzerResourceOptions::CustomTimeouts* timeouts = out->mutable_customtimeouts();
  timeouts->set_create(state.custom_timeouts.create);
  timeouts->set_update(state.custom_timeouts.update);
  timeouts->set_delete_(state.custom_timeouts.delete_);
  timeouts->set_read(state.custom_timeouts.read);
  out->set_parent(state.parent.text());
}

// What both kinds of request say about a resource.
template <typename Message>
Result<void> FillResource(const AnalyzedResource& resource,
                          const CodecOptions& codec,
                          Message* out) {
  out->set_urn(resource.state->urn.text());
  out->set_type(resource.state->type);
  out->set_name(std::string(resource.state->urn.name()));
  DAVIT_TRY_VOID(EncodeStruct(resource.properties, codec, out->mutable_properties()));
  FillOptions(resource, out->mutable_options());
  if (resource.provider) {
    pulumirpc::AnalyzerProviderResource* provider = out->mutable_provider();
    provider->set_urn(resource.provider->urn.text());
    provider->set_type(resource.provider->type);
    provider->set_name(std::string(resource.provider->urn.name()));
    DAVIT_TRY_VOID(
        EncodeStruct(resource.provider->inputs, ForPolicies(true), provider->mutable_properties()));
  }
  return {};
}

Result<void> FillStackResource(const AnalyzedResource& resource, pulumirpc::AnalyzerResource* out) {
  DAVIT_TRY_VOID(FillResource(resource, ForPolicies(true), out));
  out->set_parent(resource.state->parent.text());
  for (const Urn& urn : resource.state->dependencies) {
    out->add_dependencies(urn.text());
  }
  for (const auto& [name, urns] : resource.state->property_dependencies) {
    for (const Urn& urn : urns) {
      (*out->mutable_propertydependencies())[name].add_urns(urn.text());
    }
  }
  return {};
}

template <typename Response>
std::vector<std::string> NotApplicable(const Response& response) {
  std::vector<std::string> names;
  for (const pulumirpc::PolicyNotApplicable& policy : response.not_applicable()) {
    names.push_back(policy.policy_name());
  }
  return names;
}

}  // namespace

struct AnalyzerClient::Impl {
  explicit Impl(AnalyzerClientOptions given)
      : options(std::move(given)), channel(*options.loop, options.target) {}

  AnalyzerClientOptions options;
  RawChannel channel;
  PolicyPack pack;
  std::string path;                               ///< of the pack, as it was given
  std::map<std::string, std::string> severities;  ///< by policy
  bool is_closed = false;

  Task<RpcStatus> Send(std::string rpc,
                       const google::protobuf::Message& request,
                       google::protobuf::Message* response,
                       CancelToken cancel,
                       std::optional<std::chrono::nanoseconds> deadline = std::nullopt,
                       const HiddenTexts* secrets = nullptr) {
    RpcPeer peer{.loop = options.loop,
                 .channel = &channel,
                 .trace = options.trace,
                 .trace_metadata = &options.trace_metadata};
    CallOptions call;
    call.method = "/pulumirpc.Analyzer/" + rpc;
    call.deadline = deadline;
    call.wait_for_connection = rpc == "Handshake";
    call.secrets = secrets;
    co_return co_await CallUnary(peer, std::move(call), request, response, std::move(cancel));
  }

  // P35 holds for policy packs, too.
  Task<Error> Explain(RpcStatus status, std::string rpc) {
    Error error = ErrorFromStatus(status, Ambiguity::kNone);
    if (error.kind == ErrorKind::kUnavailable && !is_closed) {
      const bool has_died = co_await options.process->HasDied();
      if (has_died) {
        error.message = fmt::format("it died during {}: {}", rpc, options.process->ExitReport());
      }
    }
    co_return error;
  }

  // The version of the pack's file wins over what the pack says.
  const std::string& VersionOr(const std::string& said) const {
    return options.version.empty() ? said : options.version;
  }

  Task<Result<void>> ConfigureStack(const RunInfo& info, CancelToken cancel) {
    pulumirpc::AnalyzerStackConfigureRequest request;
    request.set_stack(info.stack);
    request.set_project(info.project);
    request.set_organization(info.organization);
    request.set_dry_run(info.preview);
    PropertyMap hidden;
    for (const auto& [key, value] : info.config) {
      (*request.mutable_config())[key] = value.text;
      if (value.is_secret) {
        request.add_config_secret_keys(key);
        hidden.emplace(key, PropertyValue(Secret(PropertyValue(value.text))));
      }
    }
    HiddenTexts secrets;
    secrets.Add(hidden);
    pulumirpc::AnalyzerStackConfigureResponse response;
    RpcStatus status = co_await Send(
        "ConfigureStack", request, &response, std::move(cancel), std::nullopt, &secrets);
    if (!status.ok() && status.code != RpcCode::kUnimplemented) {
      co_return Fail(co_await Explain(std::move(status), "ConfigureStack"));
    }
    co_return Result<void>();
  }

  Result<void> TakeInfo(const pulumirpc::AnalyzerInfo& info) {
    pack.name = info.name();
    pack.version = VersionOr(info.version());
    pack.path = path;
    for (const pulumirpc::PolicyInfo& sent : info.policies()) {
      Policy policy;
      policy.name = sent.name();
      DAVIT_TRY(policy.level, LevelFromWire(sent.enforcementlevel()));
      policy.kind = KindFromWire(sent.policy_type());
      severities[policy.name] = SeverityText(sent.severity());
      pack.policies.push_back(std::move(policy));
    }
    std::ranges::sort(pack.policies, {}, &Policy::name);
    return {};
  }

  Task<Result<void>> Configure(pulumirpc::AnalyzerInfo info,
                               PolicyConfig given,
                               bool has_file,
                               CancelToken cancel) {
    if (!info.supportsconfig()) {
      if (has_file) {
        co_return Fail(
            ErrorKind::kInvalid, "takes no configuration", "leave out its --policy-pack-config");
      }
      co_return Result<void>();
    }
    DAVIT_CO_TRY(const PolicyConfig config, ReconcilePolicyConfig(info, given));
    if (config.empty()) {
      co_return Result<void>();
    }
    pulumirpc::ConfigureAnalyzerRequest request;
    for (const auto& [policy, settings] : config) {
      pulumirpc::PolicyConfig& sent = (*request.mutable_policyconfig())[policy];
      const EnforcementLevel level = settings.level.value_or(EnforcementLevel::kAdvisory);
      sent.set_enforcementlevel(static_cast<pulumirpc::EnforcementLevel>(level));
      *sent.mutable_properties() = settings.properties;
    }
    google::protobuf::Empty response;
    RpcStatus status = co_await Send("Configure", request, &response, std::move(cancel));
    if (!status.ok()) {
      co_return Fail(co_await Explain(std::move(status), "Configure"));
    }
    for (Policy& policy : pack.policies) {
      const auto at = config.find(policy.name);
      if (at != config.end() && at->second.level) {
        policy.level = *at->second.level;
      }
    }
    co_return Result<void>();
  }

  Result<Analysis> Decode(const pulumirpc::AnalyzeResponse& response) const {
    Analysis analysis;
    for (const pulumirpc::AnalyzeDiagnostic& sent : response.diagnostics()) {
      PolicyViolation violation;
      violation.policy = sent.policyname();
      violation.pack = sent.policypackname();
      violation.pack_version = VersionOr(sent.policypackversion());
      violation.message = sent.message();
      DAVIT_TRY(violation.level, LevelFromWire(sent.enforcementlevel()));
      violation.severity = SeverityText(sent.severity());
      const auto known = severities.find(violation.policy);
      if (violation.severity.empty() && known != severities.end()) {
        violation.severity = known->second;
      }
      violation.urn = sent.urn();
      analysis.violations.push_back(std::move(violation));
    }
    analysis.not_applicable = NotApplicable(response);
    return analysis;
  }
};

AnalyzerClient::AnalyzerClient(AnalyzerClientOptions options)
    : impl_(std::make_shared<Impl>(std::move(options))) {}

AnalyzerClient::~AnalyzerClient() = default;

const PolicyPack& AnalyzerClient::pack() const {
  return impl_->pack;
}

Task<Result<void>> AnalyzerClient::Load(std::string engine_address,
                                        std::string folder,
                                        const RunInfo& info,
                                        PolicyPackSpec spec,
                                        std::chrono::nanoseconds budget,
                                        CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  impl->path = spec.path;
  DAVIT_CO_TRY(PolicyConfig given, ParsePolicyConfig(spec.config_file, spec.config_text));
  pulumirpc::AnalyzerHandshakeRequest handshake;
  handshake.set_engine_address(engine_address);
  handshake.set_root_directory(folder);
  handshake.set_program_directory(folder);
  pulumirpc::AnalyzerHandshakeResponse shaken;
  RpcStatus status = co_await impl->Send("Handshake", handshake, &shaken, cancel, budget);
  if (!status.ok() && status.code != RpcCode::kUnimplemented) {
    co_return Fail(co_await impl->Explain(std::move(status), "Handshake"));
  }
  DAVIT_CO_TRY_VOID(co_await impl->ConfigureStack(info, cancel));
  const google::protobuf::Empty nothing;
  pulumirpc::AnalyzerInfo described;
  status = co_await impl->Send("GetAnalyzerInfo", nothing, &described, cancel);
  if (!status.ok()) {
    co_return Fail(co_await impl->Explain(std::move(status), "GetAnalyzerInfo"));
  }
  DAVIT_CO_TRY_VOID(impl->TakeInfo(described));
  co_return co_await impl->Configure(
      std::move(described), std::move(given), !spec.config_file.empty(), cancel);
}

Task<Result<Remediations>> AnalyzerClient::Remediate(AnalyzedResource resource,
                                                     CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::AnalyzeRequest request;
  DAVIT_CO_TRY_VOID(FillResource(resource, ForPolicies(false), &request));
  pulumirpc::RemediateResponse response;
  RpcStatus status = co_await impl->Send("Remediate", request, &response, std::move(cancel));
  Remediations found;
  if (status.code == RpcCode::kUnimplemented) {
    co_return found;
  }
  if (!status.ok()) {
    co_return Fail(co_await impl->Explain(std::move(status), "Remediate"));
  }
  for (const pulumirpc::Remediation& sent : response.remediations()) {
    PolicyRemediation remediation;
    remediation.policy = sent.policyname();
    remediation.pack = sent.policypackname();
    remediation.pack_version = impl->VersionOr(sent.policypackversion());
    DAVIT_CO_TRY(remediation.properties, DecodeStruct(sent.properties(), ForPolicies(false)));
    remediation.diagnostic = sent.diagnostic();
    found.remediations.push_back(std::move(remediation));
  }
  found.not_applicable = NotApplicable(response);
  co_return found;
}

Task<Result<Analysis>> AnalyzerClient::Analyze(AnalyzedResource resource, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::AnalyzeRequest request;
  DAVIT_CO_TRY_VOID(FillResource(resource, ForPolicies(true), &request));
  pulumirpc::AnalyzeResponse response;
  RpcStatus status = co_await impl->Send("Analyze", request, &response, std::move(cancel));
  if (!status.ok()) {
    co_return Fail(co_await impl->Explain(std::move(status), "Analyze"));
  }
  co_return impl->Decode(response);
}

Task<Result<Analysis>> AnalyzerClient::AnalyzeStack(std::vector<AnalyzedResource> resources,
                                                    CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::AnalyzeStackRequest request;
  for (const AnalyzedResource& resource : resources) {
    DAVIT_CO_TRY_VOID(FillStackResource(resource, request.add_resources()));
  }
  pulumirpc::AnalyzeResponse response;
  RpcStatus status = co_await impl->Send("AnalyzeStack", request, &response, std::move(cancel));
  if (status.code == RpcCode::kUnimplemented) {
    co_return Analysis();
  }
  if (!status.ok()) {
    co_return Fail(co_await impl->Explain(std::move(status), "AnalyzeStack"));
  }
  co_return impl->Decode(response);
}

Task<void> AnalyzerClient::Cancel() {
  const std::shared_ptr<Impl> impl = impl_;
  const google::protobuf::Empty request;
  google::protobuf::Empty response;
  // Whatever it answers, nothing more can be done about it.
  const RpcStatus status =
      co_await impl->Send("Cancel", request, &response, CancelToken(), kStopLimit);
  static_cast<void>(status);
}

Task<void> AnalyzerClient::Close() {
  const std::shared_ptr<Impl> impl = impl_;
  if (std::exchange(impl->is_closed, true)) {
    co_return;
  }
  co_await impl->channel.Close();
  co_await impl->options.process->End(impl->options.end_grace);
}

}  // namespace davit
