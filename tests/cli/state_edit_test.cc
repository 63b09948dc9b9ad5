// Edits of the state by hand (S157-S159).

#include "cli/state_edit.h"

#include <catch2/catch.hpp>

#include "engine/model/provider_ref.h"

namespace davit {
namespace {

Urn UrnOf(const std::string& name) {
  return Urn::Trusted("urn:pulumi:dev::p::t:m:T::" + name);
}
const Urn kProvider = Urn::Trusted("urn:pulumi:dev::p::pulumi:providers:t::default");

std::shared_ptr<ResourceState> Record(const std::string& name) {
  auto record = std::make_shared<ResourceState>();
  record->urn = UrnOf(name);
  record->type = "t:m:T";
  record->custom = true;
  record->id = name + "-1";
  record->provider = ProviderRef{kProvider, "id"}.Text();
  return record;
}

// A provider; a; b below a; c that depends on b; d alone and protected.
Snapshot World() {
  auto provider = std::make_shared<ResourceState>();
  provider->urn = kProvider;
  provider->type = "pulumi:providers:t";
  provider->custom = true;
  provider->id = "id";
  auto b = Record("b");
  b->parent = UrnOf("a");
  b->property_dependencies = {{"empty", {}}, {"full", {UrnOf("a")}}};
  auto c = Record("c");
  c->dependencies = {UrnOf("b"), UrnOf("a")};
  c->replace_with = {UrnOf("a")};
  auto d = Record("d");
  d->protect = true;
  Snapshot snapshot;
  snapshot.resources = {provider, Record("a"), b, c, d};
  return snapshot;
}

std::string Names(const Snapshot& snapshot) {
  std::string names;
  for (const StatePtr& record : snapshot.resources) {
    names += (names.empty() ? "" : " ") + std::string(record->urn.name());
  }
  return names;
}

std::string Delete(const StateDeleteRequest& request, Snapshot* snapshot) {
  const Result<void> done = DeleteRecords(request, snapshot);
  return done ? Names(*snapshot) : done.error().Text();
}

TEST_CASE("[S157][C55] a record goes only when nothing depends on it, or with its dependents") {
  Snapshot state = World();
  using Catch::Contains;
  CHECK_THAT(Delete({.urns = {UrnOf("a")}}, &state),
             Contains("T::a' cannot be deleted") && Contains("T::b'") && Contains("T::c'") &&
                 Contains("--target-dependents"));
  CHECK_THAT(Delete({.urns = {kProvider}}, &state), Contains("T::d'"));
  CHECK(Delete({.urns = {UrnOf("c"), UrnOf("b")}}, &state) == "default a d");
  state = World();
  CHECK(Delete({.urns = {UrnOf("a")}, .dependents = true}, &state) == "default d");
  CHECK_THAT(Delete({.urns = {UrnOf("nosuch")}}, &state), Contains("no such resource"));
  CHECK(VerifySnapshot(state).empty());
}

TEST_CASE("[S157] protected records need --force; copies of one URN are refused") {
  Snapshot state = World();
  CHECK_THAT(Delete({.urns = {UrnOf("d")}}, &state), Catch::Contains("--force"));
  CHECK_THAT(Delete({.all = true}, &state), Catch::Contains("T::d' cannot be deleted"));
  CHECK(Delete({.urns = {UrnOf("d")}, .force = true}, &state) == "default a b c");
  CHECK(Delete({.all = true}, &state) == "");
  state = World();
  auto copy = Record("c");
  copy->pending_delete = true;
  state.resources.push_back(copy);
  CHECK_THAT(Delete({.urns = {UrnOf("c")}}, &state), Catch::Contains("names 2 records"));
}

TEST_CASE("[S158][C56] a rename reaches every reference") {
  Snapshot state = World();
  state.pending_operations = {{OperationType::kUpdating, state.resources[2]}};
  REQUIRE(RenameRecord(UrnOf("a"), "z", &state));
  CHECK(Names(state) == "default z b c d");
  const ResourceState& b = *state.resources[2];
  CHECK(b.parent == UrnOf("z"));
  CHECK(b.property_dependencies == std::map<std::string, std::vector<Urn>>{{"full", {UrnOf("z")}}});
  CHECK(state.resources[3]->dependencies == std::vector<Urn>{UrnOf("b"), UrnOf("z")});
  CHECK(state.resources[3]->replace_with == std::vector<Urn>{UrnOf("z")});
  CHECK(state.pending_operations[0].resource->parent == UrnOf("z"));
  CHECK(VerifySnapshot(state).empty());
  REQUIRE(RenameRecord(kProvider, "other", &state));
  CHECK(ProviderRef::Parse(state.resources[1]->provider)->urn.name() == "other");
  CHECK(VerifySnapshot(state).empty());
  CHECK_FALSE(RenameRecord(UrnOf("z"), "c", &state));
  CHECK_FALSE(RenameRecord(UrnOf("z"), "", &state));
  CHECK_FALSE(RenameRecord(UrnOf("gone"), "x", &state));
}

TEST_CASE("[S159][C56] flags are set on what is not marked delete, on all or none") {
  Snapshot state = World();
  auto copy = Record("a");
  copy->pending_delete = true;
  state.resources.push_back(copy);
  CHECK(SetFlag({UrnOf("a"), UrnOf("b")}, false, &ResourceState::taint, true, &state).value() == 2);
  CHECK(state.resources[1]->taint);
  CHECK_FALSE(state.resources.back()->taint);
  CHECK_FALSE(SetFlag({UrnOf("c"), UrnOf("nosuch")}, false, &ResourceState::taint, true, &state));
  CHECK_FALSE(state.resources[3]->taint);
  CHECK(SetFlag({}, true, &ResourceState::protect, false, &state).value() == 5);
  CHECK_FALSE(state.resources[4]->protect);
}

}  // namespace
}  // namespace davit
