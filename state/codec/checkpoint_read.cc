#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/base64.h"
#include "engine/base/digest.h"
#include "state/codec/extension_json.h"
#include "state/codec/checkpoint_json.h"
#include "state/codec/time_text.h"

namespace davit {
namespace {

constexpr int kNewestVersion = 4;
constexpr std::string_view kFeatures[] = {"refreshBeforeUpdate",
                                          "views",
                                          "hooks",
                                          "taint",
                                          "replaceWith",
                                          "extensionParameterization",
                                          "snippets-prototype",
                                          "byteString"};

// Reads one `latest` (or `deployment`) object of a version.
class DeploymentReader {
 public:
  DeploymentReader(JsonReader& reader, int version, const CheckpointReading& reading)
      : reader_(reader), version_(version), document_(reading.opener) {
    property_.secrets = reading.secrets;
    property_.texts = reading.texts;
    property_.document = &document_;
  }

  void Read(Checkpoint* checkpoint) {
    if (reader_.Peek() == JsonKind::kNull) {
      reader_.Raw();
      return;
    }
    checkpoint_ = checkpoint;
    snapshot_ = &checkpoint->snapshot.emplace();
    const std::size_t begin = reader_.offset();
    document_.SetLocate([this, begin] { Locate(reader_.text().substr(begin)); });
    std::string key;
    if (!reader_.EnterObject()) {
      return;
    }
    while (reader_.NextMember(&key)) {
      if (key == "manifest") {
        Manifest();
      } else if (key == "secrets_providers") {
        SecretsProviders(reader_);
      } else if (key == "resources") {
        Resources();
      } else if (key == "pending_operations") {
        PendingOperations();
      } else if (key == "snippets") {
        snapshot_->snippets_json = JsonList();
      } else if (key == "extensions") {
        snapshot_->extensions = ReadExtensions(reader_);
      } else {
        reader_.Raw();  // `metadata` tells only of a fault that the next valid save clears (E208)
      }
    }
  }

 private:
  // A secret came before `secrets_providers`: looks ahead for it.
  void Locate(std::string_view text) {
    JsonReader ahead(text);
    std::string key;
    if (!ahead.EnterObject()) {
      return;
    }
    while (ahead.NextMember(&key)) {
      if (key == "secrets_providers") {
        SecretsProviders(ahead);
        return;
      }
      ahead.Raw();
    }
  }

  void SecretsProviders(JsonReader& reader) {
    std::string key;
    std::string type;
    std::string state;
    if (!reader.EnterObject()) {
      return;
    }
    while (reader.NextMember(&key)) {
      if (key == "type") {
        type = reader.String();
      } else if (key == "state") {
        state = reader.Peek() == JsonKind::kNull ? std::string() : CompactJson(reader);
        if (state.empty()) {
          reader.Raw();
        }
      } else {
        reader.Raw();
      }
    }
    snapshot_->secrets_type = type;
    snapshot_->secrets_state = state;
    document_.Set(std::move(type), std::move(state));
  }

  // A list as raw text; empty when it has no items.
  std::string JsonList() {
    if (reader_.Peek() == JsonKind::kNull) {
      reader_.Raw();
      return {};
    }
    std::string json = CompactJson(reader_);
    return json == "[]" ? std::string() : json;
  }

  void Manifest() {
    std::string key;
    std::string magic;
    if (!reader_.EnterObject()) {
      return;
    }
    while (reader_.NextMember(&key)) {
      if (key == "time") {
        snapshot_->manifest_time = ParseTime(reader_.String());
      } else if (key == "magic") {
        magic = reader_.String();
      } else if (key == "version") {
        snapshot_->manifest_version = reader_.String();
      } else if (key == "plugins") {
        snapshot_->manifest_plugins_json = JsonList();
      } else {
        reader_.Raw();
      }
    }
    const std::string& version = snapshot_->manifest_version;
    checkpoint_->magic_matches = magic == (version.empty() ? std::string() : Sha256Hex(version));
  }

  void Resources() {
    if (!reader_.EnterArray()) {
      return;
    }
    while (reader_.NextItem()) {
      snapshot_->resources.push_back(ReadResource(reader_, version_, property_));
    }
  }

  void PendingOperations() {
    std::string key;
    if (!reader_.EnterArray()) {
      return;
    }
    while (reader_.NextItem()) {
      PendingOperation operation;
      if (!reader_.EnterObject()) {
        continue;
      }
      while (reader_.NextMember(&key)) {
        if (key == "resource") {
          operation.resource = ReadResource(reader_, version_, property_);
        } else if (key == "type") {
          const std::string name = reader_.String();
          const std::optional<OperationType> type = ParseOperationType(name);
          if (!type) {
            reader_.SetError(fmt::format("unknown pending operation '{}'", name));
            return;
          }
          operation.type = *type;
        } else {
          reader_.Raw();
        }
      }
      if (!operation.resource) {
        reader_.SetError("a pending operation has no resource");
      }
      snapshot_->pending_operations.push_back(std::move(operation));
    }
  }

  JsonReader& reader_;
  int version_;
  DocumentSecrets document_;
  PropertyReading property_;
  Checkpoint* checkpoint_ = nullptr;
  Snapshot* snapshot_ = nullptr;
};

// The inner object of a checkpoint: the stack's name and `latest`.
void ReadInner(JsonReader& reader,
               int version,
               const CheckpointReading& reading,
               Checkpoint* checkpoint) {
  std::string key;
  if (!reader.EnterObject()) {
    return;
  }
  while (reader.NextMember(&key)) {
    if (key == "latest") {
      DeploymentReader(reader, version, reading).Read(checkpoint);
    } else {
      reader.Raw();
    }
  }
}

using BodyReader = void (*)(JsonReader&, int, const CheckpointReading&, Checkpoint*);

void ReadBare(JsonReader& reader,
              int version,
              const CheckpointReading& reading,
              Checkpoint* checkpoint) {
  DeploymentReader(reader, version, reading).Read(checkpoint);
}

struct Envelope {
  std::optional<int> version;
  bool has_body = false;
  std::string_view body;  ///< when it came before the version
};

Result<void> CheckVersion(int version, const std::vector<std::string>& features, const char* what) {
  if (version < 1 || version > kNewestVersion) {
    return Fail(
        ErrorKind::kInvalid,
        fmt::format(
            "{} has version {}; this davit reads versions 1 to {}", what, version, kNewestVersion),
        version < 1 ? "it is too old" : "it was written by a newer program; update davit");
  }
  if (version < kNewestVersion) {
    return {};  // S9
  }
  std::string unknown;
  for (const std::string& feature : features) {
    if (std::find(std::begin(kFeatures), std::end(kFeatures), feature) == std::end(kFeatures)) {
      unknown += unknown.empty() ? "" : ", ";
      unknown += "'" + feature + "'";
    }
  }
  if (!unknown.empty()) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("{} needs features that davit does not know: {}", what, unknown),
                "it was written by a newer program; update davit");
  }
  return {};
}

// Reads `version`, `features` and the body, which is taken in passing when the version is known by
// then.
Result<Envelope> ReadEnvelope(JsonReader& reader,
                              std::string_view body_key,
                              BodyReader read_body,
                              const char* what,
                              const CheckpointReading& reading,
                              Checkpoint* checkpoint) {
  Envelope envelope;
  std::string key;
  reader.EnterObject();
  while (reader.NextMember(&key)) {
    if (key == "version") {
      const double version = reader.Number();
      if (version != std::floor(version) || std::abs(version) > 1e6) {
        reader.SetError("expected a version");
        break;
      }
      envelope.version = static_cast<int>(version);
    } else if (key == "features") {
      if (reader.EnterArray()) {
        while (reader.NextItem()) {
          checkpoint->features.push_back(reader.String());
        }
      }
    } else if (key == body_key && envelope.version.value_or(0) != 0) {
      DAVIT_TRY_VOID(CheckVersion(*envelope.version, checkpoint->features, what));
      read_body(reader, *envelope.version, reading, checkpoint);
      envelope.has_body = true;
    } else {
      const std::string_view raw = reader.Raw();
      if (key == body_key) {
        envelope.body = raw;
      }
    }
  }
  reader.ExpectEnd();
  DAVIT_TRY_VOID(reader.Finish());
  return envelope;
}

Result<void> ReadLateBody(const Envelope& envelope,
                          BodyReader read_body,
                          const char* what,
                          const CheckpointReading& reading,
                          Checkpoint* checkpoint) {
  DAVIT_TRY_VOID(CheckVersion(envelope.version.value_or(0), checkpoint->features, what));
  if (envelope.has_body || envelope.body.empty()) {
    return {};
  }
  JsonReader reader(envelope.body, what);
  read_body(reader, *envelope.version, reading, checkpoint);
  return reader.Finish();
}

}  // namespace

Result<Checkpoint> ReadCheckpoint(std::string_view text, const CheckpointReading& reading) {
  constexpr const char* kWhat = "the checkpoint";
  Checkpoint checkpoint;
  JsonReader reader(text, kWhat);
  DAVIT_TRY(const Envelope envelope,
            ReadEnvelope(reader, "checkpoint", ReadInner, kWhat, reading, &checkpoint));
  if (envelope.version.value_or(0) == 0) {  // S4: no envelope; S5: nothing was saved yet
    JsonReader whole(text, kWhat);
    ReadInner(whole, 1, reading, &checkpoint);
    DAVIT_TRY_VOID(whole.Finish());
    return checkpoint;
  }
  DAVIT_TRY_VOID(ReadLateBody(envelope, ReadInner, kWhat, reading, &checkpoint));
  return checkpoint;
}

Result<Checkpoint> ReadExported(std::string_view text, const CheckpointReading& reading) {
  constexpr const char* kWhat = "the deployment";
  Checkpoint checkpoint;
  JsonReader reader(text, kWhat);
  DAVIT_TRY(const Envelope envelope,
            ReadEnvelope(reader, "deployment", ReadBare, kWhat, reading, &checkpoint));
  DAVIT_TRY_VOID(ReadLateBody(envelope, ReadBare, kWhat, reading, &checkpoint));
  return checkpoint;
}

}  // namespace davit
