#include "cli/display/event_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/display/masking.h"
#include "engine/model/provider_ref.h"
#include "state/codec/signatures.h"
#include "state/codec/time_text.h"

namespace davit {
namespace {

constexpr std::string_view kSecretText = "[secret]";

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kDebug:
      return "debug";
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
    case Severity::kInfoToStderr:
      return "info#err";
  }
  return "info";
}

std::string_view PrefixOf(Severity severity) {
  switch (severity) {
    case Severity::kDebug:
      return "debug: ";
    case Severity::kWarning:
      return "warning: ";
    case Severity::kError:
      return "error: ";
    case Severity::kInfo:
    case Severity::kInfoToStderr:
      return "";
  }
  return "";
}

std::string_view ResultName(DeploymentResultKind kind) {
  switch (kind) {
    case DeploymentResultKind::kSucceeded:
      return "succeeded";
    case DeploymentResultKind::kFailed:
      return "failed";
    case DeploymentResultKind::kCancelled:
      return "canceled";
  }
  return "failed";
}

void WriteSecret(const PropertyValue& inner, SecretForm form, JsonWriter* json) {
  switch (form) {
    case SecretForm::kObject:
      json->BeginObject()
          .Key(kSignatureKey)
          .String(kSecretSignature)
          .Key("ciphertext")
          .String(kSecretText)
          .EndObject();
      return;
    case SecretForm::kText:
      json->String(kSecretText);
      return;
    case SecretForm::kShown:
      WriteValue(inner, form, json);
      return;
  }
}

void WriteAsset(const Asset& asset, JsonWriter* json) {
  json->BeginObject().Key(kSignatureKey).String(kAssetSignature).Key("hash").String(asset.hash);
  switch (asset.source) {
    case Asset::Source::kText:
      json->Key("text").String("<contents elided>");
      break;
    case Asset::Source::kPath:
      json->Key("path").String(asset.content);
      break;
    case Asset::Source::kUri:
      json->Key("uri").String(asset.content);
      break;
    case Asset::Source::kNone:
      break;
  }
  json->EndObject();
}

void WriteArchive(const Archive& archive, SecretForm form, JsonWriter* json) {
  json->BeginObject().Key(kSignatureKey).String(kArchiveSignature).Key("hash").String(archive.hash);
  switch (archive.source) {
    case Archive::Source::kAssets:
      json->Key("assets");
      WriteMap(archive.assets ? *archive.assets : PropertyMap(), form, json);
      break;
    case Archive::Source::kPath:
      json->Key("path").String(archive.location);
      break;
    case Archive::Source::kUri:
      json->Key("uri").String(archive.location);
      break;
    case Archive::Source::kNone:
      break;
  }
  json->EndObject();
}

void WriteReference(const ResourceReference& reference, JsonWriter* json) {
  json->BeginObject()
      .Key(kSignatureKey)
      .String(kReferenceSignature)
      .Key("urn")
      .String(reference.urn);
  if (reference.id) {
    json->Key("id").String(*reference.id);
  }
  json->Key("packageVersion").String(reference.package_version).EndObject();
}

void WriteNames(const char* key, const std::vector<std::string>& names, JsonWriter* json) {
  if (names.empty()) {
    return;
  }
  json->Key(key).BeginArray();
  for (const std::string& name : names) {
    json->String(name);
  }
  json->EndArray();
}

void WriteUrns(const char* key, const std::vector<Urn>& urns, JsonWriter* json) {
  std::vector<std::string> names;
  for (const Urn& urn : urns) {
    names.push_back(urn.text());
  }
  WriteNames(key, names, json);
}

void WriteFlag(const char* key, bool value, JsonWriter* json) {
  if (value) {
    json->Key(key).Bool(true);
  }
}

void WriteText(const char* key, const std::string& value, JsonWriter* json) {
  if (!value.empty()) {
    json->Key(key).String(value);
  }
}

// C135
void WriteEventState(const StatePtr& state, JsonWriter* json) {
  if (!state) {
    json->Null();
    return;
  }
  json->BeginObject().Key("type").String(state->type).Key("urn").String(state->urn.text());
  WriteFlag("custom", state->custom, json);
  WriteFlag("delete", state->pending_delete, json);
  json->Key("id").String(state->id).Key("parent").String(state->parent.text());
  WriteFlag("protect", state->protect, json);
  WriteFlag("taint", state->taint, json);
  WriteFlag("external", state->external, json);
  WriteFlag("retainOnDelete", state->retain_on_delete, json);
  json->Key("inputs");
  WriteMap(state->inputs, SecretForm::kObject, json);
  json->Key("outputs");
  WriteMap(state->outputs, SecretForm::kObject, json);
  json->Key("provider").String(state->provider);
  WriteNames("initErrors", state->init_errors, json);
  WriteNames("hideDiffs", state->hide_diff, json);
  json->EndObject();
}

void WriteDetailedDiff(const StepMetadata& step, const char* kind_key, JsonWriter* json) {
  json->Key("detailedDiff");
  if (!step.detailed_diff) {
    json->Null();
    return;
  }
  json->BeginObject();
  for (const auto& [path, diff] : *step.detailed_diff) {
    json->Key(path).BeginObject().Key(kind_key).String(DiffKindName(diff.kind));
    json->Key("inputDiff").Bool(diff.input_diff).EndObject();
  }
  json->EndObject();
}

// C133
void WriteMetadata(const StepMetadata& step, JsonWriter* json) {
  json->Key("metadata").BeginObject();
  json->Key("op")
      .String(StepOpName(step.op))
      .Key("urn")
      .String(step.urn.text())
      .Key("type")
      .String(step.type);
  json->Key("old");
  WriteEventState(step.old_state, json);
  json->Key("new");
  WriteEventState(step.new_state, json);
  WriteNames("keys", step.keys, json);
  WriteNames("diffs", step.diffs, json);
  WriteDetailedDiff(step, "diffKind", json);
  WriteFlag("logical", IsLogical(step.op), json);
  json->Key("provider").String(step.provider).EndObject();
}

std::string MessageText(const DiagnosticEvent& event) {
  std::string text = WithoutColors(event.message);
  if (event.where && !event.where->file.empty()) {
    text = fmt::format(
        "{}:{}:{}: {}", event.where->file, event.where->line, event.where->column, text);
  }
  return text.empty() || text.back() != '\n' ? text + "\n" : text;
}

void WriteChanges(const std::map<StepOp, int>& changes, JsonWriter* json) {
  std::map<std::string_view, int> sorted;
  for (const auto& [op, count] : changes) {
    sorted.emplace(StepOpName(op), count);
  }
  json->BeginObject();
  for (const auto& [name, count] : sorted) {
    if (count > 0) {
      json->Key(name).Integer(count);
    }
  }
  json->EndObject();
}

std::int64_t WholeSeconds(std::chrono::nanoseconds duration) {
  return std::chrono::ceil<std::chrono::seconds>(duration).count();
}

class LineWriter {
 public:
  explicit LineWriter(JsonWriter* json) : json_(json) {}

  void operator()(const PreludeEvent& event) const {
    json_->Key("preludeEvent").BeginObject().Key("config").BeginObject();
    for (const auto& [key, value] : event.config) {
      json_->Key(key).String(value);
    }
    json_->EndObject().EndObject();
  }
  void operator()(const ResourcePreEvent& event) const {
    json_->Key("resourcePreEvent").BeginObject();
    WriteMetadata(event.metadata, json_);
    WriteFlag("planning", event.planning, json_);
    json_->EndObject();
  }
  void operator()(const ResourceOutputsEvent& event) const {
    json_->Key("resOutputsEvent").BeginObject();
    WriteMetadata(event.metadata, json_);
    WriteFlag("planning", event.planning, json_);
    json_->EndObject();
  }
  void operator()(const ResourceFailedEvent& event) const {
    json_->Key("resOpFailedEvent").BeginObject();
    WriteMetadata(event.metadata, json_);
    json_->Key("status")
        .Integer(static_cast<int>(event.status))
        .Key("steps")
        .Integer(event.steps)
        .EndObject();
  }
  void operator()(const DiagnosticEvent& event) const {
    json_->Key("diagnosticEvent").BeginObject();
    WriteText("urn", event.urn, json_);
    WriteText("prefix", std::string(PrefixOf(event.severity)), json_);
    json_->Key("message").String(MessageText(event)).Key("color").String("never");
    json_->Key("severity").String(SeverityName(event.severity));
    if (event.stream_id != 0) {
      json_->Key("streamID").Integer(event.stream_id);
    }
    WriteFlag("ephemeral", event.ephemeral, json_);
    json_->EndObject();
  }
  void operator()(const SummaryEvent& event) const {
    json_->Key("summaryEvent").BeginObject().Key("maybeCorrupt").Bool(event.maybe_corrupt);
    json_->Key("durationSeconds").Integer(WholeSeconds(event.duration)).Key("resourceChanges");
    WriteChanges(event.changes, json_);
    json_->Key("PolicyPacks").BeginObject();
    for (const PolicyPack& pack : event.policy_packs) {
      json_->Key(fmt::format("{}|local|{}", pack.name, pack.path)).String(pack.version);
    }
    json_->EndObject().Key("isPreview").Bool(event.is_preview);
    json_->Key("result").String(ResultName(event.result)).EndObject();
  }
  void operator()(const PolicyLoadEvent&) const {
    json_->Key("policyLoadEvent").BeginObject().EndObject();
  }
  void operator()(const PolicyViolationEvent& event) const {
    const PolicyViolation& violation = event.violation;
    json_->Key("policyEvent").BeginObject();
    WriteText("resourceUrn", event.urn.text(), json_);
    json_->Key("message").String(WithoutColors(violation.message) + "\n");
    json_->Key("color").String("never").Key("policyName").String(violation.policy);
    WritePack(violation.pack, violation.pack_version);
    json_->Key("enforcementLevel").String(EnforcementLevelName(violation.level));
    WriteText("severity", violation.severity, json_);
    json_->EndObject();
  }
  void operator()(const PolicyRemediationEvent& event) const {
    json_->Key("policyRemediationEvent").BeginObject();
    WriteText("resourceUrn", event.urn.text(), json_);
    json_->Key("color").String("never").Key("policyName").String(event.policy);
    WritePack(event.pack, event.pack_version);
    json_->Key("before");
    WriteMap(event.before, SecretForm::kObject, json_);
    json_->Key("after");
    WriteMap(event.after, SecretForm::kObject, json_);
    json_->EndObject();
  }
  void operator()(const PolicySummaryEvent& event) const {
    const bool is_remediation = event.of == PolicySummaryEvent::Of::kRemediation;
    const bool is_stack = event.of == PolicySummaryEvent::Of::kStack;
    json_->Key(is_stack         ? "policyAnalyzeStackSummaryEvent"
               : is_remediation ? "policyRemediateSummaryEvent"
                                : "policyAnalyzeSummaryEvent");
    json_->BeginObject();
    WriteText("resourceUrn", event.urn.text(), json_);
    WritePack(event.pack, event.pack_version);
    WriteNames("passed", event.passed, json_);
    WriteNames("failed", event.failed, json_);
    json_->EndObject();
  }
  void operator()(const StdoutEvent& event) const {
    json_->Key("stdoutEvent").BeginObject().Key("message").String(WithoutColors(event.message));
    json_->Key("color").String("never").EndObject();
  }
  void operator()(const CancelEvent&) const { json_->Key("cancelEvent").BeginObject().EndObject(); }

 private:
  void WritePack(const std::string& name, const std::string& version) const {
    json_->Key("policyPackName").String(name).Key("policyPackVersion").String(version);
    json_->Key("policyPackVersionTag").String(version);
  }

  JsonWriter* json_;
};

// C127
void WriteDigestState(const ResourceState& state, JsonWriter* json) {
  json->BeginObject().Key("urn").String(state.urn.text()).Key("custom").Bool(state.custom);
  WriteFlag("delete", state.pending_delete, json);
  WriteText("id", state.id, json);
  json->Key("type").String(state.type);
  const auto write_map = [&](const char* key, const PropertyMap& map) {
    if (!map.empty()) {
      json->Key(key);
      WriteMap(map, SecretForm::kText, json);
    }
  };
  write_map("inputs", state.inputs);
  write_map("outputs", state.outputs);
  WriteText("parent", state.parent.text(), json);
  WriteFlag("protect", state.protect, json);
  WriteFlag("taint", state.taint, json);
  WriteFlag("external", state.external, json);
  WriteUrns("dependencies", state.dependencies, json);
  WriteNames("initErrors", state.init_errors, json);
  WriteText("provider", state.provider, json);
  if (!state.property_dependencies.empty()) {
    json->Key("propertyDependencies").BeginObject();
    for (const auto& [key, urns] : state.property_dependencies) {
      json->Key(key).BeginArray();
      for (const Urn& urn : urns) {
        json->String(urn.text());
      }
      json->EndArray();
    }
    json->EndObject();
  }
  WriteFlag("pendingReplacement", state.pending_replacement, json);
  WriteNames("additionalSecretOutputs", state.additional_secret_outputs, json);
  WriteUrns("aliases", state.aliases, json);
  if (!(state.custom_timeouts == CustomTimeouts())) {
    json->Key("customTimeouts").BeginObject().Key("create").Number(state.custom_timeouts.create);
    json->Key("update")
        .Number(state.custom_timeouts.update)
        .Key("delete")
        .Number(state.custom_timeouts.delete_);
    json->EndObject();
  }
  WriteText("importID", state.import_id, json);
  WriteFlag("retainOnDelete", state.retain_on_delete, json);
  WriteText("deletedWith", state.deleted_with.text(), json);
  WriteUrns("replaceWith", state.replace_with, json);
  if (state.created) {
    json->Key("created").String(TimeText(*state.created));
  }
  if (state.modified) {
    json->Key("modified").String(TimeText(*state.modified));
  }
  WriteText("sourcePosition", state.source_position, json);
  WriteNames("ignoreChanges", state.ignore_changes, json);
  WriteNames("hideDiff", state.hide_diff, json);
  WriteNames("replaceOnChanges", state.replace_on_changes, json);
  if (!state.replacement_trigger.is_null()) {
    json->Key("replacementTrigger");
    WriteValue(state.replacement_trigger, SecretForm::kText, json);
  }
  WriteFlag("refreshBeforeUpdate", state.refresh_before_update, json);
  WriteText("viewOf", state.view_of.text(), json);
  WriteText("extensionRef", state.extension_ref, json);
  WriteText("snippetID", state.snippet_id, json);
  json->EndObject();
}

}  // namespace

void WriteMap(const PropertyMap& map, SecretForm form, JsonWriter* json) {
  json->BeginObject();
  for (const auto& [key, value] : map) {
    json->Key(key);
    WriteValue(value, form, json);
  }
  json->EndObject();
}

void WriteValue(const PropertyValue& value, SecretForm form, JsonWriter* json) {
  value.Visit(Overloaded{
      [&](const Null&) { json->Null(); },
      [&](bool flag) { json->Bool(flag); },
      [&](double number) { json->Number(number); },
      [&](const Unknown&) { json->String(kUnknownId); },
      [&](const Secret& secret) { WriteSecret(secret.Reveal(), form, json); },
      [&](const std::string& text) { json->String(text); },
      [&](const PropertyList& list) {
        json->BeginArray();
        for (const PropertyValue& item : list) {
          WriteValue(item, form, json);
        }
        json->EndArray();
      },
      [&](const PropertyMap& map) { WriteMap(map, form, json); },
      [&](const Output& output) {
        const PropertyValue inner = output.element ? *output.element : PropertyValue(Unknown{});
        output.is_secret ? WriteSecret(inner, form, json) : WriteValue(inner, form, json);
      },
      [&](const ResourceReference& reference) { WriteReference(reference, json); },
      [&](const Asset& asset) { WriteAsset(asset, json); },
      [&](const Archive& archive) { WriteArchive(archive, form, json); },
  });
}

bool IsInternalEvent(const Event& event) {
  if (const auto* pre = std::get_if<ResourcePreEvent>(&event)) {
    return pre->metadata.is_internal;
  }
  if (const auto* outputs = std::get_if<ResourceOutputsEvent>(&event)) {
    return outputs->metadata.is_internal;
  }
  const auto* failed = std::get_if<ResourceFailedEvent>(&event);
  return failed != nullptr && failed->metadata.is_internal;
}

std::string EventLine(const Event& event,
                      long sequence,
                      std::chrono::system_clock::time_point when) {
  JsonWriter json;
  json.BeginObject().Key("sequence").Integer(sequence);
  json.Key("timestamp")
      .Integer(std::chrono::floor<std::chrono::seconds>(when.time_since_epoch()).count());
  std::visit(LineWriter(&json), event);
  json.EndObject();
  return json.Take();
}

void EventStream::Emit(const Event& event, std::chrono::system_clock::time_point when) {
  const long sequence = sequence_++;
  if (include_internal_ || !IsInternalEvent(event)) {
    sink_(EventLine(event, sequence, when) + "\n");
  }
}

void PreviewDigest::AddStep(const StepMetadata& step, bool is_done) {
  if (step.is_internal) {
    return;
  }
  if (is_done) {
    // C126: what a refresh found gone is shown as the deletion.
    for (StepMetadata& known : steps_) {
      const bool found_gone = known.op == StepOp::kRefresh && step.op == StepOp::kDelete;
      if (known.urn == step.urn && (known.op == step.op || found_gone)) {
        known = step;
        return;
      }
    }
    return;
  }
  const bool is_hidden_same =
      step.op == StepOp::kSame && !options_.show_sames && !step.urn.is_root_stack();
  const bool is_hidden_half =
      !IsLogical(step.op) && step.op != StepOp::kRefresh && !options_.show_replacement_steps;
  if (!is_hidden_same && !is_hidden_half) {
    steps_.push_back(step);
  }
}

void PreviewDigest::Emit(const Event& event, std::chrono::system_clock::time_point) {
  if (const auto* prelude = std::get_if<PreludeEvent>(&event)) {
    config_ = prelude->config;
  } else if (const auto* pre = std::get_if<ResourcePreEvent>(&event)) {
    AddStep(pre->metadata, false);
  } else if (const auto* done = std::get_if<ResourceOutputsEvent>(&event)) {
    if (done->metadata.op == StepOp::kDelete) {
      AddStep(done->metadata, true);
    }
  } else if (const auto* diagnostic = std::get_if<DiagnosticEvent>(&event)) {
    if (diagnostic->severity != Severity::kDebug && !diagnostic->ephemeral) {
      diagnostics_.push_back(*diagnostic);
    }
  } else if (const auto* output = std::get_if<StdoutEvent>(&event)) {  // C125
    DiagnosticEvent printed;
    printed.severity = Severity::kInfo;
    printed.message = output->message;
    diagnostics_.push_back(std::move(printed));
  } else if (const auto* summary = std::get_if<SummaryEvent>(&event)) {
    summary_ = *summary;
  }
}

std::string PreviewDigest::Text() const {
  JsonWriter json(4);
  json.BeginObject();
  if (!config_.empty()) {
    json.Key("config").BeginObject();
    for (const auto& [key, value] : config_) {
      json.Key(key).String(value);
    }
    json.EndObject();
  }
  if (!steps_.empty()) {
    json.Key("steps").BeginArray();
    for (const StepMetadata& step : steps_) {
      json.BeginObject().Key("op").String(StepOpName(step.op)).Key("urn").String(step.urn.text());
      WriteText("provider", step.provider, &json);
      if (step.old_state) {
        json.Key("oldState");
        WriteDigestState(*step.old_state, &json);
      }
      if (step.new_state) {
        json.Key("newState");
        WriteDigestState(*step.new_state, &json);
      }
      WriteNames("diffReasons", step.diffs, &json);
      WriteNames("replaceReasons", step.keys, &json);
      WriteDetailedDiff(step, "kind", &json);
      json.EndObject();
    }
    json.EndArray();
  }
  if (!diagnostics_.empty()) {
    json.Key("diagnostics").BeginArray();
    for (const DiagnosticEvent& event : diagnostics_) {
      json.BeginObject();
      WriteText("urn", event.urn, &json);
      json.Key("message").String(std::string(PrefixOf(event.severity)) + MessageText(event));
      json.Key("severity").String(SeverityName(event.severity)).EndObject();
    }
    json.EndArray();
  }
  if (summary_.duration.count() != 0) {
    json.Key("duration").Integer(summary_.duration.count());
  }
  if (!summary_.changes.empty()) {
    json.Key("changeSummary");
    WriteChanges(summary_.changes, &json);
  }
  WriteFlag("maybeCorrupt", summary_.maybe_corrupt, &json);
  json.EndObject();
  return json.Take() + "\n";
}

void RunSummary::Emit(const Event& event, std::chrono::system_clock::time_point) {
  if (const auto* pre = std::get_if<ResourcePreEvent>(&event)) {
    const StepMetadata& step = pre->metadata;
    const bool is_hidden_half =
        !IsLogical(step.op) && step.op != StepOp::kRefresh && !options_.show_replacement_steps;
    if (!step.is_internal && !is_hidden_half && (step.op != StepOp::kSame || options_.show_sames)) {
      steps_.push_back(step);
    }
  } else if (const auto* summary = std::get_if<SummaryEvent>(&event)) {
    summary_ = *summary;
  }
}

std::string RunSummary::Text() const {
  JsonWriter json;
  json.BeginObject().Key("result").String(ResultName(summary_.result));
  json.Key("duration").Integer(summary_.duration.count());
  if (!summary_.changes.empty()) {
    json.Key("summary");
    WriteChanges(summary_.changes, &json);
  }
  if (!steps_.empty()) {
    json.Key("resources").BeginArray();
    for (const StepMetadata& step : steps_) {
      const ResourceState* state = step.new_state ? step.new_state.get() : step.old_state.get();
      json.BeginObject().Key("urn").String(step.urn.text()).Key("type").String(step.type);
      json.Key("name").String(step.urn.name()).Key("op").String(StepOpName(step.op));
      WriteText("parent", state == nullptr ? std::string() : state->parent.text(), &json);
      json.EndObject();
    }
    json.EndArray();
  }
  json.EndObject();
  return json.Take() + "\n";
}

}  // namespace davit
