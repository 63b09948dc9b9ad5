// Previews (E110-E119).
#include <catch2/catch.hpp>

#include "tests/support/engine_fakes.h"

namespace davit::testing {

TEST_CASE("[E110] a preview writes nothing and calls only previews") {
  FakeStack stack;
  std::vector<FakeResource> program{{.name = "a"}, {.name = "b", .from = {{"ref", "a"}}}};
  CHECK(stack.Preview(program).changes == std::map<StepOp, int>{{StepOp::kCreate, 3}});
  CHECK(stack.journal.entries.empty());
  CHECK(stack.Changes().empty());
  CHECK(stack.state.resources.empty());
  const std::string b = Urn::Make("dev", "proj", Urn(), "test:index:Thing", "b").text();
  CHECK(std::ranges::find(stack.host.log, "PreviewCreate " + b) != stack.host.log.end());
}

TEST_CASE("[E112] a provider without preview support is not asked; outputs are the inputs") {
  FakeStack stack;
  stack.host.behaviour.supports_preview = false;
  stack.Preview({{.name = "a", .properties = {{"value", 1}}}});
  for (const std::string& line : stack.host.log) {
    CHECK_FALSE(line.starts_with("PreviewCreate"));
  }
  for (const Event& event : stack.events.events) {
    const auto* done = std::get_if<ResourceOutputsEvent>(&event);
    if (done != nullptr && done->metadata.urn.name() == "a") {
      CHECK(done->metadata.new_state->outputs == PropertyMap{{"value", 1}});
    }
  }
}

TEST_CASE("[E113] unknown configuration: no Configure, no Check, no Create") {
  FakeStack stack;
  std::vector<FakeResource> program{
      {.name = "source"},
      {.name = "p", .from = {{"token", "source"}}, .type = "pulumi:providers:test"},
      {.name = "a", .after = {"p"}, .adjust = [](Goal& goal) {
         goal.provider = goal.dependencies[0].text() + "::" + std::string(kUnknownId);
       }}};
  CHECK(stack.Preview(program).kind == DeploymentResultKind::kSucceeded);
  int checks = 0;
  for (const std::string& line : stack.host.log) {
    CHECK(line !=
          "Configure " + Urn::Make("dev",
                                   "proj",
                                   Urn::Make("dev", "proj", Urn(), kRootStackType, "proj-dev"),
                                   "pulumi:providers:test",
                                   "p")
                             .text());
    checks += line.starts_with("Check ") ? 1 : 0;
  }
  CHECK(checks == 1);  // only `source`, which uses the default provider
}

TEST_CASE("[E115] deletes are shown but not called") {
  FakeStack stack;
  stack.Up({{.name = "a"}});
  CHECK(stack.Preview({}).changes.at(StepOp::kDelete) == 1);
  CHECK(stack.Changes().empty());
}

TEST_CASE("[E37] a preview goes on after a refused replacement and fails at the end") {
  FakeStack stack;
  stack.host.behaviour.diff = [](const DiffRequest& request) {
    DiffResponse response;
    response.changes =
        request.old_inputs == request.new_inputs ? DiffChanges::kNone : DiffChanges::kSome;
    if (response.changes == DiffChanges::kSome) {
      response.replaces = {"value"};
    }
    return response;
  };
  const auto program = [](int value) {
    std::vector<FakeResource> resources;
    for (const char* name : {"a", "b"}) {
      resources.push_back({.name = name,
                           .properties = {{"value", value}},
                           .adjust = [](Goal& goal) { goal.protect = true; }});
    }
    return resources;
  };
  stack.Up(program(1));
  CHECK(stack.Preview(program(2)).kind == DeploymentResultKind::kFailed);
  CHECK(stack.events.Problems().size() == 3);  // a, b, and "preview failed"
}

TEST_CASE("[P42] a preview and its update share one process and one Configure") {
  FakeStack stack;
  FakeProgram program({{.name = "a"}});
  DeploymentRequest request;
  request.info.project = "proj";
  request.info.stack = "dev";
  request.source = &program;
  request.journal = &stack.journal;
  request.events = &stack.events;
  request.ids = &stack.ids;
  request.pool = MakeProviderPool(stack.loop, stack.host);
  for (const bool preview : {true, false}) {
    FakeProgram again({{.name = "a"}});
    DeploymentRequest run = request;
    run.source = &again;
    run.options.preview = preview;
    bool ended = false;
    Start(stack.loop,
          RunDeployment(std::move(run)),
          [&](std::exception_ptr, std::optional<DeploymentResult> result) {
            ended = result && result->kind == DeploymentResultKind::kSucceeded;
          });
    stack.loop.RunUntilIdle();
    CHECK(ended);
  }
  CHECK(stack.host.loads == 1);
  CHECK(std::ranges::count_if(stack.host.log, [](const std::string& line) {
          return line.starts_with("Configure ");
        }) == 1);
}

TEST_CASE(
    "[E103] [E119] a preview leaves times and state alone; its failures are on the resource") {
  FakeStack stack;
  stack.Up({{.name = "a", .properties = {{"v", 1}}}});
  const Snapshot before = stack.state;
  stack.host.behaviour.update = [](const UpdateRequest&) -> Result<UpdateResponse> {
    return Fail(ErrorKind::kFailed, "cannot tell");
  };
  CHECK(stack.Preview({{.name = "a", .properties = {{"v", 2}}}}).kind ==
        DeploymentResultKind::kFailed);
  CHECK(stack.state.resources == before.resources);
  CHECK(std::ranges::any_of(stack.events.events, [](const Event& event) {
    const auto* note = std::get_if<DiagnosticEvent>(&event);
    return note != nullptr && note->message == "cannot tell" && note->urn.ends_with("::a");
  }));
}

}  // namespace davit::testing
