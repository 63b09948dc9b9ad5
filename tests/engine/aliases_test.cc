#include "engine/plan/aliases.h"

#include <catch2/catch.hpp>

namespace davit {
namespace {

Urn Of(const Urn& parent, std::string_view type, std::string_view name) {
  return Urn::Make("dev", "proj", parent, type, name);
}

const Urn kStack = Of(Urn(), kRootStackType, "proj-dev");

}  // namespace

TEST_CASE("[E47] what an alias leaves out is the resource's own") {
  AliasTable table;
  const Urn parent = Of(kStack, "my:index:Comp", "c");
  const Urn urn = Of(parent, "t:index:Thing", "x");
  AliasSpec renamed;
  renamed.name = "old";
  AliasSpec retyped;
  retyped.type = "t:index:Other";
  AliasSpec moved;
  moved.no_parent = true;
  AliasSpec elsewhere;
  elsewhere.parent = Of(kStack, "my:index:Comp", "d");
  AliasSpec under_stack;
  under_stack.parent = kStack;
  AliasSpec other_project;
  other_project.project = "p2";
  other_project.no_parent = true;
  AliasSpec exact;
  exact.urn = Of(Urn(), "a:b:C", "exact");
  CHECK(table.Resolve(
            urn, parent, {renamed, retyped, moved, elsewhere, under_stack, other_project, exact}) ==
        std::vector<Urn>{Of(parent, "t:index:Thing", "old"),
                         Of(parent, "t:index:Other", "x"),
                         Of(Urn(), "t:index:Thing", "x"),
                         Of(elsewhere.parent, "t:index:Thing", "x"),
                         Urn::Make("dev", "p2", Urn(), "t:index:Thing", "x"),
                         exact.urn});
}

TEST_CASE("[E47] a parent that was renamed in this run is meant by its old URN") {
  AliasTable table;
  const Urn before = Of(kStack, "my:index:Comp", "old");
  const Urn now = Of(kStack, "my:index:Comp", "new");
  table.Claim(before, now);
  AliasSpec spec;
  spec.parent = now;
  const Urn urn = Of(kStack, "t:index:Thing", "x");
  CHECK(table.Resolve(urn, kStack, {spec}) == std::vector<Urn>{Of(before, "t:index:Thing", "x")});
}

TEST_CASE("[E48] children follow their parent's alias, and names that begin with its name") {
  AliasTable table;
  const Urn before = Of(kStack, "my:index:Old", "old");
  const Urn now = Of(kStack, "my:index:New", "new");
  table.Claim(before, now);
  AliasSpec renamed;
  renamed.name = "new-y";
  const Urn urn = Of(now, "t:index:Thing", "new-x");
  CHECK(table.Resolve(urn, now, {renamed}) ==
        std::vector<Urn>{Of(now, "t:index:Thing", "new-y"),
                         Of(before, "t:index:Thing", "old-x"),
                         Of(before, "t:index:Thing", "old-y")});
}

TEST_CASE("[E51] old and new URN lead to each other") {
  AliasTable table;
  const Urn before = Of(kStack, "t:index:Thing", "a");
  const Urn now = Of(kStack, "t:index:Thing", "b");
  table.Claim(before, now);
  CHECK(table.NewOf(before) == now);
  CHECK(table.OldOf(now) == before);
  CHECK(table.Current(before) == now);
  CHECK(table.Current(now) == now);
  CHECK(table.NewOf(now).empty());
}

}  // namespace davit
