#include "cli/workspace/stack_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/workspace/stack_file_edit.h"

namespace davit {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Error AtNode(const MarkedNode& node, const std::string& path, std::string message) {
  Error error = MakeError(ErrorKind::kInvalid, std::move(message));
  error.where = SourceRange{path, node.line, node.column, 0, 0};
  return error;
}

Result<std::string> ScalarText(const MarkedNode& node,
                               const std::string& path,
                               const std::string& key) {
  if (node.kind != MarkedNode::Kind::kScalar) {
    return Fail(AtNode(node, path, fmt::format("'{}' must be text", key)));
  }
  const bool is_null = node.style == MarkedNode::Style::kPlain &&
                       ResolvePlain(node.value).kind == ConfigNode::Kind::kNull;
  return is_null ? std::string() : node.value;
}

bool IsNull(const MarkedNode& node) {
  return node.kind == MarkedNode::Kind::kScalar && node.style == MarkedNode::Style::kPlain &&
         node.tag.empty() && ResolvePlain(node.value).kind == ConfigNode::Kind::kNull;
}

}  // namespace

Result<std::string> NormalKey(const std::string& key, const std::string& project) {
  std::vector<std::string> parts(1);
  for (char c : key) {
    if (c == ':') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  const bool has_empty =
      std::any_of(parts.begin(), parts.end(), [](const std::string& part) { return part.empty(); });
  if (!has_empty && parts.size() == 1) {
    return project + ":" + key;
  }
  if (!has_empty && parts.size() == 2) {
    return key;
  }
  if (!has_empty && parts.size() == 3 && parts[1] == "config") {
    return parts[0] + ":" + parts[2];
  }
  return Fail(ErrorKind::kInvalid,
              fmt::format("'{}' is not a configuration key", key),
              "keys have the form <name> or <namespace>:<name>");
}

Result<StackFile> StackFile::Load(const std::string& path, const std::string& project) {
  DAVIT_TRY(std::optional<std::string> text, ReadFileIfThere(path));
  return Parse(std::move(text).value_or(""), path, project);
}

Result<StackFile> StackFile::Parse(std::string text,
                                   const std::string& path,
                                   const std::string& project) {
  StackFile file;
  file.path_ = path;
  file.project_ = project;
  if (text.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0) {
    text.erase(0, kByteOrderMark.size());
  }
  file.text_ = std::move(text);
  DAVIT_TRY(const std::optional<MarkedNode> root, ParseMarkedYaml(file.text_, path));
  if (root && !IsNull(*root)) {
    DAVIT_TRY_VOID(file.ReadRoot(*root, project));
  }
  return file;
}

Result<void> StackFile::ReadRoot(const MarkedNode& root, const std::string& project) {
  if (root.kind != MarkedNode::Kind::kMapping) {
    return Fail(AtNode(root, path_, "a stack file must be a map"));
  }
  for (std::size_t i = 0; i + 1 < root.items.size(); i += 2) {
    const MarkedNode& key = root.items[i];
    const MarkedNode& value = root.items[i + 1];
    if (key.kind != MarkedNode::Kind::kScalar) {
      return Fail(AtNode(key, path_, "the keys of a stack file must be text"));
    }
    if (key.value == "config") {
      DAVIT_TRY_VOID(ReadConfig(value, project));
    } else if (key.value == "secretsprovider") {
      DAVIT_TRY(secrets_provider_, ScalarText(value, path_, key.value));
    } else if (key.value == "encryptedkey") {
      DAVIT_TRY(encrypted_key_, ScalarText(value, path_, key.value));
    } else if (key.value == "encryptionsalt") {
      DAVIT_TRY(encryption_salt_, ScalarText(value, path_, key.value));
    } else if (key.value == "environment") {
      has_environment_ =
          !IsNull(value) && !(value.kind != MarkedNode::Kind::kScalar && value.items.empty());
    }
  }
  return {};
}

Result<void> StackFile::ReadConfig(const MarkedNode& node, const std::string& project) {
  if (IsNull(node)) {
    return {};
  }
  if (node.kind != MarkedNode::Kind::kMapping) {
    return Fail(AtNode(node, path_, "'config' must be a map of keys to values"));
  }
  for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
    const MarkedNode& key = node.items[i];
    if (key.kind != MarkedNode::Kind::kScalar) {
      return Fail(AtNode(key, path_, "configuration keys must be text"));
    }
    Result<std::string> normal = NormalKey(key.value, project);
    if (!normal) {
      return Fail(AtNode(key, path_, normal.error().message));
    }
    Result<ConfigNode> value = ConfigNodeOf(node.items[i + 1]);
    if (!value) {
      return Fail(AtNode(node.items[i + 1], path_, value.error().message));
    }
    if (IsNull(node.items[i + 1])) {
      empty_keys_.push_back(*normal);
    }
    if (!config_.emplace(*normal, AsTopLevel(*std::move(value))).second) {
      return Fail(
          AtNode(key, path_, fmt::format("the configuration key '{}' is there twice", *normal)));
    }
  }
  return {};
}

void StackFile::Set(const std::string& key, ConfigNode value) {
  if (config_.insert_or_assign(key, std::move(value)).second) {
    added_.push_back(key);
  }
}

bool StackFile::Remove(const std::string& key) {
  std::erase(added_, key);
  return config_.erase(key) > 0;
}

void StackFile::ClearSecretsProvider() {
  secrets_provider_.clear();
  encrypted_key_.clear();
}

Result<std::string> StackFile::Render() const {
  StackFileContent content;
  content.project = project_;
  content.config = &config_;
  content.added = added_;
  content.fields = {{"secretsprovider", secrets_provider_},
                    {"encryptedkey", encrypted_key_},
                    {"encryptionsalt", encryption_salt_}};
  return EditStackFile(text_, path_, content);
}

Result<void> StackFile::Save() {
  DAVIT_TRY(std::string rendered, Render());
  DAVIT_TRY_VOID(ReplaceFile(path_, rendered));
  DAVIT_TRY(StackFile saved, Parse(std::move(rendered), path_, project_));
  *this = std::move(saved);
  return {};
}

}  // namespace davit
