// Publicly reported faults: targets, refresh, import, ignoreChanges (docs/spec/faults.md).
#include <catch2/catch.hpp>

#include "tests/lifecycle/fault_support.h"

namespace davit::testing {
namespace {

StatePtr WithoutTimes(const StatePtr& record) {
  auto copy = std::make_shared<ResourceState>(*record);
  copy->created.reset();
  copy->modified.reset();
  return copy;
}

Result<ReadResponse> ReadWithDrift(const ReadRequest& request) {
  return ReadsOutputs({{"address", "new"}})(request);
}

// Registers `r` and repeats its output as a stack output.
Task<Result<void>> RepeatOutput(Monitor& monitor) {
  Goal stack;
  stack.type = std::string(kRootStackType);
  stack.name = "proj-dev";
  stack.custom = false;
  DAVIT_CO_TRY(const RegisterResponse root, co_await monitor.RegisterResource(std::move(stack)));
  Goal goal;
  goal.type = "test:index:Thing";
  goal.name = "r";
  goal.parent = root.urn;
  goal.properties["address"] = "old";
  DAVIT_CO_TRY(const RegisterResponse made, co_await monitor.RegisterResource(std::move(goal)));
  PropertyMap outputs{{"address", made.outputs.at("address")}};
  DAVIT_CO_TRY_VOID(co_await monitor.RegisterOutputs(root.urn, std::move(outputs)));
  co_return Result<void>();
}

}  // namespace

TEST_CASE("[B034] a target that needs something new outside the targets is refused clearly") {
  FakeStack stack;
  stack.Up(
      {{.name = "t"}, {.name = "s1", .from = {{"x", "t"}}}, {.name = "s2", .from = {{"x", "t"}}}});
  const Snapshot before = stack.state;
  stack.options.targets = {ThingUrn("s2")};
  CHECK(stack
            .Up({{.name = "t2"},
                 {.name = "s1", .from = {{"x", "t2"}}},
                 {.name = "s2", .from = {{"x", "t2"}}}})
            .kind == DeploymentResultKind::kFailed);
  CHECK(Mentions(stack.events.Problems(), "not targeted and does not exist yet"));
  REQUIRE(stack.state.resources.size() == before.resources.size());
  for (const char* name : {"t", "s1", "s2"}) {
    CHECK(*stack.Record(name) ==
          **std::ranges::find_if(before.resources, [&](const StatePtr& record) {
            return record->urn.name() == name;
          }));
  }
}

TEST_CASE("[B036] what is not targeted keeps its dependency, and that comes before it") {
  FakeStack stack;
  stack.Up({{.name = "a"}, {.name = "b", .after = {"a"}}, {.name = "c"}});
  const StatePtr before = stack.Record("b");
  stack.options.targets = {ThingUrn("c")};
  REQUIRE(stack.Up({{.name = "b"}, {.name = "c", .properties = {{"v", 1}}}}).kind ==
          DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Update c"});
  CHECK(*WithoutTimes(stack.Record("b")) == *WithoutTimes(before));
  CHECK(stack.Record("a") != nullptr);
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[B037] a targeted run leaves bystanders alone, once each and in a valid order") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    FakeStack stack(seed);
    const auto program = [](bool is_edited) {
      std::vector<FakeResource> resources;
      for (int at = 0; at < 20; ++at) {
        FakeResource resource{.name = "r" + std::to_string(at)};
        if (at % 3 == 2 && !(is_edited && at == 8)) {
          resource.from = {{"x", "r" + std::to_string(at - 1)}};
        } else if (at == 8) {
          resource.properties = {{"x", "literal"}};
        }
        if (is_edited && (at == 0 || at == 19)) {
          resource.properties["v"] = 1;
        }
        resources.push_back(std::move(resource));
      }
      if (is_edited) {
        std::ranges::reverse(resources);
      }
      return resources;
    };
    stack.options.parallel = 4;
    stack.Up(program(false));
    const Snapshot before = stack.state;
    stack.options.targets = {ThingUrn("r0"), ThingUrn("r19")};
    REQUIRE(stack.Up(program(true)).kind == DeploymentResultKind::kSucceeded);
    REQUIRE(stack.state.resources.size() == before.resources.size());
    REQUIRE(VerifySnapshot(stack.state).empty());
    for (const StatePtr& record : before.resources) {
      if (record->type == "test:index:Thing" && record->urn.name() != "r0" &&
          record->urn.name() != "r19") {
        REQUIRE(*stack.Record(std::string(record->urn.name())) == *record);
      }
    }
  }
}

TEST_CASE("[B039] dependents of a destroyed target go at every level") {
  FakeStack stack;
  stack.Up({{.name = "a"},
            {.name = "b", .after = {"a"}},
            {.name = "c", .after = {"b"}},
            {.name = "d", .after = {"c"}}});
  stack.options.targets = {ThingUrn("a")};
  CHECK(stack.Destroy().kind == DeploymentResultKind::kFailed);
  CHECK(stack.Changes().empty());
  const Lines problems = stack.events.Problems();
  for (const char* name : {"b", "c", "d"}) {
    CHECK(Mentions(problems, ThingUrn(name)));
  }
  stack.options.target_dependents = true;
  REQUIRE(stack.Destroy().kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Delete d", "Delete c", "Delete b", "Delete a"});
}

TEST_CASE("[B040] a new default provider and targets do not go together, and the error says so") {
  FakeStack stack;
  const auto program = [](const std::string& version, int value) {
    const auto adjust = [version](Goal& goal) { goal.version = version; };
    return std::vector<FakeResource>{{.name = "a", .properties = {{"v", value}}, .adjust = adjust},
                                     {.name = "b", .properties = {{"v", value}}, .adjust = adjust}};
  };
  stack.Up(program("1.0.0", 1));
  const StatePtr before = stack.Record("b");
  stack.options.targets = {ThingUrn("a")};
  CHECK(stack.Up(program("2.0.0", 2)).kind == DeploymentResultKind::kFailed);
  CHECK(Mentions(stack.events.Problems(), "is not targeted and needs its provider"));
  CHECK(*stack.Record("b") == *before);
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[B041] targets are destroyed in the order of their dependencies, however given") {
  for (const bool is_reversed : {false, true}) {
    FakeStack stack;
    const auto first = [](Goal& goal) { goal.delete_before_replace = true; };
    stack.Up({{.name = "a", .adjust = first}, {.name = "b", .after = {"a"}, .adjust = first}});
    stack.options.targets = {ThingUrn("a"), ThingUrn("b")};
    if (is_reversed) {
      std::ranges::reverse(stack.options.targets);
    }
    REQUIRE(stack.Destroy().kind == DeploymentResultKind::kSucceeded);
    CHECK(stack.Changes() == Lines{"Delete b", "Delete a"});
  }
}

TEST_CASE("[B043] a plain refresh leaves the stack outputs and says so; the program renews them") {
  FakeStack stack;
  ScriptedProgram program(RepeatOutput);
  REQUIRE(stack.Run(&program).kind == DeploymentResultKind::kSucceeded);
  stack.host.behaviour.read = ReadWithDrift;
  SECTION("plain") {
    REQUIRE(stack.Refresh().kind == DeploymentResultKind::kSucceeded);
    CHECK(stack.Record("r")->outputs.at("address") == PropertyValue("new"));
    CHECK(stack.state.resources[0]->outputs.at("address") == PropertyValue("old"));
    CHECK(WasNoted(stack, "the stack outputs are left as they were"));
  }
  SECTION("with the program") {
    stack.options.mode = DeploymentMode::kRefresh;
    stack.options.run_program = true;
    REQUIRE(stack.Run(&program).kind == DeploymentResultKind::kSucceeded);
    CHECK(stack.state.resources[0]->outputs.at("address") == PropertyValue("new"));
  }
}

TEST_CASE("[B045] a Read that fails is not one that finds nothing") {
  FakeStack stack;
  stack.Up({{.name = "r1"}, {.name = "r2"}, {.name = "r3"}});
  const StatePtr before = stack.Record("r1");
  stack.host.behaviour.read = [](const ReadRequest& request) -> Result<ReadResponse> {
    if (request.urn.name() == "r1") {
      return Fail(ErrorKind::kFailed, "connection reset");
    }
    return request.urn.name() == "r2" ? ReadResponse() : ReadWithDrift(request);
  };
  CHECK(stack.Refresh().kind == DeploymentResultKind::kFailed);
  CHECK(*stack.Record("r1") == *before);
  CHECK(Mentions(stack.events.Problems(), "r1: connection reset"));
  CHECK(stack.Record("r2") == nullptr);
  CHECK(stack.Record("r3")->outputs.at("address") == PropertyValue("new"));
}

TEST_CASE("[B046] init errors go when a Read or an Update says so, never by themselves") {
  FakeStack stack;
  stack.host.behaviour.create = [](const CreateRequest& request) {
    CreateResponse response;
    response.id = "half";
    response.outputs = request.inputs;
    response.init_errors = {"not ready"};
    return response;
  };
  stack.Up({{.name = "r"}});
  REQUIRE_FALSE(stack.Record("r")->init_errors.empty());
  stack.options.refresh_first = true;
  SECTION("the read object is well") {
    REQUIRE(stack.Up({{.name = "r"}}).kind == DeploymentResultKind::kSucceeded);
    CHECK(std::ranges::count(stack.host.log, "Read " + ThingUrn("r")) == 1);
    CHECK(stack.Record("r")->init_errors.empty());
  }
  SECTION("it is not") {
    stack.host.behaviour.read = [](const ReadRequest& request) {
      ReadResponse response;
      response.id = request.id;
      response.inputs = request.inputs;
      response.outputs = request.state;
      response.init_errors = {"still not ready"};
      return response;
    };
    stack.Up({{.name = "r"}});
    CHECK(stack.Changes() == Lines{"Update r"});
  }
}

TEST_CASE("[B048] a child keeps its live parent when an old copy of that parent is gone") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    FakeStack stack(seed);
    stack.host.behaviour.diff = AnyChangeReplaces;
    stack.host.behaviour.remove = [](const DeleteRequest&) -> Result<void> {
      return Fail(ErrorKind::kFailed, "busy");
    };
    const auto program = [](int value) {
      return std::vector<FakeResource>{{.name = "p", .properties = {{"v", value}}},
                                       {.name = "k", .parent = "p"}};
    };
    stack.Up(program(1));
    stack.Up(program(2));
    REQUIRE(stack.state.resources.back()->pending_delete);
    const std::string old_id = stack.state.resources.back()->id;
    stack.options.parallel = 8;
    stack.host.behaviour.read = [&](const ReadRequest& request) {
      return seed % 2 == 0 && request.id == old_id ? ReadResponse() : *ReadWithDrift(request);
    };
    const Snapshot before = stack.state;
    REQUIRE(stack.Refresh().kind == DeploymentResultKind::kSucceeded);
    REQUIRE(WasSoundThroughout(stack, before));
    REQUIRE(stack.Record("k")->parent == stack.Record("p")->urn);
  }
}

TEST_CASE("[B049] an import that the provider answers with a longer id is done once") {
  FakeStack stack;
  stack.host.behaviour.read = [](const ReadRequest& request) {
    ReadResponse response;
    response.id = request.id == "short" ? "full/short" : request.id;
    response.inputs = PropertyMap{{"v", 1}};
    response.outputs = PropertyMap{{"v", 1}};
    return response;
  };
  const auto program = [](const std::string& id) {
    return std::vector<FakeResource>{{.name = "a",
                                      .properties = {{"v", 1}},
                                      .adjust = [id](Goal& goal) { goal.import_id = id; }}};
  };
  REQUIRE(stack.Up(program("short")).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Record("a")->id == "full/short");
  for (const char* id : {"short", ""}) {
    REQUIRE(stack.Up(program(id)).kind == DeploymentResultKind::kSucceeded);
    CHECK(stack.Changes().empty());
    CHECK(std::ranges::count(stack.events.Steps(), "plan same a") == 1);
    CHECK(stack.Record("a")->id == "full/short");
  }
}

TEST_CASE("[B050] an import whose inputs differ is imported and then updated") {
  FakeStack stack;
  stack.host.behaviour.read = [](const ReadRequest& request) {
    ReadResponse response;
    response.id = request.id;
    response.inputs = PropertyMap{{"v", 1}};
    response.outputs = PropertyMap{{"v", 1}};
    return response;
  };
  const std::vector<FakeResource> program{
      {.name = "a", .properties = {{"v", 2}}, .adjust = [](Goal& goal) { goal.import_id = "x"; }}};
  SECTION("updated") {
    stack.Preview(program);
    const Lines steps = stack.events.Steps();
    CHECK(Mentions(steps, "plan import a"));
    CHECK(Mentions(steps, "plan update a"));
    REQUIRE(stack.Up(program).kind == DeploymentResultKind::kSucceeded);
    CHECK(stack.Changes() == Lines{"Update a"});
  }
  SECTION("replaced: told before anything is touched") {
    stack.host.behaviour.diff = AnyChangeReplaces;
    stack.Preview(program);
    CHECK(Mentions(stack.events.Problems(), "replace"));
    CHECK(stack.Up(program).kind == DeploymentResultKind::kFailed);
    CHECK(stack.Changes().empty());
  }
}

TEST_CASE("[B056] a quoted key in ignoreChanges names just that key") {
  FakeStack stack;
  const auto program = [](int dotted, int other) {
    const PropertyMap map{{"a.b", dotted}, {"c", other}};
    return std::vector<FakeResource>{
        {.name = "a", .properties = {{"map", map}}, .adjust = [](Goal& goal) {
           goal.ignore_changes = {"map[\"a.b\"]"};
         }}};
  };
  stack.Up(program(1, 1));
  stack.Up(program(2, 1));
  CHECK(stack.Changes().empty());
  stack.Up(program(2, 2));
  CHECK(stack.Changes() == Lines{"Update a"});
}

TEST_CASE("[B057] a star in ignoreChanges ignores everything but options") {
  FakeStack stack;
  const auto program = [](PropertyMap inputs, bool protect) {
    return std::vector<FakeResource>{
        {.name = "a", .properties = std::move(inputs), .adjust = [protect](Goal& goal) {
           goal.ignore_changes = {"*"};
           goal.protect = protect;
         }}};
  };
  stack.Up(program({{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}}, false));
  REQUIRE(stack.Up(program({{"a", 2}, {"b", 2}, {"c", 2}, {"e", 1}}, true)).kind ==
          DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes().empty());
  CHECK(stack.Record("a")->protect);
  CHECK(stack.Record("a")->inputs == PropertyMap{{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}});
}

}  // namespace davit::testing
