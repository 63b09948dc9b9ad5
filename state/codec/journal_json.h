#pragma once
// Entries of the journal as JSON (docs/JOURNAL.md), both ways. One thread at a time.

#include <cstdint>
#include <string>
#include <unordered_map>

#include "engine/model/journal_entry.h"
#include "state/codec/resource_json.h"

namespace davit {

/// Where each record of the base is, so that an entry about an unchanged one names it instead of
/// repeating it.
using BaseIndex = std::unordered_map<const ResourceState*, std::int64_t>;
BaseIndex IndexRecords(const std::vector<StatePtr>& records);

/// Appends the compact JSON of an entry.
void WriteJournalEntry(const JournalEntry& entry,
                       const BaseIndex& base,
                       PropertyWriting& writing,
                       std::string* out);
/// Takes a whole number that is not negative; another value is an error of the reader.
std::int64_t ReadInteger(JsonReader& reader);
/// Reads one entry; `base` are the records that it may name.
Result<JournalEntry> ReadJournalEntry(std::string_view text,
                                      const std::vector<StatePtr>& base,
                                      const PropertyReading& reading);

}  // namespace davit
