#include "state/codec/resource_json.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <unordered_map>
#include <utility>

#include "engine/value/property_path.h"
#include "state/codec/migrate.h"
#include "state/codec/time_text.h"

namespace davit {
namespace {

std::vector<std::string> Strings(JsonReader& reader) {
  std::vector<std::string> strings;
  if (reader.EnterArray()) {
    while (reader.NextItem()) {
      strings.push_back(reader.String());
    }
  }
  return strings;
}

std::vector<Urn> Urns(JsonReader& reader) {
  std::vector<Urn> urns;
  if (reader.EnterArray()) {
    while (reader.NextItem()) {
      urns.push_back(Urn::Trusted(reader.String()));
    }
  }
  return urns;
}

std::optional<WallTime> Time(JsonReader& reader) {
  const std::string text = reader.String();
  const std::optional<WallTime> time = ParseTime(text);
  if (!time && !text.empty() && text != kZeroTime) {
    reader.SetError(fmt::format("'{}' is no time", text));
  }
  return time;
}

void PropertyDependencies(JsonReader& reader, ResourceState& state) {
  std::string key;
  if (!reader.EnterObject()) {
    return;
  }
  while (reader.NextMember(&key)) {
    if (reader.Peek() == JsonKind::kNull) {
      state.null_property_dependencies.insert(key);
    }
    state.property_dependencies[key] = Urns(reader);
  }
}

CustomTimeouts Timeouts(JsonReader& reader) {
  CustomTimeouts timeouts;
  std::string key;
  if (!reader.EnterObject()) {
    return timeouts;
  }
  while (reader.NextMember(&key)) {
    if (key == "create") {
      timeouts.create = reader.Number();
    } else if (key == "update") {
      timeouts.update = reader.Number();
    } else if (key == "delete") {
      timeouts.delete_ = reader.Number();
    } else if (key == "read") {
      timeouts.read = reader.Number();
    } else {
      reader.Raw();
    }
  }
  return timeouts;
}

std::vector<std::string> StackTrace(JsonReader& reader) {
  std::vector<std::string> trace;
  std::string key;
  if (!reader.EnterArray()) {
    return trace;
  }
  while (reader.NextItem()) {
    std::string& position = trace.emplace_back();
    if (!reader.EnterObject()) {
      continue;
    }
    while (reader.NextMember(&key)) {
      if (key == "sourcePosition") {
        position = reader.String();
      } else {
        reader.Raw();
      }
    }
  }
  return trace;
}

std::vector<std::string> Paths(JsonReader& reader) {
  std::vector<std::string> paths;
  if (!reader.EnterArray()) {
    return paths;
  }
  while (reader.NextItem()) {
    if (reader.Peek() == JsonKind::kString) {  // as the reference writes them
      paths.push_back(reader.String());
      continue;
    }
    std::vector<PathSegment> segments;
    if (reader.EnterArray()) {
      while (reader.NextItem()) {
        if (reader.Peek() == JsonKind::kNumber) {
          const double number = reader.Number();
          if (!(number >= 0 && number <= 1e9)) {
            reader.SetError("expected an index");
            break;
          }
          segments.emplace_back(static_cast<int>(number));
          continue;
        }
        std::string name = reader.String();
        if (name == "*") {
          segments.emplace_back(Wildcard());
        } else {
          segments.emplace_back(std::move(name));
        }
      }
    }
    paths.push_back(PropertyPath(std::move(segments)).Text());
  }
  return paths;
}

std::map<std::string, std::vector<std::string>> Hooks(JsonReader& reader) {
  std::map<std::string, std::vector<std::string>> hooks;
  std::string key;
  if (reader.EnterObject()) {
    while (reader.NextMember(&key)) {
      hooks[key] = Strings(reader);
    }
  }
  return hooks;
}

struct ReadField {
  JsonReader& reader;
  const PropertyReading& reading;
  ResourceState& state;
  DependencySpelling spelling = DependencySpelling::kAbsentOrNull;
};
using FieldReader = void (*)(ReadField&);

// NOLINTBEGIN(readability-function-size): a table
const std::unordered_map<std::string_view, FieldReader>& FieldReaders() {
  static const std::unordered_map<std::string_view, FieldReader> kReaders = {
      {"urn", [](ReadField& f) { f.state.urn = Urn::Trusted(f.reader.String()); }},
      {"custom", [](ReadField& f) { f.state.custom = f.reader.Bool(); }},
      {"delete", [](ReadField& f) { f.state.pending_delete = f.reader.Bool(); }},
      {"id", [](ReadField& f) { f.state.id = f.reader.String(); }},
      {"type", [](ReadField& f) { f.state.type = f.reader.String(); }},
      {"inputs", [](ReadField& f) { f.state.inputs = ReadPropertyMap(f.reader, f.reading); }},
      {"outputs", [](ReadField& f) { f.state.outputs = ReadPropertyMap(f.reader, f.reading); }},
      {"parent", [](ReadField& f) { f.state.parent = Urn::Trusted(f.reader.String()); }},
      {"protect", [](ReadField& f) { f.state.protect = f.reader.Bool(); }},
      {"taint", [](ReadField& f) { f.state.taint = f.reader.Bool(); }},
      {"external", [](ReadField& f) { f.state.external = f.reader.Bool(); }},
      {"dependencies",
       [](ReadField& f) {
         f.spelling = f.reader.Peek() == JsonKind::kArray ? DependencySpelling::kList
                                                          : DependencySpelling::kAbsentOrNull;
         f.state.dependencies = Urns(f.reader);
       }},
      {"initErrors", [](ReadField& f) { f.state.init_errors = Strings(f.reader); }},
      {"provider", [](ReadField& f) { f.state.provider = f.reader.String(); }},
      {"propertyDependencies", [](ReadField& f) { PropertyDependencies(f.reader, f.state); }},
      {"pendingReplacement", [](ReadField& f) { f.state.pending_replacement = f.reader.Bool(); }},
      {"additionalSecretOutputs",
       [](ReadField& f) { f.state.additional_secret_outputs = Strings(f.reader); }},
      {"aliases", [](ReadField& f) { f.state.aliases = Urns(f.reader); }},
      {"customTimeouts", [](ReadField& f) { f.state.custom_timeouts = Timeouts(f.reader); }},
      {"importID", [](ReadField& f) { f.state.import_id = f.reader.String(); }},
      {"retainOnDelete", [](ReadField& f) { f.state.retain_on_delete = f.reader.Bool(); }},
      {"deletedWith", [](ReadField& f) { f.state.deleted_with = Urn::Trusted(f.reader.String()); }},
      {"replaceWith", [](ReadField& f) { f.state.replace_with = Urns(f.reader); }},
      {"created", [](ReadField& f) { f.state.created = Time(f.reader); }},
      {"modified", [](ReadField& f) { f.state.modified = Time(f.reader); }},
      {"sourcePosition", [](ReadField& f) { f.state.source_position = f.reader.String(); }},
      {"stackTrace", [](ReadField& f) { f.state.stack_trace = StackTrace(f.reader); }},
      {"ignoreChanges", [](ReadField& f) { f.state.ignore_changes = Strings(f.reader); }},
      {"hideDiff", [](ReadField& f) { f.state.hide_diff = Paths(f.reader); }},
      {"replaceOnChanges", [](ReadField& f) { f.state.replace_on_changes = Strings(f.reader); }},
      {"replacementTrigger",
       [](ReadField& f) { f.state.replacement_trigger = ReadProperty(f.reader, f.reading); }},
      {"refreshBeforeUpdate",
       [](ReadField& f) { f.state.refresh_before_update = f.reader.Bool(); }},
      {"viewOf", [](ReadField& f) { f.state.view_of = Urn::Trusted(f.reader.String()); }},
      {"resourceHooks", [](ReadField& f) { f.state.resource_hooks = Hooks(f.reader); }},
      {"extensionRef", [](ReadField& f) { f.state.extension_ref = f.reader.String(); }},
      {"snippetID", [](ReadField& f) { f.state.snippet_id = f.reader.String(); }},
  };
  return kReaders;
}
// NOLINTEND(readability-function-size)

// The fields of a record, one after another in the order of S30.
class ResourceWriter {
 public:
  ResourceWriter(PropertyWriting& writing, std::string* out) : writing_(writing), object_(out) {}

  void Write(const ResourceState& state) {
    object_.String("urn", state.urn.text());
    *object_.Key("custom") += state.custom ? "true" : "false";
    object_.TrueIf("delete", state.pending_delete);
    object_.StringIfAny("id", state.id);
    object_.String("type", state.type);
    MapIfAny("inputs", state.inputs);
    MapIfAny("outputs", state.outputs);
    object_.StringIfAny("parent", state.parent.text());
    object_.TrueIf("protect", state.protect);
    object_.TrueIf("taint", Gated("taint", state.taint));
    object_.TrueIf("external", state.external);
    UrnsIfAny("dependencies", state.dependencies);
    StringsIfAny("initErrors", state.init_errors);
    object_.StringIfAny("provider", state.provider);
    PropertyDependencies(state);
    object_.TrueIf("pendingReplacement", state.pending_replacement);
    StringsIfAny("additionalSecretOutputs", state.additional_secret_outputs);
    UrnsIfAny("aliases", state.aliases);
    Timeouts(state.custom_timeouts);
    object_.StringIfAny("importID", state.import_id);
    object_.TrueIf("retainOnDelete", state.retain_on_delete);
    object_.StringIfAny("deletedWith", state.deleted_with.text());
    Gated("replaceWith", !state.replace_with.empty());
    UrnsIfAny("replaceWith", state.replace_with);
    TimeIfAny("created", state.created);
    TimeIfAny("modified", state.modified);
    object_.StringIfAny("sourcePosition", state.source_position);
    StackTrace(state.stack_trace);
    StringsIfAny("ignoreChanges", state.ignore_changes);
    StringsIfAny("hideDiff", state.hide_diff);
    StringsIfAny("replaceOnChanges", state.replace_on_changes);
    if (!state.replacement_trigger.is_null()) {
      WriteProperty(state.replacement_trigger, writing_, object_.Key("replacementTrigger"));
    }
    object_.TrueIf("refreshBeforeUpdate",
                   Gated("refreshBeforeUpdate", state.refresh_before_update));
    Gated("views", !state.view_of.empty());
    object_.StringIfAny("viewOf", state.view_of.text());
    Hooks(state);
    Gated("extensionParameterization", !state.extension_ref.empty());
    object_.StringIfAny("extensionRef", state.extension_ref);
    Gated("snippets-prototype", !state.snippet_id.empty());
    object_.StringIfAny("snippetID", state.snippet_id);
    for (const auto& [name, json] : state.unknown_keys) {
      *object_.Key(name) += json;
    }
    object_.End();
  }

 private:
  bool Gated(const char* feature, bool is_used) {
    if (is_used) {
      writing_.features.insert(feature);
    }
    return is_used;
  }

  void MapIfAny(std::string_view name, const PropertyMap& map) {
    if (!map.empty()) {
      WritePropertyMap(map, writing_, object_.Key(name));
    }
  }

  template <typename List, typename Write>
  void Array(const List& list, std::string* out, const Write& write) {
    *out += '[';
    bool first = true;
    for (const auto& item : list) {
      *out += std::exchange(first, false) ? "" : ",";
      write(item, out);
    }
    *out += ']';
  }

  static void Quoted(const std::string& text, std::string* out) {
    AppendJsonString(text, HtmlEscaping::kOff, out);
  }
  static void QuotedUrn(const Urn& urn, std::string* out) { Quoted(urn.text(), out); }

  void StringsIfAny(std::string_view name, const std::vector<std::string>& strings) {
    if (!strings.empty()) {
      Array(strings, object_.Key(name), Quoted);
    }
  }
  void UrnsIfAny(std::string_view name, const std::vector<Urn>& urns) {
    if (!urns.empty()) {
      Array(urns, object_.Key(name), QuotedUrn);
    }
  }

  void PropertyDependencies(const ResourceState& state) {
    if (state.property_dependencies.empty()) {
      return;
    }
    std::string* out = object_.Key("propertyDependencies");
    *out += '{';
    bool first = true;
    for (const auto& [name, urns] : state.property_dependencies) {
      *out += std::exchange(first, false) ? "" : ",";
      Quoted(name, out);
      *out += ':';
      if (urns.empty() && state.null_property_dependencies.contains(name)) {
        *out += "null";
      } else {
        Array(urns, out, QuotedUrn);
      }
    }
    *out += '}';
  }

  void Timeouts(const CustomTimeouts& timeouts) {
    if (timeouts == CustomTimeouts()) {
      return;
    }
    JsonObjectWriter object(object_.Key("customTimeouts"));
    const std::pair<const char*, double> fields[] = {{"create", timeouts.create},
                                                     {"update", timeouts.update},
                                                     {"delete", timeouts.delete_},
                                                     {"read", timeouts.read}};
    for (const auto& [name, seconds] : fields) {
      if (seconds != 0 && std::isfinite(seconds)) {
        *object.Key(name) += NumberText(seconds);
      }
    }
    object.End();
  }

  void TimeIfAny(std::string_view name, const std::optional<WallTime>& time) {
    if (time) {
      object_.String(name, TimeText(*time));
    }
  }

  void StackTrace(const std::vector<std::string>& trace) {
    if (trace.empty()) {
      return;
    }
    Array(trace, object_.Key("stackTrace"), [](const std::string& position, std::string* out) {
      JsonObjectWriter frame(out);
      frame.StringIfAny("sourcePosition", position);
      frame.End();
    });
  }

  void Hooks(const ResourceState& state) {
    if (!Gated("hooks", !state.resource_hooks.empty())) {
      return;
    }
    JsonObjectWriter object(object_.Key("resourceHooks"));
    for (const auto& [name, hooks] : state.resource_hooks) {
      Array(hooks, object.Key(name), Quoted);
    }
    object.End();
  }

  PropertyWriting& writing_;
  JsonObjectWriter object_;
};

}  // namespace

std::shared_ptr<ResourceState> ReadResource(JsonReader& reader,
                                            int version,
                                            const PropertyReading& reading) {
  auto state = std::make_shared<ResourceState>();
  ReadField field{reader, reading, *state};
  std::string key;
  if (reader.EnterObject()) {
    while (reader.NextMember(&key)) {
      const auto known = FieldReaders().find(key);
      if (known != FieldReaders().end()) {
        known->second(field);
      } else {
        state->unknown_keys[key] = CompactJson(reader);
      }
    }
  }
  MigrateResource(version, field.spelling, *state);
  return state;
}

void WriteResource(const ResourceState& state, PropertyWriting& writing, std::string* out) {
  ResourceWriter(writing, out).Write(state);
}

}  // namespace davit
