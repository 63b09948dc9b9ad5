#include "host/plugin/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace davit {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockSize = 64 * 1024;

using Reader = std::unique_ptr<archive, int (*)(archive*)>;

Unexpected Damaged(const std::string& archive_path, const std::string& why) {
  return Fail(ErrorKind::kInvalid,
              fmt::format("the archive '{}' cannot be unpacked: {}", archive_path, why),
              "get it again");
}

bool LeavesFolder(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return normal.is_absolute() || (!normal.empty() && *normal.begin() == "..");
}

// What is wrong with an entry; empty when nothing is. A link may name only what is inside; nothing
// is written through it (the flags below), so its text alone decides.
std::string FaultOf(archive_entry* entry, const std::string& name) {
  const auto type = archive_entry_filetype(entry);
  if (LeavesFolder(name)) {
    return fmt::format("'{}' would stand outside of the folder", name);
  }
  if (archive_entry_hardlink(entry) != nullptr ||
      (type != AE_IFREG && type != AE_IFDIR && type != AE_IFLNK)) {
    return fmt::format("'{}' is neither file, folder nor link", name);
  }
  const char* target = archive_entry_symlink(entry);
  if (type == AE_IFLNK && (target == nullptr || fs::path(target).is_absolute() ||
                           LeavesFolder(fs::path(name).parent_path() / target))) {
    return fmt::format("the link '{}' points outside of the folder", name);
  }
  return {};
}

Result<void> CopyContent(archive* from, archive* to, const std::string& archive_path) {
  const void* block = nullptr;
  std::size_t size = 0;
  la_int64_t offset = 0;
  int read = ARCHIVE_OK;
  while ((read = archive_read_data_block(from, &block, &size, &offset)) == ARCHIVE_OK) {
    if (archive_write_data_block(to, block, size, offset) != ARCHIVE_OK) {
      return Damaged(archive_path, archive_error_string(to));
    }
  }
  return read == ARCHIVE_EOF ? Result<void>()
                             : Result<void>(Damaged(archive_path, archive_error_string(from)));
}

}  // namespace

Result<void> UnpackArchive(const std::string& archive_path, const std::string& folder) {
  std::error_code failure;
  const fs::path inside = fs::canonical(folder, failure);  // no link above counts as one of ours
  if (failure) {
    return Damaged(archive_path, fmt::format("'{}': {}", folder, failure.message()));
  }
  const Reader reader(archive_read_new(), archive_read_free);
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_format_tar(reader.get());
  if (archive_read_open_filename(reader.get(), archive_path.c_str(), kBlockSize) != ARCHIVE_OK) {
    return Damaged(archive_path, archive_error_string(reader.get()));
  }
  const Reader writer(archive_write_disk_new(), archive_write_free);
  archive_write_disk_set_options(
      writer.get(),
      ARCHIVE_EXTRACT_PERM | ARCHIVE_EXTRACT_SECURE_SYMLINKS | ARCHIVE_EXTRACT_SECURE_NODOTDOT);
  archive_entry* entry = nullptr;
  int read = ARCHIVE_OK;
  while ((read = archive_read_next_header(reader.get(), &entry)) == ARCHIVE_OK) {
    const char* path = archive_entry_pathname(entry);
    const std::string name = path == nullptr ? "" : path;
    const std::string fault = FaultOf(entry, name);
    if (!fault.empty()) {
      return Damaged(archive_path, fault);
    }
    const bool is_folder = archive_entry_filetype(entry) == AE_IFDIR;
    archive_entry_set_perm(entry, is_folder ? 0700 : archive_entry_perm(entry) & 0777U);
    archive_entry_set_pathname(entry, (inside / name).lexically_normal().c_str());
    if (archive_write_header(writer.get(), entry) != ARCHIVE_OK) {
      return Damaged(archive_path, archive_error_string(writer.get()));
    }
    DAVIT_TRY_VOID(CopyContent(reader.get(), writer.get(), archive_path));
    if (archive_write_finish_entry(writer.get()) != ARCHIVE_OK) {
      return Damaged(archive_path, archive_error_string(writer.get()));
    }
  }
  if (read != ARCHIVE_EOF) {
    return Damaged(archive_path, archive_error_string(reader.get()));
  }
  return {};
}

}  // namespace davit
