// What an import asks for, and the code for it (C20, C21).
#include <catch2/catch.hpp>
#include <functional>

#include "cli/import_code.h"

namespace davit {
namespace {

ImportEntry EntryOf(const std::string& name, const std::string& id = "1") {
  ImportEntry entry;
  entry.type = "t:m:T";
  entry.name = name;
  entry.id = id;
  return entry;
}

Result<ImportOrder> Resolve(const ImportFile& file) {
  return ResolveImports(file, "dev", "p", true);
}

std::string Fault(const ImportEntry& entry) {
  ImportFile file;
  file.names = {{"broken", "no urn"}, {"thing", "urn:pulumi:dev::p::t:m:T::thing"}};
  file.entries = {entry};
  const Result<ImportOrder> order = Resolve(file);
  return order ? "no error" : order.error().message;
}

std::string FaultOf(const std::function<void(ImportEntry&)>& change) {
  ImportEntry entry = EntryOf("a");
  change(entry);
  return Fault(entry);
}

// The code for one record of type `t:m:T` called `a`.
ImportCode CodeFor(PropertyMap inputs) {
  ImportFile file;
  file.entries = {EntryOf("a")};
  auto record = std::make_shared<ResourceState>();
  record->type = "t:m:T";
  record->inputs = std::move(inputs);
  return WriteImportCode(*Resolve(file), {record}, false);
}

}  // namespace

TEST_CASE("[C21][E155] names become URNs, in whatever order they come") {
  ImportFile file;
  file.names = {{"prov", "urn:pulumi:dev::p::pulumi:providers:t::prov"}};
  ImportEntry nested = EntryOf("nested");
  nested.parent = "child";
  nested.provider = "prov";
  ImportEntry child = EntryOf("child");
  child.parent = "comp";
  child.logical_name = "logical";
  ImportEntry component = EntryOf("comp", "");
  component.is_component = true;
  file.entries = {nested, child, component};
  const Result<ImportOrder> order = Resolve(file);
  REQUIRE(order);
  CHECK(order->specs[0].urn.text() == "urn:pulumi:dev::p::t:m:T$t:m:T$t:m:T::nested");
  CHECK(order->specs[0].parent == order->specs[1].urn);
  CHECK(order->specs[0].provider.text() == "urn:pulumi:dev::p::pulumi:providers:t::prov");
  CHECK(order->specs[1].urn.name() == "logical");
  CHECK(order->specs[1].protect);
  CHECK(order->specs[2].is_component);
  CHECK(order->names[1].key == "child");
  CHECK(order->names[1].parent == "comp");
}

TEST_CASE("[C21] what is wrong with an entry is said, all of it at once") {
  CHECK(FaultOf([](ImportEntry& e) { e.type = ""; }) == "resource 'a' of type '' has no type");
  CHECK(FaultOf([](ImportEntry& e) { e.type = "t:T"; }) ==
        "resource 'a' of type 't:T' needs a type of the form package:module:Name");
  CHECK(FaultOf([](ImportEntry& e) { e.id = ""; }) == "resource 'a' of type 't:m:T' has no id");
  CHECK(FaultOf([](ImportEntry& e) { e.name = ""; }) == "resource '1' of type 't:m:T' has no name");
  CHECK(FaultOf([](ImportEntry& e) { e.is_component = true; }) ==
        "resource 'a' of type 't:m:T' has an id, but is marked as a component");
  CHECK(FaultOf([](ImportEntry& e) { e.is_remote = true; }) ==
        "resource 'a' of type 't:m:T' is marked as remote, but not as a component");
  CHECK(FaultOf([](ImportEntry& e) { e.type = "pulumi:providers:t"; }) ==
        "resource 'a' of type 'pulumi:providers:t' has an id, but is a provider, which is made and "
        "not read");
  CHECK(FaultOf([](ImportEntry& e) { e.version = "x.y"; }) ==
        "resource 'a' of type 't:m:T' has the version 'x.y', which is none");
  CHECK(
      FaultOf([](ImportEntry& e) { e.parent = "nope"; }) ==
      "resource 'a' of type 't:m:T' has the parent 'nope', which is neither in 'nameTable' nor in "
      "'resources'");
  CHECK(FaultOf([](ImportEntry& e) { e.provider = "broken"; }) ==
        "resource 'a' of type 't:m:T' has the provider 'broken', which is no URN: 'no urn'");
  CHECK(FaultOf([](ImportEntry& e) { e.provider = "thing"; }) ==
        "resource 'a' of type 't:m:T' has the provider 'thing', which is none");
  CHECK(FaultOf([](ImportEntry& e) { e.parent = "a"; }) ==
        "resource 'a' of type 't:m:T' is among its own ancestors");
  CHECK(FaultOf([](ImportEntry& e) { e.id = "<PLACEHOLDER>"; }).find("the placeholder") !=
        std::string::npos);
  CHECK(
      FaultOf([](ImportEntry& e) { e.id = e.name = ""; }) ==
      "2 mistakes in the import:\n    resource '' of type 't:m:T' has no name\n    resource '' of "
      "type 't:m:T' has no id");

  ImportFile twice;
  twice.entries = {EntryOf("a"), EntryOf("a", "2")};
  CHECK(Resolve(twice).error().message.find("has the same URN as another") != std::string::npos);
  twice.entries[1].logical_name = "b";
  twice.entries.push_back(EntryOf("c"));
  twice.entries[2].parent = "a";
  CHECK(Resolve(twice).error().message.find("a name that several resources have") !=
        std::string::npos);
}

TEST_CASE("[C21] a package that is made by parameters keeps its plugin") {
  ImportFile file;
  file.entries = {EntryOf("a")};
  file.entries[0].version = "1.0.0";
  file.entries[0].parameterization = ImportParameterization{"base", "2.0.0", "bytes"};
  const Result<ImportOrder> order = Resolve(file);
  REQUIRE(order);
  const PackageDescriptor& package = order->specs[0].package;
  CHECK(package.name == "base");
  CHECK(package.version == "2.0.0");
  REQUIRE(package.parameterization);
  CHECK(package.parameterization->name == "t");
  CHECK(package.parameterization->version == "1.0.0");
  CHECK(package.parameterization->value == "bytes");
}

TEST_CASE("[C21][Y63] code reads back as the values that were imported") {
  const ImportCode code =
      CodeFor({{"__defaults", PropertyList{}},
               {"archive", Archive{Archive::Source::kPath, "./folder", nullptr, ""}},
               {"asset", Asset{Asset::Source::kText, "hello", ""}},
               {"big", 123456789012345.0},
               {"empty", PropertyMap{}},
               {"dollars", "$${x} ${y} $z $$"},
               {"list", PropertyList{1.5, PropertyMap{{"k", true}}, Null(), PropertyList{}}},
               {"nothing", Null()},
               {"number", "123"},
               {"text", "a: b"},
               {"yes", "yes"}});
  CHECK(code.text == R"(resources:
  a:
    type: t:m:T
    properties:
      archive:
        fn::fileArchive: ./folder
      asset:
        fn::stringAsset: hello
      big: 123456789012345
      dollars: $$$${x} $${y} $z $$$
      empty: {}
      list:
        - 1.5
        - k: true
        - null
        - []
      number: "123"
      text: 'a: b'
      "yes": "yes"
)");
  CHECK(code.secret_keys.empty());
}

TEST_CASE("[C21] secrets are not in the code: configuration stands for them") {
  const ImportCode code =
      CodeFor({{"note", MakeSecret("hush")},
               {"tree", PropertyMap{{"the key", MakeSecret(PropertyMap{{"k", "hush"}})}}}});
  CHECK(code.text == R"(config:
  aNote:
    type: string
    secret: true
  aTreeTheKey:
    type: string
    secret: true
resources:
  a:
    type: t:m:T
    properties:
      note: ${aNote}
      tree:
        the key:
          fn::fromJSON: ${aTreeTheKey}
)");
  CHECK(code.secret_keys == std::vector<std::string>{"aNote", "aTreeTheKey"});
}

TEST_CASE("[C21] options, names and short types in the code") {
  ImportFile file;
  file.names = {{"prov", "urn:pulumi:dev::p::pulumi:providers:t::prov"}};
  file.entries = {EntryOf("comp", ""), EntryOf("a"), EntryOf("a", "2"), EntryOf("lost")};
  file.entries[0].is_component = true;
  file.entries[1].type = "t:index:T";
  file.entries[1].parent = "comp";
  file.entries[1].provider = "prov";
  file.entries[2].type = "t:mod/other:Other";
  file.entries[2].version = "1.0.0";
  file.entries[2].download_url = "https://example.com";
  Result<ImportOrder> order = Resolve(file);
  REQUIRE(order);
  std::vector<StatePtr> records;
  for (const ImportEntry& entry : file.entries) {
    auto record = std::make_shared<ResourceState>();
    record->type = entry.type;
    record->protect = true;
    records.push_back(record);
  }
  records.back() = nullptr;
  const ImportCode code = WriteImportCode(*order, records, true);
  CHECK(code.text == R"(resources:
  a:
    type: t:T
    options:
      parent: ${comp}
      provider: ${prov}
      protect: true
      import: "1"
  aOther:
    type: t:mod:Other
    name: a
    options:
      version: 1.0.0
      pluginDownloadURL: https://example.com
      protect: true
      import: "2"
)");
  CHECK(code.left_out == std::vector<std::string>{"comp"});
}

}  // namespace davit
