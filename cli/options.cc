#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace davit {
namespace {

std::optional<bool> ParseBool(std::string_view text) {
  for (std::string_view word : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == word) {
      return true;
    }
  }
  for (std::string_view word : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == word) {
      return false;
    }
  }
  return std::nullopt;
}

std::optional<long> ParseNumber(std::string_view text) {
  long value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size() ? std::optional<long>(value)
                                                                 : std::nullopt;
}

// One line of comma-separated values, with double quotes around values that hold commas.
std::vector<std::string> SplitCsv(std::string_view line) {
  std::vector<std::string> values(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      values.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      values.emplace_back();
    } else {
      values.back() += c;
    }
  }
  return values;
}

std::string EnvironmentName(const FlagSpec& flag) {
  std::string name = "PULUMI_OPTION_";
  for (char c : flag.name) {
    name += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return name;
}

std::vector<const FlagSpec*> FlagsOf(const CommandSpec* command) {
  std::vector<const FlagSpec*> flags;
  if (command != nullptr) {
    for (const FlagSpec& flag : command->flags) {
      flags.push_back(&flag);
    }
  }
  for (const FlagSpec& flag : GlobalFlags()) {
    flags.push_back(&flag);
  }
  return flags;
}

std::string Shown(const FlagSpec& flag) {
  return flag.short_name != 0 ? fmt::format("-{}, --{}", flag.short_name, flag.name)
                              : "--" + flag.name;
}

const CommandSpec* FindCommand(std::string_view name) {
  for (const CommandSpec& command : Commands()) {
    if (command.name == name ||
        std::count(command.aliases.begin(), command.aliases.end(), name) > 0) {
      return &command;
    }
  }
  return nullptr;
}

bool IsGroup(std::string_view name) {
  const std::string prefix = std::string(name) + " ";
  return std::any_of(Commands().begin(), Commands().end(), [&](const CommandSpec& command) {
    return command.name.compare(0, prefix.size(), prefix) == 0;
  });
}

constexpr std::size_t kMaxCommandWords = 3;

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& words) : words_(words) {}

  Result<Invocation> Run(const Environment& environment) {
    DAVIT_TRY_VOID(FindCommandWords());
    DAVIT_TRY_VOID(ReadWords());
    if (invocation_.IsSet("help") && invocation_.Bool("help")) {
      invocation_.wants_help = true;
      return std::move(invocation_);
    }
    if (invocation_.command == nullptr || invocation_.command->is_group) {
      invocation_.wants_help = true;
      return std::move(invocation_);
    }
    if (!invocation_.command->is_supported) {
      return Fail(
          ErrorKind::kUnimplemented,
          fmt::format("davit does not have the command '{}' yet", invocation_.command->name),
          invocation_.command->summary);
    }
    DAVIT_TRY_VOID(ReadEnvironment(environment));
    DAVIT_TRY_VOID(CheckArguments());
    return std::move(invocation_);
  }

 private:
  // The command's words come first; flags may stand before and between them.
  Result<void> FindCommandWords() {
    std::vector<std::pair<std::size_t, std::string>> plain;
    for (std::size_t i = 0; i < words_.size() && plain.size() < kMaxCommandWords; ++i) {
      const std::string& word = words_[i];
      if (word == "--") {
        break;
      }
      if (word.size() < 2 || word[0] != '-') {
        plain.emplace_back(i, word);
      } else if (TakesNextWord(word, plain.empty() ? std::string() : plain[0].second)) {
        ++i;
      }
    }
    if (plain.empty()) {
      return {};
    }
    std::string name;
    for (const auto& [at, word] : plain) {
      const CommandSpec* longer = FindCommand(name + word);
      if (longer == nullptr) {
        break;
      }
      invocation_.command = longer;
      command_words_.push_back(at);
      name = longer->name + " ";
    }
    if (invocation_.command == nullptr) {
      return UnknownCommand(plain[0].second, "");
    }
    if (plain.size() > command_words_.size() && IsGroup(invocation_.command->name) &&
        invocation_.command->max_arguments == 0 && invocation_.command->is_supported) {
      return UnknownCommand(plain[command_words_.size()].second, name);
    }
    return {};
  }

  Result<void> UnknownCommand(const std::string& word, const std::string& group) {
    std::vector<std::string> names;
    for (const CommandSpec& command : Commands()) {
      std::vector<std::string> all = command.aliases;
      all.push_back(command.name);
      for (const std::string& name : all) {
        if (name.compare(0, group.size(), group) == 0 &&
            name.find(' ', group.size()) == std::string::npos) {
          names.push_back(name.substr(group.size()));
        }
      }
    }
    const std::optional<std::string> near = NearestName(word, names);
    return Fail(
        ErrorKind::kInvalid,
        fmt::format("unknown command '{}{}'", group, word),
        near ? fmt::format(
                   "did you mean 'davit {}{}'? `davit help` lists the commands", group, *near)
             : "`davit help` lists the commands");
  }

  // Whether a flag, met before the command is known for sure, is followed by its value.
  static bool TakesNextWord(const std::string& word, const std::string& command) {
    if (word.find('=') != std::string::npos) {
      return false;
    }
    const bool is_long = word.compare(0, 2, "--") == 0;
    const auto matches = [&](const FlagSpec& flag) {
      return flag.kind != FlagSpec::Kind::kBool &&
             (is_long ? word.compare(2, std::string::npos, flag.name) == 0
                      : word.size() == 2 && word[1] == flag.short_name);
    };
    if (std::any_of(GlobalFlags().begin(), GlobalFlags().end(), matches)) {
      return true;
    }
    return std::any_of(Commands().begin(), Commands().end(), [&](const CommandSpec& candidate) {
      const bool concerns =
          command.empty() || candidate.name.compare(0, command.size(), command) == 0 ||
          std::count(candidate.aliases.begin(), candidate.aliases.end(), command) > 0;
      return concerns && std::any_of(candidate.flags.begin(), candidate.flags.end(), matches);
    });
  }

  Result<void> ReadWords() {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::string& word = words_[i];
      if (std::count(command_words_.begin(), command_words_.end(), i) > 0) {
        continue;
      }
      if (word == "--") {
        invocation_.arguments.insert(
            invocation_.arguments.end(), words_.begin() + static_cast<long>(i) + 1, words_.end());
        return {};
      }
      if (word.size() < 2 || word[0] != '-') {
        invocation_.arguments.push_back(word);
      } else if (word[1] == '-') {
        DAVIT_TRY_VOID(ReadLong(word.substr(2), &i));
      } else {
        DAVIT_TRY_VOID(ReadShort(word.substr(1), &i));
      }
    }
    return {};
  }

  Result<void> ReadLong(const std::string& text, std::size_t* at) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const FlagSpec* flag =
        FindFlag([&](const FlagSpec& candidate) { return candidate.name == name; });
    if (flag == nullptr) {
      return UnknownFlag(name);
    }
    if (equals != std::string::npos) {
      return Store(*flag, text.substr(equals + 1));
    }
    return StoreNext(*flag, at);
  }

  Result<void> ReadShort(const std::string& letters, std::size_t* at) {
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const FlagSpec* flag =
          FindFlag([&](const FlagSpec& candidate) { return candidate.short_name == letters[i]; });
      if (flag == nullptr) {
        return Fail(ErrorKind::kInvalid, fmt::format("unknown flag -{}", letters[i]), HelpHint());
      }
      const std::string rest = letters.substr(i + 1);
      if (!rest.empty() && rest[0] == '=') {
        return Store(*flag, rest.substr(1));
      }
      if (flag->kind != FlagSpec::Kind::kBool) {
        return rest.empty() ? StoreNext(*flag, at) : Store(*flag, rest);
      }
      DAVIT_TRY_VOID(Store(*flag, "true"));
    }
    return {};
  }

  template <typename Predicate>
  const FlagSpec* FindFlag(Predicate predicate) const {
    for (const FlagSpec* flag : FlagsOf(invocation_.command)) {
      if (predicate(*flag)) {
        return flag;
      }
    }
    return nullptr;
  }

  Result<void> UnknownFlag(const std::string& name) {
    std::vector<std::string> names;
    for (const FlagSpec* flag : FlagsOf(invocation_.command)) {
      if (flag->support != FlagSpec::Support::kRefused) {
        names.push_back(flag->name);
      }
    }
    const std::optional<std::string> near = NearestName(name, names);
    return Fail(ErrorKind::kInvalid,
                fmt::format("unknown flag --{}", name),
                near ? fmt::format("did you mean --{}?", *near) : HelpHint());
  }

  std::string HelpHint() const {
    return invocation_.command == nullptr
               ? "`davit help` lists the commands"
               : fmt::format("`davit {} --help` lists its flags", invocation_.command->name);
  }

  Result<void> StoreNext(const FlagSpec& flag, std::size_t* at) {
    if (flag.kind == FlagSpec::Kind::kBool) {
      return Store(flag, "true");
    }
    if (*at + 1 >= words_.size()) {
      return Fail(ErrorKind::kInvalid, fmt::format("the flag {} needs a value", Shown(flag)));
    }
    return Store(flag, words_[++*at]);
  }

  Result<void> Store(const FlagSpec& flag, const std::string& value) {
    DAVIT_TRY_VOID(Check(flag, value, Shown(flag)));
    std::vector<std::string> values;
    if (flag.kind == FlagSpec::Kind::kList) {
      values = invocation_.List(flag.name);
    }
    values.push_back(value);
    invocation_.Set(flag.name, std::move(values));
    return {};
  }

  static Result<void> Check(const FlagSpec& flag,
                            const std::string& value,
                            const std::string& shown) {
    const bool is_bool = flag.kind == FlagSpec::Kind::kBool;
    if (is_bool && !ParseBool(value)) {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("'{}' is not a value for {}", value, shown),
                  "use true or false");
    }
    if (flag.kind == FlagSpec::Kind::kNumber && !ParseNumber(value)) {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("'{}' is not a value for {}", value, shown),
                  "use a whole number");
    }
    if (flag.support == FlagSpec::Support::kRefused && !(is_bool && !*ParseBool(value))) {
      return Fail(ErrorKind::kUnimplemented, fmt::format("davit does not support {} yet", shown));
    }
    return {};
  }

  Result<void> ReadEnvironment(const Environment& environment) {
    for (const FlagSpec* flag : FlagsOf(invocation_.command)) {
      const std::string name = EnvironmentName(*flag);
      const auto found = environment.find(name);
      if (found == environment.end() || found->second.empty() || invocation_.IsSet(flag->name)) {
        continue;
      }
      DAVIT_TRY_VOID(Check(*flag, found->second, name));
      invocation_.Set(flag->name,
                      flag->kind == FlagSpec::Kind::kList
                          ? SplitCsv(found->second)
                          : std::vector<std::string>{found->second});
    }
    return {};
  }

  Result<void> CheckArguments() const {
    const CommandSpec& command = *invocation_.command;
    const std::size_t count = invocation_.arguments.size();
    const std::string usage = fmt::format("usage: davit {} {}", command.name, command.arguments);
    if (count < command.min_arguments) {
      return Fail(
          ErrorKind::kInvalid, fmt::format("'davit {}' needs an argument", command.name), usage);
    }
    if (count > command.max_arguments) {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("'davit {}' does not take the argument '{}'",
                              command.name,
                              invocation_.arguments[command.max_arguments]),
                  usage);
    }
    return {};
  }

  const std::vector<std::string>& words_;
  std::vector<std::size_t> command_words_;
  Invocation invocation_;
};

std::string FlagLines(const std::vector<FlagSpec>& flags) {
  std::string out;
  for (const FlagSpec& flag : flags) {
    if (flag.support != FlagSpec::Support::kYes) {
      continue;
    }
    std::string left = flag.short_name != 0 ? fmt::format("-{}, --{}", flag.short_name, flag.name)
                                            : "    --" + flag.name;
    if (flag.kind != FlagSpec::Kind::kBool) {
      left += " " + flag.value_name;
    }
    out += fmt::format("  {:<30}  {}\n", left, flag.help);
  }
  return out;
}

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

bool Invocation::Bool(const std::string& flag) const {
  const auto found = values_.find(flag);
  return found != values_.end() && ParseBool(found->second.back()).value_or(false);
}

std::string Invocation::Text(const std::string& flag) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? std::string() : found->second.back();
}

std::vector<std::string> Invocation::List(const std::string& flag) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

std::optional<long> Invocation::Number(const std::string& flag) const {
  return IsSet(flag) ? ParseNumber(Text(flag)) : std::nullopt;
}

std::vector<std::string> Invocation::FlagsSet() const {
  std::vector<std::string> flags;
  for (const auto& [flag, values] : values_) {
    flags.push_back(flag);
  }
  return flags;
}

Result<Invocation> ParseCommandLine(const std::vector<std::string>& words,
                                    const Environment& environment) {
  return Parser(words).Run(environment);
}

std::string HelpText(const CommandSpec* command) {
  std::string out;
  if (command == nullptr) {
    out =
        "davit deploys infrastructure that a program describes.\n\nUsage: davit COMMAND "
        "[FLAGS]\n\nCommands:\n";
    for (const CommandSpec& each : Commands()) {
      if (each.is_supported) {
        out += fmt::format("  {:<16}  {}\n", each.name, each.summary);
      }
    }
    out += "\nFlags of every command:\n" + FlagLines(GlobalFlags());
    return out + "\n`davit COMMAND --help` explains a command.\n";
  }
  out = fmt::format("Usage: davit {}{}{} [FLAGS]\n\n",
                    command->name,
                    command->arguments.empty() ? "" : " ",
                    command->arguments);
  out +=
      command->is_supported ? command->summary + "\n" : "davit does not have this command yet.\n";
  if (!command->aliases.empty()) {
    out += fmt::format("\nAlso: {}\n", fmt::join(command->aliases, ", "));
  }
  if (command->is_group) {
    out += "\nCommands:\n";
    for (const CommandSpec& each : Commands()) {
      if (each.is_supported &&
          each.name.compare(0, command->name.size() + 1, command->name + " ") == 0) {
        out += fmt::format("  {:<16}  {}\n", each.name, each.summary);
      }
    }
  }
  if (!command->flags.empty()) {
    out += "\nFlags:\n" + FlagLines(command->flags);
  }
  return out + "\nFlags of every command:\n" + FlagLines(GlobalFlags());
}

std::optional<std::string> NearestName(std::string_view word,
                                       const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = EditDistance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace davit
