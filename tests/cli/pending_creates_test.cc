// Creates that an earlier run began (E151).

#include "cli/pending_creates.h"

#include <catch2/catch.hpp>

namespace davit {
namespace {

Urn UrnOf(const std::string& name) {
  return Urn::Trusted("urn:pulumi:dev::p::t:m:T::" + name);
}

StatePtr Begun(const std::string& name) {
  auto record = std::make_shared<ResourceState>();
  record->urn = UrnOf(name);
  record->type = "t:m:T";
  record->custom = true;
  return record;
}

Snapshot Interrupted() {
  auto old = std::make_shared<ResourceState>(*Begun("replaced"));
  old->id = "old";
  Snapshot snapshot;
  snapshot.resources = {old};
  snapshot.pending_operations = {{OperationType::kCreating, Begun("a")},
                                 {OperationType::kUpdating, Begun("b")},
                                 {OperationType::kCreating, Begun("replaced")}};
  return snapshot;
}

TEST_CASE("[E151] only creates wait for an answer; those that are cleared are forgotten") {
  Snapshot snapshot = Interrupted();
  CHECK(PendingCreates(snapshot) == std::vector<Urn>{UrnOf("a"), UrnOf("replaced")});
  PendingCreateChoices choices;
  choices.cleared = {UrnOf("a"), UrnOf("b")};
  REQUIRE(SettlePendingCreates(choices, &snapshot));
  REQUIRE(snapshot.pending_operations.size() == 2);
  CHECK(snapshot.pending_operations[0].resource->urn == UrnOf("b"));
  CHECK(snapshot.pending_operations[1].resource->urn == UrnOf("replaced"));
  CHECK(snapshot.resources.size() == 1);
}

TEST_CASE("[E151] what is adopted becomes a record, and what it replaces waits for its deletion") {
  Snapshot snapshot = Interrupted();
  PendingCreateChoices choices;
  choices.adopted[UrnOf("a")] = "a-1";
  choices.adopted[UrnOf("replaced")] = "new";
  REQUIRE(SettlePendingCreates(choices, &snapshot));
  CHECK(snapshot.pending_operations.size() == 1);
  REQUIRE(snapshot.resources.size() == 3);
  CHECK(snapshot.resources[0]->id == "old");
  CHECK(snapshot.resources[0]->pending_delete);
  CHECK(snapshot.resources[1]->id == "a-1");
  CHECK(snapshot.resources[2]->id == "new");
  CHECK_FALSE(snapshot.resources[2]->pending_delete);
}

TEST_CASE("[C15] a pair without id, a wrong URN and a create that is not pending are errors") {
  CHECK(ParseAdopted({UrnOf("a").text(), "a-1"})->at(UrnOf("a")) == "a-1");
  CHECK_FALSE(ParseAdopted({UrnOf("a").text()}));
  CHECK_FALSE(ParseAdopted({"a", "a-1"}));
  CHECK_FALSE(ParseAdopted({UrnOf("a").text(), ""}));
  Snapshot snapshot = Interrupted();
  PendingCreateChoices choices;
  choices.adopted[UrnOf("b")] = "b-1";
  const Result<void> refused = SettlePendingCreates(choices, &snapshot);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Catch::Contains(UrnOf("b").text()));
  CHECK(snapshot.pending_operations.size() == 3);
}

}  // namespace
}  // namespace davit
