// Versions and ranges (P3, P9, P101).

#include <catch2/catch.hpp>

#include "engine/base/semver.h"

namespace davit::testing {
namespace {

TEST_CASE("P3 tolerant versions") {
  REQUIRE(Semver::ParseTolerant("v1")->Text() == "1.0.0");
  REQUIRE(Semver::ParseTolerant(" 1.2 ")->Text() == "1.2.0");
  REQUIRE(Semver::ParseTolerant("01.2.3")->Text() == "1.2.3");
  REQUIRE(Semver::ParseTolerant("1.2.3-alpha.1+b.2")->Text() == "1.2.3-alpha.1+b.2");
  for (const char* bad : {"", "x", "1.2.3.4", "1..2", "1.2.3-", "1.2.3-01", "1.2.3+", "-1.0.0"}) {
    INFO(bad);
    REQUIRE(!Semver::ParseTolerant(bad));
  }
  REQUIRE(!Semver::ParseStrict("1.2"));
  REQUIRE(!Semver::ParseStrict("v1.2.3"));
  REQUIRE(!Semver::ParseStrict("1.02.3"));
}

TEST_CASE("P9 precedence ignores build metadata") {
  const char* ascending[] = {"0.0.0-xabc",
                             "1.0.0-alpha",
                             "1.0.0-alpha.1",
                             "1.0.0-alpha.beta",
                             "1.0.0-beta.2",
                             "1.0.0-beta.11",
                             "1.0.0-rc.1",
                             "1.0.0",
                             "1.0.1",
                             "1.2.0",
                             "10.0.0"};
  for (std::size_t index = 1; index < std::size(ascending); ++index) {
    INFO(ascending[index]);
    REQUIRE(*Semver::ParseStrict(ascending[index - 1]) < *Semver::ParseStrict(ascending[index]));
  }
  REQUIRE(*Semver::ParseStrict("1.0.0+a") == *Semver::ParseStrict("1.0.0+b"));
}

TEST_CASE("P101 ranges in blang syntax") {
  struct Case {
    const char* range;
    bool is_in;
  };
  const Semver version = *Semver::ParseStrict("3.274.1");
  for (const Case& test : {Case{"3.274.1", true},
                           Case{"=3.274.1", true},
                           Case{"==3.274.0", false},
                           Case{">=3.0.0", true},
                           Case{">= 3.0.0", true},
                           Case{">=3.0.0 <4.0.0", true},
                           Case{">=3.0.0 <3.274.1", false},
                           Case{"<3.0.0 || >3.100.0", true},
                           Case{"<3.0.0||>4.0.0", false},
                           Case{"!3.274.1", false},
                           Case{"!=3.0.0", true},
                           Case{"3.x", true},
                           Case{"3.274.x", true},
                           Case{"2.x.x", false},
                           Case{">3.x", false},
                           Case{"<=3.x", true},
                           Case{"!3.x", false},
                           Case{"x", true},
                           Case{">=3", true}}) {
    INFO(test.range);
    const Result<bool> is_in = IsInRange(version, test.range);
    REQUIRE(is_in);
    REQUIRE(*is_in == test.is_in);
  }
  for (const char* bad : {"", "abc", ">=", "1.2.3 ||", "~1.2.3", ">>1.0.0", "x.1"}) {
    INFO(bad);
    REQUIRE(!IsInRange(version, bad));
  }
}

}  // namespace
}  // namespace davit::testing
