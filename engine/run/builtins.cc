#include "engine/builtins.h"

#include <fmt/format.h>

#include "engine/model/urn.h"

namespace davit {
namespace {

constexpr std::string_view kStackReferenceType = "pulumi:pulumi:StackReference";
constexpr std::string_view kStashType = "pulumi:index:Stash";

class BuiltinProvider final : public Provider {
 public:
  BuiltinProvider(Ids* ids, const StackOutputs* outputs) : ids_(*ids), outputs_(*outputs) {}

  const std::string& version() const override { return version_; }
  bool is_alive() const override { return true; }
  bool supports_preview() const override { return true; }

  Task<Result<std::string>> GetSchema(CancelToken) override { co_return NotOffered("a schema"); }
  Task<Result<CheckResponse>> CheckConfig(CheckRequest request, CancelToken) override {
    CheckResponse response;
    response.inputs = std::move(request.news);
    co_return response;
  }
  Task<Result<DiffResponse>> DiffConfig(DiffRequest, CancelToken) override {
    DiffResponse response;
    response.changes = DiffChanges::kNone;
    co_return response;
  }
  Task<Result<void>> Configure(ConfigureRequest, CancelToken) override { co_return Result<void>(); }

  Task<Result<CheckResponse>> Check(CheckRequest request, CancelToken) override {
    DAVIT_CO_TRY(std::string property, PropertyOf(request.urn));
    CheckResponse response;
    for (const auto& [key, value] : request.news) {
      if (key != property) {
        response.failures.push_back({key, fmt::format("there is only '{}'", property)});
      }
    }
    const auto given = request.news.find(property);
    const bool is_stash = request.urn.type() == kStashType;
    if (given == request.news.end()) {
      response.failures.push_back({property, "is required"});
    } else if (!is_stash && !given->second.is_string() && !given->second.is_unknown()) {
      response.failures.push_back({property, "must be a plain string"});
    }
    response.inputs = std::move(request.news);
    co_return response;
  }

  Task<Result<DiffResponse>> Diff(DiffRequest request, CancelToken) override {
    DAVIT_CO_TRY(std::string property, PropertyOf(request.urn));
    DiffResponse response;
    response.changes = DiffChanges::kNone;
    if (request.old_inputs != request.new_inputs) {
      response.changes = DiffChanges::kSome;
      response.diffs = {property};
      if (request.urn.type() == kStackReferenceType) {
        response.replaces = {property};
      }
    }
    co_return response;
  }

  Task<Result<CreateResponse>> Create(CreateRequest request, CancelToken) override {
    CreateResponse response;
    response.id = request.preview ? std::string() : ids_.NewUuid();
    if (request.urn.type() == kStashType) {
      response.outputs = request.inputs;
      response.outputs["output"] = request.inputs["input"];
      co_return response;
    }
    DAVIT_CO_TRY(response.outputs, Referenced(request.inputs));
    co_return response;
  }

  // Only stashes are updated: a reference to another stack is another reference.
  Task<Result<UpdateResponse>> Update(UpdateRequest request, CancelToken) override {
    UpdateResponse response;
    response.outputs = std::move(request.new_inputs);
    response.outputs["output"] = request.old_outputs["output"];
    co_return response;
  }

  Task<Result<ReadResponse>> Read(ReadRequest request, CancelToken) override {
    ReadResponse response;
    response.id = request.id;
    if (!request.send_inputs) {
      co_return Fail(ErrorKind::kFailed,
                     fmt::format("a resource of type '{}' cannot be imported", request.urn.type()),
                     "let the program create it");
    }
    if (request.urn.type() == kStashType) {
      response.inputs = std::move(request.inputs);
      response.outputs = std::move(request.state);
      co_return response;
    }
    DAVIT_CO_TRY(response.outputs, Referenced(request.inputs));
    response.inputs = std::move(request.inputs);
    co_return response;
  }

  Task<Result<void>> Delete(DeleteRequest, CancelToken) override { co_return Result<void>(); }
  Task<Result<InvokeResponse>> Invoke(InvokeRequest request, CancelToken) override {
    co_return NotOffered(fmt::format("the function '{}'", request.token));
  }
  Task<Result<CallResponse>> Call(CallRequest, CancelToken) override {
    co_return NotOffered("methods");
  }
  Task<Result<ConstructResponse>> Construct(ConstructRequest, CancelToken) override {
    co_return NotOffered("components");
  }
  Task<Result<void>> Cancel() override { co_return Result<void>(); }
  Task<void> Close() override { co_return; }

 private:
  static Unexpected NotOffered(const std::string& what) {
    return Fail(ErrorKind::kUnimplemented, fmt::format("the package 'pulumi' has no {}", what));
  }

  // The one property of a type.
  static Result<std::string> PropertyOf(const Urn& urn) {
    if (urn.type() == kStashType) {
      return std::string("input");
    }
    if (urn.type() == kStackReferenceType) {
      return std::string("name");
    }
    return Fail(ErrorKind::kInvalid,
                fmt::format("the package 'pulumi' has no resource type '{}'", urn.type()),
                "there are pulumi:pulumi:StackReference and pulumi:index:Stash");
  }

  // What a reference shows (E195): the outputs, and the names of those that hold secrets.
  Result<PropertyMap> Referenced(const PropertyMap& inputs) const {
    const auto name = inputs.find("name");
    if (name == inputs.end() || !name->second.is_string()) {
      return Fail(ErrorKind::kInvalid, "a stack reference needs the name of a stack");
    }
    DAVIT_TRY(PropertyMap outputs, outputs_(*name->second.as_string()));
    PropertyList secrets;
    for (const auto& [key, value] : outputs) {
      if (ContainsSecrets(value)) {
        secrets.emplace_back(key);
      }
    }
    PropertyMap shown{{"name", name->second}};
    shown.emplace("outputs", std::move(outputs));
    shown.emplace("secretOutputNames", std::move(secrets));
    return shown;
  }

  Ids& ids_;
  const StackOutputs& outputs_;
  std::string version_;
};

class BuiltinHost final : public PluginHost {
 public:
  BuiltinHost(PluginHost* inner, Ids* ids, StackOutputs outputs)
      : inner_(*inner), ids_(*ids), outputs_(std::move(outputs)) {}

  Task<Result<std::shared_ptr<Provider>>> LoadProvider(PluginSpec spec,
                                                       CancelToken cancel) override {
    if (spec.name == "pulumi") {
      std::shared_ptr<Provider> provider = std::make_shared<BuiltinProvider>(&ids_, &outputs_);
      co_return provider;
    }
    co_return co_await inner_.LoadProvider(std::move(spec), std::move(cancel));
  }

 private:
  PluginHost& inner_;
  Ids& ids_;
  StackOutputs outputs_;
};

}  // namespace

std::unique_ptr<PluginHost> WithBuiltins(PluginHost& inner, Ids& ids, StackOutputs outputs) {
  return std::make_unique<BuiltinHost>(&inner, &ids, std::move(outputs));
}

}  // namespace davit
