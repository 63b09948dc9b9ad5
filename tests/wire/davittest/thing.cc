#include "tests/wire/davittest/thing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

namespace davit::davittest {
namespace {

using kit::CallContext;
using kit::SchemaType;

kit::ResourceSchema Schema() {
  kit::ResourceSchema schema;
  schema.token = "davittest:index:Thing";
  schema.description = "A resource that does as it is told.";
  schema.accepts_any_input = true;
  for (const char* name : {"a", "b", "c", "value", "text", "list", "map", "note"}) {
    schema.inputs.push_back({.name = name});
  }
  schema.inputs.push_back({.name = "behave", .type = SchemaType::MapOf(SchemaType::Any())});
  for (const char* name : {"huge", "deep", "out"}) {
    schema.outputs.push_back({.name = name});
  }
  return schema;
}

PropertyMap BehaviourOf(const PropertyMap& inputs) {
  const auto found = inputs.find("behave");
  if (found == inputs.end()) {
    return {};
  }
  const PropertyValue plain = Plain(found->second);
  return plain.is_map() ? *plain.as_map() : PropertyMap();
}

const PropertyMap* MapIn(const PropertyMap& map, std::string_view key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : found->second.as_map();
}

bool FlagIn(const PropertyMap& map, std::string_view key) {
  const auto found = map.find(key);
  return found != map.end() && found->second == PropertyValue(true);
}

int NumberIn(const PropertyMap& map, std::string_view key) {
  const auto found = map.find(key);
  const double* number = found == map.end() ? nullptr : found->second.as_number();
  return number == nullptr ? 0 : static_cast<int>(*number);
}

std::set<std::string> NamesIn(const PropertyMap& map, std::string_view key) {
  std::set<std::string> names;
  const auto found = map.find(key);
  const PropertyList* list = found == map.end() ? nullptr : found->second.as_list();
  if (list != nullptr) {
    for (const PropertyValue& item : *list) {
      if (const std::string* name = item.as_string()) {
        names.insert(*name);
      }
    }
  }
  return names;
}

/// The reasons of `partial` for a method; empty: it succeeds.
std::vector<std::string> PartialReasons(const PropertyMap& behave, std::string_view method) {
  const PropertyMap* partial = MapIn(behave, "partial");
  if (partial == nullptr) {
    return {};
  }
  const std::set<std::string> reasons = NamesIn(*partial, method);
  return {reasons.begin(), reasons.end()};
}

PropertyMap OutputsFor(const PropertyMap& inputs, bool is_preview) {
  const PropertyMap behave = BehaviourOf(inputs);
  PropertyMap outputs = inputs;
  outputs.erase("behave");
  if (const PropertyMap* computed = MapIn(behave, "computed")) {
    for (const auto& [key, value] : *computed) {
      outputs[key] = is_preview ? PropertyValue(Unknown{}) : value;
    }
  }
  if (const int bytes = NumberIn(behave, "bytes"); bytes > 0 && !is_preview) {
    outputs["huge"] = std::string(static_cast<std::size_t>(bytes), 'h');
  }
  if (const int levels = NumberIn(behave, "levels"); levels > 0 && !is_preview) {
    PropertyValue deep = "bottom";
    for (int level = 0; level < levels; ++level) {
      PropertyMap outer;
      outer["d"] = std::move(deep);
      deep = std::move(outer);
    }
    outputs["deep"] = std::move(deep);
  }
  for (const std::string& key : NamesIn(behave, "drop")) {
    outputs.erase(key);
  }
  for (const std::string& key : NamesIn(behave, "secret")) {
    if (const auto found = outputs.find(key); found != outputs.end()) {
      found->second = MakeSecret(found->second);
    }
  }
  return outputs;
}

class Thing final : public kit::ResourceHandler {
 public:
  Thing() : ResourceHandler(Schema()) {}

  Result<CheckResponse> Check(const CheckRequest& request, CallContext& call) override {
    DAVIT_TRY(CheckResponse response, ResourceHandler::Check(request, call));
    const PropertyMap behave = BehaviourOf(request.news);
    if (const PropertyMap* bad = MapIn(behave, "badInputs")) {
      for (const auto& [key, reason] : *bad) {
        response.failures.push_back(
            {.property = key,
             .reason = reason.is_string() ? *reason.as_string() : std::string("is bad")});
      }
    }
    return response;
  }

  Result<DiffResponse> Diff(const DiffRequest& request, CallContext&) override {
    const PropertyMap behave = BehaviourOf(request.new_inputs);
    PropertyMap olds = request.old_inputs;
    PropertyMap news = request.new_inputs;
    olds.erase("behave");
    news.erase("behave");
    std::vector<kit::PropertySchema> declared;
    for (const std::string& key : NamesIn(behave, "replace")) {
      declared.push_back({.name = key, .replace_on_changes = true});
    }
    DiffResponse response = kit::DiffDeclared(declared, olds, news);
    response.delete_before_replace = FlagIn(behave, "deleteFirst") && !response.replaces.empty();
    return response;
  }

  Result<CreateResponse> Create(const CreateRequest& request, CallContext& call) override {
    const PropertyMap behave = BehaviourOf(request.inputs);
    CreateResponse response;
    response.outputs = OutputsFor(request.inputs, request.preview);
    if (request.preview) {
      return response;
    }
    if (const auto line = behave.find("log"); line != behave.end() && line->second.is_string()) {
      call.Log(Severity::kWarning, *line->second.as_string());
    }
    if (const auto id = behave.find("id"); id != behave.end() && id->second.is_string()) {
      response.id = *id->second.as_string();
    } else {
      response.id = NewId(std::string(request.urn.name()));
    }
    response.refresh_before_update = FlagIn(behave, "refreshFirst");
    response.init_errors = PartialReasons(behave, "Create");
    return response;
  }

  Result<ReadResponse> Read(const ReadRequest& request, CallContext& call) override {
    const PropertyMap behave = BehaviourOf(request.inputs);
    if (FlagIn(behave, "gone")) {
      return ReadResponse();
    }
    DAVIT_TRY(ReadResponse response, ResourceHandler::Read(request, call));
    if (const PropertyMap* drift = MapIn(behave, "drift")) {
      for (const auto& [key, value] : *drift) {
        (*response.outputs)[key] = value;
        (*response.inputs)[key] = value;
      }
    }
    response.init_errors = PartialReasons(behave, "Read");
    return response;
  }

  Result<UpdateResponse> Update(const UpdateRequest& request, CallContext&) override {
    UpdateResponse response;
    response.outputs = OutputsFor(request.new_inputs, request.preview);
    if (!request.preview) {
      response.init_errors = PartialReasons(BehaviourOf(request.new_inputs), "Update");
    }
    return response;
  }

  Result<void> Delete(const DeleteRequest&, CallContext&) override { return {}; }

 private:
  std::string NewId(const std::string& name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return fmt::format("{}-{}", name, ++counts_[name]);
  }

  std::mutex mutex_;
  std::map<std::string, int> counts_;
};

}  // namespace

std::shared_ptr<kit::ResourceHandler> MakeThing() {
  return std::make_shared<Thing>();
}

}  // namespace davit::davittest
