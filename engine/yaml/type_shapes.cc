// What is known of a value before the program runs, and of what an access picks from it (Y76,
// Y154).
#include <fmt/format.h>

#include <algorithm>

#include "engine/yaml/config_type.h"
#include "engine/yaml/nearest.h"
#include "engine/yaml/type_check.h"

namespace davit {
namespace {

using Kind = SchemaType::Kind;

const SchemaType* BasicShape(Kind kind) {
  static const SchemaType kString{.kind = Kind::kString};
  static const SchemaType kBoolean{.kind = Kind::kBoolean};
  static const SchemaType kInteger{.kind = Kind::kInteger};
  static const SchemaType kNumber{.kind = Kind::kNumber};
  static const SchemaType kAsset{.kind = Kind::kAsset};
  static const SchemaType kArchive{.kind = Kind::kArchive};
  static const SchemaType kTexts{.kind = Kind::kList, .element = &kString};
  for (const SchemaType* type :
       {&kString, &kBoolean, &kInteger, &kNumber, &kAsset, &kArchive, &kTexts}) {
    if (type->kind == kind) {
      return type;
    }
  }
  return nullptr;
}

YamlShape ShapeOfKind(Kind kind) {
  YamlShape shape;
  shape.type = BasicShape(kind);
  return shape;
}

const std::map<std::string, Kind, std::less<>>& ResultKinds() {
  static const std::map<std::string, Kind, std::less<>> kKinds = {
      {"join", Kind::kString},
      {"toJSON", Kind::kString},
      {"toBase64", Kind::kString},
      {"fromBase64", Kind::kString},
      {"readFile", Kind::kString},
      {"filebase64", Kind::kString},
      {"filebase64sha256", Kind::kString},
      {"sha1", Kind::kString},
      {"pulumiResourceName", Kind::kString},
      {"pulumiResourceType", Kind::kString},
      {"length", Kind::kInteger},
      {"min", Kind::kNumber},
      {"max", Kind::kNumber},
      {"can", Kind::kBoolean},
      {"split", Kind::kList},
      {"stringAsset", Kind::kAsset},
      {"fileAsset", Kind::kAsset},
      {"remoteAsset", Kind::kAsset},
      {"fileArchive", Kind::kArchive},
      {"remoteArchive", Kind::kArchive},
      {"assetArchive", Kind::kArchive}};
  return kKinds;
}

std::vector<std::string> NamesOf(const SchemaObject& object) {
  std::vector<std::string> names;
  for (const auto& [name, property] : object.properties) {
    names.push_back(name);
  }
  return names;
}

}  // namespace

YamlShape TypeChecker::ShapeOf(const YamlExpr& expr) {
  switch (expr.kind) {
    case YamlExpr::Kind::kAccess:
      return ShapeOf(expr.access, false);
    case YamlExpr::Kind::kText:
      return ShapeOfKind(Kind::kString);
    case YamlExpr::Kind::kCall:
      return ShapeOfCall(expr);
    case YamlExpr::Kind::kLiteral:
    case YamlExpr::Kind::kList:
    case YamlExpr::Kind::kMap:
      break;
  }
  YamlShape shape;
  shape.expr = &expr;
  return shape;
}

YamlShape TypeChecker::ShapeOfCall(const YamlExpr& call) {
  const auto kind = ResultKinds().find(call.function);
  if (kind != ResultKinds().end()) {
    return ShapeOfKind(kind->second);
  }
  if (call.function == "secret" || call.function == "unsecret") {
    return ShapeOf(*call.argument);
  }
  const YamlTokenUse use = TokenUse(call);
  const SchemaMember* member = use.token.empty() ? nullptr : packages_.Function(use).member;
  if (call.function == "call") {
    const YamlExprPtr resource = ArgumentOf(call, "resource");
    const YamlExprPtr method = ArgumentOf(call, "method");
    const YamlShape self = resource ? ShapeOf(*resource) : YamlShape();
    const std::string* name = method ? method->literal.as_string() : nullptr;
    if (self.member != nullptr && name != nullptr && self.member->methods.contains(*name)) {
      member = packages_.Method(*self.member, self.member->methods.find(*name)->second).member;
    }
  }
  YamlShape shape;
  if (member == nullptr) {
    return shape;
  }
  const YamlExprPtr returned =
      call.function == "invoke" || call.function == "call" ? ArgumentOf(call, "return") : nullptr;
  if (!returned) {
    // A schema without outputs says nothing of the result.
    const bool says_nothing = !member->is_scalar() && member->outputs.object.properties.empty();
    shape.type = says_nothing ? nullptr : &member->outputs;
    return shape;
  }
  const std::string* name = returned->literal.as_string();
  const auto at = name == nullptr ? member->outputs.object.properties.end()
                                  : member->outputs.object.properties.find(*name);
  shape.type = at == member->outputs.object.properties.end() ? nullptr : at->second.type;
  return shape;
}

YamlShape TypeChecker::ShapeOfNode(const YamlNodeRef& node) {
  const auto [at, is_new] = shapes_.try_emplace(node);
  if (!is_new) {
    return at->second;
  }
  YamlShape shape;
  switch (node.kind) {
    case YamlNodeKind::kConfig: {
      const std::string& type = program_.config[node.index].type;
      shape.type = type == "string"    ? BasicShape(Kind::kString)
                   : type == "number"  ? BasicShape(Kind::kNumber)
                   : type == "integer" ? BasicShape(Kind::kInteger)
                   : type == "boolean" ? BasicShape(Kind::kBoolean)
                                       : nullptr;
      break;
    }
    case YamlNodeKind::kResource:
      shape.resource = &program_.resources[node.index];
      shape.member = packages_.Resource(TokenUse(*shape.resource)).member;
      break;
    case YamlNodeKind::kVariable:
      shape = ShapeOf(*program_.variables[node.index].value);
      break;
    case YamlNodeKind::kRequirement:
      break;
  }
  return shapes_[node] = shape;
}

void TypeChecker::CheckAccess(const YamlAccess& access) {
  ShapeOf(access, true);
}

YamlShape TypeChecker::ShapeOf(const YamlAccess& access, bool is_reporting) {
  const std::optional<YamlNodeRef> node = program_.Resolve(access.root);
  YamlShape shape;
  if (!node) {
    return shape;
  }
  shape = ShapeOfNode(*node);
  for (const PathSegment& segment : access.path) {
    shape = Step(shape, segment, access, is_reporting);
  }
  return shape;
}

// An access that leads nowhere: nothing is known of it, and it may be told.
YamlShape TypeChecker::NoSuchPart(const YamlAccess& access,
                                  bool is_reporting,
                                  std::string message,
                                  std::string advice) {
  if (is_reporting) {
    Problem(access.where, std::move(message), std::move(advice));
  }
  return {};
}

YamlShape TypeChecker::Step(const YamlShape& from,
                            const PathSegment& segment,
                            const YamlAccess& access,
                            bool is_reporting) {
  const auto fail = [&](std::string message, std::string advice = {}) {
    return NoSuchPart(access, is_reporting, std::move(message), std::move(advice));
  };
  if (from.resource != nullptr || from.member != nullptr) {
    return StepIntoMember(from, segment, access, is_reporting);
  }
  if (from.type != nullptr) {
    return StepIntoType(*from.type, segment, access, is_reporting);
  }
  if (from.expr == nullptr) {
    return from;
  }
  const std::string* name = std::get_if<std::string>(&segment);
  if (from.expr->kind == YamlExpr::Kind::kMap) {
    if (name == nullptr) {
      return fail(
          fmt::format(
              "'{}' asks an object for the item [{}]", access.Text(), std::get<int>(segment)),
          "use the name of a member");
    }
    bool has_other_keys = false;
    std::vector<std::string> names;
    for (const auto& [key, value] : from.expr->entries) {
      const std::string* text = key->literal.as_string();
      if (text != nullptr && *text == *name) {
        return ShapeOf(*value);
      }
      has_other_keys = has_other_keys || text == nullptr;
      names.push_back(text == nullptr ? std::string() : *text);
    }
    return has_other_keys ? YamlShape()
                          : fail(fmt::format("'{}' has no member '{}'", access.root, *name),
                                 ExistingNames(*name, std::move(names)));
  }
  if (from.expr->kind == YamlExpr::Kind::kList) {
    if (name != nullptr) {
      return fail(fmt::format("'{}' asks a list for the member '{}'", access.Text(), *name),
                  "use the number of an item, as [0]");
    }
    const auto index = static_cast<std::size_t>(std::get<int>(segment));
    return index < from.expr->items.size()
               ? ShapeOf(*from.expr->items[index])
               : fail(fmt::format("'{}' has only {} items where [{}] is asked for",
                                  access.root,
                                  from.expr->items.size(),
                                  index));
  }
  return fail(fmt::format("'{}' asks for a part of {}",
                          access.Text(),
                          from.expr->is_null()             ? "null"
                          : from.expr->literal.is_string() ? "a string"
                                                           : "a plain value"));
}

YamlShape TypeChecker::StepIntoMember(const YamlShape& from,
                                      const PathSegment& segment,
                                      const YamlAccess& access,
                                      bool is_reporting) {
  YamlShape shape;
  const std::string* name = std::get_if<std::string>(&segment);
  if (name == nullptr || from.member == nullptr) {
    return shape;  // a number: told when the program runs
  }
  const bool is_provider = from.member->token.starts_with(kProviderTypePrefix);
  if (*name == "urn" || (*name == "id" && !from.member->is_component)) {  // Y72
    return ShapeOfKind(Kind::kString);
  }
  const SchemaObject& outputs = from.member->outputs.object;
  const auto output = outputs.properties.find(*name);
  if (output != outputs.properties.end()) {
    shape.type = output->second.type;
    return shape;
  }
  if (is_provider) {  // Y73: what a provider was given can be read
    const auto input = from.member->inputs.properties.find(*name);
    if (input != from.member->inputs.properties.end() || *name == "version") {
      shape.type = *name == "version" ? BasicShape(Kind::kString) : input->second.type;
      return shape;
    }
  }
  if (is_reporting) {
    std::vector<std::string> names = NamesOf(outputs);
    if (!from.member->is_component) {
      names.emplace_back("id");
    }
    names.emplace_back("urn");
    Problem(access.where,
            fmt::format("'{}' has no property '{}'", from.member->token, *name),
            ExistingNames(*name, std::move(names)));
  }
  return shape;
}

YamlShape TypeChecker::StepIntoType(const SchemaType& type,
                                    const PathSegment& segment,
                                    const YamlAccess& access,
                                    bool is_reporting) {
  const auto fail = [&](std::string message, std::string advice = {}) {
    return NoSuchPart(access, is_reporting, std::move(message), std::move(advice));
  };
  const std::string* name = std::get_if<std::string>(&segment);
  YamlShape shape;
  switch (type.kind) {
    case Kind::kAny:
      return shape;
    case Kind::kList:
      if (name != nullptr) {
        return fail(
            fmt::format("'{}' asks a {} for the member '{}'", access.Text(), type.Text(), *name),
            "use the number of an item, as [0]");
      }
      shape.type = type.element;
      return shape;
    case Kind::kMap:
    case Kind::kObject:
      if (name == nullptr) {
        return fail(fmt::format("'{}' asks {} for the item [{}]",
                                access.Text(),
                                type.Text(),
                                std::get<int>(segment)),
                    "use the name of a member");
      }
      if (type.kind == Kind::kObject) {
        const auto at = type.object.properties.find(*name);
        if (at == type.object.properties.end()) {
          return fail(fmt::format("'{}' has no property '{}'", type.token, *name),
                      ExistingNames(*name, NamesOf(type.object)));
        }
        shape.type = at->second.type;
      } else {
        shape.type = type.element;
      }
      return shape;
    case Kind::kUnion:  // every member must allow it
      for (const SchemaType* member : type.members) {
        StepIntoType(*member, segment, access, is_reporting);
      }
      return shape;
    case Kind::kResource:
      shape.member = packages_.Resource(type.token);
      return shape.member == nullptr ? shape : StepIntoMember(shape, segment, access, is_reporting);
    case Kind::kString:
    case Kind::kBoolean:
    case Kind::kInteger:
    case Kind::kNumber:
    case Kind::kEnum:
    case Kind::kAsset:
    case Kind::kArchive:
      return fail(
          fmt::format("'{}' asks for a part of a value of type {}", access.Text(), type.Text()));
  }
  return shape;
}

}  // namespace davit
