#include "engine/plan/targets.h"

#include <catch2/catch.hpp>

namespace davit {

TEST_CASE("[E120] literals and globs of target lists") {
  const Urn urn = Urn::Trusted("urn:pulumi:dev::proj::test:index:Thing::a");
  CHECK(TargetList().Contains(urn));
  CHECK_FALSE(TargetList().is_constrained());
  CHECK(TargetList({urn.text()}).Contains(urn));
  CHECK_FALSE(TargetList({"urn:pulumi:dev::proj::test:index:Thing::b"}).Contains(urn));
  CHECK(TargetList({"**"}).Contains(urn));
  CHECK(TargetList({"**::a"}).Contains(urn));
  CHECK(TargetList({"urn:pulumi:dev::proj::test:*:Thing::*"}).Contains(urn));
  CHECK_FALSE(TargetList({"*::a"}).Contains(urn));     // one star does not cross a colon
  CHECK_FALSE(TargetList({"**Thing"}).Contains(urn));  // the whole URN has to match
  CHECK(TargetList({"**", "x"}).Literals() == std::vector<std::string>{"x"});
}

TEST_CASE("[E120] no pattern takes exponential time") {
  std::string pattern;
  for (int index = 0; index < 40; ++index) {
    pattern += "**a";
  }
  CHECK_FALSE(TargetList({pattern + "b"}).Contains(Urn::Trusted(std::string(2000, 'a'))));
}

}  // namespace davit
