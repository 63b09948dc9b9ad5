#include "engine/yaml/document.h"

#include <algorithm>
#include <utility>

namespace davit {
namespace {

int CharactersIn(std::string_view text) {
  int count = 0;
  for (char c : text) {
    count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  }
  return count;
}

// Byte offset of the 1-based character column.
std::size_t BytesBefore(std::string_view line, int column) {
  std::size_t at = 0;
  for (int left = column - 1; at < line.size(); ++at) {
    if ((static_cast<unsigned char>(line[at]) & 0xC0U) != 0x80U && left-- == 0) {
      break;
    }
  }
  return at;
}

}  // namespace

const YamlEntry* YamlNode::Find(std::string_view key) const {
  for (const YamlEntry& entry : entries) {
    if (entry.key == key) {
      return &entry;
    }
  }
  return nullptr;
}

std::string_view YamlNode::KindName() const {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "a boolean";
    case Kind::kNumber:
      return "a number";
    case Kind::kString:
      return "a string";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "an object";
  }
  return "a value";
}

void YamlDocument::IndexLines() {
  line_begins = {0};
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
    line_begins.push_back(at + 1);
  }
}

std::string_view YamlDocument::Line(int line) const {
  const std::size_t index = static_cast<std::size_t>(line) - 1;
  if (line < 1 || index >= line_begins.size()) {
    return {};
  }
  const std::size_t begin = line_begins[index];
  return std::string_view(text).substr(begin, text.find('\n', begin) - begin);
}

SourceRange YamlDocument::At(const YamlNode& node) const {
  return SourceRange{file, node.line, node.column, node.end_line, node.end_column};
}

SourceRange YamlDocument::At(const YamlEntry& entry) const {
  return SourceRange{file, entry.line, entry.column, entry.line, entry.end_column};
}

SourceRange YamlDocument::At(const YamlNode& node, std::size_t offset) const {
  const std::string_view value = std::string_view(node.text).substr(0, offset);
  SourceRange place = At(node);
  if (node.style == YamlNode::Style::kLiteral) {
    // Line by line below the header; the first line with text tells the indentation.
    int breaks = 0;
    std::size_t line_begin = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (value[i] == '\n') {
        ++breaks;
        line_begin = i + 1;
      }
    }
    const int line = node.line + 1 + breaks;
    const std::string_view source = Line(line);
    const std::string_view whole = std::string_view(node.text).substr(
        line_begin, node.text.find('\n', line_begin) - line_begin);
    const std::size_t at = source.find(whole);
    if (at == std::string_view::npos) {
      return place;
    }
    place.line = line;
    place.column = CharactersIn(source.substr(0, at)) + CharactersIn(value.substr(line_begin)) + 1;
  } else if (node.line == node.end_line && node.style != YamlNode::Style::kFolded) {
    const bool is_quoted = node.style != YamlNode::Style::kPlain;
    const std::string_view source = Line(node.line);
    const std::size_t begin = BytesBefore(source, node.column) + (is_quoted ? 1 : 0);
    if (source.substr(std::min(begin, source.size()), value.size()) != value) {
      return place;  // escapes moved it
    }
    place.column = node.column + (is_quoted ? 1 : 0) + CharactersIn(value);
  } else {
    return place;
  }
  place.end_line = 0;
  place.end_column = 0;
  return place;
}

void SortByPlace(std::vector<Error>* errors) {
  const auto place = [](const Error& error) {
    return error.where ? std::pair(error.where->line, error.where->column) : std::pair(0, 0);
  };
  std::stable_sort(errors->begin(), errors->end(), [&](const Error& a, const Error& b) {
    return place(a) < place(b);
  });
}

PropertyValue ToPropertyValue(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return {};
    case YamlNode::Kind::kBool:
      return node.boolean;
    case YamlNode::Kind::kNumber:
      return node.number;
    case YamlNode::Kind::kString:
      return node.text;
    case YamlNode::Kind::kList: {
      PropertyList list;
      for (const YamlNode& item : node.items) {
        list.push_back(ToPropertyValue(item));
      }
      return list;
    }
    case YamlNode::Kind::kMap: {
      PropertyMap map;
      for (const YamlEntry& entry : node.entries) {
        map.insert_or_assign(entry.key, ToPropertyValue(entry.value));
      }
      return map;
    }
  }
  return {};
}

}  // namespace davit
