#include "state/codec/plan_json.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "engine/base/base64.h"
#include "engine/base/digest.h"
#include "state/codec/time_text.h"

namespace davit {
namespace {

void AppendText(const std::string& text, std::string* out) {
  AppendJsonString(text, HtmlEscaping::kOff, out);
}
void AppendText(const Urn& urn, std::string* out) {
  AppendText(urn.text(), out);
}
void AppendText(StepOp op, std::string* out) {
  AppendText(std::string(StepOpName(op)), out);
}

void AppendBool(bool value, std::string* out) {
  *out += value ? "true" : "false";
}

class PlanWriter {
 public:
  PlanWriter(PropertyWriting& writing, std::string* out) : writing_(writing), out_(out) {}

  void Write(const PlanDocument& document) {
    JsonObjectWriter object(out_);
    JsonObjectWriter manifest(object.Key("manifest"));
    manifest.String("time", document.time ? TimeText(*document.time) : std::string(kZeroTime));
    manifest.String("magic", Sha256Hex(document.version));
    manifest.String("version", document.version);
    manifest.End();
    if (!document.config_json.empty()) {
      *object.Key("config") += document.config_json;
    }
    if (!document.plan.resources.empty()) {
      JsonObjectWriter resources(object.Key("resourcePlans"));
      for (const auto& [urn, entry] : document.plan.resources) {
        resources.Key(urn.text());
        Entry(entry);
      }
      resources.End();
    }
    object.End();
  }

 private:
  template <typename List>
  void Array(const List& list, std::string* out) {
    *out += '[';
    bool first = true;
    for (const auto& item : list) {
      *out += std::exchange(first, false) ? "" : ",";
      AppendText(item, out);
    }
    *out += ']';
  }
  template <typename List>
  void ArrayIfAny(std::string_view name, const List& list, JsonObjectWriter& object) {
    if (!list.empty()) {
      Array(list, object.Key(name));
    }
  }
  void MapIfAny(std::string_view name, const PropertyMap& map, JsonObjectWriter& object) {
    if (!map.empty()) {
      WritePropertyMap(map, writing_, object.Key(name));
    }
  }

  void Entry(const ResourcePlan& entry) {
    JsonObjectWriter object(out_);
    if (entry.goal) {
      object.Key("goal");
      Goal(*entry.goal);
    }
    ArrayIfAny("steps", entry.steps, object);
    std::string* state = object.Key("state");
    if (entry.outputs) {
      WritePropertyMap(*entry.outputs, writing_, state);
    } else {
      *state += "null";
    }
    object.StringIfAny("seed", EncodeBase64(entry.seed));
    object.End();
  }

  void Diff(const PlanDiff& diff, std::string* out) {
    JsonObjectWriter object(out);
    MapIfAny("adds", diff.adds, object);
    ArrayIfAny("deletes", diff.deletes, object);
    MapIfAny("updates", diff.updates, object);
    object.End();
  }

  void Aliases(const std::vector<AliasSpec>& aliases, JsonObjectWriter& object) {
    if (aliases.empty()) {
      return;
    }
    std::string* out = object.Key("structuredAliases");
    *out += '[';
    bool first = true;
    for (const AliasSpec& alias : aliases) {
      *out += std::exchange(first, false) ? "" : ",";
      JsonObjectWriter item(out);
      item.String("URN", alias.urn.text());
      item.String("Name", alias.name.value_or(""));
      item.String("Type", alias.type.value_or(""));
      item.String("Project", alias.project.value_or(""));
      item.String("Stack", alias.stack.value_or(""));
      item.String("Parent", alias.parent.text());
      AppendBool(alias.no_parent, item.Key("NoParent"));
      item.End();
    }
    *out += ']';
  }

  void Timeouts(const CustomTimeouts& timeouts, std::string* out) {
    JsonObjectWriter object(out);
    const std::pair<const char*, double> fields[] = {
        {"create", timeouts.create}, {"update", timeouts.update}, {"delete", timeouts.delete_}};
    for (const auto& [name, seconds] : fields) {
      if (seconds != 0 && std::isfinite(seconds)) {
        *object.Key(name) += NumberText(seconds);
      }
    }
    object.End();
  }

  void Goal(const PlannedGoal& goal) {
    JsonObjectWriter object(out_);
    object.String("type", goal.type);
    object.String("name", goal.name);
    AppendBool(goal.custom, object.Key("custom"));
    Diff(goal.input_diff, object.Key("inputDiff"));
    Diff(goal.output_diff, object.Key("outputDiff"));
    object.StringIfAny("parent", goal.parent.text());
    AppendBool(goal.protect, object.Key("protect"));
    ArrayIfAny("dependencies", goal.dependencies, object);
    object.StringIfAny("provider", goal.provider);
    if (!goal.property_dependencies.empty()) {
      JsonObjectWriter dependencies(object.Key("propertyDependencies"));
      for (const auto& [name, urns] : goal.property_dependencies) {
        Array(urns, dependencies.Key(name));
      }
      dependencies.End();
    }
    if (goal.delete_before_replace) {
      AppendBool(*goal.delete_before_replace, object.Key("deleteBeforeReplace"));
    }
    ArrayIfAny("ignoreChanges", goal.ignore_changes, object);
    ArrayIfAny("additionalSecretOutputs", goal.additional_secret_outputs, object);
    Aliases(goal.aliases, object);
    object.StringIfAny("id", goal.import_id);
    Timeouts(goal.custom_timeouts, object.Key("customTimeouts"));
    object.End();
  }

  PropertyWriting& writing_;
  std::string* out_;
};

class PlanReader {
 public:
  PlanReader(JsonReader& reader, const PropertyReading& reading)
      : reader_(reader), reading_(reading) {}

  void Read(PlanDocument* document) {
    bool has_manifest = false;
    Members({{"manifest",
              [&] {
                has_manifest = reader_.Peek() == JsonKind::kObject;
                Manifest(document);
              }},
             {"config", [&] { document->config_json = CompactJson(reader_); }},
             {"resourcePlans", [&] { Resources(&document->plan); }}});
    if (!has_manifest) {
      reader_.SetError("expected an update plan: a 'manifest' is missing");
    }
  }

 private:
  void Members(const MemberReaders& readers) { ReadMembers(reader_, readers); }

  void Manifest(PlanDocument* document) {
    std::string key;
    if (!reader_.EnterObject()) {
      return;
    }
    while (reader_.NextMember(&key)) {
      if (key == "version") {
        document->version = reader_.String();
      } else if (key == "time") {
        document->time = ParseTime(reader_.String());
      } else {
        reader_.Raw();
      }
    }
  }

  std::vector<std::string> Strings() {
    std::vector<std::string> strings;
    if (reader_.EnterArray()) {
      while (reader_.NextItem()) {
        strings.push_back(reader_.String());
      }
    }
    return strings;
  }

  Urn TakeUrn() {
    const std::string text = reader_.String();
    return CheckedUrn(text);
  }

  Urn CheckedUrn(const std::string& text) {
    if (text.empty()) {
      return Urn();
    }
    Result<Urn> urn = Urn::Parse(text);
    if (!urn) {
      reader_.SetError(std::move(urn).error());
      return Urn();
    }
    return *std::move(urn);
  }

  std::vector<Urn> Urns() {
    std::vector<Urn> urns;
    for (const std::string& text : Strings()) {
      urns.push_back(CheckedUrn(text));
    }
    return urns;
  }

  void Resources(UpdatePlan* plan) {
    std::string key;
    if (!reader_.EnterObject()) {
      return;
    }
    while (reader_.NextMember(&key)) {
      const Urn urn = CheckedUrn(key);
      Entry(&plan->resources[urn]);
    }
  }

  void Entry(ResourcePlan* entry) {
    Members({{"goal",
              [&] {
                if (reader_.Peek() == JsonKind::kNull) {
                  reader_.Raw();
                } else {
                  Goal(&entry->goal.emplace());
                }
              }},
             {"steps",
              [&] {
                for (const std::string& name : Strings()) {
                  const std::optional<StepOp> op = ParseStepOp(name);
                  if (!op) {
                    reader_.SetError(fmt::format("'{}' is no step", name));
                    return;
                  }
                  entry->steps.push_back(*op);
                }
              }},
             {"state",
              [&] {
                const bool is_null = reader_.Peek() == JsonKind::kNull;
                PropertyMap outputs = ReadPropertyMap(reader_, reading_);
                if (!is_null) {
                  entry->outputs = std::move(outputs);
                }
              }},
             {"seed", [&] {
                std::optional<std::string> bytes = DecodeBase64(reader_.String());
                if (!bytes) {
                  reader_.SetError("a seed is no base64 text");
                  return;
                }
                entry->seed = *std::move(bytes);
              }}});
  }

  void Diff(PlanDiff* diff) {
    Members({{"adds", [&] { diff->adds = ReadPropertyMap(reader_, reading_); }},
             {"deletes", [&] { diff->deletes = Strings(); }},
             {"updates", [&] { diff->updates = ReadPropertyMap(reader_, reading_); }}});
  }

  std::optional<std::string> TextIfAny() {
    std::string text = reader_.String();
    return text.empty() ? std::nullopt : std::optional<std::string>(std::move(text));
  }

  void Alias(AliasSpec* alias) {
    Members({{"URN", [&] { alias->urn = TakeUrn(); }},
             {"Name", [&] { alias->name = TextIfAny(); }},
             {"Type", [&] { alias->type = TextIfAny(); }},
             {"Project", [&] { alias->project = TextIfAny(); }},
             {"Stack", [&] { alias->stack = TextIfAny(); }},
             {"Parent", [&] { alias->parent = TakeUrn(); }},
             {"NoParent", [&] { alias->no_parent = reader_.Bool(); }}});
  }

  void Timeouts(CustomTimeouts* timeouts) {
    Members({{"create", [&] { timeouts->create = reader_.Number(); }},
             {"update", [&] { timeouts->update = reader_.Number(); }},
             {"delete", [&] { timeouts->delete_ = reader_.Number(); }},
             {"read", [&] { timeouts->read = reader_.Number(); }}});
  }

  void PropertyDependencies(PlannedGoal* goal) {
    std::string key;
    if (!reader_.EnterObject()) {
      return;
    }
    while (reader_.NextMember(&key)) {
      goal->property_dependencies[key] = Urns();
    }
  }

  void Goal(PlannedGoal* goal) {
    Members({{"type", [&] { goal->type = reader_.String(); }},
             {"name", [&] { goal->name = reader_.String(); }},
             {"custom", [&] { goal->custom = reader_.Bool(); }},
             {"inputDiff", [&] { Diff(&goal->input_diff); }},
             {"outputDiff", [&] { Diff(&goal->output_diff); }},
             {"parent", [&] { goal->parent = TakeUrn(); }},
             {"protect", [&] { goal->protect = reader_.Bool(); }},
             {"dependencies", [&] { goal->dependencies = Urns(); }},
             {"provider", [&] { goal->provider = reader_.String(); }},
             {"propertyDependencies", [&] { PropertyDependencies(goal); }},
             {"deleteBeforeReplace",
              [&] {
                if (reader_.Peek() == JsonKind::kNull) {
                  reader_.Raw();
                } else {
                  goal->delete_before_replace = reader_.Bool();
                }
              }},
             {"ignoreChanges", [&] { goal->ignore_changes = Strings(); }},
             {"additionalSecretOutputs", [&] { goal->additional_secret_outputs = Strings(); }},
             {"aliases",
              [&] {
                for (Urn& urn : Urns()) {
                  goal->aliases.emplace_back().urn = std::move(urn);
                }
              }},
             {"structuredAliases",
              [&] {
                if (reader_.EnterArray()) {
                  while (reader_.NextItem()) {
                    Alias(&goal->aliases.emplace_back());
                  }
                }
              }},
             {"id", [&] { goal->import_id = reader_.String(); }},
             {"customTimeouts", [&] { Timeouts(&goal->custom_timeouts); }}});
  }

  JsonReader& reader_;
  const PropertyReading& reading_;
};

}  // namespace

Result<std::string> WritePlan(const PlanDocument& document, PropertyWriting writing) {
  std::string text;
  PlanWriter(writing, &text).Write(document);
  if (writing.error) {
    return Fail(*writing.error);
  }
  constexpr int kIndent = 4;
  return IndentJson(text, kIndent) + "\n";
}

Result<PlanDocument> ReadPlan(std::string_view text, const PropertyReading& reading) {
  PlanDocument document;
  JsonReader reader(text, "the plan");
  PlanReader(reader, reading).Read(&document);
  reader.ExpectEnd();
  DAVIT_TRY_VOID(reader.Finish());
  return document;
}

}  // namespace davit
