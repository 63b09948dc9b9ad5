#include "engine/yaml/type_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/yaml/nearest.h"

namespace davit {
namespace {

using Kind = SchemaType::Kind;

constexpr int kMaxAssignDepth = 50;

std::string Quoted(const PropertyValue& value) {
  if (const std::string* text = value.as_string()) {
    return fmt::format("'{}'", *text);
  }
  if (const double* number = value.as_number()) {
    return NumberText(*number);
  }
  const bool* flag = value.as_bool();
  return flag == nullptr ? "null" : *flag ? "true" : "false";
}

// What a literal is, in the words of Y160.
std::string LiteralName(const YamlExpr& expr) {
  switch (expr.kind) {
    case YamlExpr::Kind::kList:
      return "a list";
    case YamlExpr::Kind::kMap:
      return "an object";
    case YamlExpr::Kind::kText:
      return "a string";
    case YamlExpr::Kind::kLiteral:
      return expr.literal.is_string() ? fmt::format("the string {}", Quoted(expr.literal))
                                      : Quoted(expr.literal);
    case YamlExpr::Kind::kAccess:
    case YamlExpr::Kind::kCall:
      break;
  }
  return "something else";
}

bool IsNumeric(Kind kind) { return kind == Kind::kInteger || kind == Kind::kNumber; }

bool LiteralFits(const PropertyValue& value, Kind kind) {
  switch (kind) {
    case Kind::kAny:
      return true;
    case Kind::kString:
      return value.is_string() || value.as_number() != nullptr || value.as_bool() != nullptr;
    case Kind::kBoolean:
      return value.as_bool() != nullptr;
    case Kind::kInteger:
    case Kind::kNumber:
      return value.as_number() != nullptr;
    case Kind::kAsset:
    case Kind::kArchive:
    case Kind::kList:
    case Kind::kMap:
    case Kind::kUnion:
    case Kind::kObject:
    case Kind::kEnum:
    case Kind::kResource:
      return false;
  }
  return false;
}

}  // namespace

void TypeChecker::Problem(const YamlPlace& where, std::string message, std::string advice) {
  if (silent_ > 0) {
    has_failed_silently_ = true;
    return;
  }
  if (where.is_tried) {
    return;  // Y111
  }
  Error error = MakeError(ErrorKind::kInvalid, std::move(message), std::move(advice));
  error.where = where;
  errors_(std::move(error));
}

void TypeChecker::Warn(const YamlPlace& where, std::string message) {
  if (silent_ == 0) {
    Error warning = MakeError(ErrorKind::kInvalid, std::move(message));
    warning.where = where;
    warnings_(std::move(warning));
  }
}

void TypeChecker::Wrong(const YamlPlace& where,
                        const std::string& path,
                        const SchemaType& type,
                        const std::string& found) {
  std::string advice;
  if (type.kind == Kind::kBoolean || IsNumeric(type.kind)) {
    advice = found.starts_with("the string") ? "write it without quotes" : "";
  }
  Problem(where, fmt::format("{} must be {}, not {}", path, type.Text(), found), std::move(advice));
}

void TypeChecker::Run() {
  for (const YamlResource& resource : program_.resources) {
    CheckResource(resource);
  }
  VisitExpressions(program_, [this](const YamlExprPtr& expr) {
    VisitCalls(*expr, [this](const YamlExpr& call) { CheckCall(call); });
    if (!program_.checks_types) {  // Y150: what a program means is still looked up
      return;
    }
    VisitAccesses(*expr, [this](const YamlAccess& access) { CheckAccess(access); });
  });
}

std::vector<TypeChecker::Field> TypeChecker::FieldsOf(const YamlExpr& map) {
  std::vector<Field> fields;
  for (const auto& [key, value] : map.entries) {
    const std::string* name = key->literal.as_string();
    fields.push_back(
        {name == nullptr ? std::nullopt : std::optional<std::string>(*name), value, key->where});
  }
  return fields;
}

void TypeChecker::CheckObject(const std::vector<Field>& fields,
                              const SchemaObject& object,
                              const std::string& title,
                              const YamlPlace& where,
                              bool is_partial) {
  if (!program_.checks_types) {
    return;
  }
  std::map<std::string, bool, std::less<>> given;
  std::vector<std::string> unknown;
  bool is_complete = true;
  for (const Field& field : fields) {
    if (!field.name) {
      is_complete = false;
      continue;
    }
    const auto at = object.properties.find(*field.name);
    if (at == object.properties.end()) {  // Y153
      std::vector<std::string> names;
      for (const auto& [name, property] : object.properties) {
        names.push_back(name);
      }
      Problem(field.where,
              fmt::format("'{}' has no property '{}'", title, *field.name),
              ExistingNames(*field.name, std::move(names)));
      unknown.push_back(*field.name);
      continue;
    }
    if (!at->second.deprecation.empty()) {
      Warn(field.where,
           fmt::format("'{}' of '{}' is deprecated: {}", *field.name, title, at->second.deprecation));
    }
    given[*field.name] = !field.value->is_null();
    Check(*field.value, *at->second.type, fmt::format("'{}'", *field.name));
  }
  if (is_partial || !is_complete) {
    return;
  }
  for (const std::string& name : object.required) {
    const auto property = object.properties.find(name);
    const bool is_filled_in = property == object.properties.end() || property->second.constant ||
                              property->second.default_value;  // Y88
    const auto at = given.find(name);
    if (!Nearest(name, unknown, 2).empty()) {
      continue;  // it is there, misspelt, which has been told
    }
    if (!is_filled_in && (at == given.end() || !at->second)) {
      Problem(where,
              fmt::format("the property '{}' is missing", name),
              fmt::format("'{}' requires it", title));
    }
  }
}

void TypeChecker::Check(const YamlExpr& expr, const SchemaType& type, const std::string& path) {
  if (type.kind == Kind::kAny || expr.is_null()) {
    return;
  }
  if (expr.kind == YamlExpr::Kind::kAccess) {
    CheckShape(ShapeOf(expr.access, false), type, path, expr.where);
    return;
  }
  if (expr.kind == YamlExpr::Kind::kCall) {
    if (expr.function == "secret" || expr.function == "unsecret") {
      Check(*expr.argument, type, path);
    } else {
      CheckShape(ShapeOfCall(expr), type, path, expr.where);
    }
    return;
  }
  if (type.kind == Kind::kUnion) {
    CheckUnion(expr, type, path);
    return;
  }
  if (type.kind == Kind::kEnum) {  // what is no literal is not compared with the values (Y151)
    const bool is_listed =
        type.values.empty() || std::ranges::find(type.values, expr.literal) != type.values.end();
    if (expr.kind == YamlExpr::Kind::kLiteral && !is_listed) {
      std::string allowed;
      for (const PropertyValue& value : type.values) {
        allowed += (allowed.empty() ? "" : ", ") + Quoted(value);
      }
      Problem(expr.where,
              fmt::format("{} cannot be {}", path, Quoted(expr.literal)),
              fmt::format("allowed are {}", allowed));
    } else if (expr.kind != YamlExpr::Kind::kLiteral) {
      Check(expr, *type.element, path);
    }
    return;
  }
  switch (expr.kind) {
    case YamlExpr::Kind::kLiteral:
      if (!LiteralFits(expr.literal, type.kind)) {
        Wrong(expr.where, path, type, LiteralName(expr));
      }
      return;
    case YamlExpr::Kind::kText:
      // Whether the text is a number shows when the program runs (Y152).
      if (type.kind != Kind::kString && !IsNumeric(type.kind) && type.kind != Kind::kBoolean) {
        Wrong(expr.where, path, type, LiteralName(expr));
      }
      return;
    case YamlExpr::Kind::kList:
      if (type.kind != Kind::kList) {
        Wrong(expr.where, path, type, LiteralName(expr));
        return;
      }
      for (std::size_t index = 0; index < expr.items.size(); ++index) {
        Check(*expr.items[index], *type.element, fmt::format("item {} of {}", index, path));
      }
      return;
    case YamlExpr::Kind::kMap:
      if (type.kind == Kind::kObject) {
        CheckObject(FieldsOf(expr), type.object, type.token, expr.where, false);
      } else if (type.kind == Kind::kMap) {
        for (const auto& [key, value] : expr.entries) {
          const std::string* name = key->literal.as_string();
          Check(*value,
                *type.element,
                fmt::format("'{}' of {}", name == nullptr ? "a member" : *name, path));
        }
      } else {
        Wrong(expr.where, path, type, LiteralName(expr));
      }
      return;
    case YamlExpr::Kind::kAccess:
    case YamlExpr::Kind::kCall:
      return;
  }
}

void TypeChecker::CheckUnion(const YamlExpr& expr, const SchemaType& type, const std::string& path) {
  const SchemaType* only = nullptr;
  int alike = 0;
  for (const SchemaType* member : type.members) {
    if (Fits(expr, *member)) {
      return;
    }
    const bool is_alike = expr.kind == YamlExpr::Kind::kMap
                              ? member->kind == Kind::kObject || member->kind == Kind::kMap
                              : expr.kind == YamlExpr::Kind::kList && member->kind == Kind::kList;
    if (is_alike || (member->kind == Kind::kEnum && expr.literal.is_string())) {
      only = member;
      ++alike;
    }
  }
  if (alike == 1) {  // what was meant is plain, so say what is wrong with it
    Check(expr, *only, path);
  } else {
    Wrong(expr.where, path, type, LiteralName(expr));
  }
}

bool TypeChecker::Fits(const YamlExpr& expr, const SchemaType& type) {
  const bool before = std::exchange(has_failed_silently_, false);
  ++silent_;
  Check(expr, type, "");
  --silent_;
  return !std::exchange(has_failed_silently_, before);
}

void TypeChecker::CheckShape(const YamlShape& shape,
                             const SchemaType& type,
                             const std::string& path,
                             const YamlPlace& where) {
  if (shape.expr != nullptr) {
    if (!Fits(*shape.expr, type)) {
      Wrong(where, path, type, LiteralName(*shape.expr));
    }
  } else if (shape.type != nullptr) {
    if (!Assignable(*shape.type, type)) {
      Wrong(where, path, type, shape.type->Text());
    }
  } else if (shape.member != nullptr) {
    const SchemaType resource{.kind = Kind::kResource, .token = shape.member->token};
    if (!Assignable(resource, type)) {
      Wrong(where, path, type, fmt::format("the resource {}", shape.member->token));
    }
  }
}

bool TypeChecker::Assignable(const SchemaType& from, const SchemaType& to, int depth) const {
  if (from.kind == Kind::kAny || to.kind == Kind::kAny || &from == &to || depth > kMaxAssignDepth) {
    return true;
  }
  const auto into = [&](const SchemaType* member) { return Assignable(from, *member, depth + 1); };
  const auto out_of = [&](const SchemaType* member) { return Assignable(*member, to, depth + 1); };
  if (from.kind == Kind::kUnion) {
    return std::ranges::all_of(from.members, out_of);
  }
  if (to.kind == Kind::kUnion) {
    return std::ranges::any_of(to.members, into);
  }
  if (from.kind == Kind::kEnum) {
    return Assignable(*from.element, to, depth + 1);
  }
  const bool is_text_like = from.kind == Kind::kString || from.kind == Kind::kBoolean ||
                            IsNumeric(from.kind);
  switch (to.kind) {
    case Kind::kString:
      return is_text_like || from.kind == Kind::kResource;
    case Kind::kBoolean:
    case Kind::kInteger:
    case Kind::kNumber:  // a string is converted when it is known (Y152)
      return from.kind == Kind::kString || from.kind == to.kind ||
             (IsNumeric(from.kind) && IsNumeric(to.kind));
    case Kind::kEnum:
      return Assignable(from, *to.element, depth + 1);
    case Kind::kAsset:
      return from.kind == Kind::kAsset || from.kind == Kind::kArchive;
    case Kind::kArchive:
      return from.kind == Kind::kArchive;
    case Kind::kList:
      return from.kind == Kind::kList && Assignable(*from.element, *to.element, depth + 1);
    case Kind::kMap:
      return (from.kind == Kind::kMap && Assignable(*from.element, *to.element, depth + 1)) ||
             (from.kind == Kind::kObject &&
              std::ranges::all_of(from.object.properties, [&](const auto& property) {
                return Assignable(*property.second.type, *to.element, depth + 1);
              }));
    case Kind::kObject:
      if (from.kind == Kind::kMap) {
        return std::ranges::all_of(to.object.properties, [&](const auto& property) {
          return Assignable(*from.element, *property.second.type, depth + 1);
        });
      }
      return from.kind == Kind::kObject &&
             std::ranges::all_of(from.object.properties, [&](const auto& property) {
               const auto wanted = to.object.properties.find(property.first);
               return wanted == to.object.properties.end() ||
                      Assignable(*property.second.type, *wanted->second.type, depth + 1);
             });
    case Kind::kResource:
      return from.kind == Kind::kResource && from.token == to.token;
    case Kind::kAny:
    case Kind::kUnion:
      return true;
  }
  return true;
}

}  // namespace davit
