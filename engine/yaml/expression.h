#pragma once
// Expressions of the YAML language (Y60-Y69): parsed from nodes, with the places of their parts.
// Pure, any thread.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/value/property_path.h"
#include "engine/yaml/document.h"

namespace davit {

/// Where an expression stands. Inside `fn::try` and `fn::can` what fails there is an answer and no
/// error (Y111); a value that is used at two places through an alias may be tried at one of them
/// only, so the text position cannot tell.
struct YamlPlace : SourceRange {
  YamlPlace() = default;
  YamlPlace(SourceRange range) : SourceRange(std::move(range)) {}
  bool is_tried = false;
};

/// `${root.member[0]["key"]}`.
struct YamlAccess {
  std::string root;
  std::vector<PathSegment> path;  ///< names and indices
  YamlPlace where;
  /// The text as written, for messages.
  std::string Text() const;
};

struct YamlExpr;
using YamlExprPtr = std::shared_ptr<const YamlExpr>;

/// Text, or the value of an access, inside a mixed string.
using YamlTextPart = std::variant<std::string, YamlAccess>;

struct YamlExpr {
  enum class Kind { kLiteral, kAccess, kText, kList, kMap, kCall };
  Kind kind = Kind::kLiteral;
  PropertyValue literal;
  std::string digits;  ///< exact digits of an integer literal (Y12)
  YamlAccess access;
  std::vector<YamlTextPart> parts;
  std::vector<YamlExprPtr> items;
  std::vector<std::pair<YamlExprPtr, YamlExprPtr>> entries;  ///< keys are expressions too (Y67)
  std::string function;                                      ///< canonical name without `fn::`
  YamlExprPtr argument;
  YamlPlace where;

  bool is_null() const { return kind == Kind::kLiteral && literal.is_null(); }
};

/// Parses a node; errors go to `errors`, and the result is then a null literal at their place.
/// Functions that are spelt in another case are told to `warnings`, if any (Y18).
YamlExprPtr ParseExpression(const YamlDocument& document,
                            const YamlNode& node,
                            std::vector<Error>* errors,
                            std::vector<Error>* warnings);

/// A literal string (Y68): interpolations are refused, `$$` is unescaped.
std::string ParseLiteral(const YamlDocument& document,
                         const YamlNode& node,
                         const char* what,
                         std::vector<Error>* errors);

/// Calls `visit` for every access in the expression.
void VisitAccesses(const YamlExpr& expr, const std::function<void(const YamlAccess&)>& visit);

/// Calls `visit` for every call in the expression, outer ones first.
void VisitCalls(const YamlExpr& expr, const std::function<void(const YamlExpr&)>& visit);

}  // namespace davit
