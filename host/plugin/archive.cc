#include "host/plugin/archive.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

namespace davit {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock = 512;

struct EntryHeader {
  std::string name;
  std::string link;
  std::uintmax_t size = 0;
  unsigned mode = 0;
  char type = '0';
};

// Where a path of the archive stands in the folder; empty when outside.
fs::path Inside(const fs::path& folder, const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  const bool leaves = normal.is_absolute() || (!normal.empty() && *normal.begin() == "..");
  return leaves ? fs::path() : folder / normal;
}

std::string TextAt(const char* field, std::size_t size) {
  return std::string(field, ::strnlen(field, size));
}

// Octal digits, or, with the highest bit set, a binary number.
std::uintmax_t NumberAt(const char* field, std::size_t size) {
  std::uintmax_t number = 0;
  if ((static_cast<unsigned char>(field[0]) & 0x80U) != 0) {
    for (std::size_t at = 1; at < size; ++at) {
      number = (number << 8U) | static_cast<unsigned char>(field[at]);
    }
    return number;
  }
  for (std::size_t at = 0; at < size && field[at] != '\0'; ++at) {
    if (field[at] >= '0' && field[at] <= '7') {
      number = number * 8 + static_cast<std::uintmax_t>(field[at] - '0');
    }
  }
  return number;
}

class Unpacker {
 public:
  Unpacker(const std::string& archive, const std::string& folder)
      : archive_(archive), folder_(folder), file_(::gzopen(archive.c_str(), "rb"), ::gzclose) {}

  Result<void> Run() {
    if (!file_) {
      return Damaged("it cannot be opened");
    }
    while (true) {
      DAVIT_TRY(const bool has_entry, ReadHeader());
      if (!has_entry) {
        return {};
      }
      DAVIT_TRY_VOID(ReadEntry());
      long_name_.clear();
      long_link_.clear();
    }
  }

 private:
  Unexpected Damaged(const std::string& why) const {
    return Fail(ErrorKind::kInvalid,
                fmt::format("the archive '{}' cannot be unpacked: {}", archive_, why));
  }

  Result<void> Read(char* bytes, std::size_t size) {
    const int got = ::gzread(file_.get(), bytes, static_cast<unsigned>(size));
    if (got < 0 || static_cast<std::size_t>(got) != size) {
      int code = Z_OK;
      const char* text = ::gzerror(file_.get(), &code);
      return Damaged(code == Z_OK ? "it ends early" : text);
    }
    return {};
  }

  Result<std::string> ReadContent(std::uintmax_t size) {
    constexpr std::uintmax_t kMaxText = 1U << 20U;  // of a name, or of extended headers
    if (size > kMaxText) {
      return Damaged("a header is too large");
    }
    std::string text(static_cast<std::size_t>((size + kBlock - 1) / kBlock * kBlock), '\0');
    DAVIT_TRY_VOID(Read(text.data(), text.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
  }

  // False at the end. Long names come in entries of their own, in front.
  Result<bool> ReadHeader() {
    while (true) {
      std::array<char, kBlock> block{};
      DAVIT_TRY_VOID(Read(block.data(), block.size()));
      if (block == std::array<char, kBlock>{}) {
        return false;
      }
      unsigned sum = 0;
      for (std::size_t at = 0; at < kBlock; ++at) {
        const bool is_sum = at >= 148 && at < 156;
        sum += is_sum ? static_cast<unsigned>(' ') : static_cast<unsigned char>(block[at]);
      }
      if (sum != NumberAt(&block[148], 8)) {
        return Damaged("it is no tar archive, or a header is damaged");
      }
      EntryHeader header;
      header.name = TextAt(&block[0], 100);
      header.mode = static_cast<unsigned>(NumberAt(&block[100], 8)) & 0777U;
      header.size = NumberAt(&block[124], 12);
      header.type = block[156];
      header.link = TextAt(&block[157], 100);
      const std::string prefix = TextAt(&block[345], 155);
      if (std::memcmp(&block[257], "ustar\0", 6) == 0 && !prefix.empty()) {
        header.name = prefix + "/" + header.name;
      }
      if (header.type == 'L' || header.type == 'K' || header.type == 'x' || header.type == 'g') {
        DAVIT_TRY(const std::string text, ReadContent(header.size));
        Remember(header.type, text);
        continue;
      }
      header_ = header;
      header_.name = long_name_.empty() ? header.name : long_name_;
      header_.link = long_link_.empty() ? header.link : long_link_;
      return true;
    }
  }

  void Remember(char type, const std::string& text) {
    if (type == 'L') {
      long_name_ = text.c_str();
    } else if (type == 'K') {
      long_link_ = text.c_str();
    } else if (type == 'x') {  // records `<size> <key>=<value>\n`
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = at + std::strtoul(&text[at], nullptr, 10);
        const std::size_t key = text.find(' ', at) + 1;
        const std::size_t equals = text.find('=', key);
        if (end <= at || end > text.size() || equals >= end) {
          return;
        }
        const std::string value = text.substr(equals + 1, end - equals - 2);
        const std::string name = text.substr(key, equals - key);
        (name == "path" ? long_name_ : name == "linkpath" ? long_link_ : ignored_) = value;
        at = end;
      }
    }
  }

  Result<void> ReadEntry() {
    const fs::path path = Inside(folder_, header_.name);
    if (path.empty()) {
      return Damaged(fmt::format("'{}' would stand outside of the folder", header_.name));
    }
    std::error_code failure;
    // What is written through a link of the archive stays inside, as every link points inside.
    fs::create_directories(header_.type == '5' ? path : path.parent_path(), failure);
    if (failure) {
      return Damaged(fmt::format("'{}' cannot be made: {}", path.string(), failure.message()));
    }
    switch (header_.type) {
      case '5':
        return {};
      case '2': {
        const fs::path parent = fs::path(header_.name).parent_path();
        if (fs::path(header_.link).is_absolute() ||
            Inside(folder_, parent / header_.link).empty()) {
          return Damaged(fmt::format("the link '{}' points outside of the folder", header_.name));
        }
        fs::create_symlink(header_.link, path, failure);
        return failure ? Result<void>(Damaged(failure.message())) : Result<void>();
      }
      case '0':
      case '\0':
        return ReadFile(path);
      default:
        return Damaged(fmt::format("'{}' is neither file, folder nor link", header_.name));
    }
  }

  Result<void> ReadFile(const fs::path& path) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    std::array<char, 64 * kBlock> buffer{};
    std::uintmax_t left = header_.size;
    while (left > 0) {
      const std::uintmax_t blocks =
          (std::min<std::uintmax_t>(left, buffer.size()) + kBlock - 1) / kBlock;
      DAVIT_TRY_VOID(Read(buffer.data(), static_cast<std::size_t>(blocks * kBlock)));
      const std::uintmax_t used = std::min<std::uintmax_t>(left, blocks * kBlock);
      out.write(buffer.data(), static_cast<std::streamsize>(used));
      left -= used;
    }
    out.close();
    if (!out || ::chmod(path.c_str(), header_.mode) != 0) {
      return Damaged(
          fmt::format("'{}' cannot be written: {}", path.string(), std::strerror(errno)));
    }
    return {};
  }

  const std::string& archive_;
  fs::path folder_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
  EntryHeader header_;
  std::string long_name_;
  std::string long_link_;
  std::string ignored_;
};

}  // namespace

Result<void> UnpackArchive(const std::string& archive, const std::string& folder) {
  return Unpacker(archive, folder).Run();
}

}  // namespace davit
