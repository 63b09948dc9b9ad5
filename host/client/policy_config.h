#pragma once
// Configuration of the policies of a pack: defaults, what the pack brings along, the user's file
// (P119). Pure.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/analyzer.h"
#include "pulumirpc/analyzer.pb.h"

namespace davit {

struct PolicySettings {
  std::optional<EnforcementLevel> level;
  google::protobuf::Struct properties;
};
/// By the name of the policy; `all` sets the level of each.
using PolicyConfig = std::map<std::string, PolicySettings>;

/// Reads a file of `--policy-pack-config`: an object from policies to a level, or to an object of
/// properties with `enforcementLevel` among them. Errors name the file.
Result<PolicyConfig> ParsePolicyConfig(const std::string& file, const std::string& text);
/// Defaults of the schemas, then what the pack brings along, then `given`. What the schemas do not
/// allow is an error that names policy and property.
Result<PolicyConfig> ReconcilePolicyConfig(const pulumirpc::AnalyzerInfo& info,
                                           const PolicyConfig& given);

}  // namespace davit
