// The only reader of YAML and JSON text: libyaml events become document nodes.

#include <fmt/format.h>
#include <yaml.h>

#include <charconv>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "engine/yaml/document.h"
#include "engine/yaml/scalar.h"

namespace davit {
namespace {

constexpr int kMaxDepth = 1000;
// Nodes that aliases may add, over the whole document (Y15).
constexpr std::size_t kAliasBudget = 200'000;

std::string Text(const unsigned char* text) {
  return text == nullptr ? std::string() : reinterpret_cast<const char*>(text);
}

// One libyaml event; frees itself.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { yaml_event_delete(&raw); }
  yaml_event_t raw{};
};

std::size_t CountNodes(const YamlNode& node) {
  std::size_t count = 1;
  for (const YamlNode& item : node.items) {
    count += CountNodes(item);
  }
  for (const YamlEntry& entry : node.entries) {
    count += CountNodes(entry.value);
  }
  return count;
}

class Reader {
 public:
  explicit Reader(YamlDocument* document) : document_(document) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_,
                                 reinterpret_cast<const unsigned char*>(document->text.data()),
                                 document->text.size());
  }
  ~Reader() { yaml_parser_delete(&parser_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void Run() {
    document_->root.kind = YamlNode::Kind::kMap;
    document_->root.line = 1;
    document_->root.column = 1;
    Event event;
    if (!Next(&event) || !Next(&event) || event.raw.type == YAML_STREAM_END_EVENT) {
      return;
    }
    if (!Next(&event)) {  // behind the document's start
      return;
    }
    YamlNode root;
    if (!Node(event, 0, &root)) {
      return;
    }
    document_->root = std::move(root);
    if (Next(&event) && Next(&event) && event.raw.type == YAML_DOCUMENT_START_EVENT) {
      Fault(event.raw.start_mark, "a second document begins here", "a file holds one document");
    }
  }

 private:
  bool Next(Event* event) {
    yaml_event_delete(&event->raw);
    if (yaml_parser_parse(&parser_, &event->raw) != 0) {
      return true;
    }
    std::string problem = parser_.problem == nullptr ? "this is not YAML" : parser_.problem;
    if (parser_.context != nullptr) {
      problem += fmt::format(" {}", parser_.context);
    }
    // The reader of bytes gives an offset, no mark.
    yaml_mark_t mark = parser_.problem_mark;
    if (parser_.error == YAML_READER_ERROR) {
      mark = parser_.mark;
    }
    Fault(mark, std::move(problem), {});
    return false;
  }

  void Fault(const yaml_mark_t& mark, std::string message, std::string advice) {
    Fault(static_cast<int>(mark.line) + 1,
          static_cast<int>(mark.column) + 1,
          std::move(message),
          std::move(advice));
  }
  void Fault(int line, int column, std::string message, std::string advice) {
    Error error = MakeError(ErrorKind::kInvalid, std::move(message), std::move(advice));
    error.where = SourceRange{document_->file, line, column, 0, 0};
    document_->errors.push_back(std::move(error));
  }

  static void Place(const yaml_event_t& event, YamlNode* node) {
    node->line = static_cast<int>(event.start_mark.line) + 1;
    node->column = static_cast<int>(event.start_mark.column) + 1;
    node->end_line = static_cast<int>(event.end_mark.line) + 1;
    node->end_column = static_cast<int>(event.end_mark.column) + 1;
  }

  // False when reading must stop: the events that follow belong to nothing.
  bool Node(const Event& event, int depth, YamlNode* node) {
    const yaml_event_t& raw = event.raw;
    if (depth > kMaxDepth) {
      Fault(raw.start_mark, "the document is nested too deeply", {});
      return false;
    }
    Place(raw, node);
    switch (raw.type) {
      case YAML_ALIAS_EVENT:
        return Alias(raw, node);
      case YAML_SCALAR_EVENT:
        Scalar(raw, node);
        Remember(Text(raw.data.scalar.anchor), *node);
        return true;
      case YAML_SEQUENCE_START_EVENT: {
        const std::string anchor = Text(raw.data.sequence_start.anchor);
        node->kind = YamlNode::Kind::kList;
        Open(anchor);
        return List(depth, node) && Close(anchor, *node);
      }
      case YAML_MAPPING_START_EVENT: {
        const std::string anchor = Text(raw.data.mapping_start.anchor);
        node->kind = YamlNode::Kind::kMap;
        Open(anchor);
        return Map(depth, node) && Close(anchor, *node);
      }
      default:
        Fault(raw.start_mark, "a value is expected here", {});
        return false;
    }
  }

  void Open(const std::string& anchor) {
    if (!anchor.empty()) {
      open_.insert(anchor);
    }
  }
  bool Close(const std::string& anchor, const YamlNode& node) {
    if (!anchor.empty()) {
      open_.erase(anchor);
      Remember(anchor, node);
    }
    return true;
  }
  void Remember(const std::string& anchor, const YamlNode& node) {
    if (!anchor.empty()) {
      anchors_.insert_or_assign(anchor, node);
    }
  }

  // The copy keeps the places of the original: that is where a mistake inside it is to be mended.
  bool Alias(const yaml_event_t& raw, YamlNode* node) {
    const std::string name = Text(raw.data.alias.anchor);
    if (open_.contains(name)) {
      Fault(raw.start_mark, fmt::format("the alias '*{}' stands inside its own anchor", name), {});
      return true;
    }
    const auto found = anchors_.find(name);
    if (found == anchors_.end()) {
      Fault(raw.start_mark, fmt::format("no anchor '&{}' precedes this alias", name), {});
      return true;
    }
    expanded_ += CountNodes(found->second);
    if (expanded_ > kAliasBudget) {
      Fault(raw.start_mark,
            fmt::format("the aliases of this file expand to more than {} values", kAliasBudget),
            {});
      return false;
    }
    *node = found->second;
    return true;
  }

  void Scalar(const yaml_event_t& raw, YamlNode* node) {
    const auto& scalar = raw.data.scalar;
    std::string value(reinterpret_cast<const char*>(scalar.value), scalar.length);
    switch (scalar.style) {
      case YAML_SINGLE_QUOTED_SCALAR_STYLE:
        node->style = YamlNode::Style::kSingleQuoted;
        break;
      case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
        node->style = YamlNode::Style::kDoubleQuoted;
        break;
      case YAML_LITERAL_SCALAR_STYLE:
        node->style = YamlNode::Style::kLiteral;
        break;
      case YAML_FOLDED_SCALAR_STYLE:
        node->style = YamlNode::Style::kFolded;
        break;
      case YAML_ANY_SCALAR_STYLE:
      case YAML_PLAIN_SCALAR_STYLE:
        node->style = YamlNode::Style::kPlain;
        break;
    }
    const std::string tag = Text(scalar.tag);
    if (!ResolveScalar(std::move(value), tag, node->style == YamlNode::Style::kPlain, node)) {
      Fault(raw.start_mark, fmt::format("the value does not fit its tag '{}'", tag), {});
    } else if (node->kind == YamlNode::Kind::kNumber && node->style == YamlNode::Style::kPlain) {
      Warn(raw, *node);
    }
  }

  void Warn(const yaml_event_t& raw, const YamlNode& node) {
    const std::string_view source(reinterpret_cast<const char*>(raw.data.scalar.value),
                                  raw.data.scalar.length);
    std::string message;
    std::string advice;
    if (IsLeadingZeroDecimal(source)) {
      message = fmt::format("'{}' is read as the number {}", source, NumberText(node.number));
      advice = "quote it if it is text";
    } else if (!node.text.empty() && IsLossyInteger(node)) {
      message = fmt::format(
          "'{}' becomes {} where it leaves the program", source, NumberText(node.number));
      advice = "quote it to keep every digit";
    } else {
      return;
    }
    Error warning = MakeError(ErrorKind::kInvalid, std::move(message), std::move(advice));
    warning.where = document_->At(node);
    document_->warnings.push_back(std::move(warning));
  }

  bool List(int depth, YamlNode* node) {
    while (true) {
      Event event;
      if (!Next(&event)) {
        return false;
      }
      if (event.raw.type == YAML_SEQUENCE_END_EVENT) {
        End(event.raw, node);
        return true;
      }
      node->items.emplace_back();
      if (!Node(event, depth + 1, &node->items.back())) {
        return false;
      }
    }
  }

  static void End(const yaml_event_t& raw, YamlNode* node) {
    node->end_line = static_cast<int>(raw.end_mark.line) + 1;
    node->end_column = static_cast<int>(raw.end_mark.column) + 1;
  }

  bool Map(int depth, YamlNode* node) {
    std::unordered_set<std::string> keys;
    std::vector<YamlNode> merges;
    while (true) {
      Event event;
      if (!Next(&event)) {
        return false;
      }
      if (event.raw.type == YAML_MAPPING_END_EVENT) {
        End(event.raw, node);
        break;
      }
      YamlNode key;
      if (!Node(event, depth + 1, &key)) {
        return false;
      }
      Event value_event;
      if (!Next(&value_event)) {
        return false;
      }
      YamlEntry entry;
      if (!Node(value_event, depth + 1, &entry.value)) {
        return false;
      }
      entry.line = key.line;
      entry.column = key.column;
      entry.end_column = key.end_column;
      if (!key.is_string()) {
        Fault(key.line,
              key.column,
              fmt::format("a mapping key must be a string, not {}", key.KindName()),
              "quote it");
        continue;
      }
      if (key.text == "<<" && key.style == YamlNode::Style::kPlain) {
        merges.push_back(std::move(entry.value));
        continue;
      }
      entry.key = std::move(key.text);
      if (!keys.insert(entry.key).second) {
        Fault(entry.line, entry.column, fmt::format("the key '{}' is given twice", entry.key), {});
        const YamlEntry* first = node->Find(entry.key);
        if (first != nullptr) {
          document_->errors.back().related.push_back(
              {"first given here", document_->At(*first)});
        }
        continue;
      }
      node->entries.push_back(std::move(entry));
    }
    for (YamlNode& merge : merges) {
      Merge(std::move(merge), &keys, node);
    }
    return true;
  }

  // YAML 1.1 semantics: own keys win over merged ones, earlier merges over later (Y15).
  void Merge(YamlNode merge, std::unordered_set<std::string>* keys, YamlNode* node) {
    if (merge.is_list()) {
      for (YamlNode& item : merge.items) {
        if (!item.is_map()) {
          Fault(item.line,
                item.column,
                fmt::format("'<<' merges mappings, not {}", item.KindName()),
                {});
          continue;
        }
        Merge(std::move(item), keys, node);
      }
      return;
    }
    if (!merge.is_map()) {
      Fault(merge.line,
            merge.column,
            fmt::format("'<<' merges mappings, not {}", merge.KindName()),
            {});
      return;
    }
    for (YamlEntry& entry : merge.entries) {
      if (keys->insert(entry.key).second) {
        node->entries.push_back(std::move(entry));
      }
    }
  }

  YamlDocument* document_;
  yaml_parser_t parser_{};
  std::map<std::string, YamlNode> anchors_;
  std::set<std::string> open_;
  std::size_t expanded_ = 0;
};

// JSON writes characters beyond the first plane as two escapes, which YAML refuses; the character
// itself says the same.
std::string WithoutSurrogatePairs(std::string text) {
  std::string out;
  std::size_t done = 0;
  const auto unit = [&](std::size_t at) -> unsigned {
    unsigned value = 0;
    if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') {
      return 0;
    }
    const auto [end, code] = std::from_chars(&text[at + 2], &text[at + 2] + 4, value, 16);
    return code == std::errc() && end == &text[at + 2] + 4 ? value : 0;
  };
  for (std::size_t at = 0; at + 12 <= text.size(); ++at) {
    if (text[at] != '\\') {
      continue;
    }
    const unsigned high = unit(at);
    const unsigned low = high >= 0xD800 && high <= 0xDBFF ? unit(at + 6) : 0;
    if (low < 0xDC00 || low > 0xDFFF) {
      ++at;  // skips what is escaped, a backslash for one
      continue;
    }
    const unsigned point = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    out.append(text, done, at - done);
    out += static_cast<char>(0xF0 | (point >> 18));
    out += static_cast<char>(0x80 | ((point >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((point >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (point & 0x3F));
    done = at + 12;
    at += 11;
  }
  if (done == 0) {
    return text;
  }
  out.append(text, done);
  return out;
}

void FromJson(const nlohmann::json& json, YamlNode* node) {
  switch (json.type()) {
    case nlohmann::json::value_t::boolean:
      node->kind = YamlNode::Kind::kBool;
      node->boolean = json.get<bool>();
      break;
    case nlohmann::json::value_t::number_integer:
    case nlohmann::json::value_t::number_unsigned:
      node->text = json.dump();
      [[fallthrough]];
    case nlohmann::json::value_t::number_float:
      node->kind = YamlNode::Kind::kNumber;
      node->number = json.get<double>();
      break;
    case nlohmann::json::value_t::string:
      node->kind = YamlNode::Kind::kString;
      node->text = json.get<std::string>();
      break;
    case nlohmann::json::value_t::array:
      node->kind = YamlNode::Kind::kList;
      for (const nlohmann::json& item : json) {
        FromJson(item, &node->items.emplace_back());
      }
      break;
    case nlohmann::json::value_t::object:
      node->kind = YamlNode::Kind::kMap;
      for (const auto& [key, value] : json.items()) {
        YamlEntry& entry = node->entries.emplace_back();
        entry.key = key;
        FromJson(value, &entry.value);
      }
      break;
    case nlohmann::json::value_t::null:
    case nlohmann::json::value_t::binary:
    case nlohmann::json::value_t::discarded:
      break;
  }
}

}  // namespace

YamlDocument ParseYaml(std::string file, std::string text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0) {
    text.erase(0, kByteOrderMark.size());
  }
  YamlDocument document;
  document.text =
      file.ends_with(".json") ? WithoutSurrogatePairs(std::move(text)) : std::move(text);
  document.file = std::move(file);
  document.IndexLines();
  Reader(&document).Run();
  return document;
}

std::unique_ptr<YamlNode> ParseJson(std::string_view text) {
  // The parser below recurses when it frees and we when we convert.
  int depth = 0;
  for (char c : text) {
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (depth > kMaxDepth) {
      return nullptr;
    }
  }
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    return nullptr;
  }
  auto node = std::make_unique<YamlNode>();
  FromJson(json, node.get());
  return node;
}

}  // namespace davit
