// The half of value_codec.h that reads (P56, P59-P63, P65).

#include <algorithm>

#include "engine/base/base64.h"
#include "engine/model/urn.h"
#include "host/wire/value_codec.h"
#include "host/wire/value_signatures.h"

namespace davit {
namespace {

namespace pb = google::protobuf;
using wire::Outcome;

// Room below kMaxValueDepth for the wrappers and containers that others put around what came from
// the wire.
constexpr int kMaxWireDepth = kMaxValueDepth - 100;

const pb::Value* FindField(const pb::Struct& object, std::string_view key) {
  const auto found = object.fields().find(std::string(key));
  return found == object.fields().end() ? nullptr : &found->second;
}

// The signature of an object; empty when it has none or one that is not text.
std::string_view SignatureOf(const pb::Struct& object) {
  const pb::Value* signature = FindField(object, wire::kSignatureKey);
  return signature != nullptr ? std::string_view(signature->string_value()) : std::string_view();
}

const wire::Sentinel* FindSentinel(std::string_view text) {
  const auto found =
      std::find_if(std::begin(wire::kSentinels),
                   std::end(wire::kSentinels),
                   [&](const wire::Sentinel& sentinel) { return sentinel.text == text; });
  return found == std::end(wire::kSentinels) ? nullptr : found;
}

const PropertyValue* Find(const PropertyMap& members, std::string_view key) {
  const auto found = members.find(key);
  return found == members.end() ? nullptr : &found->second;
}

class Decoder {
 public:
  explicit Decoder(const CodecOptions& options) : options_(options) {}

  Error TakeError() { return trail_.TakeError(); }

  Outcome Value(const pb::Value& in, PropertyValue* out, int depth) {
    if (depth > kMaxWireDepth) {
      return trail_.Failed("nested too deeply");
    }
    switch (in.kind_case()) {
      case pb::Value::kNullValue:
      case pb::Value::KIND_NOT_SET:
        *out = Null{};
        return Outcome::kDone;
      case pb::Value::kBoolValue:
        *out = in.bool_value();
        return Outcome::kDone;
      case pb::Value::kNumberValue:
        *out = in.number_value();
        return Outcome::kDone;
      case pb::Value::kStringValue:
        return Text(in.string_value(), out);
      case pb::Value::kListValue:
        return List(in.list_value(), out, depth);
      case pb::Value::kStructValue:
        return Object(in.struct_value(), out, depth);
    }
    return trail_.Failed("a value of no known kind");
  }

  // Keys are taken in sorted order, so that the first error is the same in every run (P62).
  Outcome Members(const pb::Struct& in, PropertyMap* out, int depth) {
    using Field = pb::Map<std::string, pb::Value>::value_type;
    std::vector<const Field*> fields;
    fields.reserve(in.fields().size());
    for (const Field& field : in.fields()) {
      fields.push_back(&field);
    }
    std::sort(fields.begin(), fields.end(), [](const Field* a, const Field* b) {
      return a->first < b->first;
    });
    const std::string_view signature = SignatureOf(in);
    const bool is_wrapper =
        signature == wire::kSecretSignature || signature == wire::kOutputSignature;
    for (const Field* field : fields) {
      const Outcome outcome = Member(*field, is_wrapper, out, depth);
      if (outcome == Outcome::kFailed) {
        return outcome;
      }
    }
    return Outcome::kDone;
  }

 private:
  Outcome Member(const pb::Map<std::string, pb::Value>::value_type& field,
                 bool is_wrapper,
                 PropertyMap* out,
                 int depth) {
    // The inner value of a wrapper goes by the name of the property itself.
    const bool is_named = !is_wrapper || field.first != "value";
    if (is_named) {
      trail_.Enter(field.first);
    }
    if (!IsUtf8(field.first)) {
      return trail_.Failed("the name is not valid UTF-8");
    }
    const bool is_skipped =
        (options_.skip_nulls && field.second.kind_case() == pb::Value::kNullValue && !is_wrapper) ||
        (depth == 0 && options_.skip_internal_keys &&
         std::string_view(field.first).substr(0, wire::kInternalPrefix.size()) ==
             wire::kInternalPrefix);
    if (!is_skipped) {
      PropertyValue value;
      const Outcome outcome = Value(field.second, &value, depth + 1);
      if (outcome == Outcome::kFailed) {
        return outcome;
      }
      if (outcome == Outcome::kDone) {
        out->emplace_hint(out->end(), field.first, std::move(value));
      }
    }
    if (is_named) {
      trail_.Leave();
    }
    return Outcome::kDone;
  }

  Outcome Text(const std::string& text, PropertyValue* out) {
    if (const wire::Sentinel* sentinel = FindSentinel(text)) {
      return UnknownOf(sentinel->kind, out);
    }
    if (!IsUtf8(text)) {
      return trail_.Failed("the text is not valid UTF-8");
    }
    *out = text;
    return Outcome::kDone;
  }

  bool upgrades() const { return options_.keep_outputs && options_.upgrade_to_outputs; }

  Outcome UnknownOf(UnknownKind kind, PropertyValue* out) {
    if (options_.reject_unknowns) {
      return trail_.Failed("unexpected unknown value");
    }
    if (!options_.keep_unknowns) {
      return Outcome::kDropped;
    }
    *out = upgrades() ? PropertyValue(Output{}) : PropertyValue(Unknown{kind});
    return Outcome::kDone;
  }

  Outcome List(const pb::ListValue& in, PropertyValue* out, int depth) {
    PropertyList list(static_cast<std::size_t>(in.values_size()));
    for (int index = 0; index < in.values_size(); ++index) {
      trail_.Enter(index);
      // A dropped element stays null: positions matter (P61).
      if (Value(in.values(index), &list[static_cast<std::size_t>(index)], depth + 1) ==
          Outcome::kFailed) {
        return Outcome::kFailed;
      }
      trail_.Leave();
    }
    *out = std::move(list);
    return Outcome::kDone;
  }

  Outcome Object(const pb::Struct& in, PropertyValue* out, int depth) {
    PropertyMap members;
    if (Members(in, &members, depth) == Outcome::kFailed) {
      return Outcome::kFailed;
    }
    if (FindField(in, wire::kSignatureKey) == nullptr) {
      *out = std::move(members);
      return Outcome::kDone;
    }
    return Special(in, members, out);
  }

  Outcome Special(const pb::Struct& in, const PropertyMap& members, PropertyValue* out) {
    const std::string_view signature = SignatureOf(in);
    if (signature == wire::kSecretSignature) {
      return SecretOf(in, members, out);
    }
    if (signature == wire::kOutputSignature) {
      return OutputOf(in, members, out);
    }
    if (signature == wire::kReferenceSignature) {
      return Reference(in, members, out);
    }
    if (signature == wire::kAssetSignature) {
      return AssetOf(members, out);
    }
    if (signature == wire::kArchiveSignature) {
      return ArchiveOf(members, out);
    }
    if (signature == wire::kBytesSignature) {
      return Bytes(members, out);
    }
    return trail_.Failed("a special value with an unknown signature");
  }

  Outcome SecretOf(const pb::Struct& in, const PropertyMap& members, PropertyValue* out) {
    if (FindField(in, "value") == nullptr) {
      return trail_.Failed("a secret without \"value\"");
    }
    const PropertyValue* value = Find(members, "value");
    if (value == nullptr) {
      return Outcome::kDropped;  // an unknown that is not wanted takes its secret along
    }
    *out = options_.keep_secrets ? MakeSecret(*value) : *value;
    return Outcome::kDone;
  }

  Outcome OutputOf(const pb::Struct& in, const PropertyMap& members, PropertyValue* out) {
    Output output;
    if (const PropertyValue* secret = Find(members, "secret")) {
      if (secret->as_bool() == nullptr) {
        return trail_.Failed("\"secret\" of an output value is not a boolean");
      }
      output.is_secret = *secret->as_bool();
    }
    if (Dependencies(members, &output.dependencies) == Outcome::kFailed) {
      return Outcome::kFailed;
    }
    PropertyValue element;
    if (const PropertyValue* value = Find(members, "value")) {
      element = *value;
    } else if (FindField(in, "value") != nullptr) {
      return Outcome::kDropped;
    } else {
      const Outcome outcome = UnknownOf(UnknownKind::kString, &element);
      if (outcome != Outcome::kDone) {
        return outcome;
      }
    }
    if (!options_.keep_outputs) {
      *out = output.is_secret && options_.keep_secrets ? MakeSecret(std::move(element))
                                                       : std::move(element);
      return Outcome::kDone;
    }
    // An unknown inside is what an output value without an element says.
    const Output* inner = element.as_output();
    if (!element.is_unknown() && (inner == nullptr || inner->element != nullptr)) {
      output.element = std::make_shared<const PropertyValue>(std::move(element));
    }
    *out = std::move(output);
    return Outcome::kDone;
  }

  Outcome Dependencies(const PropertyMap& members, std::vector<std::string>* out) {
    const PropertyValue* dependencies = Find(members, "dependencies");
    if (dependencies == nullptr) {
      return Outcome::kDone;
    }
    if (!dependencies->is_list()) {
      return trail_.Failed("\"dependencies\" of an output value is not a list");
    }
    for (const PropertyValue& urn : *dependencies->as_list()) {
      if (!urn.is_string()) {
        return trail_.Failed("\"dependencies\" of an output value holds something other than text");
      }
      out->push_back(*urn.as_string());
    }
    return Outcome::kDone;
  }

  // Reads a member that must be text when it is there.
  Outcome OptionalText(const PropertyMap& members, std::string_view key, std::string* out) {
    const PropertyValue* value = Find(members, key);
    if (value == nullptr) {
      return Outcome::kDone;
    }
    if (!value->is_string()) {
      return trail_.Failed(fmt::format("\"{}\" is not text", key));
    }
    *out = *value->as_string();
    return Outcome::kDone;
  }

  Outcome Reference(const pb::Struct& in, const PropertyMap& members, PropertyValue* out) {
    ResourceReference reference;
    if (Find(members, "urn") == nullptr) {
      return trail_.Failed("a resource reference without \"urn\"");
    }
    if (OptionalText(members, "urn", &reference.urn) == Outcome::kFailed ||
        OptionalText(members, "name", &reference.name) == Outcome::kFailed ||
        OptionalText(members, "type", &reference.type) == Outcome::kFailed ||
        OptionalText(members, "packageVersion", &reference.package_version) == Outcome::kFailed ||
        ReferenceId(in, members, &reference.id) == Outcome::kFailed) {
      return Outcome::kFailed;
    }
    if (!options_.keep_resources) {
      if (reference.id && reference.id->empty() && options_.keep_unknowns) {
        return UnknownOf(UnknownKind::kString, out);
      }
      *out = reference.id ? *reference.id : reference.urn;
      return Outcome::kDone;
    }
    if (const Result<Urn> urn = Urn::Parse(reference.urn)) {
      reference.name = reference.name.empty() ? urn->name() : reference.name;
      reference.type = reference.type.empty() ? urn->type() : reference.type;
    }
    *out = std::move(reference);
    return Outcome::kDone;
  }

  // The id may itself be wrapped or unknown; an unknown id becomes "" (P59), also where unknown
  // members are dropped.
  Outcome ReferenceId(const pb::Struct& in,
                      const PropertyMap& members,
                      std::optional<std::string>* out) {
    if (FindField(in, "id") == nullptr) {
      return Outcome::kDone;
    }
    const PropertyValue* id = Find(members, "id");
    const PropertyValue plain = id != nullptr ? Plain(*id) : PropertyValue(Unknown{});
    if (plain.is_unknown()) {
      out->emplace();
      return Outcome::kDone;
    }
    if (!plain.is_string()) {
      return trail_.Failed("\"id\" of a resource reference is not text");
    }
    *out = *plain.as_string();
    return Outcome::kDone;
  }

  Outcome AssetOf(const PropertyMap& members, PropertyValue* out) {
    if (options_.reject_assets) {
      return trail_.Failed("unexpected asset");
    }
    Asset asset;
    std::string text;
    std::string path;
    std::string uri;
    if (OptionalText(members, "hash", &asset.hash) == Outcome::kFailed ||
        OptionalText(members, "text", &text) == Outcome::kFailed ||
        OptionalText(members, "path", &path) == Outcome::kFailed ||
        OptionalText(members, "uri", &uri) == Outcome::kFailed) {
      return Outcome::kFailed;
    }
    if (!path.empty()) {
      asset.source = Asset::Source::kPath;
      asset.content = std::move(path);
    } else if (!uri.empty()) {
      asset.source = Asset::Source::kUri;
      asset.content = std::move(uri);
    } else if (!text.empty() || asset.hash.empty() || asset.hash == wire::kEmptyHash) {
      asset.source = Asset::Source::kText;
      asset.content = std::move(text);
    }
    *out = std::move(asset);
    return Outcome::kDone;
  }

  Outcome ArchiveOf(const PropertyMap& members, PropertyValue* out) {
    if (options_.reject_assets) {
      return trail_.Failed("unexpected archive");
    }
    Archive archive;
    std::string path;
    std::string uri;
    if (OptionalText(members, "hash", &archive.hash) == Outcome::kFailed ||
        OptionalText(members, "path", &path) == Outcome::kFailed ||
        OptionalText(members, "uri", &uri) == Outcome::kFailed) {
      return Outcome::kFailed;
    }
    const PropertyValue* assets = Find(members, "assets");
    if (assets != nullptr && !AreAssets(*assets)) {
      return trail_.Failed("\"assets\" of an archive holds something other than assets");
    }
    if (!path.empty()) {
      archive.source = Archive::Source::kPath;
      archive.location = std::move(path);
    } else if (!uri.empty()) {
      archive.source = Archive::Source::kUri;
      archive.location = std::move(uri);
    } else {
      archive.source = Archive::Source::kAssets;
      archive.assets = std::make_shared<const PropertyMap>(assets != nullptr ? *assets->as_map()
                                                                             : PropertyMap());
    }
    *out = std::move(archive);
    return Outcome::kDone;
  }

  static bool AreAssets(const PropertyValue& assets) {
    const PropertyMap* map = assets.as_map();
    return map != nullptr && std::all_of(map->begin(), map->end(), [](const auto& entry) {
             const ValueKind kind = entry.second.kind();
             return kind == ValueKind::kAsset || kind == ValueKind::kArchive;
           });
  }

  Outcome Bytes(const PropertyMap& members, PropertyValue* out) {
    const PropertyValue* value = Find(members, "value");
    if (value == nullptr) {
      return trail_.Failed("a byte string without \"value\"");
    }
    std::optional<std::string> bytes;
    if (const std::string* text = value->as_string()) {
      bytes = DecodeBase64(*text);
    }
    if (!bytes) {
      return trail_.Failed("\"value\" of a byte string is not base64");
    }
    *out = *std::move(bytes);
    return Outcome::kDone;
  }

  const CodecOptions& options_;
  wire::Trail trail_;
};

}  // namespace

Result<PropertyMap> DecodeStruct(const pb::Struct& in, const CodecOptions& options) {
  Decoder decoder(options);
  PropertyMap map;
  if (decoder.Members(in, &map, 0) == Outcome::kFailed) {
    return Fail(decoder.TakeError());
  }
  return map;
}

Result<PropertyValue> DecodeValue(const pb::Value& in, const CodecOptions& options) {
  Decoder decoder(options);
  PropertyValue value;
  if (decoder.Value(in, &value, 1) == Outcome::kFailed) {
    return Fail(decoder.TakeError());
  }
  return value;
}

}  // namespace davit
