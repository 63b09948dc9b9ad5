// ProviderClient: configuration and the life cycle of resources. What is sent as an empty struct
// and what is left out follows the recordings of the reference engine (P69, P70, P81).

#include "host/client/provider_client.h"

#include <fmt/format.h>

#include "host/client/asset_refill.h"
#include "host/client/provider_client_impl.h"
#include "pulumirpc/provider.pb.h"

namespace davit {
namespace {

pulumirpc::CheckRequest::AutonamingOptions::Mode WireMode(AutonamingOptions::Mode mode) {
  switch (mode) {
    case AutonamingOptions::Mode::kPropose:
      return pulumirpc::CheckRequest::AutonamingOptions::PROPOSE;
    case AutonamingOptions::Mode::kEnforce:
      return pulumirpc::CheckRequest::AutonamingOptions::ENFORCE;
    case AutonamingOptions::Mode::kDisable:
      return pulumirpc::CheckRequest::AutonamingOptions::DISABLE;
  }
  return pulumirpc::CheckRequest::AutonamingOptions::PROPOSE;
}

// P73.
template <typename Message>
void SetIdentity(const Urn& urn, Message* message) {
  message->set_urn(urn.text());
  message->set_name(std::string(urn.name()));
  message->set_type(std::string(urn.type()));
}

template <typename Message>
void SetStatusTarget(const std::string& address, const std::string& token, Message* message) {
  if (!token.empty() && !address.empty()) {
    message->set_resource_status_address(address);
    message->set_resource_status_token(token);
  }
}

// E194; assets go in full (P69).
template <typename Message>
Result<void> AddViews(const std::vector<View>& views, const CodecOptions& codec, Message* message) {
  for (const View& view : views) {
    auto* added = message->add_old_views();
    added->set_type(view.type);
    added->set_name(view.name);
    DAVIT_TRY_VOID(EncodeStruct(view.inputs, codec, added->mutable_inputs()));
    DAVIT_TRY_VOID(EncodeStruct(view.outputs, codec, added->mutable_outputs()));
  }
  return {};
}

// P74: providers that answer CheckConfig and DiffConfig wrongly where they mean "not implemented".
bool MeansUnimplemented(const RpcStatus& status, const Urn& urn) {
  if (status.code == RpcCode::kInternal && urn.type() == "pulumi:providers:pulumi-nodejs") {
    return true;
  }
  return status.code == RpcCode::kUnknown && urn.type() == "pulumi:providers:kubernetes" &&
         status.message.find("Unimplemented") != std::string::npos;
}

CheckResponse CheckResult(const pulumirpc::CheckResponse& response, PropertyMap inputs) {
  CheckResponse result;
  result.inputs = std::move(inputs);
  for (const pulumirpc::CheckFailure& failure : response.failures()) {
    result.failures.push_back(CheckFailure{failure.property(), failure.reason()});
  }
  return result;
}

DiffKind ToDiffKind(pulumirpc::PropertyDiff::Kind kind) {
  return pulumirpc::PropertyDiff::Kind_IsValid(kind) ? static_cast<DiffKind>(kind)
                                                     : DiffKind::kUpdate;
}

// P79.
DiffResponse DiffResult(const pulumirpc::DiffResponse& response) {
  DiffResponse result;
  if (response.changes() == pulumirpc::DiffResponse::DIFF_NONE) {
    result.changes = DiffChanges::kNone;
  } else if (response.changes() == pulumirpc::DiffResponse::DIFF_SOME) {
    result.changes = DiffChanges::kSome;
  }
  result.replaces.assign(response.replaces().begin(), response.replaces().end());
  result.stables.assign(response.stables().begin(), response.stables().end());
  result.diffs.assign(response.diffs().begin(), response.diffs().end());
  result.delete_before_replace = response.deletebeforereplace();
  if (response.hasdetaileddiff()) {
    result.detailed.emplace();
    for (const auto& [path, entry] : response.detaileddiff()) {
      (*result.detailed)[path] =
          PropertyDiff{.kind = ToDiffKind(entry.kind()), .input_diff = entry.inputdiff()};
    }
  }
  return result;
}

// The reasons of a partial failure; never empty, because that would read as success.
std::vector<std::string> Reasons(const pulumirpc::ErrorResourceInitFailed& failed,
                                 const RpcStatus& status) {
  std::vector<std::string> reasons(failed.reasons().begin(), failed.reasons().end());
  if (reasons.empty()) {
    reasons.push_back(status.message.empty() ? "the resource was not initialised" : status.message);
  }
  return reasons;
}

// P49: text as it is, everything else as compact JSON without secrets.
Result<std::string> VariableText(const PropertyValue& value) {
  const PropertyValue plain = Plain(value);
  if (const std::string* text = plain.as_string()) {
    return *text;
  }
  CodecOptions codec;
  codec.keep_unknowns = true;
  codec.keep_resources = true;
  google::protobuf::Value encoded;
  DAVIT_TRY_VOID(EncodeValue(plain, codec, &encoded));
  return MessageJson(encoded, true, nullptr);
}

}  // namespace

Task<Result<CheckResponse>> ProviderClient::CheckConfig(CheckRequest request, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::CheckRequest message;
  SetIdentity(request.urn, &message);
  CodecOptions codec;
  codec.keep_unknowns = request.allow_unknowns;
  Result<void> encoded = EncodeStruct(request.olds, codec, message.mutable_olds());
  if (encoded) {
    encoded = EncodeStruct(request.news, codec, message.mutable_news());
  }
  if (!encoded) {
    co_return NotSent(encoded.error(), "CheckConfig");
  }
  const HiddenTexts secrets = impl->Secrets({&request.olds, &request.news});
  pulumirpc::CheckResponse response;
  RpcStatus status =
      co_await impl->Send("CheckConfig", message, &response, &secrets, std::move(cancel));
  if (!status.ok()) {
    if (MeansUnimplemented(status, request.urn)) {
      status.code = RpcCode::kUnimplemented;
    }
    co_return Fail(
        co_await impl->Explain(std::move(status), "CheckConfig", request.urn, Ambiguity::kNone));
  }
  Result<PropertyMap> inputs = DecodeOrEmpty(
      response.has_inputs(),
      response.inputs(),
      Impl::Response(request.allow_unknowns ? Impl::Unknowns::kKeep : Impl::Unknowns::kReject));
  if (!inputs) {
    co_return BadReply(inputs.error(), "CheckConfig", Ambiguity::kNone);
  }
  co_return CheckResult(response, AnnotateSecrets(*inputs, request.news));
}

Task<Result<DiffResponse>> ProviderClient::DiffConfig(DiffRequest request, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::DiffRequest message;
  SetIdentity(request.urn, &message);
  CodecOptions codec;
  codec.keep_unknowns = true;
  Result<void> encoded = EncodeStruct(request.old_inputs, codec, message.mutable_old_inputs());
  if (encoded) {
    encoded = EncodeStruct(request.old_outputs, codec, message.mutable_olds());
  }
  if (encoded) {
    encoded = EncodeStruct(request.new_inputs, codec, message.mutable_news());
  }
  if (!encoded) {
    co_return NotSent(encoded.error(), "DiffConfig");
  }
  for (const std::string& path : request.ignore_changes) {
    message.add_ignorechanges(path);
  }
  const HiddenTexts secrets =
      impl->Secrets({&request.old_inputs, &request.old_outputs, &request.new_inputs});
  pulumirpc::DiffResponse response;
  RpcStatus status =
      co_await impl->Send("DiffConfig", message, &response, &secrets, std::move(cancel));
  if (!status.ok()) {
    const bool is_kubernetes_old_text =
        request.urn.type() == "pulumi:providers:kubernetes" &&
        status.message.find("cannot unmarshal string into Go value of type struct") !=
            std::string::npos;
    if (MeansUnimplemented(status, request.urn) || is_kubernetes_old_text) {
      status.code = RpcCode::kUnimplemented;
    }
    co_return Fail(
        co_await impl->Explain(std::move(status), "DiffConfig", request.urn, Ambiguity::kNone));
  }
  co_return DiffResult(response);
}

Task<Result<void>> ProviderClient::Configure(ConfigureRequest request, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::ConfigureRequest message;
  SetIdentity(request.urn, &message);
  message.set_id(request.id);
  message.set_acceptsecrets(true);
  message.set_acceptresources(true);
  message.set_sends_old_inputs(true);
  message.set_sends_old_inputs_to_delete(true);
  const std::string package(request.urn.type().substr(kProviderTypePrefix.size()));
  for (const auto& [key, value] : request.inputs) {
    if (key == "version") {
      continue;
    }
    Result<std::string> text = VariableText(value);
    if (!text) {
      co_return NotSent(text.error(), "Configure");
    }
    (*message.mutable_variables())[package + ":config:" + key] = *std::move(text);
  }
  CodecOptions codec;
  codec.keep_unknowns = true;
  codec.keep_secrets = true;
  codec.keep_resources = true;
  const Result<void> encoded = EncodeStruct(request.inputs, codec, message.mutable_args());
  if (!encoded) {
    co_return NotSent(encoded.error(), "Configure");
  }
  const HiddenTexts secrets = impl->Secrets({&request.inputs});
  pulumirpc::ConfigureResponse response;
  RpcStatus status =
      co_await impl->Send("Configure", message, &response, &secrets, std::move(cancel));
  if (!status.ok()) {
    co_return Fail(
        co_await impl->Explain(std::move(status), "Configure", request.urn, Ambiguity::kNone));
  }
  if (!impl->has_handshake) {  // P44
    impl->features.accepts_secrets = response.acceptsecrets();
    impl->features.accepts_resources = response.acceptresources();
    impl->features.accepts_outputs = response.acceptoutputs();
    impl->features.supports_preview = response.supportspreview();
    impl->features.supports_autonaming = response.supports_autonaming_configuration();
  }
  co_return Result<void>();
}

Task<Result<CheckResponse>> ProviderClient::Check(CheckRequest request, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::CheckRequest message;
  SetIdentity(request.urn, &message);
  message.set_randomseed(request.random_seed);
  const CodecOptions codec = impl->Request(request.allow_unknowns, false);
  Result<void> encoded = EncodeStruct(request.olds, codec, message.mutable_olds());
  if (encoded) {
    encoded = EncodeStruct(request.old_outputs, codec, message.mutable_old_outputs());
  }
  if (encoded) {
    encoded = EncodeStruct(request.news, codec, message.mutable_news());
  }
  if (!encoded) {
    co_return NotSent(encoded.error(), "Check");
  }
  if (request.autonaming) {
    message.mutable_autonaming()->set_proposed_name(request.autonaming->proposed_name);
    message.mutable_autonaming()->set_mode(WireMode(request.autonaming->mode));
  }
  const HiddenTexts secrets = impl->Secrets({&request.olds, &request.old_outputs, &request.news});
  pulumirpc::CheckResponse response;
  RpcStatus status = co_await impl->Send("Check", message, &response, &secrets, std::move(cancel));
  if (!status.ok()) {
    co_return Fail(
        co_await impl->Explain(std::move(status), "Check", request.urn, Ambiguity::kNone));
  }
  Result<PropertyMap> inputs = DecodeOrEmpty(
      response.has_inputs(),
      response.inputs(),
      Impl::Response(request.allow_unknowns ? Impl::Unknowns::kKeep : Impl::Unknowns::kReject));
  if (!inputs) {
    co_return BadReply(inputs.error(), "Check", Ambiguity::kNone);
  }
  co_return CheckResult(response, impl->Annotated(*std::move(inputs), request.news));
}

Task<Result<DiffResponse>> ProviderClient::Diff(DiffRequest request, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::DiffRequest message;
  SetIdentity(request.urn, &message);
  message.set_id(request.id);
  for (const std::string& path : request.ignore_changes) {
    message.add_ignorechanges(path);
  }
  const CodecOptions codec = impl->Request(request.allow_unknowns, true);
  Result<void> encoded = EncodeStruct(request.old_inputs, codec, message.mutable_old_inputs());
  if (encoded) {
    encoded = EncodeStruct(request.old_outputs, codec, message.mutable_olds());
  }
  if (encoded) {
    encoded = EncodeStruct(request.new_inputs, codec, message.mutable_news());
  }
  if (!encoded) {
    co_return NotSent(encoded.error(), "Diff");
  }
  const HiddenTexts secrets =
      impl->Secrets({&request.old_inputs, &request.old_outputs, &request.new_inputs});
  pulumirpc::DiffResponse response;
  RpcStatus status = co_await impl->Send("Diff", message, &response, &secrets, std::move(cancel));
  if (!status.ok()) {
    co_return Fail(
        co_await impl->Explain(std::move(status), "Diff", request.urn, Ambiguity::kNone));
  }
  co_return DiffResult(response);
}

Task<Result<CreateResponse>> ProviderClient::Create(CreateRequest request, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::CreateRequest message;
  SetIdentity(request.urn, &message);
  SetStatusTarget(impl->options.status_address, request.status_token, &message);
  message.set_timeout(request.timeout_seconds);
  message.set_preview(request.preview);
  const Result<void> encoded = EncodeStruct(
      request.inputs, impl->Request(request.preview, false), message.mutable_properties());
  if (!encoded) {
    co_return NotSent(encoded.error(), "Create");
  }
  const HiddenTexts secrets = impl->Secrets({&request.inputs});
  const CodecOptions codec =
      Impl::Response(request.preview ? Impl::Unknowns::kKeep : Impl::Unknowns::kReject);
  pulumirpc::CreateResponse response;
  RpcStatus status = co_await impl->Send("Create", message, &response, &secrets, std::move(cancel));
  CreateResponse result;
  Result<PropertyMap> outputs = PropertyMap();
  pulumirpc::ErrorResourceInitFailed failed;
  if (status.ok()) {
    result.id = response.id();
    result.refresh_before_update = response.refresh_before_update();
    outputs = DecodeOrEmpty(response.has_properties(), response.properties(), codec);
  } else if (FindDetail(status, &failed)) {  // P77
    result.id = failed.id();
    result.refresh_before_update = failed.refresh_before_update();
    result.init_errors = Reasons(failed, status);
    outputs = DecodeOrEmpty(failed.has_properties(), failed.properties(), codec);
  } else {
    // P76 [Q]: a provider's own error of a create says that nothing was made, whatever its code.
    co_return Fail(
        co_await impl->Explain(std::move(status), "Create", request.urn, Ambiguity::kNone));
  }
  if (!outputs) {
    co_return BadReply(
        outputs.error(), "Create", request.preview ? Ambiguity::kNone : Ambiguity::kOutcomeUnknown);
  }
  result.outputs = impl->Annotated(*std::move(outputs), request.inputs);
  co_return result;
}

Task<Result<UpdateResponse>> ProviderClient::Update(UpdateRequest request, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::UpdateRequest message;
  SetIdentity(request.urn, &message);
  SetStatusTarget(impl->options.status_address, request.status_token, &message);
  message.set_id(request.id);
  message.set_timeout(request.timeout_seconds);
  message.set_preview(request.preview);
  for (const std::string& path : request.ignore_changes) {
    message.add_ignorechanges(path);
  }
  const CodecOptions old_codec = impl->Request(false, true);
  Result<void> encoded = EncodeStruct(request.old_outputs, old_codec, message.mutable_olds());
  if (encoded) {
    encoded = EncodeStruct(request.old_inputs, old_codec, message.mutable_old_inputs());
  }
  if (encoded) {
    encoded = EncodeStruct(
        request.new_inputs, impl->Request(request.preview, false), message.mutable_news());
  }
  if (encoded) {
    encoded = AddViews(request.old_views, impl->Request(false, false), &message);
  }
  if (!encoded) {
    co_return NotSent(encoded.error(), "Update");
  }
  const HiddenTexts secrets = impl->Secrets(
      {&request.old_inputs, &request.old_outputs, &request.new_inputs}, request.old_views);
  const CodecOptions codec =
      Impl::Response(request.preview ? Impl::Unknowns::kKeep : Impl::Unknowns::kReject);
  const Ambiguity ambiguity = request.preview ? Ambiguity::kNone : Ambiguity::kOutcomeUnknown;
  pulumirpc::UpdateResponse response;
  RpcStatus status = co_await impl->Send("Update", message, &response, &secrets, std::move(cancel));
  UpdateResponse result;
  Result<PropertyMap> outputs = PropertyMap();
  pulumirpc::ErrorResourceInitFailed failed;
  if (status.ok()) {
    result.refresh_before_update = response.refresh_before_update();
    outputs = DecodeOrEmpty(response.has_properties(), response.properties(), codec);
  } else if (FindDetail(status, &failed)) {  // P77
    result.refresh_before_update = failed.refresh_before_update();
    result.init_errors = Reasons(failed, status);
    outputs = DecodeOrEmpty(failed.has_properties(), failed.properties(), codec);
  } else {
    co_return Fail(co_await impl->Explain(std::move(status), "Update", request.urn, ambiguity));
  }
  if (!outputs) {
    co_return BadReply(outputs.error(), "Update", ambiguity);
  }
  result.outputs = impl->Annotated(*std::move(outputs), request.new_inputs);
  co_return result;
}

Task<Result<ReadResponse>> ProviderClient::Read(ReadRequest request, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::ReadRequest message;
  SetIdentity(request.urn, &message);
  SetStatusTarget(impl->options.status_address, request.status_token, &message);
  message.set_id(request.id);
  message.set_timeout(request.timeout_seconds);
  message.mutable_properties();  // sent empty by an import, which leaves the inputs out
  if (request.send_inputs) {
    const CodecOptions old_codec = impl->Request(false, true);
    Result<void> encoded;
    if (!request.inputs.empty()) {
      encoded = EncodeStruct(request.inputs, old_codec, message.mutable_inputs());
    }
    if (encoded) {
      encoded = EncodeStruct(request.state, old_codec, message.mutable_properties());
    }
    if (encoded) {
      encoded = AddViews(request.old_views, impl->Request(false, false), &message);
    }
    if (!encoded) {
      co_return NotSent(encoded.error(), "Read");
    }
  }
  const HiddenTexts secrets = impl->Secrets({&request.inputs, &request.state}, request.old_views);
  const CodecOptions codec = Impl::Response(Impl::Unknowns::kReject);
  pulumirpc::ReadResponse response;
  RpcStatus status = co_await impl->Send("Read", message, &response, &secrets, std::move(cancel));
  ReadResponse result;
  pulumirpc::ErrorResourceInitFailed failed;
  if (!status.ok()) {
    if (!FindDetail(status, &failed)) {
      co_return Fail(co_await impl->Explain(
          std::move(status), "Read", request.urn, Ambiguity::kOutcomeUnknown));
    }
    result.init_errors = Reasons(failed, status);  // P77
    response.set_id(failed.id());
    response.set_refresh_before_update(failed.refresh_before_update());
    if (failed.has_properties()) {
      response.mutable_properties()->Swap(failed.mutable_properties());
    }
    if (failed.has_inputs()) {
      response.mutable_inputs()->Swap(failed.mutable_inputs());
    }
  }
  result.id = response.id();
  result.refresh_before_update = response.refresh_before_update();
  if (response.has_properties()) {
    Result<PropertyMap> outputs = DecodeStruct(response.properties(), codec);
    if (!outputs) {
      co_return BadReply(outputs.error(), "Read", Ambiguity::kNone);
    }
    result.outputs = impl->Annotated(RefillAssets(*outputs, request.inputs), request.state);
  }
  if (response.has_inputs()) {
    Result<PropertyMap> inputs = DecodeStruct(response.inputs(), codec);
    if (!inputs) {
      co_return BadReply(inputs.error(), "Read", Ambiguity::kNone);
    }
    result.inputs = impl->Annotated(RefillAssets(*inputs, request.inputs), request.inputs);
  }
  co_return result;
}

Task<Result<void>> ProviderClient::Delete(DeleteRequest request, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::DeleteRequest message;
  SetIdentity(request.urn, &message);
  SetStatusTarget(impl->options.status_address, request.status_token, &message);
  message.set_id(request.id);
  message.set_timeout(request.timeout_seconds);
  const CodecOptions codec = impl->Request(false, true);
  Result<void> encoded = EncodeStruct(request.outputs, codec, message.mutable_properties());
  if (encoded) {
    encoded = EncodeStruct(request.inputs, codec, message.mutable_old_inputs());
  }
  if (encoded) {
    encoded = AddViews(request.old_views, impl->Request(false, false), &message);
  }
  if (!encoded) {
    co_return NotSent(encoded.error(), "Delete");
  }
  const HiddenTexts secrets = impl->Secrets({&request.inputs, &request.outputs}, request.old_views);
  google::protobuf::Empty response;
  RpcStatus status = co_await impl->Send("Delete", message, &response, &secrets, std::move(cancel));
  if (!status.ok()) {
    co_return Fail(co_await impl->Explain(
        std::move(status), "Delete", request.urn, Ambiguity::kOutcomeUnknown));
  }
  co_return Result<void>();
}

}  // namespace davit
