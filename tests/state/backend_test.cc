// The file backend on a real folder (S109-S126, S150, S163, S164).
#include <catch2/catch.hpp>

#include <unistd.h>

#include <cstdlib>

#include "engine/base/digest.h"
#include "state/codec/time_text.h"
#include "tests/state/state_fakes.h"

namespace davit::testing {
namespace {

const StackRef kStack{"proj", "dev"};

struct Store {
  TemporaryFolder folder;
  std::unique_ptr<Backend> backend = *OpenBackend("file://" + folder.path(), false, "davit/test");
  std::string path(const std::string& name) const { return folder.path() + "/.pulumi/" + name; }
  bool Has(const std::string& name) const { return std::filesystem::exists(path(name)); }
};

}  // namespace

TEST_CASE("[S110] backend URLs") {
  const TemporaryFolder folder;
  CHECK((*OpenBackend("file://" + folder.path() + "/", false, "v"))->url() ==
        "file://" + folder.path());
  CHECK_THAT(OpenBackend("s3://bucket", false, "v").error().Text(), Catch::Contains("not 's3'"));
  CHECK_THAT(OpenBackend("https://api.example.com", false, "v").error().Text(),
             Catch::Contains("not 'https'"));
  CHECK_THAT(OpenBackend("file://" + folder.path() + "/none", false, "v").error().Text(),
             Catch::Contains("does not exist"));
  CHECK(OpenBackend("file://" + folder.path() + "/none", true, "v"));
  CHECK(
      OpenBackend("file://" + folder.path() + "/none?create_dir=true&no_tmp_dir=true", false, "v"));
  CHECK_THAT(OpenBackend("file://" + folder.path() + "?bogus=1", false, "v").error().Text(),
             Catch::Contains("'bogus'"));
  CHECK_FALSE(OpenBackend("file://", false, "v"));
  const char* home = std::getenv("HOME");
  const std::string saved = home == nullptr ? "" : home;
  ::setenv("HOME", folder.path().c_str(), 1);
  CHECK((*OpenBackend("file://~", false, "v"))->url() == "file://" + folder.path());
  CHECK((*OpenBackend("file://~/x", true, "v"))->url() == "file://" + folder.path() + "/x");
  ::setenv("HOME", saved.c_str(), 1);
}

TEST_CASE("[S5] [S117] [S120] a created stack has its final form and the store its layout") {
  Store store;
  FakeManager manager;
  CHECK_FALSE(store.Has("meta.yaml"));  // W16: looking writes nothing
  CHECK_FALSE(store.backend->Exists(kStack).value());
  CHECK_FALSE(store.Has(""));
  REQUIRE(store.backend->Create(kStack, &manager));
  CHECK(ReadBytes(store.path("meta.yaml")) == "version: 1\n");
  const std::string text = ReadBytes(store.path("stacks/proj/dev.json"));
  const std::size_t time = text.find("\"time\":\"") + 8;
  CHECK(
      text.substr(0, time) ==
      R"({"version":3,"checkpoint":{"stack":"organization/proj/dev","latest":{"manifest":{"time":")");
  CHECK(
      text.substr(text.find("\",\"magic\"")) ==
      "\",\"magic\":\"" + Sha256Hex("davit/test") +
          R"(","version":"davit/test"},"secrets_providers":{"type":"passphrase","state":{"salt":"salt"}},"metadata":{}}}})");
  CHECK(store.backend->Exists(kStack).value());
  const Result<void> again = store.backend->Create(kStack, &manager);
  REQUIRE_FALSE(again);
  CHECK(again.error().kind == ErrorKind::kRefused);
  CHECK(store.backend->Create({"proj", "plain"}, nullptr));
  CHECK_THAT(ReadBytes(store.path("stacks/proj/plain.json")),
             !Catch::Contains("secrets_providers"));
  const auto mode = std::filesystem::status(store.path("stacks/proj")).permissions();
  CHECK((mode & std::filesystem::perms::all) == std::filesystem::perms::owner_all);  // W9
}

TEST_CASE("[S121] names that are no names never reach a path") {
  Store store;
  for (const char* name : {"", ".", "..", "a/b", "a b", "é", "a\n"}) {
    CHECK_FALSE(store.backend->Exists({"proj", name}));
    CHECK_FALSE(store.backend->Create({name, "dev"}, nullptr));
    CHECK_FALSE(store.backend->Remove({"proj", name}, true));
  }
  CHECK_FALSE(store.backend->Create({"proj", std::string(101, 'a')}, nullptr));
  CHECK(store.backend->Create({"a.b_C-9", "d.e-v_1"}, nullptr));
}

TEST_CASE("[S120] the old layout and unknown versions are refused") {
  Store store;
  WriteBytes(store.path("stacks/dev.json"), "{}");
  CHECK_THAT(store.backend->Exists(kStack).error().Text(), Catch::Contains("old layout"));
  std::filesystem::remove(store.path("stacks/dev.json"));
  WriteBytes(store.path("meta.yaml"), "version: 0\n");
  CHECK_THAT(store.backend->List(std::nullopt).error().Text(), Catch::Contains("old layout"));
  WriteBytes(store.path("meta.yaml"), "version: 7\n");
  CHECK_THAT(store.backend->Create(kStack, nullptr).error().Text(),
             Catch::Contains("no known version"));
}

TEST_CASE("[S123] listing summarizes each stack of each project") {
  Store store;
  CHECK(store.backend->List(std::nullopt)->empty());
  REQUIRE(store.backend->Create({"one", "b"}, nullptr));
  REQUIRE(store.backend->Create({"one", "a"}, nullptr));
  REQUIRE(store.backend->Create({"two", "c"}, nullptr));
  Snapshot snapshot;
  snapshot.resources = {ProviderRecord(), Thing("x")};
  REQUIRE(store.backend->Save({"one", "b"}, snapshot, nullptr));
  WriteBytes(store.path("stacks/one/broken.json"), "{");
  const std::vector<StackSummary> all = store.backend->List(std::nullopt).value();
  REQUIRE(all.size() == 4);
  CHECK(all[0].name == "a");
  CHECK(all[1].name == "b");
  CHECK(all[1].resource_count == 2);
  CHECK(all[1].last_update);
  CHECK(all[2].name == "broken");
  CHECK_FALSE(all[2].resource_count);
  CHECK(all[3].project == "two");
  CHECK(store.backend->List("two")->size() == 1);
}

TEST_CASE("[S122] compressed checkpoints are refused with what to do") {
  Store store;
  WriteBytes(store.path("stacks/proj/dev.json.gz"), "\x1f\x8b\x08 rest");
  CHECK(store.backend->Exists(kStack).value());
  CHECK_THAT(store.backend->Load(kStack, NoPassphrase(), false).error().Text(),
             Catch::Contains("compressed"));
  WriteBytes(store.path("stacks/proj/dev.json"), "\x28\xb5\x2f\xfd rest");
  CHECK_THAT(store.backend->Load(kStack, NoPassphrase(), false).error().Text(),
             Catch::Contains("compressed"));
}

TEST_CASE("a missing stack says how to make one") {
  Store store;
  const Result<LoadedStack> loaded = store.backend->Load(kStack, NoPassphrase(), true);
  REQUIRE_FALSE(loaded);
  CHECK_THAT(loaded.error().Text(), Catch::Contains("davit stack init dev"));
  CHECK_FALSE(store.backend->Export(kStack, false, NoPassphrase()));
  CHECK_FALSE(store.backend->Remove(kStack, false));
}

TEST_CASE("[S150] removal is refused while resources remain; forced, the file moves to .bak") {
  Store store;
  REQUIRE(store.backend->Create(kStack, nullptr));
  Snapshot snapshot;
  auto root = std::make_shared<ResourceState>();
  root->urn = Urn::Trusted("urn:pulumi:dev::proj::pulumi:pulumi:Stack::proj-dev");
  root->type = std::string(kRootStackType);
  snapshot.resources = {root, ProviderRecord(), Thing("x")};
  REQUIRE(store.backend->Save(kStack, snapshot, nullptr));
  const Result<void> refused = store.backend->Remove(kStack, false);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().Text(), Catch::Contains("2 resources"));
  const std::string text = ReadBytes(store.path("stacks/proj/dev.json"));
  WriteBytes(store.path("stacks/proj/dev.json.attrs"), "{}");
  WriteBytes(store.path("stacks/proj/dev.pulumi-tags"), "{}");
  WriteBytes(store.path("history/proj/dev/dev-1.history.json"), "{}");
  REQUIRE(store.backend->Remove(kStack, true));
  CHECK_FALSE(store.backend->Exists(kStack).value());
  CHECK(ReadBytes(store.path("stacks/proj/dev.json.bak")) == text);
  for (const char* gone : {"stacks/proj/dev.json.attrs",
                           "stacks/proj/dev.pulumi-tags",
                           "history/proj/dev/dev-1.history.json"}) {
    CHECK_FALSE(store.Has(gone));
  }
  REQUIRE(store.backend->Create(kStack, nullptr));
  snapshot.resources = {root};
  REQUIRE(store.backend->Save(kStack, snapshot, nullptr));
  CHECK(store.backend->Remove(kStack, false));
}

TEST_CASE("[S174] a save does not overwrite what another program wrote meanwhile") {
  Store store;
  REQUIRE(store.backend->Create(kStack, nullptr));
  REQUIRE(store.backend->Load(kStack, NoPassphrase(), false));
  const std::string other = R"({"version":3,"checkpoint":{"stack":"organization/proj/dev"}})";
  WriteBytes(store.path("stacks/proj/dev.json"), other);
  const Result<void> saved = store.backend->Save(kStack, Snapshot(), nullptr);
  REQUIRE_FALSE(saved);
  CHECK_THAT(saved.error().Text(), Catch::Contains("changed by another program"));
  CHECK(ReadBytes(store.path("stacks/proj/dev.json")) == other);
}

TEST_CASE("[S77] saving with another manager encrypts everything anew") {
  Store store;
  auto first = std::make_shared<FakeManager>("one");
  auto second = std::make_shared<FakeManager>("two");
  REQUIRE(store.backend->Create(kStack, first.get()));
  Snapshot snapshot;
  snapshot.resources = {ProviderRecord(), Thing("x", {{"s", MakeSecret("v")}})};
  REQUIRE(store.backend->Save(kStack, snapshot, first));
  Result<LoadedStack> loaded = store.backend->Load(kStack, OpenerOf(first), false);
  REQUIRE(loaded);
  REQUIRE(store.backend->Save(kStack, loaded->snapshot, second));
  const std::string text = ReadBytes(store.path("stacks/proj/dev.json"));
  CHECK_THAT(text,
             Catch::Contains("two:1:") && Catch::Contains(R"("state":{"salt":"two"})") &&
                 !Catch::Contains("one:"));
  CHECK(
      store.backend->Load(kStack, OpenerOf(second), false)->snapshot.resources[1]->inputs.at("s") ==
      MakeSecret("v"));
}

TEST_CASE(
    "[S164] import refuses other stacks and faults unless forced, and drops pending operations") {
  Store store;
  const auto import = [&](const std::string& resources,
                          const std::string& more,
                          bool force,
                          std::vector<std::string>* warnings) {
    return store.backend->ReadImport(
        kStack,
        R"({"version":3,"deployment":{"manifest":{"time":"2020-01-01T00:00:00Z","magic":"","version":""},)"
        R"("resources":[)" +
            resources + "]" + more + "}}",
        force,
        NoPassphrase(),
        warnings);
  };
  std::vector<std::string> warnings;
  const std::string other =
      R"({"urn":"urn:pulumi:other::proj::t:t:T::x","custom":false,"type":"t:t:T"})";
  CHECK_THAT(import(other, "", false, &warnings).error().Text(),
             Catch::Contains("belong to the stack 'other'"));
  CHECK(import(other, "", true, &warnings));
  CHECK(warnings.size() == 1);
  const std::string dangling =
      R"({"urn":"urn:pulumi:dev::proj::t:t:T::x","custom":false,"type":"t:t:T","parent":"urn:pulumi:dev::proj::t:t:T::none"})";
  CHECK_FALSE(import(dangling, "", false, &warnings));
  warnings.clear();
  const std::string sound =
      R"({"urn":"urn:pulumi:dev::other-project::t:t:T::x","custom":false,"type":"t:t:T"})";
  const Result<Snapshot> imported =
      import(sound,
             R"(,"pending_operations":[{"resource":)" + sound + R"(,"type":"creating"}])",
             false,
             &warnings);
  REQUIRE(imported);
  CHECK(imported->pending_operations.empty());
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Catch::Contains("'creating'"));
  CHECK(TimeText(*imported->manifest_time) == "2020-01-01T00:00:00Z");
  for (const char* bad :
       {"", "{}", R"({"version":0,"deployment":{}})", R"({"version":5,"deployment":{}})", "[1]"}) {
    INFO(bad);
    CHECK_FALSE(store.backend->ReadImport(kStack, bad, true, NoPassphrase(), &warnings));
  }
}

TEST_CASE("an export with secrets shown is imported and encrypted by the next save") {
  Store store;
  auto manager = std::make_shared<FakeManager>();
  REQUIRE(store.backend->Create(kStack, manager.get()));
  Snapshot snapshot;
  snapshot.resources = {ProviderRecord(), Thing("x", {{"s", MakeSecret("hunter2")}})};
  REQUIRE(store.backend->Save(kStack, snapshot, manager));
  const std::string shown = store.backend->Export(kStack, true, OpenerOf(manager)).value();
  CHECK_THAT(shown, Catch::Contains("hunter2"));
  std::vector<std::string> warnings;
  const Result<Snapshot> imported =
      store.backend->ReadImport(kStack, shown, false, NoPassphrase(), &warnings);
  REQUIRE(imported);
  CHECK_FALSE(store.backend->Save(kStack, *imported, nullptr));
  REQUIRE(store.backend->Save(kStack, *imported, manager));
  CHECK_THAT(ReadBytes(store.path("stacks/proj/dev.json")), !Catch::Contains("hunter2"));
}

TEST_CASE("a folder that cannot be written names itself and leaves the state as it was") {
  if (::geteuid() == 0) {
    SUCCEED("root may write everywhere");
    return;
  }
  Store store;
  REQUIRE(store.backend->Create(kStack, nullptr));
  std::filesystem::permissions(
      store.path("stacks/proj"),
      std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const std::string before = ReadBytes(store.path("stacks/proj/dev.json"));
  const Result<void> saved = store.backend->Save(kStack, Snapshot(), nullptr);
  std::filesystem::permissions(store.path("stacks/proj"), std::filesystem::perms::owner_all);
  REQUIRE_FALSE(saved);
  CHECK_THAT(saved.error().Text(),
             Catch::Contains("stacks/proj") && Catch::Contains("who may write"));
  CHECK(ReadBytes(store.path("stacks/proj/dev.json")) == before);
}

}  // namespace davit::testing
