#include "cli/workspace/stack_file_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/workspace/stack_file.h"
#include "cli/workspace/yaml_text.h"

namespace davit {
namespace {

struct Edit {
  std::size_t begin;
  std::size_t end;
  std::string text;
};

std::string ConfigLines(const StackFileContent& content, std::size_t indent) {
  std::string out;
  for (const auto& [key, value] : *content.config) {
    out += "\n" + std::string(indent, ' ') + YamlScalar(key, false, indent) + ":" +
           YamlAfterKey(value, indent);
  }
  return out;
}

class Editor {
 public:
  Editor(const std::string& text, const StackFileContent& content)
      : text_(text), content_(content) {}

  // S93: the order of a new file.
  std::string Fresh() const {
    std::string out;
    for (const auto& [name, value] : content_.fields) {
      if (!value.empty()) {
        out += name + ":" + YamlAfterKey(ConfigNode::Text(value), 0) + "\n";
      }
    }
    if (!content_.config->empty()) {
      out += "config:" + ConfigLines(content_, 2) + "\n";
    }
    return out;
  }

  std::string Run(const MarkedNode& root) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i + 1 < root.items.size(); i += 2) {
      const MarkedNode& key = root.items[i];
      const MarkedNode& value = root.items[i + 1];
      seen.insert(key.value);
      if (key.value == "config") {
        EditConfig(key, value);
      } else {
        EditField(key, value);
      }
    }
    std::string tail;
    if (!seen.contains("config") && !content_.config->empty()) {
      tail += "config:" + ConfigLines(content_, 2) + "\n";
    }
    for (const auto& [name, value] : content_.fields) {
      if (!value.empty() && !seen.contains(name)) {
        tail += name + ":" + YamlAfterKey(ConfigNode::Text(value), 0) + "\n";
      }
    }
    std::string out = Apply();
    if (!tail.empty() && !out.empty() && out.back() != '\n') {
      out += '\n';
    }
    return out + tail;
  }

 private:
  void EditField(const MarkedNode& key, const MarkedNode& value) {
    for (const auto& [name, wanted] : content_.fields) {
      if (name != key.value) {
        continue;
      }
      if (wanted.empty()) {
        DeleteEntry(key, value);
      } else if (value.value != wanted) {
        ReplaceValue(key, value, ConfigNode::Text(wanted), 0);
      }
    }
  }

  void EditConfig(const MarkedNode& key, const MarkedNode& value) {
    if (content_.config->empty()) {
      DeleteEntry(key, value);
      return;
    }
    if (value.kind != MarkedNode::Kind::kMapping || value.style == MarkedNode::Style::kFlow ||
        value.is_alias || value.items.empty()) {
      edits_.push_back({AfterColon(key), value.end, ConfigLines(content_, 2)});
      return;
    }
    const std::size_t indent = static_cast<std::size_t>(value.items[0].column) - 1;
    std::string last_lines;
    for (const std::string& added : content_.added) {
      last_lines += "\n" + std::string(indent, ' ') + YamlScalar(added, false, indent) + ":" +
                    YamlAfterKey(content_.config->at(added), indent);
    }
    for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
      EditConfigEntry(value.items[i], value.items[i + 1], indent);
    }
    if (!last_lines.empty()) {
      const std::size_t at = LineEnd(value.items.back().end);
      edits_.push_back({at, at, last_lines});
    }
  }

  void EditConfigEntry(const MarkedNode& key, const MarkedNode& value, std::size_t indent) {
    const std::string normal = *NormalKey(key.value, content_.project);
    const auto wanted = content_.config->find(normal);
    const bool is_new =
        std::find(content_.added.begin(), content_.added.end(), normal) != content_.added.end();
    if (wanted == content_.config->end() || is_new) {
      DeleteEntry(key, value);
      return;
    }
    if (key.value != normal) {
      edits_.push_back({key.begin, key.end, YamlScalar(normal, false, indent)});
    }
    Merge(key, value, wanted->second, indent);
    ShrinkGap(value.end);
  }

  // Brings what stands at `value` to `wanted`; what is equal stays as it is written.
  void Merge(const MarkedNode& key,
             const MarkedNode& value,
             const ConfigNode& wanted,
             std::size_t indent) {
    Result<ConfigNode> now = ConfigNodeOf(value);
    if (now && *now == wanted && IsNormal(value, false)) {
      return;
    }
    const bool both_maps = value.kind == MarkedNode::Kind::kMapping && !value.is_alias &&
                           wanted.kind == ConfigNode::Kind::kMap && !wanted.members.empty() &&
                           !value.items.empty();
    if (!both_maps || !MergeMembers(value, wanted)) {
      ReplaceValue(key, value, wanted, indent);
    }
  }

  static std::string KeyName(const MarkedNode& key) {
    return key.style == MarkedNode::Style::kPlain ? ResolvePlain(key.value).text : key.value;
  }

  // False when the map is better written anew: nothing in it stays, or members come or go between
  // braces.
  bool MergeMembers(const MarkedNode& value, const ConfigNode& wanted) {
    const bool in_flow = value.style == MarkedNode::Style::kFlow;
    const std::size_t indent = static_cast<std::size_t>(value.items[0].column) - 1;
    std::set<std::string> there;
    std::size_t staying = 0;
    for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
      there.insert(KeyName(value.items[i]));
      staying += wanted.Find(KeyName(value.items[i])) != nullptr ? 1 : 0;
    }
    const bool same_keys = staying == there.size() && staying == wanted.members.size();
    if (staying == 0 || (in_flow && !same_keys)) {
      return false;
    }
    for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
      const MarkedNode& key = value.items[i];
      const ConfigNode* member = wanted.Find(KeyName(key));
      if (member == nullptr) {
        DeleteEntry(key, value.items[i + 1]);
        continue;
      }
      if (!IsNormal(key, true)) {
        edits_.push_back({key.begin, key.end, YamlScalar(KeyName(key), in_flow, 0)});
      }
      MergeMember(key, value.items[i + 1], *member, in_flow, indent);
    }
    std::string lines;
    for (const auto& [name, member] : wanted.members) {
      if (!there.contains(name)) {
        lines += "\n" + std::string(indent, ' ') + YamlScalar(name, false, indent) + ":" +
                 YamlAfterKey(member, indent);
      }
    }
    if (!lines.empty()) {
      const std::size_t at = LineEnd(value.items.back().end);
      edits_.push_back({at, at, lines});
    }
    return true;
  }

  void MergeMember(const MarkedNode& key,
                   const MarkedNode& value,
                   const ConfigNode& wanted,
                   bool in_flow,
                   std::size_t indent) {
    if (!in_flow) {
      Merge(key, value, wanted, indent);
      return;
    }
    const Result<ConfigNode> now = ConfigNodeOf(value);
    if (now && *now == wanted && IsNormal(value, false)) {
      return;
    }
    const bool both_maps = value.kind == MarkedNode::Kind::kMapping && !value.is_alias &&
                           !value.items.empty() && wanted.kind == ConfigNode::Kind::kMap;
    if (!both_maps || !MergeMembers(value, wanted)) {
      edits_.push_back({AfterColon(key), value.end, " " + YamlFlow(wanted)});
    }
  }

  // Whether a save leaves the text of the node alone: no dates that have become text, no keys that
  // are not text.
  static bool IsNormal(const MarkedNode& node, bool as_key) {
    if (node.kind == MarkedNode::Kind::kScalar) {
      if (node.style != MarkedNode::Style::kPlain) {
        return true;
      }
      const ConfigNode resolved = ResolvePlain(node.value);
      const bool is_same_text =
          resolved.kind == ConfigNode::Kind::kText && resolved.text == node.value;
      return is_same_text || (!as_key && resolved.kind != ConfigNode::Kind::kText);
    }
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const bool is_key = node.kind == MarkedNode::Kind::kMapping && i % 2 == 0;
      if (!IsNormal(node.items[i], is_key)) {
        return false;
      }
    }
    return true;
  }

  void ReplaceValue(const MarkedNode& key,
                    const MarkedNode& value,
                    const ConfigNode& wanted,
                    std::size_t indent) {
    // A flow collection stays one.
    if (value.style == MarkedNode::Style::kFlow && wanted.is_object() && !value.is_alias) {
      edits_.push_back({value.begin, value.end, YamlFlow(wanted)});
      return;
    }
    edits_.push_back({AfterColon(key), value.end, YamlAfterKey(wanted, indent)});
  }

  std::size_t AfterColon(const MarkedNode& key) const {
    const std::size_t colon = text_.find(':', key.end);
    return colon == std::string::npos ? key.end : colon + 1;
  }

  std::size_t LineEnd(std::size_t at) const { return std::min(text_.find('\n', at), text_.size()); }

  std::size_t LineBegin(std::size_t at) const {
    const std::size_t line_break = at == 0 ? std::string::npos : text_.rfind('\n', at - 1);
    return line_break == std::string::npos ? 0 : line_break + 1;
  }

  // S94: with the comment lines right above.
  void DeleteEntry(const MarkedNode& key, const MarkedNode& value) {
    std::size_t begin = LineBegin(key.begin);
    while (begin > 0) {
      const std::size_t above = LineBegin(begin - 1);
      const std::size_t first = text_.find_first_not_of(" \t", above);
      if (first >= begin || text_[first] != '#') {
        break;
      }
      begin = above;
    }
    const std::size_t end = LineEnd(std::max(value.end, key.end));
    edits_.push_back({begin, std::min(end + 1, text_.size()), ""});
  }

  void ShrinkGap(std::size_t end) {
    const std::size_t comment = text_.find_first_not_of(" \t", end);
    if (comment != std::string::npos && text_[comment] == '#' && comment > end + 1) {
      edits_.push_back({end, comment, " "});
    }
  }

  std::string Apply() {
    std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    std::string out;
    std::size_t at = 0;
    for (const Edit& edit : edits_) {
      const bool is_insertion = edit.begin == edit.end && edit.text.size() > 1;
      // A new entry may come behind one that goes: then its line break is not there to build on.
      if (is_insertion && edit.begin <= at && !out.empty() && out.back() == '\n') {
        out += edit.text.substr(1) + "\n";
        continue;
      }
      if (edit.begin < at) {
        continue;
      }
      out += text_.substr(at, edit.begin - at) + edit.text;
      at = edit.end;
    }
    return out + text_.substr(at);
  }

  const std::string& text_;
  const StackFileContent& content_;
  std::vector<Edit> edits_;
};

bool HasContent(const std::optional<MarkedNode>& root) {
  return root && root->kind == MarkedNode::Kind::kMapping && !root->items.empty();
}

}  // namespace

Result<std::string> EditStackFile(const std::string& text,
                                  const std::string& path,
                                  const StackFileContent& content) {
  DAVIT_TRY(const std::optional<MarkedNode> root, ParseMarkedYaml(text, path));
  Editor editor(text, content);
  if (HasContent(root) && root->style == MarkedNode::Style::kBlock) {
    return editor.Run(*root);
  }
  if (root &&
      root->kind == MarkedNode::Kind::kMapping) {  // `{...}`: written anew, what is around it stays
    return text.substr(0, root->begin) + editor.Fresh() +
           text.substr(std::min(root->end + 1, text.size()));
  }
  std::string out = text;  // nothing but comments
  if (!out.empty() && out.back() != '\n') {
    out += '\n';
  }
  return out + editor.Fresh();
}

}  // namespace davit
