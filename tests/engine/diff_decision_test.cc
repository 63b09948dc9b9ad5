#include "engine/plan/diff_decision.h"

#include <catch2/catch.hpp>

namespace davit {
namespace {

PropertyMap Map(std::initializer_list<std::pair<const std::string, PropertyValue>> entries) {
  return PropertyMap(entries);
}

}  // namespace

TEST_CASE("[E79] an unknown diff is decided by comparing inputs, without wrappers") {
  DiffResponse unknown;
  const PropertyMap before = Map({{"a", 1}, {"b", MakeSecret("x")}, {"gone", true}});
  CHECK_FALSE(InterpretDiff(unknown, before, before, {}).has_changes);
  const PropertyMap after = Map({{"a", 2}, {"b", "x"}, {"new", 3}});
  const DiffDecision decision = InterpretDiff(unknown, before, after, {});
  CHECK(decision.has_changes);
  CHECK_FALSE(decision.replaces);
  CHECK(decision.diffs == std::vector<std::string>{"a", "gone", "new"});
  REQUIRE(decision.detailed);
  CHECK(decision.detailed->at("a") == PropertyDiff{DiffKind::kUpdate, true});
  CHECK(decision.detailed->at("gone") == PropertyDiff{DiffKind::kDelete, true});
  CHECK(decision.detailed->at("new") == PropertyDiff{DiffKind::kAdd, true});
  CHECK(InterpretDiff(unknown, before, after, {"a", "gone", "new"}).has_changes == false);
}

TEST_CASE("[E83] replacement comes from the keys or from a replacing kind") {
  DiffResponse response;
  response.changes = DiffChanges::kSome;
  CHECK_FALSE(InterpretDiff(response, {}, {}, {}).replaces);
  CHECK_FALSE(InterpretDiff(response, {}, {}, {}).detailed.has_value());
  response.detailed.emplace();
  response.detailed->emplace("map.x", PropertyDiff{DiffKind::kUpdateReplace, true});
  CHECK(InterpretDiff(response, {}, {}, {}).replaces);
  response.detailed.reset();
  response.replaces = {"size"};
  const DiffDecision decision = InterpretDiff(response, {}, {}, {});
  CHECK(decision.replaces);
  CHECK(decision.keys == std::vector<std::string>{"size"});
}

TEST_CASE("[E78] a provider's claim is believed whatever the inputs say") {
  DiffResponse none;
  none.changes = DiffChanges::kNone;
  CHECK_FALSE(InterpretDiff(none, Map({{"a", 1}}), Map({{"a", 2}}), {}).has_changes);
  DiffResponse some;
  some.changes = DiffChanges::kSome;
  CHECK(InterpretDiff(some, Map({{"a", 1}}), Map({{"a", 1}}), {}).has_changes);
}

TEST_CASE("[E87] replaceOnChanges raises what changed under its paths") {
  DiffDecision decision;
  decision.has_changes = true;
  decision.diffs = {"a", "b"};
  decision.detailed.emplace();
  decision.detailed->emplace("a.x", PropertyDiff{DiffKind::kAdd, true});
  SECTION("a listed key") {
    ApplyReplaceOnChanges(decision, {"a"}, false);
    CHECK(decision.replaces);
    CHECK(decision.keys == std::vector<std::string>{"a"});
    CHECK(decision.detailed->at("a.x").kind == DiffKind::kAddReplace);
  }
  SECTION("an unchanged key does nothing") {
    ApplyReplaceOnChanges(decision, {"c"}, false);
    CHECK_FALSE(decision.replaces);
  }
  SECTION("the wildcard covers init errors") {
    DiffDecision quiet;
    ApplyReplaceOnChanges(quiet, {"*"}, true);
    CHECK(quiet.replaces);
    CHECK(quiet.keys == std::vector<std::string>{"#initerror"});
  }
}

TEST_CASE("[E84] a replacement trigger") {
  CHECK_FALSE(TriggerReplaces(PropertyValue(), PropertyValue(1)));
  CHECK_FALSE(TriggerReplaces(PropertyValue(1), PropertyValue()));
  CHECK_FALSE(TriggerReplaces(MakeSecret("a"), PropertyValue("a")));
  CHECK(TriggerReplaces(PropertyValue("a"), PropertyValue("b")));
  CHECK(TriggerReplaces(PropertyValue("a"), PropertyValue(Unknown())));
}

}  // namespace davit
