#include "engine/plan/record_graph.h"

#include <catch2/catch.hpp>

namespace davit {
namespace {

Urn Named(const std::string& name) {
  return Urn::Make("dev", "proj", Urn(), "test:index:Thing", name);
}

StatePtr Record(const std::string& name,
                const std::vector<std::string>& needs,
                const std::string& parent = "",
                bool custom = true) {
  auto state = std::make_shared<ResourceState>();
  state->urn = Named(name);
  state->type = "test:index:Thing";
  state->custom = custom;
  for (const std::string& need : needs) {
    state->dependencies.push_back(Named(need));
  }
  if (!parent.empty()) {
    state->parent = Named(parent);
  }
  return state;
}

using Indices = std::vector<std::size_t>;

}  // namespace

//   a <- b <- c    d
TEST_CASE("[E26] what nothing condemned depends on is deleted first, level by level") {
  const std::vector<StatePtr> records{
      Record("a", {}), Record("b", {"a"}), Record("c", {"b"}), Record("d", {})};
  const RecordGraph graph(records);
  const std::vector<Indices> batches = graph.DeleteBatches({0, 1, 2, 3});
  REQUIRE(batches.size() == 3);
  CHECK(batches[0] == Indices{2});
  CHECK(batches[1] == Indices{1});
  CHECK(batches[2] == Indices{0, 3});
  CHECK(graph.DeleteBatches({0, 2}).size() == 1);  // b stays, so nothing orders a and c
}

TEST_CASE("[E26] depending on a component is depending on its children") {
  const std::vector<StatePtr> records{Record("component", {}, "", false),
                                      Record("child", {}, "component"),
                                      Record("user", {"component"})};
  const RecordGraph graph(records);
  CHECK(graph.DependenciesOf(2) == Indices{0, 1});
  const std::vector<Indices> batches = graph.DeleteBatches({0, 1, 2});
  REQUIRE(batches.size() == 3);
  CHECK(batches[0] == Indices{2});
  CHECK(batches[1] == Indices{1});
}

TEST_CASE("[E88] dependents are transitive and leave out mere children") {
  const std::vector<StatePtr> records{
      Record("a", {}), Record("child", {}, "a"), Record("b", {"a"}), Record("c", {"b"})};
  const RecordGraph graph(records);
  CHECK(graph.DependentsOf(0) == Indices{2, 3});
  CHECK(graph.DependentsOf(2) == Indices{3});
}

TEST_CASE("[E88] what is tied by deletedWith or replaceWith is found by URN") {
  auto tied = std::make_shared<ResourceState>(*Record("tied", {}));
  tied->deleted_with = Named("a");
  auto with = std::make_shared<ResourceState>(*Record("with", {}));
  with->replace_with = {Named("a")};
  const std::vector<StatePtr> records{Record("a", {}), tied, with};
  const RecordGraph graph(records);
  CHECK(graph.TiedTo(Named("a")) == Indices{1, 2});
  CHECK(graph.TiedTo(Named("tied")).empty());
}

TEST_CASE("[E32] reachable records are what a kept record needs") {
  const std::vector<StatePtr> records{
      Record("a", {}), Record("b", {"a"}), Record("c", {}), Record("d", {"b"})};
  const RecordGraph graph(records);
  CHECK(graph.Reachable({3}) == std::set<std::size_t>{0, 1});
}

TEST_CASE("[E26] a long chain and a wide fan cost no more than their edges") {
  std::vector<StatePtr> records;
  for (int index = 0; index < 20000; ++index) {
    records.push_back(Record(std::to_string(index),
                             index == 0 ? std::vector<std::string>()
                                        : std::vector<std::string>{std::to_string(index - 1)}));
  }
  const RecordGraph graph(records);
  Indices all(records.size());
  for (std::size_t index = 0; index < all.size(); ++index) {
    all[index] = index;
  }
  CHECK(graph.DeleteBatches(all).size() == 20000);
  CHECK(graph.DependentsOf(0).size() == 19999);
}

}  // namespace davit
