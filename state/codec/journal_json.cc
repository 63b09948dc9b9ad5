#include "state/codec/journal_json.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "state/codec/extension_json.h"

namespace davit {
namespace {

constexpr int kCurrentVersion = 3;

using IndexField = std::optional<std::int64_t> JournalEntry::*;
constexpr std::pair<std::string_view, IndexField> kIndexFields[] = {
    {"removeOld", &JournalEntry::remove_old},
    {"removeNew", &JournalEntry::remove_new},
    {"deleteOld", &JournalEntry::delete_old},
    {"deleteNew", &JournalEntry::delete_new},
    {"pendingReplacementOld", &JournalEntry::pending_replacement_old},
    {"pendingReplacementNew", &JournalEntry::pending_replacement_new},
};

std::optional<JournalKind> Kind(std::int64_t number) {
  for (const JournalKind kind : {JournalKind::kBegin,
                                 JournalKind::kSuccess,
                                 JournalKind::kFailure,
                                 JournalKind::kRefreshSuccess,
                                 JournalKind::kOutputs,
                                 JournalKind::kRebuiltBase,
                                 JournalKind::kExtension}) {
    if (static_cast<std::int64_t>(kind) == number) {
      return kind;
    }
  }
  return std::nullopt;
}

}  // namespace

std::int64_t ReadInteger(JsonReader& reader) {
  const double number = reader.Number();
  if (number != std::floor(number) || !(number >= 0 && number < 9e15)) {
    reader.SetError("expected a whole number");
    return 0;
  }
  return static_cast<std::int64_t>(number);
}

BaseIndex IndexRecords(const std::vector<StatePtr>& records) {
  BaseIndex index;
  for (const StatePtr& record : records) {
    index.emplace(record.get(), static_cast<std::int64_t>(index.size()));
  }
  return index;
}

void WriteJournalEntry(const JournalEntry& entry,
                       const BaseIndex& base,
                       PropertyWriting& writing,
                       std::string* out) {
  JsonObjectWriter object(out);
  *object.Key("kind") += fmt::format("{}", static_cast<int>(entry.kind));
  *object.Key("operationID") += fmt::format("{}", entry.operation_id);
  for (const auto& [name, field] : kIndexFields) {
    if (entry.*field) {
      *object.Key(name) += fmt::format("{}", *(entry.*field));
    }
  }
  if (entry.operation) {
    object.String("operation", OperationTypeName(*entry.operation));
  }
  object.TrueIf("isRefresh", entry.is_refresh);
  if (!entry.renamed_from.empty()) {
    object.String("renamedFrom", entry.renamed_from.text());
  }
  if (entry.kind == JournalKind::kExtension) {
    object.String("extensionRef", entry.extension_ref);
    WriteExtension(entry.extension, object.Key("extension"));
  }
  if (entry.state) {
    const auto known = base.find(entry.state.get());
    if (known != base.end()) {
      *object.Key("stateOfOld") += fmt::format("{}", known->second);
    } else {
      WriteResource(*entry.state, writing, object.Key("state"));
    }
  }
  object.End();
}

Result<JournalEntry> ReadJournalEntry(std::string_view text,
                                      const std::vector<StatePtr>& base,
                                      const PropertyReading& reading) {
  JsonReader reader(text, "an entry of the journal");
  JournalEntry entry;
  std::string key;
  reader.EnterObject();
  while (reader.NextMember(&key)) {
    if (key == "kind") {
      const std::optional<JournalKind> kind = Kind(ReadInteger(reader));
      if (!kind) {
        reader.SetError("unknown kind of entry");
        break;
      }
      entry.kind = *kind;
    } else if (key == "operationID") {
      entry.operation_id = ReadInteger(reader);
    } else if (key == "operation") {
      entry.operation = ParseOperationType(reader.String());
      if (!entry.operation) {
        reader.SetError("unknown operation");
      }
    } else if (key == "isRefresh") {
      entry.is_refresh = reader.Bool();
    } else if (key == "renamedFrom") {
      entry.renamed_from = Urn::Trusted(reader.String());
    } else if (key == "extensionRef") {
      entry.extension_ref = reader.String();
    } else if (key == "extension") {
      entry.extension = ReadExtension(reader);
    } else if (key == "stateOfOld") {
      const auto index = static_cast<std::size_t>(ReadInteger(reader));
      if (index >= base.size()) {
        reader.SetError("the entry names a record that is not there");
        break;
      }
      entry.state = base[index];
    } else if (key == "state") {
      entry.state = ReadResource(reader, kCurrentVersion, reading);
    } else {
      bool is_known = false;
      for (const auto& [name, field] : kIndexFields) {
        if (name == key) {
          entry.*field = ReadInteger(reader);
          is_known = true;
        }
      }
      if (!is_known) {
        reader.SetError(fmt::format("unknown member '{}'", key));
      }
    }
  }
  reader.ExpectEnd();
  DAVIT_TRY_VOID(reader.Finish());
  return entry;
}

}  // namespace davit
