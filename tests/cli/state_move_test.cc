// Moving records between states, repairing a state, and drawing it (S160, S161, C41).

#include "cli/state_move.h"

#include <catch2/catch.hpp>

#include "cli/stack_graph.h"
#include "cli/state_repair.h"
#include "engine/model/provider_ref.h"

namespace davit {
namespace {

constexpr const char* kType = "t:m:T";

Urn RootOf(const std::string& stack) {
  return Urn::Make(stack, "p", Urn(), kRootStackType, "p-" + stack);
}
Urn ProviderOf(const std::string& stack) {
  return Urn::Make(stack, "p", Urn(), "pulumi:providers:t", "default");
}
Urn At(const std::string& stack, const std::string& name, const Urn& parent = Urn()) {
  return Urn::Make(stack, "p", parent, kType, name);
}

ResourceState Made(const Urn& urn, const Urn& parent = RootOf("a")) {
  ResourceState record;
  record.urn = urn;
  record.type = kType;
  record.custom = true;
  record.id = std::string(urn.name()) + "-id";
  record.parent = parent;
  record.provider = ProviderRef{ProviderOf("a"), "pid"}.Text();
  return record;
}

void Add(Snapshot* snapshot, ResourceState record) {
  snapshot->resources.push_back(std::make_shared<ResourceState>(std::move(record)));
}

// A root, a provider, `top` with `inner` below it, and `user` that depends on `inner`.
Snapshot Stack() {
  Snapshot snapshot;
  ResourceState root;
  root.urn = RootOf("a");
  root.type = kRootStackType;
  Add(&snapshot, root);
  ResourceState provider;
  provider.urn = ProviderOf("a");
  provider.type = "pulumi:providers:t";
  provider.custom = true;
  provider.id = "pid";
  Add(&snapshot, provider);
  Add(&snapshot, Made(At("a", "top")));
  Add(&snapshot, Made(At("a", "inner", At("a", "top")), At("a", "top")));
  ResourceState user = Made(At("a", "user"));
  const Urn inner = At("a", "inner", At("a", "top"));
  user.dependencies = {inner};
  user.property_dependencies["value"] = {inner};
  user.deleted_with = At("a", "top");
  Add(&snapshot, user);
  REQUIRE(VerifySnapshot(snapshot).empty());
  return snapshot;
}

StateMoveRequest To(const std::string& stack, std::vector<Urn> urns) {
  StateMoveRequest request;
  request.urns = std::move(urns);
  request.project = "p";
  request.stack = stack;
  return request;
}

std::vector<std::string> Names(const Snapshot& snapshot) {
  std::vector<std::string> names;
  for (const StatePtr& record : snapshot.resources) {
    names.emplace_back(record->urn.text());
  }
  return names;
}

TEST_CASE("[S160][C56] a move takes what is below along, copies providers and cuts the rest") {
  Snapshot source = Stack();
  Snapshot target;
  const Urn top = At("a", "top");
  const Result<StateMoveReport> report =
      MoveRecords(To("b", {top, At("a", "none")}), &source, &target);
  REQUIRE(report);
  CHECK(report->missing == std::vector<Urn>{At("a", "none")});
  CHECK(report->moved == std::vector<Urn>{top, At("a", "inner", top)});
  const Urn inner = At("a", "inner", top);
  const std::string user = At("a", "user").text();
  CHECK(report->staying ==
        std::vector<std::string>{user + " has a dependency on " + inner.text(),
                                 user + " (value) has a property dependency on " + inner.text(),
                                 user + " is marked as deleted with " + top.text()});
  CHECK(report->moving.empty());
  CHECK(Names(source) ==
        std::vector<std::string>{RootOf("a").text(), ProviderOf("a").text(), user});
  CHECK(Names(target) == std::vector<std::string>{RootOf("b").text(),
                                                  ProviderOf("b").text(),
                                                  At("b", "top").text(),
                                                  At("b", "inner", At("b", "top")).text()});
  CHECK(target.resources[1]->parent == RootOf("b"));
  CHECK(target.resources[3]->provider == ProviderRef{ProviderOf("b"), "pid"}.Text());
  CHECK(VerifySnapshot(source).empty());
  CHECK(VerifySnapshot(target).empty());

  // Back again: the provider is there already, though under another id.
  auto known = std::make_shared<ResourceState>(*source.resources[1]);
  known->id = "other";
  source.resources[1] = known;
  source.resources.pop_back();
  REQUIRE(MoveRecords(To("a", {RootOf("b")}), &target, &source));
  CHECK(source.resources.size() == 4);
  CHECK(source.resources[3]->provider == ProviderRef{ProviderOf("a"), "other"}.Text());
  CHECK(VerifySnapshot(source).empty());
}

TEST_CASE("[S160] without its parent a record stands below the root stack; with it, all goes") {
  const Urn inner = At("a", "inner", At("a", "top"));
  Snapshot source = Stack();
  Snapshot target;
  REQUIRE(MoveRecords(To("b", {inner}), &source, &target));
  CHECK(Names(target).back() == At("b", "inner").text());
  CHECK(target.resources.back()->parent == RootOf("b"));

  Snapshot whole = Stack();
  Snapshot other;
  StateMoveRequest request = To("b", {inner});
  request.include_parents = true;
  const Result<StateMoveReport> report = MoveRecords(request, &whole, &other);
  REQUIRE(report);
  CHECK(report->moved == std::vector<Urn>{At("a", "top"), inner});

  Snapshot third = Stack();
  Snapshot fourth;
  const Result<StateMoveReport> needing = MoveRecords(To("b", {At("a", "user")}), &third, &fourth);
  REQUIRE(needing);
  CHECK(needing->moving.size() == 3);
  CHECK(fourth.resources.back()->dependencies.empty());
}

TEST_CASE("[S160] moves that are refused") {
  const auto refusal = [](const StateMoveRequest& request, Snapshot source, Snapshot target) {
    const Result<StateMoveReport> report = MoveRecords(request, &source, &target);
    return report ? std::string() : report.error().message;
  };
  const StateMoveRequest top = To("b", {At("a", "top")});
  CHECK(refusal(To("b", {At("a", "none")}), Stack(), {}) == "no resources found to move");
  CHECK(refusal(To("b", {ProviderOf("a")}), Stack(), {}).find("cannot be moved") !=
        std::string::npos);
  Snapshot occupied;
  Add(&occupied, Made(At("b", "top"), Urn()));
  CHECK(refusal(top, Stack(), occupied) ==
        "resource '" + At("b", "top").text() + "' already exists in destination stack");
  Snapshot conflicting;
  ResourceState provider = *Stack().resources[1];
  provider.urn = ProviderOf("b");
  provider.id = "other";
  provider.inputs["region"] = PropertyValue("r");
  Add(&conflicting, provider);
  CHECK(refusal(top, Stack(), conflicting).find("another configuration") != std::string::npos);
  Snapshot pending = Stack();
  pending.pending_operations.push_back({OperationType::kUpdating, pending.resources[2]});
  CHECK(refusal(top, pending, {}).find("interrupted") != std::string::npos);
}

TEST_CASE("[S161][C57] a repair sorts, then prunes, and never invents a provider") {
  Snapshot snapshot = Stack();
  const Urn top = At("a", "top");
  std::swap(snapshot.resources[3], snapshot.resources[4]);   // `user` before `inner`
  snapshot.resources.erase(snapshot.resources.begin() + 2);  // `top`
  REQUIRE_FALSE(VerifySnapshot(snapshot).empty());
  const Result<StateRepairReport> report = RepairSnapshot(&snapshot);
  REQUIRE(report);
  CHECK(VerifySnapshot(snapshot).empty());
  CHECK(Names(snapshot) == std::vector<std::string>{RootOf("a").text(),
                                                    ProviderOf("a").text(),
                                                    At("a", "inner").text(),
                                                    At("a", "user").text()});
  CHECK(snapshot.resources[3]->dependencies == std::vector<Urn>{At("a", "inner")});
  CHECK(report->moved == std::vector<Urn>{At("a", "inner", top), At("a", "user")});
  CHECK(report->changes ==
        std::vector<std::string>{"~ " + At("a", "inner", top).text(),
                                 "  ~ " + At("a", "inner").text() + " [urn]",
                                 "  - " + top.text() + " [parent]",
                                 "~ " + At("a", "user").text(),
                                 "  - " + top.text() + " [deletedWith resource]"});

  Snapshot without = Stack();
  without.resources.erase(without.resources.begin() + 1);
  REQUIRE(RepairSnapshot(&without));
  CHECK_FALSE(VerifySnapshot(without).empty());

  Snapshot circle = Stack();
  auto first = std::make_shared<ResourceState>(*circle.resources[2]);
  first->dependencies = {At("a", "user")};
  circle.resources[2] = first;
  const Result<StateRepairReport> endless = RepairSnapshot(&circle);
  REQUIRE_FALSE(endless);
  CHECK(endless.error().message.find("needs itself") != std::string::npos);
}

TEST_CASE("[C41] the graph of a stack") {
  StackGraphOptions options;
  options.parent_color = "#AA6639";
  options.dependency_color = "#246C60";
  options.short_names = true;
  options.fragment = "rankdir=LR";
  CHECK(StackGraphText(Stack(), options) == R"(strict digraph {
rankdir=LR
    Resource0 [label="p-a"];
    Resource1 [label="default"];
    Resource2 [label="top"];
    Resource2 -> Resource0 [color = "#AA6639"];
    Resource3 [label="inner"];
    Resource3 -> Resource2 [color = "#AA6639"];
    Resource3 -> Resource4 [color = "#246C60", label = "value"];
    Resource4 [label="user"];
    Resource4 -> Resource0 [color = "#AA6639"];
}
)");
  options.parents = false;
  options.dependencies = false;
  CHECK(StackGraphText(Stack(), options).find("->") == std::string::npos);
}

}  // namespace
}  // namespace davit
