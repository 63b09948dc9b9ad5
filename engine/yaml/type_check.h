#pragma once
// Checks of a program against the schemas of its packages (section 12 of yaml.md). Pure but for the
// schemas it looks up.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/yaml/packages.h"

namespace davit {

/// What is known of a value before the program runs: a schema type, or the expression that makes
/// it, or the resource that it is. All null: nothing is known, and nothing is checked (Y157).
struct YamlShape {
  const SchemaType* type = nullptr;
  const YamlExpr* expr = nullptr;
  const YamlResource* resource = nullptr;
  const SchemaMember* member = nullptr;  ///< of the resource, or of one that a schema refers to

  bool is_known() const {
    return type != nullptr || expr != nullptr || resource != nullptr || member != nullptr;
  }
};

class TypeChecker {
 public:
  using ReportSink = std::function<void(Error)>;
  TypeChecker(const YamlProgram& program,
              const YamlPackages& packages,
              ReportSink errors,
              ReportSink warnings)
      : program_(program),
        packages_(packages),
        errors_(std::move(errors)),
        warnings_(std::move(warnings)) {}

  /// Reports every type token that no package knows, and every property, argument and access that
  /// does not fit.
  void Run();

 private:
  void CheckResource(const YamlResource& resource);
  bool IsRefused(const YamlResource& resource);
  void CheckVersion(const YamlTokenUse& use, bool is_function);
  void CheckCall(const YamlExpr& call);
  /// The keys of `fn::invoke` and `fn::call` (Y112); false when they are wrong.
  bool CheckForm(const YamlExpr& call);
  void CheckMethod(const YamlExpr& call);
  void CheckReturn(const YamlExpr& call, const SchemaMember& function);
  void CheckAccess(const YamlAccess& access);
  /// A member of an object as written: its name if that is a literal, and its value.
  struct Field {
    std::optional<std::string> name;
    YamlExprPtr value;
    YamlPlace where;
  };
  static std::vector<Field> FieldsOf(const YamlExpr& map);
  /// `is_partial`: nothing is required.
  void CheckObject(const std::vector<Field>& fields,
                   const SchemaObject& object,
                   const std::string& title,
                   const YamlPlace& where,
                   bool is_partial);
  void Check(const YamlExpr& expr, const SchemaType& type, const std::string& path);
  void CheckShape(const YamlShape& shape,
                  const SchemaType& type,
                  const std::string& path,
                  const YamlPlace& where);
  void CheckUnion(const YamlExpr& expr, const SchemaType& type, const std::string& path);
  /// Whether `expr` can be of `type`, without a word.
  bool Fits(const YamlExpr& expr, const SchemaType& type);
  bool Assignable(const SchemaType& from, const SchemaType& to, int depth = 0) const;

  YamlShape ShapeOf(const YamlExpr& expr);
  YamlShape ShapeOf(const YamlAccess& access, bool is_reporting);
  YamlShape ShapeOfCall(const YamlExpr& call);
  YamlShape ShapeOfNode(const YamlNodeRef& node);
  /// One step of an access; reports what cannot be, and then nothing is known.
  YamlShape NoSuchPart(const YamlAccess& access,
                       bool is_reporting,
                       std::string message,
                       std::string advice);
  YamlShape Step(const YamlShape& from,
                 const PathSegment& segment,
                 const YamlAccess& access,
                 bool is_reporting);
  YamlShape StepIntoType(const SchemaType& type,
                         const PathSegment& segment,
                         const YamlAccess& access,
                         bool is_reporting);
  YamlShape StepIntoMember(const YamlShape& from,
                           const PathSegment& segment,
                           const YamlAccess& access,
                           bool is_reporting);

  void Problem(const YamlPlace& where, std::string message, std::string advice = {});
  void Warn(const YamlPlace& where, std::string message);
  void Wrong(const YamlPlace& where,
             const std::string& path,
             const SchemaType& type,
             const std::string& found);

  const YamlProgram& program_;
  const YamlPackages& packages_;
  ReportSink errors_;
  ReportSink warnings_;
  std::map<YamlNodeRef, YamlShape> shapes_;
  int silent_ = 0;
  bool has_failed_silently_ = false;
};

}  // namespace davit
