// The half of value_codec.h that writes (P57-P59, P62, P63, P65).

#include "engine/base/base64.h"
#include "host/wire/value_codec.h"
#include "host/wire/value_signatures.h"

namespace davit {
namespace {

namespace pb = google::protobuf;
using wire::Outcome;

std::string_view SentinelOf(UnknownKind kind) {
  for (const wire::Sentinel& sentinel : wire::kSentinels) {
    if (sentinel.kind == kind) {
      return sentinel.text;
    }
  }
  return wire::kSentinels[0].text;
}

void SetText(pb::Struct* object, std::string_view key, std::string_view text) {
  (*object->mutable_fields())[std::string(key)].set_string_value(std::string(text));
}

pb::Struct* BeginSpecial(pb::Value* out, std::string_view signature) {
  pb::Struct* object = out->mutable_struct_value();
  SetText(object, wire::kSignatureKey, signature);
  return object;
}

class Encoder {
 public:
  explicit Encoder(const CodecOptions& options) : options_(options) {}

  Error TakeError() { return trail_.TakeError(); }

  Outcome Value(const PropertyValue& value, pb::Value* out, int depth) {
    if (depth > kMaxValueDepth) {
      return trail_.Failed("nested too deeply");
    }
    switch (value.kind()) {
      case ValueKind::kNull:
        out->set_null_value(pb::NULL_VALUE);
        return Outcome::kDone;
      case ValueKind::kBool:
        out->set_bool_value(*value.as_bool());
        return Outcome::kDone;
      case ValueKind::kNumber:
        out->set_number_value(*value.as_number());
        return Outcome::kDone;
      case ValueKind::kString:
        return Text(*value.as_string(), out);
      case ValueKind::kList:
        return List(*value.as_list(), out->mutable_list_value(), depth);
      case ValueKind::kMap:
        return Map(*value.as_map(), out->mutable_struct_value(), depth);
      case ValueKind::kUnknown:
        return UnknownOf(value.as_unknown()->kind, false, out);
      case ValueKind::kSecret:
        return SecretOf(value.as_secret()->Reveal(), out, depth);
      case ValueKind::kOutput:
        return OutputOf(*value.as_output(), out, depth);
      case ValueKind::kReference:
        return Reference(*value.as_reference(), out);
      case ValueKind::kAsset:
        return AssetOf(*value.as_asset(), out);
      case ValueKind::kArchive:
        return ArchiveOf(*value.as_archive(), out, depth);
    }
    return trail_.Failed("a value of no known kind");
  }

  Outcome Map(const PropertyMap& map, pb::Struct* out, int depth) {
    for (const auto& [key, item] : map) {
      trail_.Enter(key);
      if (!IsUtf8(key)) {
        return trail_.Failed("the name is not valid UTF-8");
      }
      const bool is_skipped =
          (options_.skip_nulls && item.is_null()) ||
          (depth == 0 && options_.skip_internal_keys &&
           std::string_view(key).substr(0, wire::kInternalPrefix.size()) == wire::kInternalPrefix);
      if (!is_skipped) {
        const Outcome outcome = Value(item, &(*out->mutable_fields())[key], depth + 1);
        if (outcome == Outcome::kFailed) {
          return outcome;
        }
        if (outcome == Outcome::kDropped) {
          out->mutable_fields()->erase(key);
        }
      }
      trail_.Leave();
    }
    return Outcome::kDone;
  }

 private:
  Outcome List(const PropertyList& list, pb::ListValue* out, int depth) {
    int index = 0;
    for (const PropertyValue& item : list) {
      trail_.Enter(index++);
      const Outcome outcome = Value(item, out->add_values(), depth + 1);
      if (outcome == Outcome::kFailed) {
        return outcome;
      }
      if (outcome == Outcome::kDropped) {
        out->mutable_values()->RemoveLast();  // lists get shorter (P58)
      }
      trail_.Leave();
    }
    return Outcome::kDone;
  }

  Outcome Text(const std::string& text, pb::Value* out) {
    if (IsUtf8(text)) {
      out->set_string_value(text);
      return Outcome::kDone;
    }
    if (!options_.keep_byte_strings) {
      return trail_.Failed("the text is not valid UTF-8, and the receiver takes no byte strings");
    }
    SetText(BeginSpecial(out, wire::kBytesSignature), "value", EncodeBase64(text));
    return Outcome::kDone;
  }

  // Sets a member that has to be text, as the receiver knows no other form for it.
  Outcome Member(pb::Struct* object, std::string_view key, const std::string& text) {
    if (!IsUtf8(text)) {
      return trail_.Failed(fmt::format("\"{}\" is not valid UTF-8", key));
    }
    SetText(object, key, text);
    return Outcome::kDone;
  }

  Outcome MemberUnlessEmpty(pb::Struct* object, std::string_view key, const std::string& text) {
    return text.empty() ? Outcome::kDone : Member(object, key, text);
  }

  bool upgrades() const { return options_.keep_outputs && options_.upgrade_to_outputs; }

  Outcome UnknownOf(UnknownKind kind, bool is_secret, pb::Value* out) {
    if (options_.reject_unknowns) {
      return trail_.Failed("unexpected unknown value");
    }
    if (!options_.keep_unknowns) {
      return Outcome::kDropped;
    }
    if (upgrades()) {
      Output output;
      output.is_secret = is_secret;
      return OutputObject(output, nullptr, out, 0);
    }
    out->set_string_value(std::string(SentinelOf(kind)));
    return Outcome::kDone;
  }

  Outcome SecretOf(const PropertyValue& inner, pb::Value* out, int depth) {
    if (!options_.keep_secrets) {
      return Value(inner, out, depth + 1);
    }
    if (upgrades()) {
      return UpgradedSecret(inner, out, depth);
    }
    pb::Struct* object = BeginSpecial(out, wire::kSecretSignature);
    // A secret without a value would be refused by the receiver, so it is dropped as a whole ([Q]
    // of P58).
    return Value(inner, &(*object->mutable_fields())["value"], depth + 1);
  }

  // A secret as an output value: what is inside gives its element, unknownness or dependencies.
  Outcome UpgradedSecret(const PropertyValue& inner, pb::Value* out, int depth) {
    if (const Unknown* unknown = inner.as_unknown()) {
      return UnknownOf(unknown->kind, true, out);
    }
    Output output;
    const PropertyValue* element = &inner;
    if (const Output* held = inner.as_output()) {
      output.dependencies = held->dependencies;
      element = held->element.get();
    }
    output.is_secret = true;
    return OutputObject(output, element, out, depth);
  }

  Outcome OutputOf(const Output& output, pb::Value* out, int depth) {
    if (options_.keep_outputs) {
      return OutputObject(output, output.element.get(), out, depth);
    }
    if (!output.is_secret) {
      return output.element != nullptr ? Value(*output.element, out, depth + 1)
                                       : UnknownOf(UnknownKind::kString, false, out);
    }
    return SecretOf(
        output.element != nullptr ? *output.element : PropertyValue(Unknown{}), out, depth);
  }

  // `element` is null when unknown; the element of `output` is not looked at.
  Outcome OutputObject(const Output& output,
                       const PropertyValue* element,
                       pb::Value* out,
                       int depth) {
    if (element == nullptr && options_.reject_unknowns) {
      return trail_.Failed("unexpected unknown value");
    }
    if (element == nullptr && !options_.keep_unknowns) {
      return Outcome::kDropped;
    }
    pb::Struct* object = BeginSpecial(out, wire::kOutputSignature);
    auto& fields = *object->mutable_fields();
    if (element != nullptr) {
      const Outcome outcome = Value(*element, &fields["value"], depth + 1);
      if (outcome != Outcome::kDone) {
        return outcome;
      }
    }
    if (output.is_secret) {
      fields["secret"].set_bool_value(true);
    }
    for (const std::string& urn : output.dependencies) {
      if (!IsUtf8(urn)) {
        return trail_.Failed("a dependency is not valid UTF-8");
      }
      fields["dependencies"].mutable_list_value()->add_values()->set_string_value(urn);
    }
    return Outcome::kDone;
  }

  Outcome Reference(const ResourceReference& reference, pb::Value* out) {
    if (!options_.keep_resources) {
      if (!reference.id) {
        return Text(reference.urn, out);
      }
      return reference.id->empty() ? UnknownOf(UnknownKind::kString, false, out)
                                   : Text(*reference.id, out);
    }
    pb::Struct* object = BeginSpecial(out, wire::kReferenceSignature);
    Outcome outcome = Member(object, "urn", reference.urn);
    const std::pair<const char*, const std::string&> members[] = {
        {"name", reference.name},
        {"type", reference.type},
        {"packageVersion", reference.package_version}};
    for (const auto& [key, text] : members) {
      outcome = outcome == Outcome::kDone ? MemberUnlessEmpty(object, key, text) : outcome;
    }
    if (outcome == Outcome::kDone && reference.id) {
      outcome = Member(object, "id", *reference.id);  // an empty id stays: it means unknown
    }
    return outcome;
  }

  Outcome AssetOf(const Asset& asset, pb::Value* out) {
    if (options_.reject_assets) {
      return trail_.Failed("unexpected asset");
    }
    pb::Struct* object = BeginSpecial(out, wire::kAssetSignature);
    if (options_.elide_asset_contents) {
      return Member(object, "hash", asset.hash);
    }
    const Outcome outcome = MemberUnlessEmpty(object, "hash", asset.hash);
    if (outcome != Outcome::kDone) {
      return outcome;
    }
    switch (asset.source) {
      case Asset::Source::kText:
        return MemberUnlessEmpty(object, "text", asset.content);
      case Asset::Source::kPath:
        return MemberUnlessEmpty(object, "path", asset.content);
      case Asset::Source::kUri:
        return MemberUnlessEmpty(object, "uri", asset.content);
      case Asset::Source::kNone:
        return Outcome::kDone;
    }
    return Outcome::kDone;
  }

  Outcome ArchiveOf(const Archive& archive, pb::Value* out, int depth) {
    if (options_.reject_assets) {
      return trail_.Failed("unexpected archive");
    }
    pb::Struct* object = BeginSpecial(out, wire::kArchiveSignature);
    if (options_.elide_asset_contents) {
      return Member(object, "hash", archive.hash);
    }
    const Outcome outcome = MemberUnlessEmpty(object, "hash", archive.hash);
    if (outcome != Outcome::kDone) {
      return outcome;
    }
    switch (archive.source) {
      case Archive::Source::kAssets: {
        pb::Struct* assets = (*object->mutable_fields())["assets"].mutable_struct_value();
        return archive.assets != nullptr ? Map(*archive.assets, assets, depth + 1) : Outcome::kDone;
      }
      case Archive::Source::kPath:
        return MemberUnlessEmpty(object, "path", archive.location);
      case Archive::Source::kUri:
        return MemberUnlessEmpty(object, "uri", archive.location);
      case Archive::Source::kNone:
        return Outcome::kDone;
    }
    return Outcome::kDone;
  }

  const CodecOptions& options_;
  wire::Trail trail_;
};

}  // namespace

Result<void> EncodeStruct(const PropertyMap& map, const CodecOptions& options, pb::Struct* out) {
  out->Clear();
  Encoder encoder(options);
  if (encoder.Map(map, out, 0) == Outcome::kFailed) {
    return Fail(encoder.TakeError());
  }
  return {};
}

Result<void> EncodeValue(const PropertyValue& value, const CodecOptions& options, pb::Value* out) {
  out->Clear();
  Encoder encoder(options);
  switch (encoder.Value(value, out, 1)) {
    case Outcome::kFailed:
      return Fail(encoder.TakeError());
    case Outcome::kDropped:
      out->set_null_value(pb::NULL_VALUE);
      return {};
    case Outcome::kDone:
      return {};
  }
  return {};
}

}  // namespace davit
