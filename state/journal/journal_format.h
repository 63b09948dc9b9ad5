#pragma once
// The bytes of a journal file (docs/JOURNAL.md): a header that names the checkpoint it applies to,
// then records, each with length and checksum. Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace davit {

/// What a record is about; the first byte of its payload.
enum class RecordKind : char {
  kEntry = 'E',    ///< an entry (codec/journal_json)
  kSecrets = 'S',  ///< the `secrets_providers` of this run: type, newline, state as JSON
  kCarried = 'C',  ///< where the run stood when the checkpoint was made (codec/replay_json)
  kFolded = 'F',   ///< SHA-256 of the checkpoint into which all records before it are being folded
};

/// CRC-32C (Castagnoli).
std::uint32_t Crc32c(std::string_view bytes);

/// What the checkpoint is that a journal applies to. The second form has a version of its own, so
/// that a program which does not know the record `C` refuses the file.
enum class JournalBase : char {
  kBeforeRun = '1',  ///< the state before the run
  kDuringRun = '2',  ///< what a fold in the middle of the run made; `C` is the first record but `S`
};

std::string EncodeHeader(const std::string& base_sha256,
                         JournalBase base = JournalBase::kBeforeRun);
void AppendRecord(RecordKind kind, std::string_view body, std::string* out);

/// A journal file taken apart. Views point into the bytes given.
struct JournalImage {
  std::string base_sha256;
  JournalBase base = JournalBase::kBeforeRun;
  std::optional<std::string_view> carried;
  std::optional<std::string> secrets_type;
  std::string secrets_state;
  std::vector<std::string_view> entries;
  std::optional<std::string> folded_sha256;
  std::size_t valid_size = 0;  ///< up to the end of the last record that checks
  std::size_t discarded = 0;   ///< bytes behind it that are part of a record
};
/// Reads up to the first record that does not check; zeros at the end are no record. A damaged header is an error: a journal gets
/// its name only when its header is on the disk.
Result<JournalImage> ReadJournalImage(std::string_view bytes);

}  // namespace davit
