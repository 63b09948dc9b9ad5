#pragma once
// Seam: policy packs, which judge resources and may correct them (E109). Engine thread.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/cancel.h"
#include "engine/base/result.h"
#include "engine/base/task.h"
#include "engine/model/resource_state.h"

namespace davit {

/// What a violation means. The numbers are those on the wire.
enum class EnforcementLevel { kAdvisory = 0, kMandatory = 1, kDisabled = 2, kRemediate = 3 };
/// `advisory`, `mandatory`, `disabled`, `remediate`.
std::string_view EnforcementLevelName(EnforcementLevel level);
/// The level of a name; absent when there is none such.
std::optional<EnforcementLevel> ParseEnforcementLevel(std::string_view name);

/// What a policy looks at. Packs built with an old SDK do not say.
enum class PolicyKind { kUnknown, kResource, kStack };

struct Policy {
  std::string name;
  EnforcementLevel level = EnforcementLevel::kAdvisory;
  PolicyKind kind = PolicyKind::kUnknown;
};

struct PolicyPack {
  std::string name;
  std::string version;
  std::string path;              ///< where it was loaded from, as the user gave it
  std::vector<Policy> policies;  ///< by name
};

/// A resource as a policy sees it: with the inputs that Check gave, or, when a whole stack is
/// judged, with its outputs.
struct AnalyzedResource {
  StatePtr state;
  PropertyMap properties;
  std::optional<bool> delete_before_replace;
  StatePtr provider;  ///< null: it has none
};

struct PolicyViolation {
  std::string policy;
  std::string pack;
  std::string pack_version;
  std::string message;
  EnforcementLevel level = EnforcementLevel::kAdvisory;
  std::string severity;  ///< `low`, ... `critical`; empty when not said
  std::string urn;       ///< as the pack gave it; a stack policy need not name a resource
};

struct Analysis {
  std::vector<PolicyViolation> violations;
  std::vector<std::string> not_applicable;  ///< names of policies that did not judge
};

struct PolicyRemediation {
  std::string policy;
  std::string pack;
  std::string pack_version;
  PropertyMap properties;  ///< what the inputs are to be
  std::string diagnostic;  ///< not empty: nothing is changed, and this is why
};

struct Remediations {
  std::vector<PolicyRemediation> remediations;  ///< in order
  std::vector<std::string> not_applicable;
};

class Analyzer {
 public:
  virtual ~Analyzer() = default;
  virtual const PolicyPack& pack() const = 0;
  /// Lets the policies that correct do so. A pack that knows no such answers with none.
  virtual Task<Result<Remediations>> Remediate(AnalyzedResource resource, CancelToken cancel) = 0;
  virtual Task<Result<Analysis>> Analyze(AnalyzedResource resource, CancelToken cancel) = 0;
  virtual Task<Result<Analysis>> AnalyzeStack(std::vector<AnalyzedResource> resources,
                                              CancelToken cancel) = 0;
  /// Asks it to stop what it is doing (E35).
  virtual Task<void> Cancel() = 0;
};

}  // namespace davit
