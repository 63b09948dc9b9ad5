#include "cli/display/event_json.h"

#include <catch2/catch.hpp>

#include "cli/display/masking.h"
#include "tests/cli/event_script.h"

namespace davit::testing {
namespace {

const std::chrono::system_clock::time_point kWhen{std::chrono::milliseconds(1760000000900)};

std::string Line(const Event& event) {
  return EventLine(event, 3, kWhen);
}

TEST_CASE("[C130][C131] prelude, summary, cancel and stdout") {
  CHECK(
      Line(PreludeEvent{{{"golden:word", "[secret]"}}}) ==
      R"({"sequence":3,"timestamp":1760000000,"preludeEvent":{"config":{"golden:word":"[secret]"}}})");
  SummaryEvent summary;
  summary.changes = {{StepOp::kSame, 1}, {StepOp::kCreate, 2}};
  summary.duration = std::chrono::milliseconds(1200);
  CHECK(
      Line(summary) ==
      R"({"sequence":3,"timestamp":1760000000,"summaryEvent":{"maybeCorrupt":false,"durationSeconds":2,"resourceChanges":{"create":2,"same":1},"PolicyPacks":{},"isPreview":false,"result":"succeeded"}})");
  CHECK(Line(CancelEvent{}) == R"({"sequence":3,"timestamp":1760000000,"cancelEvent":{}})");
  CHECK(
      Line(StdoutEvent{"a<b>\n"}) ==
      R"({"sequence":3,"timestamp":1760000000,"stdoutEvent":{"message":"a<b>\n","color":"never"}})");
}

// The recorded line of `json-up`, with its UUID shortened.
TEST_CASE("[C133][C135][C139] a finished step, secrets masked") {
  const PropertyMap behave = {{"computed", PropertyMap{{"out", 7}}}};
  const PropertyMap inputs = {{"behave", behave}, {"text", MakeSecret("canary")}, {"value", 1}};
  const PropertyMap outputs = {{"out", 7}, {"text", MakeSecret("canary")}, {"value", 1}};
  const Event event = ResourceOutputsEvent{
      MakeStep(StepOp::kCreate, nullptr, MakeState(ThingUrn("a"), inputs, outputs, "a-1"))};
  CHECK(
      Line(event) ==
      R"({"sequence":3,"timestamp":1760000000,"resOutputsEvent":{"metadata":{"op":"create","urn":"urn:pulumi:dev::golden::testbed:index:Thing::a","type":"testbed:index:Thing","old":null,"new":{"type":"testbed:index:Thing","urn":"urn:pulumi:dev::golden::testbed:index:Thing::a","custom":true,"id":"a-1","parent":"urn:pulumi:dev::golden::pulumi:pulumi:Stack::golden-dev","inputs":{"behave":{"computed":{"out":7}},"text":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"[secret]"},"value":1},"outputs":{"out":7,"text":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"[secret]"},"value":1},"provider":"urn:pulumi:dev::golden::pulumi:providers:testbed::default::uuid"},"detailedDiff":null,"logical":true,"provider":"urn:pulumi:dev::golden::pulumi:providers:testbed::default::uuid"}}})");
}

TEST_CASE("[C133][C134] names and kinds of a difference; a half of a replacement is not logical") {
  StepMetadata step = MakeStep(
      StepOp::kCreateReplacement, ThingState("a", {{"v", 1}}), ThingState("a", {{"v", 2}}));
  step.keys = {"v"};
  step.diffs = {"v"};
  step.detailed_diff = std::map<std::string, PropertyDiff>{{"v", {DiffKind::kUpdateReplace, true}}};
  const std::string line = Line(ResourcePreEvent{step, true});
  CHECK(
      line.find(
          R"("keys":["v"],"diffs":["v"],"detailedDiff":{"v":{"diffKind":"update-replace","inputDiff":true}},"provider")") !=
      std::string::npos);
  CHECK(line.find("logical") == std::string::npos);
  CHECK(line.find(R"(},"planning":true}})") != std::string::npos);
}

// The lines that the specification shows, with a state of this test.
TEST_CASE("[C130][C136][C140] a run as a stream") {
  std::string lines;
  EventStream stream([&](const std::string& text) { lines += text; }, false);
  const auto when = std::chrono::system_clock::time_point(std::chrono::seconds(1760000000));
  const auto later = when + std::chrono::seconds(1);
  StepMetadata step =
      MakeStep(StepOp::kCreate, nullptr, MakeState(ThingUrn("a"), {{"n", 1}}, {}));
  stream.Emit(PreludeEvent{}, when);
  stream.Emit(ResourcePreEvent{step, false}, when);
  SummaryEvent summary;
  summary.changes = {{StepOp::kCreate, 1}};
  summary.duration = std::chrono::milliseconds(300);
  stream.Emit(summary, later);
  stream.Emit(CancelEvent{}, later);
  const std::string provider = "urn:pulumi:dev::golden::pulumi:providers:testbed::default::uuid";
  CHECK(lines ==
        R"({"sequence":0,"timestamp":1760000000,"preludeEvent":{"config":{}}}
{"sequence":1,"timestamp":1760000000,"resourcePreEvent":{"metadata":{"op":"create","urn":")" +
            ThingUrn("a") + R"(","type":"testbed:index:Thing","old":null,"new":{"type":"testbed:index:Thing","urn":")" +
            ThingUrn("a") + R"(","custom":true,"id":"","parent":")" + kStackUrn +
            R"(","inputs":{"n":1},"outputs":{},"provider":")" + provider +
            R"("},"detailedDiff":null,"logical":true,"provider":")" + provider + R"("}}}
{"sequence":2,"timestamp":1760000001,"summaryEvent":{"maybeCorrupt":false,"durationSeconds":1,"resourceChanges":{"create":1},"PolicyPacks":{},"isPreview":false,"result":"succeeded"}}
{"sequence":3,"timestamp":1760000001,"cancelEvent":{}}
)");
}

TEST_CASE("[C131][C138] diagnostics and failures") {
  DiagnosticEvent event;
  event.severity = Severity::kError;
  event.urn = ThingUrn("a");
  event.message = "\x1B[31mbusy\x1B[0m <{%fg 1%}>now<{%reset%}>";
  CHECK(
      Line(event) ==
      R"({"sequence":3,"timestamp":1760000000,"diagnosticEvent":{"urn":"urn:pulumi:dev::golden::testbed:index:Thing::a","prefix":"error: ","message":"busy now\n","color":"never","severity":"error"}})");
  DiagnosticEvent note;
  note.severity = Severity::kInfoToStderr;
  note.message = "text";
  note.stream_id = 4;
  note.ephemeral = true;
  CHECK(
      Line(note).find(
          R"("diagnosticEvent":{"message":"text\n","color":"never","severity":"info#err","streamID":4,"ephemeral":true}})") !=
      std::string::npos);
  const StepMetadata step = MakeStep(StepOp::kUpdate, ThingState("a", {}), ThingState("a", {}));
  CHECK(Line(ResourceFailedEvent{step, OperationStatus::kUnknown, 1})
            .find(R"("status":2,"steps":1}})") != std::string::npos);
}

TEST_CASE("[C139] special values: unknown, assets, bytes that are not UTF-8") {
  const auto json = [](const PropertyValue& value) {
    JsonWriter writer;
    WriteValue(value, SecretForm::kObject, &writer);
    return writer.Take();
  };
  CHECK(json(Unknown{}) == "\"04da6b54-80e4-46f7-96ec-b56ff0331ba9\"");
  Asset asset;
  asset.source = Asset::Source::kText;
  asset.content = "canary";
  asset.hash = "abc";
  CHECK(json(asset).find("canary") == std::string::npos);
  CHECK(json(std::string("a\xFF"
                         "b")) == "\"a\\ufffdb\"");
  CHECK(json(1e21) == "1e+21");
  CHECK(json(2.0) == "2");
  Output output;
  output.element = std::make_shared<const PropertyValue>("canary");
  output.is_secret = true;
  CHECK(json(output).find("canary") == std::string::npos);
}

TEST_CASE("[C130][C137] --json leaves internal steps out and keeps their numbers") {
  StepMetadata provider = MakeStep(StepOp::kCreate, nullptr, ThingState("p", {}));
  provider.is_internal = true;
  std::string all;
  std::string some;
  EventStream log([&](const std::string& text) { all += text; }, true);
  EventStream json([&](const std::string& text) { some += text; }, false);
  for (EventSink* sink : {static_cast<EventSink*>(&log), static_cast<EventSink*>(&json)}) {
    sink->Emit(PreludeEvent{}, kWhen);
    sink->Emit(ResourcePreEvent{provider}, kWhen);
    sink->Emit(CancelEvent{}, kWhen);
  }
  CHECK(std::count(all.begin(), all.end(), '\n') == 3);
  CHECK(std::count(some.begin(), some.end(), '\n') == 2);
  CHECK(some.find("{\"sequence\":2,") != std::string::npos);
}

TEST_CASE("[C139] the clear text of secret configuration is masked in messages") {
  std::map<std::string, ConfigValue> config;
  config["p:a"] = ConfigValue{"canary", true, false};
  config["p:b"] = ConfigValue{"canary-long", true, false};
  config["p:c"] = ConfigValue{"open", false, false};
  config["p:d"] = ConfigValue{"1", true, false};
  const MessageMask mask(config);
  CHECK(mask.Apply("is canary-long or canary, 1 open") == "is [secret] or [secret], 1 open");
  DiagnosticEvent event;
  event.message = "canary!";
  CHECK(std::get<DiagnosticEvent>(mask.Apply(Event(event))).message == "[secret]!");
}

// The recording `json-preview`, without its times and positions.
TEST_CASE("[C123][C124][C127] the digest of a preview") {
  PreviewDigest digest(PlainOptions(DeploymentMode::kUpdate, true));
  Script script(PlainOptions(DeploymentMode::kUpdate, true));
  script.Pre(digest, MakeStep(StepOp::kCreate, nullptr, StackState({})));
  const StatePtr state =
      MakeState(ThingUrn("a"), {{"text", MakeSecret("canary")}, {"value", 1}}, {});
  script.Both(digest, MakeStep(StepOp::kCreate, nullptr, state));
  script.Both(digest, MakeStep(StepOp::kSame, ThingState("b", {}), ThingState("b", {})));
  script.Summary(digest, {{StepOp::kCreate, 2}});
  CHECK(digest.Text() == R"({
    "steps": [
        {
            "op": "create",
            "urn": "urn:pulumi:dev::golden::pulumi:pulumi:Stack::golden-dev",
            "newState": {
                "urn": "urn:pulumi:dev::golden::pulumi:pulumi:Stack::golden-dev",
                "custom": false,
                "type": "pulumi:pulumi:Stack"
            },
            "detailedDiff": null
        },
        {
            "op": "create",
            "urn": "urn:pulumi:dev::golden::testbed:index:Thing::a",
            "provider": "urn:pulumi:dev::golden::pulumi:providers:testbed::default::uuid",
            "newState": {
                "urn": "urn:pulumi:dev::golden::testbed:index:Thing::a",
                "custom": true,
                "type": "testbed:index:Thing",
                "inputs": {
                    "text": "[secret]",
                    "value": 1
                },
                "parent": "urn:pulumi:dev::golden::pulumi:pulumi:Stack::golden-dev",
                "provider": "urn:pulumi:dev::golden::pulumi:providers:testbed::default::uuid"
            },
            "detailedDiff": null
        }
    ],
    "duration": 300000000,
    "changeSummary": {
        "create": 2
    }
}
)");
}

TEST_CASE("[C125] diagnostics of a digest: whole texts without colours; no debug, no passing ones") {
  PreviewDigest digest(PlainOptions(DeploymentMode::kUpdate, true));
  Script script(PlainOptions(DeploymentMode::kUpdate, true));
  script.Say(digest, Severity::kWarning, ThingUrn("a"), "<{%fg 3%}>mind<{%reset%}> the gap");
  script.Say(digest, Severity::kDebug, "", "never seen");
  DiagnosticEvent passing;
  passing.message = "just now";
  passing.ephemeral = true;
  script.Send(digest, passing);
  script.Send(digest, StdoutEvent{"printed\n"});
  const std::string text = digest.Text();
  CHECK(text.find(R"(    "diagnostics": [
        {
            "urn": "urn:pulumi:dev::golden::testbed:index:Thing::a",
            "message": "warning: mind the gap\n",
            "severity": "warning"
        },
        {
            "message": "printed\n",
            "severity": "info"
        }
    ])") != std::string::npos);
  CHECK(text.find("never seen") == std::string::npos);
  CHECK(text.find("just now") == std::string::npos);
}

TEST_CASE("[C126] a refresh that finds a resource gone is a delete in the digest") {
  PreviewDigest digest(PlainOptions(DeploymentMode::kRefresh, true));
  Script script(PlainOptions(DeploymentMode::kRefresh, true));
  script.Pre(digest, MakeStep(StepOp::kRefresh, ThingState("a", {}), ThingState("a", {})));
  script.Done(digest, MakeStep(StepOp::kDelete, ThingState("a", {}), nullptr));
  const std::string text = digest.Text();
  CHECK(text.find("\"op\": \"delete\"") != std::string::npos);
  CHECK(text.find("\"op\": \"refresh\"") == std::string::npos);
}

TEST_CASE("[C122] the summary line") {
  RunSummary summary(PlainOptions(DeploymentMode::kUpdate, false));
  Script script(PlainOptions(DeploymentMode::kUpdate, false));
  script.Both(summary, MakeStep(StepOp::kCreate, nullptr, StackState({})));
  script.Both(summary, MakeStep(StepOp::kSame, ThingState("b", {}), ThingState("b", {})));
  script.Summary(summary, {{StepOp::kCreate, 1}, {StepOp::kSame, 1}});
  CHECK(
      summary.Text() ==
      R"({"result":"succeeded","duration":300000000,"summary":{"create":1,"same":1},"resources":[{"urn":"urn:pulumi:dev::golden::pulumi:pulumi:Stack::golden-dev","type":"pulumi:pulumi:Stack","name":"golden-dev","op":"create"}]})"
      "\n");
}

}  // namespace
}  // namespace davit::testing
