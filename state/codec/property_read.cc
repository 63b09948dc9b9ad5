#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/base64.h"
#include "engine/model/provider_ref.h"
#include "state/codec/property_json.h"
#include "state/codec/signatures.h"

namespace davit {
namespace {

// What a signature object says under `key`: its text, or "" when it is missing. A text that reads
// as an unknown is a text.
std::string TextOf(const PropertyMap& map, std::string_view key) {
  const auto found = map.find(key);
  if (found == map.end()) {
    return {};
  }
  if (found->second.is_unknown()) {
    return std::string(kUnknownId);
  }
  const std::string* text = found->second.as_string();
  return text == nullptr ? std::string() : *text;
}

bool HasRawBytes(const PropertyValue& value) {
  if (const std::string* text = value.as_string()) {
    return !IsUtf8(*text);
  }
  if (const PropertyList* list = value.as_list()) {
    return std::any_of(list->begin(), list->end(), HasRawBytes);
  }
  if (const PropertyMap* map = value.as_map()) {
    return std::any_of(
        map->begin(), map->end(), [](const auto& entry) { return HasRawBytes(entry.second); });
  }
  return value.is_secret() && HasRawBytes(value.as_secret()->Reveal());
}

class SignatureReader {
 public:
  SignatureReader(JsonReader& reader, const PropertyReading& reading)
      : reader_(reader), reading_(reading) {}

  // An object that was read; marked ones become what they stand for.
  PropertyValue Value(PropertyMap map) {
    const auto mark = map.find(kSignatureKey);
    if (mark == map.end()) {
      return PropertyValue(std::move(map));
    }
    const std::string signature = TextOf(map, kSignatureKey);
    if (signature == kSecretSignature) {
      return ReadSecret(map);
    }
    if (signature == kBytesSignature) {
      return Bytes(map);
    }
    if (signature == kNumberSignature) {
      return SpecialNumber(map);
    }
    if (signature == kAssetSignature) {
      return ReadAsset(map);
    }
    if (signature == kArchiveSignature) {
      return ReadArchive(map);
    }
    if (signature == kReferenceSignature) {
      return Reference(map);
    }
    reader_.SetError(fmt::format("an object has the unknown signature '{}'", signature));
    return {};
  }

 private:
  PropertyValue ReadSecret(const PropertyMap& map) {
    const std::string ciphertext = TextOf(map, "ciphertext");
    const std::string plaintext = TextOf(map, "plaintext");
    if (ciphertext.empty() == plaintext.empty()) {
      reader_.SetError("a secret needs either a ciphertext or a plaintext");
      return {};
    }
    SecretText text;
    text.is_plaintext = ciphertext.empty();
    text.text = text.is_plaintext ? plaintext : ciphertext;
    if (reading_.secrets == SecretsIn::kNested) {
      return MakeSecret(Inner(text.text));
    }
    text.manager_id = reading_.document->Id();
    if (reading_.secrets == SecretsIn::kClosed) {
      const Secret secret{PropertyValue(text.text)};
      reading_.texts->Remember(secret, std::move(text));
      return secret;
    }
    std::string opened = text.text;
    if (!text.is_plaintext) {
      Result<SecretsManager*> manager = reading_.document->Open();
      Result<std::string> decrypted =
          manager ? (*manager)->Decrypt(text.text) : Fail(manager.error());
      if (!decrypted) {
        return FailWith(decrypted.error());
      }
      opened = *std::move(decrypted);
    }
    PropertyValue value = MakeSecret(Inner(opened));
    text.has_raw_bytes = HasRawBytes(value);
    reading_.texts->Remember(*value.as_secret(), std::move(text));
    return value;
  }

  PropertyValue Inner(const std::string& json) {
    PropertyReading nested;
    nested.secrets = SecretsIn::kNested;
    JsonReader inner(json, "the text of a secret");
    PropertyValue value = ReadProperty(inner, nested);
    inner.ExpectEnd();
    if (inner.failed()) {
      reader_.SetError("the text of a secret is not JSON");  // nothing of the text may show
    }
    return value;
  }

  PropertyValue Bytes(const PropertyMap& map) {
    std::optional<std::string> bytes = DecodeBase64(TextOf(map, "value"));
    if (!bytes) {
      reader_.SetError("a byte string is not base64");
      return {};
    }
    return PropertyValue(*std::move(bytes));
  }

  PropertyValue SpecialNumber(const PropertyMap& map) {
    const std::string text = TextOf(map, "value");
    std::uint64_t bits = 0;
    const char* end = text.data() + text.size();
    const std::from_chars_result read = std::from_chars(text.data(), end, bits, 16);
    if (text.size() != 16 || read.ec != std::errc() || read.ptr != end) {
      reader_.SetError("a special number needs 16 hexadecimal digits");
      return {};
    }
    return PropertyValue(std::bit_cast<double>(bits));
  }

  PropertyValue ReadAsset(const PropertyMap& map) {
    Asset asset;
    asset.hash = TextOf(map, "hash");
    const std::pair<std::string_view, Asset::Source> sources[] = {{"text", Asset::Source::kText},
                                                                  {"path", Asset::Source::kPath},
                                                                  {"uri", Asset::Source::kUri}};
    for (const auto& [key, source] : sources) {
      std::string content = TextOf(map, key);
      if (!content.empty() && asset.source == Asset::Source::kNone) {
        asset.source = source;
        asset.content = std::move(content);
      }
    }
    if (asset.hash == kEmptyTextHash && asset.source == Asset::Source::kNone) {
      asset.source = Asset::Source::kText;  // S56: an empty text is not written
    }
    return PropertyValue(std::move(asset));
  }

  PropertyValue ReadArchive(const PropertyMap& map) {
    Archive archive;
    archive.hash = TextOf(map, "hash");
    const auto members = map.find("assets");
    if (members != map.end() && members->second.is_map()) {
      archive.source = Archive::Source::kAssets;
      archive.assets = std::make_shared<const PropertyMap>(*members->second.as_map());
    } else if (std::string path = TextOf(map, "path"); !path.empty()) {
      archive.source = Archive::Source::kPath;
      archive.location = std::move(path);
    } else if (std::string uri = TextOf(map, "uri"); !uri.empty()) {
      archive.source = Archive::Source::kUri;
      archive.location = std::move(uri);
    } else if (archive.hash == kEmptyArchiveHash) {
      archive.source = Archive::Source::kAssets;
      archive.assets = std::make_shared<const PropertyMap>();
    }
    return PropertyValue(std::move(archive));
  }

  PropertyValue Reference(const PropertyMap& map) {
    ResourceReference reference;
    reference.urn = TextOf(map, "urn");
    reference.package_version = TextOf(map, "packageVersion");
    const auto id = map.find("id");
    if (reference.urn.empty()) {
      reader_.SetError("a resource reference has no URN");
    }
    if (const Result<Urn> urn = Urn::Parse(reference.urn)) {  // what is not stored, as on the wire
      reference.name = urn->name();
      reference.type = urn->type();
    }
    if (id == map.end() || id->second.is_null()) {
      return PropertyValue(std::move(reference));
    }
    if (const PropertyMap* odd = id->second.as_map()) {  // S58: left by an old bug
      const auto inner = odd->find("V");
      if (inner != odd->end() && !inner->second.is_null()) {
        reference.id = inner->second.is_map() ? std::string() : TextOf(*odd, "V");
      }
    } else {
      reference.id = id->second.is_unknown() ? std::string() : TextOf(map, "id");
    }
    return PropertyValue(std::move(reference));
  }

  PropertyValue FailWith(const Error& error) {
    reader_.SetError(error);
    return {};
  }

  JsonReader& reader_;
  const PropertyReading& reading_;
};

// A container that is not complete yet.
struct Open {
  bool is_map = false;
  std::string key;
  PropertyMap map;
  PropertyList list;
};

}  // namespace

// Keeps its own stack, so that deep values are limited by a number and not by the thread.
PropertyValue ReadProperty(JsonReader& reader, const PropertyReading& reading) {
  SignatureReader signatures(reader, reading);
  std::vector<Open> stack;
  while (true) {
    PropertyValue value;
    switch (reader.Peek()) {
      case JsonKind::kNull:
        reader.Raw();
        break;
      case JsonKind::kBool:
        value = reader.Bool();
        break;
      case JsonKind::kNumber:
        value = reader.Number();
        break;
      case JsonKind::kString: {
        std::string text = reader.String();
        value = text == kUnknownId ? PropertyValue(Unknown{}) : PropertyValue(std::move(text));
        break;
      }
      case JsonKind::kObject:
        reader.EnterObject();
        stack.emplace_back().is_map = true;
        if (reader.NextMember(&stack.back().key)) {
          continue;
        }
        value = signatures.Value(PropertyMap());
        stack.pop_back();
        break;
      case JsonKind::kArray:
        reader.EnterArray();
        stack.emplace_back();
        if (reader.NextItem()) {
          continue;
        }
        value = PropertyList();
        stack.pop_back();
        break;
      case JsonKind::kEnd:
      case JsonKind::kInvalid:
        reader.SetError("expected a value");
        break;
    }
    // Hand the value to the container that waits for it, and close every container that is
    // complete.
    while (true) {
      if (reader.failed()) {
        return {};
      }
      if (stack.empty()) {
        return value;
      }
      Open& top = stack.back();
      if (top.is_map) {
        top.map.insert_or_assign(std::move(top.key), std::move(value));
        if (reader.NextMember(&top.key)) {
          break;
        }
        value = signatures.Value(std::move(top.map));
      } else {
        top.list.push_back(std::move(value));
        if (reader.NextItem()) {
          break;
        }
        value = PropertyValue(std::move(top.list));
      }
      stack.pop_back();
    }
  }
}

PropertyMap ReadPropertyMap(JsonReader& reader, const PropertyReading& reading) {
  PropertyMap map;
  std::string key;
  if (reader.EnterObject()) {
    while (reader.NextMember(&key)) {
      PropertyValue value = ReadProperty(reader, reading);
      map.insert_or_assign(key, std::move(value));
    }
  }
  return map;
}

}  // namespace davit
