#include "cli/schema_store.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "cli/workspace/stack_file.h"
#include "engine/base/digest.h"

namespace davit {
namespace {

constexpr auto kKeptFor = std::chrono::hours(24 * 30);

bool IsScript(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return file.get() == '#' && file.get() == '!';
}

void DropUnused(const std::filesystem::path& folder) {
  const auto oldest = std::filesystem::file_time_type::clock::now() - kKeptFor;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored) && at->last_write_time(ignored) < oldest && !ignored) {
      std::filesystem::remove(at->path(), ignored);
    }
  }
}

}  // namespace

std::string DiskSchemas::FileOf(const PluginSpec& spec) const {
  const std::string home = PulumiHome(discovery_.environment);
  const Result<FoundPlugin> plugin = FindPlugin(discovery_, "resource", spec.name, spec.version);
  struct stat file {};
  if (home.empty() || !plugin || plugin->executable.empty() || IsScript(plugin->executable) ||
      stat(plugin->executable.c_str(), &file) != 0) {
    return {};
  }
  // A number before each text keeps two different lists from looking the same.
  std::string identity = fmt::format("{}:{} {} {} {} {}.{} {}.{}",
                                     plugin->executable.size(),
                                     plugin->executable,
                                     file.st_dev,
                                     file.st_ino,
                                     file.st_size,
                                     file.st_mtim.tv_sec,
                                     file.st_mtim.tv_nsec,
                                     file.st_ctim.tv_sec,
                                     file.st_ctim.tv_nsec);
  if (spec.parameterization) {
    identity += fmt::format(" {}:{} {}:{} {}",
                            spec.parameterization->name.size(),
                            spec.parameterization->name,
                            spec.parameterization->version.size(),
                            spec.parameterization->version,
                            spec.parameterization->value);
  }
  return fmt::format("{}/schemas/{}-{}.json", home, spec.name, Sha256Hex(identity).substr(0, 32));
}

bool DiskSchemas::Has(const PluginSpec& spec) const {
  const std::string path = FileOf(spec);
  std::error_code ignored;
  return !path.empty() && std::filesystem::exists(path, ignored);
}

std::optional<std::string> DiskSchemas::Find(const PluginSpec& spec) {
  const std::string path = FileOf(spec);
  if (path.empty()) {
    return std::nullopt;
  }
  Result<std::optional<std::string>> text = ReadFileIfThere(path);
  if (!text || !*text) {
    return std::nullopt;
  }
  std::error_code ignored;
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now(), ignored);  // it is in use
  return *std::move(text);
}

void DiskSchemas::Keep(const PluginSpec& spec, const std::string& schema) {
  const std::string path = FileOf(spec);
  if (path.empty()) {
    return;
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  DropUnused(folder);
  // Without the file the plugin is asked again next time.
  static_cast<void>(ReplaceFile(path, schema));
}

}  // namespace davit
