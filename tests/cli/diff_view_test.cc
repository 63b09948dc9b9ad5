// The expected texts are recordings of the reference (diff-values, diff-replace, refresh,
// provider-display).

#include "cli/display/diff_view.h"

#include <catch2/catch.hpp>

#include "tests/cli/event_script.h"

namespace davit::testing {
namespace {

struct Run : Script {
  Run(DeploymentMode mode, bool is_preview) : Run(PlainOptions(mode, is_preview)) {}
  explicit Run(const DisplayOptions& given)
      : Script(given),
        view(options, Sink(), [this](const std::string& piece) { errors += piece; }) {
    view.Begin();
  }
  const std::string& Finish() {
    view.Finish();
    return text;
  }
  std::string errors;
  DiffView view;
};

PropertyMap OldValues() {
  const PropertyMap inner = {{"k", "v"}};
  const PropertyList list = {1, "two", inner};
  const PropertyMap map = {{"same", 1}, {"changed", "a"}, {"removed", "x"}, {"odd key", 1}};
  return {{"value", 1},
          {"text", "hello world"},
          {"list", list},
          {"map", map},
          {"note", R"({"json": [1, 2]})"},
          {"extra", "line one\nline two\nline three\nline four\nline five"},
          {"c", true},
          {"other", Null{}}};
}

PropertyMap NewValues() {
  const PropertyMap inner = {{"k", "w"}};
  const PropertyList list = {1, 2, inner, "added"};
  const PropertyMap map = {{"same", 1}, {"changed", "b"}, {"added", "y"}};
  return {{"value", 2},
          {"text", "hello there"},
          {"list", list},
          {"map", map},
          {"note", R"({"json": [1, 3], "more": true})"},
          {"extra", "line one\nline 2\nline three\nline four\nline five"},
          {"key", "new"}};
}

TEST_CASE("[C110][C112][C115] a new resource with values of every kind") {
  Run run(DeploymentMode::kUpdate, true);
  run.Pre(run.view, MakeStep(StepOp::kCreate, nullptr, StackState({})));
  run.Both(run.view, MakeStep(StepOp::kCreate, nullptr, ThingState("a", OldValues())));
  run.Summary(run.view, {{StepOp::kCreate, 2}});
  CHECK(run.Finish() == R"(Previewing update (dev):
+ pulumi:pulumi:Stack: (create)
    [urn=urn:pulumi:dev::golden::pulumi:pulumi:Stack::golden-dev]
    + testbed:index:Thing: (create)
        [urn=urn:pulumi:dev::golden::testbed:index:Thing::a]
        c    : true
        extra: "line one\nline two\nline three\n..."
        list : [
            [0]: 1
            [1]: "two"
            [2]: {
                k: "v"
            }
        ]
        map  : {
            changed: "a"
            odd key: 1
            removed: "x"
            same   : 1
        }
        note : (json) {
            json: [
                [0]: 1
                [1]: 2
            ]
        }

        text : "hello world"
        value: 1
Resources:
    + 2 to create
)");
}

TEST_CASE("[C111] an update of values of every kind") {
  Run run(DeploymentMode::kUpdate, true);
  run.Pre(run.view, MakeStep(StepOp::kSame, StackState({}), StackState({})));
  run.Both(
      run.view,
      MakeStep(StepOp::kUpdate, ThingState("a", OldValues(), "a-1"), ThingState("a", NewValues())));
  run.Done(run.view, MakeStep(StepOp::kSame, StackState({}), StackState({{"o", Unknown{}}})));
  run.Summary(run.view, {{StepOp::kUpdate, 1}, {StepOp::kSame, 1}});
  CHECK(run.Finish() == R"(Previewing update (dev):
  pulumi:pulumi:Stack: (same)
    [urn=urn:pulumi:dev::golden::pulumi:pulumi:Stack::golden-dev]
    ~ testbed:index:Thing: (update)
        [id=a-1]
        [urn=urn:pulumi:dev::golden::testbed:index:Thing::a]
      - c    : true
      ~ extra: 
            line one
          - line two
          + line 2
            line three
            line four
            line five
      + key  : "new"
      ~ list : [
            [0]: 1
          ~ [1]: "two" => 2
          ~ [2]: {
                  ~ k: "v" => "w"
                }
          + [3]: "added"
        ]
      ~ map  : {
          + added  : "y"
          ~ changed: "a" => "b"
          - odd key: 1
          - removed: "x"
            same   : 1
        }
      ~ note : (json) {
          ~ json: [
                [0]: 1
              ~ [1]: 2 => 3
            ]
          + more: true
        }
      ~ text : "hello world" => "hello there"
      ~ value: 1 => 2
    --outputs:--
  + o: [unknown]
Resources:
    ~ 1 to update
    1 unchanged
)");
}

TEST_CASE("[C110][C114] outputs that say more than the inputs; deletions with their outputs") {
  Run run(DeploymentMode::kUpdate, false);
  run.Both(
      run.view,
      MakeStep(
          StepOp::kUpdate,
          MakeState(ThingUrn("a"), {{"value", 1}}, {{"kept", 3}, {"out", 7}, {"value", 1}}, "a-1"),
          MakeState(
              ThingUrn("a"), {{"value", 2}}, {{"kept", 3}, {"out", 8}, {"value", 2}}, "a-1")));
  run.Both(run.view, MakeStep(StepOp::kDelete, ThingState("b", {{"value", 2}}, "b-1"), nullptr));
  CHECK(run.text == R"(Updating (dev):
~ testbed:index:Thing: (update)
    [id=a-1]
    [urn=urn:pulumi:dev::golden::testbed:index:Thing::a]
  ~ value: 1 => 2
    --outputs:--
  ~ out  : 7 => 8
- testbed:index:Thing: (delete)
    [id=b-1]
    [urn=urn:pulumi:dev::golden::testbed:index:Thing::b]
    value: 2
    --outputs:--
  - value: 2
)");
}

TEST_CASE("[C110] replacements: one block; protection; a provider that changes") {
  Run run(DeploymentMode::kUpdate, true);
  run.Pre(run.view, MakeStep(StepOp::kSame, StackState({}), StackState({})));
  ResourceState before = *ThingState("a", {{"value", 1}}, "a-1");
  before.protect = true;
  before.provider = "urn:pulumi:dev::golden::pulumi:providers:testbed::p::uuid";
  ResourceState after = *ThingState("a", {{"value", 2}});
  after.provider =
      "urn:pulumi:dev::golden::pulumi:providers:testbed::p::04da6b54-80e4-46f7-96ec-b56ff0331ba9";
  const auto old_state = std::make_shared<const ResourceState>(before);
  const auto new_state = std::make_shared<const ResourceState>(after);
  run.Both(run.view, MakeStep(StepOp::kCreateReplacement, old_state, new_state));
  run.Both(run.view, MakeStep(StepOp::kReplace, old_state, new_state));
  run.Both(run.view, MakeStep(StepOp::kDeleteReplaced, old_state, nullptr));
  CHECK(run.text == R"(Previewing update (dev):
  pulumi:pulumi:Stack: (same)
    [urn=urn:pulumi:dev::golden::pulumi:pulumi:Stack::golden-dev]
    +-testbed:index:Thing: (replace) 🔓
        [id=a-1]
        [urn=urn:pulumi:dev::golden::testbed:index:Thing::a]
        [provider: urn:pulumi:dev::golden::pulumi:providers:testbed::p::uuid => urn:pulumi:dev::golden::pulumi:providers:testbed::p::[unknown]]
      ~ value: 1 => 2
)");
}

TEST_CASE("[C110] a refresh tells what it found") {
  Run run(DeploymentMode::kRefresh, true);
  run.Both(run.view, MakeStep(StepOp::kRefresh, StackState({}), StackState({})));
  run.Done(run.view, MakeStep(StepOp::kSame, StackState({}), StackState({})));
  run.Pre(run.view, MakeStep(StepOp::kRefresh, ThingState("b", {}), ThingState("b", {})));
  run.Done(run.view, MakeStep(StepOp::kDelete, ThingState("b", {{"value", 1}}, "b-1"), nullptr));
  run.Done(run.view,
           MakeStep(StepOp::kUpdate,
                    ThingState("a", {{"text", "t"}, {"value", 1}}, "a-1"),
                    ThingState("a", {{"text", "t"}, {"value", 5}}, "a-1")));
  run.Done(run.view, MakeStep(StepOp::kSame, ThingState("c", {}), ThingState("c", {})));
  CHECK(run.text == R"(Previewing refresh (dev):
  pulumi:pulumi:Stack: (same)
    [urn=urn:pulumi:dev::golden::pulumi:pulumi:Stack::golden-dev]
    - testbed:index:Thing: (delete)
        [id=b-1]
        [urn=urn:pulumi:dev::golden::testbed:index:Thing::b]
        --outputs:--
      - value: 1
    ~ testbed:index:Thing: (update)
        [id=a-1]
        [urn=urn:pulumi:dev::golden::testbed:index:Thing::a]
        text : "t"
      ~ value: 1 => 5
)");
}

TEST_CASE("[C95] only what the provider says differs is shown, if it says so") {
  Run run(DeploymentMode::kUpdate, true);
  StepMetadata step = MakeStep(StepOp::kUpdate,
                               ThingState("a", {{"behave", 1}, {"value", 1}}, "a-1"),
                               ThingState("a", {{"behave", 2}, {"value", 2}}));
  step.diffs = {"value"};
  run.Both(run.view, step);
  CHECK(run.text.find("behave") == std::string::npos);
  CHECK(run.text.find("  ~ value: 1 => 2\n") != std::string::npos);
}

TEST_CASE("[C113] assets: the old one goes, the new one comes; contents never show") {
  const auto asset = [](const char* hash) {
    Asset text;
    text.source = Asset::Source::kText;
    text.content = "canary";
    text.hash = hash;
    return PropertyValue(text);
  };
  Run run(DeploymentMode::kUpdate, true);
  run.Both(run.view,
           MakeStep(StepOp::kUpdate,
                    ThingState("a", {{"value", asset("7692c3ad3540bb80")}}, "a-1"),
                    ThingState("a", {{"value", asset("3fc4ccfe74587052")}})));
  CHECK(run.text.find(R"(  - value: asset(text:7692c3a) {
        <contents elided>
    }
  + value: asset(text:3fc4ccf) {
        <contents elided>
    }
)") != std::string::npos);
  CHECK(run.text.find("canary") == std::string::npos);
}

TEST_CASE("[C96] long texts are shortened unless all of it is asked for") {
  const std::string lines = "1\n2\n3\n4\n5";
  const std::string wide(151, 'w');
  const auto shown = [&](bool full) {
    DisplayOptions options = PlainOptions(DeploymentMode::kUpdate, true);
    options.show_full_output = full;
    Run run(options);
    run.Both(run.view,
             MakeStep(StepOp::kCreate, nullptr, ThingState("a", {{"lines", lines}, {"wide", wide}})));
    return run.Finish();
  };
  const std::string cut = shown(false);
  CHECK(cut.find(R"(lines: "1\n2\n3\n...")") != std::string::npos);
  CHECK(cut.find("\"" + std::string(150, 'w') + "...\"") != std::string::npos);
  const std::string full = shown(true);
  CHECK(full.find(R"(lines: "1\n2\n3\n4\n5")") != std::string::npos);
  CHECK(full.find("\"" + wide + "\"") != std::string::npos);
}

TEST_CASE("[C106][C116] diagnostics go to standard error; secrets stay hidden") {
  Run run(DeploymentMode::kUpdate, false);
  const StepMetadata step = MakeStep(StepOp::kUpdate,
                                     ThingState("a", {{"value", MakeSecret("canary")}}, "a-1"),
                                     ThingState("a", {{"value", MakeSecret("canary2")}}));
  run.Pre(run.view, step);
  run.Fail(run.view, step, "busy");
  run.Summary(run.view, {}, DeploymentResultKind::kFailed);
  CHECK(run.errors == "error: busy\n");
  CHECK(run.Finish().find("canary") == std::string::npos);
  CHECK(run.text.find("  ~ value: [secret] => [secret]\n") != std::string::npos);
  CHECK(run.text.find("    1 errored\n") != std::string::npos);
}

TEST_CASE("[C110][E158] an import is shown with what was read") {
  Run run(DeploymentMode::kImport, false);
  run.Pre(run.view, MakeStep(StepOp::kSame, StackState({}), StackState({})));
  run.Pre(run.view, MakeStep(StepOp::kImport, nullptr, ThingState("b5", {}, "b-1")));
  run.Done(run.view, MakeStep(StepOp::kImport, nullptr, ThingState("b5", {{"value", 2}}, "b-1")));
  run.Summary(run.view, {{StepOp::kImport, 1}, {StepOp::kSame, 5}});
  CHECK(run.Finish() == R"(Importing (dev):
  pulumi:pulumi:Stack: (same)
    [urn=urn:pulumi:dev::golden::pulumi:pulumi:Stack::golden-dev]
    = testbed:index:Thing: (import)
        [id=b-1]
        [urn=urn:pulumi:dev::golden::testbed:index:Thing::b5]
        value: 2
Resources:
    = 1 imported
    5 unchanged

Duration: 1s
)");
}

}  // namespace
}  // namespace davit::testing
