#include "providers/kit/provider_service.h"

#include <fmt/format.h>

#include <utility>

#include "host/wire/message_io.h"
#include "host/wire/status_codec.h"
#include "host/wire/value_codec.h"
#include "pulumirpc/plugin.pb.h"
#include "pulumirpc/provider.pb.h"

namespace davit::kit {
namespace {

namespace rpc = pulumirpc;

RpcCode CodeOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalid:
      return RpcCode::kInvalidArgument;
    case ErrorKind::kRefused:
      return RpcCode::kFailedPrecondition;
    case ErrorKind::kFailed:
      return RpcCode::kAborted;
    case ErrorKind::kOutcomeUnknown:
      return RpcCode::kUnknown;
    case ErrorKind::kUnavailable:
      return RpcCode::kUnavailable;
    case ErrorKind::kUnimplemented:
      return RpcCode::kUnimplemented;
    case ErrorKind::kCancelled:
      return RpcCode::kCancelled;
    case ErrorKind::kBug:
      break;
  }
  return RpcCode::kInternal;
}

RawAnswer FailedAnswer(const Error& error) {
  RpcStatus status{.code = CodeOf(error.kind), .message = error.Text()};
  return {.status = std::move(status), .bytes = {}};
}

RawAnswer OkAnswer(const google::protobuf::MessageLite& response) {
  return {.status = {}, .bytes = SerializeMessage(response)};
}

template <typename Message>
Result<Message> Parse(const std::string& bytes) {
  Message message;
  if (!ParseMessage(bytes, &message)) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("the request is not a {} or is nested too deeply",
                            message.GetDescriptor()->name()));
  }
  return message;
}

/// Like DAVIT_TRY, in a function that gives a RawAnswer.
#define KIT_TRY(declaration, expression)                            \
  auto DAVIT_JOIN(kit_result_, __LINE__) = (expression);            \
  if (!DAVIT_JOIN(kit_result_, __LINE__)) {                         \
    return FailedAnswer(DAVIT_JOIN(kit_result_, __LINE__).error()); \
  }                                                                 \
  declaration = std::move(DAVIT_JOIN(kit_result_, __LINE__)).value()

#define KIT_TRY_VOID(expression)               \
  do {                                         \
    auto kit_result = (expression);            \
    if (!kit_result) {                         \
      return FailedAnswer(kit_result.error()); \
    }                                          \
  } while (false)

Result<PropertyMap> Decode(const google::protobuf::Struct& bag) {
  CodecOptions options;
  options.keep_unknowns = true;
  options.keep_secrets = true;
  options.keep_resources = true;
  return DecodeStruct(bag, options);
}

Result<void> Encode(const PropertyMap& map,
                    bool accepts_byte_strings,
                    google::protobuf::Struct* bag) {
  CodecOptions options;
  options.keep_unknowns = true;
  options.keep_secrets = true;
  options.keep_resources = true;
  options.keep_byte_strings = accepts_byte_strings;
  return EncodeStruct(map, options, bag);
}

void AddFailures(const std::vector<CheckFailure>& failures,
                 google::protobuf::RepeatedPtrField<rpc::CheckFailure>* out) {
  for (const CheckFailure& failure : failures) {
    rpc::CheckFailure* added = out->Add();
    added->set_property(failure.property);
    added->set_reason(failure.reason);
  }
}

void FillDiff(const DiffResponse& response, rpc::DiffResponse* out) {
  out->set_changes(static_cast<rpc::DiffResponse::DiffChanges>(response.changes));
  out->mutable_replaces()->Add(response.replaces.begin(), response.replaces.end());
  out->mutable_stables()->Add(response.stables.begin(), response.stables.end());
  out->mutable_diffs()->Add(response.diffs.begin(), response.diffs.end());
  out->set_deletebeforereplace(response.delete_before_replace);
  out->set_hasdetaileddiff(response.detailed.has_value());
  if (response.detailed) {
    for (const auto& [path, diff] : *response.detailed) {
      rpc::PropertyDiff& entry = (*out->mutable_detaileddiff())[path];
      entry.set_kind(static_cast<rpc::PropertyDiff::Kind>(diff.kind));
      entry.set_inputdiff(diff.input_diff);
    }
  }
}

/// What a partial failure tells (P77).
struct PartialState {
  std::string id;
  const PropertyMap& outputs;
  const PropertyMap& inputs;
  bool refresh_before_update;
  const std::vector<std::string>& reasons;
};

RawAnswer PartialAnswer(const PartialState& state, bool accepts_byte_strings) {
  rpc::ErrorResourceInitFailed detail;
  detail.set_id(state.id);
  detail.set_refresh_before_update(state.refresh_before_update);
  KIT_TRY_VOID(Encode(state.outputs, accepts_byte_strings, detail.mutable_properties()));
  KIT_TRY_VOID(Encode(state.inputs, accepts_byte_strings, detail.mutable_inputs()));
  RpcStatus status{.code = RpcCode::kUnknown, .message = "the resource is not ready"};
  for (const std::string& reason : state.reasons) {
    detail.add_reasons(reason);
    status.message += (&reason == &state.reasons.front() ? ": " : "; ") + reason;
  }
  AddDetail(detail, &status);
  return {.status = std::move(status), .bytes = {}};
}

}  // namespace

ProviderService::ProviderService(ProviderPackage package) : package_(std::move(package)) {
  PackageSchema schema{.name = package_.name,
                       .version = package_.version,
                       .description = package_.description,
                       .config = package_.config};
  for (const std::shared_ptr<ResourceHandler>& handler : package_.resources) {
    schema.resources.push_back(handler->schema());
    handlers_[handler->schema().token] = handler;
  }
  for (const Function& function : package_.functions) {
    schema.functions.push_back(function.schema);
    functions_[function.schema.token] = function;
  }
  schema_json_ = package_.schema_json.empty() ? SchemaJson(schema) : package_.schema_json;
}

RawAnswer ProviderService::Answer(std::string_view method,
                                  const std::string& request,
                                  ServedCall& call) {
  try {
    if (package_.intercept) {
      if (std::optional<RawAnswer> answer = package_.intercept(method, request, call)) {
        return *std::move(answer);
      }
    }
    return Dispatch(method, request, call);
  } catch (const std::exception& thrown) {
    return FailedAnswer(MakeError(
        ErrorKind::kBug,
        fmt::format("a bug in provider '{}': {}: {}", package_.name, method, thrown.what())));
  }
}

std::string ProviderService::EngineAddressIn(std::string_view method, const std::string& request) {
  if (method == "Handshake") {
    Result<rpc::ProviderHandshakeRequest> message = Parse<rpc::ProviderHandshakeRequest>(request);
    return message ? message->engine_address() : std::string();
  }
  if (method == "Attach") {
    Result<rpc::PluginAttach> message = Parse<rpc::PluginAttach>(request);
    return message ? message->address() : std::string();
  }
  return {};
}

RawAnswer ProviderService::Dispatch(std::string_view method,
                                    const std::string& request,
                                    ServedCall& call) {
  if (method == "Check") {
    return Check(request, call);
  }
  if (method == "Diff") {
    return Diff(request, call);
  }
  if (method == "Create") {
    return Create(request, call);
  }
  if (method == "Read") {
    return Read(request, call);
  }
  if (method == "Update") {
    return Update(request, call);
  }
  if (method == "Delete") {
    return Delete(request, call);
  }
  if (method == "Invoke") {
    return Invoke(request, call);
  }
  if (method == "Handshake") {
    return Handshake(request);
  }
  if (method == "GetPluginInfo") {
    return GetPluginInfo();
  }
  if (method == "GetSchema") {
    return GetSchema(request);
  }
  if (method == "CheckConfig") {
    return CheckConfig(request);
  }
  if (method == "DiffConfig") {
    return DiffConfig(request);
  }
  if (method == "Configure") {
    return Configure(request, call);
  }
  if (method == "Cancel" || method == "Attach") {
    return {};  // what they ask for is done by the server; the answer is an empty message
  }
  return FailedAnswer(
      MakeError(ErrorKind::kUnimplemented,
                fmt::format("provider '{}' does not offer {}", package_.name, method)));
}

RawAnswer ProviderService::Handshake(const std::string& request) {
  KIT_TRY(const auto message, Parse<rpc::ProviderHandshakeRequest>(request));
  engine_accepts_byte_strings_ = message.accepts_byte_string();
  rpc::ProviderHandshakeResponse response;
  response.set_accept_secrets(true);
  response.set_accept_resources(true);
  response.set_accepts_byte_string(true);
  return OkAnswer(response);
}

RawAnswer ProviderService::GetSchema(const std::string& request) {
  KIT_TRY(const auto message, Parse<rpc::GetSchemaRequest>(request));
  if (message.version() != 0) {
    return FailedAnswer(
        MakeError(ErrorKind::kInvalid,
                  fmt::format("schemas of version {} are not offered, only 0", message.version())));
  }
  rpc::GetSchemaResponse response;
  response.set_schema(schema_json_);
  return OkAnswer(response);
}

RawAnswer ProviderService::GetPluginInfo() {
  rpc::PluginInfo response;
  response.set_version(package_.version);
  return OkAnswer(response);
}

RawAnswer ProviderService::CheckConfig(const std::string& request) {
  KIT_TRY(const auto message, Parse<rpc::CheckRequest>(request));
  KIT_TRY(PropertyMap news, Decode(message.news()));
  // `version` belongs to the engine (P47).
  const auto version = news.extract("version");
  CheckResponse checked =
      CheckDeclared(package_.config, "provider " + package_.name, false, std::move(news));
  if (!version.empty()) {
    checked.inputs[version.key()] = version.mapped();
  }
  rpc::CheckResponse response;
  AddFailures(checked.failures, response.mutable_failures());
  KIT_TRY_VOID(Encode(checked.inputs, engine_accepts_byte_strings_, response.mutable_inputs()));
  return OkAnswer(response);
}

RawAnswer ProviderService::DiffConfig(const std::string& request) {
  KIT_TRY(const auto message, Parse<rpc::DiffRequest>(request));
  KIT_TRY(PropertyMap olds, Decode(message.old_inputs()));
  KIT_TRY(PropertyMap news, Decode(message.news()));
  olds.erase("version");
  news.erase("version");
  rpc::DiffResponse response;
  FillDiff(DiffDeclared(package_.config, olds, news), &response);
  return OkAnswer(response);
}

RawAnswer ProviderService::Configure(const std::string& request, ServedCall& call) {
  KIT_TRY(const auto message, Parse<rpc::ConfigureRequest>(request));
  KIT_TRY(const PropertyMap config, Decode(message.args()));
  if (package_.configure) {
    KIT_TRY_VOID(package_.configure(config, call));
  }
  rpc::ConfigureResponse response;
  response.set_acceptsecrets(true);
  response.set_acceptresources(true);
  response.set_supportspreview(true);
  return OkAnswer(response);
}

RawAnswer ProviderService::Check(const std::string& request, ServedCall& call) {
  KIT_TRY(const auto message, Parse<rpc::CheckRequest>(request));
  CheckRequest check;
  call.urn = message.urn();
  check.urn = Urn::Trusted(call.urn);
  check.random_seed = message.randomseed();
  check.allow_unknowns = true;
  KIT_TRY(check.olds, Decode(message.olds()));
  KIT_TRY(check.old_outputs, Decode(message.old_outputs()));
  KIT_TRY(check.news, Decode(message.news()));
  KIT_TRY(ResourceHandler * handler, HandlerOf(call.urn, message.type()));
  KIT_TRY(const CheckResponse checked, handler->Check(check, call));
  rpc::CheckResponse response;
  AddFailures(checked.failures, response.mutable_failures());
  KIT_TRY_VOID(Encode(checked.inputs, engine_accepts_byte_strings_, response.mutable_inputs()));
  return OkAnswer(response);
}

RawAnswer ProviderService::Diff(const std::string& request, ServedCall& call) {
  KIT_TRY(const auto message, Parse<rpc::DiffRequest>(request));
  DiffRequest diff;
  diff.id = message.id();
  call.urn = message.urn();
  diff.urn = Urn::Trusted(call.urn);
  diff.ignore_changes = {message.ignorechanges().begin(), message.ignorechanges().end()};
  diff.allow_unknowns = true;
  KIT_TRY(diff.old_inputs, Decode(message.old_inputs()));
  KIT_TRY(diff.old_outputs, Decode(message.olds()));
  KIT_TRY(diff.new_inputs, Decode(message.news()));
  KIT_TRY(ResourceHandler * handler, HandlerOf(call.urn, message.type()));
  KIT_TRY(const DiffResponse found, handler->Diff(diff, call));
  rpc::DiffResponse response;
  FillDiff(found, &response);
  return OkAnswer(response);
}

RawAnswer ProviderService::Create(const std::string& request, ServedCall& call) {
  KIT_TRY(const auto message, Parse<rpc::CreateRequest>(request));
  CreateRequest create;
  call.urn = message.urn();
  create.urn = Urn::Trusted(call.urn);
  create.timeout_seconds = message.timeout();
  create.preview = message.preview();
  create.status_token = message.resource_status_token();
  KIT_TRY(create.inputs, Decode(message.properties()));
  KIT_TRY(ResourceHandler * handler, HandlerOf(call.urn, message.type()));
  KIT_TRY(const CreateResponse created, handler->Create(create, call));
  if (!created.init_errors.empty()) {
    return PartialAnswer({created.id,
                          created.outputs,
                          create.inputs,
                          created.refresh_before_update,
                          created.init_errors},
                         engine_accepts_byte_strings_);
  }
  rpc::CreateResponse response;
  response.set_id(created.id);
  response.set_refresh_before_update(created.refresh_before_update);
  KIT_TRY_VOID(
      Encode(created.outputs, engine_accepts_byte_strings_, response.mutable_properties()));
  return OkAnswer(response);
}

RawAnswer ProviderService::Read(const std::string& request, ServedCall& call) {
  KIT_TRY(const auto message, Parse<rpc::ReadRequest>(request));
  ReadRequest read;
  read.id = message.id();
  call.urn = message.urn();
  read.urn = Urn::Trusted(call.urn);
  read.send_inputs = message.has_inputs();
  read.timeout_seconds = message.timeout();
  read.status_token = message.resource_status_token();
  KIT_TRY(read.inputs, Decode(message.inputs()));
  KIT_TRY(read.state, Decode(message.properties()));
  KIT_TRY(ResourceHandler * handler, HandlerOf(call.urn, message.type()));
  KIT_TRY(const ReadResponse found, handler->Read(read, call));
  if (!found.init_errors.empty()) {
    return PartialAnswer({found.id,
                          found.outputs ? *found.outputs : read.state,
                          found.inputs ? *found.inputs : read.inputs,
                          found.refresh_before_update,
                          found.init_errors},
                         engine_accepts_byte_strings_);
  }
  rpc::ReadResponse response;
  response.set_id(found.id);
  response.set_refresh_before_update(found.refresh_before_update);
  if (found.outputs) {
    KIT_TRY_VOID(
        Encode(*found.outputs, engine_accepts_byte_strings_, response.mutable_properties()));
  }
  if (found.inputs) {
    KIT_TRY_VOID(Encode(*found.inputs, engine_accepts_byte_strings_, response.mutable_inputs()));
  }
  return OkAnswer(response);
}

RawAnswer ProviderService::Update(const std::string& request, ServedCall& call) {
  KIT_TRY(const auto message, Parse<rpc::UpdateRequest>(request));
  UpdateRequest update;
  update.id = message.id();
  call.urn = message.urn();
  update.urn = Urn::Trusted(call.urn);
  update.ignore_changes = {message.ignorechanges().begin(), message.ignorechanges().end()};
  update.timeout_seconds = message.timeout();
  update.preview = message.preview();
  update.status_token = message.resource_status_token();
  KIT_TRY(update.old_inputs, Decode(message.old_inputs()));
  KIT_TRY(update.old_outputs, Decode(message.olds()));
  KIT_TRY(update.new_inputs, Decode(message.news()));
  KIT_TRY(ResourceHandler * handler, HandlerOf(call.urn, message.type()));
  KIT_TRY(const UpdateResponse updated, handler->Update(update, call));
  if (!updated.init_errors.empty()) {
    return PartialAnswer({update.id,
                          updated.outputs,
                          update.new_inputs,
                          updated.refresh_before_update,
                          updated.init_errors},
                         engine_accepts_byte_strings_);
  }
  rpc::UpdateResponse response;
  response.set_refresh_before_update(updated.refresh_before_update);
  KIT_TRY_VOID(
      Encode(updated.outputs, engine_accepts_byte_strings_, response.mutable_properties()));
  return OkAnswer(response);
}

RawAnswer ProviderService::Delete(const std::string& request, ServedCall& call) {
  KIT_TRY(const auto message, Parse<rpc::DeleteRequest>(request));
  DeleteRequest remove;
  remove.id = message.id();
  call.urn = message.urn();
  remove.urn = Urn::Trusted(call.urn);
  remove.timeout_seconds = message.timeout();
  remove.status_token = message.resource_status_token();
  KIT_TRY(remove.inputs, Decode(message.old_inputs()));
  KIT_TRY(remove.outputs, Decode(message.properties()));
  KIT_TRY(ResourceHandler * handler, HandlerOf(call.urn, message.type()));
  KIT_TRY_VOID(handler->Delete(remove, call));
  return {};
}

RawAnswer ProviderService::Invoke(const std::string& request, ServedCall& call) {
  KIT_TRY(const auto message, Parse<rpc::InvokeRequest>(request));
  InvokeRequest invoke;
  invoke.token = message.tok();
  invoke.preview = message.preview();
  KIT_TRY(const PropertyMap arguments, Decode(message.args()));
  const auto found = functions_.find(invoke.token);
  if (found == functions_.end()) {
    return FailedAnswer(
        MakeError(ErrorKind::kInvalid,
                  fmt::format("package '{}' has no function '{}'", package_.name, invoke.token)));
  }
  const FunctionSchema& schema = found->second.schema;
  CheckResponse checked = CheckDeclared(schema.inputs, schema.token, false, arguments);
  rpc::InvokeResponse response;
  if (!checked.failures.empty()) {
    AddFailures(checked.failures, response.mutable_failures());
    return OkAnswer(response);
  }
  invoke.args = std::move(checked.inputs);
  KIT_TRY(const InvokeResponse answer, found->second.run(invoke, call));
  AddFailures(answer.failures, response.mutable_failures());
  KIT_TRY_VOID(Encode(answer.result, engine_accepts_byte_strings_, response.mutable_return_()));
  return OkAnswer(response);
}

Result<ResourceHandler*> ProviderService::HandlerOf(const std::string& urn,
                                                    const std::string& type) const {
  const std::string token = type.empty() ? std::string(Urn::Trusted(urn).type()) : type;
  const auto found = handlers_.find(token);
  if (found == handlers_.end()) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("package '{}' has no resource type '{}'", package_.name, token));
  }
  return found->second.get();
}

}  // namespace davit::kit
