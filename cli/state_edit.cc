#include "cli/state_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "cli/options.h"
#include "engine/model/provider_ref.h"
#include "engine/model/references.h"

namespace davit {
namespace {

using Records = std::vector<StatePtr>;

// The one record of a URN.
Result<StatePtr> OnlyRecord(const Urn& urn, const Snapshot& snapshot) {
  Records found;
  std::ranges::copy_if(snapshot.resources, std::back_inserter(found), [&](const StatePtr& record) {
    return record->urn == urn;
  });
  if (found.empty()) {
    return NoSuchResource(urn, snapshot);
  }
  if (found.size() > 1) {
    return Fail(ErrorKind::kRefused,
                fmt::format("'{}' names {} records of the state", urn.text(), found.size()),
                "copies that wait for their deletion go with the next `davit up`; or correct the "
                "state with `davit stack export` and `davit stack import`");
  }
  return found.front();
}

bool DependsOn(const ResourceState& record, const ResourceState& other) {
  const std::vector<Urn> dependencies = DependenciesOf(record);
  return std::ranges::find(dependencies, other.urn) != dependencies.end() ||
         record.view_of == other.urn ||
         (!other.id.empty() && record.provider == ProviderRef{other.urn, other.id}.Text());
}

Records DependentsOf(const ResourceState& record, const Snapshot& snapshot) {
  Records dependents;
  std::ranges::copy_if(
      snapshot.resources, std::back_inserter(dependents), [&](const StatePtr& other) {
        return other.get() != &record && DependsOn(*other, record);
      });
  return dependents;
}

Result<std::set<StatePtr>> RecordsToDelete(const StateDeleteRequest& request, const Snapshot& snapshot) {
  if (request.all) {
    return std::set<StatePtr>(snapshot.resources.begin(), snapshot.resources.end());
  }
  Records queue;
  for (const Urn& urn : request.urns) {
    DAVIT_TRY(StatePtr record, OnlyRecord(urn, snapshot));
    queue.push_back(std::move(record));
  }
  std::set<StatePtr> chosen(queue.begin(), queue.end());
  while (request.dependents && !queue.empty()) {
    const StatePtr record = queue.back();
    queue.pop_back();
    for (const StatePtr& dependent : DependentsOf(*record, snapshot)) {
      if (chosen.insert(dependent).second) {
        queue.push_back(dependent);
      }
    }
  }
  return chosen;
}

// The record with every mention of `from` replaced; null when there is none.
StatePtr Renamed(const ResourceState& record, const Urn& from, const Urn& to) {
  auto changed = std::make_shared<ResourceState>(record);
  const auto renamed = [&](const Urn& urn) { return urn == from ? to : urn; };
  changed->urn = renamed(record.urn);
  RewriteReferences(*changed, [&](ReferenceKind, const Urn& urn) { return renamed(urn); });
  return *changed == record ? nullptr : changed;
}

// Recorded (c-state-rename): what is below the renamed resource loses the property dependencies
// that are empty.
StatePtr WithoutEmptyDependencies(const ResourceState& record) {
  auto changed = std::make_shared<ResourceState>(record);
  std::erase_if(changed->property_dependencies,
                [](const auto& entry) { return entry.second.empty(); });
  changed->null_property_dependencies.clear();
  return changed;
}

}  // namespace

Unexpected NoSuchResource(const Urn& urn, const Snapshot& snapshot) {
  std::vector<std::string> known;
  for (const StatePtr& record : snapshot.resources) {
    known.push_back(record->urn.text());
  }
  const std::optional<std::string> near = NearestName(urn.text(), known);
  return Fail(ErrorKind::kInvalid,
              fmt::format("no such resource '{}' exists in the current state", urn.text()),
              fmt::format("{}`davit stack --show-urns` lists the URNs of the stack",
                          near ? fmt::format("did you mean '{}'? ", *near) : ""));
}

Result<void> DeleteRecords(const StateDeleteRequest& request, Snapshot* snapshot) {
  DAVIT_TRY(const std::set<StatePtr> chosen, RecordsToDelete(request, *snapshot));
  for (const StatePtr& record :
       snapshot->resources) {  // not over the set: its order is of addresses
    if (!chosen.contains(record)) {
      continue;
    }
    if (record->protect && !request.force) {
      return Fail(
          ErrorKind::kRefused,
          fmt::format("'{}' cannot be deleted safely because it is protected", record->urn.text()),
          "run the command again with --force to delete it all the same");
    }
    std::string others;
    for (const StatePtr& dependent : DependentsOf(*record, *snapshot)) {
      if (!chosen.contains(dependent)) {
        others += fmt::format("\n  * '{}'", dependent->urn.text());
      }
    }
    if (!others.empty()) {
      return Fail(ErrorKind::kRefused,
                  fmt::format("'{}' cannot be deleted safely because these depend on it:{}\n",
                              record->urn.text(),
                              others),
                  "delete them first, or use --target-dependents");
    }
  }
  std::erase_if(snapshot->resources,
                [&](const StatePtr& record) { return chosen.contains(record); });
  return {};
}

Result<void> RenameRecord(const Urn& urn, const std::string& name, Snapshot* snapshot) {
  DAVIT_TRY(const StatePtr record, OnlyRecord(urn, *snapshot));
  if (name.empty()) {
    return Fail(ErrorKind::kInvalid, "the new name is empty");
  }
  if (const Result<Urn> whole = Urn::Parse(name)) {  // B027
    return Fail(ErrorKind::kInvalid,
                fmt::format("the new name '{}' is a whole URN", name),
                fmt::format("give only its last part, for example '{}'", whole->name()));
  }
  const Urn renamed = Urn::Trusted(fmt::format(
      "urn:pulumi:{}::{}::{}::{}", urn.stack(), urn.project(), urn.qualified_type(), name));
  const auto is_there = [&](const StatePtr& other) { return other->urn == renamed; };
  if (std::ranges::any_of(snapshot->resources, is_there)) {
    return Fail(ErrorKind::kRefused,
                fmt::format("there is a resource '{}' already", renamed.text()),
                "choose another name");
  }
  std::set<Urn> below = {urn};
  for (StatePtr& other : snapshot->resources) {  // parents come before their children
    const bool is_below = !other->parent.empty() && below.contains(other->parent);
    if (is_below) {
      below.insert(other->urn);
    }
    if (StatePtr changed = Renamed(*other, urn, renamed)) {
      other = std::move(changed);
    }
    if (is_below) {
      other = WithoutEmptyDependencies(*other);
    }
  }
  for (PendingOperation& operation : snapshot->pending_operations) {
    if (StatePtr changed = Renamed(*operation.resource, urn, renamed)) {
      operation.resource = std::move(changed);
    }
  }
  return {};
}

Result<int> SetFlag(const std::vector<Urn>& urns,
                    bool all,
                    bool ResourceState::*flag,
                    bool value,
                    Snapshot* snapshot) {
  const auto is_current = [](const StatePtr& record) { return !record->pending_delete; };
  for (const Urn& urn : urns) {
    if (std::ranges::none_of(snapshot->resources, [&](const StatePtr& record) {
          return is_current(record) && record->urn == urn;
        })) {
      return NoSuchResource(urn, *snapshot);
    }
  }
  int count = 0;
  for (StatePtr& record : snapshot->resources) {
    if (is_current(record) && (all || std::ranges::find(urns, record->urn) != urns.end())) {
      auto changed = std::make_shared<ResourceState>(*record);
      (*changed).*flag = value;
      record = std::move(changed);
      ++count;
    }
  }
  return count;
}

}  // namespace davit
