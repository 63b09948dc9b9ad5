// Targets, excludes and forced replacements (E120-E137, E154).
#include <catch2/catch.hpp>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

using Lines = std::vector<std::string>;

std::vector<FakeResource> Chain(int value) {
  return {{.name = "a", .properties = {{"v", value}}},
          {.name = "b", .properties = {{"v", value}}, .from = {{"x", "a"}}},
          {.name = "c", .properties = {{"v", value}}, .from = {{"x", "b"}}},
          {.name = "d", .properties = {{"v", value}}}};
}

std::string UrnOf(const std::string& name) {
  return "urn:pulumi:dev::proj::test:index:Thing::" + name;
}

}  // namespace

TEST_CASE("[E121] only targets change; [E126] the others keep what the state has") {
  FakeStack stack;
  stack.Up(Chain(1));
  stack.options.targets = {UrnOf("b")};
  CHECK(stack.Up(Chain(2)).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Update b"});
  CHECK(stack.Record("a")->inputs.at("v") == PropertyValue(1));
  CHECK(stack.Record("b")->inputs.at("v") == PropertyValue(2));
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[S123] dependents of targets can be targets too") {
  FakeStack stack;
  stack.Up(Chain(1));
  stack.options.targets = {UrnOf("b")};
  stack.options.target_dependents = true;
  stack.Up(Chain(2));
  CHECK(stack.Changes() == Lines{"Update b", "Update c"});
}

TEST_CASE("[S130] excludes, with and without dependents") {
  FakeStack stack;
  stack.Up(Chain(1));
  stack.options.excludes = {UrnOf("b")};
  stack.Up(Chain(2));
  CHECK(std::ranges::count(stack.Changes(), "Update b") == 0);
  CHECK(stack.Changes().size() == 3);
  stack.options.exclude_dependents = true;
  stack.Up(Chain(3));
  CHECK(std::ranges::count(stack.Changes(), "Update c") == 0);
  CHECK(stack.Changes().size() == 2);
}

TEST_CASE("[E124] a new resource that is not targeted is not made; [S118] nobody may need it") {
  FakeStack stack;
  stack.options.targets = {UrnOf("d")};
  CHECK(stack.Up({{.name = "a"}, {.name = "d"}}).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Record("a") == nullptr);
  CHECK(stack.Up({{.name = "a"}, {.name = "d", .after = {"a"}}}).kind ==
        DeploymentResultKind::kFailed);
  CHECK(stack.events.Problems()[0].find("not targeted and does not exist yet") !=
        std::string::npos);
  CHECK(stack.Changes().empty());
}

TEST_CASE("[E132] [S124] what the program dropped is kept, before what depends on it") {
  FakeStack stack;
  stack.Up(Chain(1));
  stack.options.targets = {UrnOf("d")};
  std::vector<FakeResource> program{{.name = "c", .properties = {{"v", 1}}},
                                    {.name = "d", .properties = {{"v", 2}}}};
  CHECK(stack.Up(std::move(program)).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Update d"});
  CHECK(stack.Record("a") != nullptr);
  CHECK(stack.Record("c")->dependencies == std::vector<Urn>{stack.Record("b")->urn});
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[E128] [S127] a resource is replaced on demand; [E137] it has to exist") {
  FakeStack stack;
  stack.Up(Chain(1));
  stack.options.replaces = {UrnOf("a")};
  CHECK(stack.Up(Chain(1)).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes()[0] == "Create a");
  CHECK(stack.Changes().back() == "Delete a");
  stack.options.replaces = {UrnOf("nobody")};
  CHECK(stack.Up(Chain(1)).kind == DeploymentResultKind::kFailed);
  CHECK(stack.host.log.empty());
}

TEST_CASE("[E129] a targeted destroy takes dependents only when told so") {
  FakeStack stack;
  stack.Up(Chain(1));
  stack.options.targets = {UrnOf("b")};
  CHECK(stack.Destroy().kind == DeploymentResultKind::kFailed);
  CHECK(stack.Changes().empty());
  stack.options.target_dependents = true;
  CHECK(stack.Destroy().kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Delete c", "Delete b"});
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[E130] [S131] what is excluded from a destroy stays with all that it needs") {
  FakeStack stack;
  stack.Up(Chain(1));
  stack.options.excludes = {UrnOf("b")};
  CHECK(stack.Destroy().kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Record("a") != nullptr);
  CHECK(stack.Record("b") != nullptr);
  CHECK(stack.Record("c") == nullptr);
  CHECK(stack.Record("d") == nullptr);
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[E154] protection is respected, left aside or ignored") {
  FakeStack stack;
  std::vector<FakeResource> program = Chain(1);
  program[1].adjust = [](Goal& goal) { goal.protect = true; };
  stack.Up(program);
  SECTION("left aside") {
    stack.options.exclude_protected = true;
    CHECK(stack.Destroy().kind == DeploymentResultKind::kSucceeded);
    CHECK(stack.Record("a") != nullptr);
    CHECK(stack.Record("b") != nullptr);
    CHECK(stack.Record("d") == nullptr);
  }
  SECTION("ignored") {
    stack.options.ignore_protect = true;
    CHECK(stack.Destroy().kind == DeploymentResultKind::kSucceeded);
    CHECK(stack.state.resources.empty());
  }
}

TEST_CASE("[E131] names that the state does not have are told before a destroy begins") {
  Snapshot empty;
  DeploymentOptions options;
  options.targets = {UrnOf("a"), "**"};
  options.excludes = {"urn:pulumi:dev::proj::a:b:C$d:e:F::x"};
  const std::vector<Error> errors = CheckSelection(empty, options);
  REQUIRE(errors.size() == 2);
  CHECK(errors[0].code == 2011);
  CHECK(errors[1].code == 2010);
}

TEST_CASE("[E122] an exclusion reaches new dependents of new dependents") {
  FakeStack stack;
  stack.Up({{.name = "a"}});
  stack.options.excludes = {UrnOf("a")};
  stack.options.exclude_dependents = true;
  stack.Up({{.name = "a"},
            {.name = "b", .from = {{"x", "a"}}},
            {.name = "c", .from = {{"x", "b"}}},
            {.name = "d"}});
  CHECK(stack.Changes() == Lines{"Create d"});
}

TEST_CASE("[E134] a provider that only the state has comes along with what uses it") {
  FakeStack stack;
  stack.Up({{.name = "p", .type = "pulumi:providers:test"},
            {.name = "a", .properties = {{"v", 1}}, .provider = "p"},
            {.name = "b"}});
  const std::string provider = stack.Record("a")->provider;
  stack.options.targets = {UrnOf("a")};
  std::vector<FakeResource> program{
      {.name = "a",
       .properties = {{"v", 2}},
       .adjust = [provider](Goal& goal) { goal.provider = provider; }},
      {.name = "b"}};
  CHECK(stack.Up(std::move(program)).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Update a"});
  CHECK(stack.Record("p") != nullptr);
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[E135] a provider as target takes what uses it along; a resource takes no siblings") {
  FakeStack stack;
  const auto program = [](int value) {
    return std::vector<FakeResource>{{.name = "p", .type = "pulumi:providers:test"},
                                     {.name = "a", .properties = {{"v", value}}, .provider = "p"},
                                     {.name = "b", .properties = {{"v", value}}, .provider = "p"},
                                     {.name = "c", .properties = {{"v", value}}}};
  };
  stack.Up(program(1));
  stack.options.target_dependents = true;
  SECTION("the provider") {
    stack.options.targets = {"urn:pulumi:dev::proj::pulumi:providers:test::p"};
    stack.Up(program(2));
    Lines changes = stack.Changes();
    std::ranges::sort(changes);
    CHECK(changes == Lines{"Update a", "Update b"});
  }
  SECTION("one of its resources") {
    stack.options.targets = {UrnOf("a")};
    stack.Up(program(2));
    CHECK(stack.Changes() == Lines{"Update a"});
  }
}

TEST_CASE("[E136] a plan made with targets has only them and the providers") {
  FakeStack stack;
  stack.options.targets = {UrnOf("a")};
  stack.makes_plan = true;
  FakeProgram program({{.name = "a"}, {.name = "b"}});
  stack.options.preview = true;
  const DeploymentResult result = stack.Run(&program);
  REQUIRE(result.plan);
  CHECK(result.plan->resources.contains(Urn::Trusted(UrnOf("a"))));
  CHECK_FALSE(result.plan->resources.contains(Urn::Trusted(UrnOf("b"))));
}

}  // namespace davit::testing
