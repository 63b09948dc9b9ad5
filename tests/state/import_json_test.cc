// The file of `davit import -f` (C21).
#include "state/codec/import_json.h"

#include <catch2/catch.hpp>

#include "tests/state/state_fakes.h"

namespace davit::testing {
namespace {

Result<ImportFile> Read(const std::string& text) {
  SecretTexts texts;
  DocumentSecrets document(OpenerOf(std::make_shared<FakeManager>()));
  const PropertyReading reading{SecretsIn::kOpen, &texts, &document};
  return ReadImportFile(text, reading);
}

std::string Fault(const std::string& text) {
  const Result<ImportFile> read = Read(text);
  return read ? "no error" : read.error().message;
}

}  // namespace

TEST_CASE("[C21][E155] every member of an import file is read") {
  const Result<ImportFile> file = Read(R"({
    "nameTable": {"prov": "urn:pulumi:dev::p::pulumi:providers:t::p"},
    "resources": [
      {"type": "t:m:T", "name": "a", "logicalName": "b", "id": "1", "parent": "x", "provider": "prov",
       "version": "1.2.3", "pluginDownloadUrl": "https://example.com", "properties": ["one", "two"],
       "component": true, "remote": true, "inputs": {"v": 1}, "outputs": {"w": {"4dabf18193072939515e22adb298388d":
       "1b47061264138c4ac30d75fd1eb44270", "plaintext": "\"hush\""}},
       "parameterization": {"pluginName": "base", "pluginVersion": "2.0.0", "value": "AAE="}},
      {"type": "t:m:T", "name": "c"}]})");
  REQUIRE(file);
  CHECK(file->names.at("prov") == "urn:pulumi:dev::p::pulumi:providers:t::p");
  REQUIRE(file->entries.size() == 2);
  const ImportEntry& entry = file->entries[0];
  CHECK(entry.type == "t:m:T");
  CHECK(entry.name == "a");
  CHECK(entry.logical_name == "b");
  CHECK(entry.id == "1");
  CHECK(entry.parent == "x");
  CHECK(entry.provider == "prov");
  CHECK(entry.version == "1.2.3");
  CHECK(entry.download_url == "https://example.com");
  CHECK(entry.properties == std::vector<std::string>{"one", "two"});
  CHECK(entry.is_component);
  CHECK(entry.is_remote);
  CHECK(entry.inputs == PropertyMap{{"v", 1}});
  CHECK(entry.outputs == PropertyMap{{"w", MakeSecret("hush")}});
  REQUIRE(entry.parameterization);
  CHECK(entry.parameterization->plugin_name == "base");
  CHECK(entry.parameterization->plugin_version == "2.0.0");
  CHECK(entry.parameterization->value == std::string("\0\1", 2));
  CHECK_FALSE(file->entries[1].outputs);
  CHECK(Read("{}"));
}

TEST_CASE("[C21] what an import file may not have is named") {
  CHECK(Fault("[]").find("expected an object with 'resources'") != std::string::npos);
  CHECK(Fault(R"({"resource": []})").find("the member 'resource' is not known") !=
        std::string::npos);
  CHECK(Fault(R"({"resources": [{"tpye": "x"}]})").find("the member 'tpye' is not known") !=
        std::string::npos);
  CHECK(Fault(R"({"resources": [{"extension": {}}]})") ==
        "davit does not support 'extension' in an import file");
  CHECK(Fault(R"({"providerInputs": {}})") ==
        "davit does not support 'providerInputs' in an import file");
  CHECK(Fault(R"({"resources": [)").find("line 1") != std::string::npos);
  CHECK(Fault(R"({"resources": [{"parameterization": {"value": "?"}}]})").find("base64") !=
        std::string::npos);
}

}  // namespace davit::testing
