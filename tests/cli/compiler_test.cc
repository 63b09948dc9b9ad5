// Programs that a compiler writes, and what a check prints.
#include <catch2/catch.hpp>

#include "cli/display/findings.h"
#include "cli/workspace/compiler.h"

namespace davit {

TEST_CASE("[Y6] T20 a command line is split as by a shell") {
  CHECK(*ShellWords("cue export  'a b' \"c\\\"d\" e\\ f") ==
        std::vector<std::string>{"cue", "export", "a b", "c\"d", "e f"});
  CHECK(*ShellWords("  ") == std::vector<std::string>());
  CHECK(*ShellWords("a ''") == std::vector<std::string>{"a", ""});
  CHECK_FALSE(ShellWords("a 'b").has_value());
}

TEST_CASE("[Y6] T20 T21 the compiler's output is the program, its failure an error") {
  const Environment environment{{"PATH", "/usr/bin:/bin"}, {"PULUMI_STACK", "dev"}};
  const Result<std::string> good =
      RunCompiler("sh -c 'echo name: $PULUMI_STACK; pwd >&2'", "/tmp", environment);
  REQUIRE(good);
  CHECK(*good == "name: dev\n");
  const Result<std::string> bad = RunCompiler("sh -c 'echo told; echo why >&2; exit 3'", "/", environment);
  REQUIRE_FALSE(bad);
  CHECK(bad.error().message.find("ended with 3:\nwhy") != std::string::npos);
  CHECK_FALSE(RunCompiler("", "/", environment).has_value());
  CHECK(RunCompiler("no-such-program-here", "/", environment).error().message.find("cannot start") !=
        std::string::npos);
}

TEST_CASE("[Y159] what a check found: text with the source line, JSON, SARIF") {
  Findings findings;
  Error error = MakeError(ErrorKind::kInvalid, "'count' must be integer, not a list", "remove it");
  error.where = SourceRange{"Pulumi.yaml", 2, 9, 2, 12};
  findings.errors.push_back(error);
  findings.warnings.push_back(MakeError(ErrorKind::kInvalid, "old"));
  const SourceText source = [](const std::string&) {
    return std::optional<std::string>("first\n  count: [1]\n");
  };
  CHECK(FindingsText(findings, source) ==
        "Pulumi.yaml:2:9: error: 'count' must be integer, not a list\n"
        "  2 |   count: [1]\n"
        "    |         ^^^\n"
        "  remove it\n"
        "warning: old\n"
        "1 error, 1 warning\n");
  CHECK(FindingsText(Findings(), source) == "no errors\n");
  CHECK(FindingsJson(findings).find("\"line\": 2") != std::string::npos);
  CHECK(FindingsJson(findings).find("\"errors\": 1") != std::string::npos);
  const std::string sarif = FindingsSarif(findings, "v1");
  CHECK(sarif.find("\"startColumn\": 9") != std::string::npos);
  CHECK(sarif.find("\"level\": \"warning\"") != std::string::npos);
}

TEST_CASE("[Y159] places related to a finding stand in all three forms") {
  Findings findings;
  Error error = MakeError(ErrorKind::kInvalid, "the key 'a' is given twice");
  error.where = SourceRange{"Pulumi.yaml", 2, 1, 0, 0};
  error.related.push_back({"first given here", SourceRange{"Pulumi.yaml", 1, 1, 1, 2}});
  findings.errors.push_back(error);
  const SourceText source = [](const std::string&) {
    return std::optional<std::string>("a: 1\na: 2\n");
  };
  CHECK(FindingsText(findings, source) ==
        "Pulumi.yaml:2:1: error: the key 'a' is given twice\n"
        "  2 | a: 2\n"
        "    | ^\n"
        "  Pulumi.yaml:1:1: first given here\n"
        "  1 | a: 1\n"
        "    | ^\n"
        "1 error\n");
  CHECK(FindingsJson(findings).find("\"message\": \"first given here\",\n"
                                    "          \"file\": \"Pulumi.yaml\",\n"
                                    "          \"line\": 1,") != std::string::npos);
  const std::string sarif = FindingsSarif(findings, "v1");
  CHECK(sarif.find("\"relatedLocations\": [") != std::string::npos);
  CHECK(sarif.find("\"text\": \"first given here\"") != std::string::npos);
}

}  // namespace davit
