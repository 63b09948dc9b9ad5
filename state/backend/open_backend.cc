#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "state/backend/file_backend.h"

namespace davit {
namespace {

constexpr std::string_view kFileScheme = "file://";

struct FileUrl {
  std::string path;
  bool create_dir = false;
};

Result<FileUrl> ParseQuery(std::string_view rest) {
  FileUrl url;
  const std::size_t question = rest.find('?');
  url.path = std::string(rest.substr(0, question));
  std::string_view query =
      question == std::string_view::npos ? std::string_view() : rest.substr(question + 1);
  while (!query.empty()) {
    const std::string_view item = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), item.size() + 1));
    const std::string_view name = item.substr(0, item.find('='));
    if (name == "create_dir") {
      url.create_dir = !item.ends_with("=false");
    } else if (name != "no_tmp_dir" && name != "dir_file_mode" && name != "metadata") {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("the backend URL has the unknown parameter '{}'", name),
                  "file:// URLs take create_dir, no_tmp_dir, dir_file_mode and metadata");
    }
  }
  return url;
}

Result<std::string> AbsolutePath(const std::string& path) {
  std::filesystem::path expanded = path;
  if (path == "~" || path.starts_with("~/")) {
    const char* home = std::getenv("HOME");
    if (home == nullptr || *home == '\0') {
      return Fail(ErrorKind::kInvalid,
                  "the backend URL names the home folder, but HOME is not set",
                  "set HOME");
    }
    expanded = std::filesystem::path(home) / path.substr(std::min<std::size_t>(path.size(), 2));
  }
  std::error_code failure;
  std::string absolute = std::filesystem::absolute(expanded, failure).lexically_normal().string();
  if (failure || path.empty()) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("the backend URL 'file://{}' names no folder", path),
                "use file://~ or file:///some/folder");
  }
  while (absolute.size() > 1 && absolute.back() == '/') {
    absolute.pop_back();
  }
  return absolute;
}

}  // namespace

Result<std::unique_ptr<Backend>> OpenBackend(const std::string& url,
                                             bool create,
                                             const std::string& version,
                                             int crash_point) {
  if (!url.starts_with(kFileScheme)) {
    return Fail(ErrorKind::kUnimplemented,
                fmt::format("the backend '{}' is not supported: only file:// is, not '{}'",
                            url,
                            url.substr(0, url.find("://"))),
                "use a file:// URL in DAVIT_BACKEND_URL or PULUMI_BACKEND_URL");
  }
  DAVIT_TRY(const FileUrl parsed, ParseQuery(std::string_view(url).substr(kFileScheme.size())));
  DAVIT_TRY(std::string root, AbsolutePath(parsed.path));
  std::error_code failure;
  if (!create && !parsed.create_dir && !std::filesystem::is_directory(root, failure)) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("the folder '{}' of the backend does not exist", root),
                "create it, or add ?create_dir=true to the URL");
  }
  std::shared_ptr<FileLayer> files = SystemFiles();
  if (crash_point > 0) {
    auto left = std::make_shared<int>(crash_point);
    files = FilesWithPoints(std::move(files), [left] {
      if (--*left == 0) {
        ::kill(::getpid(), SIGKILL);
      }
    });
  }
  return MakeFileBackend(std::move(files), std::move(root), version);
}

}  // namespace davit
