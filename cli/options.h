#pragma once
// The command line as a table: what commands and flags exist, and what a given line says (C1-C11).
// Pure, any thread. Nothing is ignored in silence: an unknown flag is an error that names the
// nearest one, and a flag of the reference that davit does not carry out yet is refused by name.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace davit {

struct FlagSpec {
  enum class Kind {
    kBool,    ///< bare means true; `=false` is accepted
    kText,    ///< takes a value
    kList,    ///< takes a value, may be given several times; one CSV line in the environment
    kNumber,  ///< takes a whole number
  };
  enum class Support {
    kYes,
    kRefused,  ///< a flag of the reference that davit does not carry out yet
    kNoEffect  ///< what it asks for is what davit always does; accepted
  };
  std::string name;
  char short_name = 0;
  Kind kind = Kind::kBool;
  std::string value_name;  ///< in the help, for flags with a value
  std::string help;
  Support support = Support::kYes;
};

struct CommandSpec {
  std::string name;                  ///< `stack init`
  std::vector<std::string> aliases;  ///< whole names, as `update`
  std::string arguments;             ///< as the usage line shows them
  std::string summary;
  std::size_t min_arguments = 0;
  std::size_t max_arguments = 0;
  std::vector<FlagSpec> flags;  ///< without those that every command has
  bool is_group = false;        ///< only has subcommands; by itself it shows its help
  bool is_supported = true;     ///< false: a command of the reference that davit does not have yet
};

/// Every command, in the order of the help.
const std::vector<CommandSpec>& Commands();
/// Flags that every command accepts (C1).
const std::vector<FlagSpec>& GlobalFlags();

class Invocation {
 public:
  const CommandSpec* command = nullptr;  ///< null: no command, only help was asked for
  std::vector<std::string> arguments;
  bool wants_help = false;

  bool IsSet(const std::string& flag) const { return values_.contains(flag); }
  bool Bool(const std::string& flag) const;
  /// Empty when the flag is not set.
  std::string Text(const std::string& flag) const;
  std::vector<std::string> List(const std::string& flag) const;
  std::optional<long> Number(const std::string& flag) const;
  /// Names of the flags that are set.
  std::vector<std::string> FlagsSet() const;

  void Set(const std::string& flag, std::vector<std::string> values) {
    values_[flag] = std::move(values);
  }

 private:
  std::map<std::string, std::vector<std::string>> values_;
};

using Environment = std::map<std::string, std::string>;

/// Reads the words after the program's name. PULUMI_OPTION_<NAME> stands in for a flag that is not
/// given (C2).
Result<Invocation> ParseCommandLine(const std::vector<std::string>& words,
                                    const Environment& environment);

/// The text of `davit help` (null) or `davit COMMAND --help`.
std::string HelpText(const CommandSpec* command);

/// The candidate nearest to `word`, if one is near enough to be meant.
std::optional<std::string> NearestName(std::string_view word,
                                       const std::vector<std::string>& candidates);

}  // namespace davit
