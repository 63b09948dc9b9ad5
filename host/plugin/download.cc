#include "host/plugin/download.h"

#include <fmt/format.h>
#include <regex.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "host/process/command.h"

namespace davit {
namespace {

constexpr int kAttempts = 5;
constexpr std::chrono::milliseconds kFirstDelay{80};
constexpr int kCannotResume = 33;  // curl: the server sends whole files only
constexpr int kKilled = 128;
constexpr int kNothingBehind = 416;
constexpr const char* kUsualSource = "github://api.github.com/pulumi";
constexpr const char* kUsualMirror = "https://get.pulumi.com/releases/plugins";

using Variables = std::map<std::string, std::string>;

std::string Value(const Variables& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// `$1` and `${1}` stand for what the groups have matched.
std::string WithGroups(std::string text,
                       const std::string& matched,
                       const std::array<regmatch_t, 10>& groups) {
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const regmatch_t& at = groups[group];
    const std::string value = at.rm_so < 0
                                  ? std::string()
                                  : matched.substr(static_cast<std::size_t>(at.rm_so),
                                                   static_cast<std::size_t>(at.rm_eo - at.rm_so));
    text = Replaced(
        Replaced(text, fmt::format("${{{}}}", group), value), fmt::format("${}", group), value);
  }
  return text;
}

// P16: `regexp=URL,...`; the first that matches replaces the URL, with its groups filled in.
Result<std::string> Overridden(const std::string& url, const Variables& environment) {
  const std::string list = Value(environment, "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES");
  std::size_t begin = 0;
  while (begin < list.size()) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string item = list.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos) {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES has '{}', which is not of the "
                              "form REGEXP=URL",
                              item));
    }
    regex_t expression;
    if (::regcomp(&expression, item.substr(0, equals).c_str(), REG_EXTENDED) != 0) {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES has '{}', which is no regular "
                              "expression",
                              item.substr(0, equals)));
    }
    std::array<regmatch_t, 10> groups{};
    const bool matches = ::regexec(&expression, url.c_str(), groups.size(), groups.data(), 0) == 0;
    ::regfree(&expression);
    if (matches) {
      return WithGroups(item.substr(equals + 1), url, groups);
    }
  }
  return url;
}

struct PluginSource {
  std::string scheme;
  std::string host;
  std::vector<std::string> path;
};

PluginSource Split(const std::string& url) {
  PluginSource source;
  const std::size_t colon = url.find("://");
  source.scheme = url.substr(0, colon);
  std::string rest = colon == std::string::npos ? std::string() : url.substr(colon + 3);
  source.host = rest.substr(0, rest.find('/'));
  for (std::size_t at = source.host.size(); at < rest.size();) {
    const std::size_t end = std::min(rest.find('/', at + 1), rest.size());
    if (end > at + 1) {
      source.path.push_back(rest.substr(at + 1, end - at - 1));
    }
    at = end;
  }
  return source;
}

// P15: the repository of a plugin that the URL does not name.
std::string UsualRepository(const PluginOrigin& origin) {
  const bool is_plain_converter = origin.name == "yaml" || origin.name == "hcl";
  if (origin.kind == "converter" && !is_plain_converter) {
    return "pulumi-converter-" + origin.name;
  }
  return (origin.kind == "tool" ? "pulumi-tool-" : "pulumi-") + origin.name;
}

std::vector<std::string> Credentials(const PluginSource& source, const Variables& environment) {
  const std::string github = Value(environment, "GITHUB_TOKEN");
  const std::string gitlab = Value(environment, "GITLAB_TOKEN");
  if (source.scheme == "github" && !github.empty()) {
    return {"Authorization: token " + github};
  }
  if (source.scheme == "gitlab" && !gitlab.empty()) {
    return {"Authorization: Bearer " + gitlab};
  }
  return {};
}

std::string ConfigText(const std::string& text) {
  return "\"" + Replaced(Replaced(text, "\\", "\\\\"), "\"", "\\\"") + "\"";
}

struct Fetched {
  int status = 0;  ///< of curl
  int http = 0;
  std::string content;
  std::string message;  ///< of curl
};

// curl reads what to do from its standard input, as everyone can see a command line.
Result<Fetched> Fetch(const DownloadPlace& place, const std::string& options) {
  Command curl;
  curl.words = {"curl", "--disable", "--config", "-"};
  curl.input = "url = " + ConfigText(place.url) + "\n";
  for (const std::string& header : place.headers) {
    curl.input += "header = " + ConfigText(header) + "\n";
  }
  curl.input += "silent\nshow-error\nfail\nlocation\nconnect-timeout = 30\n" +
                std::string("write-out = \"\\n%{http_code}\"\n") + options;
  Result<CommandEnd> end = RunCommand(curl);
  if (!end) {
    Error error = std::move(end).error().WithContext("plugins are downloaded by the program curl");
    error.advice = "install curl, or get the archive in another way and use --file";
    return Fail(std::move(error));
  }
  Fetched fetched;
  fetched.status = end->exit.signal != 0 ? kKilled : end->exit.code;
  const std::size_t line = end->output.rfind('\n');  // before the status, behind the content
  const std::size_t at = line == std::string::npos ? end->output.size() : line;
  fetched.http = std::atoi(end->output.c_str() + std::min(at + 1, end->output.size()));
  fetched.content = end->output.substr(0, at);
  fetched.message = end->errors.substr(0, end->errors.find_last_not_of('\n') + 1);
  return fetched;
}

bool IsRefused(int http) {
  return http == 401 || http == 403 || http == 404;
}

Unexpected NotFetched(const std::string& url, const Fetched& fetched) {
  constexpr int kCannotResolve = 6;
  constexpr int kCannotConnect = 7;
  constexpr int kTimedOut = 28;
  const bool no_network =
      fetched.http == 0 && (fetched.status == kCannotResolve || fetched.status == kCannotConnect ||
                            fetched.status == kTimedOut);
  return Fail(ErrorKind::kUnavailable,
              fetched.http == 404
                  ? fmt::format("there is no '{}'", url)
                  : fmt::format("'{}' cannot be downloaded: {}", url, fetched.message),
              no_network ? "without a network, get the archive in another way and use --file, or "
                           "name a mirror with --server or PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES"
                         : "check name, version and --server");
}

}  // namespace

std::string MachineName() {
  utsname names{};
  const std::string machine = ::uname(&names) == 0 ? names.machine : "";
  return machine == "x86_64" ? "amd64" : machine == "aarch64" ? "arm64" : machine;
}

std::string PluginAssetName(const PluginOrigin& origin) {
  return fmt::format(
      "pulumi-{}-{}-v{}-linux-{}.tar.gz", origin.kind, origin.name, origin.version, MachineName());
}

Result<std::vector<DownloadPlace>> PluginPlaces(const PluginOrigin& origin,
                                                const Variables& environment) {
  const std::string asset = PluginAssetName(origin);
  DAVIT_TRY(std::string url,
            Overridden(origin.server.empty() ? kUsualSource : origin.server, environment));
  std::vector<DownloadPlace> places;
  const PluginSource source = Split(url);
  if (source.scheme == "http" || source.scheme == "https") {
    url = Replaced(Replaced(url, "${NAME}", origin.name), "${VERSION}", origin.version);
    url = Replaced(Replaced(url, "${OS}", "linux"), "${ARCH}", MachineName());
    while (url.ends_with('/')) {
      url.pop_back();
    }
    places.push_back({url + "/" + asset, {}});
  } else if (source.scheme == "github" && !source.path.empty() && source.path.size() <= 2) {
    const std::string repository =
        source.path.size() == 2 ? source.path[1] : UsualRepository(origin);
    // The public address needs no credentials and has no limit of requests.
    const std::string web = source.host.starts_with("api.") ? source.host.substr(4) : source.host;
    places.push_back({fmt::format("https://{}/{}/{}/releases/download/v{}/{}",
                                  web,
                                  source.path[0],
                                  repository,
                                  origin.version,
                                  asset),
                      Credentials(source, environment)});
  } else if (source.scheme == "gitlab" && source.path.size() == 1) {
    places.push_back({fmt::format("https://{}/api/v4/projects/{}/releases/v{}/downloads/{}",
                                  source.host,
                                  source.path[0],
                                  origin.version,
                                  asset),
                      Credentials(source, environment)});
  } else {
    return Fail(ErrorKind::kUnimplemented,
                fmt::format("davit cannot download plugins from '{}'", url),
                "use an http(s)://, github:// or gitlab:// URL, or --file");
  }
  if (origin.server.empty()) {
    DAVIT_TRY(const std::string mirror, Overridden(kUsualMirror, environment));
    places.push_back({mirror + "/" + asset, {}});
  }
  return places;
}

Result<std::string> LatestPluginVersion(const PluginOrigin& origin, const Variables& environment) {
  DAVIT_TRY(const std::string url,
            Overridden(origin.server.empty() ? kUsualSource : origin.server, environment));
  const PluginSource source = Split(url);
  DownloadPlace place;
  place.headers = Credentials(source, environment);
  if (source.scheme == "github" && !source.path.empty()) {
    place.url = fmt::format("https://{}/repos/{}/{}/releases/latest",
                            source.host,
                            source.path[0],
                            source.path.size() > 1 ? source.path[1] : UsualRepository(origin));
  } else if (source.scheme == "gitlab" && source.path.size() == 1) {
    place.url = fmt::format(
        "https://{}/api/v4/projects/{}/releases/permalink/latest", source.host, source.path[0]);
  } else {
    return Fail(
        ErrorKind::kInvalid,
        fmt::format("'{}' cannot be asked for the newest version of '{}'", url, origin.name),
        "give a version");
  }
  DAVIT_TRY(const Fetched fetched, Fetch(place, ""));
  if (fetched.status != 0) {
    return NotFetched(place.url, fetched);
  }
  const nlohmann::json release = nlohmann::json::parse(fetched.content, nullptr, false);
  const auto named = release.is_object() ? release.find("tag_name") : release.end();
  const std::string tag =
      named != release.end() && named->is_string() ? named->get<std::string>() : std::string();
  if (tag.empty()) {
    return Fail(ErrorKind::kFailed,
                fmt::format("'{}' names no newest version of '{}'", place.url, origin.name),
                "give a version");
  }
  return tag.starts_with('v') ? tag.substr(1) : tag;
}

Result<void> Download(const std::vector<DownloadPlace>& places, const std::string& path) {
  std::error_code ignored;
  std::optional<Error> failure;
  for (DownloadPlace place : places) {
    auto delay = kFirstDelay;
    for (int attempt = 1; attempt <= kAttempts; ++attempt) {
      const std::string resume =
          std::filesystem::exists(path, ignored) ? "continue-at = \"-\"\n" : "";
      DAVIT_TRY(const Fetched fetched,
                Fetch(place, "output = " + ConfigText(path) + "\n" + resume));
      if (fetched.status == 0) {
        return {};
      }
      failure = NotFetched(place.url, fetched).error;
      if (fetched.status == kCannotResume || fetched.http == kNothingBehind) {
        std::filesystem::remove(path, ignored);  // what is there does not fit what is offered
        continue;
      }
      if (IsRefused(fetched.http) && !place.headers.empty()) {
        place.headers.clear();  // P16: perhaps only the credentials are not wanted
        continue;
      }
      if (IsRefused(fetched.http)) {
        break;
      }
      if (attempt < kAttempts) {
        std::this_thread::sleep_for(delay);
        delay *= 2;
      }
    }
  }
  return failure ? Result<void>(Fail(*failure)) : Result<void>();
}

}  // namespace davit
