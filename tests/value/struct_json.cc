#include "tests/value/struct_json.h"

#include <google/protobuf/util/json_util.h>

#include <catch2/catch.hpp>
#include <map>
#include <utility>

#include "engine/value/property_value.h"

namespace davit::testing {
namespace {

const std::pair<const char*, const char*> kShort[] = {
    {"$sig", "4dabf18193072939515e22adb298388d"},
    {"$secret", "1b47061264138c4ac30d75fd1eb44270"},
    {"$output", "d0e6a833031e9bbcd3f4e8bde6ca49a4"},
    {"$reference", "5cf8f73096256a8f31e491e813e4eb8e"},
    {"$asset", "c44067f5952c0a294b673a41bacd8c17"},
    {"$archive", "0def7320c3a5731c473e5ecbe6d01bc7"},
    {"$bytes", "803fd3297a5875dc03ca845dda5d2a98"}};

void Replace(std::string* text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text->find(from, at)) != std::string::npos; at += to.size()) {
    text->replace(at, from.size(), to);
  }
}

std::string Sorted(const google::protobuf::Value& value);

std::string Sorted(const google::protobuf::Struct& object) {
  std::map<std::string, std::string> members;
  for (const auto& [key, member] : object.fields()) {
    members[key] = Sorted(member);
  }
  std::string text = "{";
  for (const auto& [key, member] : members) {
    text += (text.size() > 1 ? "," : "") + DebugText(key) + ":" + member;
  }
  return text + "}";
}

std::string Sorted(const google::protobuf::Value& value) {
  switch (value.kind_case()) {
    case google::protobuf::Value::kBoolValue:
      return value.bool_value() ? "true" : "false";
    case google::protobuf::Value::kNumberValue:
      return NumberText(value.number_value());
    case google::protobuf::Value::kStringValue:
      return DebugText(value.string_value());
    case google::protobuf::Value::kStructValue:
      return Sorted(value.struct_value());
    case google::protobuf::Value::kListValue: {
      std::string text = "[";
      for (const google::protobuf::Value& item : value.list_value().values()) {
        text += (text.size() > 1 ? "," : "") + Sorted(item);
      }
      return text + "]";
    }
    default:
      return "null";
  }
}

}  // namespace

google::protobuf::Struct Json(std::string text) {
  for (const auto& [name, value] : kShort) {
    Replace(&text, name, value);
  }
  google::protobuf::Struct result;
  const auto status = google::protobuf::util::JsonStringToMessage(text, &result);
  INFO(text);
  REQUIRE(status.ok());
  return result;
}

std::string JsonOf(const google::protobuf::Struct& value) {
  std::string text = Sorted(value);
  for (const auto& [name, replaced] : kShort) {
    Replace(&text, replaced, name);
  }
  return text;
}

}  // namespace davit::testing
