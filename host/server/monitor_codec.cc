#include "host/server/monitor_codec.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "engine/base/semver.h"
#include "host/wire/value_codec.h"

namespace davit {
namespace {

Unexpected Invalid(std::string message) {
  return Fail(ErrorKind::kInvalid, std::move(message));
}

// Refusals of requests are worded as recorded: a plugin passes them on in its own errors.
Unexpected InvalidUrn(std::string_view what, std::string_view text) {
  return Invalid(fmt::format("invalid {} URN: invalid URN \"{}\"", what, text));
}

// An option is refused, never ignored.
Unexpected NotOffered(std::string_view what) {
  return Fail(ErrorKind::kUnimplemented, fmt::format("davit does not support {} yet", what));
}

Result<Urn> OptionalUrn(const std::string& text, std::string_view what) {
  if (text.empty()) {
    return Urn();
  }
  Result<Urn> urn = Urn::Parse(text);
  if (!urn) {
    return InvalidUrn(what, text);
  }
  return urn;
}

template <typename Texts>
Result<std::vector<Urn>> ToUrns(const Texts& texts, std::string_view what) {
  std::vector<Urn> urns;
  for (const std::string& text : texts) {
    Result<Urn> urn = Urn::Parse(text);
    if (!urn) {
      return InvalidUrn(what, text);
    }
    urns.push_back(*std::move(urn));
  }
  return urns;
}

template <typename Texts>
std::vector<std::string> ToTexts(const Texts& texts) {
  return std::vector<std::string>(texts.begin(), texts.end());
}

// P98, P99 (3).
Result<void> CheckThreeParts(const std::string& type) {
  const std::size_t first = type.find(':');
  const std::size_t second = first == std::string::npos ? first : type.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos || first == 0 ||
      second + 1 == type.size()) {
    return Invalid(
        fmt::format("Type '{}' is not a valid type token (must have format '*:*:*')", type));
  }
  return {};
}

// S103: a reference that is none is a plain failure.
Result<std::string> ToProvider(const std::string& reference) {
  if (!reference.empty() && reference.find("::") == std::string::npos) {
    return Fail(ErrorKind::kFailed,
                fmt::format("could not parse provider reference: expected '::' in provider "
                            "reference '{}'",
                            reference));
  }
  return reference;
}

Result<void> CheckVersion(const std::string& version) {
  if (!version.empty() && !Semver::ParseStrict(version)) {
    return Invalid(fmt::format("'{}' is not a version", version));
  }
  return {};
}

CodecOptions DecodeOptions() {
  CodecOptions codec;
  codec.keep_unknowns = true;
  codec.keep_secrets = true;
  codec.keep_resources = true;
  return codec;
}

template <typename Trace>
std::vector<std::string> ToStackTrace(const Trace& trace, const std::string& root_directory) {
  std::vector<std::string> frames;
  for (const pulumirpc::StackFrame& frame : trace.frames()) {
    frames.push_back(SourcePositionText(frame.pc(), root_directory));
  }
  return frames;
}

std::string PercentDecoded(std::string_view text) {
  std::string decoded;
  for (std::size_t index = 0; index < text.size(); ++index) {
    unsigned value = 0;
    if (text[index] == '%' && index + 2 < text.size() &&
        std::from_chars(text.data() + index + 1, text.data() + index + 3, value, 16).ptr ==
            text.data() + index + 3) {
      decoded += static_cast<char>(value);
      index += 2;
    } else {
      decoded += text[index];
    }
  }
  return decoded;
}

Result<Parameterization> ToParameterization(const pulumirpc::Parameterization& message) {
  if (!Semver::ParseStrict(message.version())) {
    return Invalid(fmt::format("'{}' is not a version", message.version()));
  }
  return Parameterization{message.name(), message.version(), message.value()};
}

}  // namespace

std::map<std::string, std::string> ToChecksums(
    const google::protobuf::Map<std::string, std::string>& checksums) {
  std::map<std::string, std::string> hex;
  for (const auto& [platform, bytes] : checksums) {
    std::string& text = hex[platform];
    for (const char byte : bytes) {
      text += fmt::format("{:02x}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    }
  }
  return hex;
}

Result<AliasSpec> ToAlias(const pulumirpc::Alias& alias, bool has_node_rules) {
  AliasSpec spec;
  if (alias.has_urn()) {
    DAVIT_TRY(spec.urn, OptionalUrn(alias.urn(), "alias"));
    return spec;
  }
  const pulumirpc::Alias::Spec& sent = alias.spec();
  const auto set = [](const std::string& text, std::optional<std::string>* out) {
    if (!text.empty()) {
      *out = text;
    }
  };
  set(sent.name(), &spec.name);
  set(sent.type(), &spec.type);
  set(sent.stack(), &spec.stack);
  set(sent.project(), &spec.project);
  if (sent.has_parenturn()) {
    DAVIT_TRY(spec.parent, OptionalUrn(sent.parenturn(), "alias parent"));
  }
  if (has_node_rules) {  // P100
    const bool has_parent = sent.has_parenturn() || sent.has_noparent();
    spec.no_parent = !has_parent;
  } else {
    spec.no_parent = sent.has_noparent() && sent.noparent();
  }
  return spec;
}

std::map<std::string, std::vector<std::string>> ToHooks(const HookBinding& binding) {
  std::map<std::string, std::vector<std::string>> hooks;
  const auto add = [&hooks](const char* occasion, const auto& names) {
    if (!names.empty()) {
      hooks[occasion] = ToTexts(names);
    }
  };
  add("BeforeCreate", binding.before_create());
  add("AfterCreate", binding.after_create());
  add("BeforeUpdate", binding.before_update());
  add("AfterUpdate", binding.after_update());
  add("BeforeDelete", binding.before_delete());
  add("AfterDelete", binding.after_delete());
  add("OnError", binding.on_error());
  return hooks;
}

void SetHooks(const std::map<std::string, std::vector<std::string>>& hooks, HookBinding* binding) {
  const auto add = [&hooks](const char* occasion, auto* names) {
    const auto at = hooks.find(occasion);
    if (at != hooks.end()) {
      names->Add(at->second.begin(), at->second.end());
    }
  };
  add("BeforeCreate", binding->mutable_before_create());
  add("AfterCreate", binding->mutable_after_create());
  add("BeforeUpdate", binding->mutable_before_update());
  add("AfterUpdate", binding->mutable_after_update());
  add("BeforeDelete", binding->mutable_before_delete());
  add("AfterDelete", binding->mutable_after_delete());
  add("OnError", binding->mutable_on_error());
}

std::string SourcePositionText(const pulumirpc::SourcePosition& position,
                               const std::string& root_directory) {
  constexpr std::string_view kScheme = "file://";
  std::string_view uri = position.uri();
  if (!uri.starts_with(kScheme)) {
    return {};
  }
  uri.remove_prefix(kScheme.size());
  if (uri.empty() || uri.front() != '/') {
    return {};
  }
  const std::filesystem::path path = PercentDecoded(uri);
  const std::string relative = path.lexically_relative(root_directory).generic_string();
  if (relative.empty()) {
    return {};
  }
  std::string text = fmt::format("project:///{}#{}", relative, position.line());
  if (position.column() != 0) {
    text += fmt::format(",{}", position.column());
  }
  return text;
}

Result<double> ParseTimeoutText(std::string_view text) {
  const std::string whole(text);
  const auto bad = [&] {
    return Invalid(fmt::format("'{}' is not a duration such as 5m or 1h30m", whole));
  };
  double total = 0;
  if (text.empty() || text == "0") {
    return total;
  }
  double sign = 1;
  if (text.front() == '-' || text.front() == '+') {
    sign = text.front() == '-' ? -1 : 1;
    text.remove_prefix(1);
  }
  if (text.empty()) {
    return bad();
  }
  constexpr std::pair<std::string_view, double> kUnits[] = {{"ns", 1e-9},
                                                            {"us", 1e-6},
                                                            {"\xC2\xB5s", 1e-6},
                                                            {"\xCE\xBCs", 1e-6},
                                                            {"ms", 1e-3},
                                                            {"s", 1},
                                                            {"m", 60},
                                                            {"h", 3600}};
  while (!text.empty()) {
    double number = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc() || text.front() == '-') {
      return bad();
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const std::size_t unit_end = std::min(text.find_first_of("0123456789."), text.size());
    const std::string_view unit = text.substr(0, unit_end);
    const auto* known = std::find_if(std::begin(kUnits), std::end(kUnits), [&](const auto& entry) {
      return entry.first == unit;
    });
    if (known == std::end(kUnits)) {
      return bad();
    }
    total += number * known->second;
    text.remove_prefix(unit_end);
  }
  return sign * total;
}

Result<Goal> ToGoal(const pulumirpc::RegisterResourceRequest& request,
                    const MonitorCaller& caller) {
  if (!request.snippetid().empty()) {
    return NotOffered("snippets");
  }
  Goal goal;
  goal.type = request.type();
  goal.name = request.name();
  goal.custom = request.custom();
  goal.remote = request.remote();
  DAVIT_TRY(goal.parent, OptionalUrn(request.parent(), "parent"));
  if (goal.custom || goal.remote) {
    DAVIT_TRY_VOID(CheckThreeParts(goal.type));
  }
  const bool is_provider = goal.type.starts_with(kProviderTypePrefix);
  if (!is_provider && request.envvarmappings_size() > 0) {
    return Invalid("envVarMappings can only be used with provider resources");
  }
  CodecOptions codec = DecodeOptions();
  codec.keep_outputs = true;
  CodecOptions trigger_codec = codec;
  codec.upgrade_to_outputs = true;
  Result<PropertyMap> properties = DecodeStruct(request.object(), codec);
  if (!properties) {
    return Fail(std::move(properties).error().WithContext("the inputs cannot be read"));
  }
  goal.properties = *std::move(properties);
  DAVIT_TRY(goal.dependencies, ToUrns(request.dependencies(), "dependency"));
  for (const auto& [key, dependencies] : request.propertydependencies()) {
    DAVIT_TRY(goal.property_dependencies[key], ToUrns(dependencies.urns(), "property dependency"));
  }
  goal.has_property_dependencies = request.propertydependencies_size() > 0;  // P99 (6)
  DAVIT_TRY(goal.provider, ToProvider(request.provider()));
  goal.providers.insert(request.providers().begin(), request.providers().end());
  DAVIT_TRY_VOID(CheckVersion(request.version()));
  goal.version = request.version();
  goal.download_url = request.plugindownloadurl();
  goal.checksums = ToChecksums(request.pluginchecksums());
  goal.package_ref = request.packageref();
  if (request.has_protect()) {
    goal.protect = request.protect();
  }
  if (request.has_retainondelete()) {
    goal.retain_on_delete = request.retainondelete();
  }
  if (request.deletebeforereplacedefined() || request.deletebeforereplace()) {  // P99 (5)
    goal.delete_before_replace = request.deletebeforereplace();
  }
  goal.ignore_changes = ToTexts(request.ignorechanges());
  goal.replace_on_changes = ToTexts(request.replaceonchanges());
  goal.additional_secret_outputs = ToTexts(request.additionalsecretoutputs());
  goal.hide_diffs = ToTexts(request.hidediffs());
  DAVIT_TRY(const std::vector<Urn> alias_urns, ToUrns(request.aliasurns(), "alias"));
  for (const Urn& urn : alias_urns) {
    goal.aliases.emplace_back().urn = urn;
  }
  const bool has_node_rules = !request.aliasspecs() && caller.is_node;
  for (const pulumirpc::Alias& alias : request.aliases()) {
    DAVIT_TRY(AliasSpec spec, ToAlias(alias, has_node_rules));
    goal.aliases.push_back(std::move(spec));
  }
  goal.import_id = request.importid();
  const pulumirpc::RegisterResourceRequest::CustomTimeouts& timeouts = request.customtimeouts();
  DAVIT_TRY(goal.custom_timeouts.create, ParseTimeoutText(timeouts.create()));
  DAVIT_TRY(goal.custom_timeouts.update, ParseTimeoutText(timeouts.update()));
  DAVIT_TRY(goal.custom_timeouts.delete_, ParseTimeoutText(timeouts.delete_()));
  DAVIT_TRY(goal.custom_timeouts.read, ParseTimeoutText(timeouts.read()));
  DAVIT_TRY(goal.deleted_with, OptionalUrn(request.deletedwith(), "DeletedWith"));
  DAVIT_TRY(goal.replace_with, ToUrns(request.replace_with(), "replaceWith"));
  if (request.has_replacement_trigger()) {
    DAVIT_TRY(goal.replacement_trigger, DecodeValue(request.replacement_trigger(), trigger_codec));
  }
  goal.env_var_mappings.insert(request.envvarmappings().begin(), request.envvarmappings().end());
  goal.hooks = ToHooks(request.hooks());
  goal.source_position = SourcePositionText(request.sourceposition(), caller.root_directory);
  goal.parent_stack_trace_handle = request.parentstacktracehandle();
  goal.stack_trace = ToStackTrace(request.stacktrace(), caller.root_directory);
  goal.accepts_secrets = request.acceptsecrets();
  goal.supports_partial_values = request.supportspartialvalues();
  goal.supports_result_reporting = request.supportsresultreporting();
  return goal;
}

Result<ReadGoal> ToReadGoal(const pulumirpc::ReadResourceRequest& request,
                            const MonitorCaller& caller) {
  ReadGoal goal;
  DAVIT_TRY_VOID(CheckThreeParts(request.type()));
  goal.type = request.type();
  if (goal.type.starts_with(kProviderTypePrefix)) {
    return Invalid(fmt::format("a provider cannot be read: '{}'", goal.type));  // P48
  }
  goal.name = request.name();
  goal.id = request.id();
  DAVIT_TRY(goal.parent, OptionalUrn(request.parent(), "parent"));
  Result<PropertyMap> properties = DecodeStruct(request.properties(), DecodeOptions());
  if (!properties) {
    return Fail(std::move(properties).error().WithContext("the properties cannot be read"));
  }
  goal.properties = *std::move(properties);
  DAVIT_TRY(goal.dependencies, ToUrns(request.dependencies(), "dependency"));
  goal.provider = request.provider();
  DAVIT_TRY_VOID(CheckVersion(request.version()));
  goal.version = request.version();
  goal.download_url = request.plugindownloadurl();
  goal.package_ref = request.packageref();
  goal.additional_secret_outputs = ToTexts(request.additionalsecretoutputs());
  goal.source_position = SourcePositionText(request.sourceposition(), caller.root_directory);
  return goal;
}

Result<ReadGoal> ToExistsGoal(const pulumirpc::ExistsResourceRequest& request) {
  ReadGoal goal;
  goal.type = request.type();
  goal.id = request.id();
  DAVIT_TRY(goal.parent, OptionalUrn(request.parent(), "parent"));
  DAVIT_TRY(goal.properties, DecodeStruct(request.properties(), DecodeOptions()));
  goal.provider = request.provider();
  DAVIT_TRY_VOID(CheckVersion(request.version()));
  goal.version = request.version();
  goal.download_url = request.plugindownloadurl();
  goal.package_ref = request.packageref();
  return goal;
}

Result<InvokeGoal> ToInvokeGoal(const pulumirpc::ResourceInvokeRequest& request) {
  InvokeGoal goal;
  goal.token = request.tok();
  Result<PropertyMap> args = DecodeStruct(request.args(), DecodeOptions());
  if (!args) {
    return Fail(std::move(args).error().WithContext("the arguments cannot be read"));
  }
  goal.args = *std::move(args);
  goal.provider = request.provider();
  DAVIT_TRY_VOID(CheckVersion(request.version()));
  goal.version = request.version();
  goal.download_url = request.plugindownloadurl();
  goal.package_ref = request.packageref();
  DAVIT_TRY(goal.parent, OptionalUrn(request.parent(), "parent"));
  DAVIT_TRY(goal.depends_on, ToUrns(request.dependson(), "dependency"));
  return goal;
}

Result<CallGoal> ToCallGoal(const pulumirpc::ResourceCallRequest& request,
                            const MonitorCaller& caller) {
  CallGoal goal;
  goal.token = request.tok();
  CodecOptions codec = DecodeOptions();
  codec.keep_outputs = true;
  codec.upgrade_to_outputs = true;
  Result<PropertyMap> args = DecodeStruct(request.args(), codec);
  if (!args) {
    return Fail(std::move(args).error().WithContext("the arguments cannot be read"));
  }
  goal.args = *std::move(args);
  for (const auto& [key, dependencies] : request.argdependencies()) {
    DAVIT_TRY(goal.arg_dependencies[key], ToUrns(dependencies.urns(), "argument dependency"));
  }
  DAVIT_TRY(goal.provider, ToProvider(request.provider()));
  DAVIT_TRY_VOID(CheckVersion(request.version()));
  goal.version = request.version();
  goal.download_url = request.plugindownloadurl();
  goal.package_ref = request.packageref();
  goal.stack_trace = ToStackTrace(request.stacktrace(), caller.root_directory);
  goal.parent_stack_trace_handle = request.parentstacktracehandle();
  return goal;
}

Result<PackageDescriptor> ToPackage(const pulumirpc::RegisterPackageRequest& request) {
  if (request.name().empty()) {
    return Invalid("a package needs a name");
  }
  DAVIT_TRY_VOID(CheckVersion(request.version()));
  PackageDescriptor package;
  package.name = request.name();
  package.version = request.version();
  package.download_url = request.download_url();
  package.checksums = ToChecksums(request.checksums());
  if (request.has_parameterization() && request.has_extension()) {
    return Invalid("a package is either parameterized or an extension");
  }
  if (request.has_parameterization()) {
    DAVIT_TRY(package.parameterization, ToParameterization(request.parameterization()));
  }
  if (request.has_extension()) {
    DAVIT_TRY(package.extension, ToParameterization(request.extension()));
  }
  return package;
}

}  // namespace davit
