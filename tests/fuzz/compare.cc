#include "tests/fuzz/compare.h"

#include <fmt/format.h>

#include <algorithm>

namespace davit::fuzz {
namespace {

class Comparison {
 public:
  Comparison(const Snapshot& state, const Cloud& cloud) : state_(state), cloud_(cloud) {}

  void Run(const Program& program) {
    std::map<Urn, int> records;
    for (const StatePtr& record : state_.resources) {
      ++records[record->urn];
      if (record->pending_delete || record->pending_replacement || !record->init_errors.empty()) {
        Find("unfinished record", record->urn.text());
      }
      const bool is_extra =
          record->urn.is_root_stack() ||
          (record->urn.is_provider() && record->urn.name().starts_with("default"));
      if (!is_extra && std::ranges::none_of(program, [&](const Node& node) {
            return UrnOf(program, node.name) == record->urn;
          })) {
        Find("extra record", record->urn.text());
      }
    }
    for (const Node& node : program) {
      if (records[UrnOf(program, node.name)] != 1) {
        Find("missing record", node.name);
      } else {
        CompareRecord(program, node);
      }
    }
  }

  StatePtr RecordOf(const Program& program, const std::string& name) const {
    const auto at = std::ranges::find(
        state_.resources, UrnOf(program, name), [](const StatePtr& record) { return record->urn; });
    return at == state_.resources.end() ? nullptr : *at;
  }

  // Whether record and object say what the program says.
  void CompareRecord(const Program& program, const Node& node) {
    const StatePtr record = RecordOf(program, node.name);
    if (!node.parent.empty() && record->parent != UrnOf(program, node.parent)) {
      Find("wrong record",
           fmt::format("the parent of '{}' is '{}'", node.name, record->parent.text()));
    }
    if (node.kind != Node::Kind::kCustom) {
      return;
    }
    PropertyMap expected;
    for (const auto& [name, value] : {std::pair("value", node.value),
                                      {"key", node.key},
                                      {"first", node.first},
                                      {"note", node.note}}) {
      if (value != 0) {
        expected[name] = PropertyValue(value);
      }
    }
    for (const auto& [prefix, list] : {std::pair("from_", node.fed_by), {"key_", node.kept_by}}) {
      for (const std::string& name : list) {
        expected[prefix + name] = PropertyValue(RecordOf(program, name)->id);
      }
    }
    PropertyMap stored = record->inputs;
    stored.erase("fresh");
    if (stored.contains("value") && stored["value"].is_secret()) {
      stored["value"] = PropertyValue(stored["value"].as_secret()->Reveal());
    }
    if (node.ignores_value) {
      stored.erase("value");
      expected.erase("value");
    }
    if (stored != expected) {
      Find("wrong record",
           fmt::format("the inputs of '{}' are not those of the program", node.name));
    }
    const auto object = cloud_.objects.find(record->id);
    if (object == cloud_.objects.end() || cloud_.excused_inputs.contains(record->id)) {
      return;
    }
    PropertyMap held = object->second.inputs;
    PropertyMap recorded = record->inputs;
    held.erase("note");
    recorded.erase("note");
    if (held != recorded) {
      Find("wrong object",
           fmt::format("the object of '{}' has other inputs than its record", node.name));
    }
  }

  std::optional<Finding> finding() const { return finding_; }

 private:
  void Find(const char* kind, std::string text) {
    if (!finding_) {
      finding_ = Finding{kind, std::move(text)};
    }
  }

  const Snapshot& state_;
  const Cloud& cloud_;
  std::optional<Finding> finding_;
};

}  // namespace

std::optional<Finding> Compare(const Program& program, const Snapshot& state, const Cloud& cloud) {
  Comparison comparison(state, cloud);
  comparison.Run(program);
  return comparison.finding();
}

}  // namespace davit::fuzz
