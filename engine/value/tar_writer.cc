#include "engine/value/tar_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

namespace davit {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kMaxName = 100;
constexpr std::size_t kMaxPrefix = 155;
constexpr std::uint64_t kMaxSize = 077777777777;  // 11 octal digits

enum class EntryType : char { kFile = '0', kExtended = 'x' };

bool IsAscii(std::string_view text) {
  return std::all_of(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::string AsciiOf(std::string_view text) {
  std::string result;
  std::copy_if(text.begin(), text.end(), std::back_inserter(result), [](char c) {
    return static_cast<unsigned char>(c) < 0x80;
  });
  return result;
}

struct Split {
  std::string_view prefix;
  std::string_view name;
};

// Where a name goes in a plain ustar header; absent when it does not fit.
bool SplitName(std::string_view name, Split* split) {
  if (!IsAscii(name)) {
    return false;
  }
  if (name.size() <= kMaxName) {
    *split = {{}, name};
    return true;
  }
  const std::size_t slash = name.rfind('/', std::min(name.size() - 1, kMaxPrefix));
  if (slash == std::string_view::npos || slash == 0) {
    return false;
  }
  *split = {name.substr(0, slash), name.substr(slash + 1)};
  return !split->name.empty() && split->name.size() <= kMaxName;
}

class Header {
 public:
  Header() : block_(kBlock, '\0') {}

  void Put(std::size_t at, std::size_t width, std::string_view text) {
    block_.replace(at, std::min(width, text.size()), text.substr(0, width));
  }

  // Digits up to the NUL at the end of the field.
  void Octal(std::size_t at, std::size_t width, std::uint64_t value) {
    Put(at, width, fmt::format("{:0{}o}", value, width - 1));
  }

  // The sum of all bytes with the field itself taken as blanks.
  std::string Finish() {
    Put(148, 8, "        ");
    unsigned sum = 0;
    for (const char c : block_) {
      sum += static_cast<unsigned char>(c);
    }
    Put(148, 8, std::string_view(fmt::format("{:06o}", sum) + std::string("\0 ", 2)));
    return std::move(block_);
  }

 private:
  std::string block_;
};

void PutCommon(Header* header, EntryType type, unsigned mode, std::uint64_t size) {
  header->Octal(100, 8, mode);
  header->Octal(108, 8, 0);  // user id
  header->Octal(116, 8, 0);  // group id
  header->Octal(124, 12, size);
  header->Octal(136, 12, 0);  // time
  const char flag = static_cast<char>(type);
  header->Put(156, 1, std::string_view(&flag, 1));
  header->Put(257, 8, std::string_view("ustar\00000", 8));
}

std::string FileHeader(const Split& split, std::uint64_t size) {
  Header header;
  header.Put(0, kMaxName, split.name);
  PutCommon(&header, EntryType::kFile, 0600, size);
  header.Octal(329, 8, 0);  // device numbers
  header.Octal(337, 8, 0);
  header.Put(345, kMaxPrefix, split.prefix);
  return header.Finish();
}

// One record "<length> path=<name>\n", where the length counts itself.
std::string PathRecord(std::string_view name) {
  const std::size_t rest = name.size() + std::string_view(" path=\n").size();
  std::size_t length = rest + 1;
  while (fmt::formatted_size("{}", length) + rest != length) {
    length = fmt::formatted_size("{}", length) + rest;
  }
  return fmt::format("{} path={}\n", length, name);
}

// The name of the header that carries the record: `PaxHeaders.0` put before the last part.
std::string ExtendedName(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::string folder =
      slash == std::string_view::npos ? std::string() : std::string(name.substr(0, slash + 1));
  const std::string_view file = slash == std::string_view::npos ? name : name.substr(slash + 1);
  std::string result = AsciiOf(fmt::format("{}PaxHeaders.0/{}", folder, file));
  result.resize(std::min(result.size(), kMaxName));
  while (!result.empty() && result.back() == '/') {
    result.pop_back();
  }
  return result;
}

}  // namespace

Result<void> TarWriter::Add(std::string_view name, std::string_view bytes) {
  if (name.empty() || name.find('\0') != std::string_view::npos) {
    return Fail(ErrorKind::kInvalid, "an archive member without a usable name");
  }
  if (bytes.size() > kMaxSize) {
    return Fail(ErrorKind::kInvalid, fmt::format("archive member \"{}\" is too large", name));
  }
  if (!names_.insert(std::string(name)).second) {
    return {};
  }
  Split split;
  std::string short_name;
  if (!SplitName(name, &split)) {
    const std::string record = PathRecord(name);
    Header extended;
    extended.Put(0, kMaxName, ExtendedName(name));
    PutCommon(&extended, EntryType::kExtended, 0, record.size());
    bytes_ += extended.Finish();
    AppendPadded(record);
    short_name = AsciiOf(name);
    split = {{}, short_name};
  }
  bytes_ += FileHeader(split, bytes.size());
  AppendPadded(bytes);
  return {};
}

std::string TarWriter::Finish() {
  bytes_.append(2 * kBlock, '\0');
  names_.clear();
  return std::exchange(bytes_, {});
}

void TarWriter::AppendPadded(std::string_view bytes) {
  bytes_ += bytes;
  bytes_.resize((bytes_.size() + kBlock - 1) / kBlock * kBlock, '\0');
}

}  // namespace davit
