#include "tests/fuzz/model.h"

#include <fmt/format.h>

namespace davit::fuzz {
namespace {

Unexpected Refused(const char* what) {
  return Fail(ErrorKind::kFailed, fmt::format("the model fails this {}", what));
}

Unexpected Lost(const char* what) {
  return Fail(ErrorKind::kOutcomeUnknown,
              fmt::format("the model loses the answer of this {}", what));
}

bool HasUnknown(const PropertyMap& inputs) {
  return std::ranges::any_of(inputs, [](const auto& entry) { return entry.second.is_unknown(); });
}

// Inputs named `key...` replace, `first` replaces with the old one deleted first, `note` is
// overlooked, others update.
DiffResponse Compare(const DiffRequest& request) {
  DiffResponse response;
  std::set<std::string> names;
  for (const PropertyMap* inputs : {&request.old_inputs, &request.new_inputs}) {
    for (const auto& [name, value] : *inputs) {
      names.insert(name);
    }
  }
  for (const std::string& name : names) {
    const auto before = request.old_inputs.find(name);
    const auto after = request.new_inputs.find(name);
    const bool is_equal = before != request.old_inputs.end() && after != request.new_inputs.end() &&
                          before->second == after->second;
    if (is_equal || name == "note") {
      continue;
    }
    response.diffs.push_back(name);
    if (name.starts_with("key") || name == "first") {
      response.replaces.push_back(name);
      response.delete_before_replace = response.delete_before_replace || name == "first";
    }
  }
  response.changes = response.diffs.empty() ? DiffChanges::kNone : DiffChanges::kSome;
  return response;
}

}  // namespace

ModelProvider::ModelProvider(testing::FakeBehaviour& behaviour) {
  behaviour.create = [this](const CreateRequest& request) { return Create(request); };
  behaviour.update = [this](const UpdateRequest& request) { return Update(request); };
  behaviour.read = [this](const ReadRequest& request) { return Read(request); };
  behaviour.remove = [this](const DeleteRequest& request) { return Delete(request); };
  behaviour.diff = [this](const DiffRequest& request) -> Result<DiffResponse> {
    if (NextFault() == Fault::kFails) {
      return Refused("diff");
    }
    return Compare(request);
  };
  behaviour.diff_config = [](const DiffRequest& request) -> Result<DiffResponse> {
    return Compare(request);
  };
  behaviour.check = [this](const CheckRequest& request) -> Result<CheckResponse> {
    if (NextFault() == Fault::kFails) {
      return Refused("check");
    }
    CheckResponse response;
    response.inputs = request.news;
    return response;
  };
}

void ModelProvider::Begin(std::map<int, Fault> faults) {
  faults_ = std::move(faults);
  calls_ = 0;
  changes_ = 0;
  deleted_.clear();
  updated_.clear();
  complaint_.clear();
}

std::optional<Fault> ModelProvider::NextFault() {
  const auto at = faults_.find(calls_++);
  return at == faults_.end() ? std::nullopt : std::optional(at->second);
}

void ModelProvider::Complain(std::string text) {
  if (complaint_.empty()) {
    complaint_ = std::move(text);
  }
}

Result<CreateResponse> ModelProvider::Create(const CreateRequest& request) {
  CreateResponse response;
  response.outputs = request.inputs;
  response.refresh_before_update = request.inputs.contains("fresh");
  if (request.preview) {
    return response;
  }
  if (HasUnknown(request.inputs)) {
    Complain(fmt::format("Create of '{}' with an unknown input", request.urn.text()));
  }
  const std::optional<Fault> fault = NextFault();
  if (fault == Fault::kFails) {
    return Refused("create");
  }
  ++changes_;
  response.id = fmt::format("{}-{}", request.urn.name(), ++last_id_);
  cloud.objects[response.id] = {request.urn, request.inputs};
  if (fault == Fault::kPartial) {
    response.init_errors = {"not ready"};
  }
  if (fault == Fault::kLost) {
    cloud.excused_objects.insert(response.id);
    return Lost("create");
  }
  return response;
}

Result<UpdateResponse> ModelProvider::Update(const UpdateRequest& request) {
  UpdateResponse response;
  response.outputs = request.new_inputs;
  response.refresh_before_update = request.new_inputs.contains("fresh");
  if (request.preview) {
    return response;
  }
  if (HasUnknown(request.new_inputs)) {
    Complain(fmt::format("Update of '{}' with an unknown input", request.urn.text()));
  }
  if (deleted_.contains(request.id)) {
    Complain(fmt::format("Update of '{}' after its deletion", request.id));
  }
  const std::optional<Fault> fault = NextFault();
  if (fault == Fault::kFails) {
    return Refused("update");
  }
  ++changes_;
  updated_.insert(request.id);
  cloud.objects[request.id] = {request.urn, request.new_inputs};
  cloud.excused_inputs.erase(request.id);
  if (fault == Fault::kPartial) {
    response.init_errors = {"not ready"};
  }
  if (fault == Fault::kLost) {
    cloud.excused_inputs.insert(request.id);
    return Lost("update");
  }
  return response;
}

Result<ReadResponse> ModelProvider::Read(const ReadRequest& request) {
  if (NextFault() == Fault::kFails) {
    return Refused("read");
  }
  ReadResponse response;
  if (request.id.starts_with(kForeign)) {
    response.id = request.id;
    response.outputs.emplace();
    return response;
  }
  const auto object = cloud.objects.find(request.id);
  if (object != cloud.objects.end()) {
    response.id = request.id;
    response.refresh_before_update = object->second.inputs.contains("fresh");
    response.inputs = object->second.inputs;
    response.outputs = object->second.inputs;
  }
  return response;
}

Result<void> ModelProvider::Delete(const DeleteRequest& request) {
  const std::optional<Fault> fault = NextFault();
  if (fault == Fault::kFails || fault == Fault::kPartial) {
    return Refused("delete");
  }
  if (request.id.starts_with(kForeign)) {
    Complain(fmt::format("Delete of '{}', which was only read", request.id));
  }
  if (!deleted_.insert(request.id).second) {
    Complain(fmt::format("Delete of '{}' for the second time", request.id));
  }
  ++changes_;
  cloud.objects.erase(request.id);
  if (fault == Fault::kLost) {
    cloud.excused_records.insert(request.id);
    deleted_.erase(request.id);
    return Lost("delete");
  }
  return {};
}

Task<Result<void>> ModelProgram::Run(Monitor& monitor, const RunInfo& info, CancelToken) {
  Loop& loop = co_await CurrentLoop();
  Goal stack;
  stack.type = std::string(kRootStackType);
  stack.name = info.project + "-" + info.stack;
  stack.custom = false;
  Result<RegisterResponse> root = co_await monitor.RegisterResource(std::move(stack));
  if (!root) {
    co_return Fail(root.error());
  }
  root_ = root->urn;
  for (const Node& node : program_) {
    answers_[node.name] = std::make_shared<Completion<Result<RegisterResponse>>>();
  }
  Scope scope(loop);
  for (const Node& node : program_) {
    scope.Spawn(Register(monitor, node));
  }
  co_await scope.Join();
  for (const Node& node : program_) {
    Result<RegisterResponse>& done = co_await answers_[node.name]->Wait();
    if (!done) {
      co_return Fail(done.error());
    }
  }
  PropertyMap outputs;
  outputs["count"] = PropertyValue(static_cast<double>(program_.size()));
  co_return co_await monitor.RegisterOutputs(root_, std::move(outputs));
}

Goal ModelProgram::GoalOf(const Node& node,
                          const std::map<std::string, RegisterResponse>& known) const {
  Goal goal;
  goal.name = node.name;
  goal.custom = node.kind != Node::Kind::kComponent;
  goal.type = node.kind == Node::Kind::kProvider    ? "pulumi:providers:test"
              : node.kind == Node::Kind::kComponent ? "test:index:Group"
                                                    : "test:index:Thing";
  goal.parent = node.parent.empty() ? root_ : known.at(node.parent).urn;
  for (const std::string& name : node.after) {
    goal.dependencies.push_back(known.at(name).urn);
  }
  const auto feed = [&](const std::string& prefix, const std::string& name) {
    const RegisterResponse& response = known.at(name);
    const bool is_unknown = response.unknown || response.id.empty() || response.id == kUnknownId;
    goal.dependencies.push_back(response.urn);
    goal.property_dependencies[prefix + name] = {response.urn};
    goal.properties[prefix + name] =
        is_unknown ? PropertyValue(Unknown()) : PropertyValue(response.id);
  };
  for (const std::string& name : node.fed_by) {
    feed("from_", name);
  }
  for (const std::string& name : node.kept_by) {
    feed("key_", name);
  }
  for (const auto& [name, value] : {std::pair("value", node.value),
                                    {"key", node.key},
                                    {"first", node.first},
                                    {"note", node.note}}) {
    if (value != 0) {
      goal.properties[name] = PropertyValue(static_cast<double>(value));
    }
  }
  if (node.is_secret && node.value != 0) {
    goal.properties["value"] = MakeSecret(goal.properties["value"]);
  }
  if (node.is_fresh) {
    goal.properties["fresh"] = PropertyValue(true);
  }
  if (!node.uses.empty()) {
    const RegisterResponse& provider = known.at(node.uses);
    goal.provider =
        ProviderRef{provider.urn, provider.id.empty() ? std::string(kUnknownId) : provider.id}
            .Text();
  }
  for (const std::string& alias : node.aliases) {
    AliasSpec spec;
    spec.urn = Urn::Trusted(alias);
    goal.aliases.push_back(std::move(spec));
  }
  if (node.kind != Node::Kind::kCustom) {
    return goal;
  }
  if (node.delete_first != Mode::kUnset) {
    goal.delete_before_replace = node.delete_first == Mode::kYes;
  }
  if (node.trigger != 0) {
    goal.replacement_trigger = PropertyValue(node.trigger);
  }
  goal.protect = node.protect;
  goal.retain_on_delete = node.retain;
  if (node.ignores_value) {
    goal.ignore_changes = {"value"};
  }
  if (node.replaces_on_value) {
    goal.replace_on_changes = {"value"};
  }
  if (!node.deleted_with.empty()) {
    goal.deleted_with = known.at(node.deleted_with).urn;
  }
  for (const std::string& name : node.replace_with) {
    goal.replace_with.push_back(known.at(name).urn);
  }
  return goal;
}

Task<Result<RegisterResponse>> ModelProgram::Ask(Monitor& monitor,
                                                 const Node& node,
                                                 Goal goal) const {
  if (node.kind != Node::Kind::kRead) {
    co_return co_await monitor.RegisterResource(std::move(goal));
  }
  ReadGoal read;
  read.type = goal.type;
  read.name = goal.name;
  read.id = std::string(kForeign) + node.name;
  read.parent = goal.parent;
  read.properties = std::move(goal.properties);
  read.dependencies = std::move(goal.dependencies);
  read.provider = std::move(goal.provider);
  co_return co_await monitor.ReadResource(std::move(read));
}

Task<void> ModelProgram::Register(Monitor& monitor, const Node& node) {
  std::vector<std::string> needs = node.after;
  for (const std::vector<std::string>* list : {&node.fed_by, &node.kept_by, &node.replace_with}) {
    needs.insert(needs.end(), list->begin(), list->end());
  }
  for (const std::string* name : {&node.parent, &node.uses, &node.deleted_with}) {
    if (!name->empty()) {
      needs.push_back(*name);
    }
  }
  std::map<std::string, RegisterResponse> known;
  for (const std::string& name : needs) {
    Result<RegisterResponse>& done = co_await answers_[name]->Wait();
    if (!done) {
      answers_[node.name]->Set(Fail(done.error()));
      co_return;
    }
    known[name] = *done;
  }
  Goal goal = GoalOf(node, known);
  Result<RegisterResponse> done = co_await Ask(monitor, node, std::move(goal));
  if (done && node.kind == Node::Kind::kComponent && !done->unknown) {
    PropertyMap outputs;
    outputs["value"] = PropertyValue(static_cast<double>(node.value));
    const Urn urn = done->urn;
    const Result<void> sent = co_await monitor.RegisterOutputs(urn, std::move(outputs));
    if (!sent) {
      answers_[node.name]->Set(Fail(sent.error()));
      co_return;
    }
  }
  answers_[node.name]->Set(std::move(done));
}

}  // namespace davit::fuzz
