#pragma once
// A Monitor that records what a YAML program asks for and answers like a small cloud: outputs echo
// inputs, ids count up. A test scripts the rest.

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/base/check.h"
#include "engine/model/provider_ref.h"
#include "engine/yaml/yaml_source.h"
#include "tests/support/seeded_loop.h"

namespace davit::testing {

class RecordingMonitor final : public Monitor {
 public:
  // What was asked, in order.
  std::vector<Goal> registered;  ///< without the root stack
  std::vector<ReadGoal> reads;
  std::vector<InvokeGoal> invokes;
  std::vector<CallGoal> calls;
  std::vector<PackageDescriptor> packages;
  std::vector<std::string> log;  ///< "register a", "read b", "invoke p:m:f"
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
  PropertyMap outputs;
  bool has_outputs = false;

  // How to answer.
  std::map<std::string, std::string> schemas{{"pulumi", R"({"name": "pulumi", "resources": {
    "pulumi:pulumi:StackReference": {
      "inputProperties": {"name": {}},
      "properties": {"name": {}, "outputs": {}, "secretOutputNames": {}}},
    "pulumi:index:Stash": {
      "inputProperties": {"input": {}}, "requiredInputs": ["input"],
      "properties": {"input": {}, "output": {}}}}})"}};  ///< package -> JSON; others have no schema
  bool preview = false;
  std::set<std::string> failing;  ///< names whose registration fails
  std::function<RegisterResponse(const Goal&, RegisterResponse)> respond;
  std::function<Result<InvokeOutcome>(const InvokeGoal&)> invoke;
  std::function<CallResponse(const CallGoal&)> call;
  std::function<const char*(const PackageDescriptor&)> schema_of;
  std::function<RegisterResponse(const ReadGoal&, RegisterResponse)> respond_read;

  Task<Result<RegisterResponse>> RegisterResource(Goal goal) override {
    RegisterResponse response;
    response.urn = Urn::Make("dev", "proj", goal.parent, goal.type, goal.name);
    response.outputs = goal.properties;
    if (goal.type == "pulumi:pulumi:Stack") {
      log.push_back("register stack");
      co_return response;
    }
    log.push_back("register " + goal.name);
    registered.push_back(goal);
    if (failing.contains(goal.name)) {
      Error error = MakeError(ErrorKind::kFailed, "refused");
      error.reported = true;
      co_return Fail(std::move(error));
    }
    if (goal.custom) {
      response.id = preview ? std::string(kUnknownId) : goal.name + "-id";
    }
    co_return respond ? respond(goal, std::move(response)) : response;
  }
  Task<Result<void>> RegisterOutputs(Urn, PropertyMap values) override {
    log.push_back("outputs");
    outputs = std::move(values);
    has_outputs = true;
    co_return Result<void>();
  }
  Task<Result<RegisterResponse>> ReadResource(ReadGoal goal) override {
    log.push_back("read " + goal.name);
    RegisterResponse response;
    response.urn = Urn::Make("dev", "proj", goal.parent, goal.type, goal.name);
    response.id = goal.id;
    response.outputs = goal.properties;
    reads.push_back(goal);
    co_return respond_read ? respond_read(goal, std::move(response)) : response;
  }
  Task<Result<InvokeOutcome>> Invoke(InvokeGoal goal) override {
    log.push_back("invoke " + goal.token);
    invokes.push_back(goal);
    if (invoke) {
      co_return invoke(goal);
    }
    InvokeOutcome outcome;
    outcome.result = goal.args;
    co_return outcome;
  }
  // What YAML programs have no words for.
  Task<Result<RegisterResponse>> RegisterTransformed(Goal, std::vector<Transform>) override {
    co_return Fail(ErrorKind::kBug, "a YAML program has no transforms");
  }
  Task<Result<CallResponse>> Call(CallGoal goal) override {
    calls.push_back(goal);
    co_return call ? call(goal) : CallResponse();
  }
  void RegisterStackTransform(Transform) override { DAVIT_CHECK(false, "not from YAML"); }
  void RegisterStackInvokeTransform(InvokeTransform) override {
    DAVIT_CHECK(false, "not from YAML");
  }
  Result<void> RegisterHook(Hook) override {
    return Fail(ErrorKind::kBug, "a YAML program has no hooks");
  }
  Task<Result<std::string>> RegisterPackage(PackageDescriptor package) override {
    packages.push_back(package);
    co_return package.name + "-ref";
  }
  Task<Result<std::string>> GetSchema(PackageDescriptor package) override {
    if (schema_of) {
      co_return std::string(schema_of(package));
    }
    const auto at = schemas.find(package.name);
    if (at == schemas.end()) {
      co_return Fail(ErrorKind::kUnimplemented, "no schema");
    }
    co_return at->second;
  }
  void Log(Severity severity, const std::string& message, const Urn&) override {
    if (severity == Severity::kWarning) {
      warnings.push_back(message);
    }
  }
  void Report(const Error& error) override { errors.push_back(error.Text()); }

  const Goal& Named(const std::string& name) const {
    for (const Goal& goal : registered) {
      if (goal.name == name) {
        return goal;
      }
    }
    FAIL("no registration of " << name);
    return registered.front();
  }
  bool HasError(const std::string& part) const { return Has(errors, part); }
  bool HasWarning(const std::string& part) const { return Has(warnings, part); }

 private:
  static bool Has(const std::vector<std::string>& lines, const std::string& part) {
    for (const std::string& line : lines) {
      if (line.find(part) != std::string::npos) {
        return true;
      }
    }
    return false;
  }
};

/// Runs `text` as the program of stack `dev`, project `proj`; load errors land in the monitor's
/// errors too. Files come from `files`.
struct YamlWorld {
  RecordingMonitor monitor;
  RunInfo info;
  std::map<std::string, std::string> files;
  std::string main;  ///< of the project file
  bool checks_types = true;
  std::optional<std::string> compiled;
  std::uint64_t seed = 0;

  YamlWorld() {
    info.project = "proj";
    info.stack = "dev";
    info.root_directory = "/srv";
    info.program_directory = "/srv";
  }

  void Config(const std::string& key, const std::string& value, bool is_secret = false) {
    ConfigValue held;
    held.text = value;
    held.is_secret = is_secret;
    info.config["proj:" + key] = held;
  }

  /// Whether the program loaded and ran without an error.
  bool Run(const std::string& text) {
    ProjectFile project;
    project.path = "/srv/Pulumi.yaml";
    project.directory = "/srv";
    project.name = "proj";
    project.main = main;
    project.checks_types = checks_types;
    files["/srv/Pulumi.yaml"] = text;
    const FileReader read = [this](const std::string& path) {
      const auto at = files.find(path);
      Result<std::string> missing = Fail(ErrorKind::kInvalid, "no such file");
      return at == files.end() ? missing : Result<std::string>(at->second);
    };
    const FileLister list = [this](const std::string& folder) {
      std::vector<std::string> paths;
      for (const auto& [path, content] : files) {
        if (path.starts_with(folder + "/") && path.ends_with(".yaml")) {
          paths.push_back(path);
        }
      }
      return paths;
    };
    ProgramLoad load = LoadYamlProgram(project, read, list, compiled);
    for (const Error& error : load.errors) {
      monitor.errors.push_back(error.Text());
    }
    for (const Error& warning : load.warnings) {
      monitor.warnings.push_back(warning.Text());
    }
    if (!load.source) {
      return false;
    }
    info.preview = monitor.preview;
    SeededLoop loop(seed);
    bool is_done = false;
    bool is_good = false;
    Start(loop, Drive(load.source.get(), &is_good), [&](std::exception_ptr failure) {
      REQUIRE_FALSE(failure);
      is_done = true;
    });
    loop.RunUntilIdle();
    REQUIRE(is_done);
    return is_good;
  }

 private:
  Task<void> Drive(Source* source, bool* is_good) {
    CancelToken token;
    const Result<void> result = co_await source->Run(monitor, info, std::move(token));
    *is_good = result.has_value();
  }
};

}  // namespace davit::testing
