#pragma once
// The canonical tar that archives are hashed by (P66). Pure, any thread.

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace davit {

/// Builds one uncompressed ustar archive in memory: regular files only, no times, no owners.
class TarWriter {
 public:
  /// Appends a file. A name that is already there is left out; an error when the name cannot be
  /// stored.
  Result<void> Add(std::string_view name, std::string_view bytes);
  /// The archive with its end mark. The writer is empty afterwards.
  std::string Finish();

 private:
  void AppendPadded(std::string_view bytes);

  std::set<std::string, std::less<>> names_;
  std::string bytes_;
};

}  // namespace davit
