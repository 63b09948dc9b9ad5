#include "engine/value/property_path.h"

#include <catch2/catch.hpp>

#include "tests/value/value_generator.h"

namespace davit {
namespace {

PropertyPath Path(std::string_view text) {
  return PropertyPath::Parse(text).value();
}

using Segments = std::vector<PathSegment>;

TEST_CASE("S100 the text form of property paths") {
  const std::pair<const char*, Segments> cases[] = {
      {"", {}},
      {"a", {"a"}},
      {"a.b", {"a", "b"}},
      {"a[0]", {"a", 0}},
      {"a[12].b", {"a", 12, "b"}},
      {"[\"root.key\"].x", {"root.key", "x"}},
      {"a[\"k.e\\\"y\"]", {"a", "k.e\"y"}},
      {"a[\"\"]", {"a", ""}},
      {"*", {Wildcard{}}},
      {"a[*].b", {"a", Wildcard{}, "b"}},
      {"a.*.b", {"a", Wildcard{}, "b"}},
      {"a[\"*\"]", {"a", "*"}},
      {"a b-c]", {"a b-c]"}},
      {"a.[0]", {"a", 0}},
  };
  for (const auto& [text, segments] : cases) {
    const Result<PropertyPath> path = PropertyPath::Parse(text);
    REQUIRE(path);
    CHECK(path->segments() == segments);
  }
}

TEST_CASE("S100 malformed paths name the position") {
  const std::pair<const char*, const char*> cases[] = {{"[", "position 2"},
                                                       {"a[", "position 3"},
                                                       {"a[x]", "position 3"},
                                                       {"a[-1]", "position 3"},
                                                       {"a[99999999999]", "position 3"},
                                                       {"a[]", "position 3"},
                                                       {"a[\"b", "position 5"},
                                                       {"a[\"b\"", "position 6"},
                                                       {"a[\"b\"x", "position 6"}};
  for (const auto& [text, position] : cases) {
    const Result<PropertyPath> path = PropertyPath::Parse(text);
    REQUIRE_FALSE(path);
    CHECK(path.error().kind == ErrorKind::kInvalid);
    CHECK(path.error().message.find(position) != std::string::npos);
  }
  CHECK_FALSE(PropertyPath::Parse("a.[0]", true));
  CHECK(PropertyPath::Parse("a[0].b", true));
}

TEST_CASE("S100 printed paths parse to themselves") {
  CHECK(Path("map.y[1]").Text() == "map.y[1]");
  CHECK(PropertyPath({"x.y", 0, "q\"", Wildcard{}, "*"}).Text() ==
        "[\"x.y\"][0][\"q\\\"\"][*][\"*\"]");
  testing::ValueGenerator generator(11);
  for (int left = 500; left > 0; --left) {
    Segments segments;
    for (int length = generator.Below(5); length > 0; --length) {
      switch (generator.Below(3)) {
        case 0:
          segments.emplace_back(generator.Below(100));
          break;
        case 1:
          segments.emplace_back(Wildcard{});
          break;
        default:
          // A backslash before the closing quote cannot be written down: only quotes are escaped.
          segments.emplace_back(generator.Text() + "x");
      }
    }
    const PropertyPath path(segments);
    CHECK(PropertyPath::Parse(path.Text()).value() == path);
  }
}

TEST_CASE("E87 a path contains what lies at or below it") {
  CHECK(Path("a").Contains(Path("a")));
  CHECK(Path("a").Contains(Path("a.b[0]")));
  CHECK_FALSE(Path("a.b").Contains(Path("a")));
  CHECK(Path("*").Contains(Path("a.b")));
  CHECK(Path("a[*].b").Contains(Path("a[3].b.c")));
  CHECK_FALSE(Path("a[*].b").Contains(Path("a[3].c")));
  CHECK_FALSE(Path("a[0]").Contains(Path("a[\"0\"]")));
  CHECK(PropertyPath().Contains(Path("x")));
}

TEST_CASE("values are read through wrappers, and stay secret") {
  const PropertyValue root(PropertyMap{{"list", PropertyList{1, PropertyMap{{"k", "v"}}}},
                                       {"hidden", Secret(PropertyMap{{"k", PropertyList{7}}})}});
  CHECK(Path("list[1].k").Get(root) == PropertyValue("v"));
  CHECK(Path("hidden.k[0]").Get(root) == PropertyValue(Secret(7)));
  CHECK(Path("").Get(root) == root);
  for (const char* missing : {"x", "list[2]", "list.k", "list[0].k", "list[*]", "*"}) {
    CHECK_FALSE(Path(missing).Get(root));
  }
}

TEST_CASE("setting replaces or adds, creates no containers and keeps wrappers") {
  const PropertyValue root(
      PropertyMap{{"list", PropertyList{1, 2}}, {"hidden", Secret(PropertyMap{{"k", 1}})}});
  CHECK(Path("list[1]").Set(root, 9) ==
        PropertyValue(
            PropertyMap{{"list", PropertyList{1, 9}}, {"hidden", Secret(PropertyMap{{"k", 1}})}}));
  CHECK(Path("hidden.n").Set(root, 2) ==
        PropertyValue(PropertyMap{{"list", PropertyList{1, 2}},
                                  {"hidden", Secret(PropertyMap{{"k", 1}, {"n", 2}})}}));
  CHECK(Path("").Set(root, 3) == PropertyValue(3));
  for (const char* missing : {"x.y", "list[2]", "list.k", "list[*]", "hidden.k.x"}) {
    CHECK_FALSE(Path(missing).Set(root, 9));
  }
}

TEST_CASE("deleting removes members and shifts lists") {
  const PropertyValue root(
      PropertyMap{{"list", PropertyList{1, 2, 3}}, {"hidden", Secret(PropertyMap{{"k", 1}})}});
  CHECK(Path("list[1]").Delete(root) ==
        PropertyValue(
            PropertyMap{{"list", PropertyList{1, 3}}, {"hidden", Secret(PropertyMap{{"k", 1}})}}));
  CHECK(Path("hidden.k").Delete(root) ==
        PropertyValue(
            PropertyMap{{"list", PropertyList{1, 2, 3}}, {"hidden", Secret(PropertyMap{})}}));
  for (const char* missing : {"", "x", "list[3]", "list[*]", "hidden.x", "list[0].k"}) {
    CHECK_FALSE(Path(missing).Delete(root));
  }
}

TEST_CASE("what is set can be read back and deleted again") {
  testing::ValueGenerator generator(23);
  for (int left = 300; left > 0; --left) {
    const PropertyValue root(generator.Map(4));
    const PropertyPath path({"fresh key", "inner"});
    const PropertyValue with_map = Path("[\"fresh key\"]").Set(root, PropertyMap{}).value();
    const PropertyValue value = generator.Value(2);
    const PropertyValue set = path.Set(with_map, value).value();
    CHECK(path.Get(set) == value);
    CHECK(path.Delete(set) == with_map);
    CHECK(Path("[\"fresh key\"]").Delete(set) == root);
  }
}

}  // namespace
}  // namespace davit
