// One input of the YAML fuzzers: parsed, ordered, checked against a schema, and run. Whatever the
// bytes are, this must end in bounded time and memory, with diagnostics at worst.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "engine/yaml/yaml_source.h"
#include "tests/support/echo_monitor.h"
#include "tests/support/seeded_loop.h"

namespace davit::fuzz {
namespace {

constexpr const char* kSchema = R"json({"name": "p", "types": {
  "p:index:Rule": {"type": "object", "required": ["port"], "properties": {
    "port": {"type": "integer"}, "next": {"$ref": "#/types/p:index:Rule"}}}},
"resources": {"p:index:Shape": {
  "inputProperties": {"text": {"type": "string"}, "count": {"type": "integer"},
    "rules": {"type": "array", "items": {"$ref": "#/types/p:index:Rule"}},
    "free": {"$ref": "pulumi.json#/Any"}, "hidden": {"type": "string", "secret": true}},
  "properties": {"text": {"type": "string"}, "free": {"$ref": "pulumi.json#/Any"},
    "rules": {"type": "array", "items": {"$ref": "#/types/p:index:Rule"}}}}},
"functions": {"p:index:find": {
  "inputs": {"properties": {"name": {"type": "string"}}},
  "outputs": {"properties": {"name": {"type": "string"}}}}}})json";

Task<void> Drive(ProgramLoad* load, testing::EchoMonitor* monitor, const RunInfo* info) {
  CancelToken token;
  const Result<void> ignored = co_await load->source->Run(*monitor, *info, std::move(token));
  static_cast<void>(ignored);
}

void RunProgram(const std::string& text, bool is_preview) {
  ProjectFile project = LoadProjectFile("/srv/Pulumi.yaml", text).project;
  project.path = "/srv/Pulumi.yaml";
  project.directory = "/srv";
  project.name = "proj";
  project.main.clear();
  const FileReader read = [&text](const std::string& path) {
    Result<std::string> missing = Fail(ErrorKind::kInvalid, "no such file");
    return path == "/srv/Pulumi.yaml" ? Result<std::string>(text) : missing;
  };
  ProgramLoad load = LoadYamlProgram(project, read);
  if (!load.source) {
    return;
  }
  testing::EchoMonitor monitor(kSchema);
  testing::SeededLoop loop;
  RunInfo info;
  info.project = "proj";
  info.stack = "dev";
  info.root_directory = info.program_directory = "/srv";
  info.preview = is_preview;
  ConfigValue value;
  value.text = "{\"a\": [1, {\"b\": \"c\"}]}";
  info.config["proj:object"] = value;
  bool is_done = false;
  Start(loop, Drive(&load, &monitor, &info), [&](std::exception_ptr failure) {
    if (failure) {
      std::abort();  // a bug: what a program can do is an error, never an exception
    }
    is_done = true;
  });
  loop.RunUntilIdle();
  if (!is_done) {
    std::abort();  // it waits for something that nobody will give
  }
}

}  // namespace
}  // namespace davit::fuzz

// The name and the C linkage are those of libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  davit::fuzz::RunProgram(text, size % 2 == 0);
  return 0;
}
