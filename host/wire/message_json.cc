// MessageJson of rpc_trace.h. Our own printer, because the one of protobuf stops at 64 levels and
// cannot hide secrets.

#include <fmt/format.h>
#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/base64.h"
#include "host/wire/json_text.h"
#include "host/wire/rpc_trace.h"

namespace davit {
namespace {

namespace pb = google::protobuf;

constexpr std::string_view kSignatureKey = "4dabf18193072939515e22adb298388d";
constexpr std::string_view kSecretSignature = "1b47061264138c4ac30d75fd1eb44270";
constexpr std::string_view kOutputSignature = "d0e6a833031e9bbcd3f4e8bde6ca49a4";
constexpr std::string_view kHidden = "\"[secret]\"";
constexpr std::size_t kShortestSubstring = 4;

class Printer {
 public:
  Printer(bool show_secrets, const HiddenTexts* hide) : show_secrets_(show_secrets), hide_(hide) {}

  std::string Take() { return std::move(out_); }

  void Message(const pb::Message& message) {
    const pb::Descriptor* type = message.GetDescriptor();
    if (type == pb::Struct::descriptor()) {
      Struct(static_cast<const pb::Struct&>(message));
      return;
    }
    if (type == pb::Value::descriptor()) {
      Value(static_cast<const pb::Value&>(message));
      return;
    }
    if (type == pb::ListValue::descriptor()) {
      List(static_cast<const pb::ListValue&>(message));
      return;
    }
    std::vector<const pb::FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    out_ += '{';
    bool is_first = true;
    for (const pb::FieldDescriptor* field : fields) {
      Comma(&is_first);
      AppendJsonText(field->json_name(), &out_);
      out_ += ':';
      Field(message, *field);
    }
    out_ += '}';
  }

 private:
  void Comma(bool* is_first) {
    if (!std::exchange(*is_first, false)) {
      out_ += ',';
    }
  }

  void Text(std::string_view text) {
    if (!show_secrets_ && hide_ != nullptr && hide_->IsIn(text)) {
      out_ += kHidden;
      return;
    }
    AppendJsonText(text, &out_);
  }

  void Number(double number) {
    if (std::isnan(number)) {
      out_ += "\"NaN\"";
    } else if (std::isinf(number)) {
      out_ += number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    } else {
      const std::string text = NumberText(number);
      if (!show_secrets_ && hide_ != nullptr && hide_->IsIn(text)) {
        out_ += kHidden;
      } else {
        out_ += text;
      }
    }
  }

  static const pb::Value* Find(const pb::Struct& object, std::string_view key) {
    const auto at = object.fields().find(std::string(key));
    return at == object.fields().end() ? nullptr : &at->second;
  }

  static bool HoldsSecret(const pb::Struct& object) {
    const pb::Value* signature = Find(object, kSignatureKey);
    if (signature == nullptr) {
      return false;
    }
    if (signature->string_value() == kSecretSignature) {
      return true;
    }
    const pb::Value* flag = Find(object, "secret");
    return signature->string_value() == kOutputSignature && flag != nullptr && flag->bool_value();
  }

  void Struct(const pb::Struct& object) {
    std::map<std::string_view, const pb::Value*> sorted;
    for (const auto& [key, value] : object.fields()) {
      sorted.emplace(key, &value);
    }
    const bool is_hidden = !show_secrets_ && HoldsSecret(object);
    out_ += '{';
    bool is_first = true;
    for (const auto& [key, value] : sorted) {
      Comma(&is_first);
      AppendJsonText(key, &out_);
      out_ += ':';
      if (is_hidden && key == "value") {
        out_ += kHidden;
      } else {
        Value(*value);
      }
    }
    out_ += '}';
  }

  void List(const pb::ListValue& list) {
    out_ += '[';
    bool is_first = true;
    for (const pb::Value& value : list.values()) {
      Comma(&is_first);
      Value(value);
    }
    out_ += ']';
  }

  void Value(const pb::Value& value) {
    switch (value.kind_case()) {
      case pb::Value::kBoolValue:
        out_ += value.bool_value() ? "true" : "false";
        return;
      case pb::Value::kNumberValue:
        Number(value.number_value());
        return;
      case pb::Value::kStringValue:
        Text(value.string_value());
        return;
      case pb::Value::kStructValue:
        Struct(value.struct_value());
        return;
      case pb::Value::kListValue:
        List(value.list_value());
        return;
      case pb::Value::kNullValue:
      case pb::Value::KIND_NOT_SET:
        break;
    }
    out_ += "null";
  }

  void Field(const pb::Message& message, const pb::FieldDescriptor& field) {
    const pb::Reflection& reflection = *message.GetReflection();
    if (field.is_map()) {
      Map(message, field);
      return;
    }
    if (!field.is_repeated()) {
      Scalar(message, field, -1);
      return;
    }
    out_ += '[';
    bool is_first = true;
    for (int index = 0; index < reflection.FieldSize(message, &field); ++index) {
      Comma(&is_first);
      Scalar(message, field, index);
    }
    out_ += ']';
  }

  // All map keys of our protocols are strings.
  void Map(const pb::Message& message, const pb::FieldDescriptor& field) {
    const pb::Reflection& reflection = *message.GetReflection();
    const pb::FieldDescriptor* key_field = field.message_type()->map_key();
    const pb::FieldDescriptor* value_field = field.message_type()->map_value();
    std::map<std::string, const pb::Message*> sorted;
    for (int index = 0; index < reflection.FieldSize(message, &field); ++index) {
      const pb::Message& entry = reflection.GetRepeatedMessage(message, &field, index);
      sorted.emplace(entry.GetReflection()->GetString(entry, key_field), &entry);
    }
    out_ += '{';
    bool is_first = true;
    for (const auto& [key, entry] : sorted) {
      Comma(&is_first);
      AppendJsonText(key, &out_);
      out_ += ':';
      Scalar(*entry, *value_field, -1);
    }
    out_ += '}';
  }

  // One value of a field: element `index`, or the value itself when that is -1.
  void Scalar(const pb::Message& message, const pb::FieldDescriptor& field, int index) {
    const pb::Reflection& reflection = *message.GetReflection();
    const bool one = index < 0;
    switch (field.cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_INT32:
        out_ += std::to_string(one ? reflection.GetInt32(message, &field)
                                   : reflection.GetRepeatedInt32(message, &field, index));
        return;
      case pb::FieldDescriptor::CPPTYPE_UINT32:
        out_ += std::to_string(one ? reflection.GetUInt32(message, &field)
                                   : reflection.GetRepeatedUInt32(message, &field, index));
        return;
      case pb::FieldDescriptor::CPPTYPE_INT64:
        out_ += fmt::format("\"{}\"",
                            one ? reflection.GetInt64(message, &field)
                                : reflection.GetRepeatedInt64(message, &field, index));
        return;
      case pb::FieldDescriptor::CPPTYPE_UINT64:
        out_ += fmt::format("\"{}\"",
                            one ? reflection.GetUInt64(message, &field)
                                : reflection.GetRepeatedUInt64(message, &field, index));
        return;
      case pb::FieldDescriptor::CPPTYPE_DOUBLE:
        Number(one ? reflection.GetDouble(message, &field)
                   : reflection.GetRepeatedDouble(message, &field, index));
        return;
      case pb::FieldDescriptor::CPPTYPE_FLOAT:
        Number(static_cast<double>(one ? reflection.GetFloat(message, &field)
                                       : reflection.GetRepeatedFloat(message, &field, index)));
        return;
      case pb::FieldDescriptor::CPPTYPE_BOOL:
        out_ += (one ? reflection.GetBool(message, &field)
                     : reflection.GetRepeatedBool(message, &field, index))
                    ? "true"
                    : "false";
        return;
      case pb::FieldDescriptor::CPPTYPE_ENUM: {
        const pb::EnumValueDescriptor* value =
            one ? reflection.GetEnum(message, &field)
                : reflection.GetRepeatedEnum(message, &field, index);
        AppendJsonText(value->name(), &out_);
        return;
      }
      case pb::FieldDescriptor::CPPTYPE_STRING: {
        const std::string text = one ? reflection.GetString(message, &field)
                                     : reflection.GetRepeatedString(message, &field, index);
        if (field.type() == pb::FieldDescriptor::TYPE_BYTES) {
          AppendJsonText(EncodeBase64(text), &out_);
        } else {
          Text(text);
        }
        return;
      }
      case pb::FieldDescriptor::CPPTYPE_MESSAGE:
        Message(one ? reflection.GetMessage(message, &field)
                    : reflection.GetRepeatedMessage(message, &field, index));
        return;
    }
  }

  bool show_secrets_;
  const HiddenTexts* hide_;
  std::string out_;
};

}  // namespace

void HiddenTexts::Add(const PropertyMap& map) {
  for (const auto& [key, value] : map) {
    AddAll(value, false);
  }
}

void HiddenTexts::AddAll(const PropertyValue& value, bool is_secret) {
  const auto add = [&](std::string text) {
    if (is_secret && !text.empty()) {
      texts_.push_back(std::move(text));
    }
  };
  value.Visit(Overloaded{
      [](const Null&) {},
      [](bool) {},
      [&](double number) { add(NumberText(number)); },
      [](const Unknown&) {},
      [&](const Secret& secret) { AddAll(secret.Reveal(), true); },
      [&](const std::string& text) { add(text); },
      [&](const PropertyList& list) {
        for (const PropertyValue& element : list) {
          AddAll(element, is_secret);
        }
      },
      [&](const PropertyMap& map) {
        for (const auto& [key, element] : map) {
          AddAll(element, is_secret);
        }
      },
      [&](const Output& output) {
        if (output.element) {
          AddAll(*output.element, is_secret || output.is_secret);
        }
      },
      [](const ResourceReference&) {},
      [&](const Asset& asset) { add(asset.content); },
      [&](const Archive& archive) {
        if (archive.assets) {
          for (const auto& [key, element] : *archive.assets) {
            AddAll(element, is_secret);
          }
        }
      },
  });
}

bool HiddenTexts::IsIn(std::string_view text) const {
  return std::ranges::any_of(texts_, [&](const std::string& secret) {
    return text == secret ||
           (secret.size() >= kShortestSubstring && text.find(secret) != std::string_view::npos);
  });
}

std::string MessageJson(const pb::Message& message, bool show_secrets, const HiddenTexts* hide) {
  Printer printer(show_secrets, hide);
  printer.Message(message);
  return printer.Take();
}

}  // namespace davit
