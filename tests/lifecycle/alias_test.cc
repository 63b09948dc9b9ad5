// Records found through aliases (E46-E52).
#include <catch2/catch.hpp>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

using Lines = std::vector<std::string>;

std::function<void(Goal&)> Was(const std::string& name) {
  return [name](Goal& goal) {
    AliasSpec alias;
    alias.name = name;
    goal.aliases.push_back(std::move(alias));
  };
}

}  // namespace

TEST_CASE("[E49] [E52] a renamed resource is the same one; [S76] its dependents too") {
  FakeStack stack;
  stack.Up({{.name = "a"}, {.name = "b", .from = {{"x", "a"}}}});
  const std::string id = stack.Record("a")->id;
  CHECK(stack.Up({{.name = "a2", .adjust = Was("a")}, {.name = "b", .from = {{"x", "a2"}}}}).kind ==
        DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes().empty());
  CHECK(stack.Record("a") == nullptr);
  CHECK(stack.Record("a2")->id == id);
  CHECK(stack.Record("a2")->aliases.empty());
  CHECK(stack.Record("b")->dependencies == std::vector<Urn>{stack.Record("a2")->urn});
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[S77] renamed and replaced: made under the new URN, the old object goes last") {
  FakeStack stack;
  stack.host.behaviour.diff = AnyChangeReplaces;
  stack.Up({{.name = "a", .properties = {{"v", 1}}}});
  stack.Up({{.name = "a2", .properties = {{"v", 2}}, .adjust = Was("a")}});
  CHECK(stack.Changes() == Lines{"Create a2", "Delete a"});
  CHECK(stack.Record("a") == nullptr);
}

TEST_CASE("[S85] [E51] what the program no longer registers refers to the new URN") {
  FakeStack stack;
  stack.Up({{.name = "a"}, {.name = "b", .from = {{"x", "a"}}}});
  stack.host.behaviour.remove = [](const DeleteRequest&) -> Result<void> {
    return Fail(ErrorKind::kFailed, "in use");
  };
  CHECK(stack.Up({{.name = "a2", .adjust = Was("a")}}).kind == DeploymentResultKind::kFailed);
  REQUIRE(stack.Record("b") != nullptr);
  CHECK(stack.Record("b")->dependencies == std::vector<Urn>{stack.Record("a2")->urn});
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[S84] a record under the present URN wins; the one under the alias is deleted") {
  FakeStack stack;
  stack.Up({{.name = "a"}, {.name = "b"}});
  stack.Up({{.name = "b", .adjust = Was("a")}});
  CHECK(stack.Changes() == Lines{"Delete a"});
}

TEST_CASE("[E50] [S83] one record cannot belong to two resources") {
  SECTION("both are there: the alias is taken (2008)") {
    FakeStack stack;
    stack.Up({{.name = "a"}});
    CHECK(stack.Up({{.name = "a"}, {.name = "b", .after = {"a"}, .adjust = Was("a")}}).kind ==
          DeploymentResultKind::kFailed);
    CHECK(stack.events.Problems()[0].find("belongs to") != std::string::npos);
  }
  SECTION("the alias came first: the URN is taken (2016)") {
    FakeStack stack;
    stack.Up({{.name = "a"}});
    CHECK(stack.Up({{.name = "b", .adjust = Was("a")}, {.name = "a", .after = {"b"}}}).kind ==
          DeploymentResultKind::kFailed);
    CHECK(stack.events.Problems()[0].find("already an alias of") != std::string::npos);
  }
  SECTION("an alias that matches nothing does no harm") {
    FakeStack stack;
    CHECK(stack.Up({{.name = "a", .adjust = Was("never")}}).kind ==
          DeploymentResultKind::kSucceeded);
  }
}

TEST_CASE("[E49] a provider does not take over the record of a resource by an alias") {
  FakeStack stack;
  stack.Up({{.name = "a"}});
  const std::string urn = stack.Record("a")->urn.text();
  CHECK(stack
            .Up({{.name = "p",
                  .adjust =
                      [urn](Goal& goal) {
                        goal.aliases.push_back(AliasSpec{.urn = Urn::Trusted(urn)});
                      },
                  .type = "pulumi:providers:test"}})
            .kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == std::vector<std::string>{"Delete a"});
}

}  // namespace davit::testing
