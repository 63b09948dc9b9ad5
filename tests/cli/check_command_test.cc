// `davit check` as a process: its three forms, its exit status, the schemas it keeps.
#include <sys/stat.h>

#include "tests/cli/project.h"

namespace davit {
namespace {

constexpr const char* kFaulty = R"(config:
  word: {type: string, default: w}
resources:
  note:
    type: localhost:File
    properties:
      path: 12
      contents: ${word}
      content: [1]
  word: {type: localhost:File, properties: {path: a, content: b}}
outputs:
  o: ${note.nope}
)";

std::vector<fs::path> KeptSchemas(const Project& project) {
  std::vector<fs::path> files;
  if (fs::exists(project.Path("home/schemas"))) {
    for (const fs::directory_entry& file : fs::directory_iterator(project.Path("home/schemas"))) {
      files.push_back(file.path());
    }
  }
  return files;
}

TEST_CASE("[Y134][Y159] a check prints every cause once, with its place, source and exit status") {
  const Project project("check", kFaulty);
  const Ran ran = project("check", "");
  INFO(ran.out << ran.err);
  CHECK(ran.status == 1);
  CHECK(Has(ran.out,
            "Pulumi.yaml:12:3: error: the resource 'word' has the name of a configuration value\n"
            "  12 |   word: {type"));
  CHECK(Has(ran.out, "  Pulumi.yaml:4:3: first defined here\n  4 |   word: {type: string"));
  CHECK(ran.err.empty());
  CHECK_FALSE(fs::exists(project.Path("home/schemas")));  // nothing to compare with schemas yet
}

TEST_CASE("[Y153][Y154][Y159] what schemas tell, as text, JSON and SARIF") {
  std::string text = kFaulty;
  text.erase(text.find("  word: {type: localhost"),
             text.find("outputs:") - text.find("  word: {type: localhost"));
  const Project project("check-types", text);
  const Ran ran = project("check", "");
  INFO(ran.out << ran.err);
  CHECK(ran.status == 1);
  CHECK(Has(ran.out, "Pulumi.yaml:10:7: error: "));
  CHECK(Has(ran.out, "  10 |       contents: ${word}\n     |       ^^^^^^^^\n"));
  CHECK(Has(ran.out, "'content'"));  // the nearest name
  CHECK(Has(ran.out, "Pulumi.yaml:11:16: error: "));
  CHECK(Has(ran.out, "Pulumi.yaml:13:"));
  CHECK(Has(ran.out, "3 errors\n"));
  const Ran json = project("check --json", "");
  CHECK(json.status == 1);
  CHECK(Has(json.out, "\"errors\": 3"));
  CHECK(Has(json.out, "\"line\": 10,\n      \"column\": 7,"));
  const Ran sarif = project("check --format sarif", "");
  CHECK(sarif.status == 1);
  CHECK(Has(sarif.out, "\"version\": \"2.1.0\""));
  CHECK(Has(sarif.out, "\"startLine\": 10,\n                  \"startColumn\": 7"));
  const Ran other = project("check --format xml", "");
  CHECK(other.status == 1);
  CHECK(Has(other.err, "there are text, json and sarif"));
}

TEST_CASE("[Y150][Y159] a good program has no findings, and needs no stack and no passphrase") {
  const Project project("check-good",
                        "resources:\n  note:\n    type: localhost:File\n"
                        "    properties: {path: a, content: b}\n");
  const Ran ran = project("check", "");
  INFO(ran.out << ran.err);
  CHECK(ran.status == 0);
  CHECK(ran.out == "no errors\n");
  CHECK_FALSE(fs::exists(project.Path("a")));
}

TEST_CASE("[Y87] C61 C62 a schema is asked for once; afterwards a check starts no process") {
  const Project project("check-cached",
                        "plugins:\n  providers:\n    - {name: davittest, path: plugin}\n"
                        "resources:\n  x: {type: davittest:index:Thing, properties: {value: 1}}\n");
  fs::create_directories(project.Path("plugin"));
  const std::string executable = project.Path("plugin/pulumi-resource-davittest");
  fs::copy(DAVIT_BINARY_DIR "/tests/plugins/pulumi-resource-davittest", executable);
  const auto check = [&](int wanted_calls) {
    const std::string trace = project.Path("trace");
    fs::remove(trace);
    const Ran ran = project("check", "", "PULUMI_DEBUG_GRPC='" + trace + "'");
    INFO(ran.out << ran.err);
    CHECK(ran.status == 0);
    const std::string calls = ReadFileIfThere(trace)->value_or("");
    CHECK(Has(calls, "GetSchema") == (wanted_calls > 0));
    CHECK(Has(calls, "Handshake") == (wanted_calls > 0));
  };
  check(1);
  REQUIRE(KeptSchemas(project).size() == 1);
  check(0);
  // Another build of the plugin at the same place is another plugin.
  fs::copy(executable, executable + ".new");
  fs::rename(executable + ".new", executable);
  check(1);
  CHECK(KeptSchemas(project).size() == 2);
  check(0);
  // What nobody used for a month goes when another one is written.
  for (const fs::path& file : KeptSchemas(project)) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(24 * 31));
  }
  fs::copy(executable, executable + ".new");
  fs::rename(executable + ".new", executable);
  check(1);
  CHECK(KeptSchemas(project).size() == 1);
}

TEST_CASE("C61 the schema of a plugin that is a script is not kept") {
  const Project project("check-script",
                        "plugins:\n  providers:\n    - {name: davittest, path: plugin}\n"
                        "resources:\n  x: {type: davittest:index:Thing, properties: {value: 1}}\n");
  fs::create_directories(project.Path("plugin"));
  const std::string script = project.Path("plugin/pulumi-resource-davittest");
  project.Write("plugin/pulumi-resource-davittest",
                "#!/bin/sh\nexec '" DAVIT_BINARY_DIR
                "/tests/plugins/pulumi-resource-davittest' \"$@\"\n");
  REQUIRE(chmod(script.c_str(), 0755) == 0);
  CHECK(project("check", "").status == 0);
  CHECK(KeptSchemas(project).empty());
}

TEST_CASE("[Y161] a JSON Schema for editors: types, properties, options, expressions") {
  const Project project("editor-schema",
                        "resources:\n  note:\n    type: localhost:File\n"
                        "    properties: {path: a, content: b}\n");
  const Ran ran = project("schema", "");
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  CHECK(Has(ran.out, "\"$schema\":\"http://json-schema.org/draft-07/schema#\""));
  CHECK(Has(ran.out, "\"localhost:File\""));
  CHECK(Has(ran.out, "\"localhost:index:File\""));
  CHECK(Has(ran.out, "\"pulumi:providers:localhost\""));
  CHECK(Has(ran.out,
            "\"properties\":{\"anyOf\":[{\"$ref\":\"#/definitions/inputs%20localhost:index:File\"},"
            "{\"$ref\":\"#/definitions/expression\"}]}"));
  CHECK(Has(ran.out, "\"inputs localhost:index:File\":{\"type\":\"object\",\"properties\":{"));
  CHECK(Has(ran.out, "\"retainOnDelete\":{}"));
  project.Ok("schema --out editor.json");
  CHECK(project.Read("editor.json") == ran.out);
}

}  // namespace
}  // namespace davit
