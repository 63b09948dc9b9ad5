#include "cli/local_assets.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "engine/base/digest.h"
#include "state/secrets/secrets_manager.h"

namespace davit {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSkippedName = ".pulumi";
constexpr std::string_view kFileScheme = "file://";
constexpr int kMaxFolderDepth = 1000;

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? std::optional<int>(lower - 'a' + 10) : std::nullopt;
}

std::optional<std::string> PercentDecode(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      result += text[at];
      continue;
    }
    const std::optional<int> high = at + 2 < text.size() ? HexDigit(text[at + 1]) : std::nullopt;
    const std::optional<int> low = at + 2 < text.size() ? HexDigit(text[at + 2]) : std::nullopt;
    if (!high || !low) {
      return std::nullopt;
    }
    result += static_cast<char>(*high * 16 + *low);
    at += 2;
  }
  return result;
}

Unexpected CannotRead(const fs::path& path, const std::string& why) {
  return Fail(ErrorKind::kInvalid, fmt::format("cannot read \"{}\": {}", path.string(), why));
}

// Collects the files below a directory: entries sorted by name, folders in their place.
Result<void> Walk(const fs::path& directory,
                  const std::string& prefix,
                  int depth,
                  std::vector<std::string>* names) {
  if (depth > kMaxFolderDepth) {
    return CannotRead(directory, "folders are nested too deeply");
  }
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    entries.push_back(*entry);
  }
  if (error) {
    return CannotRead(directory, error.message());
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.path().filename().native() < b.path().filename().native();
  });
  for (const fs::directory_entry& found : entries) {
    const std::string name = found.path().filename().string();
    const bool is_link = found.is_symlink(error);
    const bool is_folder = found.is_directory(error);
    if (name == kSkippedName || (is_link && is_folder)) {
      continue;
    }
    if (is_folder) {
      DAVIT_TRY_VOID(Walk(found.path(), prefix + name + "/", depth + 1, names));
    } else {
      names->push_back(prefix + name);
    }
  }
  return {};
}

}  // namespace

Result<std::string> LocalAssets::ReadFile(const std::string& path) {
  const fs::path full = program_directory_ / path;
  std::error_code error;
  const fs::file_status status = fs::status(full, error);
  if (!fs::exists(status)) {
    return CannotRead(full, error ? error.message() : "no such file");
  }
  if (!fs::is_regular_file(status)) {
    return CannotRead(full, fs::is_directory(status) ? "it is a directory" : "it is not a file");
  }
  std::ifstream file(full, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad()) {
    return CannotRead(full, "permission denied or input error");
  }
  return bytes;
}

bool LocalAssets::IsDirectory(const std::string& path) {
  std::error_code error;
  return fs::is_directory(program_directory_ / path, error);
}

Result<std::vector<std::string>> LocalAssets::ListFiles(const std::string& path) {
  std::vector<std::string> names;
  DAVIT_TRY_VOID(Walk(program_directory_ / path, "", 0, &names));
  return names;
}

Result<std::string> LocalAssets::ReadUri(const std::string& uri) {
  const std::string_view text = uri;
  if (text.substr(0, kFileScheme.size()) != kFileScheme) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("cannot read \"{}\": only file:// URIs are supported", uri),
                "download the file and use its path");
  }
  const std::string_view rest = text.substr(kFileScheme.size());
  const std::size_t slash = rest.find('/');
  const std::string_view host = rest.substr(0, slash);
  if (slash == std::string_view::npos || !(host.empty() || host == "localhost")) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("cannot read \"{}\": the host of a file:// URI must be empty or "
                            "\"localhost\", and its path absolute",
                            uri));
  }
  const std::string_view encoded = rest.substr(slash);
  const std::optional<std::string> path =
      PercentDecode(encoded.substr(0, encoded.find_first_of("?#")));
  if (!path) {
    return Fail(ErrorKind::kInvalid, fmt::format("cannot read \"{}\": malformed escape", uri));
  }
  return ReadFile(*path);
}

std::string LocalAssets::Sha256Hex(const std::string& bytes) {
  return davit::Sha256Hex(bytes);
}

}  // namespace davit
