#include "state/codec/extension_json.h"
#include "state/codec/replay_json.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <utility>

#include "state/codec/journal_json.h"
#include "state/codec/resource_json.h"

namespace davit {
namespace {

constexpr int kRecordVersion = 3;

class PointWriter {
 public:
  PointWriter(const Snapshot& folded, PropertyWriting& writing, std::string* out)
      : folded_(folded), writing_(writing), out_(out) {}

  // `added` first, then `base`: the order of the checkpoint, which leaves out what is removed.
  void Records(const std::vector<StatePtr>& records) {
    *out_ += '[';
    bool first = true;
    for (const StatePtr& record : records) {
      *out_ += std::exchange(first, false) ? "" : ",";
      if (!record) {
        *out_ += "null";
        continue;
      }
      if (folded_.resources.at(next_) == record) {
        *out_ += fmt::format("{}", next_);
      } else {  // the checkpoint has it without references that dangle now, but may not later
        WriteResource(*record, writing_, out_);
      }
      ++next_;
    }
    *out_ += ']';
  }

 private:
  const Snapshot& folded_;
  PropertyWriting& writing_;
  std::string* out_;
  std::size_t next_ = 0;
};

class PointReader {
 public:
  PointReader(std::string_view text, const Snapshot& folded, const PropertyReading& reading)
      : reader_(text, "the point at which the journal goes on"),
        folded_(folded),
        reading_(reading) {}

  Result<ReplayPoint> Read() {
    std::string key;
    reader_.EnterObject();
    while (reader_.NextMember(&key)) {
      if (key == "added") {
        Records(&point_.added);
      } else if (key == "base") {
        Records(&point_.base);
      } else if (key == "operations") {
        Operations();
      } else if (key == "pending") {
        Pending();
      } else if (key == "refreshed") {
        point_.is_refreshed = reader_.Bool();
      } else if (key == "renamed") {
        Renamed();
      } else if (key == "extensions") {
        extensions_ = ReadExtensions(reader_);
      } else if (key == "parents") {
        reader_.Raw();  // earlier versions wrote it; nothing needs it
      } else {
        reader_.SetError(fmt::format("unknown member '{}'", key));
      }
    }
    reader_.ExpectEnd();
    DAVIT_TRY_VOID(reader_.Finish());
    point_.frame = folded_;
    point_.frame.resources.clear();
    point_.frame.pending_operations.clear();
    point_.frame.extensions.merge(extensions_);
    return std::move(point_);
  }

 private:
  void Records(std::vector<StatePtr>* records) {
    reader_.EnterArray();
    while (reader_.NextItem()) {
      switch (reader_.Peek()) {
        case JsonKind::kNull:
          reader_.Raw();
          records->push_back(nullptr);
          break;
        case JsonKind::kNumber:
          if (const std::size_t at = Index(folded_.resources.size()); !reader_.failed()) {
            records->push_back(folded_.resources[at]);
          }
          break;
        default:
          records->push_back(ReadResource(reader_, kRecordVersion, reading_));
      }
    }
  }

  std::size_t Index(std::size_t count) {
    const auto index = static_cast<std::size_t>(ReadInteger(reader_));
    if (index >= count) {
      reader_.SetError("the number names nothing in the checkpoint");
    }
    return index;
  }

  void Operations() {
    reader_.EnterArray();
    while (reader_.NextItem()) {
      reader_.EnterArray();
      std::vector<std::int64_t> pair;
      while (reader_.NextItem()) {
        pair.push_back(ReadInteger(reader_));
      }
      if (pair.size() != 2) {
        reader_.SetError("expected an operation and its place");
        return;
      }
      point_.by_operation[pair[0]] = static_cast<std::size_t>(pair[1]);
    }
  }

  // The checkpoint's pending operations begin with those of this run, in the order of their ids.
  void Pending() {
    std::size_t next = 0;
    reader_.EnterArray();
    while (reader_.NextItem()) {
      const std::int64_t id = ReadInteger(reader_);
      if (next >= folded_.pending_operations.size()) {
        reader_.SetError("the checkpoint has fewer pending operations");
        return;
      }
      point_.pending[id] = folded_.pending_operations[next++];
    }
    point_.carried.assign(folded_.pending_operations.begin() + static_cast<std::ptrdiff_t>(next),
                          folded_.pending_operations.end());
  }

  void Renamed() {
    std::string from;
    reader_.EnterObject();
    while (reader_.NextMember(&from)) {
      point_.renamed[Urn::Trusted(from)] = Urn::Trusted(reader_.String());
    }
  }

  JsonReader reader_;
  const Snapshot& folded_;
  const PropertyReading& reading_;
  ReplayPoint point_;
  std::map<std::string, Extension> extensions_;
};

}  // namespace

void WriteReplayPoint(const ReplayPoint& point,
                      const Snapshot& folded,
                      PropertyWriting& writing,
                      std::string* out) {
  JsonObjectWriter object(out);
  PointWriter records(folded, writing, out);
  object.Key("added");
  records.Records(point.added);
  object.Key("base");
  records.Records(point.base);
  std::string operations;
  for (const auto& [id, at] : point.by_operation) {
    operations += fmt::format("{}[{},{}]", operations.empty() ? "" : ",", id, at);
  }
  *object.Key("operations") += fmt::format("[{}]", operations);
  std::string pending;
  for (const auto& [id, operation] : point.pending) {
    pending += fmt::format("{}{}", pending.empty() ? "" : ",", id);
  }
  *object.Key("pending") += fmt::format("[{}]", pending);
  object.TrueIf("refreshed", point.is_refreshed);
  JsonObjectWriter renamed(object.Key("renamed"));
  for (const auto& [from, to] : std::map<Urn, Urn>(point.renamed.begin(), point.renamed.end())) {
    renamed.String(from.text(), to.text());
  }
  renamed.End();
  // Those that no record names yet are not in the checkpoint.
  JsonObjectWriter extensions(object.Key("extensions"));
  for (const auto& [reference, extension] : point.frame.extensions) {
    WriteExtension(extension, extensions.Key(reference));
  }
  extensions.End();
  object.End();
}

Result<ReplayPoint> ReadReplayPoint(std::string_view text,
                                    const Snapshot& folded,
                                    const PropertyReading& reading) {
  return PointReader(text, folded, reading).Read();
}

}  // namespace davit
