// What the YAML language costs, beside bare work of the same run: programs of three sizes loaded,
// checked and evaluated, beside the same registrations without a program; a large schema read,
// beside copying its text.
//
//   davit_yaml_bench [MEGABYTES]

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>

#include "engine/yaml/package_schema.h"
#include "engine/yaml/yaml_source.h"
#include "tests/support/echo_monitor.h"
#include "tests/support/seeded_loop.h"

namespace davit {
namespace {

constexpr const char* kBenchSchema = R"json({"name": "p", "resources": {"p:index:Shape": {
  "inputProperties": {"text": {"type": "string"}, "count": {"type": "integer"},
    "labels": {"type": "object", "additionalProperties": {"type": "string"}}},
  "properties": {"text": {"type": "string"}, "count": {"type": "integer"}}}}})json";

double Milliseconds(std::clock_t begin) {
  return 1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

std::string Program(std::size_t size) {
  std::string text = "name: proj\nruntime: yaml\nresources:\n";
  for (std::size_t index = 0; index < size; ++index) {
    text += fmt::format(
        "  r{0}:\n    type: p:Shape\n    properties:\n      text: {1}\n      count: {0}\n"
        "      labels: {{a: b, c: \"${{pulumi.stack}}\"}}\n",
        index,
        index % 10 == 0 ? "plain" : fmt::format("after ${{r{}.text}}", index / 10 * 10));
  }
  return text;
}

void RunTask(testing::SeededLoop& loop, Task<void> task) {
  Start(loop, std::move(task), [](std::exception_ptr failure) {
    if (failure) {
      std::abort();
    }
  });
  loop.RunUntilIdle();
}

Task<void> Bare(testing::EchoMonitor* monitor, std::size_t size) {
  for (std::size_t index = 0; index < size; ++index) {
    Goal goal;
    goal.type = "p:index:Shape";
    goal.name = fmt::format("r{}", index);
    goal.custom = true;
    goal.properties["text"] = "after plain";
    goal.properties["count"] = static_cast<double>(index);
    goal.properties["labels"] = PropertyMap{{"a", "b"}, {"c", "dev"}};
    const Result<RegisterResponse> ignored = co_await monitor->RegisterResource(std::move(goal));
    static_cast<void>(ignored);
  }
}

Task<void> Check(ProgramLoad* load, testing::EchoMonitor* monitor, const RunInfo* info) {
  const std::vector<Error> warnings = co_await load->check(*monitor, *info);
  static_cast<void>(warnings);
}

Task<void> Evaluate(ProgramLoad* load, testing::EchoMonitor* monitor, const RunInfo* info) {
  CancelToken token;
  const Result<void> ignored = co_await load->source->Run(*monitor, *info, std::move(token));
  static_cast<void>(ignored);
}

void MeasureProgram(std::size_t size) {
  const std::string text = Program(size);
  RunInfo info;
  info.project = "proj";
  info.stack = "dev";
  testing::EchoMonitor monitor(kBenchSchema);
  testing::SeededLoop loop;
  std::clock_t begin = std::clock();
  RunTask(loop, Bare(&monitor, size));
  const double bare = Milliseconds(begin);
  begin = std::clock();
  const ProjectFile project = LoadProjectFile("/srv/Pulumi.yaml", text).project;
  ProgramLoad load =
      LoadYamlProgram(project, [&text](const std::string&) { return Result<std::string>(text); });
  const double loading = Milliseconds(begin);
  begin = std::clock();
  RunTask(loop, Check(&load, &monitor, &info));
  const double checking = Milliseconds(begin);
  begin = std::clock();
  RunTask(loop, Evaluate(&load, &monitor, &info));  // which checks once more
  const double evaluating = Milliseconds(begin) - checking;
  const double each = 1000.0 * (evaluating - bare) / static_cast<double>(size);
  fmt::print(
      "{:6} resources: load {:.0f} ms, check {:.0f} ms; bare {:.1f} ms, evaluated {:.1f} ms "
      "({:.1f} x), {:.1f} us more each{}\n",
      size,
      loading,
      checking,
      bare,
      evaluating,
      evaluating / bare,
      each,
      monitor.registered == 2 * size + 1 && monitor.reported == 0 ? "" : "  WRONG");
}

std::string LargeSchema(std::size_t bytes) {
  std::string text = "{\"name\": \"p\", \"resources\": {";
  const std::string prose = "What this property does, and `when` \\\"it\\\" has to be set. ";
  for (std::size_t index = 0; text.size() < bytes; ++index) {
    text += fmt::format("{}\"p:m{}/thing{}:Thing{}\": {{\"description\": \"{}{}{}\", ",
                        index == 0 ? "" : ",",
                        index % 200,
                        index,
                        index,
                        prose,
                        prose,
                        prose);
    for (const char* section : {"inputProperties", "properties"}) {
      text += fmt::format("\"{}\": {{", section);
      for (int property = 0; property < 12; ++property) {
        text += fmt::format("{}\"property{}\": {{\"type\": \"string\", \"description\": \"{}\"}}",
                            property == 0 ? "" : ",",
                            property,
                            prose);
      }
      text += "}, ";
    }
    text += "\"requiredInputs\": [\"property1\"]}";
  }
  return text + "}}";
}

void MeasureSchema(std::size_t megabytes) {
  const std::string text = LargeSchema(megabytes << 20U);
  std::clock_t begin = std::clock();
  std::string copy = text;
  const double copying = Milliseconds(begin);
  begin = std::clock();
  const Result<std::unique_ptr<PackageSchema>> schema = ParsePackageSchema("p", std::move(copy));
  const double indexing = Milliseconds(begin);
  begin = std::clock();
  const bool is_known = schema && (*schema)->Resource("p:m7:Thing7") != nullptr;
  fmt::print(
      "schema of {} MB: copied {:.1f} ms, indexed {:.1f} ms ({:.1f} x), a type {:.2f} ms{}\n",
      megabytes,
      copying,
      indexing,
      indexing / copying,
      Milliseconds(begin),
      is_known ? "" : "  WRONG");
}

}  // namespace
}  // namespace davit

int main(int argc, char** argv) {
  for (const std::size_t size : {1000U, 3000U, 10000U}) {
    davit::MeasureProgram(size);
  }
  davit::MeasureSchema(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 40);
}
