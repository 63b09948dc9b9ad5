#include "engine/yaml/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/yaml/nearest.h"

namespace davit {
namespace {

constexpr std::array kFunctions = {
    "invoke",
    "join",
    "split",
    "select",
    "length",
    "toJSON",
    "toBase64",
    "fromBase64",
    "readFile",
    "secret",
    "unsecret",
    "stringAsset",
    "fileAsset",
    "remoteAsset",
    "fileArchive",
    "remoteArchive",
    "assetArchive",
    "filebase64",
    "filebase64sha256",
    "sha1",
    "stackReference",
    "singleOrNone",
    "pulumiResourceName",
    "pulumiResourceType",
    "call",
    "try",
    "can",
    "entries",
    "lookup",
    "min",
    "max"};

Error At(SourceRange where, std::string message, std::string advice = {}) {
  Error error = MakeError(ErrorKind::kInvalid, std::move(message), std::move(advice));
  error.where = std::move(where);
  return error;
}

// Reads the accesses in one string.
class TextParser {
 public:
  TextParser(const YamlDocument& document, const YamlNode& node, std::vector<Error>* errors)
      : document_(document), node_(node), text_(node.text), errors_(errors) {}

  std::vector<YamlTextPart> Run() {
    std::string plain;
    while (at_ < text_.size()) {
      if (text_[at_] == '$' && at_ + 1 < text_.size() && text_[at_ + 1] == '$') {
        plain += '$';
        at_ += 2;
      } else if (text_[at_] == '$' && at_ + 1 < text_.size() && text_[at_ + 1] == '{') {
        if (!plain.empty()) {
          parts_.emplace_back(std::exchange(plain, {}));
        }
        const std::size_t begin = at_;
        at_ += 2;
        YamlAccess access;
        if (!Access(&access, begin)) {
          return {};
        }
        parts_.emplace_back(std::move(access));
      } else {
        plain += text_[at_++];
      }
    }
    if (!plain.empty()) {
      parts_.emplace_back(std::move(plain));
    }
    return std::move(parts_);
  }

 private:
  bool Problem(std::size_t offset, const char* message) {
    errors_->push_back(At(document_.At(node_, offset),
                          message,
                          "write it as ${name.member[0][\"key\"]}, or $${ for the text"));
    return false;
  }

  bool Access(YamlAccess* access, std::size_t begin) {
    access->where = document_.At(node_, begin);
    bool is_first = true;
    while (true) {
      if (at_ >= text_.size()) {
        return Problem(begin, "an interpolation is not closed by '}'");
      }
      const char c = text_[at_];
      if (c == '}') {
        ++at_;
        return is_first ? Problem(begin, "an interpolation is empty") : true;
      }
      if (c == '.') {
        ++at_;
        continue;
      }
      if (c == '[') {
        if (!Bracket(access, begin, is_first)) {
          return false;
        }
      } else {
        const std::size_t end = std::min(text_.find_first_of(".[}", at_), text_.size());
        std::string name = text_.substr(at_, end - at_);
        at_ = end;
        if (is_first) {
          access->root = std::move(name);
        } else {
          access->path.emplace_back(std::move(name));
        }
      }
      is_first = false;
    }
  }

  bool Bracket(YamlAccess* access, std::size_t begin, bool is_first) {
    ++at_;
    if (at_ < text_.size() && text_[at_] == '"') {
      std::string key;
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
        if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
          ++at_;
        }
        key += text_[at_];
      }
      if (at_ >= text_.size()) {
        return Problem(begin, "a quote is missing in an interpolation");
      }
      ++at_;
      if (is_first) {
        access->root = std::move(key);
      } else {
        access->path.emplace_back(std::move(key));
      }
    } else {
      const std::size_t end = text_.find(']', at_);
      if (end == std::string::npos) {
        return Problem(begin, "']' is missing in an interpolation");
      }
      const std::string digits = text_.substr(at_, end - at_);
      const bool is_number =
          !digits.empty() && digits.size() < 10 &&
          std::ranges::all_of(digits, [](unsigned char d) { return std::isdigit(d) != 0; });
      if (!is_number) {
        return Problem(at_, "a subscript must be a number or a quoted key");
      }
      if (is_first) {
        return Problem(begin, "an interpolation cannot begin with a number");
      }
      access->path.emplace_back(std::stoi(digits));
      at_ = end;
    }
    if (at_ >= text_.size() || text_[at_] != ']') {
      return Problem(begin, "']' is missing in an interpolation");
    }
    ++at_;
    return true;
  }

  const YamlDocument& document_;
  const YamlNode& node_;
  const std::string& text_;
  std::vector<Error>* errors_;
  std::size_t at_ = 0;
  std::vector<YamlTextPart> parts_;
};

// The canonical function name of a key such as `fn::toJSON` or `fn::pkg:mod:name`; empty when it is
// none.
std::string FunctionOf(const std::string& key) {
  if (key.size() < 4 || !SameIgnoringCase(std::string_view(key).substr(0, 4), "fn::")) {
    return {};
  }
  std::string name = key.substr(4);
  for (const char* known : kFunctions) {
    if (SameIgnoringCase(name, known)) {
      return known;
    }
  }
  return name;
}

bool IsKnownFunction(const std::string& name) {
  return std::ranges::any_of(kFunctions, [&](const char* known) { return name == known; });
}

class ExpressionParser {
 public:
  ExpressionParser(const YamlDocument& document,
                   std::vector<Error>* errors,
                   std::vector<Error>* warnings)
      : document_(document), errors_(errors), warnings_(warnings) {}

  YamlExprPtr Parse(const YamlNode& node) {
    std::shared_ptr<YamlExpr> expr = New(node);
    switch (node.kind) {
      case YamlNode::Kind::kNull:
      case YamlNode::Kind::kBool:
      case YamlNode::Kind::kNumber:
        expr->literal = ToPropertyValue(node);
        expr->digits = node.kind == YamlNode::Kind::kNumber ? node.text : std::string();
        return expr;
      case YamlNode::Kind::kString:
        Text(node, expr.get());
        return expr;
      case YamlNode::Kind::kList:
        expr->kind = YamlExpr::Kind::kList;
        for (const YamlNode& item : node.items) {
          expr->items.push_back(Parse(item));
        }
        return expr;
      case YamlNode::Kind::kMap:
        break;
    }
    if (node.entries.size() == 1 && !FunctionOf(node.entries[0].key).empty()) {
      Call(node.entries[0], expr.get());
      return expr;
    }
    expr->kind = YamlExpr::Kind::kMap;
    for (const YamlEntry& entry : node.entries) {
      const std::string function = FunctionOf(entry.key);
      if (function.ends_with("Asset") || function.ends_with("Archive")) {  // Y118
        errors_->push_back(At(document_.At(entry),
                              fmt::format("'fn::{}' stands beside other keys", function),
                              "it must be the only key of its map"));
      }
      YamlNode key;
      key.kind = YamlNode::Kind::kString;
      key.text = entry.key;
      key.line = entry.line;
      key.column = entry.column;
      key.end_line = entry.line;
      key.end_column = entry.end_column;
      YamlExprPtr key_expr = Parse(key);
      expr->entries.emplace_back(std::move(key_expr), Parse(entry.value));
    }
    return expr;
  }

 private:
  std::shared_ptr<YamlExpr> New(const YamlNode& node) const {
    auto expr = std::make_shared<YamlExpr>();
    expr->where = document_.At(node);
    expr->where.is_tried = is_tried_;
    return expr;
  }

  void Text(const YamlNode& node, YamlExpr* expr) {
    std::vector<YamlTextPart> parts = TextParser(document_, node, errors_).Run();
    for (YamlTextPart& part : parts) {
      if (YamlAccess* access = std::get_if<YamlAccess>(&part)) {
        access->where.is_tried = is_tried_;
      }
    }
    if (parts.empty()) {
      expr->literal = PropertyValue(std::string());
    } else if (parts.size() == 1 && std::holds_alternative<std::string>(parts[0])) {
      expr->literal = PropertyValue(std::get<std::string>(parts[0]));
    } else if (parts.size() == 1) {
      expr->kind = YamlExpr::Kind::kAccess;
      expr->access = std::get<YamlAccess>(parts[0]);
    } else {
      expr->kind = YamlExpr::Kind::kText;
      expr->parts = std::move(parts);
    }
  }

  void Call(const YamlEntry& entry, YamlExpr* expr) {
    std::string function = FunctionOf(entry.key);
    const bool is_token = function.find(':') != std::string::npos;
    if (!is_token && !IsKnownFunction(function)) {
      std::vector<std::string> names(kFunctions.begin(), kFunctions.end());
      errors_->push_back(At(document_.At(entry),
                            fmt::format("there is no function 'fn::{}'", function),
                            DidYouMean(function, names)));
      return;
    }
    if (warnings_ != nullptr && !is_token && entry.key != "fn::" + function) {  // Y18
      warnings_->push_back(
          At(document_.At(entry), fmt::format("'{}' is spelt 'fn::{}'", entry.key, function)));
    }
    if (warnings_ != nullptr && function == "stackReference") {
      warnings_->push_back(At(document_.At(entry),
                              "'fn::stackReference' is deprecated; use a resource of type "
                              "pulumi:pulumi:StackReference"));
    }
    expr->kind = YamlExpr::Kind::kCall;
    expr->function = std::move(function);
    expr->argument = Argument(expr->function, entry.value);
  }

  // Of `try` all alternatives but the last are tried, of `can` its argument.
  YamlExprPtr Argument(const std::string& function, const YamlNode& node) {
    const bool is_tried = is_tried_;
    if (function == "can") {
      is_tried_ = true;
      YamlExprPtr argument = Parse(node);
      is_tried_ = is_tried;
      return argument;
    }
    if (function != "try" || !node.is_list()) {
      return Parse(node);
    }
    std::shared_ptr<YamlExpr> list = New(node);
    list->kind = YamlExpr::Kind::kList;
    for (std::size_t index = 0; index < node.items.size(); ++index) {
      is_tried_ = is_tried || index + 1 < node.items.size();
      list->items.push_back(Parse(node.items[index]));
    }
    is_tried_ = is_tried;
    return list;
  }

  const YamlDocument& document_;
  std::vector<Error>* errors_;
  std::vector<Error>* warnings_;
  bool is_tried_ = false;
};

}  // namespace

std::string YamlAccess::Text() const {
  std::string text = root;
  for (const PathSegment& segment : path) {
    if (const int* index = std::get_if<int>(&segment)) {
      text += fmt::format("[{}]", *index);
    } else {
      text += "." + std::get<std::string>(segment);
    }
  }
  return text;
}

YamlExprPtr ParseExpression(const YamlDocument& document,
                            const YamlNode& node,
                            std::vector<Error>* errors,
                            std::vector<Error>* warnings) {
  return ExpressionParser(document, errors, warnings).Parse(node);
}

std::string ParseLiteral(const YamlDocument& document,
                         const YamlNode& node,
                         const char* what,
                         std::vector<Error>* errors) {
  if (!node.is_string()) {
    errors->push_back(
        At(document.At(node), fmt::format("{} must be a string, not {}", what, node.KindName())));
    return {};
  }
  const YamlExprPtr expr = ParseExpression(document, node, errors, nullptr);
  if (expr->kind != YamlExpr::Kind::kLiteral) {
    errors->push_back(
        At(document.At(node), fmt::format("{} must be a literal string without '${{...}}'", what)));
    return {};
  }
  const std::string* text = expr->literal.as_string();
  return text == nullptr ? std::string() : *text;
}

void VisitAccesses(const YamlExpr& expr, const std::function<void(const YamlAccess&)>& visit) {
  if (expr.kind == YamlExpr::Kind::kAccess) {
    visit(expr.access);
  }
  for (const YamlTextPart& part : expr.parts) {
    if (const YamlAccess* access = std::get_if<YamlAccess>(&part)) {
      visit(*access);
    }
  }
  for (const YamlExprPtr& item : expr.items) {
    VisitAccesses(*item, visit);
  }
  for (const auto& [key, value] : expr.entries) {
    VisitAccesses(*key, visit);
    VisitAccesses(*value, visit);
  }
  if (expr.argument) {
    VisitAccesses(*expr.argument, visit);
  }
}

void VisitCalls(const YamlExpr& expr, const std::function<void(const YamlExpr&)>& visit) {
  if (expr.kind == YamlExpr::Kind::kCall) {
    visit(expr);
  }
  for (const YamlExprPtr& item : expr.items) {
    VisitCalls(*item, visit);
  }
  for (const auto& [key, value] : expr.entries) {
    VisitCalls(*key, visit);
    VisitCalls(*value, visit);
  }
  if (expr.argument) {
    VisitCalls(*expr.argument, visit);
  }
}

}  // namespace davit
