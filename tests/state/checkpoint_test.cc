// Whole checkpoints: the envelope, migration, and the files of the reference (S1-S22, golden/).
#include <catch2/catch.hpp>

#include "tests/state/state_fakes.h"

namespace davit::testing {
namespace {

// A golden store under the name that a backend expects.
class GoldenStore {
 public:
  explicit GoldenStore(const std::string& name) {
    std::filesystem::copy(GoldenPath(name + "/store/pulumi"),
                          folder_.path() + "/.pulumi",
                          std::filesystem::copy_options::recursive);
    backend_ = *OpenBackend("file://" + folder_.path(), false, "davit/test");
  }
  Backend& backend() { return *backend_; }
  std::string path(const std::string& name) const { return folder_.path() + "/.pulumi/" + name; }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<Backend> backend_;
};

Snapshot LoadGolden(GoldenStore& store, const std::string& stack) {
  Result<LoadedStack> loaded = store.backend().Load({"golden", stack}, OpenerFor("golden"), false);
  if (!loaded) {
    FAIL(loaded.error().Text());
  }
  CHECK(VerifySnapshot(loaded->snapshot).empty());
  return loaded->snapshot;
}

const ResourceState& Record(const Snapshot& snapshot, const std::string& name) {
  for (const StatePtr& state : snapshot.resources) {
    if (state->urn.name() == name) {
      return *state;
    }
  }
  throw std::runtime_error("no record " + name);
}

Result<Checkpoint> Read(const std::string& text, SecretsOpener opener = NoPassphrase()) {
  static SecretTexts texts;
  return ReadCheckpoint(text, CheckpointReading{SecretsIn::kOpen, &texts, std::move(opener)});
}

std::string Rewritten(const Snapshot& snapshot) {
  SecretTexts texts;
  CheckpointWriting writing;
  writing.values.texts = &texts;
  return WriteCheckpoint("organization/p/s", snapshot, std::move(writing)).value();
}

}  // namespace

TEST_CASE("golden: stack/ reads as its README says") {
  GoldenStore store("stack");
  const Snapshot snapshot = LoadGolden(store, "dev");
  REQUIRE(snapshot.resources.size() == 4);
  CHECK(snapshot.manifest_version == "v3.274.1");
  CHECK(snapshot.resources[0]->urn.is_root_stack());
  const PropertyValue password = MakeSecret("pa\"ss<&>");
  CHECK(Record(snapshot, "p").inputs.at("token") == password);
  const ResourceState& a = Record(snapshot, "a");
  CHECK(a.inputs.at("text") == password);
  CHECK(a.outputs.at("out") == MakeSecret(7));
  CHECK(a.inputs.at("list") == PropertyList{1, 1.5, 1e21, Null(), PropertyMap{{"k", "<&>"}}, true});
  CHECK(a.inputs.at("note").as_asset()->content == "content");
  CHECK(a.custom_timeouts == CustomTimeouts{300, 0, 0, 0});
  CHECK(a.ignore_changes == std::vector<std::string>{"extra"});
  CHECK(snapshot.resources[0]->outputs.at("hidden") == password);
  CHECK(snapshot.resources[0]->outputs.at("nested") ==
        MakeSecret(PropertyMap{{"list", PropertyList{7, 2}}}));
  const ResourceState& second = Record(snapshot, "second");
  CHECK(second.protect);
  CHECK(second.parent == a.urn);
  CHECK(second.inputs.at("map") == PropertyMap{{"", "empty"}, {"é😃", "line\nbreak"}});
  CHECK(second.outputs.at("map") == MakeSecret(second.inputs.at("map")));
  CHECK(second.inputs.at("other").as_reference()->id == "a-1");
}

TEST_CASE("[S7] [S51] golden: stack/ is exported byte for byte, with and without secrets") {
  GoldenStore store("stack");
  CHECK(store.backend().Export({"golden", "dev"}, false, NoPassphrase()).value() ==
        ReadBytes(GoldenPath("stack/export.json")));
  CHECK(store.backend().Export({"golden", "dev"}, true, OpenerFor("golden")).value() ==
        ReadBytes(GoldenPath("stack/export-secrets.json")));
  CHECK_FALSE(store.backend().Export({"golden", "dev"}, true, NoPassphrase()));
}

TEST_CASE("[W13] golden: a load and a save give the same bytes") {
  for (const auto& [folder, stack] :
       std::vector<std::pair<std::string, std::string>>{{"stack", "dev"},
                                                        {"empty", "dev"},
                                                        {"pending", "creating"},
                                                        {"replacement", "delete-later"}}) {
    INFO(folder);
    GoldenStore store(folder);
    const std::string path = store.path("stacks/golden/" + stack + ".json");
    const std::string before = ReadBytes(path);
    const Snapshot snapshot = LoadGolden(store, stack);
    const Result<void> saved = store.backend().Save({"golden", stack}, snapshot, nullptr);
    REQUIRE(saved);
    CHECK(ReadBytes(path) == before);
    CHECK(ReadBytes(path + ".bak") == before);
    CHECK_FALSE(std::filesystem::exists(path + ".attrs"));  // S125
    CHECK_FALSE(std::filesystem::exists(path + ".bak.attrs"));
    CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::all) ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));  // W9
  }
}

TEST_CASE("golden: empty/ has no resources, and needs no passphrase") {
  GoldenStore store("empty");
  Result<LoadedStack> loaded = store.backend().Load({"golden", "dev"}, NoPassphrase(), false);
  REQUIRE(loaded);
  CHECK(loaded->snapshot.resources.empty());
  CHECK(loaded->snapshot.secrets_type == "passphrase");
  CHECK(store.backend().Export({"golden", "dev"}, false, NoPassphrase()).value() ==
        ReadBytes(GoldenPath("empty/export.json")));
}

TEST_CASE("[S5] [S7] the version-0 form is a stack that was never deployed") {
  GoldenStore store("empty");
  std::filesystem::rename(store.path("stacks/golden/dev.json.bak"),
                          store.path("stacks/golden/dev.json"));
  CHECK(store.backend().Load({"golden", "dev"}, NoPassphrase(), false)->snapshot.resources.empty());
  CHECK(store.backend().Export({"golden", "dev"}, false, NoPassphrase()).value() ==
        "{\n    \"version\": 3,\n    \"deployment\": null\n}\n");
  CHECK(store.backend().Exists({"golden", "dev"}).value());
  CHECK_FALSE(store.backend().List(std::nullopt)->at(0).last_update);
}

TEST_CASE("golden: pending/ reads with its operations and exports byte for byte") {
  GoldenStore store("pending");
  const Snapshot creating = LoadGolden(store, "creating");
  REQUIRE(creating.pending_operations.size() == 1);
  CHECK(creating.pending_operations[0].type == OperationType::kCreating);
  const ResourceState& b = *creating.pending_operations[0].resource;
  CHECK(b.id.empty());
  CHECK(b.outputs.empty());
  CHECK_FALSE(b.created);
  CHECK(b.inputs.at("text").is_secret());
  const Snapshot updating = LoadGolden(store, "updating");
  CHECK(updating.pending_operations[0].resource->inputs.at("value") == PropertyValue(2));
  CHECK(Record(updating, "a").inputs.at("value") == PropertyValue(1));
  const Snapshot deleting = LoadGolden(store, "deleting");
  CHECK(*deleting.pending_operations[0].resource == Record(deleting, "c"));
  for (const std::string stack : {"creating", "updating", "deleting"}) {
    INFO(stack);
    CHECK(store.backend().Export({"golden", stack}, false, NoPassphrase()).value() ==
          ReadBytes(GoldenPath("pending/export-" + stack + ".json")));
  }
}

TEST_CASE("golden: replacement/ reads with delete and pendingReplacement") {
  GoldenStore store("replacement");
  const Snapshot later = LoadGolden(store, "delete-later");
  const std::vector<std::string> lines = Summary(later);
  CHECK(std::vector<std::string>(lines.end() - 2, lines.end()) ==
        std::vector<std::string>{"a/a-2", "a/a-1!"});
  const Snapshot first = LoadGolden(store, "delete-first");
  CHECK(Summary(first).back() == "a/a-3?");
  for (const std::string stack : {"delete-later", "delete-first"}) {
    CHECK(store.backend().Export({"golden", stack}, false, NoPassphrase()).value() ==
          ReadBytes(GoldenPath("replacement/export-" + stack + ".json")));
  }
}

TEST_CASE("[S4] [S31] golden: old checkpoints and deployments come out as the reference has them") {
  const TemporaryFolder folder;
  const std::unique_ptr<Backend> backend =
      *OpenBackend("file://" + folder.path(), false, "davit/test");
  const StackRef stack{"golden", "dev"};
  for (const std::string name : {"checkpoint-v1", "checkpoint-v1-envelope", "checkpoint-v2"}) {
    INFO(name);
    WriteBytes(folder.path() + "/.pulumi/stacks/golden/dev.json",
               ReadBytes(GoldenPath("old/" + name + ".json")));
    CHECK(backend->Export(stack, false, NoPassphrase()).value() ==
          ReadBytes(GoldenPath("old/export-" + name + ".json")));
    const Result<LoadedStack> loaded = backend->Load(stack, NoPassphrase(), false);
    REQUIRE(loaded);
    CHECK(VerifySnapshot(loaded->snapshot).empty());
  }
  for (const std::string version : {"v1", "v2"}) {
    INFO(version);
    std::vector<std::string> warnings;
    const Result<Snapshot> imported =
        backend->ReadImport(stack,
                            ReadBytes(GoldenPath("old/import-" + version + ".json")),
                            false,
                            NoPassphrase(),
                            &warnings);
    REQUIRE(imported);
    CHECK(warnings.empty());
    REQUIRE(backend->Save(stack, *imported, nullptr));
    CHECK(backend->Export(stack, false, NoPassphrase()).value() ==
          ReadBytes(GoldenPath("old/after-import-" + version + ".json")));
  }
}

TEST_CASE("[S4] versions that are not known are refused") {
  CHECK_THAT(Read(R"({"version":5,"checkpoint":{}})").error().Text(),
             Catch::Contains("update davit"));
  CHECK_FALSE(Read(R"({"version":-1,"checkpoint":{}})"));
  CHECK_FALSE(Read(R"({"version":1.5,"checkpoint":{}})"));
  CHECK(Read(R"({"checkpoint":{"latest":{"manifest":{},"resources":[]}},"version":3})")
            ->snapshot.has_value());
}

TEST_CASE(
    "[S9] unknown features make a file of version 4 unreadable, by name; older versions ignore "
    "them") {
  const Result<Checkpoint> refused =
      Read(R"({"version":4,"features":["taint","warp","x"],"checkpoint":{"latest":{}}})");
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Catch::Contains("'warp', 'x'"));
  CHECK(Read(R"({"version":3,"features":["warp"],"checkpoint":{"latest":{}}})"));
  CHECK(Read(R"({"version":4,"features":["taint"],"checkpoint":{"latest":{}}})"));
}

TEST_CASE("[S10] the writer takes version 4 only when a feature is used") {
  Snapshot snapshot;
  auto state = Thing("a");
  snapshot.resources = {state};
  CHECK_THAT(
      Rewritten(snapshot),
      Catch::StartsWith(R"({"version":3,"checkpoint":{"stack":"organization/p/s","latest":)"));
  state->taint = true;
  state->view_of = ThingUrn("v");
  state->inputs["raw"] = std::string("\xff");
  CHECK_THAT(Rewritten(snapshot),
             Catch::StartsWith(
                 R"({"version":4,"features":["byteString","taint","views"],"checkpoint":{)"));
}

TEST_CASE("[S13] [S20] [S21] plugins, snippets and used extensions are kept") {
  const std::string body =
      R"("latest":{"manifest":{"time":"2026-01-01T00:00:00Z","magic":"","version":"","plugins":[{"name":"n","path":"p"}]},)"
      R"("resources":[{"urn":"u","custom":false,"type":"t","extensionRef":"e1"}],"metadata":{},)"
      R"("snippets":[{"uuid":"x","code":"a < b"}],"extensions":{"e1":{"name":"n","version":"1","value":"/w=="}}}}})";
  const std::string head =
      R"({"version":4,"features":["extensionParameterization","snippets-prototype"],)"
      R"("checkpoint":{"stack":"organization/p/s",)";
  const Result<Checkpoint> read = Read(head + body);
  REQUIRE(read);
  CHECK(read->snapshot->extensions.at("e1").value == "\xff");
  CHECK(Rewritten(*read->snapshot) == head + body);
  Snapshot without = *read->snapshot;
  without.resources.clear();
  CHECK_THAT(Rewritten(without), !Catch::Contains("extensions"));
}

TEST_CASE("a secret before secrets_providers is opened all the same, once") {
  auto manager = std::make_shared<FakeManager>();
  int opened = 0;
  const SecretsOpener opener =
      [&](const std::string& type,
          const std::string& state) -> Result<std::shared_ptr<SecretsManager>> {
    ++opened;
    CHECK(type == "passphrase");
    CHECK(state == R"({"salt":"salt"})");
    return std::shared_ptr<SecretsManager>(manager);
  };
  const std::string secret =
      R"({"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"salt:1:NQ=="})";
  const Result<Checkpoint> read = Read(
      R"({"version":3,"checkpoint":{"latest":{"resources":[{"urn":"u","type":"t","inputs":{"a":)" +
          secret + R"(,"b":)" + secret +
          R"(}}],"secrets_providers":{"state":{"salt" : "salt"},"type":"passphrase"}}}})",
      opener);
  REQUIRE(read);
  CHECK(read->snapshot->resources[0]->inputs.at("b") == MakeSecret(5));
  CHECK(opened == 1);
}

TEST_CASE("[S15] [S38] a wrong magic refuses to load") {
  GoldenStore store("stack");
  std::string text = ReadBytes(store.path("stacks/golden/dev.json"));
  text.replace(text.find("\"magic\":\"") + 9, 4, "0000");
  WriteBytes(store.path("stacks/golden/dev.json"), text);
  const Result<LoadedStack> loaded =
      store.backend().Load({"golden", "dev"}, OpenerFor("golden"), false);
  REQUIRE_FALSE(loaded);
  CHECK_THAT(loaded.error().Text(), Catch::Contains("magic"));
  CHECK_THAT(loaded.error().Text(), Catch::Contains(".bak"));
}

TEST_CASE("a damaged checkpoint names the file, the place and the backup") {
  GoldenStore store("stack");
  const std::string path = store.path("stacks/golden/dev.json");
  const std::string text = ReadBytes(path);
  WriteBytes(path, text.substr(0, text.size() / 2));
  const Result<LoadedStack> loaded =
      store.backend().Load({"golden", "dev"}, OpenerFor("golden"), false);
  REQUIRE_FALSE(loaded);
  CHECK_THAT(loaded.error().Text(), Catch::Contains(path));
  CHECK_THAT(loaded.error().Text(), Catch::Contains("line 1, column"));
  CHECK_THAT(loaded.error().Text(), Catch::Contains(".bak"));
}

TEST_CASE("[S65] a wrong and a missing passphrase say so") {
  GoldenStore store("stack");
  const Result<LoadedStack> wrong =
      store.backend().Load({"golden", "dev"}, OpenerFor("wrong"), false);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().kind == ErrorKind::kRefused);
  CHECK_THAT(wrong.error().message, Catch::Contains("incorrect passphrase"));
  const Result<LoadedStack> missing =
      store.backend().Load({"golden", "dev"}, NoPassphrase(), false);
  REQUIRE_FALSE(missing);
  CHECK_THAT(missing.error().Text(),
             Catch::Contains("PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE"));
}

}  // namespace davit::testing
