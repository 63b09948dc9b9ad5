// What a run tells: codes, order of the phases, events of refreshes (E11, E13, E217, E218).
#include <catch2/catch.hpp>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

using Lines = std::vector<std::string>;

std::set<int> Codes(const FakeStack& stack) {
  std::set<int> codes;
  for (const Event& event : stack.events.events) {
    const auto* note = std::get_if<DiagnosticEvent>(&event);
    if (note != nullptr && note->code != 0) {
      codes.insert(note->code);
    }
  }
  return codes;
}

std::ptrdiff_t Place(const Lines& log, const std::string& beginning) {
  return std::ranges::find_if(
             log, [&](const std::string& line) { return line.starts_with(beginning); }) -
         log.begin();
}

Task<Result<void>> RegisterTwice(Monitor& monitor) {
  for (int time = 0; time < 2; ++time) {
    Goal goal;
    goal.type = "test:index:Thing";
    goal.name = "twice";
    const Result<RegisterResponse> made = co_await monitor.RegisterResource(std::move(goal));
    if (!made) {
      co_return Fail(made.error());
    }
  }
  co_return Result<void>();
}

Task<Result<void>> RegisterBelowNothing(Monitor& monitor) {
  Goal goal;
  goal.type = "test:index:Thing";
  goal.name = "lost";
  goal.parent = Urn::Trusted("urn:pulumi:dev::proj::test:index:Group::none");
  const Result<RegisterResponse> made = co_await monitor.RegisterResource(std::move(goal));
  co_return made ? Result<void>() : Fail(made.error());
}

}  // namespace

TEST_CASE("[E11] each kind of failure has its code") {
  FakeStack stack;
  const auto up_with = [&](const std::string& provider) {
    return stack.Up(
        {{.name = "a", .adjust = [provider](Goal& goal) { goal.provider = provider; }}});
  };
  SECTION("an operation failed") {
    stack.host.behaviour.create = [](const CreateRequest&) -> Result<CreateResponse> {
      return Fail(ErrorKind::kFailed, "no");
    };
    stack.Up({{.name = "a"}});
    CHECK(Codes(stack).contains(2000));
  }
  SECTION("in a preview") {
    stack.host.behaviour.create = [](const CreateRequest&) -> Result<CreateResponse> {
      return Fail(ErrorKind::kFailed, "no");
    };
    stack.Preview({{.name = "a"}});
    CHECK(Codes(stack).contains(2005));
  }
  SECTION("a URN twice") {
    ScriptedProgram program([](Monitor& monitor) { return RegisterTwice(monitor); });
    stack.Run(&program);
    CHECK(Codes(stack).contains(2001));
  }
  SECTION("a parent that is not there") {
    ScriptedProgram program([](Monitor& monitor) { return RegisterBelowNothing(monitor); });
    stack.Run(&program);
    CHECK(Codes(stack).contains(2002));
  }
  SECTION("an input that Check refuses, and a resource that it refuses as a whole") {
    std::string property = "v";
    stack.host.behaviour.check = [&property](const CheckRequest& request) {
      return CheckResponse{request.news, {CheckFailure{property, "no"}}};
    };
    stack.Up({{.name = "a"}});
    CHECK(Codes(stack).contains(2003));
    property.clear();
    stack.Up({{.name = "a"}});
    CHECK(Codes(stack).contains(2002));
  }
  SECTION("a reference to a provider that is none, and one that nobody registered") {
    up_with("nonsense");
    CHECK(Codes(stack).contains(2006));
    up_with("urn:pulumi:dev::proj::pulumi:providers:test::gone::id");
    CHECK(Codes(stack).contains(2007));
  }
  SECTION("a target that is not there") {
    stack.options.targets = {"urn:pulumi:dev::proj::test:index:Group$test:index:Thing::none"};
    stack.Up({{.name = "a"}});
    CHECK(Codes(stack).contains(2010));
    stack.options.targets = {"urn:pulumi:dev::proj::test:index:Thing::none"};
    stack.Up({{.name = "a"}});
    CHECK(Codes(stack).contains(2011));
  }
  SECTION("[E10] a default provider that is denied") {
    stack.config["pulumi:disable-default-providers"] = ConfigValue{R"(["test"])", false, false};
    stack.Up({{.name = "a"}});
    CHECK(Codes(stack).contains(2015));
    CHECK(stack.Record("a") == nullptr);
  }
}

TEST_CASE("[E13] the state is refreshed before the program runs; deletes come after it") {
  FakeStack stack;
  stack.options.parallel = 1;
  stack.Up({{.name = "a"}, {.name = "b"}});
  stack.options.refresh_first = true;
  stack.Up({{.name = "a", .properties = {{"v", 2}}}});
  const Lines& log = stack.host.log;
  CHECK(Place(log, "Read ") < Place(log, "Check "));
  CHECK(Place(log, "Update ") < Place(log, "Delete "));
  CHECK(Place(log, "Delete ") < static_cast<std::ptrdiff_t>(log.size()));
}

TEST_CASE("[E13] a literal of --replace that is not in the state ends the run before the program") {
  FakeStack stack;
  stack.Up({{.name = "a"}});
  stack.options.replaces = {"urn:pulumi:dev::proj::test:index:Thing::none"};
  ScriptedProgram program([](Monitor& monitor) { return RegisterTwice(monitor); });
  CHECK(stack.Run(&program).kind == DeploymentResultKind::kFailed);
  CHECK(program.runs == 0);
}

TEST_CASE("[E217] a standalone refresh lists every record by its result and counts it") {
  FakeStack stack;
  stack.Up({{.name = "a"}, {.name = "b"}, {.name = "c", .adjust = AsComponent}});
  stack.host.behaviour.read = [](const ReadRequest& request) -> Result<ReadResponse> {
    ReadResponse response;
    if (request.urn.name() != "b") {
      response.id = request.id;
      response.inputs = request.inputs;
      response.outputs = request.state;
    }
    return response;
  };
  const DeploymentResult result = stack.Refresh();
  const Lines steps = stack.events.Steps();
  for (const char* expected : {"plan refresh a", "done same a", "done delete b", "done same c"}) {
    CHECK(std::ranges::find(steps, expected) != steps.end());
  }
  CHECK(result.changes.at(StepOp::kDelete) == 1);
  stack.host.behaviour.read = nullptr;
  stack.options.refresh_first = true;
  const DeploymentResult up = stack.Up({{.name = "a"}});
  CHECK(std::ranges::count(stack.events.Steps(), "done refresh a") == 1);
  CHECK_FALSE(up.changes.contains(StepOp::kRefresh));
}

TEST_CASE("[E218] an output that stays unknown is stored as unknown, and known later") {
  FakeStack stack;
  FakeProgram program({{.name = "a"}});
  program.outputs = {{"id", Unknown()}};
  stack.Run(&program);
  REQUIRE(stack.Record("proj-dev") != nullptr);
  CHECK(stack.Record("proj-dev")->outputs.at("id").is_unknown());
  FakeProgram later({{.name = "a"}});
  later.outputs = {{"id", "x"}};
  stack.Run(&later);
  CHECK(stack.Record("proj-dev")->outputs.at("id") == PropertyValue("x"));
}

}  // namespace davit::testing
