#include "cli/options.h"

#include <catch2/catch.hpp>

namespace davit {
namespace {

Result<Invocation> Parse(const std::vector<std::string>& words,
                         const Environment& environment = {}) {
  return ParseCommandLine(words, environment);
}

Error Refusal(const std::vector<std::string>& words, const Environment& environment = {}) {
  Result<Invocation> parsed = Parse(words, environment);
  REQUIRE_FALSE(parsed);
  return parsed.error();
}

TEST_CASE("[C10] aliases name the same command") {
  for (const char* name : {"up", "update"}) {
    REQUIRE(Parse({name})->command->name == "up");
  }
  REQUIRE(Parse({"pre"})->command->name == "preview");
  REQUIRE(Parse({"dn"})->command->name == "destroy");
  REQUIRE(Parse({"stack", "new", "dev"})->command->name == "stack init");
}

TEST_CASE("[C11] flags: long, short, joined, with and without =") {
  const Result<Invocation> parsed = Parse({"up",
                                           "-s",
                                           "dev",
                                           "-yf",
                                           "--parallel=3",
                                           "--refresh=false",
                                           "-ta",
                                           "-t",
                                           "b",
                                           "--target=c",
                                           "--event-log",
                                           "x.jsonl"});
  REQUIRE(parsed);
  CHECK(parsed->Text("stack") == "dev");
  CHECK(parsed->Bool("yes"));
  CHECK(parsed->Bool("skip-preview"));
  CHECK(parsed->Number("parallel") == 3);
  CHECK(parsed->IsSet("refresh"));
  CHECK_FALSE(parsed->Bool("refresh"));
  CHECK(parsed->List("target") == std::vector<std::string>{"a", "b", "c"});
  CHECK(parsed->Text("event-log") == "x.jsonl");
}

TEST_CASE("[C1] flags may stand before the command and between its words") {
  const Result<Invocation> parsed =
      Parse({"-C", "/tmp", "stack", "-s", "dev", "output", "--json", "name"});
  REQUIRE(parsed);
  CHECK(parsed->command->name == "stack output");
  CHECK(parsed->Text("cwd") == "/tmp");
  CHECK(parsed->arguments == std::vector<std::string>{"name"});
}

TEST_CASE("words behind -- are arguments") {
  const Result<Invocation> parsed = Parse({"config", "set", "key", "--", "--value"});
  REQUIRE(parsed);
  CHECK(parsed->arguments == std::vector<std::string>{"key", "--value"});
}

TEST_CASE("[C2] PULUMI_OPTION_<NAME> stands in for a flag; the command line wins") {
  const Environment environment = {{"PULUMI_OPTION_PARALLEL", "5"},
                                   {"PULUMI_OPTION_TARGET", "a,\"b,c\""},
                                   {"PULUMI_OPTION_YES", "true"},
                                   {"PULUMI_OPTION_EVENT_LOG", "log"}};
  const Result<Invocation> parsed = Parse({"up", "--parallel", "2"}, environment);
  REQUIRE(parsed);
  CHECK(parsed->Number("parallel") == 2);
  CHECK(parsed->List("target") == std::vector<std::string>{"a", "b,c"});
  CHECK(parsed->Bool("yes"));
  CHECK(parsed->Text("event-log") == "log");
  CHECK(Refusal({"up"}, {{"PULUMI_OPTION_PARALLEL", "many"}})
            .message.find("PULUMI_OPTION_PARALLEL") != std::string::npos);
  CHECK(Refusal({"up"}, {{"PULUMI_OPTION_SECRETS_PROVIDER", "p"}}).kind ==
        ErrorKind::kUnimplemented);
}

TEST_CASE("[C6][C77] what is unknown is an error that names the nearest") {
  CHECK(Refusal({"upp"}).advice.find("davit up'") != std::string::npos);
  CHECK(Refusal({"stack", "selekt"}).advice.find("stack select") != std::string::npos);
  CHECK(Refusal({"up", "--paralel", "3"}).advice == "did you mean --parallel?");
  CHECK(Refusal({"up", "-Z"}).message == "unknown flag -Z");
}

TEST_CASE("flags and commands of the reference that davit lacks are refused by name") {
  CHECK(Refusal({"up", "--secrets-provider", "p"}).message ==
        "davit does not support --secrets-provider yet");
  CHECK(Refusal({"up", "--attach-debugger"}).kind == ErrorKind::kUnimplemented);
  CHECK(Refusal({"preview", "--import-file", "x"}).message ==
        "davit does not support --import-file yet");
  CHECK(Refusal({"watch"}).message == "davit does not have the command 'watch' yet");
  CHECK(Refusal({"stack", "migrate", "url"}).kind == ErrorKind::kUnimplemented);
  CHECK(Refusal({"console"}).advice == "it needs a hosted service, and davit works without one");
  CHECK(Refusal({"login", "file://x"}).advice.find("PULUMI_BACKEND_URL") != std::string::npos);
  // What asks for nothing is no reason to stop.
  CHECK(Parse({"up", "--attach-debugger=false"}));
  CHECK(Parse({"up", "--suppress-permalink"}));
}

TEST_CASE("[C77] bad values and argument counts are errors") {
  CHECK(Refusal({"up", "--parallel", "x"}).message == "'x' is not a value for -p, --parallel");
  CHECK(Refusal({"up", "--yes=maybe"}).kind == ErrorKind::kInvalid);
  CHECK(Refusal({"config", "set"}).message == "'davit config set' needs an argument");
  CHECK(Refusal({"stack", "init", "a", "b"}).message.find("'b'") != std::string::npos);
  CHECK(Refusal({"up", "-s"}).message == "the flag -s, --stack needs a value");
}

TEST_CASE("[C55] a group shows its commands") {
  const Result<Invocation> parsed = Parse({"state"});
  REQUIRE(parsed);
  CHECK(parsed->wants_help);
  CHECK(HelpText(parsed->command).find("state rename") != std::string::npos);
  CHECK(Refusal({"state", "renam"}).advice.find("state rename") != std::string::npos);
  CHECK(Parse({"state", "rm", "u"})->command->name == "state delete");
}

TEST_CASE("help comes from the table") {
  CHECK(Parse({})->wants_help);
  CHECK(Parse({"up", "--help"})->wants_help);
  const std::string all = HelpText(nullptr);
  for (const CommandSpec& command : Commands()) {
    CHECK((all.find("  " + command.name + " ") != std::string::npos) == command.is_supported);
  }
  const std::string up = HelpText(Parse({"up", "-h"})->command);
  CHECK(up.find("-p, --parallel N") != std::string::npos);
  CHECK(up.find("secrets-provider") == std::string::npos);
}

}  // namespace
}  // namespace davit
