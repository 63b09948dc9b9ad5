#pragma once
// Unpacks the archives in which plugins come (P18). Blocking.

#include <string>

#include "engine/base/result.h"

namespace davit {

/// Unpacks a gzip'd tar into a folder that exists. Folders are for their owner only, files keep
/// their mode; a link must point inside. An entry that would leave the folder, or of another type,
/// is an error, as is an archive that ends early.
Result<void> UnpackArchive(const std::string& archive, const std::string& folder);

}  // namespace davit
