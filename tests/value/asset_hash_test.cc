#include "engine/value/asset_hash.h"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>

#include "cli/local_assets.h"
#include "engine/value/tar_writer.h"
#include "state/secrets/secrets_manager.h"

namespace davit {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEmptyFile =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* kHello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
constexpr const char* kEmptyArchive =
    "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef";
constexpr const char* kFooArchive =
    "27ab4a14a617df10cff3e1cf4e30cf510302afe56bf4cc91f84041c9f7b62fd8";
constexpr const char* kFooEmptyArchive =
    "d2587a875f82cdf3d3e6cfe9f8c6e6032be5dde8c344466e664e628da15757b0";
constexpr const char* kTwoFilesArchive =
    "2a03253646ce4693e16b6e03194e1d849163f7f32fdcd00ed0fd7238a86b0c77";

Asset AssetOf(Asset::Source source, std::string content) {
  Asset asset;
  asset.source = source;
  asset.content = std::move(content);
  return asset;
}

Asset Text(std::string content) {
  return AssetOf(Asset::Source::kText, std::move(content));
}

Archive ArchiveOf(PropertyMap members) {
  Archive archive;
  archive.source = Archive::Source::kAssets;
  archive.assets = std::make_shared<const PropertyMap>(std::move(members));
  return archive;
}

Archive ArchiveAt(Archive::Source source, std::string location) {
  Archive archive;
  archive.source = source;
  archive.location = std::move(location);
  return archive;
}

// A directory of files that disappears with the object.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "davit-assets-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  const fs::path& path() const { return path_; }
  void Write(const std::string& name, const std::string& bytes) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }

 private:
  fs::path path_;
};

std::string HashIn(AssetContent& content, const PropertyValue& value) {
  const Result<PropertyValue> hashed = WithHashes(value, content);
  if (!hashed) {
    return hashed.error().message;
  }
  return hashed->as_asset() != nullptr ? hashed->as_asset()->hash : hashed->as_archive()->hash;
}

TEST_CASE("P64 asset hashes") {
  const Folder folder;
  folder.Write("hello.txt", "hello");
  folder.Write("with space", "hello");
  LocalAssets content(folder.path());
  CHECK(HashIn(content, Text("hello")) == kHello);
  CHECK(HashIn(content, Text("")) == kEmptyFile);
  CHECK(HashIn(content, AssetOf(Asset::Source::kPath, "hello.txt")) == kHello);
  const std::string full = folder.path().string();
  CHECK(HashIn(content, AssetOf(Asset::Source::kPath, full + "/hello.txt")) == kHello);
  CHECK(HashIn(content, AssetOf(Asset::Source::kUri, "file://" + full + "/hello.txt")) == kHello);
  CHECK(
      HashIn(content, AssetOf(Asset::Source::kUri, "file://localhost" + full + "/with%20space")) ==
      kHello);
}

TEST_CASE("P64 what cannot be hashed is an error") {
  const Folder folder;
  folder.Write("sub/file", "x");
  LocalAssets content(folder.path());
  const std::pair<PropertyValue, const char*> cases[] = {
      {AssetOf(Asset::Source::kPath, "sub"), "is a directory"},
      {AssetOf(Asset::Source::kPath, "absent"), "cannot read"},
      {AssetOf(Asset::Source::kPath, "/dev/null"), "not a file"},
      {AssetOf(Asset::Source::kUri, "https://host/x"), "only file:// URIs"},
      {AssetOf(Asset::Source::kUri, "file://elsewhere/x"), "host of a file:// URI"},
      {AssetOf(Asset::Source::kUri, "file:///x%2"), "malformed escape"},
      {ArchiveAt(Archive::Source::kPath, "sub/file"), "neither a directory nor an archive file"},
      {ArchiveAt(Archive::Source::kUri, "file:///x"), "of no known format"},
      {ArchiveOf({{"a", "text"}}), "neither asset nor archive"}};
  for (const auto& [value, message] : cases) {
    const Result<PropertyValue> hashed = WithHashes(PropertyMap{{"x", value}}, content);
    REQUIRE_FALSE(hashed);
    CHECK_THAT(hashed.error().message, Catch::Contains(message));
  }
}

TEST_CASE("P66 archive hashes: the four vectors") {
  LocalAssets content("/");
  CHECK(HashIn(content, ArchiveOf({})) == kEmptyArchive);
  CHECK(HashIn(content, ArchiveOf({{"foo", Text("a test asset")}})) == kFooArchive);
  CHECK(HashIn(content, ArchiveOf({{"foo", Text("")}})) == kFooEmptyArchive);
  CHECK(HashIn(content, ArchiveOf({{"file1", Text("hello")}, {"file2", Text("world")}})) ==
        kTwoFilesArchive);
}

TEST_CASE("P65 P66 directories hash like their members, archive files as they are") {
  const Folder folder;
  folder.Write("dir/file1", "hello");
  folder.Write("dir/file2", "world");
  folder.Write("packed.tgz", "hello");
  LocalAssets content(folder.path());
  CHECK(HashIn(content, ArchiveAt(Archive::Source::kPath, "dir")) == kTwoFilesArchive);
  CHECK(HashIn(content, ArchiveAt(Archive::Source::kPath, "dir/")) == kTwoFilesArchive);
  CHECK(HashIn(content, ArchiveAt(Archive::Source::kPath, "packed.tgz")) == kHello);
  CHECK(HashIn(content,
               ArchiveAt(Archive::Source::kUri,
                         "file://" + folder.path().string() + "/packed.tgz")) == kHello);
}

TEST_CASE("P66 nested archives are expanded in place, the first of equal names wins") {
  LocalAssets content("/");
  const std::string flat =
      HashIn(content, ArchiveOf({{"a/x", Text("1")}, {"a/y", Text("2")}, {"b", Text("3")}}));
  CHECK(HashIn(content,
               ArchiveOf({{"a", ArchiveOf({{"x", Text("1")}, {"y", Text("2")}})},
                          {"a/y", Text("ignored")},
                          {"b", Text("3")}})) == flat);
  const Folder folder;
  folder.Write("inner.zip", "zip");
  LocalAssets local(folder.path());
  CHECK_THAT(HashIn(local, ArchiveOf({{"a", ArchiveAt(Archive::Source::kPath, "inner.zip")}})),
             Catch::Contains("\"inner.zip\" cannot be a member of another archive"));
}

TEST_CASE("P65 directory walks: lexical, without .pulumi and links to directories") {
  const Folder folder;
  folder.Write("b.txt", "1");
  folder.Write("b/z", "2");
  folder.Write("b/.pulumi/secret", "3");
  folder.Write(".pulumi", "4");
  folder.Write("a", "5");
  folder.Write("target/t", "6");
  fs::create_directory_symlink(folder.path() / "target", folder.path() / "link-dir");
  fs::create_symlink(folder.path() / "a", folder.path() / "link-file");
  LocalAssets content(folder.path());
  CHECK(content.ListFiles(".").value() ==
        std::vector<std::string>{"a", "b/z", "b.txt", "link-file", "target/t"});
  CHECK_FALSE(content.ListFiles("absent"));
}

TEST_CASE("P64 hashes are computed at any depth, and only when absent") {
  LocalAssets content("/");
  Asset known = Text("hello");
  known.hash = "given";
  Asset placeholder;
  Output output;
  output.element = std::make_shared<const PropertyValue>(ArchiveOf({{"n", Text("hello")}}));
  const PropertyMap hashed = *WithHashes(PropertyMap{{"known", known},
                                                     {"none", placeholder},
                                                     {"list", PropertyList{Secret(Text("hello"))}},
                                                     {"output", output}},
                                         content)
                                  .value()
                                  .as_map();
  CHECK(hashed.at("known").as_asset()->hash == "given");
  CHECK(hashed.at("none").as_asset()->hash.empty());
  CHECK(hashed.at("list").as_list()->front().as_secret()->Reveal().as_asset()->hash == kHello);
  const Archive& archive = *hashed.at("output").as_output()->element->as_archive();
  CHECK_FALSE(archive.hash.empty());
  CHECK(archive.assets->at("n").as_asset()->hash == kHello);
  const PropertyValue untouched(PropertyMap{{"a", 1}});
  CHECK(WithHashes(untouched, content).value().as_map() == untouched.as_map());
}

std::string Field(const std::string& tar, std::size_t at, std::size_t width) {
  return tar.substr(at, width).c_str();
}

TEST_CASE("P66 members have plain ustar headers with sums") {
  TarWriter writer;
  REQUIRE(writer.Add("name", "hello"));
  REQUIRE(writer.Add("name", "again"));
  const std::string tar = writer.Finish();
  REQUIRE(tar.size() == 512 + 512 + 1024);
  CHECK(Field(tar, 0, 100) == "name");
  CHECK(tar.substr(100, 8) == std::string("0000600\0", 8));
  CHECK(tar.substr(108, 8) == std::string("0000000\0", 8));
  CHECK(tar.substr(124, 12) == std::string("00000000005\0", 12));
  CHECK(tar.substr(136, 12) == std::string("00000000000\0", 12));
  CHECK(tar[156] == '0');
  CHECK(tar.substr(257, 8) == std::string("ustar\0"
                                          "00",
                                          8));
  CHECK(tar.substr(154, 2) == std::string("\0 ", 2));
  CHECK(tar.substr(512, 5) == "hello");
  CHECK(tar.find_first_not_of('\0', 517) == std::string::npos);
}

TEST_CASE("P66 long names are split, others get an extended header") {
  const std::string folder(90, 'd');
  TarWriter writer;
  REQUIRE(writer.Add(folder + "/" + std::string(60, 'f'), ""));
  std::string tar = writer.Finish();
  CHECK(tar.size() == 512 + 1024);
  CHECK(Field(tar, 0, 100) == std::string(60, 'f'));
  CHECK(Field(tar, 345, 155) == folder);

  for (const std::string& name : {std::string(120, 'x'), std::string("d/gr\u00fcn")}) {
    REQUIRE(writer.Add(name, "abc"));
    tar = writer.Finish();
    REQUIRE(tar.size() == 4 * 512 + 1024);
    CHECK(tar[156] == 'x');
    CHECK(Field(tar, 0, 100).find("PaxHeaders.0/") != std::string::npos);
    const std::string record = Field(tar, 512, 512);
    CHECK(record == std::to_string(record.size()) + " path=" + name + "\n");
    CHECK(tar[1024 + 156] == '0');
    CHECK(tar.substr(1536, 3) == "abc");
  }
  CHECK_FALSE(writer.Add("", "x"));
  CHECK_FALSE(writer.Add(std::string("a\0b", 3), "x"));
}

}  // namespace
}  // namespace davit
