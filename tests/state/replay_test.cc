// Replay, cleaning and verification of snapshots (E143, E199-E207, S38-S43).
#include <catch2/catch.hpp>

#include "engine/model/provider_ref.h"
#include "engine/model/references.h"
#include "tests/state/journal_world.h"

namespace davit::testing {
namespace {

using Lines = std::vector<std::string>;

Snapshot Base(std::vector<StatePtr> records) {
  Snapshot base;
  base.resources = std::move(records);
  return base;
}

JournalEntry Refresh(std::int64_t id, std::int64_t index, StatePtr state) {
  JournalEntry entry = Success(id, std::move(state), index);
  entry.kind = JournalKind::kRefreshSuccess;
  entry.is_refresh = true;
  return entry;
}

JournalEntry Rebuilt(std::int64_t id) {
  JournalEntry entry;
  entry.kind = JournalKind::kRebuiltBase;
  entry.operation_id = id;
  return entry;
}

Lines Messages(const Snapshot& snapshot) {
  Lines lines;
  for (const Error& error : VerifySnapshot(snapshot)) {
    lines.push_back(error.message);
  }
  return lines;
}

}  // namespace

TEST_CASE("[E203] records of this run come first in completion order, then the untouched ones") {
  const Snapshot base = Base({Thing("a"), Thing("b"), Thing("c")});
  CHECK(Summary(Replay(
            base,
            {Success(1, Thing("x")), Success(2, base.resources[1], 1), Success(3, Thing("y"))})) ==
        Lines{"x/x-1", "b/b-1", "y/y-1", "a/a-1", "c/c-1"});
}

TEST_CASE(
    "[E201] replacements: delete flags the old copy, pendingReplacement keeps it until its "
    "successor is there") {
  const Snapshot base = Base({Thing("a")});
  JournalEntry create_first = Success(1, Thing("a2"));
  create_first.delete_old = 0;
  CHECK(Summary(Replay(base, {create_first})) == Lines{"a2/a2-1", "a/a-1!"});
  CHECK(Summary(Replay(base, {create_first, Success(2, nullptr, 0)})) == Lines{"a2/a2-1"});
  JournalEntry delete_first = Success(1, nullptr);
  delete_first.pending_replacement_old = 0;
  CHECK(Summary(Replay(base, {delete_first})) == Lines{"a/a-1?"});
  CHECK(Summary(Replay(base, {delete_first, Success(2, Thing("a2"), 0)})) == Lines{"a2/a2-1"});
  JournalEntry flag_new = Success(2, Thing("a3"));
  flag_new.delete_new = 1;
  CHECK(Summary(Replay(base, {Success(1, Thing("a2")), flag_new})) ==
        Lines{"a2/a2-1!", "a3/a3-1", "a/a-1"});
}

TEST_CASE(
    "[E201] [S139] outputs replace the record of this run in place; a failure drops only its "
    "pending operation") {
  const Snapshot base = Base({Thing("a")});
  JournalEntry outputs = Success(3, Thing("x", {{"o", 1}}));
  outputs.kind = JournalKind::kOutputs;
  outputs.remove_new = 1;
  const Snapshot after = Replay(base, {Success(1, Thing("x")), Success(2, Thing("y")), outputs});
  CHECK(Summary(after) == Lines{"x/x-1", "y/y-1", "a/a-1"});
  CHECK(after.resources[0]->outputs.contains("o"));
  outputs.remove_new.reset();
  outputs.remove_old = 0;
  outputs.state = Thing("a", {{"o", 1}});
  CHECK(Replay(base, {outputs}).resources[0]->outputs.contains("o"));
  CHECK(Summary(Replay(base, {Begin(1, OperationType::kReading, Thing("r")), Failure(1)})) ==
        Lines{"a/a-1"});
}

TEST_CASE("[E204] a refresh replaces or drops in place, and what dangles is cleaned") {
  auto child = Thing("c", {}, {"b", "a"});
  child->parent = ThingUrn("b");
  child->property_dependencies = {{"p", {ThingUrn("b")}}, {"q", {}}};
  child->deleted_with = ThingUrn("b");
  auto middle = Thing("b");
  middle->parent = ThingUrn("a");
  const Snapshot base = Base({Thing("a"), middle, child});
  const Snapshot after =
      Replay(base, {Refresh(1, 0, Thing("a", {{"v", 2}})), Refresh(2, 1, nullptr), Rebuilt(3)});
  CHECK(Summary(after) == Lines{"a/a-1", "c/c-1"});
  const ResourceState& cleaned = *after.resources[1];
  CHECK(cleaned.parent.empty());  // E143: although its parent had one, which is left
  CHECK(cleaned.dependencies == std::vector<Urn>{ThingUrn("a")});
  CHECK(cleaned.property_dependencies.empty());  // recorded: entries without URNs go
  CHECK(cleaned.deleted_with.empty());
  CHECK(VerifySnapshot(Base({ProviderRecord(), after.resources[0], after.resources[1]})).empty());
  // Indices after a rebuilt base are those of the new one.
  CHECK(Summary(Replay(base, {Refresh(1, 1, nullptr), Rebuilt(2), Success(3, nullptr, 1)})) ==
        Lines{"a/a-1"});
}

TEST_CASE("[E207] every violation is found, order and absence told apart") {
  auto x = Thing("x", {}, {"late", "none"});
  auto late = Thing("late");
  const Lines lines = Messages(Base({ProviderRecord(), x, late}));
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], Catch::Contains("comes before its dependency"));
  CHECK_THAT(lines[1], Catch::Contains("which does not exist"));
  auto self = Thing("x", {}, {"x"});
  CHECK_THAT(Messages(Base({ProviderRecord(), self})).at(0),
             Catch::Contains("is its own dependency"));
  auto view = Thing("v");
  view->view_of = ThingUrn("none");
  CHECK(
      Messages(Base({ProviderRecord(), view})).empty());  // S41 asks nothing of the owner of a view
}

TEST_CASE("[S41] [S42] every kind of dependency has to precede, and is named") {
  using Set = void (*)(ResourceState&, const Urn&);
  const std::vector<std::pair<std::string, Set>> kinds = {
      {"parent", [](ResourceState& state, const Urn& urn) { state.parent = urn; }},
      {"dependency", [](ResourceState& state, const Urn& urn) { state.dependencies = {urn}; }},
      {"property dependency",
       [](ResourceState& state, const Urn& urn) { state.property_dependencies["k"] = {urn}; }},
      {"deletedWith resource",
       [](ResourceState& state, const Urn& urn) { state.deleted_with = urn; }},
      {"replaceWith resource",
       [](ResourceState& state, const Urn& urn) { state.replace_with = {urn}; }},
  };
  for (const auto& [what, set] : kinds) {
    INFO(what);
    auto state = Thing("x");
    set(*state, ThingUrn("y"));
    CHECK(Messages(Base({ProviderRecord(), Thing("y"), state})).empty());
    CHECK_THAT(Messages(Base({ProviderRecord(), state, Thing("y")})).at(0),
               Catch::Contains("comes before its " + what + " '"));
    CHECK_THAT(Messages(Base({ProviderRecord(), state})).at(0),
               Catch::Contains("refers to " + what + " '"));
  }
}

TEST_CASE("[E5] [E51] references are listed and rewritten by kind") {
  auto state = Thing("x", {}, {"d", "gone"});
  state->parent = ThingUrn("p");
  state->property_dependencies = {{"k", {ThingUrn("gone"), ThingUrn("pd")}}};
  state->deleted_with = ThingUrn("dw");
  state->replace_with = {ThingUrn("rw")};
  state->view_of = ThingUrn("vo");
  const auto listed = [](const ResourceState& of) {
    Lines lines;
    VisitReferences(of, [&](ReferenceKind kind, const Urn& urn) {
      lines.push_back(std::string(ReferenceKindName(kind)) + " " + std::string(urn.name()));
    });
    return lines;
  };
  CHECK(listed(*state) == Lines{"parent p",
                                "dependency d",
                                "dependency gone",
                                "property dependency gone",
                                "property dependency pd",
                                "deletedWith resource dw",
                                "replaceWith resource rw",
                                "provider default",
                                "viewOf resource vo"});
  RewriteReferences(*state, [](ReferenceKind kind, const Urn& urn) {
    const std::string text = urn.text() + "2";
    return urn.name() == "gone" || kind == ReferenceKind::kDeletedWith ? Urn() : Urn::Trusted(text);
  });
  CHECK(listed(*state) == Lines{"parent p2",
                                "dependency d2",
                                "property dependency pd2",
                                "replaceWith resource rw2",
                                "provider default2",
                                "viewOf resource vo2"});
  CHECK(state->provider == ProviderUrn().text() + "2::p-1");
}

TEST_CASE("[E2] [S39] [S40] [S43] identity, provider references and duplicates") {
  auto component = Thing("c");
  component->custom = false;
  CHECK_THAT(Messages(Base({ProviderRecord(), component})).at(0), Catch::Contains("has an id"));
  auto typeless = Thing("t");
  typeless->type.clear();
  CHECK_THAT(Messages(Base({ProviderRecord(), typeless})).at(0), Catch::Contains("without type"));
  CHECK_THAT(Messages(Base({Thing("a"), ProviderRecord()})).at(0),
             Catch::Contains("comes before its provider"));
  auto absent = Thing("a");
  absent->provider = ProviderUrn().text() + "::p-2";
  CHECK_THAT(Messages(Base({ProviderRecord(), absent})).at(0),
             Catch::Contains("'" + absent->provider + "', which does not exist"));
  auto placeholder = std::make_shared<ResourceState>(*ProviderRecord());
  placeholder->id.clear();
  absent->provider = ProviderUrn().text() + "::" + std::string(kUnknownId);
  CHECK(Messages(Base({placeholder, absent})).empty());  // an empty id counts as the placeholder
  auto astray = std::make_shared<ResourceState>(*ProviderRecord());
  astray->urn = ThingUrn("provider");
  CHECK_THAT(Messages(Base({astray})).at(0), Catch::Contains("nothing can refer to"));
  auto waiting = Thing("a");
  waiting->pending_replacement = true;
  CHECK(Messages(Base({waiting})).empty());  // S40: waived
  auto odd = Thing("a");
  odd->provider = "urn";
  CHECK_THAT(Messages(Base({odd})).at(0), Catch::Contains("malformed"));
  auto without = Thing("a");
  without->provider.clear();
  CHECK(Messages(Base({without})).empty());  // a file of version 1
  auto copy = Thing("a");
  copy->pending_delete = true;
  CHECK(Messages(Base({ProviderRecord(), Thing("a"), copy, copy})).empty());
  CHECK_THAT(Messages(Base({ProviderRecord(), Thing("a"), Thing("a")})).at(0),
             Catch::Contains("two records"));
}

TEST_CASE("[E5] dependencies in order; [S138] what forces a write") {
  auto state = Thing("x", {}, {"d"});
  state->parent = ThingUrn("p");
  state->property_dependencies = {{"k", {ThingUrn("pd")}}};
  state->deleted_with = ThingUrn("dw");
  state->replace_with = {ThingUrn("rw")};
  std::vector<Urn> expected;
  for (const char* name : {"p", "d", "pd", "dw", "rw"}) {
    expected.push_back(ThingUrn(name));
  }
  CHECK(DependenciesOf(*state) == expected);
  auto other = std::make_shared<ResourceState>(*state);
  other->source_position = "elsewhere";
  other->init_errors = {"e"};
  other->ignore_changes = {"a"};
  CHECK(EqualForWriting(*state, *other));
  other->protect = true;
  CHECK_FALSE(EqualForWriting(*state, *other));
}

}  // namespace davit::testing
