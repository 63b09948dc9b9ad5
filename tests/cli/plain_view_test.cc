// The expected texts are recordings of the reference (up-plain, up-failure, refresh, outputs-diff,
// secrets-display); the clock of the script gives the durations.

#include "cli/display/plain_view.h"

#include <catch2/catch.hpp>

#include "tests/cli/event_script.h"

namespace davit::testing {
namespace {

const PropertyMap kOne = {{"value", 1}, {"text", "one"}};

struct Run : Script {
  Run(DeploymentMode mode, bool is_preview)
      : Script(PlainOptions(mode, is_preview)), view(options, Sink()) {
    view.Begin();
  }
  explicit Run(const DisplayOptions& given) : Script(given), view(options, Sink()) { view.Begin(); }
  const std::string& Finish() {
    view.Finish();
    return text;
  }
  PlainView view;
};

TEST_CASE("[C90] the first line says what is done to which stack, and no link follows") {
  using Mode = DeploymentMode;
  for (const auto& [mode, preview, run] : {std::tuple(Mode::kUpdate, "update", "Updating"),
                                           {Mode::kRefresh, "refresh", "Refreshing"},
                                           {Mode::kDestroy, "destroy", "Destroying"},
                                           {Mode::kImport, "import", "Importing"}}) {
    for (const bool is_preview : {true, false}) {
      DisplayOptions options = PlainOptions(mode, is_preview);
      const std::string action = is_preview ? std::string("Previewing ") + preview : run;
      CHECK(Run(options).text == action + " (dev):\n\n");
      options.style = Style(ColorMode::kRaw);
      CHECK(Run(options).text == "<{%bold%}><{%fg 13%}>" + action + " (dev):<{%reset%}>\n\n");
    }
  }
}

TEST_CASE("[C93][C98] preview of new resources") {
  Run run(DeploymentMode::kUpdate, true);
  run.Pre(run.view, MakeStep(StepOp::kCreate, nullptr, StackState({})));
  run.Both(run.view, MakeStep(StepOp::kCreate, nullptr, ThingState("a", kOne)));
  run.Both(run.view, MakeStep(StepOp::kCreate, nullptr, ThingState("b", {{"value", Unknown{}}})));
  run.Done(run.view,
           MakeStep(StepOp::kCreate, nullptr, StackState({{"gone", "x"}, {"o", Unknown{}}})));
  run.Summary(run.view, {{StepOp::kCreate, 3}});
  CHECK(run.Finish() == R"(Previewing update (dev):

 +  pulumi:pulumi:Stack golden-dev create 
 +  testbed:index:Thing a create 
 +  testbed:index:Thing b create 
 +  pulumi:pulumi:Stack golden-dev create 
Outputs:
    gone: "x"
    o   : [unknown]

Resources:
    + 3 to create
)");
}

TEST_CASE("[C93][C94][C101][C102] update with every kind of change") {
  Run run(DeploymentMode::kUpdate, false);
  const StatePtr old_stack = StackState({{"gone", "x"}, {"o", 7}});
  run.Pre(run.view, MakeStep(StepOp::kSame, old_stack, StackState({})));
  run.Both(run.view,
           MakeStep(StepOp::kUpdate,
                    ThingState("a", kOne),
                    ThingState("a", {{"value", 2}, {"note", "new"}})));
  run.Both(run.view, MakeStep(StepOp::kCreate, nullptr, ThingState("c", {{"value", 8}})));
  run.Both(run.view, MakeStep(StepOp::kDelete, ThingState("b", {{"value", 7}}), nullptr));
  PropertyMap inner = {{"k", "v"}};
  PropertyList added = {1, inner};
  run.Done(run.view, MakeStep(StepOp::kSame, old_stack, StackState({{"o", 8}, {"added", added}})));
  run.Summary(
      run.view,
      {{StepOp::kCreate, 1}, {StepOp::kUpdate, 1}, {StepOp::kDelete, 1}, {StepOp::kSame, 1}});
  CHECK(run.Finish() == R"(Updating (dev):

 ~  testbed:index:Thing a updating (0s) [diff: +note-text~value]
 ~  testbed:index:Thing a updated (0.01s) [diff: +note-text~value]
 +  testbed:index:Thing c creating (0s) 
 +  testbed:index:Thing c created (0.01s) 
 -  testbed:index:Thing b deleting (0s) 
 -  testbed:index:Thing b deleted (0.01s) 
    pulumi:pulumi:Stack golden-dev  
Outputs:
  + added: [
  +     [0]: 1
  +     [1]: {
          + k: "v"
        }
    ]
  - gone : "x"
  ~ o    : 7 => 8

Resources:
    + 1 created
    ~ 1 updated
    - 1 deleted
    3 changes. 1 unchanged

Duration: 1s
)");
}

TEST_CASE("[C95] the halves of a replacement, created first and deleted first") {
  Run run(DeploymentMode::kUpdate, true);
  const StatePtr before = ThingState("a", {{"value", 1}});
  const StatePtr after = ThingState("a", {{"value", 2}});
  run.Pre(run.view, MakeStep(StepOp::kSame, StackState({}), StackState({})));
  run.Both(run.view, MakeStep(StepOp::kCreateReplacement, before, after));
  run.Both(run.view, MakeStep(StepOp::kReplace, before, after));
  run.Both(run.view, MakeStep(StepOp::kDeleteReplaced, before, nullptr));
  run.Both(run.view, MakeStep(StepOp::kDeleteReplaced, ThingState("b", {{"value", 1}}), nullptr));
  run.Summary(run.view, {{StepOp::kReplace, 2}, {StepOp::kSame, 1}});
  CHECK(run.Finish() == R"(Previewing update (dev):

 ++ testbed:index:Thing a create replacement [diff: ~value]
 +- testbed:index:Thing a replace [diff: ~value]
 -- testbed:index:Thing a delete original [diff: ~value]
 -- testbed:index:Thing b delete original 
    pulumi:pulumi:Stack golden-dev  
Resources:
    +-2 to replace
    1 unchanged
)");
}

TEST_CASE("[C94] destroy") {
  Run run(DeploymentMode::kDestroy, false);
  run.Both(run.view, MakeStep(StepOp::kDelete, ThingState("a", kOne), nullptr));
  run.Both(run.view, MakeStep(StepOp::kDelete, StackState({{"o", 1}}), nullptr));
  run.Summary(run.view, {{StepOp::kDelete, 2}});
  CHECK(run.Finish() == R"(Destroying (dev):

 -  testbed:index:Thing a deleting (0s) 
 -  testbed:index:Thing a deleted (0.01s) 
 -  pulumi:pulumi:Stack golden-dev deleting (0s) 
 -  pulumi:pulumi:Stack golden-dev deleted (0.01s) 
    pulumi:pulumi:Stack golden-dev  
Resources:
    - 2 deleted

Duration: 1s
)");
}

TEST_CASE("[C93][C99] a failed run; diagnostics in creation order") {
  Run run(DeploymentMode::kUpdate, false);
  run.Pre(run.view, MakeStep(StepOp::kCreate, nullptr, StackState({})));
  const StepMetadata bad = MakeStep(StepOp::kCreate, nullptr, ThingState("bad", kOne));
  run.Pre(run.view, bad);
  run.Fail(run.view, bad, "quota exceeded");
  run.Say(run.view, Severity::kError, "", "update failed");
  run.Summary(run.view, {{StepOp::kCreate, 1}}, DeploymentResultKind::kFailed);
  CHECK(run.Finish() == R"(Updating (dev):

 +  pulumi:pulumi:Stack golden-dev creating (0s) 
 +  testbed:index:Thing bad creating (0s) 
 +  testbed:index:Thing bad creating (0s) error: quota exceeded
 +  testbed:index:Thing bad **creating failed** error: quota exceeded
 +  pulumi:pulumi:Stack golden-dev creating (0s) error: update failed
 +  pulumi:pulumi:Stack golden-dev **creating failed** 1 error
Diagnostics:
  pulumi:pulumi:Stack (golden-dev):
    error: update failed

  testbed:index:Thing (bad):
    error: quota exceeded

Resources:
    + 1 created
    2 errored

Duration: 1s
)");
}

TEST_CASE("[C94][C99] check failures in a preview, and an update that failed in part") {
  Run preview(DeploymentMode::kUpdate, true);
  preview.Pre(preview.view, MakeStep(StepOp::kSame, StackState({}), StackState({})));
  preview.Say(preview.view, Severity::kError, ThingUrn("bad"), "value: must be even");
  preview.Say(preview.view, Severity::kError, ThingUrn("bad"), "text: is required");
  preview.Summary(preview.view, {{StepOp::kSame, 1}}, DeploymentResultKind::kFailed);
  CHECK(preview.Finish() == R"(Previewing update (dev):

    testbed:index:Thing bad  error: value: must be even
    testbed:index:Thing bad  error: text: is required
    pulumi:pulumi:Stack golden-dev  
    testbed:index:Thing bad  2 errors
Diagnostics:
  testbed:index:Thing (bad):
    error: value: must be even
    error: text: is required

Resources:
    1 unchanged
    1 errored
)");
  Run run(DeploymentMode::kUpdate, false);
  run.Pre(run.view, MakeStep(StepOp::kSame, StackState({}), StackState({})));
  const StepMetadata half =
      MakeStep(StepOp::kUpdate, ThingState("p", {}), ThingState("p", {{"refuse", "x"}}));
  run.Pre(run.view, half);
  run.Fail(run.view, half, "2 errors occurred:\n\t* not ready\n\t* still not ready\n");
  run.Say(run.view, Severity::kError, "", "update failed");
  run.Summary(run.view, {{StepOp::kSame, 1}}, DeploymentResultKind::kFailed);
  const std::string& text = run.Finish();
  CHECK(text.find(" ~  testbed:index:Thing p **updating failed** [diff: +refuse]; error: 2 errors "
                  "occurred:\n") != std::string::npos);
  CHECK(text.find("    pulumi:pulumi:Stack golden-dev running error: update failed\n"
                  "    pulumi:pulumi:Stack golden-dev **failed** 1 error\n") != std::string::npos);
  CHECK(
      text.find("    error: 2 errors occurred:\n    \t* not ready\n    \t* still not ready\n\n") !=
      std::string::npos);
}

TEST_CASE("[C94] refresh: preview and run") {
  const StatePtr before = ThingState("a", {{"value", 1}});
  const StatePtr after = ThingState("a", {{"value", 5}});
  const StatePtr stack = StackState({{"o", 1}});
  const auto play = [&](bool is_preview) {
    Run run(DeploymentMode::kRefresh, is_preview);
    run.Pre(run.view, MakeStep(StepOp::kRefresh, stack, stack));
    run.Done(run.view, MakeStep(StepOp::kSame, stack, stack));
    run.Pre(run.view, MakeStep(StepOp::kRefresh, before, before));
    run.Done(run.view, MakeStep(StepOp::kUpdate, before, after));
    run.Pre(run.view, MakeStep(StepOp::kRefresh, ThingState("b", {}), ThingState("b", {})));
    run.Done(run.view, MakeStep(StepOp::kDelete, ThingState("b", {}), nullptr));
    run.Summary(run.view, {{StepOp::kUpdate, 1}, {StepOp::kDelete, 1}, {StepOp::kSame, 1}});
    return run.Finish();
  };
  CHECK(play(true) == R"(Previewing refresh (dev):

 ~  pulumi:pulumi:Stack golden-dev refreshing 
    pulumi:pulumi:Stack golden-dev running 
 ~  testbed:index:Thing a refreshing 
 ~  testbed:index:Thing a update [diff: ~value]
 ~  testbed:index:Thing b refreshing 
 -  testbed:index:Thing b delete 
    pulumi:pulumi:Stack golden-dev  
Resources:
    ~ 1 to update
    - 1 to delete
    2 changes. 1 unchanged
)");
  CHECK(play(false) == R"(Refreshing (dev):

 ~  pulumi:pulumi:Stack golden-dev refreshing (0s) 
    pulumi:pulumi:Stack golden-dev running 
 ~  testbed:index:Thing a refreshing (0s) 
 ~  testbed:index:Thing a updated (0.01s) [diff: ~value]
 ~  testbed:index:Thing b refreshing (0s) 
 -  testbed:index:Thing b deleted (0.01s) 
    pulumi:pulumi:Stack golden-dev  
Outputs:
    o: 1

Resources:
    ~ 1 updated
    - 1 deleted
    2 changes. 1 unchanged

Duration: 1s
)");
}

TEST_CASE("[C97] unchanged resources show only when asked; reads are a word on the stack's row") {
  DisplayOptions options = PlainOptions(DeploymentMode::kUpdate, false);
  const auto play = [&] {
    Run run(options);
    run.Pre(run.view, MakeStep(StepOp::kSame, StackState({}), StackState({})));
    run.Both(run.view, MakeStep(StepOp::kSame, ThingState("a", kOne), ThingState("a", kOne)));
    run.Both(run.view, MakeStep(StepOp::kRead, ThingState("r", kOne), ThingState("r", kOne)));
    StepMetadata provider = MakeStep(StepOp::kCreate, nullptr, ThingState("default", kOne));
    provider.is_internal = true;
    run.Both(run.view, provider);
    run.Done(run.view, MakeStep(StepOp::kSame, StackState({}), StackState({})));
    run.Summary(run.view, {{StepOp::kSame, 2}});
    return run.Finish();
  };
  CHECK(play() == R"(Updating (dev):

    pulumi:pulumi:Stack golden-dev running read testbed:index:Thing r
    pulumi:pulumi:Stack golden-dev running read testbed:index:Thing r
    pulumi:pulumi:Stack golden-dev  
Resources:
    2 unchanged

Duration: 1s
)");
  options.show_sames = true;
  options.show_reads = true;
  options.show_urns = true;
  CHECK(play().find("    " + ThingUrn("a") + "  \n >  " + ThingUrn("r") + " reading (0s) \n >  " +
                    ThingUrn("r") + " read (0.01s) \n") != std::string::npos);
}

TEST_CASE("[C99][C106] warnings before the stack exists belong to it") {
  Run run(DeploymentMode::kUpdate, true);
  run.Say(run.view, Severity::kWarning, "", "an older word");
  run.Pre(run.view, MakeStep(StepOp::kCreate, nullptr, StackState({})));
  run.Say(run.view, Severity::kDebug, "", "not for people");
  run.Summary(run.view, {{StepOp::kCreate, 1}});
  CHECK(run.Finish() == R"(Previewing update (dev):

    pulumi:pulumi:Stack golden-dev  warning: an older word
 +  pulumi:pulumi:Stack golden-dev create warning: an older word
 +  pulumi:pulumi:Stack golden-dev create 1 warning
Diagnostics:
  pulumi:pulumi:Stack (golden-dev):
    warning: an older word

Resources:
    + 1 to create
)");
}

TEST_CASE("[C100][C111] outputs that change in every way, as recorded") {
  PropertyMap old_inner = {{"m", "n"}};
  PropertyMap new_inner = {{"m", "changed"}};
  PropertyMap old_map = {{"k", 1}, {"l", old_inner}};
  PropertyMap new_map = {{"k", 1}, {"l", new_inner}, {"added", 1}};
  PropertyList old_list = {1, 2, 3};
  PropertyList new_list = {1, 9};
  const PropertyMap before = {{"text", "a"},
                              {"number", 1},
                              {"list", old_list},
                              {"map", old_map},
                              {"gone", true},
                              {"empty", ""},
                              {"lines", "one\ntwo\nthree\nfour\nfive"}};
  const PropertyMap after = {{"text", "b"},
                             {"number", 2},
                             {"list", new_list},
                             {"map", new_map},
                             {"fresh", 1.5},
                             {"empty", "now"},
                             {"lines", "one\ntwo\nTHREE\nfour\nfive"}};
  Run first(DeploymentMode::kUpdate, true);
  first.Both(first.view, MakeStep(StepOp::kCreate, nullptr, StackState(before)));
  first.Summary(first.view, {{StepOp::kCreate, 1}});
  CHECK(first.Finish().find(R"(Outputs:
    gone  : true
    lines : "one\ntwo\nthree\n..."
    list  : [
        [0]: 1
        [1]: 2
        [2]: 3
    ]
    map   : {
        k: 1
        l: {
            m: "n"
        }
    }
    number: 1
    text  : "a"

Resources:
)") != std::string::npos);
  Run second(DeploymentMode::kUpdate, true);
  second.Both(second.view, MakeStep(StepOp::kSame, StackState(before), StackState(after)));
  second.Summary(second.view, {{StepOp::kSame, 1}});
  CHECK(second.Finish() == R"(Previewing update (dev):

    pulumi:pulumi:Stack golden-dev  
Outputs:
  + empty : "now"
  + fresh : 1.5
  - gone  : true
  ~ lines : 
        one
        two
      - three
      + THREE
        four
        five
  ~ list  : [
        [0]: 1
      ~ [1]: 2 => 9
      - [2]: 3
    ]
  ~ map   : {
      + added: 1
        k    : 1
      ~ l    : {
          ~ m: "n" => "changed"
        }
    }
  ~ number: 1 => 2
  ~ text  : "a" => "b"

Resources:
    1 unchanged
)");
}

TEST_CASE(
    "[C95][C100][C116] secrets show as [secret]; a changed one has a mark and no clear text") {
  const auto secret = [](const char* text) { return MakeSecret(PropertyValue(text)); };
  DisplayOptions options = PlainOptions(DeploymentMode::kUpdate, false);
  const auto play = [&] {
    Run run(options);
    const StatePtr stack =
        StackState({{"hidden", secret("canary-one")}, {"kept", secret("canary-two")}});
    run.Pre(run.view, MakeStep(StepOp::kSame, stack, StackState({})));
    run.Both(run.view,
             MakeStep(StepOp::kUpdate,
                      ThingState("a", {{"value", secret("canary-one")}}),
                      ThingState("a", {{"value", secret("canary-three")}})));
    run.Done(
        run.view,
        MakeStep(StepOp::kSame,
                 stack,
                 StackState({{"hidden", secret("canary-three")}, {"kept", secret("canary-two")}})));
    run.Summary(run.view, {{StepOp::kUpdate, 1}, {StepOp::kSame, 1}});
    return run.Finish();
  };
  const std::string text = play();
  CHECK(text.find("canary") == std::string::npos);
  CHECK(text.find(" ~  testbed:index:Thing a updating (0s) \n") != std::string::npos);
  CHECK(text.find("Outputs:\n  ~ hidden: [secret] => [secret]\n    kept  : [secret]\n\n") !=
        std::string::npos);
  options.show_secrets = true;
  CHECK(
      play().find("  ~ hidden: \"canary-one\" => \"canary-three\"\n    kept  : \"canary-two\"\n") !=
      std::string::npos);
}

TEST_CASE("[C93][C104] the waiting line ends where other output begins") {
  DisplayOptions options = PlainOptions(DeploymentMode::kUpdate, true);
  options.suppress_progress = false;
  Run run(options);
  const auto begin = run.now;
  run.view.Tick(begin);
  run.view.Tick(begin + std::chrono::milliseconds(500));
  run.view.Tick(begin + std::chrono::milliseconds(1100));
  run.Both(run.view, MakeStep(StepOp::kCreate, nullptr, StackState({})));
  CHECK(run.text ==
        "Previewing update (dev):\n\n@ Previewing update.....\n +  pulumi:pulumi:Stack golden-dev "
        "create \n");
}

TEST_CASE("[C3][C91] colours: escapes, tags, none") {
  DisplayOptions options = PlainOptions(DeploymentMode::kUpdate, true);
  options.style = Style(ColorMode::kAlways);
  Run colored(options);
  colored.Both(colored.view, MakeStep(StepOp::kCreate, nullptr, ThingState("a", kOne)));
  CHECK(colored.text.find("\x1B[1m\x1B[38;5;2m+ \x1B[0m") != std::string::npos);
  CHECK(WithoutColors(colored.text).find(" +  testbed:index:Thing a create \n") !=
        std::string::npos);
  options.style = Style(ColorMode::kRaw);
  Run tagged(options);
  tagged.Both(tagged.view, MakeStep(StepOp::kCreate, nullptr, ThingState("a", kOne)));
  CHECK(tagged.text.find("<{%bold%}><{%fg 2%}>+ <{%reset%}>") != std::string::npos);
  CHECK(WithoutColors(tagged.text) == WithoutColors(colored.text));
}

// Recorded in import-command.
TEST_CASE("[C93][E156] an import into a stack that is there says nothing of the stack") {
  Run run(DeploymentMode::kImport, false);
  run.Pre(run.view, MakeStep(StepOp::kSame, StackState({}), StackState({})));
  run.Both(run.view, MakeStep(StepOp::kImport, nullptr, ThingState("a", kOne)));
  run.Summary(run.view, {{StepOp::kImport, 1}, {StepOp::kSame, 2}});
  CHECK(run.Finish() == R"(Importing (dev):

 =  testbed:index:Thing a importing (0s) 
 =  testbed:index:Thing a imported (0.01s) 
Resources:
    = 1 imported
    2 unchanged

Duration: 1s
)");
}

}  // namespace
}  // namespace davit::testing
