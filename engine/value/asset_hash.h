#pragma once
// Hashes of assets and archives (P64, P66). The content is read through a seam, so that this stays
// pure.

#include <functional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/value/property_value.h"

namespace davit {

/// What hashing needs from the world: file bytes, directory listings, URI bodies and SHA-256.
class AssetContent {
 public:
  virtual ~AssetContent() = default;
  /// Bytes of a file; an error for a directory or when it cannot be read. Relative paths resolve
  /// against the program directory.
  virtual Result<std::string> ReadFile(const std::string& path) = 0;
  virtual bool IsDirectory(const std::string& path) = 0;
  /// Member names relative to `path`, `/`-separated, in lexical order, by the rules of P65.
  virtual Result<std::vector<std::string>> ListFiles(const std::string& path) = 0;
  /// Body of a URI (`file://` at least; others may be refused with an error that says so).
  virtual Result<std::string> ReadUri(const std::string& uri) = 0;
  /// Lower-case hex SHA-256.
  virtual std::string Sha256Hex(const std::string& bytes) = 0;
};

/// The value with every asset and archive that has no hash given one, at any depth. An archive file
/// (a zip, say) inside another archive is refused: it would have to be unpacked.
Result<PropertyValue> WithHashes(const PropertyValue& value, AssetContent& content);

}  // namespace davit
