// Records, times and migration (S14, S22-S34).
#include <catch2/catch.hpp>

#include "state/codec/time_text.h"
#include "tests/state/state_fakes.h"

namespace davit::testing {
namespace {

struct Written {
  std::string json;
  std::set<std::string> features;
};

Written Write(const ResourceState& state) {
  SecretTexts texts;
  FakeManager manager;
  PropertyWriting writing;
  writing.texts = &texts;
  writing.manager = &manager;
  Written written;
  WriteResource(state, writing, &written.json);
  written.features = writing.features;
  return written;
}

ResourceState Read(const std::string& json, int version = 3) {
  SecretTexts texts;
  DocumentSecrets document(NoPassphrase());
  PropertyReading reading{SecretsIn::kOpen, &texts, &document};
  JsonReader reader(json);
  const std::shared_ptr<ResourceState> state = ReadResource(reader, version, reading);
  INFO(json);
  REQUIRE_FALSE(reader.failed());
  return *state;
}

const std::string kEveryKey =
    R"({"urn":"urn:pulumi:dev::proj::a:b:C::x","custom":true,"delete":true,"id":"x-1","type":"a:b:C","inputs":{"i":1},)"
    R"("outputs":{"o":"2"},"parent":"urn:p","protect":true,"taint":true,"external":true,"dependencies":["urn:d"],)"
    R"("initErrors":["e"],"provider":"urn:prov::id","propertyDependencies":{"i":["urn:d"],"j":[],"k":null},)"
    R"("pendingReplacement":true,"additionalSecretOutputs":["o"],"aliases":["urn:old"],)"
    R"("customTimeouts":{"create":300,"update":1.5,"delete":2,"read":3},"importID":"imp","retainOnDelete":true,)"
    R"("deletedWith":"urn:dw","replaceWith":["urn:rw"],"created":"2026-11-30T02:57:57.93Z",)"
    R"("modified":"2026-11-30T02:57:58Z","sourcePosition":"project:///x#1","stackTrace":[{"sourcePosition":"s"},{}],)"
    R"("ignoreChanges":["a.b"],"hideDiff":["a[0].*","b c"],"replaceOnChanges":["c"],"replacementTrigger":false,)"
    R"("refreshBeforeUpdate":true,"viewOf":"urn:v","resourceHooks":{"AfterCreate":["h2"],"BeforeCreate":["h1"]},)"
    R"("extensionRef":"ext","snippetID":"snip","zzz":{"new":[1,2.50]}})";

}  // namespace

TEST_CASE("[S30] [E1] every key is read, kept and written in order; [S11] unknown keys ride along") {
  const ResourceState state = Read(kEveryKey);
  CHECK(state.hide_diff.size() == 2);
  CHECK(state.custom_timeouts.update == 1.5);
  CHECK(state.replacement_trigger == PropertyValue(false));
  CHECK(state.unknown_keys.at("zzz") == R"({"new":[1,2.50]})");
  const Written written = Write(state);
  CHECK(written.json == kEveryKey);
  CHECK(written.features == std::set<std::string>{"extensionParameterization",
                                                  "hooks",
                                                  "refreshBeforeUpdate",
                                                  "replaceWith",
                                                  "snippets-prototype",
                                                  "taint",
                                                  "views"});
}

TEST_CASE("[S30] hidden paths written as lists of keys become text") {
  const ResourceState state =
      Read(R"({"urn":"urn:x","custom":false,"type":"t","hideDiff":[["a",0,"*"],["b"]]})");
  CHECK(state.hide_diff == std::vector<std::string>{"a[0][*]", "b"});
}

TEST_CASE("[S30] what is empty is left out, but urn, custom and type") {
  CHECK(Write(ResourceState()).json == R"({"urn":"","custom":false,"type":""})");
  CHECK(Write(ResourceState()).features.empty());
}

TEST_CASE("[S28] null stands for every empty thing") {
  const ResourceState state = Read(
      R"({"urn":"u","custom":null,"type":"t","id":null,"inputs":null,"outputs":null,"parent":null,"dependencies":null,)"
      R"("initErrors":null,"provider":null,"propertyDependencies":{"length":null},"aliases":null,"customTimeouts":null,)"
      R"("created":null,"stackTrace":null,"hideDiff":null,"replacementTrigger":null,"resourceHooks":null})");
  CHECK(Write(state).json ==
        R"({"urn":"u","custom":false,"type":"t","propertyDependencies":{"length":null}})");
}

TEST_CASE("a record of another shape is an error") {
  for (const char* bad : {R"({"urn":5})",
                          R"({"inputs":[]})",
                          R"({"dependencies":{}})",
                          R"({"created":"yesterday"})",
                          "[]"}) {
    SecretTexts texts;
    DocumentSecrets document(NoPassphrase());
    PropertyReading reading{SecretsIn::kOpen, &texts, &document};
    JsonReader reader(bad);
    ReadResource(reader, 3, reading);
    INFO(bad);
    CHECK(reader.failed());
  }
}

TEST_CASE("[S31] version 1 and 2 fill propertyDependencies from dependencies") {
  const std::string json =
      R"({"urn":"u","custom":true,"type":"t","inputs":{"a":1,"b":2},"dependencies":)";
  const auto migrated = [&](const std::string& dependencies, int version) {
    const std::string text =
        Write(Read(json + dependencies + R"(,"defaults":{},"provider":""})", version)).json;
    return text.substr(text.find("\"inputs\""));
  };
  CHECK(
      migrated(R"(["d"])", 1) ==
      R"("inputs":{"a":1,"b":2},"dependencies":["d"],"propertyDependencies":{"a":["d"],"b":["d"]}})");
  CHECK(migrated("null", 1) ==
        R"("inputs":{"a":1,"b":2},"propertyDependencies":{"a":null,"b":null}})");
  CHECK(migrated("[]", 1) ==
        R"("inputs":{"a":1,"b":2},"propertyDependencies":{"a":null,"b":null}})");
  CHECK(Read(json + "[]}", 2).null_property_dependencies.empty());
  CHECK(Read(json + "null}", 2).null_property_dependencies.size() == 2);
  CHECK(Read(json + "[]}", 3).property_dependencies.empty());
}

TEST_CASE("times are RFC 3339 with up to nine digits") {
  for (const char* text : {"2026-11-30T02:57:57.933347722Z",
                           "1999-12-31T23:59:59Z",
                           "2020-02-29T00:00:00.1Z",
                           "1969-12-31T23:59:59.5Z"}) {
    const std::optional<WallTime> time = ParseTime(text);
    REQUIRE(time);
    CHECK(TimeText(*time) == text);
  }
  CHECK(TimeText(*ParseTime("2026-01-01T01:30:00.5+02:00")) == "2025-12-31T23:30:00.5Z");
  CHECK(TimeText(*ParseTime("2026-01-01T01:30:00-00:30")) == "2026-01-01T02:00:00Z");
  for (const char* bad : {"",
                          "2026",
                          "2026-13-01T00:00:00Z",
                          "2026-01-01T00:00:00",
                          "2026-01-01T00:00:00.Z",
                          "2026-01-01T00:00:00+1:00",
                          "0001-01-01T00:00:00Z",
                          "2026-01-01T00:00:00ZZ"}) {
    INFO(bad);
    CHECK_FALSE(ParseTime(bad));
  }
}

}  // namespace davit::testing
