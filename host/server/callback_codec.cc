#include "host/server/callback_codec.h"

#include <fmt/format.h>

#include "host/server/monitor_codec.h"
#include "host/wire/goal_fields.h"
#include "host/wire/message_io.h"
#include "host/wire/value_codec.h"

namespace davit {
namespace {

CodecOptions Codec(bool keep_byte_strings) {
  CodecOptions codec;
  codec.keep_unknowns = true;
  codec.keep_secrets = true;
  codec.keep_resources = true;
  codec.keep_outputs = true;
  codec.keep_byte_strings = keep_byte_strings;
  return codec;
}

template <typename Texts>
std::vector<std::string> ToList(const Texts& texts) {
  return std::vector<std::string>(texts.begin(), texts.end());
}

template <typename Texts>
Result<std::vector<Urn>> Urns(const Texts& texts) {
  std::vector<Urn> urns;
  for (const std::string& text : texts) {
    DAVIT_TRY(Urn urn, Urn::Parse(text));
    urns.push_back(std::move(urn));
  }
  return urns;
}

// Options that records and goals have in common; both message types spell them alike.
template <typename Message>
void SetTimeouts(const CustomTimeouts& timeouts, Message* out) {
  if (timeouts == CustomTimeouts()) {
    return;
  }
  auto* sent = out->mutable_custom_timeouts();
  sent->set_create(DurationText(timeouts.create));
  sent->set_update(DurationText(timeouts.update));
  sent->set_delete_(DurationText(timeouts.delete_));
  sent->set_read(DurationText(timeouts.read));
}

std::string BytesOfHex(const std::string& hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  std::string bytes;
  for (std::size_t index = 0; index + 1 < hex.size(); index += 2) {
    bytes += static_cast<char>(digit(hex[index]) * 16 + digit(hex[index + 1]));
  }
  return bytes;
}

Result<void> SetOptions(const Goal& goal,
                        const CodecOptions& codec,
                        pulumirpc::TransformResourceOptions* out) {
  AddUrns(goal.dependencies, out->mutable_depends_on());
  if (goal.protect) {
    out->set_protect(*goal.protect);
  }
  AddTexts(goal.ignore_changes, out->mutable_ignore_changes());
  AddTexts(goal.replace_on_changes, out->mutable_replace_on_changes());
  out->set_version(goal.version);
  for (const AliasSpec& alias : goal.aliases) {
    SetAlias(alias, out->add_aliases());
  }
  out->set_provider(goal.provider);
  SetTimeouts(goal.custom_timeouts, out);
  out->set_plugin_download_url(goal.download_url);
  if (goal.retain_on_delete) {
    out->set_retain_on_delete(*goal.retain_on_delete);
  }
  out->set_deleted_with(goal.deleted_with.text());
  if (goal.delete_before_replace) {
    out->set_delete_before_replace(*goal.delete_before_replace);
  }
  AddTexts(goal.additional_secret_outputs, out->mutable_additional_secret_outputs());
  out->mutable_providers()->insert(goal.providers.begin(), goal.providers.end());
  for (const auto& [platform, hex] : goal.checksums) {
    (*out->mutable_plugin_checksums())[platform] = BytesOfHex(hex);
  }
  SetHooks(goal.hooks, out->mutable_hooks());
  out->set_import(goal.import_id);
  AddTexts(goal.hide_diffs, out->mutable_hide_diff());
  AddUrns(goal.replace_with, out->mutable_replace_with());
  if (!goal.replacement_trigger.is_null()) {
    DAVIT_TRY_VOID(
        EncodeValue(goal.replacement_trigger, codec, out->mutable_replacement_trigger()));
  }
  return {};
}

Result<void> ApplyOptions(const pulumirpc::TransformResourceOptions& options,
                          const CodecOptions& codec,
                          Goal* goal) {
  DAVIT_TRY(goal->dependencies, Urns(options.depends_on()));
  goal->protect = options.has_protect() ? std::optional(options.protect()) : std::nullopt;
  goal->ignore_changes = ToList(options.ignore_changes());
  goal->replace_on_changes = ToList(options.replace_on_changes());
  goal->version = options.version();
  goal->aliases.clear();
  for (const pulumirpc::Alias& alias : options.aliases()) {
    DAVIT_TRY(AliasSpec spec, ToAlias(alias, false));
    goal->aliases.push_back(std::move(spec));
  }
  goal->provider = options.provider();
  const auto& timeouts = options.custom_timeouts();
  DAVIT_TRY(goal->custom_timeouts.create, ParseTimeoutText(timeouts.create()));
  DAVIT_TRY(goal->custom_timeouts.update, ParseTimeoutText(timeouts.update()));
  DAVIT_TRY(goal->custom_timeouts.delete_, ParseTimeoutText(timeouts.delete_()));
  DAVIT_TRY(goal->custom_timeouts.read, ParseTimeoutText(timeouts.read()));
  goal->download_url = options.plugin_download_url();
  goal->retain_on_delete =
      options.has_retain_on_delete() ? std::optional(options.retain_on_delete()) : std::nullopt;
  goal->deleted_with = Urn();
  if (!options.deleted_with().empty()) {
    DAVIT_TRY(goal->deleted_with, Urn::Parse(options.deleted_with()));
  }
  goal->delete_before_replace = options.has_delete_before_replace()
                                    ? std::optional(options.delete_before_replace())
                                    : std::nullopt;
  goal->additional_secret_outputs = ToList(options.additional_secret_outputs());
  goal->providers.clear();
  goal->providers.insert(options.providers().begin(), options.providers().end());
  goal->checksums = ToChecksums(options.plugin_checksums());
  goal->hooks = ToHooks(options.hooks());
  goal->import_id = options.import();
  goal->hide_diffs = ToList(options.hide_diff());
  DAVIT_TRY(goal->replace_with, Urns(options.replace_with()));
  goal->replacement_trigger = PropertyValue();
  if (options.has_replacement_trigger()) {
    DAVIT_TRY(goal->replacement_trigger, DecodeValue(options.replacement_trigger(), codec));
  }
  return {};
}

// What a record still knows of its options.
Result<void> SetOptions(const ResourceState& state,
                        const CodecOptions& codec,
                        pulumirpc::ResourceOptions* out) {
  AddUrns(state.dependencies, out->mutable_depends_on());
  out->set_protect(state.protect);
  AddTexts(state.ignore_changes, out->mutable_ignore_changes());
  AddTexts(state.replace_on_changes, out->mutable_replace_on_changes());
  for (const Urn& urn : state.aliases) {
    out->add_aliases()->set_urn(urn.text());
  }
  out->set_provider(state.provider);
  SetTimeouts(state.custom_timeouts, out);
  out->set_retain_on_delete(state.retain_on_delete);
  out->set_deleted_with(state.deleted_with.text());
  AddTexts(state.additional_secret_outputs, out->mutable_additional_secret_outputs());
  SetHooks(state.resource_hooks, out->mutable_hooks());
  out->set_import(state.import_id);
  AddTexts(state.hide_diff, out->mutable_hide_diff());
  AddUrns(state.replace_with, out->mutable_replace_with());
  out->set_parent(state.parent.text());
  if (!state.replacement_trigger.is_null()) {
    DAVIT_TRY_VOID(
        EncodeValue(state.replacement_trigger, codec, out->mutable_replacement_trigger()));
  }
  return {};
}

Unexpected Unreadable(std::string_view what) {
  return Fail(ErrorKind::kFailed, fmt::format("the answer of the {} cannot be read", what));
}

// The part that both kinds of hook requests share.
template <typename Message>
Result<void> SetHookParts(const HookRequest& request, const CodecOptions& codec, Message* out) {
  out->set_urn(request.urn.text());
  out->set_id(request.id);
  out->set_name(std::string(request.urn.name()));
  out->set_type(std::string(request.urn.type()));
  if (request.new_state) {
    DAVIT_TRY_VOID(EncodeStruct(request.new_state->inputs, codec, out->mutable_new_inputs()));
    DAVIT_TRY_VOID(SetOptions(*request.new_state, codec, out->mutable_new_options()));
  }
  if (request.old_state) {
    DAVIT_TRY_VOID(EncodeStruct(request.old_state->inputs, codec, out->mutable_old_inputs()));
    DAVIT_TRY_VOID(SetOptions(*request.old_state, codec, out->mutable_old_options()));
    if (request.sends_old_outputs) {
      DAVIT_TRY_VOID(EncodeStruct(request.old_state->outputs, codec, out->mutable_old_outputs()));
    }
  }
  return {};
}

}  // namespace

Result<std::string> EncodeTransformRequest(const Goal& goal, bool keep_byte_strings) {
  const CodecOptions codec = Codec(keep_byte_strings);
  pulumirpc::TransformRequest request;
  request.set_type(goal.type);
  request.set_name(goal.name);
  request.set_custom(goal.custom);
  request.set_parent(goal.parent.text());
  DAVIT_TRY_VOID(EncodeStruct(goal.properties, codec, request.mutable_properties()));
  DAVIT_TRY_VOID(SetOptions(goal, codec, request.mutable_options()));
  return SerializeMessage(request);
}

Result<Goal> ApplyTransformResponse(const std::string& bytes, Goal goal) {
  pulumirpc::TransformResponse response;
  if (!ParseMessage(bytes, &response)) {
    return Unreadable("transform");
  }
  const CodecOptions codec = Codec(false);
  if (response.has_properties()) {
    DAVIT_TRY(goal.properties, DecodeStruct(response.properties(), codec));
  }
  if (response.has_options()) {
    DAVIT_TRY_VOID(ApplyOptions(response.options(), codec, &goal));
  }
  return goal;
}

Result<std::string> EncodeTransformInvokeRequest(const InvokeGoal& goal, bool keep_byte_strings) {
  pulumirpc::TransformInvokeRequest request;
  request.set_token(goal.token);
  DAVIT_TRY_VOID(EncodeStruct(goal.args, Codec(keep_byte_strings), request.mutable_args()));
  pulumirpc::TransformInvokeOptions* options = request.mutable_options();
  options->set_provider(goal.provider);
  options->set_version(goal.version);
  options->set_plugin_download_url(goal.download_url);
  return SerializeMessage(request);
}

Result<InvokeGoal> ApplyTransformInvokeResponse(const std::string& bytes, InvokeGoal goal) {
  pulumirpc::TransformInvokeResponse response;
  if (!ParseMessage(bytes, &response)) {
    return Unreadable("invoke transform");
  }
  if (response.has_args()) {
    DAVIT_TRY(goal.args, DecodeStruct(response.args(), Codec(false)));
  }
  if (response.has_options()) {
    goal.provider = response.options().provider();
    goal.version = response.options().version();
    goal.download_url = response.options().plugin_download_url();
  }
  return goal;
}

Result<std::string> EncodeHookRequest(const HookRequest& request,
                                      bool is_error_hook,
                                      bool keep_byte_strings) {
  const CodecOptions codec = Codec(keep_byte_strings);
  if (is_error_hook) {
    pulumirpc::ErrorHookRequest message;
    DAVIT_TRY_VOID(SetHookParts(request, codec, &message));
    message.set_failed_operation(request.failed_operation);
    AddTexts(request.errors, message.mutable_errors());
    return SerializeMessage(message);
  }
  pulumirpc::ResourceHookRequest message;
  DAVIT_TRY_VOID(SetHookParts(request, codec, &message));
  if (request.sends_new_outputs) {
    DAVIT_TRY_VOID(EncodeStruct(request.new_state->outputs, codec, message.mutable_new_outputs()));
  }
  return SerializeMessage(message);
}

Result<HookAnswer> DecodeHookResponse(const std::string& bytes, bool is_error_hook) {
  HookAnswer answer;
  if (is_error_hook) {
    pulumirpc::ErrorHookResponse response;
    if (!ParseMessage(bytes, &response)) {
      return Unreadable("error hook");
    }
    answer.error = response.error();
    answer.retry = response.retry();
    return answer;
  }
  pulumirpc::ResourceHookResponse response;
  if (!ParseMessage(bytes, &response)) {
    return Unreadable("hook");
  }
  answer.error = response.error();
  return answer;
}

}  // namespace davit
