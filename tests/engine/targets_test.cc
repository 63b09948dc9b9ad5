#include "engine/plan/targets.h"

#include <catch2/catch.hpp>

namespace davit {

TEST_CASE("[E120] literals and globs of target lists") {
  const Urn urn = Urn::Trusted("urn:pulumi:dev::proj::test:index:Thing::a");
  CHECK_FALSE(TargetList().Names(urn));
  CHECK(TargetList().empty());
  CHECK(TargetList({urn.text()}).Names(urn));
  CHECK_FALSE(TargetList({"urn:pulumi:dev::proj::test:index:Thing::b"}).Names(urn));
  CHECK(TargetList({"**"}).Names(urn));
  CHECK(TargetList({"**::a"}).Names(urn));
  CHECK(TargetList({"urn:pulumi:dev::proj::test:*:Thing::*"}).Names(urn));
  CHECK_FALSE(TargetList({"*::a"}).Names(urn));     // one star does not cross a colon
  CHECK_FALSE(TargetList({"**Thing"}).Names(urn));  // the whole URN has to match
  CHECK(TargetList({"**", "x"}).Literals() == std::vector<std::string>{"x"});
}

TEST_CASE("[E120] no pattern takes exponential time") {
  std::string pattern;
  for (int index = 0; index < 40; ++index) {
    pattern += "**a";
  }
  CHECK_FALSE(TargetList({pattern + "b"}).Names(Urn::Trusted(std::string(2000, 'a'))));
}

}  // namespace davit
