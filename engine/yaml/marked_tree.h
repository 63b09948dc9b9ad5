#pragma once
// YAML text as a tree that remembers where each node stands and how it is written, for edits that
// leave the rest of a file alone (S94). Nothing is resolved: every scalar is text. Pure, any
// thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace davit {

struct MarkedNode {
  enum class Kind { kScalar, kSequence, kMapping };
  enum class Style { kPlain, kSingleQuoted, kDoubleQuoted, kLiteral, kFolded, kBlock, kFlow };
  Kind kind = Kind::kScalar;
  Style style = Style::kPlain;
  std::string tag;                ///< explicit tag, or empty
  std::string value;              ///< of a scalar
  std::vector<MarkedNode> items;  ///< of a mapping: key, value, key, value, ...
  bool is_alias = false;  ///< a copy of what the alias stands for; the marks are those of the alias
  std::size_t begin = 0;  ///< byte offsets into the text; a missing value has begin == end
  std::size_t end = 0;    ///< behind the last byte that is not a line break
  int line = 0;           ///< from 1
  int column = 0;         ///< from 1
};

/// The first document of `text`; absent when there is none. A byte-order mark is an error of the
/// caller. Errors name `file`, line and column.
Result<std::optional<MarkedNode>> ParseMarkedYaml(std::string_view text, const std::string& file);

}  // namespace davit
