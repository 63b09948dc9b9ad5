#include "cli/stack_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/json_writer.h"

namespace davit {

std::string StackGraphText(const Snapshot& snapshot, const StackGraphOptions& options) {
  std::map<Urn, std::size_t> numbers;
  for (const StatePtr& record : snapshot.resources) {
    numbers.emplace(record->urn, numbers.size());
  }
  std::vector<std::string> edges(numbers.size());
  const auto edge = [&](const Urn& from, const Urn& to, const std::string& attributes) {
    if (numbers.contains(from) && numbers.contains(to)) {
      edges[numbers[from]] += fmt::format(
          "    Resource{} -> Resource{} [{}];\n", numbers[from], numbers[to], attributes);
    }
  };
  for (const StatePtr& record : snapshot.resources) {
    if (options.parents) {
      edge(record->urn, record->parent, "color = " + JsonString(options.parent_color));
    }
    std::map<Urn, std::string> labels;
    for (const Urn& urn : record->dependencies) {
      labels[urn];
    }
    for (const auto& [property, urns] : record->property_dependencies) {
      for (const Urn& urn : urns) {
        labels[urn] += (labels[urn].empty() ? "" : ", ") + property;
      }
    }
    for (const auto& [urn, label] : options.dependencies ? labels : std::map<Urn, std::string>()) {
      const std::string named = label.empty() ? "" : ", label = " + JsonString(label);
      edge(urn, record->urn, "color = " + JsonString(options.dependency_color) + named);
    }
  }
  std::string text = "strict digraph {\n";
  text += options.fragment.empty() ? "" : options.fragment + "\n";
  std::size_t next = 0;
  for (const StatePtr& record : snapshot.resources) {
    if (numbers[record->urn] == next) {  // copies that wait for their deletion are one node
      const std::string label =
          options.short_names ? std::string(record->urn.name()) : record->urn.text();
      text += fmt::format("    Resource{} [label={}];\n{}", next, JsonString(label), edges[next]);
      ++next;
    }
  }
  return text + "}\n";
}

}  // namespace davit
