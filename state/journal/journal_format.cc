#include "state/journal/journal_format.h"

#include <array>

namespace davit {
namespace {

constexpr std::string_view kMagic = "DAVITJ1\n";
constexpr std::size_t kVersionAt = 6;  // in the magic
constexpr std::size_t kHashSize = 64;
constexpr std::size_t kWordSize = 4;
constexpr std::size_t kHeaderSize = kMagic.size() + kHashSize + kWordSize;
constexpr std::size_t kMaxRecordSize = std::size_t{1} << 30;

std::array<std::uint32_t, 256> MakeTable() {
  constexpr std::uint32_t kPolynomial = 0x82F63B78;  // reversed
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value & 1U) != 0 ? (value >> 1) ^ kPolynomial : value >> 1;
    }
    table[byte] = value;
  }
  return table;
}

void AppendWord(std::uint32_t word, std::string* out) {
  for (int byte = 0; byte < 4; ++byte) {
    *out += static_cast<char>((word >> (8 * byte)) & 0xFFU);
  }
}

std::uint32_t Word(std::string_view bytes) {
  std::uint32_t word = 0;
  for (std::size_t byte = 0; byte < kWordSize; ++byte) {
    word |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[byte])) << (8 * byte);
  }
  return word;
}

}  // namespace

std::uint32_t Crc32c(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> kTable = MakeTable();
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) {
    crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xFFU] ^ (crc >> 8);
  }
  return crc ^ 0xFFFFFFFF;
}

std::string EncodeHeader(const std::string& base_sha256, JournalBase base) {
  std::string header(kMagic);
  header[kVersionAt] = static_cast<char>(base);
  header += base_sha256;
  AppendWord(Crc32c(header), &header);
  return header;
}

void AppendRecord(RecordKind kind, std::string_view body, std::string* out) {
  AppendWord(static_cast<std::uint32_t>(body.size() + 1), out);
  const std::size_t checksum_at = out->size();
  out->append(kWordSize, '\0');
  *out += static_cast<char>(kind);
  *out += body;
  std::string checksum;
  AppendWord(Crc32c(std::string_view(*out).substr(checksum_at + kWordSize)), &checksum);
  out->replace(checksum_at, kWordSize, checksum);
}

Result<JournalImage> ReadJournalImage(std::string_view bytes) {
  JournalImage image;
  const std::size_t checked = kHeaderSize - kWordSize;
  std::string magic(bytes.substr(0, kMagic.size()));
  if (magic.size() == kMagic.size() &&
      magic[kVersionAt] == static_cast<char>(JournalBase::kDuringRun)) {
    image.base = JournalBase::kDuringRun;
    magic[kVersionAt] = kMagic[kVersionAt];
  }
  if (bytes.size() < kHeaderSize || magic != kMagic ||
      Word(bytes.substr(checked)) != Crc32c(bytes.substr(0, checked))) {
    return Fail(ErrorKind::kInvalid, "its header is damaged, or of another version of davit");
  }
  image.base_sha256 = std::string(bytes.substr(kMagic.size(), kHashSize));
  std::size_t at = kHeaderSize;
  while (bytes.size() - at > 2 * kWordSize) {
    const std::size_t size = Word(bytes.substr(at));
    const std::size_t begin = at + 2 * kWordSize;
    if (size == 0 || size > kMaxRecordSize || size > bytes.size() - begin) {
      break;
    }
    const std::string_view payload = bytes.substr(begin, size);
    if (Word(bytes.substr(at + kWordSize)) != Crc32c(payload)) {
      break;
    }
    const std::string_view body = payload.substr(1);
    if (payload[0] == static_cast<char>(RecordKind::kEntry)) {
      image.entries.push_back(body);
    } else if (payload[0] == static_cast<char>(RecordKind::kSecrets)) {
      const std::size_t line = body.find('\n');
      image.secrets_type = std::string(body.substr(0, line));
      image.secrets_state =
          line == std::string_view::npos ? std::string() : std::string(body.substr(line + 1));
    } else if (payload[0] == static_cast<char>(RecordKind::kCarried)) {
      image.carried = body;
    } else if (payload[0] == static_cast<char>(RecordKind::kFolded)) {
      image.folded_sha256 = std::string(body);
    } else {
      break;
    }
    at = begin + size;
  }
  if (image.carried.has_value() != (image.base == JournalBase::kDuringRun)) {
    return Fail(ErrorKind::kInvalid, "it does not say where the run stood when it was begun");
  }
  image.valid_size = at;
  image.discarded = bytes.substr(at).find_last_not_of('\0') + 1;
  return image;
}

}  // namespace davit
