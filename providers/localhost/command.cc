// localhost:index:Command.

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>

#include "engine/base/check.h"
#include "providers/localhost/command_run.h"
#include "providers/localhost/inputs.h"
#include "providers/localhost/resources.h"

namespace davit::localhost {
namespace {

using kit::CallContext;
using kit::SchemaType;

SchemaType CommandType() {
  return SchemaType::OneOf({SchemaType::String(), SchemaType::ListOf(SchemaType::String())});
}

kit::ResourceSchema CommandSchema() {
  kit::ResourceSchema schema;
  schema.token = "localhost:index:Command";
  schema.description =
      "Commands that make, change and remove something on this machine. A command is a text for "
      "`sh -c`, or a list with a program and its arguments.";
  schema.inputs = {
      {.name = "create",
       .type = CommandType(),
       .description = "Runs when the resource is created.",
       .required = true},
      {.name = "update",
       .type = CommandType(),
       .description =
           "Runs when `create`, `stdin`, `environment` or `dir` changes. Without it such "
           "a change replaces the resource."},
      {.name = "delete",
       .type = CommandType(),
       .description = "Runs when the resource is deleted. It should succeed when there is nothing "
                      "left to remove."},
      {.name = "stdin", .type = SchemaType::String(), .description = "Input of every command."},
      {.name = "environment",
       .type = SchemaType::MapOf(SchemaType::String()),
       .description = "Variables beside the inherited ones. `DAVIT_STDOUT` and `DAVIT_STDERR` hold "
                      "what the last run printed."},
      {.name = "dir",
       .type = SchemaType::String(),
       .description = "Working directory; without it the program's folder."},
      {.name = "okExitCodes",
       .type = SchemaType::ListOf(SchemaType::Integer()),
       .description = "Exit statuses that count as success; without it only 0."},
      {.name = "triggers",
       .type = SchemaType::ListOf(SchemaType::Any()),
       .description = "Any values; a change of one replaces the resource.",
       .replace_on_changes = true}};
  schema.outputs = {
      {.name = "stdout",
       .type = SchemaType::String(),
       .description = "What the last run printed, without its final newline, at most 4 MiB; secret "
                      "when an input is.",
       .required = true},
      {.name = "stderr", .type = SchemaType::String(), .required = true},
      {.name = "exitCode",
       .type = SchemaType::Integer(),
       .description = "Exit status of the last run.",
       .required = true}};
  return schema;
}

std::string NewId() {
  std::uint64_t random = 0;
  DAVIT_CHECK(::getrandom(&random, sizeof random, 0) == sizeof random, "no random bytes");
  return fmt::format("command-{:016x}", random);
}

/// Sets the outputs that a run has; they are secret when an input is, since it may be printed.
void SetRunOutputs(const PropertyMap& inputs,
                   PropertyValue stdout_text,
                   PropertyValue stderr_text,
                   PropertyValue exit_code,
                   PropertyMap* outputs) {
  const bool is_secret = ContainsSecrets(inputs);
  (*outputs)["stdout"] = is_secret ? MakeSecret(std::move(stdout_text)) : std::move(stdout_text);
  (*outputs)["stderr"] = is_secret ? MakeSecret(std::move(stderr_text)) : std::move(stderr_text);
  (*outputs)["exitCode"] = std::move(exit_code);
}

void SetUnknownOutputs(const PropertyMap& inputs, PropertyMap* outputs) {
  SetRunOutputs(inputs, Unknown{}, Unknown{}, Unknown{UnknownKind::kNumber}, outputs);
}

void SetRunOutputs(const PropertyMap& inputs, const CommandOutput& output, PropertyMap* outputs) {
  SetRunOutputs(inputs, output.stdout_text, output.stderr_text, output.exit_code, outputs);
}

/// The inputs whose change means that something has to run.
bool IsRunInput(std::string_view name) {
  return name == "create" || name == "stdin" || name == "environment" || name == "dir";
}

class Command final : public kit::ResourceHandler {
 public:
  Command() : ResourceHandler(CommandSchema()) {}

  Result<CheckResponse> Check(const CheckRequest& request, CallContext& call) override {
    DAVIT_TRY(CheckResponse response, ResourceHandler::Check(request, call));
    CheckCommandInputs(Plain(response.inputs), &response.failures);
    return response;
  }

  Result<DiffResponse> Diff(const DiffRequest& request, CallContext& call) override {
    DAVIT_TRY(DiffResponse response, ResourceHandler::Diff(request, call));
    if (!request.new_inputs.contains("update")) {
      std::map<std::string, PropertyDiff> detail = *std::move(response.detailed);
      for (auto& [path, diff] : detail) {
        if (IsRunInput(std::string_view(path).substr(0, path.find_first_of(".[")))) {
          diff.kind = AsReplace(diff.kind);
        }
      }
      response = kit::DiffFromDetail(std::move(detail));
    }
    return response;
  }

  Result<CreateResponse> Create(const CreateRequest& request, CallContext& call) override {
    CreateResponse response;
    response.outputs = request.inputs;
    if (request.preview) {
      SetUnknownOutputs(request.inputs, &response.outputs);
      return response;
    }
    DAVIT_TRY(const std::optional<CommandOutput> output,
              RunCommand("create", request.inputs, {}, request.timeout_seconds, call));
    if (!output) {
      return Fail(ErrorKind::kInvalid, "the inputs have not passed Check");
    }
    SetRunOutputs(request.inputs, *output, &response.outputs);
    response.id = NewId();
    return response;
  }

  Result<UpdateResponse> Update(const UpdateRequest& request, CallContext& call) override {
    UpdateResponse response;
    response.outputs = request.new_inputs;
    for (const char* name : {"stdout", "stderr", "exitCode"}) {
      const auto old = request.old_outputs.find(name);
      if (old != request.old_outputs.end()) {
        response.outputs[name] = old->second;
      }
    }
    const DiffResponse changes =
        kit::DiffDeclared(schema().inputs, request.old_inputs, request.new_inputs);
    const bool must_run = request.new_inputs.contains("update") &&
                          std::any_of(changes.diffs.begin(), changes.diffs.end(), IsRunInput);
    if (!must_run) {
      return response;
    }
    if (request.preview) {
      SetUnknownOutputs(request.new_inputs, &response.outputs);
      return response;
    }
    DAVIT_TRY(
        const std::optional<CommandOutput> output,
        RunCommand(
            "update", request.new_inputs, request.old_outputs, request.timeout_seconds, call));
    if (output) {
      SetRunOutputs(request.new_inputs, *output, &response.outputs);
    }
    return response;
  }

  Result<void> Delete(const DeleteRequest& request, CallContext& call) override {
    const PropertyMap& inputs = request.inputs.empty() ? request.outputs : request.inputs;
    DAVIT_TRY_VOID(RunCommand("delete", inputs, request.outputs, request.timeout_seconds, call));
    return {};
  }

 private:
  static DiffKind AsReplace(DiffKind kind) {
    return IsReplace(kind) ? kind : static_cast<DiffKind>(static_cast<int>(kind) + 1);
  }
};

}  // namespace

std::shared_ptr<kit::ResourceHandler> MakeCommandResource() {
  return std::make_shared<Command>();
}

}  // namespace davit::localhost
