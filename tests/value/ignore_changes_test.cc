#include <catch2/catch.hpp>

#include "engine/value/property_path.h"

namespace davit {
namespace {

struct Applied {
  PropertyMap inputs;
  std::vector<std::string> failed;
};

Applied Apply(const PropertyMap& old_inputs,
              const PropertyMap& new_inputs,
              const std::vector<std::string>& paths) {
  Applied applied;
  applied.inputs = ApplyIgnoreChanges(old_inputs, new_inputs, paths, &applied.failed);
  return applied;
}

void CheckApplied(const Applied& applied,
                  const PropertyMap& inputs,
                  const std::vector<std::string>& failed = {}) {
  CHECK(DebugText(applied.inputs) == DebugText(inputs));
  CHECK(PropertyValue(applied.inputs) == PropertyValue(inputs));
  CHECK(applied.failed == failed);
}

TEST_CASE("E74 S23 the old value is kept, put back or stays away") {
  CheckApplied(Apply({{"a", 1}, {"b", 1}}, {{"a", 2}, {"b", 1}}, {"a"}), {{"a", 1}, {"b", 1}});
  CheckApplied(Apply({{"a", 1}, {"b", 1}}, {{"b", 1}}, {"a"}), {{"a", 1}, {"b", 1}});
  CheckApplied(Apply({{"b", 1}}, {{"a", 1}, {"b", 1}}, {"a"}), {{"b", 1}});
  CheckApplied(Apply({{"a", 1}}, {{"a", 3}, {"b", 2}}, {"a"}), {{"a", 1}, {"b", 2}});
}

TEST_CASE("E74 S24 paths with indexes, wildcards and quoted keys") {
  const auto inputs = [](int first, int second, int x, int k, int n1, int n2, int m) {
    return PropertyMap{
        {"list", PropertyList{first, second}},
        {"map", PropertyMap{{"x.y", x}, {"z", PropertyMap{{"k", k}}}}},
        {"other",
         PropertyList{PropertyMap{{"n", n1}, {"m", 1}}, PropertyMap{{"n", n2}, {"m", m}}}}};
  };
  CheckApplied(Apply(inputs(1, 2, 1, 1, 1, 2, 2),
                     inputs(9, 3, 9, 9, 8, 9, 7),
                     {"list[0]", "map[\"x.y\"]", "map.z.k", "other[*].n"}),
               inputs(1, 3, 1, 1, 1, 2, 7));
}

TEST_CASE("E74 a star restores everything") {
  const PropertyMap old_inputs{{"a", 1}, {"gone", 2}, {"list", PropertyList{1}}};
  CheckApplied(Apply(old_inputs, {{"a", 2}, {"new", 1}, {"list", PropertyList{}}}, {"*"}),
               old_inputs);
}

TEST_CASE("E75 S26 what cannot be applied leaves the program's value and is reported") {
  const PropertyMap old_inputs{{"map", PropertyMap{{"bar", 1}}},
                               {"list", PropertyList{1}},
                               {"other", PropertyList{1}},
                               {"extra", PropertyMap{{"k", 1}}},
                               {"note", PropertyMap{{"k", PropertyMap{{"j", 1}}}}}};
  const PropertyMap new_inputs{{"list", PropertyList{}},
                               {"other", PropertyList{1, 2}},
                               {"extra", "text"},
                               {"note", PropertyMap{}}};
  CheckApplied(Apply(old_inputs,
                     new_inputs,
                     {"map.bar", "list[0]", "other[1]", "extra.k", "note.k.j", "none.at.all", "["}),
               new_inputs,
               {"map.bar", "list[0]", "other[1]", "extra.k", "note.k.j"});
}

TEST_CASE("E75 containers of the other kind on one side fail, on neither side nothing happens") {
  CheckApplied(Apply({{"a", "text"}}, {{"a", PropertyMap{{"k", 1}}}}, {"a.k"}),
               {{"a", PropertyMap{{"k", 1}}}},
               {"a.k"});
  CheckApplied(Apply({{"a", PropertyList{1}}}, {{"a", PropertyMap{{"k", 1}}}}, {"a[*]"}),
               {{"a", PropertyMap{{"k", 1}}}},
               {"a[*]"});
  CheckApplied(Apply({{"a", "x"}}, {{"a", "y"}}, {"a.k", "a[0]", "a[*]", "b.c"}), {{"a", "y"}});
}

TEST_CASE("E74 a location that the old inputs lack is removed below new containers too") {
  CheckApplied(Apply({}, {{"a", PropertyMap{{"k", 1}, {"l", 2}}}}, {"a.k"}),
               {{"a", PropertyMap{{"l", 2}}}});
  CheckApplied(
      Apply({{"a", PropertyMap{{"x", PropertyMap{{"k", 1}}}}}},
            {{"a", PropertyMap{{"x", PropertyMap{{"k", 2}}}, {"y", PropertyMap{{"k", 3}}}}}},
            {"a.*.k"}),
      {{"a", PropertyMap{{"x", PropertyMap{{"k", 1}}}, {"y", PropertyMap{}}}}});
}

TEST_CASE("E75 B053 a wildcard over lists of different lengths restores what both have") {
  const auto element = [](int n, int m) { return PropertyMap{{"n", n}, {"m", m}}; };
  CheckApplied(Apply({{"a", PropertyList{element(1, 1)}}},
                     {{"a", PropertyList{element(5, 6), element(7, 8)}}},
                     {"a[*].n"}),
               {{"a", PropertyList{element(1, 6), element(7, 8)}}},
               {"a[*].n"});
}

TEST_CASE("E75 S25 secrets are looked through and restored secrets stay secret") {
  CheckApplied(Apply({{"v", Secret("one")}}, {{"v", "three"}}, {"v"}), {{"v", Secret("one")}});
  // Only the old container was secret: its member must not come out in clear.
  const Applied applied = Apply({{"m", Secret(PropertyMap{{"k", "one"}})}},
                                {{"m", PropertyMap{{"k", "two"}, {"l", 1}}}},
                                {"m.k"});
  CheckApplied(applied, {{"m", PropertyMap{{"k", Secret("one")}, {"l", 1}}}});
  // Both were: the wrapper of the new one is kept.
  CheckApplied(Apply({{"m", Secret(PropertyMap{{"k", "one"}})}},
                     {{"m", Secret(PropertyMap{{"k", "two"}})}},
                     {"m.k"}),
               {{"m", Secret(PropertyMap{{"k", "one"}})}});
}

TEST_CASE("E74 paths apply one after the other, and failures need not be collected") {
  CHECK(PropertyValue(ApplyIgnoreChanges({{"a", 1}, {"b", PropertyList{}}},
                                         {{"a", 2}, {"b", PropertyList{1}}},
                                         {"b[0]", "a", ""},
                                         nullptr)) ==
        PropertyValue(PropertyMap{{"a", 1}, {"b", PropertyList{1}}}));
}

}  // namespace
}  // namespace davit
