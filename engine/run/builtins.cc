#include "engine/run/builtins.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/own_provider.h"
#include "engine/run/run_context.h"

namespace davit {
namespace {

constexpr std::string_view kStackReference = "pulumi:pulumi:StackReference";
constexpr std::string_view kStash = "pulumi:index:Stash";

// Version and name are those that programs expect (P108).
constexpr std::string_view kSchema = R"({
  "name": "pulumi", "version": "3.0.0",
  "config": {}, "provider": {"type": "object"},
  "resources": {
    "pulumi:pulumi:StackReference": {
      "properties": {
        "name": {"type": "string"},
        "outputs": {"type": "object", "additionalProperties": {"$ref": "pulumi.json#/Any"}},
        "secretOutputNames": {"type": "array", "items": {"type": "string"}}},
      "required": ["name", "outputs", "secretOutputNames"],
      "inputProperties": {"name": {"type": "string"}},
      "requiredInputs": ["name"]},
    "pulumi:index:Stash": {
      "properties": {
        "input": {"$ref": "pulumi.json#/Any"},
        "output": {"$ref": "pulumi.json#/Any"}},
      "required": ["input", "output"],
      "inputProperties": {"input": {"$ref": "pulumi.json#/Any"}},
      "requiredInputs": ["input"]}},
  "functions": {
    "pulumi:pulumi:getResource": {
      "inputs": {"type": "object", "properties": {"urn": {"type": "string"}}, "required": ["urn"]},
      "outputs": {"type": "object", "properties": {
        "urn": {"type": "string"}, "id": {"type": "string"}, "provider": {"type": "string"},
        "state": {"type": "object", "additionalProperties": {"$ref": "pulumi.json#/Any"}}}}},
    "pulumi:pulumi:readStackOutputs": {
      "inputs": {"type": "object", "properties": {"name": {"type": "string"}},
                 "required": ["name"]},
      "outputs": {"type": "object", "properties": {
        "name": {"type": "string"},
        "outputs": {"type": "object", "additionalProperties": {"$ref": "pulumi.json#/Any"}},
        "secretOutputNames": {"type": "array", "items": {"type": "string"}}}}},
    "pulumi:pulumi:readStackResourceOutputs": {
      "inputs": {"type": "object", "properties": {"stackName": {"type": "string"}},
                 "required": ["stackName"]},
      "outputs": {"type": "object", "properties": {
        "name": {"type": "string"},
        "outputs": {"type": "object", "additionalProperties": {"$ref": "pulumi.json#/Any"}}}}}}})";

Unexpected NoSuchType(const Urn& urn) {
  return Fail(ErrorKind::kInvalid,
              fmt::format("the package 'pulumi' has no resource type '{}'", urn.type()),
              fmt::format("it has {} and {}", kStackReference, kStash));
}

Unexpected NotImportable(const Urn& urn) {
  return Fail(ErrorKind::kInvalid,
              fmt::format("a resource of type '{}' cannot be imported", urn.type()),
              "create it with the program");
}

Result<std::string> TextArgument(const PropertyMap& args, std::string_view name) {
  const auto at = args.find(name);
  const PropertyValue value = at == args.end() ? PropertyValue() : Plain(at->second);
  if (value.as_string() == nullptr) {
    return Fail(ErrorKind::kInvalid, fmt::format("'{}' must be a text", name), "give it");
  }
  return *value.as_string();
}

// The one property that a type of this package takes.
std::vector<CheckFailure> CheckOnly(const PropertyMap& news, std::string_view name, bool is_text) {
  std::vector<CheckFailure> failures;
  for (const auto& [key, value] : news) {
    if (key != name) {
      failures.push_back(CheckFailure{key, fmt::format("unknown property '{}'", key)});
    }
  }
  const auto at = news.find(name);
  if (at == news.end()) {
    failures.push_back(
        CheckFailure{std::string(name), fmt::format("missing required property '{}'", name)});
  } else if (is_text && !ContainsUnknowns(at->second) && !Plain(at->second).is_string()) {
    failures.push_back(
        CheckFailure{std::string(name), fmt::format("property '{}' must be a string", name)});
  }
  return failures;
}

const PropertyValue& Member(const PropertyMap& map, std::string_view name) {
  static const PropertyValue none;
  const auto at = map.find(name);
  return at == map.end() ? none : at->second;
}

class BuiltinProvider final : public OwnProvider {
 public:
  explicit BuiltinProvider(std::shared_ptr<const BuiltinSources> sources)
      : sources_(std::move(sources)) {}

  const std::string& version() const override { return version_; }

  Task<Result<std::string>> GetSchema(CancelToken) override { co_return std::string(kSchema); }

  Task<Result<void>> Extend(Parameterization, CancelToken) override {
    co_return Fail(ErrorKind::kUnimplemented, "the package 'pulumi' cannot be extended");
  }
  Task<Result<CheckResponse>> Check(CheckRequest request, CancelToken) override {
    CheckResponse response;
    if (request.urn.type() == kStackReference) {
      response.failures = CheckOnly(request.news, "name", true);
    } else if (request.urn.type() == kStash) {
      response.failures = CheckOnly(request.news, "input", false);
    } else {
      co_return NoSuchType(request.urn);
    }
    response.inputs = std::move(request.news);
    co_return response;
  }

  Task<Result<DiffResponse>> Diff(DiffRequest request, CancelToken) override {
    const bool is_reference = request.urn.type() == kStackReference;
    if (!is_reference && request.urn.type() != kStash) {
      co_return NoSuchType(request.urn);
    }
    const std::string key = is_reference ? "name" : "input";
    DiffResponse response;
    response.changes = DiffChanges::kNone;
    if (!(Member(request.old_inputs, key) == Member(request.new_inputs, key))) {
      response.changes = DiffChanges::kSome;
      response.diffs.push_back(key);
      if (is_reference) {
        response.replaces.push_back(key);
      }
    }
    co_return response;
  }

  Task<Result<CreateResponse>> Create(CreateRequest request, CancelToken) override {
    CreateResponse response;
    if (request.urn.type() == kStash) {
      const PropertyValue input = Member(request.inputs, "input");
      response.outputs["input"] = input;
      response.outputs["output"] = input;
    } else if (request.urn.type() == kStackReference) {
      sources_->warn(request.urn,
                     "registering a pulumi:pulumi:StackReference is deprecated; read it instead");
      DAVIT_CO_TRY(response.outputs, co_await StackOutputs(request.inputs));
    } else {
      co_return NoSuchType(request.urn);
    }
    if (!request.preview) {
      response.id = sources_->new_uuid();
    }
    co_return response;
  }

  Task<Result<UpdateResponse>> Update(UpdateRequest request, CancelToken) override {
    if (request.urn.type() != kStash) {
      co_return Fail(ErrorKind::kBug,
                     fmt::format("a '{}' is replaced, never updated", request.urn.type()));
    }
    UpdateResponse response;
    response.outputs["input"] = Member(request.new_inputs, "input");
    response.outputs["output"] = Member(request.old_outputs, "output");
    co_return response;
  }

  Task<Result<ReadResponse>> Read(ReadRequest request, CancelToken) override {
    if (!request.send_inputs) {
      co_return NotImportable(request.urn);
    }
    ReadResponse response;
    response.id = request.id;
    if (request.urn.type() == kStackReference) {
      DAVIT_CO_TRY(response.outputs, co_await StackOutputs(request.inputs));
    } else if (request.urn.type() == kStash) {
      response.outputs = std::move(request.state);
    } else {
      co_return NoSuchType(request.urn);
    }
    response.inputs = std::move(request.inputs);
    co_return response;
  }

  Task<Result<void>> Delete(DeleteRequest, CancelToken) override { co_return Result<void>(); }

  Task<Result<InvokeResponse>> Invoke(InvokeRequest request, CancelToken) override {
    InvokeResponse response;
    if (request.token == "pulumi:pulumi:getResource") {
      DAVIT_CO_TRY(response.result, Lookup(request.args));
    } else if (request.token == "pulumi:pulumi:readStackOutputs") {
      DAVIT_CO_TRY(response.result, co_await StackOutputs(request.args));
    } else if (request.token == "pulumi:pulumi:readStackResourceOutputs") {
      DAVIT_CO_TRY(response.result, co_await StackResources(request.args));
    } else {
      co_return Fail(ErrorKind::kInvalid,
                     fmt::format("the package 'pulumi' has no function '{}'", request.token));
    }
    co_return response;
  }

  Task<Result<CallResponse>> Call(CallRequest request, CancelToken) override {
    co_return Fail(ErrorKind::kInvalid,
                   fmt::format("the package 'pulumi' has no method '{}'", request.token));
  }

  Task<Result<ConstructResponse>> Construct(ConstructRequest request, CancelToken) override {
    co_return Fail(
        ErrorKind::kInvalid,
        fmt::format("the package 'pulumi' has no component type '{}'", request.goal.type));
  }

  Task<Result<void>> Cancel() override { co_return Result<void>(); }
  Task<void> Close() override { co_return; }

 private:
  Task<Result<Snapshot>> ReadStack(std::string name) {
    if (sources_->stacks == nullptr) {
      co_return Fail(ErrorKind::kUnimplemented, "other stacks cannot be read in this run");
    }
    co_return co_await sources_->stacks->Read(std::move(name));
  }

  // {name} -> {name, outputs, secretOutputNames}
  Task<Result<PropertyMap>> StackOutputs(PropertyMap args) {
    PropertyMap result;
    result["name"] = Member(args, "name");
    if (ContainsUnknowns(Member(args, "name"))) {
      result["outputs"] = Unknown{UnknownKind::kMap};
      result["secretOutputNames"] = Unknown{UnknownKind::kList};
      co_return result;
    }
    DAVIT_CO_TRY(std::string name, TextArgument(args, "name"));
    DAVIT_CO_TRY(const Snapshot snapshot, co_await ReadStack(std::move(name)));
    PropertyMap outputs;
    for (const StatePtr& state : snapshot.resources) {
      if (state->urn.is_root_stack() && !state->pending_delete) {
        outputs = state->outputs;
      }
    }
    PropertyList secret_names;
    for (const auto& [key, value] : outputs) {
      if (ContainsSecrets(value)) {
        secret_names.emplace_back(key);
      }
    }
    result["outputs"] = std::move(outputs);
    result["secretOutputNames"] = std::move(secret_names);
    co_return result;
  }

  // {stackName} -> {name, outputs}: the outputs of each resource by URN
  Task<Result<PropertyMap>> StackResources(PropertyMap args) {
    DAVIT_CO_TRY(std::string name, TextArgument(args, "stackName"));
    DAVIT_CO_TRY(const Snapshot snapshot, co_await ReadStack(name));
    PropertyMap resources;
    for (const StatePtr& state : snapshot.resources) {
      if (state->pending_delete) {
        continue;
      }
      PropertyMap record;
      record["type"] = state->type;
      if (!state->id.empty()) {
        record["id"] = state->id;
      }
      record["outputs"] = state->outputs;
      resources[state->urn.text()] = std::move(record);
    }
    PropertyMap result;
    result["name"] = std::move(name);
    result["outputs"] = std::move(resources);
    co_return result;
  }

  Result<PropertyMap> Lookup(const PropertyMap& args) const {
    DAVIT_TRY(const std::string urn, TextArgument(args, "urn"));
    const StatePtr state = sources_->resource(Urn::Trusted(urn));
    if (!state) {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("the resource '{}' is not registered in this run", urn),
                  "register or read it first");
    }
    PropertyMap result;
    result["urn"] = urn;
    result["id"] = state->id == kUnknownId ? PropertyValue(Unknown()) : PropertyValue(state->id);
    result["provider"] = state->provider;
    result["state"] = state->outputs;
    return result;
  }

  std::shared_ptr<const BuiltinSources> sources_;
  std::string version_;
};

}  // namespace

std::shared_ptr<Provider> MakeBuiltinProvider(std::shared_ptr<const BuiltinSources> sources) {
  return std::make_shared<BuiltinProvider>(std::move(sources));
}

BuiltinConnection::BuiltinConnection(RunContext& context)
    : sources_(context.request.pool->builtins()) {
  sources_->stacks = context.request.stacks;
  sources_->resource = [&context](const Urn& urn) {
    const auto at = context.news.find(urn);
    return at == context.news.end() ? StatePtr() : at->second;
  };
  sources_->new_uuid = [&context] { return context.request.ids->NewUuid(); };
  sources_->warn = [&context](const Urn& urn, const std::string& message) {
    context.reporter.Warn(urn, message);
  };
}

BuiltinConnection::~BuiltinConnection() {
  *sources_ = BuiltinSources();
}

}  // namespace davit
