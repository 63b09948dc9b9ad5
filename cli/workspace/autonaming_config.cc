#include "cli/workspace/autonaming_config.h"

#include <fmt/format.h>

#include <functional>

#include "engine/base/tokens.h"
#include "state/codec/json_reader.h"

namespace davit {
namespace {

class NamingReader {
 public:
  NamingReader(const std::string& json, const RunInfo& info)
      : reader_(json, "the configuration 'pulumi:autonaming'"), info_(info) {}

  Result<Autonaming> Read() {
    Autonaming naming;
    naming.everywhere = Strategy("", [&](const std::string& key) {
      if (key != "providers") {
        return false;
      }
      Packages(&naming);
      return true;
    });
    reader_.ExpectEnd();
    DAVIT_TRY_VOID(reader_.Finish());
    return naming;
  }

 private:
  void Packages(Autonaming* naming) {
    std::string package;
    reader_.EnterObject();
    while (reader_.NextMember(&package)) {
      const std::string place = fmt::format("providers.{}", package);
      const NamingStrategy strategy = Strategy(place, [&](const std::string& key) {
        if (key != "resources") {
          return false;
        }
        Types(place, naming);
        return true;
      });
      if (!is_silent_) {
        naming->packages[package] = strategy;
      }
    }
  }

  void Types(const std::string& place, Autonaming* naming) {
    std::string type;
    reader_.EnterObject();
    while (reader_.NextMember(&type)) {
      naming->types[type] = Strategy(fmt::format("{}.resources.{}", place, type),
                                     [](const std::string&) { return false; });
    }
  }

  // `more` takes a further member if it knows it.
  NamingStrategy Strategy(const std::string& place,
                          const std::function<bool(const std::string&)>& more) {
    NamingStrategy strategy;
    std::optional<std::string> mode;
    std::optional<std::string> pattern;
    std::optional<bool> enforce;
    std::string key;
    reader_.EnterObject();
    while (reader_.NextMember(&key)) {
      if (key == "mode") {
        mode = reader_.String();
      } else if (key == "pattern") {
        pattern = reader_.String();
      } else if (key == "enforce") {
        enforce = reader_.Bool();
      } else if (!more(key)) {
        Wrong(place, fmt::format("has no member '{}'", key));
        reader_.Raw();
      }
    }
    if (mode && (pattern || enforce)) {
      Wrong(place, "may have 'mode', or 'pattern' and 'enforce', but not both");
    }
    static const std::map<std::string, NamingStrategy::Kind> kModes = {
        {"default", NamingStrategy::Kind::kDefault},
        {"verbatim", NamingStrategy::Kind::kVerbatim},
        {"disabled", NamingStrategy::Kind::kDisabled}};
    if (mode) {
      const auto kind = kModes.find(*mode);
      if (kind == kModes.end()) {
        Wrong(
            place,
            fmt::format("has the mode '{}'; the modes are default, verbatim and disabled", *mode));
      } else {
        strategy.kind = kind->second;
      }
    } else if (pattern && !pattern->empty()) {
      strategy.kind = NamingStrategy::Kind::kPattern;
      strategy.pattern = Filled(place, *pattern);
      strategy.enforce = enforce.value_or(false);
    }
    is_silent_ = !mode && !pattern && !enforce;
    return strategy;
  }

  std::string Filled(const std::string& place, const std::string& pattern) {
    return ReplaceTokens(pattern, [&](const std::string& token) { return Known(place, token); });
  }

  std::optional<std::string> Known(const std::string& place, const std::string& token) {
    constexpr std::string_view kConfig = "config.";
    if (token == "organization") {
      return info_.organization;
    }
    if (token == "project") {
      return info_.project;
    }
    if (token == "stack") {
      return info_.stack;
    }
    if (!token.starts_with(kConfig)) {
      return std::nullopt;
    }
    const std::string key = token.substr(kConfig.size());
    const auto value = info_.config.find(info_.project + ":" + key);
    if (value == info_.config.end() || value->second.is_secret) {
      Wrong(place,
            fmt::format("names the configuration value '{}', which is {}",
                        key,
                        value == info_.config.end() ? "not set" : "secret, as no name can be"));
      return std::nullopt;
    }
    return value->second.text;
  }

  void Wrong(const std::string& place, const std::string& what) {
    reader_.SetError(MakeError(
        ErrorKind::kInvalid,
        fmt::format("the configuration '{}' {}",
                    place.empty() ? "pulumi:autonaming" : "pulumi:autonaming." + place,
                    what),
        "correct it with `davit config set --path`, or remove it with `davit config rm`"));
  }

  JsonReader reader_;
  const RunInfo& info_;
  bool is_silent_ = false;  ///< the strategy that was read last says nothing of its own
};

}  // namespace

Result<Autonaming> ReadAutonaming(const RunInfo& info) {
  const auto value = info.config.find("pulumi:autonaming");
  if (value == info.config.end()) {
    return Autonaming();
  }
  return NamingReader(value->second.text, info).Read();
}

}  // namespace davit
