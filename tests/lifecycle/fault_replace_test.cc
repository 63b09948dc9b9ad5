// Publicly reported faults: replacement, aliases, protection (docs/spec/faults.md).
#include <catch2/catch.hpp>

#include "tests/lifecycle/fault_support.h"

namespace davit::testing {
namespace {

std::function<void(Goal&)> DeleteFirst() {
  return [](Goal& goal) { goal.delete_before_replace = true; };
}

// One object `a` whose value decides, and `b`, which takes the id of `a`.
std::vector<FakeResource> Pair(int value, std::function<void(Goal&)> on_b = nullptr) {
  return {{.name = "a", .properties = {{"v", value}}, .adjust = DeleteFirst()},
          {.name = "b", .from = {{"p", "a"}}, .adjust = std::move(on_b)}};
}

// `a` is replaced on any change; everything else is only updated.
Result<DiffResponse> OnlyAReplaces(const DiffRequest& request) {
  DAVIT_TRY(DiffResponse response, AnyChangeReplaces(request));
  if (request.urn.name() != "a") {
    response.replaces.clear();
  }
  return response;
}

Snapshot WithMarkedCopies() {
  // N2 is live, N1 waits for its deletion; M still hangs on N1; the same for the provider.
  FakeStack stack;
  stack.host.behaviour.diff = OnlyAReplaces;
  stack.host.behaviour.remove = [](const DeleteRequest&) -> Result<void> {
    return Fail(ErrorKind::kFailed, "still in use");
  };
  const auto program = [](int value) {
    return std::vector<FakeResource>{{.name = "a", .properties = {{"v", value}}},
                                     {.name = "m", .from = {{"net", "a"}}}};
  };
  stack.Up(program(1));
  stack.Up(program(2));
  return stack.state;
}

}  // namespace

TEST_CASE("[B013] what was deleted already is dropped without another Delete") {
  FakeStack stack;
  stack.host.behaviour.diff = AnyChangeReplaces;
  const auto program = [](int value) {
    return std::vector<FakeResource>{
        {.name = "a", .properties = {{"v", value}}, .adjust = DeleteFirst()}};
  };
  stack.Up(program(1));
  stack.host.behaviour.create = [](const CreateRequest&) -> Result<CreateResponse> {
    return Fail(ErrorKind::kFailed, "no quota");
  };
  stack.Up(program(2));
  REQUIRE(stack.Record("a")->pending_replacement);
  SECTION("up") {
    REQUIRE(stack.Up({}).kind == DeploymentResultKind::kSucceeded);
  }
  SECTION("destroy") {
    REQUIRE(stack.Destroy().kind == DeploymentResultKind::kSucceeded);
  }
  CHECK(WasNoted(stack, "only its record is dropped"));
  CHECK(stack.Changes().empty());
  CHECK(stack.Record("a") == nullptr);
}

TEST_CASE("[B014] a failed delete is not remembered as done") {
  FakeStack stack;
  stack.host.behaviour.diff = AnyChangeReplaces;
  stack.Up({Pair(1)[0]});
  const StatePtr before = stack.Record("a");
  stack.host.behaviour.remove = [](const DeleteRequest&) -> Result<void> {
    return Fail(ErrorKind::kFailed, "busy");
  };
  CHECK(stack.Up({Pair(2)[0]}).kind == DeploymentResultKind::kFailed);
  CHECK(*stack.Record("a") == *before);
  std::string deleted;
  stack.host.behaviour.remove = [&](const DeleteRequest& request) -> Result<void> {
    deleted = request.id;
    return {};
  };
  REQUIRE(stack.Up({Pair(2)[0]}).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Delete a", "Create a"});
  CHECK(deleted == before->id);
}

TEST_CASE("[B016] the delete-first cascade heeds replaceOnChanges of dependents") {
  FakeStack stack;
  stack.host.behaviour.diff = OnlyAReplaces;
  const auto on_b = [](Goal& goal) { goal.replace_on_changes = {"p"}; };
  stack.Up(Pair(1, on_b));
  REQUIRE(stack.Up(Pair(2, on_b)).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Delete b", "Delete a", "Create a", "Create b"});
}

TEST_CASE("[B017] copies that wait for deletion go last, after what still uses them has moved") {
  FakeStack stack;
  stack.host.behaviour.diff = OnlyAReplaces;
  stack.state = WithMarkedCopies();
  REQUIRE(stack.state.resources.back()->pending_delete);
  const Snapshot before = stack.state;
  REQUIRE(stack
              .Up({{.name = "a", .properties = {{"v", 2}}},
                   {.name = "m", .properties = {{"moved", true}}, .from = {{"net", "a"}}}})
              .kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Lines{"Update m", "Delete a"});
  CHECK(WasSoundThroughout(stack, before));
}

TEST_CASE("[B017] an old provider copy stays until no record names it") {
  FakeStack stack;
  stack.host.behaviour.diff_config = AnyChangeReplaces;
  const auto program = [](int value) {
    return std::vector<FakeResource>{ProviderResource("p", {{"region", value}}),
                                     {.name = "m", .provider = "p"}};
  };
  stack.Up(program(1));
  const Snapshot before = stack.state;
  const std::string old_provider = stack.Record("m")->provider;
  REQUIRE(stack.Up(program(2)).kind == DeploymentResultKind::kSucceeded);
  CHECK(WasSoundThroughout(stack, before));
  CHECK(stack.Record("m")->provider != old_provider);
  CHECK(stack.state.resources.size() == 3);
}

TEST_CASE("[B018] copies that failed runs pile up are shown, and go once with the first good run") {
  FakeStack stack;
  stack.host.behaviour.diff = AnyChangeReplaces;
  const auto program = [](int value) {
    return std::vector<FakeResource>{{.name = "x", .properties = {{"v", value}}},
                                     {.name = "y", .after = {"x"}}};
  };
  stack.Up({program(0)[0]});
  stack.host.behaviour.create = [](const CreateRequest& request) -> Result<CreateResponse> {
    static int made = 0;
    CreateResponse response;
    response.id = "x" + std::to_string(++made);
    if (request.urn.name() == "y") {
      return Fail(ErrorKind::kFailed, "no");
    }
    return response;
  };
  for (int run = 1; run <= 3; ++run) {
    CHECK(stack.Up(program(run)).kind == DeploymentResultKind::kFailed);
  }
  CHECK(std::ranges::count_if(stack.state.resources,
                              [](const StatePtr& record) { return record->pending_delete; }) == 3);
  stack.host.behaviour.create = nullptr;
  stack.Preview(program(3));
  CHECK(std::ranges::count(stack.events.Steps(), "plan delete-replaced x") == 3);
  CHECK(std::get<SummaryEvent>(stack.events.events.back()).old_copies == 3);
  REQUIRE(stack.Up(program(3)).kind == DeploymentResultKind::kSucceeded);
  CHECK(std::ranges::count(stack.Changes(), "Delete x") == 3);
  CHECK(std::ranges::count_if(stack.state.resources, [](const StatePtr& record) {
          return record->urn.name() == "x";
        }) == 1);
}

TEST_CASE("[B020] parent and child move together under another root") {
  FakeStack stack;
  const auto component = [](const std::string& name, std::string parent = "") {
    return FakeResource{
        .name = name, .adjust = AsComponent, .type = "my:index:Group", .parent = std::move(parent)};
  };
  stack.Up({component("a"), component("b"), {.name = "c", .parent = "b"}});
  const std::string id = stack.Record("c")->id;
  FakeResource moved = component("b", "a");
  moved.adjust = [](Goal& goal) {
    AsComponent(goal);
    AliasSpec alias;
    alias.no_parent = true;
    goal.aliases.push_back(std::move(alias));
  };
  REQUIRE(stack.Up({component("a"), moved, {.name = "c", .parent = "b"}}).kind ==
          DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes().empty());
  CHECK(stack.Record("c")->id == id);
  CHECK(stack.Record("c")->parent == stack.Record("b")->urn);
  CHECK(stack.Record("b")->parent == stack.Record("a")->urn);
  CHECK(VerifySnapshot(stack.state).empty());
}

TEST_CASE("[B022] an alias may be listed twice by one resource, not claimed by two") {
  FakeStack stack;
  stack.Up({{.name = "old"}});
  SECTION("twice by one") {
    const auto twice = [](Goal& goal) {
      WasNamed("old")(goal);
      WasNamed("old")(goal);
    };
    CHECK(stack.Preview({{.name = "new", .adjust = twice}}).kind ==
          DeploymentResultKind::kSucceeded);
    CHECK(stack.events.Problems().empty());
  }
  SECTION("by two") {
    CHECK(stack
              .Preview({{.name = "one", .adjust = WasNamed("old")},
                        {.name = "two", .after = {"one"}, .adjust = WasNamed("old")}})
              .kind == DeploymentResultKind::kFailed);
    const Lines problems = stack.events.Problems();
    CHECK(Mentions(problems, ThingUrn("one")));
    CHECK(Mentions(problems, "two"));
  }
}

TEST_CASE("[B023] a renamed provider keeps its id and what it manages") {
  FakeStack stack;
  stack.Up({ProviderResource("p1", {{"region", "x"}}),
            {.name = "a", .provider = "p1"},
            {.name = "b", .provider = "p1"}});
  const std::string id = stack.Record("p1")->id;
  FakeResource renamed = ProviderResource("p2", {{"region", "x"}});
  renamed.adjust = WasNamed("p1");
  REQUIRE(
      stack.Up({renamed, {.name = "a", .provider = "p2"}, {.name = "b", .provider = "p2"}}).kind ==
      DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes().empty());
  CHECK(Mentions(stack.host.log, "DiffConfig"));
  CHECK(stack.Record("a")->provider == stack.Record("p2")->urn.text() + "::" + id);
  CHECK(stack.Record("b")->provider == stack.Record("a")->provider);
}

TEST_CASE("[B025] what depends on a renamed resource names it as it is listed at each moment") {
  FakeStack stack;
  stack.Up({{.name = "old"}});
  const Snapshot before = stack.state;
  REQUIRE(stack.Up({{.name = "new", .adjust = WasNamed("old")}, {.name = "n", .after = {"new"}}})
              .kind == DeploymentResultKind::kSucceeded);
  CHECK(WasSoundThroughout(stack, before));
  CHECK(stack.Record("n")->dependencies == std::vector<Urn>{stack.Record("new")->urn});
}

TEST_CASE("[B028] one run names every protected resource that would go, and the plain ones") {
  FakeStack stack;
  const auto protect = [](Goal& goal) { goal.protect = true; };
  stack.Up({{.name = "p1", .adjust = protect},
            {.name = "p2", .adjust = protect},
            {.name = "p3", .adjust = protect},
            {.name = "d1"},
            {.name = "d2"}});
  SECTION("preview") {
    CHECK(stack.Preview({}).kind == DeploymentResultKind::kFailed);
    CHECK(Mentions(stack.events.Steps(), "plan delete d1"));
    CHECK(Mentions(stack.events.Steps(), "plan delete d2"));
  }
  SECTION("up") {
    CHECK(stack.Up({}).kind == DeploymentResultKind::kFailed);
    CHECK_FALSE(Mentions(stack.Changes(), "Delete p"));
  }
  for (const char* name : {"p1", "p2", "p3"}) {
    CHECK(Mentions(stack.events.Problems(), ThingUrn(name)));
  }
}

TEST_CASE("[B029] retainOnDelete counts once it is stored; until then the run says so") {
  FakeStack stack;
  stack.host.behaviour.diff = AnyChangeReplaces;
  const auto program = [](int value, bool retain) {
    return std::vector<FakeResource>{
        {.name = "a", .properties = {{"v", value}}, .adjust = [retain](Goal& goal) {
           goal.retain_on_delete = retain;
         }}};
  };
  stack.Up(program(1, false));
  stack.Preview(program(2, true));
  CHECK(Mentions(stack.events.Problems(), "retainOnDelete"));
  stack.Up(program(2, true));
  CHECK(stack.Changes() == Lines{"Create a", "Delete a"});
  stack.Up(program(3, true));
  CHECK(stack.events.Problems().empty());
  CHECK(stack.Changes() == Lines{"Create a"});
}

TEST_CASE("[B032] there are never two live copies of a delete-first resource") {
  FakeStack stack;
  stack.host.behaviour.diff = AnyChangeReplaces;
  const auto program = [](int value) {
    return std::vector<FakeResource>{
        {.name = "a", .properties = {{"v", value}}},
        {.name = "b", .from = {{"x", "a"}}, .adjust = DeleteFirst(), .deleted_with = "a"}};
  };
  stack.Up(program(1));
  REQUIRE(stack.Up(program(2)).kind == DeploymentResultKind::kSucceeded);
  // The old copy is gone with `a` or by its own Delete before the new one is made.
  const Lines changes = stack.Changes();
  const auto made = std::ranges::find(changes, "Create b");
  const auto gone = std::find(changes.begin(), made, "Delete b");
  const auto gone_with = std::find(changes.begin(), made, "Delete a");
  REQUIRE(made != changes.end());
  CHECK((gone != made || gone_with != made));
}

TEST_CASE("[B033] destroy heeds the stored protection, and says both ways out") {
  FakeStack stack;
  stack.Up({{.name = "a", .adjust = [](Goal& goal) { goal.protect = true; }}});
  CHECK(stack.Destroy().kind == DeploymentResultKind::kFailed);
  CHECK(stack.Changes().empty());
  CHECK(Mentions(stack.events.Problems(), "davit up"));
  CHECK(Mentions(stack.events.Problems(), "davit state unprotect"));
  REQUIRE(stack.Up({{.name = "a", .adjust = [](Goal& goal) { goal.protect = false; }}}).kind ==
          DeploymentResultKind::kSucceeded);
  CHECK_FALSE(stack.Record("a")->protect);
  CHECK(stack.Destroy().kind == DeploymentResultKind::kSucceeded);
}

TEST_CASE(
    "[B091] after a failed replacement of a provider both stay until all records have moved") {
  FakeStack stack;
  stack.host.behaviour.diff_config = AnyChangeReplaces;
  const auto program = [](int value) {
    return std::vector<FakeResource>{
        ProviderResource("p", {{"region", value}}),
        {.name = "a", .properties = {{"v", value}}, .provider = "p"},
        {.name = "b", .properties = {{"v", value}}, .after = {"a"}, .provider = "p"}};
  };
  stack.Up(program(1));
  const std::string old_provider = stack.Record("b")->provider;
  stack.host.behaviour.create = [](const CreateRequest&) -> Result<CreateResponse> {
    return Fail(ErrorKind::kFailed, "no");
  };
  CHECK(stack.Up(program(2)).kind == DeploymentResultKind::kFailed);
  CHECK(stack.Record("b")->provider == old_provider);
  CHECK(VerifySnapshot(stack.state).empty());
  stack.host.behaviour.create = nullptr;
  REQUIRE(stack.Up(program(2)).kind == DeploymentResultKind::kSucceeded);
  CHECK(std::ranges::count_if(stack.state.resources, [](const StatePtr& record) {
          return record->urn.is_provider();
        }) == 1);
  CHECK(stack.Record("b")->provider != old_provider);
}

}  // namespace davit::testing
