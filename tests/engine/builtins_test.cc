// The package that the engine serves itself (E195, E196).
#include "engine/builtins.h"

#include <catch2/catch.hpp>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

const Urn kStash = Urn::Make("dev", "proj", Urn(), "pulumi:index:Stash", "s");
const Urn kReference = Urn::Make("dev", "proj", Urn(), "pulumi:pulumi:StackReference", "r");

struct BuiltinWorld {
  SeededLoop loop;
  FakePluginHost inner;
  CountingIds ids;
  std::unique_ptr<PluginHost> host = WithBuiltins(inner, ids, [](const std::string& stack) {
    Result<PropertyMap> none = Fail(ErrorKind::kInvalid, "there is no stack '" + stack + "'");
    PropertyMap outputs{{"z", MakeSecret(1)}, {"a", MakeSecret(2)}, {"plain", 3}};
    return stack == "o/p/s" ? Result<PropertyMap>(outputs) : none;
  });

  template <typename T>
  T Await(Task<T> task) {
    std::optional<T> result;
    Start(loop, std::move(task), [&](std::exception_ptr, std::optional<T> value) {
      result = std::move(value);
    });
    loop.RunUntilIdle();
    REQUIRE(result);
    return *std::move(result);
  }
  std::shared_ptr<Provider> Load(const std::string& name) {
    PluginSpec spec;
    spec.name = name;
    Result<std::shared_ptr<Provider>> provider =
        Await(host->LoadProvider(std::move(spec), CancelToken()));
    REQUIRE(provider);
    return *provider;
  }
};

}  // namespace

TEST_CASE("[E196] a stash keeps its first value until it is replaced") {
  BuiltinWorld world;
  const std::shared_ptr<Provider> pulumi = world.Load("pulumi");
  CreateRequest create;
  create.urn = kStash;
  create.inputs = {{"input", 1}};
  const Result<CreateResponse> created = world.Await(pulumi->Create(create, CancelToken()));
  REQUIRE(created);
  CHECK_FALSE(created->id.empty());
  CHECK(created->outputs == PropertyMap{{"input", 1}, {"output", 1}});
  UpdateRequest update;
  update.urn = kStash;
  update.old_outputs = created->outputs;
  update.new_inputs = {{"input", 2}};
  const Result<UpdateResponse> updated = world.Await(pulumi->Update(update, CancelToken()));
  REQUIRE(updated);
  CHECK(updated->outputs == PropertyMap{{"input", 2}, {"output", 1}});
  CheckRequest check;
  check.urn = kStash;
  check.news = {{"other", 1}};
  CHECK(world.Await(pulumi->Check(check, CancelToken()))->failures.size() == 2);
}

TEST_CASE("[E195] a stack reference shows outputs and which of them are secret") {
  BuiltinWorld world;
  const std::shared_ptr<Provider> pulumi = world.Load("pulumi");
  ReadRequest read;
  read.urn = kReference;
  read.id = "o/p/s";
  read.inputs = {{"name", "o/p/s"}};
  const Result<ReadResponse> shown = world.Await(pulumi->Read(read, CancelToken()));
  REQUIRE(shown);
  CHECK(shown->outputs->at("secretOutputNames") == PropertyValue(PropertyList{"a", "z"}));
  CHECK(shown->outputs->at("outputs").as_map()->at("plain") == PropertyValue(3));
  read.inputs = {{"name", "o/p/none"}};
  CHECK_FALSE(world.Await(pulumi->Read(read, CancelToken())).has_value());
  DiffRequest diff;
  diff.urn = kReference;
  diff.old_inputs = {{"name", "a"}};
  diff.new_inputs = {{"name", "b"}};
  CHECK(world.Await(pulumi->Diff(diff, CancelToken()))->replaces ==
        std::vector<std::string>{"name"});
}

TEST_CASE("[E195] [E196] other packages come from plugins, and neither can be imported") {
  BuiltinWorld world;
  world.Load("other");
  CHECK(world.inner.loads == 1);
  const std::shared_ptr<Provider> pulumi = world.Load("pulumi");
  CHECK(world.inner.loads == 1);
  ReadRequest import;
  import.urn = kStash;
  import.id = "x";
  import.send_inputs = false;
  CHECK_FALSE(world.Await(pulumi->Read(import, CancelToken())).has_value());
}

}  // namespace davit::testing
