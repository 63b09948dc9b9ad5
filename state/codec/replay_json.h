#pragma once
// A point in the middle of a run's replay as JSON, relative to the checkpoint that a fold made at
// that point (docs/JOURNAL.md, record `C`), both ways. One thread at a time.

#include <string>
#include <string_view>

#include "engine/model/journal_replay.h"
#include "state/codec/property_json.h"

namespace davit {

/// Appends what a reader needs beside the checkpoint; `folded` is the snapshot there. Records that
/// the checkpoint has as they are become numbers.
void WriteReplayPoint(const ReplayPoint& point,
                      const Snapshot& folded,
                      PropertyWriting& writing,
                      std::string* out);
/// `folded` is the snapshot that the checkpoint holds.
Result<ReplayPoint> ReadReplayPoint(std::string_view text,
                                    const Snapshot& folded,
                                    const PropertyReading& reading);

}  // namespace davit
