#include "engine/yaml/includes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/yaml/nearest.h"

namespace davit {
namespace {

bool MatchesPattern(std::string_view pattern, std::string_view path) {
  while (!pattern.empty() && pattern[0] != '*') {
    if (path.empty() || path[0] != pattern[0]) {
      return false;
    }
    pattern.remove_prefix(1);
    path.remove_prefix(1);
  }
  if (pattern.empty()) {
    return path.empty();
  }
  const bool crosses_folders = pattern.starts_with("**");
  std::string_view rest = pattern.substr(crosses_folders ? 2 : 1);
  if (crosses_folders && rest.starts_with('/') && MatchesPattern(rest.substr(1), path)) {
    return true;  // `**/` stands for no folder at all, too
  }
  for (std::size_t taken = 0; taken <= path.size(); ++taken) {
    if (MatchesPattern(rest, path.substr(taken))) {
      return true;
    }
    if (!crosses_folders && taken < path.size() && path[taken] == '/') {
      return false;
    }
  }
  return false;
}

class Includer {
 public:
  Includer(const std::string& directory,
           const FileReader& read,
           const FileLister& list,
           std::vector<Error>* errors)
      : directory_(directory), read_(read), list_(list), errors_(*errors) {}

  std::vector<std::shared_ptr<const YamlDocument>> Run(std::shared_ptr<const YamlDocument> main) {
    folder_ = main->file.substr(0, main->file.rfind('/') + 1);
    Add(std::move(main));
    return std::move(documents_);
  }

 private:
  void Fault(SourceRange where, std::string message, std::string advice = {}) {
    Error error = MakeError(ErrorKind::kInvalid, std::move(message), std::move(advice));
    error.where = std::move(where);
    errors_.push_back(std::move(error));
  }

  void Add(std::shared_ptr<const YamlDocument> document) {
    open_.push_back(document->file);
    seen_.insert(document->file);
    documents_.push_back(document);
    for (const YamlEntry& entry : document->root.entries) {
      if (!SameIgnoringCase(entry.key, "pulumi")) {
        continue;
      }
      for (const YamlEntry& item : entry.value.entries) {
        if (SameIgnoringCase(item.key, "include")) {
          Include(*document, item.value);
        }
      }
    }
    open_.pop_back();
  }

  void Include(const YamlDocument& document, const YamlNode& paths) {
    if (!paths.is_list()) {
      if (!paths.is_null()) {
        Fault(document.At(paths),
              fmt::format("'include' must be a list of paths, not {}", paths.KindName()));
      }
      return;
    }
    for (const YamlNode& path : paths.items) {
      if (!path.is_string() || path.text.empty() || path.text.starts_with('/')) {
        Fault(document.At(path), "'include' holds paths relative to the folder of the program");
      } else if (path.text.find('*') == std::string::npos) {
        IncludeFile(document, path, path.text);
      } else {
        IncludePattern(document, path);
      }
    }
  }

  void IncludePattern(const YamlDocument& document, const YamlNode& pattern) {
    std::vector<std::string> found;
    for (const std::string& path : list_ ? list_(directory_) : std::vector<std::string>()) {
      const std::string relative = path.substr(directory_.size() + 1);
      if (MatchesPattern(pattern.text, relative) && folder_ + relative != document.file) {
        found.push_back(relative);
      }
    }
    if (found.empty()) {
      Fault(document.At(pattern), fmt::format("no file matches '{}'", pattern.text));
    }
    std::ranges::sort(found);
    for (const std::string& path : found) {
      IncludeFile(document, pattern, path);
    }
  }

  void IncludeFile(const YamlDocument& document, const YamlNode& node, std::string path) {
    while (path.starts_with("./")) {
      path = path.substr(2);
    }
    const std::string shown = folder_ + path;
    const auto cycle = std::ranges::find(open_, shown);
    if (cycle != open_.end()) {
      std::string chain;
      for (auto at = cycle; at != open_.end(); ++at) {
        chain += *at + " -> ";
      }
      Fault(document.At(node), fmt::format("these files include each other: {}{}", chain, shown));
      return;
    }
    if (seen_.contains(shown)) {
      return;
    }
    Result<std::string> text = read_(directory_ + "/" + path);
    if (!text) {
      Fault(document.At(node), fmt::format("cannot read '{}': {}", path, text.error().message));
      return;
    }
    Add(std::make_shared<const YamlDocument>(ParseYaml(shown, *std::move(text))));
  }

  const std::string& directory_;
  std::string folder_;  ///< of the main file, as messages name it
  const FileReader& read_;
  const FileLister& list_;
  std::vector<Error>& errors_;
  std::vector<std::shared_ptr<const YamlDocument>> documents_;
  std::vector<std::string> open_;  ///< the files that led here
  std::set<std::string> seen_;
};

}  // namespace

std::vector<std::shared_ptr<const YamlDocument>> WithIncludes(
    std::shared_ptr<const YamlDocument> main,
    const std::string& directory,
    const FileReader& read,
    const FileLister& list,
    std::vector<Error>* errors) {
  return Includer(directory, read, list, errors).Run(std::move(main));
}

}  // namespace davit
