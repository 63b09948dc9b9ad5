#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "engine/base/base64.h"
#include "engine/base/digest.h"
#include "state/codec/checkpoint_json.h"
#include "state/codec/extension_json.h"
#include "state/codec/time_text.h"

namespace davit {
namespace {

class DeploymentWriter {
 public:
  DeploymentWriter(CheckpointWriting& writing, std::string* out) : writing_(writing), out_(out) {}

  void Write(const Snapshot& snapshot) {
    JsonObjectWriter object(out_);
    object.Key("manifest");
    Manifest(snapshot);
    if (!writing_.secrets_type.empty()) {
      JsonObjectWriter providers(object.Key("secrets_providers"));
      providers.String("type", writing_.secrets_type);
      if (!writing_.secrets_state.empty()) {
        *providers.Key("state") += writing_.secrets_state;
      }
      providers.End();
    }
    if (!snapshot.resources.empty()) {
      object.Key("resources");
      Resources(snapshot);
    }
    if (!snapshot.pending_operations.empty()) {
      object.Key("pending_operations");
      PendingOperations(snapshot);
    }
    object.Key("metadata");
    Metadata();
    if (!snapshot.snippets_json.empty()) {
      writing_.values.features.insert("snippets-prototype");
      *object.Key("snippets") += snapshot.snippets_json;
    }
    Extensions(snapshot, object);
    object.End();
  }

 private:
  void Manifest(const Snapshot& snapshot) {
    JsonObjectWriter manifest(out_);
    const std::string& version = snapshot.manifest_version;
    manifest.String(
        "time",
        snapshot.manifest_time ? TimeText(*snapshot.manifest_time) : std::string(kZeroTime));
    manifest.String("magic", version.empty() ? std::string() : Sha256Hex(version));
    manifest.String("version", version);
    if (!snapshot.manifest_plugins_json.empty()) {
      *manifest.Key("plugins") += snapshot.manifest_plugins_json;
    }
    manifest.End();
  }

  void Resource(const ResourceState& state) {
    WriteResource(state, writing_.values, out_);
    if (!state.extension_ref.empty()) {
      used_extensions_.insert(state.extension_ref);
    }
  }

  void Resources(const Snapshot& snapshot) {
    *out_ += '[';
    bool first = true;
    for (const StatePtr& state : snapshot.resources) {
      *out_ += std::exchange(first, false) ? "" : ",";
      Resource(*state);
    }
    *out_ += ']';
  }

  void PendingOperations(const Snapshot& snapshot) {
    *out_ += '[';
    bool first = true;
    for (const PendingOperation& operation : snapshot.pending_operations) {
      *out_ += std::exchange(first, false) ? "" : ",";
      JsonObjectWriter object(out_);
      object.Key("resource");
      Resource(*operation.resource);
      object.String("type", OperationTypeName(operation.type));
      object.End();
    }
    *out_ += ']';
  }

  void Metadata() {
    JsonObjectWriter metadata(out_);
    if (!writing_.integrity_error.empty()) {
      JsonObjectWriter fault(metadata.Key("integrity_error"));
      fault.String("version", "3");
      fault.String("error", writing_.integrity_error);
      fault.End();
    }
    metadata.End();
  }

  void Extensions(const Snapshot& snapshot, JsonObjectWriter& object) {
    const auto is_used = [&](const auto& entry) { return used_extensions_.contains(entry.first); };
    if (std::none_of(snapshot.extensions.begin(), snapshot.extensions.end(), is_used)) {
      return;
    }
    JsonObjectWriter extensions(object.Key("extensions"));
    for (const auto& [reference, extension] : snapshot.extensions) {
      if (used_extensions_.contains(reference)) {
        WriteExtension(extension, extensions.Key(reference));
      }
    }
    extensions.End();
  }

  CheckpointWriting& writing_;
  std::string* out_;
  std::set<std::string> used_extensions_;
};

// `{"version":N,"features":[...],` without its end.
std::string EnvelopeHead(const std::set<std::string>& features) {
  std::string head = fmt::format("{{\"version\":{},", features.empty() ? 3 : 4);
  if (!features.empty()) {
    head += "\"features\":[";
    bool first = true;
    for (const std::string& feature : features) {
      head += std::exchange(first, false) ? "" : ",";
      AppendJsonString(feature, HtmlEscaping::kOff, &head);
    }
    head += "],";
  }
  return head;
}

}  // namespace

Result<std::string> WriteCheckpoint(const std::string& stack,
                                    const Snapshot& snapshot,
                                    CheckpointWriting writing) {
  std::string body;
  DeploymentWriter(writing, &body).Write(snapshot);
  if (writing.values.error) {
    return Fail(*writing.values.error);
  }
  std::string text = EnvelopeHead(writing.values.features) + "\"checkpoint\":{\"stack\":";
  AppendJsonString(stack, HtmlEscaping::kOff, &text);
  text.reserve(text.size() + body.size() + 16);
  text += ",\"latest\":";
  text += body;
  text += "}}";
  return text;
}

Result<std::string> WriteExported(const std::optional<Snapshot>& snapshot,
                                  const std::vector<std::string>& read_features,
                                  CheckpointWriting writing) {
  std::string body;
  if (snapshot) {
    DeploymentWriter(writing, &body).Write(*snapshot);
  } else {
    body = "null";
  }
  if (writing.values.error) {
    return Fail(*writing.values.error);
  }
  if (std::find(read_features.begin(), read_features.end(), "byteString") != read_features.end()) {
    writing.values.features.insert("byteString");
  }
  constexpr int kIndent = 4;
  return IndentJson(EnvelopeHead(writing.values.features) + "\"deployment\":" + body + "}",
                    kIndent) +
         "\n";
}

}  // namespace davit
