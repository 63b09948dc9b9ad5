#include "engine/value/value_diff.h"

#include <catch2/catch.hpp>

#include "tests/value/value_generator.h"

namespace davit {
namespace {

std::string Shown(const std::vector<ValueChange>& changes) {
  std::string text;
  for (const ValueChange& change : changes) {
    text += change.kind == ChangeKind::kAdd ? '+' : change.kind == ChangeKind::kDelete ? '-' : '~';
    text += change.path.Text() + " ";
  }
  return text;
}

TEST_CASE("E79 leaves, list elements by index and whole containers, as recorded in diff-unknown") {
  const PropertyMap before{
      {"value", 1}, {"text", "t"}, {"map", PropertyMap{{"x", 1}, {"y", PropertyList{1, 2}}}}};
  const PropertyMap after{
      {"value", 2},
      {"map", PropertyMap{{"x", 1}, {"y", PropertyList{1, 3, 4}}, {"z", PropertyMap{}}}},
      {"list", PropertyList{}}};
  CHECK(Shown(DiffValues(before, after)) == "+list ~map.y[1] +map.y[2] +map.z -text ~value ");
  CHECK(ChangedKeys(before, after) == std::vector<std::string>{"list", "map", "text", "value"});
  CHECK(Shown(DiffValues(after, before)) == "-list ~map.y[1] -map.y[2] -map.z +text ~value ");
}

TEST_CASE("E79 S10 secrets and outputs are removed before comparing") {
  Output output;
  output.element = std::make_shared<const PropertyValue>("v");
  output.dependencies = {"urn"};
  CHECK(DiffValues({{"a", "v"}, {"b", PropertyList{"v"}}},
                   {{"a", Secret("v")}, {"b", PropertyList{output}}})
            .empty());
  CHECK(Shown(DiffValues({{"a", Secret(PropertyMap{{"k", 1}})}}, {{"a", PropertyMap{{"k", 2}}}})) ==
        "~a.k ");
}

TEST_CASE("E79 an unknown differs from everything known") {
  CHECK(Shown(DiffValues({{"a", 1}, {"b", PropertyMap{{"k", 1}}}},
                         {{"a", Unknown{}}, {"b", Output{}}, {"c", Unknown{}}})) == "~a ~b +c ");
}

TEST_CASE("E79 kinds differ, nulls count as absent members") {
  CHECK(Shown(DiffValues({{"a", PropertyList{}}, {"b", 1}}, {{"a", PropertyMap{}}, {"b", "1"}})) ==
        "~a ~b ");
  CHECK(DiffValues({{"a", Null{}}}, {}).empty());
  CHECK(Shown(DiffValues({{"a", Null{}}, {"b", 1}}, {{"a", 1}, {"b", Null{}}})) == "+a -b ");
  CHECK(Shown(DiffValues({{"a", PropertyList{Null{}}}}, {{"a", PropertyList{1}}})) == "~a[0] ");
}

TEST_CASE("E79 assets compare by hash") {
  Asset asset;
  asset.source = Asset::Source::kPath;
  asset.content = "here";
  asset.hash = "h";
  Asset moved = asset;
  moved.content = "there";
  CHECK(DiffValues({{"a", asset}}, {{"a", moved}}).empty());
  moved.hash = "i";
  CHECK(Shown(DiffValues({{"a", asset}}, {{"a", moved}})) == "~a ");
}

TEST_CASE("E79 generated maps: none for equal ones, additions mirror deletions") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    testing::ValueGenerator generator(seed);
    const PropertyMap a = generator.Map(4);
    const PropertyMap b = generator.Map(4);
    CHECK(DiffValues(a, a).empty());
    std::vector<ValueChange> back = DiffValues(b, a);
    for (ValueChange& change : back) {
      change.kind = change.kind == ChangeKind::kAdd      ? ChangeKind::kDelete
                    : change.kind == ChangeKind::kDelete ? ChangeKind::kAdd
                                                         : change.kind;
    }
    CHECK(Shown(back) == Shown(DiffValues(a, b)));
  }
}

}  // namespace
}  // namespace davit
