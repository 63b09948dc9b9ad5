#pragma once
// A YAML or JSON text as a tree of resolved nodes that know where they stand (Y5, Y9-Y17). Pure,
// any thread.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/value/property_value.h"

namespace davit {

struct YamlEntry;

struct YamlNode {
  enum class Kind { kNull, kBool, kNumber, kString, kList, kMap };
  enum class Style { kPlain, kSingleQuoted, kDoubleQuoted, kLiteral, kFolded };

  Kind kind = Kind::kNull;
  Style style = Style::kPlain;  ///< of a scalar
  bool boolean = false;
  double number = 0;
  /// Of a string its value; of an integer that fits 64 bits its exact decimal digits (Y12), else
  /// empty.
  std::string text;
  std::vector<YamlNode> items;     ///< of a list
  std::vector<YamlEntry> entries;  ///< of a map, in the order of the text, keys unique
  int line = 0;                    ///< from 1
  int column = 0;                  ///< from 1, in characters
  int end_line = 0;
  int end_column = 0;  ///< behind the last character

  bool is_null() const { return kind == Kind::kNull; }
  bool is_string() const { return kind == Kind::kString; }
  bool is_map() const { return kind == Kind::kMap; }
  bool is_list() const { return kind == Kind::kList; }
  /// The entry of a map with exactly this key; null when there is none.
  const YamlEntry* Find(std::string_view key) const;
  /// What the node is, for messages: `a string`, `a list`, ... (Y160).
  std::string_view KindName() const;
};

struct YamlEntry {
  std::string key;
  int line = 0;  ///< of the key
  int column = 0;
  int end_column = 0;
  YamlNode value;
};

struct YamlDocument {
  std::string file;  ///< as messages name it
  std::string text;
  std::vector<std::size_t> line_begins;  ///< of each line in `text`
  YamlNode root;
  std::vector<Error> errors;
  std::vector<Error> warnings;

  /// Finds the lines of `text`, for Line and At.
  void IndexLines();
  /// The 1-based line of the text, without its line break.
  std::string_view Line(int line) const;
  /// The place of a node.
  SourceRange At(const YamlNode& node) const;
  /// The place of a key.
  SourceRange At(const YamlEntry& entry) const;
  /// The place of the byte `offset` of a string's value, inside the text as far as that can be
  /// told; else the place of the scalar (Y159).
  SourceRange At(const YamlNode& node, std::size_t offset) const;
};

/// Parses one document. An empty text is an empty map (Y5). Everything that is wrong is in
/// `errors`: the first syntax error, duplicate keys (Y16), keys that are no strings (Y14), further
/// documents, aliases that contain themselves or explode (Y15). The tree holds what could be read.
/// `file` ending in `.json` selects JSON escapes (Y4).
YamlDocument ParseYaml(std::string file, std::string text);

/// Sorts by line and column, keeping the order of what stands at one place.
void SortByPlace(std::vector<Error>* errors);

/// A node as a plain value; numbers become doubles.
PropertyValue ToPropertyValue(const YamlNode& node);

/// JSON text as a tree without places, for configuration values (Y33); absent when it is no JSON.
std::unique_ptr<YamlNode> ParseJson(std::string_view text);

}  // namespace davit
