#pragma once
// What the tables of commands are made of, and the tables themselves. Only for command_table*.cc.

#include <string>
#include <utility>
#include <vector>

#include "cli/options.h"

namespace davit {
namespace flag_specs {

using Kind = FlagSpec::Kind;
using Support = FlagSpec::Support;
using Flags = std::vector<FlagSpec>;

inline FlagSpec Switch(std::string name, char short_name, std::string help) {
  return {std::move(name), short_name, Kind::kBool, "", std::move(help), Support::kYes};
}
inline FlagSpec Value(std::string name, char short_name, std::string value_name, std::string help) {
  return {std::move(name),
          short_name,
          Kind::kText,
          std::move(value_name),
          std::move(help),
          Support::kYes};
}
inline FlagSpec ListOf(std::string name,
                       char short_name,
                       std::string value_name,
                       std::string help) {
  return {std::move(name),
          short_name,
          Kind::kList,
          std::move(value_name),
          std::move(help),
          Support::kYes};
}
inline FlagSpec Refused(std::string name, Kind kind, char short_name = 0) {
  return {std::move(name), short_name, kind, "VALUE", "", Support::kRefused};
}
inline FlagSpec NoEffect(std::string name, Kind kind, std::string help) {
  return {std::move(name), 0, kind, "VALUE", std::move(help), Support::kNoEffect};
}

inline Flags Join(Flags first, const Flags& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

inline FlagSpec Stack() {
  return Value("stack", 's', "NAME", "the stack to use instead of the selected one");
}
inline FlagSpec ConfigFile() {
  return Value("config-file", 0, "FILE", "use this file instead of Pulumi.<stack>.yaml");
}
inline FlagSpec ShowSecrets() {
  return Switch("show-secrets", 0, "show secret values in clear");
}
inline FlagSpec Json() {
  return Switch("json", 'j', "print JSON");
}
inline FlagSpec Yes() {
  return Switch("yes", 'y', "approve without asking");
}

inline FlagSpec OutputOf(std::string values, std::string help) {
  return Value("output", 0, std::move(values), std::move(help));
}
// Only has subcommands.
inline CommandSpec Group(std::string name, std::string summary) {
  CommandSpec group;
  group.name = std::move(name);
  group.summary = std::move(summary);
  group.is_group = true;
  return group;
}

}  // namespace flag_specs

/// `stack`, `config` and `state` with what belongs to them.
std::vector<CommandSpec> StackCommands();
std::vector<CommandSpec> ConfigCommands();
std::vector<CommandSpec> StateCommands();
/// `plugin`, `package`, `provider`, `install`.
std::vector<CommandSpec> PluginCommands();

}  // namespace davit
