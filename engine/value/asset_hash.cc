#include "engine/value/asset_hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "engine/base/check.h"
#include "engine/value/tar_writer.h"

namespace davit {
namespace {

// Whether the name says that the file is an archive (P65).
bool IsArchiveName(std::string_view name) {
  static constexpr std::string_view kSuffixes[] = {".tar", ".tgz", ".tar.gz", ".zip", ".jar"};
  return std::any_of(std::begin(kSuffixes), std::end(kSuffixes), [&](std::string_view suffix) {
    return name.size() >= suffix.size() && name.substr(name.size() - suffix.size()) == suffix;
  });
}

bool IsArchiveUri(std::string_view uri) {
  return IsArchiveName(uri.substr(0, uri.find_first_of("?#")));
}

Result<std::string> BytesOf(const Asset& asset, AssetContent& content) {
  switch (asset.source) {
    case Asset::Source::kText:
      return asset.content;
    case Asset::Source::kPath:
      if (content.IsDirectory(asset.content)) {
        return Fail(ErrorKind::kInvalid,
                    fmt::format("asset \"{}\" is a directory", asset.content),
                    "use a file asset for one file and a file archive for a directory");
      }
      return content.ReadFile(asset.content);
    case Asset::Source::kUri:
      return content.ReadUri(asset.content);
    case Asset::Source::kNone:
      break;
  }
  return Fail(ErrorKind::kInvalid, "the content of an asset is not known");
}

// Appends the members of archives to one tar, nested archives in place.
class Packer {
 public:
  explicit Packer(AssetContent& content) : content_(content) {}

  std::string Finish() { return tar_.Finish(); }

  Result<void> AddArchive(const Archive& archive, const std::string& prefix, int depth) {
    if (depth > kMaxValueDepth) {
      return Fail(ErrorKind::kInvalid, "archives are nested too deeply");
    }
    switch (archive.source) {
      case Archive::Source::kAssets:
        return archive.assets != nullptr ? AddMembers(*archive.assets, prefix, depth)
                                         : Result<void>();
      case Archive::Source::kPath:
        return IsArchiveName(archive.location) ? Refuse(archive.location)
                                               : AddDirectory(archive.location, prefix);
      case Archive::Source::kUri:
        if (IsArchiveUri(archive.location)) {
          return Refuse(archive.location);
        }
        break;
      case Archive::Source::kNone:
        return Fail(ErrorKind::kInvalid, "the content of an archive is not known");
    }
    return Fail(ErrorKind::kInvalid,
                fmt::format("archive \"{}\" is of no known format", archive.location),
                "its name must end in .tar, .tgz, .tar.gz, .zip or .jar");
  }

 private:
  // Only a nested archive file comes here; an outer one is hashed as it is.
  static Unexpected Refuse(const std::string& name) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("archive file \"{}\" cannot be a member of another archive", name),
                "unpack it and use its directory, or add it as a file asset");
  }

  Result<void> AddMembers(const PropertyMap& members, const std::string& prefix, int depth) {
    for (const auto& [key, member] : members) {
      if (const Archive* archive = member.as_archive()) {
        DAVIT_TRY_VOID(AddArchive(*archive, prefix + key + "/", depth + 1));
      } else if (const Asset* asset = member.as_asset()) {
        DAVIT_TRY(const std::string bytes, BytesOf(*asset, content_));
        DAVIT_TRY_VOID(tar_.Add(prefix + key, bytes));
      } else {
        return Fail(ErrorKind::kInvalid,
                    fmt::format("archive member \"{}\" is neither asset nor archive", key));
      }
    }
    return {};
  }

  Result<void> AddDirectory(const std::string& path, const std::string& prefix) {
    if (!content_.IsDirectory(path)) {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("archive \"{}\" is neither a directory nor an archive file", path),
                  "the name of an archive file ends in .tar, .tgz, .tar.gz, .zip or .jar");
    }
    DAVIT_TRY(const std::vector<std::string> names, content_.ListFiles(path));
    for (const std::string& name : names) {
      const std::string member =
          (path.empty() || path.back() == '/') ? path + name : path + "/" + name;
      DAVIT_TRY(const std::string bytes, content_.ReadFile(member));
      DAVIT_TRY_VOID(tar_.Add(prefix + name, bytes));
    }
    return {};
  }

  AssetContent& content_;
  TarWriter tar_;
};

Result<std::string> HashOf(const Archive& archive, AssetContent& content) {
  // An archive file counts as it is; everything else is packed first.
  if (archive.source == Archive::Source::kPath && IsArchiveName(archive.location)) {
    DAVIT_TRY(const std::string bytes, content.ReadFile(archive.location));
    return content.Sha256Hex(bytes);
  }
  if (archive.source == Archive::Source::kUri && IsArchiveUri(archive.location)) {
    DAVIT_TRY(const std::string bytes, content.ReadUri(archive.location));
    return content.Sha256Hex(bytes);
  }
  Packer packer(content);
  DAVIT_TRY_VOID(packer.AddArchive(archive, "", 0));
  return content.Sha256Hex(packer.Finish());
}

bool HasAssets(const PropertyValue& value, int depth) {
  DAVIT_CHECK(depth <= kMaxValueDepth, "a property value is nested too deeply");
  switch (value.kind()) {
    case ValueKind::kAsset:
    case ValueKind::kArchive:
      return true;
    case ValueKind::kList:
      return std::any_of(value.as_list()->begin(),
                         value.as_list()->end(),
                         [&](const PropertyValue& item) { return HasAssets(item, depth + 1); });
    case ValueKind::kMap:
      return std::any_of(value.as_map()->begin(), value.as_map()->end(), [&](const auto& entry) {
        return HasAssets(entry.second, depth + 1);
      });
    case ValueKind::kSecret:
      return HasAssets(value.as_secret()->Reveal(), depth + 1);
    case ValueKind::kOutput:
      return value.as_output()->element != nullptr &&
             HasAssets(*value.as_output()->element, depth + 1);
    default:
      return false;
  }
}

// Rebuilds a value with hashes. The first error is kept, so that the frames of the walk stay small.
class Hasher {
 public:
  explicit Hasher(AssetContent& content) : content_(content) {}

  std::optional<Error>& error() { return error_; }

  PropertyValue Value(const PropertyValue& value, int depth) {
    DAVIT_CHECK(depth <= kMaxValueDepth, "a property value is nested too deeply");
    switch (value.kind()) {
      case ValueKind::kAsset:
        return AssetOf(*value.as_asset());
      case ValueKind::kArchive:
        return ArchiveOf(*value.as_archive(), depth);
      case ValueKind::kList: {
        PropertyList list;
        for (const PropertyValue& item : *value.as_list()) {
          list.push_back(Value(item, depth + 1));
        }
        return list;
      }
      case ValueKind::kMap:
        return Members(*value.as_map(), depth + 1);
      case ValueKind::kSecret:
        return Secret(Value(value.as_secret()->Reveal(), depth + 1));
      case ValueKind::kOutput: {
        Output output = *value.as_output();
        if (output.element != nullptr) {
          output.element = std::make_shared<const PropertyValue>(Value(*output.element, depth + 1));
        }
        return output;
      }
      default:
        return value;
    }
  }

 private:
  PropertyMap Members(const PropertyMap& map, int depth) {
    PropertyMap result;
    for (const auto& [key, item] : map) {
      result.emplace_hint(result.end(), key, Value(item, depth));
    }
    return result;
  }

  PropertyValue AssetOf(Asset asset) {
    if (asset.hash.empty() && asset.source != Asset::Source::kNone && !error_) {
      Result<std::string> bytes = BytesOf(asset, content_);
      if (bytes) {
        asset.hash = content_.Sha256Hex(*bytes);
      } else {
        error_ = std::move(bytes).error();
      }
    }
    return asset;
  }

  PropertyValue ArchiveOf(Archive archive, int depth) {
    if (archive.hash.empty() && archive.source != Archive::Source::kNone && !error_) {
      Result<std::string> hash = HashOf(archive, content_);
      if (hash) {
        archive.hash = *std::move(hash);
      } else {
        error_ = std::move(hash).error();
      }
    }
    if (archive.assets != nullptr && !error_) {
      archive.assets = std::make_shared<const PropertyMap>(Members(*archive.assets, depth + 1));
    }
    return archive;
  }

  AssetContent& content_;
  std::optional<Error> error_;
};

}  // namespace

Result<PropertyValue> WithHashes(const PropertyValue& value, AssetContent& content) {
  if (!HasAssets(value, 0)) {
    return value;
  }
  Hasher hasher(content);
  PropertyValue result = hasher.Value(value, 0);
  if (hasher.error()) {
    return Fail(*std::move(hasher.error()));
  }
  return result;
}

}  // namespace davit
