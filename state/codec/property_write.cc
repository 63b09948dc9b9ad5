#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "engine/base/base64.h"
#include "engine/model/provider_ref.h"
#include "state/codec/property_json.h"
#include "state/codec/signatures.h"

namespace davit {
namespace {

class Writer {
 public:
  Writer(PropertyWriting& writing, std::string* out) : writing_(writing), out_(out) {}

  void Value(const PropertyValue& value, int depth) {
    if (depth > kMaxValueDepth) {
      SetError(MakeError(ErrorKind::kInvalid, "a value is nested too deeply to be stored"));
      return;
    }
    switch (value.kind()) {
      case ValueKind::kNull:
        *out_ += "null";
        return;
      case ValueKind::kBool:
        *out_ += *value.as_bool() ? "true" : "false";
        return;
      case ValueKind::kNumber:
        Number(*value.as_number());
        return;
      case ValueKind::kString:
        Text(*value.as_string());
        return;
      case ValueKind::kList:
        List(*value.as_list(), depth);
        return;
      case ValueKind::kMap:
        Map(*value.as_map(), depth);
        return;
      case ValueKind::kAsset:
        WriteAsset(*value.as_asset());
        return;
      case ValueKind::kArchive:
        WriteArchive(*value.as_archive(), depth);
        return;
      case ValueKind::kUnknown:
        Quoted(kUnknownId);
        return;
      case ValueKind::kSecret:
        WriteSecret(*value.as_secret(), depth);
        return;
      case ValueKind::kOutput:
        WriteOutput(*value.as_output(), depth);
        return;
      case ValueKind::kReference:
        Reference(*value.as_reference());
        return;
    }
  }

  void Map(const PropertyMap& map, int depth) {
    *out_ += '{';
    bool first = true;
    for (const auto& [key, value] : map) {
      if (!std::exchange(first, false)) {
        *out_ += ',';
      }
      Quoted(key);
      *out_ += ':';
      Value(value, depth + 1);
    }
    *out_ += '}';
  }

 private:
  void SetError(Error error) {
    if (!writing_.error) {
      writing_.error = std::move(error);
    }
  }

  void Quoted(std::string_view text) { AppendJsonString(text, writing_.html, out_); }

  void Member(std::string_view key, std::string_view text) {
    *out_ += ',';
    Quoted(key);
    *out_ += ':';
    Quoted(text);
  }
  void MemberIfAny(std::string_view key, std::string_view text) {
    if (!text.empty()) {
      Member(key, text);
    }
  }

  // Begins a marked object; its keys sort behind the mark.
  void Mark(std::string_view signature) {
    *out_ += '{';
    Quoted(kSignatureKey);
    *out_ += ':';
    Quoted(signature);
  }

  void Number(double number) {
    if (std::isfinite(number)) {
      *out_ += NumberText(number);
      return;
    }
    Mark(kNumberSignature);
    Member("value", fmt::format("{:016x}", std::bit_cast<std::uint64_t>(number)));
    *out_ += '}';
  }

  void Text(const std::string& text) {
    if (IsUtf8(text)) {
      Quoted(text);
      return;
    }
    writing_.features.insert("byteString");
    Mark(kBytesSignature);
    Member("value", EncodeBase64(text));
    *out_ += '}';
  }

  void List(const PropertyList& list, int depth) {
    *out_ += '[';
    bool first = true;
    for (const PropertyValue& item : list) {
      if (!std::exchange(first, false)) {
        *out_ += ',';
      }
      Value(item, depth + 1);
    }
    *out_ += ']';
  }

  void WriteAsset(const Asset& asset) {
    Mark(kAssetSignature);
    MemberIfAny("hash", asset.hash);
    switch (asset.source) {
      case Asset::Source::kText:
        MemberIfAny("text", asset.content);
        break;
      case Asset::Source::kPath:
        MemberIfAny("path", asset.content);
        break;
      case Asset::Source::kUri:
        MemberIfAny("uri", asset.content);
        break;
      case Asset::Source::kNone:
        break;
    }
    *out_ += '}';
  }

  void WriteArchive(const Archive& archive, int depth) {
    Mark(kArchiveSignature);
    if (archive.source == Archive::Source::kAssets && archive.assets && !archive.assets->empty()) {
      *out_ += ",\"assets\":";
      Map(*archive.assets, depth + 1);
    }
    MemberIfAny("hash", archive.hash);
    if (archive.source == Archive::Source::kPath) {
      MemberIfAny("path", archive.location);
    } else if (archive.source == Archive::Source::kUri) {
      MemberIfAny("uri", archive.location);
    }
    *out_ += '}';
  }

  void Reference(const ResourceReference& reference) {
    Mark(kReferenceSignature);
    if (reference.id) {
      Member("id", *reference.id);
    }
    Member("packageVersion", reference.package_version);
    Member("urn", reference.urn);
    *out_ += '}';
  }

  void WriteOutput(const Output& output, int depth) {
    if (!output.element) {
      Quoted(kUnknownId);
    } else if (output.is_secret) {
      WriteSecret(Secret(*output.element), depth);
    } else {
      Value(*output.element, depth + 1);
    }
  }

  // The JSON text of what a secret holds; `has_raw_bytes` tells whether it needs the feature of
  // S54.
  std::string Inner(const Secret& secret, int depth, bool* has_raw_bytes) {
    PropertyWriting nested;
    // Where secrets are shown, those inside are too.
    nested.secrets = writing_.secrets == SecretsOut::kPlaintext ? SecretsOut::kPlaintext
                                                                : SecretsOut::kNested;
    nested.html = HtmlEscaping::kOn;
    std::string text;
    Writer(nested, &text).Value(secret.Reveal(), depth + 1);
    *has_raw_bytes = !nested.features.empty();
    writing_.features.merge(nested.features);
    if (nested.error) {
      SetError(*nested.error);
    }
    return text;
  }

  void WriteSecret(const Secret& secret, int depth) {
    bool has_raw_bytes = false;
    const SecretText* known = writing_.texts == nullptr ? nullptr : writing_.texts->Find(secret);
    switch (writing_.secrets) {
      case SecretsOut::kNested:
        Payload("ciphertext", Inner(secret, depth, &has_raw_bytes));
        return;
      case SecretsOut::kPlaintext:
        Payload("plaintext", Inner(secret, depth, &has_raw_bytes));
        return;
      case SecretsOut::kAsRead:
        DAVIT_CHECK(known != nullptr, "a secret that was not read cannot be written as read");
        Payload(known->is_plaintext ? "plaintext" : "ciphertext", known->text);
        return;
      case SecretsOut::kEncrypted:
        break;
    }
    if (known != nullptr && !known->is_plaintext && known->manager_id == writing_.manager_id) {
      if (known->has_raw_bytes) {
        writing_.features.insert("byteString");
      }
      Payload("ciphertext", known->text);
      return;
    }
    if (writing_.manager == nullptr) {
      SetError(MakeError(
          ErrorKind::kRefused,
          "a secret value has to be stored, but there is no passphrase to encrypt it with",
          "set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE and run the command "
          "again"));
      return;
    }
    SecretText text;
    Result<std::string> ciphertext =
        writing_.manager->Encrypt(Inner(secret, depth, &has_raw_bytes));
    if (!ciphertext) {
      SetError(ciphertext.error());
      return;
    }
    text.text = *std::move(ciphertext);
    text.manager_id = writing_.manager_id;
    text.has_raw_bytes = has_raw_bytes;
    Payload("ciphertext", text.text);
    writing_.texts->Remember(secret, std::move(text));
  }

  void Payload(std::string_view key, std::string_view text) {
    Mark(kSecretSignature);
    Member(key, text);
    *out_ += '}';
  }

  PropertyWriting& writing_;
  std::string* out_;
};

}  // namespace

void WriteProperty(const PropertyValue& value, PropertyWriting& writing, std::string* out) {
  Writer(writing, out).Value(value, 0);
}

void WritePropertyMap(const PropertyMap& map, PropertyWriting& writing, std::string* out) {
  Writer(writing, out).Map(map, 0);
}

}  // namespace davit
