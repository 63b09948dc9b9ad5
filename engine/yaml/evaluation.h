#pragma once
// Runs a loaded YAML program against a Monitor (sections 5, 6, 10, 11, 13 of yaml.md). Engine
// thread.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/waiting.h"
#include "engine/yaml/packages.h"

namespace davit {

/// How long a text may become by interpolation or a function, bytes (Y66). Far above what any
/// provider takes; forty variables that hold each other twice would fill memory.
constexpr std::size_t kMaxText = std::size_t{128} << 20U;

/// A value with the resources that flow into it.
struct YamlValue {
  PropertyValue value;
  std::vector<Urn> dependencies;
};

/// A registered (or read) resource as expressions see it.
struct YamlResourceResult {
  Urn urn;
  PropertyValue id;  ///< null for components
  PropertyMap outputs;
  std::string name;
  std::string type;
  bool is_unknown = false;  ///< the create was elided: every member is unknown (Y179)
  bool is_stack_reference() const { return type == "pulumi:pulumi:StackReference"; }
  const SchemaMember* schema = nullptr;
};

/// What a node became; neither: it is poisoned, and so is all that uses it (Y133).
struct YamlNodeResult {
  std::optional<YamlValue> value;
  std::optional<YamlResourceResult> resource;
};

class YamlRun {
 public:
  YamlRun(const YamlProgram& program,
          FileReader read,
          std::string program_directory,
          Monitor& monitor,
          const RunInfo& info,
          CancelToken cancel)
      : program_(program),
        read_(std::move(read)),
        program_directory_(std::move(program_directory)),
        monitor_(monitor),
        info_(info),
        cancel_(std::move(cancel)),
        places_(std::max<long>(kMinPlaces, 2L * info.parallel)) {}

  /// Checks against the schemas, registers everything, and sends the outputs. Each cause of a
  /// failure is reported once.
  Task<Result<void>> Run();
  /// Registers an instance of a component of the program, with all that is in it (Y192). Absent when
  /// something was reported; Check comes before it.
  Task<std::optional<YamlResourceResult>> BuildComponent(const YamlComponent& component, Goal goal);
  bool has_failed() const { return failed_; }
  /// The checks alone. Errors are reported, warnings returned.
  Task<std::vector<Error>> Check();

 private:
  using Evaluated = std::optional<YamlValue>;

  // Schemas and checks (yaml_checks.cc).
  void CheckUndeclared(const YamlProgram& program, bool is_component);
  void CheckConfig();
  Task<void> CheckOptions(const YamlProgram& program);
  std::vector<Error> CheckTypes();

  // Components of the program itself (components_run.cc).
  /// What a run for an instance of a component has of its own.
  struct Instance {
    const YamlProgram* root = nullptr;  ///< of the components
    std::string prefix;                 ///< of the names of its resources (Y192)
    std::map<std::string, YamlValue> inputs;
  };
  Task<void> RunNodes();
  Task<PropertyMap> EvaluateOutputs();
  void AddFormerName(const YamlResource& resource, Goal* goal) const;
  /// Nothing is said of what is only tried (Y111).
  void Problem(const YamlPlace& where, std::string message, std::string advice = {});
  void Report(Error error);

  // Nodes.
  Task<void> RunNode(YamlNodeRef node);
  Task<void> EvaluateNode(YamlNodeRef node);
  Task<void> RunResource(std::size_t index);
  Task<std::optional<Goal>> GoalOf(const YamlResource& resource, const YamlPackages::Found& found);
  bool ApplySchema(const YamlResource& resource, const SchemaMember& member, Goal* goal);
  // Options (options_run.cc); false when something was reported.
  Task<bool> ApplyOption(const YamlOption& option, Goal* goal);
  bool SetReferences(const YamlOption& option, const PropertyValue& value, Goal* goal);
  bool SetFlag(const YamlOption& option, const PropertyValue& value, Goal* goal);
  bool SetText(const YamlOption& option, const PropertyValue& value, Goal* goal);
  bool SetMap(const YamlOption& option, const PropertyValue& value, Goal* goal);
  bool SetTextList(const YamlOption& option, const PropertyValue& value, Goal* goal);
  bool SetAliases(const YamlOption& option, const PropertyValue& value, Goal* goal);
  std::optional<AliasSpec> AliasOf(const SourceRange& where, const PropertyValue& value);
  bool WrongOption(const SourceRange& where,
                   const YamlOption& option,
                   const char* wanted,
                   std::string advice = {});
  Task<std::optional<YamlResourceResult>> ReadResource(const YamlResource& resource, Goal goal);
  // Reading (reading.cc).
  Task<bool> LookUpReferences(const PropertyMap& outputs);
  void AddLookedUp(const std::string& urn, const InvokeOutcome& found);
  Task<std::optional<YamlResourceResult>> ReadStack(const YamlResource& resource, Goal goal);
  Task<std::optional<YamlResourceResult>> SendRead(ReadGoal read);
  Task<void> ReadNamedStack(std::string stack);
  Task<Evaluated> StackOutput(YamlExprPtr expr);
  Evaluated OutputOfStack(const YamlPlace& where,
                          const YamlResourceResult& stack,
                          const std::string& name);
  Task<void> SendOutputs();
  Task<void> CheckRequiredVersion(YamlNodeRef node);
  void EvaluateConfig(const YamlConfig& config, YamlNodeResult* result);

  // Expressions.
  Task<Evaluated> Evaluate(YamlExprPtr expr);
  Task<Evaluated> EvaluateMap(YamlExprPtr expr);
  Task<Evaluated> EvaluateCall(YamlExprPtr expr);
  Task<Evaluated> Invoke(YamlExprPtr expr);
  Task<Evaluated> Try(YamlExprPtr expr);
  Task<Evaluated> Can(YamlExprPtr expr);
  Task<Evaluated> CallMethod(YamlExprPtr expr);
  bool TouchesSecret(const YamlExpr& expr) const;
  Evaluated ResultOf(const YamlExpr& call,
                     const std::string& token,
                     const SchemaMember* function,
                     PropertyMap result);
  bool HasFailed(const YamlExpr& call,
                 const std::string& token,
                 const std::vector<CheckFailure>& failures);
  void FailCall(const YamlExpr& call, const std::string& token, Error error);
  Evaluated Function(const YamlExpr& call, YamlValue argument);
  Evaluated Access(const YamlAccess& access);
  /// The full key of a configuration value that is named without its project.
  std::string ConfigKeyOf(const std::string& name) const;
  Evaluated AccessResource(const YamlAccess& access, const YamlResourceResult& resource);
  std::optional<PropertyValue> MemberOf(const YamlAccess& access,
                                        const YamlResourceResult& resource,
                                        const PathSegment& segment);
  Evaluated Walk(const YamlAccess& access, YamlValue root, std::size_t first);
  Evaluated PulumiValue(const YamlAccess& access);
  bool AppendText(const YamlAccess& access, const PropertyValue& value, std::string* text);

  const YamlProgram& program_;
  Instance instance_{&program_, {}, {}};
  FileReader read_;
  std::string program_directory_;
  Monitor& monitor_;
  const RunInfo& info_;
  CancelToken cancel_;
  std::shared_ptr<YamlPackages> packages_ = std::make_shared<YamlPackages>();
  /// In a component: types and names of its resources, by which a former name is taken.
  std::set<std::pair<std::string_view, std::string_view>> names_;
  std::map<YamlNodeRef, YamlNodeResult> results_;
  /// What references stand for: resources of this program, and others that were looked up (Y78).
  std::map<std::string, const YamlResourceResult*> by_urn_;
  std::map<std::string, YamlResourceResult> looked_up_;
  std::map<YamlNodeRef, Gate> done_;
  /// Resources that may be on their way at once: enough to keep all workers busy and their checks
  /// ahead of them, while a large program does not hold everything in flight.
  static constexpr long kMinPlaces = 256;
  Semaphore places_;
  /// Stacks that fn::stackReference names, each read once.
  struct StackRead {
    Gate done;
    std::optional<YamlResourceResult> result;
  };
  std::map<std::string, StackRead> stack_reads_;
  Urn stack_;
  bool failed_ = false;
};

/// Turns `value` into what a schema says it is (Y152) and fills in constants and defaults (Y88).
/// Absent when nothing changes; an error when a text is not the number or truth value that is
/// wanted.
Result<std::optional<PropertyValue>> Conformed(const PropertyValue& value, const SchemaType& type);
/// The same for the members of a map.
Result<std::optional<PropertyMap>> Conformed(const PropertyMap& map, const SchemaObject& object);

/// The packages that types and functions name, sorted, with the first version and URL given (Y89).
std::vector<PackageDescriptor> PackagesOf(const YamlProgram& program);

/// A configuration text as a value: by the declared type (Y34), or by its looks (Y33). Absent when
/// it does not fit the type.
std::optional<PropertyValue> ConfigValueOf(const std::string& text, const std::string& type);

/// What is wrong when the level that davit claims compatibility with is not in `range`, or `range`
/// is none (Y22); absent when all is well.
std::optional<Error> VersionProblem(const std::string& range);

/// Go's duration text in seconds (P82); absent when it is none.
std::optional<double> ParseTimeout(std::string_view text);

/// Compact JSON with sorted keys (Y110); absent for what JSON cannot say.
std::optional<std::string> JsonText(const PropertyValue& value);

/// Text of a number inside a string (Y65).
std::string NumberInText(double value);

}  // namespace davit
