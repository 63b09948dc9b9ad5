// ProviderClient: functions, methods, remote components, enumeration and mappings (P69, P83-P87).

#include <fmt/format.h>

#include <algorithm>

#include "host/client/provider_client_impl.h"
#include "host/wire/goal_fields.h"
#include "pulumirpc/provider.pb.h"

namespace davit {
namespace {

// The surroundings that Construct and Call share (P83, P85).
template <typename Message>
void SetRunContext(const RunSurroundings& surroundings, Message* message) {
  message->set_monitorendpoint(surroundings.monitor_address);
  message->set_stack_trace_handle(surroundings.stack_trace_handle);
  if (surroundings.info == nullptr) {
    return;
  }
  const RunInfo& run = *surroundings.info;
  message->set_project(run.project);
  message->set_stack(run.stack);
  message->set_organization(run.organization);
  for (const auto& [key, value] : run.config) {
    (*message->mutable_config())[key] = value.text;
    if (value.is_secret) {
      message->add_configsecretkeys(key);
    }
  }
  message->set_dryrun(run.preview);
  message->set_parallel(run.parallel);
}

// What the answer says about dependencies, and those inside its output values (P84).
template <typename DependencyMap>
std::map<std::string, std::vector<Urn>> MergedDependencies(const DependencyMap& sent,
                                                           const PropertyMap& values) {
  std::map<std::string, std::vector<Urn>> merged;
  for (const auto& [key, dependencies] : sent) {
    std::vector<Urn>& urns = merged[key];
    for (const std::string& urn : dependencies.urns()) {
      urns.push_back(Urn::Trusted(urn));
    }
  }
  for (const auto& [key, value] : values) {
    for (std::string& urn : DependenciesIn(value)) {
      std::vector<Urn>& urns = merged[key];
      Urn dependency = Urn::Trusted(std::move(urn));
      if (std::ranges::find(urns, dependency) == urns.end()) {
        urns.push_back(std::move(dependency));
      }
    }
  }
  return merged;
}

}  // namespace

Task<Result<InvokeResponse>> ProviderClient::Invoke(InvokeRequest request, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::InvokeRequest message;
  message.set_tok(request.token);
  message.set_preview(request.preview);
  const Result<void> encoded =
      EncodeStruct(request.args, impl->Request(false, false), message.mutable_args());
  if (!encoded) {
    co_return NotSent(encoded.error(), "Invoke");
  }
  const HiddenTexts secrets = impl->Secrets({&request.args});
  pulumirpc::InvokeResponse response;
  RpcStatus status = co_await impl->Send("Invoke", message, &response, &secrets, std::move(cancel));
  if (!status.ok()) {
    co_return Fail(co_await impl->Explain(
        std::move(status), fmt::format("Invoke of '{}'", request.token), Urn(), Ambiguity::kNone));
  }
  Result<PropertyMap> values = DecodeOrEmpty(
      response.has_return_(), response.return_(), Impl::Response(Impl::Unknowns::kReject));
  if (!values) {
    co_return BadReply(values.error(), "Invoke", Ambiguity::kNone);
  }
  InvokeResponse result;
  result.result = *std::move(values);
  if (!impl->features.accepts_secrets && ContainsSecrets(request.args)) {  // P69
    for (auto& [key, value] : result.result) {
      value = MakeSecret(std::move(value));
    }
  }
  for (const pulumirpc::CheckFailure& failure : response.failures()) {
    result.failures.push_back(CheckFailure{failure.property(), failure.reason()});
  }
  co_return result;
}

Task<Result<CallResponse>> ProviderClient::Call(CallRequest request, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::CallRequest message;
  SetRunContext(request.run, &message);
  message.set_tok(request.token);
  message.set_dryrun(request.preview);
  message.set_accepts_output_values(true);
  for (const auto& [key, urns] : request.arg_dependencies) {
    AddUrns(urns, (*message.mutable_argdependencies())[key].mutable_urns());
  }
  CodecOptions codec;
  codec.keep_unknowns = true;
  codec.keep_secrets = true;
  codec.keep_resources = true;
  codec.keep_outputs = impl->features.accepts_outputs;
  codec.keep_byte_strings = impl->features.accepts_byte_strings;
  const Result<void> encoded = EncodeStruct(request.args, codec, message.mutable_args());
  if (!encoded) {
    co_return NotSent(encoded.error(), "Call");
  }
  const HiddenTexts secrets = impl->Secrets({&request.args});
  pulumirpc::CallResponse response;
  RpcStatus status = co_await impl->Send("Call", message, &response, &secrets, std::move(cancel));
  if (!status.ok()) {
    co_return Fail(co_await impl->Explain(
        std::move(status), fmt::format("Call of '{}'", request.token), Urn(), Ambiguity::kNone));
  }
  CodecOptions reply_codec =
      Impl::Response(request.preview ? Impl::Unknowns::kKeep : Impl::Unknowns::kDrop);
  reply_codec.keep_outputs = true;
  Result<PropertyMap> values =
      DecodeOrEmpty(response.has_return_(), response.return_(), reply_codec);
  if (!values) {
    co_return BadReply(values.error(), "Call", Ambiguity::kNone);
  }
  CallResponse result;
  result.dependencies = MergedDependencies(response.returndependencies(), *values);
  result.result = *std::move(values);
  for (const pulumirpc::CheckFailure& failure : response.failures()) {
    result.failures.push_back(CheckFailure{failure.property(), failure.reason()});
  }
  co_return result;
}

Task<Result<ConstructResponse>> ProviderClient::Construct(ConstructRequest request,
                                                          CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  const Goal& goal = request.goal;
  if (!impl->features.accepts_secrets) {  // P74
    co_return Fail(
        ErrorKind::kRefused,
        fmt::format("the plugin '{}' cannot build components: it does not accept secrets",
                    impl->options.package));
  }
  pulumirpc::ConstructRequest message;
  SetRunContext(request.run, &message);
  message.set_type(goal.type);
  message.set_name(goal.name);
  message.set_parent(goal.parent.text());
  for (const auto& [key, urns] : goal.property_dependencies) {
    AddUrns(urns, (*message.mutable_inputdependencies())[key].mutable_urns());
  }
  message.mutable_providers()->insert(goal.providers.begin(), goal.providers.end());
  AddUrns(goal.dependencies, message.mutable_dependencies());
  for (const AliasSpec& alias : goal.aliases) {
    SetAlias(alias, message.add_aliases());
  }
  if (goal.protect) {
    message.set_protect(*goal.protect);
  }
  if (goal.retain_on_delete) {
    message.set_retainondelete(*goal.retain_on_delete);
  }
  if (goal.delete_before_replace) {
    message.set_deletebeforereplace(*goal.delete_before_replace);
  }
  AddTexts(goal.additional_secret_outputs, message.mutable_additionalsecretoutputs());
  AddTexts(goal.ignore_changes, message.mutable_ignorechanges());
  AddTexts(goal.replace_on_changes, message.mutable_replaceonchanges());
  pulumirpc::ConstructRequest::CustomTimeouts* timeouts =
      message.mutable_customtimeouts();  // always present
  timeouts->set_create(DurationText(goal.custom_timeouts.create));
  timeouts->set_update(DurationText(goal.custom_timeouts.update));
  timeouts->set_delete_(DurationText(goal.custom_timeouts.delete_));
  timeouts->set_read(DurationText(goal.custom_timeouts.read));
  message.set_deletedwith(goal.deleted_with.text());
  AddUrns(goal.replace_with, message.mutable_replace_with());
  message.set_accepts_output_values(true);
  CodecOptions codec = impl->Request(true, false);
  codec.keep_outputs = impl->features.accepts_outputs;
  Result<void> encoded = EncodeStruct(goal.properties, codec, message.mutable_inputs());
  if (encoded && !goal.replacement_trigger.is_null()) {
    encoded = EncodeValue(goal.replacement_trigger, codec, message.mutable_replacement_trigger());
  }
  if (!encoded) {
    co_return NotSent(encoded.error(), "Construct");
  }
  const HiddenTexts secrets = impl->Secrets({&goal.properties});
  pulumirpc::ConstructResponse response;
  RpcStatus status =
      co_await impl->Send("Construct", message, &response, &secrets, std::move(cancel));
  if (!status.ok()) {
    co_return Fail(
        co_await impl->Explain(std::move(status),
                               fmt::format("Construct of '{}' ({})", goal.name, goal.type),
                               Urn(),
                               Ambiguity::kNone));
  }
  const bool is_preview = request.run.info != nullptr && request.run.info->preview;
  CodecOptions reply_codec =
      Impl::Response(is_preview ? Impl::Unknowns::kKeep : Impl::Unknowns::kDrop);
  reply_codec.keep_outputs = true;
  Result<Urn> urn = Urn::Parse(response.urn());
  if (!urn) {
    co_return BadReply(urn.error(), "Construct", Ambiguity::kNone);
  }
  Result<PropertyMap> state = DecodeOrEmpty(response.has_state(), response.state(), reply_codec);
  if (!state) {
    co_return BadReply(state.error(), "Construct", Ambiguity::kNone);
  }
  ConstructResponse outcome;
  outcome.urn = *std::move(urn);
  outcome.state_dependencies = MergedDependencies(response.statedependencies(), *state);
  outcome.state = *std::move(state);
  co_return outcome;
}

Task<Result<ListOutcome>> ProviderClient::List(ListQuery query, CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::ListRequest message;
  message.set_token(query.token);
  message.set_limit(query.limit);
  message.set_page_size(query.page_size);
  message.set_continuation_token(query.continuation);
  const Result<void> encoded =
      EncodeStruct(query.query, impl->Request(false, false), message.mutable_query());
  if (!encoded) {
    co_return NotSent(encoded.error(), "List");
  }
  const HiddenTexts secrets = impl->Secrets({&query.query});
  ListOutcome outcome;
  pulumirpc::ListResponse response;
  const auto limit = static_cast<std::size_t>(std::max(query.limit, 0L));
  std::function<bool()> take = [&outcome, &response, limit] {
    if (response.has_computed()) {
      outcome.is_computed = true;
    } else if (response.has_result()) {
      outcome.resources.push_back(ListedResource{response.result().id(), response.result().name()});
    } else if (response.has_continuation()) {
      outcome.continuation = response.continuation().continuation_token();
      return false;
    }
    return limit == 0 || outcome.resources.size() < limit;
  };
  CallOptions call;
  call.method = "/pulumirpc.ResourceProvider/List";
  call.deadline = impl->call_deadline;
  call.secrets = &secrets;
  RpcStatus status = co_await CallStreaming(
      impl->Peer(), std::move(call), message, &response, std::move(take), std::move(cancel));
  if (!status.ok()) {
    co_return Fail(co_await impl->Explain(
        std::move(status), fmt::format("List of '{}'", query.token), Urn(), Ambiguity::kNone));
  }
  co_return outcome;
}

Task<Result<std::string>> ProviderClient::GetMapping(std::string key,
                                                     std::string provider,
                                                     CancelToken cancel) {
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::GetMappingRequest request;
  request.set_key(key);
  request.set_provider(provider);
  pulumirpc::GetMappingResponse response;
  RpcStatus status =
      co_await impl->Send("GetMapping", request, &response, nullptr, std::move(cancel));
  if (status.code == RpcCode::kUnimplemented) {
    co_return std::string();
  }
  if (!status.ok()) {
    co_return Fail(
        co_await impl->Explain(std::move(status), "GetMapping", Urn(), Ambiguity::kNone));
  }
  co_return std::move(*response.mutable_data());
}

Task<Result<std::optional<std::vector<std::string>>>> ProviderClient::GetMappings(
    std::string key, CancelToken cancel) {
  using Names = std::optional<std::vector<std::string>>;
  const std::shared_ptr<Impl> impl = impl_;
  pulumirpc::GetMappingsRequest request;
  request.set_key(key);
  pulumirpc::GetMappingsResponse response;
  RpcStatus status =
      co_await impl->Send("GetMappings", request, &response, nullptr, std::move(cancel));
  if (status.code == RpcCode::kUnimplemented) {
    co_return Names();
  }
  if (!status.ok()) {
    co_return Fail(
        co_await impl->Explain(std::move(status), "GetMappings", Urn(), Ambiguity::kNone));
  }
  co_return Names(
      std::vector<std::string>(response.providers().begin(), response.providers().end()));
}

}  // namespace davit
