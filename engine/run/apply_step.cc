#include "engine/run/apply_step.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/model/provider_ref.h"
#include "engine/plan/provider_inputs.h"
#include "engine/run/comparison.h"
#include "engine/run/plan_hold.h"
#include "engine/run/read_back.h"
#include "engine/run/views.h"

namespace davit {
namespace {

WallTime Now(const RunContext& context) {
  return std::chrono::time_point_cast<std::chrono::nanoseconds>(context.loop.WallNow());
}

Error MissingId(const std::string& verb) {
  return MakeError(
      ErrorKind::kOutcomeUnknown,
      fmt::format("the provider reported a successful {} but gave no id", verb),
      "the resource may exist although davit cannot manage it; this is a fault of the provider");
}

Task<Result<void>> ApplyCreate(RunContext& context, Step& step) {
  ResourceState& state = *step.new_state;
  if (state.urn.is_provider()) {
    const std::string id =
        context.preview ? std::string(kUnknownId) : context.request.ids->NewUuid();
    DAVIT_CO_TRY_VOID(co_await context.providers.Configure(state.urn, id, state.inputs));
    state.id = id;
    state.outputs = WithoutInternal(state.inputs);
  } else if (state.custom) {
    CreateRequest request;
    request.urn = state.urn;
    request.inputs = state.inputs;
    request.timeout_seconds = state.custom_timeouts.create;
    request.preview = context.preview;
    const ViewReports reports(context, step);
    request.status_token = reports.token();
    DAVIT_CO_TRY(CreateResponse response,
                 co_await CreateResource(step.provider, std::move(request), CancelToken()));
    if (response.id.empty() && !context.preview) {
      co_return Fail(MissingId("create"));
    }
    state.id = std::move(response.id);
    state.outputs = std::move(response.outputs);
    state.init_errors = std::move(response.init_errors);
    state.refresh_before_update = response.refresh_before_update;
  }
  if (state.custom || !step.old_state) {
    state.created = Now(context);
    state.modified = state.created;
  }
  co_return Result<void>();
}

Task<Result<void>> ApplyUpdate(RunContext& context, Step& step) {
  ResourceState& state = *step.new_state;
  const ResourceState& old_state = *step.old_state;
  state.created = old_state.created;
  state.modified = old_state.modified;
  state.import_id = old_state.import_id;
  state.unknown_keys = old_state.unknown_keys;  // S11
  if (state.urn.is_provider()) {
    DAVIT_CO_TRY_VOID(co_await context.providers.Configure(state.urn, old_state.id, state.inputs));
    state.id = old_state.id;
    state.outputs = WithoutInternal(state.inputs);
    state.modified = Now(context);
  } else if (state.custom) {
    UpdateRequest request;
    request.id = old_state.id;
    request.urn = state.urn;
    request.old_inputs = old_state.inputs;
    request.old_outputs = old_state.outputs;
    request.new_inputs = state.inputs;
    request.ignore_changes = state.ignore_changes;
    request.timeout_seconds = state.custom_timeouts.update;
    request.preview = context.preview;
    const ViewReports reports(context, step);
    request.status_token = reports.token();
    request.old_views = OldViews(context, step.old_state);
    DAVIT_CO_TRY(UpdateResponse response,
                 co_await UpdateResource(step.provider, std::move(request), CancelToken()));
    state.id = old_state.id;
    state.outputs = std::move(response.outputs);
    state.init_errors = std::move(response.init_errors);
    state.refresh_before_update = response.refresh_before_update;
    state.modified = Now(context);
    if (!state.init_errors.empty()) {
      state.inputs = old_state.inputs;  // E34
    }
  } else {
    state.outputs = old_state.outputs;
  }
  co_return Result<void>();
}

Task<Result<void>> ApplySame(RunContext& context, Step& step) {
  if (step.is_untargeted || step.is_skipped_create) {
    co_return Result<void>();
  }
  ResourceState& state = *step.new_state;
  const ResourceState& old_state = *step.old_state;
  KeepObject(state, old_state);
  if (state.urn.is_provider()) {  // E98: providers stay configured with the old inputs
    DAVIT_CO_TRY_VOID(
        co_await context.providers.Configure(state.urn, old_state.id, old_state.inputs));
  }
  co_return Result<void>();
}

Task<Result<void>> ApplyRead(RunContext& context, Step& step) {
  ResourceState& state = *step.new_state;
  if (step.old_state) {
    state.created = step.old_state->created;
    state.modified = step.old_state->modified;
  }
  const bool waits = context.preview && std::ranges::any_of(state.dependencies, [&](const Urn& urn) {
    return context.made.contains(urn);
  });
  if (state.id == kUnknownId || waits) {
    co_return Result<void>();  // E101: outputs are empty
  }
  ReadRequest request;
  request.id = state.id;
  request.urn = state.urn;
  request.inputs = state.inputs;
  request.state = state.inputs;
  request.send_inputs = !state.inputs.empty();
  request.timeout_seconds = state.custom_timeouts.read;
  const ViewReports reports(context, step);
  request.status_token = reports.token();
  request.old_views = OldViews(context, step.old_state);
  DAVIT_CO_TRY(ReadResponse response,
               co_await ReadResource(step.provider, std::move(request), CancelToken()));
  if (!response.outputs) {
    co_return Fail(ErrorKind::kFailed,
                   fmt::format("the resource with id '{}' does not exist", state.id),
                   "check the id that the program reads");
  }
  if (!response.id.empty()) {
    state.id = response.id;
  }
  state.outputs = *std::move(response.outputs);
  state.init_errors = std::move(response.init_errors);
  const bool changed = step.old_state && !(step.old_state->inputs == state.inputs &&
                                           step.old_state->outputs == state.outputs);
  if (changed) {
    state.modified = Now(context);
  }
  co_return Result<void>();
}

// E63, E65.
Task<Result<void>> ReadToImport(RunContext& context, Step& step) {
  ResourceState& state = *step.new_state;
  ReadRequest request;
  request.id = state.import_id;
  request.urn = state.urn;
  request.send_inputs = false;
  request.timeout_seconds = state.custom_timeouts.read;
  const ViewReports reports(context, step);
  if (step.import == nullptr) {  // recorded: a bulk import gives no place for messages
    request.status_token = reports.token();
  }
  DAVIT_CO_TRY(ReadResponse response,
               co_await ReadResource(step.provider, std::move(request), CancelToken()));
  if (!response.outputs) {
    co_return Fail(
        ErrorKind::kFailed,
        fmt::format("the object to import, with id '{}', does not exist", state.import_id),
        step.import == nullptr ? "check the id in the option 'import'" : "check the id");
  }
  if (!response.inputs) {
    co_return Fail(
        ErrorKind::kUnimplemented,
        fmt::format("the provider cannot import '{}': its Read gives no inputs", state.urn.text()),
        "use a version of the provider that supports import");
  }
  state.id = response.id.empty() ? state.import_id : response.id;
  state.inputs = *std::move(response.inputs);
  state.outputs = *std::move(response.outputs);
  state.init_errors = std::move(response.init_errors);
  state.refresh_before_update = response.refresh_before_update;
  co_return Result<void>();
}

// E158: what Check says against inputs that were read does not stop the import.
Task<Result<void>> CheckImported(RunContext& context, Step& step) {
  ResourceState& state = *step.new_state;
  const auto read = std::make_shared<ResourceState>();
  read->inputs = state.inputs;
  CheckRequest request = CheckRequestFor(context,
                                         state.urn,
                                         read,
                                         state.inputs,
                                         *step.provider->provider,
                                         SeedFor(context, state.urn));
  DAVIT_CO_TRY(const CheckResponse response,
               co_await CheckResource(step.provider, std::move(request), CancelToken()));
  if (!response.failures.empty()) {
    context.reporter.Warn(
        state.urn,
        step.import->limits_properties
            ? "some imported inputs are not valid; name other properties next time"
            : fmt::format("some imported inputs are not valid, which is a fault of the provider "
                          "'{}'; correct them in the program",
                          PackageOf(state.type)));
  }
  for (const CheckFailure& failure : response.failures) {
    context.reporter.Warn(state.urn,
                          CheckFailureError(state.urn, failure, state.inputs).message);
  }
  co_return Result<void>();
}

// E158.
Task<Result<void>> ApplyBulkImport(RunContext& context, Step& step) {
  ResourceState& state = *step.new_state;
  const ImportSpec& spec = *step.import;
  if (spec.is_component) {
    co_return Result<void>();
  }
  if (spec.outputs) {
    state.outputs = *spec.outputs;
  } else {
    DAVIT_CO_TRY_VOID(co_await ReadToImport(context, step));
  }
  for (const auto& [key, value] : spec.inputs) {
    PropertyValue& input = state.inputs[key];
    input = input.is_null() ? value : input;
  }
  state.inputs = AnnotateSecrets(state.inputs, spec.inputs);
  state.import_id.clear();
  co_return co_await CheckImported(context, step);
}

Task<Result<void>> ApplyImport(RunContext& context, Step& step) {
  if (step.import == nullptr) {
    DAVIT_CO_TRY_VOID(co_await ReadToImport(context, step));
  } else {
    DAVIT_CO_TRY_VOID(co_await ApplyBulkImport(context, step));
  }
  step.new_state->created = Now(context);
  step.new_state->modified = step.new_state->created;
  co_return Result<void>();
}

Task<Result<void>> ApplyRefresh(RunContext& context, Step& step) {
  DAVIT_CO_TRY(step.result_op, co_await ReadBack(context, step));
  co_return Result<void>();
}

Task<Result<void>> ApplyDelete(RunContext& context, Step& step) {
  const ResourceState& state = *step.old_state;
  if (state.protect && !step.is_replacement && !context.request.options.ignore_protect) {
    co_return Fail(
        ErrorKind::kRefused,
        fmt::format("the resource '{}' cannot be deleted because it is protected",
                    state.urn.text()),
        UnprotectAdvice(state.urn) + ", or keep it in the program");
  }
  if (context.preview) {
    co_return Result<void>();
  }
  if (state.urn.is_provider()) {
    context.providers.Delete(state.urn, state.id);
    co_return Result<void>();
  }
  const bool goes_with_other =
      !state.deleted_with.empty() && context.deleted.contains(state.deleted_with);
  if (!state.custom || state.external || state.retain_on_delete || goes_with_other) {
    co_return Result<void>();
  }
  DeleteRequest request;
  request.id = state.id;
  request.urn = state.urn;
  request.inputs = state.inputs;
  request.outputs = state.outputs;
  request.timeout_seconds = state.custom_timeouts.delete_;
  const ViewReports reports(context, step);
  request.status_token = reports.token();
  request.old_views = OldViews(context, step.old_state);
  co_return co_await step.provider->provider->Delete(std::move(request), CancelToken());
}

}  // namespace

void KeepObject(ResourceState& state, const ResourceState& old_state) {
  state.id = old_state.id;
  state.outputs = old_state.outputs;
  state.created = old_state.created;
  state.modified = old_state.modified;
  state.import_id = old_state.import_id;
  state.unknown_keys = old_state.unknown_keys;  // S11
  state.refresh_before_update = old_state.refresh_before_update;
}

void MarkSecretOutputs(RunContext& context, ResourceState& state) {
  for (const std::string& name : state.additional_secret_outputs) {
    if (name == "id") {
      context.reporter.Warn(state.urn,
                            "the output 'id' cannot be made secret; it is stored in clear");
      continue;
    }
    const auto at = state.outputs.find(name);
    if (at != state.outputs.end()) {
      at->second = MakeSecret(at->second);
    }
  }
  const PropertyValue id(state.id);
  for (auto& [name, value] : state.outputs) {
    const Secret* secret = value.as_secret();
    if (secret != nullptr && !state.id.empty() && secret->Reveal() == id) {  // B069
      context.reporter.Warn(
          state.urn,
          fmt::format("the secret output '{}' is the resource's id as well, which "
                      "is stored in clear",
                      name));
    }
    const auto input = state.inputs.find(name);
    if (input != state.inputs.end() && input->second.is_secret()) {
      value = MakeSecret(value);
    }
  }
}

Task<Result<void>> ApplyStep(RunContext& context, Step& step) {
  switch (step.op) {
    case StepOp::kCreate:
    case StepOp::kCreateReplacement:
      co_return co_await ApplyCreate(context, step);
    case StepOp::kUpdate:
      co_return co_await ApplyUpdate(context, step);
    case StepOp::kSame:
      co_return co_await ApplySame(context, step);
    case StepOp::kRead:
    case StepOp::kReadReplacement:
      co_return co_await ApplyRead(context, step);
    case StepOp::kDelete:
    case StepOp::kDeleteReplaced:
    case StepOp::kDiscard:
    case StepOp::kDiscardReplaced:
      co_return co_await ApplyDelete(context, step);
    case StepOp::kReplace:
    case StepOp::kRemovePendingReplace:
    case StepOp::kExtendParameterize:
      co_return Result<void>();
    case StepOp::kRefresh:
      co_return co_await ApplyRefresh(context, step);
    case StepOp::kImport:
    case StepOp::kImportReplacement:
      co_return co_await ApplyImport(context, step);
  }
  co_return Fail(ErrorKind::kBug, "a step without operation");
}

std::string UnprotectAdvice(const Urn& urn) {
  return fmt::format(
      "set `protect: false` on it and run `davit up` once before, or run `davit state unprotect "
      "'{}'`",
      urn.text());
}

}  // namespace davit
