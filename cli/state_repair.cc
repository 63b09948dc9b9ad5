#include "cli/state_repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "engine/model/provider_ref.h"
#include "engine/model/references.h"

namespace davit {
namespace {

// Depth first, with a stack of its own: chains of parents may be long.
class Sorter {
 public:
  explicit Sorter(const std::vector<StatePtr>& records) : records_(records) {
    for (std::size_t i = 0; i < records.size(); ++i) {
      by_urn_[records[i]->urn].push_back(i);
    }
  }

  Result<std::vector<std::size_t>> Run() {
    marks_.assign(records_.size(), Mark::kNew);
    for (std::size_t i = 0; i < records_.size(); ++i) {
      DAVIT_TRY_VOID(Place(i));
    }
    return std::move(order_);
  }

 private:
  enum class Mark { kNew, kOpen, kPlaced };
  struct Visit {
    std::size_t record;
    std::vector<std::size_t> needed;
    std::size_t next = 0;
  };

  Result<void> Place(std::size_t first) {
    std::vector<Visit> stack;
    const auto enter = [&](std::size_t record) {
      marks_[record] = Mark::kOpen;
      stack.push_back(Visit{record, Needed(*records_[record])});
    };
    if (marks_[first] == Mark::kNew) {
      enter(first);
    }
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next == top.needed.size()) {
        marks_[top.record] = Mark::kPlaced;
        order_.push_back(top.record);
        stack.pop_back();
        continue;
      }
      const std::size_t needed = top.needed[top.next++];
      if (marks_[needed] == Mark::kOpen) {
        return Fail(ErrorKind::kRefused,
                    fmt::format("'{}' needs itself, through '{}'",
                                records_[needed]->urn.text(),
                                records_[top.record]->urn.text()),
                    "break the circle by hand with `davit state edit`");
      }
      if (marks_[needed] == Mark::kNew) {
        enter(needed);
      }
    }
    return {};
  }

  std::vector<std::size_t> Needed(const ResourceState& record) const {
    std::vector<std::size_t> needed;
    if (const Result<ProviderRef> provider = ProviderRef::Parse(record.provider)) {
      Add(record, provider->urn, provider->id, &needed);
    }
    VisitDependencies(record,
                      [&](ReferenceKind, const Urn& urn) { Add(record, urn, "", &needed); });
    return needed;
  }

  // Of several copies an old one is for old ones.
  void Add(const ResourceState& record,
           const Urn& urn,
           const std::string& id,
           std::vector<std::size_t>* needed) const {
    const auto found = by_urn_.find(urn);
    if (found == by_urn_.end()) {
      return;
    }
    const auto fits = [&](std::size_t at) {
      return id.empty() ? records_[at]->pending_delete == record.pending_delete
                        : records_[at]->id == id;
    };
    const auto best = std::ranges::find_if(found->second, fits);
    needed->push_back(best == found->second.end() ? found->second.front() : *best);
  }

  const std::vector<StatePtr>& records_;
  std::map<Urn, std::vector<std::size_t>> by_urn_;
  std::vector<Mark> marks_;
  std::vector<std::size_t> order_;
};

class Pruner {
 public:
  explicit Pruner(std::vector<std::string>* changes) : changes_(*changes) {}

  StatePtr Pruned(const ResourceState& record) {
    auto pruned = std::make_shared<ResourceState>(record);
    std::vector<std::string> lines;
    const auto drop = [&](const Urn& urn, const std::string& what) {
      lines.push_back(fmt::format("  - {} [{}]", urn.text(), what));
      return Urn();
    };
    for (const auto& [property, urns] : record.property_dependencies) {
      for (const Urn& urn : urns) {
        if (IsGone(urn)) {
          drop(urn, "property dependency: " + property);
        }
      }
    }
    RewriteReferences(*pruned, [&](ReferenceKind kind, const Urn& urn) {
      if (!IsDependency(kind) || !IsGone(urn)) {
        return Renamed(urn);
      }
      return kind == ReferenceKind::kPropertyDependency
                 ? Urn()
                 : drop(urn, std::string(ReferenceKindName(kind)));
    });
    if (pruned->parent != record.parent) {
      pruned->urn = Urn::Make(record.urn.stack(),
                              record.urn.project(),
                              pruned->parent,
                              record.urn.type(),
                              record.urn.name());
      names_[record.urn] = pruned->urn;
      lines.insert(lines.begin(), fmt::format("  ~ {} [urn]", pruned->urn.text()));
    }
    if (!lines.empty()) {
      changes_.push_back("~ " + record.urn.text());
      changes_.insert(changes_.end(), lines.begin(), lines.end());
    }
    seen_.insert(record.urn);
    return pruned;
  }

 private:
  bool IsGone(const Urn& urn) const { return !seen_.contains(urn); }
  Urn Renamed(const Urn& urn) const {
    const auto found = names_.find(urn);
    return found == names_.end() ? urn : found->second;
  }

  std::vector<std::string>& changes_;
  std::set<Urn> seen_;  ///< by their old names
  std::map<Urn, Urn> names_;
};

}  // namespace

Result<StateRepairReport> RepairSnapshot(Snapshot* snapshot) {
  DAVIT_TRY(const std::vector<std::size_t> order, Sorter(snapshot->resources).Run());
  StateRepairReport report;
  std::vector<StatePtr> sorted;
  for (std::size_t at = 0; at < order.size(); ++at) {
    const StatePtr& record = snapshot->resources[order[at]];
    if (order[at] != at) {
      report.moved.push_back(record->urn);
    }
    sorted.push_back(record);
  }
  Pruner pruner(&report.changes);
  for (StatePtr& record : sorted) {
    record = pruner.Pruned(*record);
  }
  snapshot->resources = std::move(sorted);
  return report;
}

}  // namespace davit
