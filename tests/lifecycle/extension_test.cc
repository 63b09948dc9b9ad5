// Extension packages (E175-E180, S194) beside the recordings (extension, extension-provider).
#include <catch2/catch.hpp>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

using Lines = std::vector<std::string>;

PackageDescriptor Extended(const char* version) {
  PackageDescriptor package;
  package.name = "test";
  package.extension = Parameterization{"ext", version, "blob"};
  return package;
}

// Registers the root stack and, of the package, `names`, all at once.
Task<Result<void>> RegisterOf(Monitor& monitor, PackageDescriptor package, Lines names) {
  Goal stack;
  stack.type = std::string(kRootStackType);
  stack.name = "proj-dev";
  stack.custom = false;
  DAVIT_CO_TRY(const RegisterResponse root, co_await monitor.RegisterResource(std::move(stack)));
  DAVIT_CO_TRY(const std::string ref, co_await monitor.RegisterPackage(package));
  DAVIT_CO_TRY(const std::string again, co_await monitor.RegisterPackage(package));
  CHECK(again == ref);  // E175
  for (const std::string& name : names) {
    Goal goal;
    goal.type = "test:index:Thing";
    goal.name = name;
    goal.parent = root.urn;
    goal.package_ref = ref;
    DAVIT_CO_TRY_VOID(co_await monitor.RegisterResource(std::move(goal)));
  }
  co_return Result<void>();
}

DeploymentResultKind Up(FakeStack& stack, const char* version, Lines names) {
  ScriptedProgram program([version, names](Monitor& monitor) {
    return RegisterOf(monitor, Extended(version), names);
  });
  return stack.Run(&program).kind;
}

Lines Extends(const FakeStack& stack) {
  Lines lines;
  for (const std::string& line : stack.host.log) {
    if (line.starts_with("Extend ")) {
      lines.push_back(line);
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("[E177] [E178] [E180] [S194] one process is given an extension once; used blobs are kept") {
  FakeStack stack;
  REQUIRE(Up(stack, "1.0.0", {"a", "b"}) == DeploymentResultKind::kSucceeded);
  CHECK(Extends(stack) == Lines{"Extend ext 1.0.0"});
  const std::string ref = stack.Record("a")->extension_ref;
  REQUIRE(stack.state.extensions.contains(ref));
  CHECK(stack.state.extensions.at(ref).value == "blob");
  CHECK(stack.Record("b")->extension_ref == ref);
  SECTION("a destroy gives it from the state") {
    CHECK(stack.Destroy().kind == DeploymentResultKind::kSucceeded);
    CHECK(Extends(stack) == Lines{"Extend ext 1.0.0"});
  }
  SECTION("[E179] so does a refresh, once for all records") {
    CHECK(stack.Refresh().kind == DeploymentResultKind::kSucceeded);
    CHECK(Extends(stack) == Lines{"Extend ext 1.0.0"});
  }
  SECTION("[E178] a record whose blob is lost cannot be used") {
    stack.state.extensions.clear();
    CHECK(stack.Destroy().kind == DeploymentResultKind::kFailed);
    CHECK(stack.events.Problems().front().find("is not in the state") != std::string::npos);
    CHECK(stack.Record("a") != nullptr);
  }
}

TEST_CASE("[E180] what the provider refused is tried again for the next resource") {
  FakeStack stack;
  stack.options.continue_on_error = true;
  int asked = 0;
  stack.host.behaviour.extend = [&asked](const Parameterization&) -> Result<void> {
    if (++asked == 1) {
      return Fail(ErrorKind::kFailed, "not now");
    }
    return {};
  };
  CHECK(Up(stack, "1.0.0", {"a"}) == DeploymentResultKind::kFailed);
  CHECK(stack.events.Problems().front().find("not now") != std::string::npos);
  CHECK(stack.Record("a") == nullptr);
  CHECK(Up(stack, "1.0.0", {"a"}) == DeploymentResultKind::kSucceeded);
}

}  // namespace davit::testing
