#pragma once
// The configuration that a run gets: the stack file over the project's declarations, checked
// (S103-S105, Y39). Pure but for decryption.

#include <map>
#include <string>
#include <vector>

#include "cli/workspace/stack_file.h"
#include "engine/source.h"
#include "engine/yaml/yaml_source.h"

namespace davit {

struct EffectiveConfig {
  std::map<std::string, ConfigNode>
      values;  ///< by normal key, project values and defaults included
};

/// Fills in what the project declares with `value` or `default` (S103). Project keys are property
/// paths. A default that the project marks secret becomes secret for the program (Y39), which
/// Decrypted tells.
Result<EffectiveConfig> MergeConfig(const StackFile& file, const ProjectFile& project);

/// All faults at once: missing keys in one sentence, wrong types, values that must be encrypted
/// (S104, C67).
Result<void> ValidateConfig(const EffectiveConfig& config,
                            const StackFile& file,
                            const ProjectFile& project,
                            const std::string& stack,
                            const Decrypter& decrypt);

/// What programs and providers get (S105).
Result<std::map<std::string, ConfigValue>> Decrypted(const EffectiveConfig& config,
                                                     const StackFile& file,
                                                     const ProjectFile& project,
                                                     const Decrypter& decrypt);

/// `'a'`, `'a' and 'b'`, `'a', 'b' and 'c'` (C67).
std::string QuotedList(const std::vector<std::string>& names);

}  // namespace davit
