#include "cli/state_move.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "cli/urn_rewrite.h"
#include "engine/model/provider_ref.h"
#include "engine/model/references.h"

namespace davit {
namespace {

class Mover {
 public:
  Mover(const StateMoveRequest& request, Snapshot* source, Snapshot* target)
      : request_(request), source_(*source), target_(*target) {}

  Result<StateMoveReport> Run() {
    DAVIT_TRY_VOID(Choose());
    DAVIT_TRY_VOID(CheckWhatStays());
    NameAnew();
    DAVIT_TRY_VOID(AddToTarget());
    TakeFromSource();
    return std::move(report_);
  }

 private:
  // What is asked for, then all that is below it; parents stand before their children.
  Result<void> Choose() {
    std::set<Urn> asked(request_.urns.begin(), request_.urns.end());
    std::set<Urn> known;
    for (const StatePtr& record : source_.resources) {
      known.insert(record->urn);
    }
    for (const Urn& urn : request_.urns) {
      if (!known.contains(urn)) {
        report_.missing.push_back(urn);
      } else if (urn.is_provider()) {
        return Fail(ErrorKind::kInvalid,
                    fmt::format("'{}' is a provider, which cannot be moved", urn.text()),
                    "move the resources; their providers come along by themselves");
      }
    }
    for (auto at = source_.resources.rbegin();
         request_.include_parents && at != source_.resources.rend();
         ++at) {
      if (asked.contains((*at)->urn) && !(*at)->parent.is_root_stack()) {
        asked.insert((*at)->parent);
      }
    }
    for (const StatePtr& record : source_.resources) {
      const bool is_below = moved_.contains(record->parent) ||
                            (record->parent.is_root_stack() && asked.contains(record->parent) &&
                             !record->urn.is_provider());
      if (is_below || (asked.contains(record->urn) && !record->urn.is_root_stack())) {
        moved_.insert(record->urn);
        if (report_.moved.empty() || report_.moved.back() != record->urn) {
          report_.moved.push_back(record->urn);
        }
      }
    }
    if (moved_.empty()) {
      return Fail(ErrorKind::kInvalid,
                  "no resources found to move",
                  "`davit stack --show-urns` lists the URNs of a stack");
    }
    return {};
  }

  Result<void> CheckWhatStays() {
    for (const PendingOperation& operation : source_.pending_operations) {
      if (moved_.contains(operation.resource->urn)) {
        return Fail(
            ErrorKind::kRefused,
            fmt::format("an operation on '{}' was interrupted, and it is not known how it ended",
                        operation.resource->urn.text()),
            "settle it with `davit refresh` first");
      }
    }
    for (const StatePtr& record : source_.resources) {
      const Result<ProviderRef> provider = ProviderRef::Parse(record->provider);
      if (!provider) {
        continue;
      }
      if (moved_.contains(record->urn)) {
        providers_.insert(provider->urn);
      } else if (moved_.contains(provider->urn)) {
        return Fail(ErrorKind::kRefused,
                    fmt::format("'{}' would move with its parent, but '{}' uses it and stays",
                                provider->urn.text(),
                                record->urn.text()),
                    "move that one too");
      }
    }
    return {};
  }

  bool Goes(const Urn& urn) const { return moved_.contains(urn) || providers_.contains(urn); }

  void NameAnew() {
    for (const StatePtr& record : source_.resources) {
      if (record->urn.is_root_stack()) {
        names_[record->urn] = Root();
      } else if (Goes(record->urn)) {
        const auto parent = names_.find(record->parent);
        names_[record->urn] = Urn::Make(request_.stack,
                                        request_.project,
                                        parent == names_.end() ? Root() : parent->second,
                                        record->urn.type(),
                                        record->urn.name());
      }
    }
  }

  Urn Root() const {
    return Urn::Make(request_.stack,
                     request_.project,
                     Urn(),
                     kRootStackType,
                     fmt::format("{}-{}", request_.project, request_.stack));
  }

  // Empty when it does not go along.
  Urn Renamed(const Urn& urn) const {
    const auto found = names_.find(urn);
    return found == names_.end() ? Urn() : found->second;
  }

  StatePtr ForTarget(const ResourceState& record) {
    Report(
        record, [this](const Urn& urn) { return !names_.contains(urn); }, &report_.moving);
    auto moved = std::make_shared<ResourceState>(record);
    moved->urn = Renamed(record.urn);
    moved->aliases.clear();
    RewriteReferences(*moved, [this](ReferenceKind, const Urn& urn) { return Renamed(urn); });
    if (moved->parent.empty()) {
      moved->parent = Root();
    }
    const auto same = same_ids_.find(record.provider);
    if (same != same_ids_.end()) {
      moved->provider = same->second;
    }
    const UrnRenaming rename = [this](const Urn& urn) {
      const Urn renamed = Renamed(urn);
      return renamed.empty() ? urn : renamed;
    };
    moved->inputs = WithRenamedUrns(record.inputs, rename);
    moved->outputs = WithRenamedUrns(record.outputs, rename);
    moved->replacement_trigger = WithRenamedUrns(record.replacement_trigger, rename);
    return moved;
  }

  Result<void> AddToTarget() {
    std::map<Urn, StatePtr> there;
    for (const StatePtr& record : target_.resources) {
      if (!record->pending_delete) {
        there[record->urn] = record;
      }
    }
    if (!there.contains(Root())) {
      auto root = std::make_shared<ResourceState>();
      root->urn = Root();
      root->type = kRootStackType;
      target_.resources.insert(target_.resources.begin(), root);
    }
    for (const StatePtr& record : source_.resources) {
      if (record->urn.is_root_stack() || !Goes(record->urn)) {
        continue;
      }
      const auto existing = there.find(Renamed(record->urn));
      if (existing == there.end()) {
        target_.resources.push_back(ForTarget(*record));
        CopyExtension(*record);
      } else if (!record->urn.is_provider()) {
        return Fail(ErrorKind::kRefused,
                    fmt::format("resource '{}' already exists in destination stack",
                                existing->first.text()));
      } else if (existing->second->id == record->id || existing->second->inputs == record->inputs) {
        same_ids_[ProviderRef{record->urn, record->id}.Text()] =
            ProviderRef{existing->first, existing->second->id}.Text();
      } else {
        return Fail(
            ErrorKind::kRefused,
            fmt::format("the destination stack has a provider '{}' with another configuration",
                        existing->first.text()),
            "give one of them another name with `davit state rename`");
      }
    }
    return {};
  }

  void CopyExtension(const ResourceState& record) {
    const auto extension = source_.extensions.find(record.extension_ref);
    if (extension != source_.extensions.end()) {
      target_.extensions.insert(*extension);
    }
  }

  void TakeFromSource() {
    std::erase_if(source_.resources,
                  [this](const StatePtr& record) { return moved_.contains(record->urn); });
    const auto has_gone = [this](const Urn& urn) { return moved_.contains(urn); };
    const auto cut = [&](const StatePtr& record) {
      auto kept = std::make_shared<ResourceState>(*record);
      RewriteReferences(*kept,
                        [&](ReferenceKind, const Urn& urn) { return has_gone(urn) ? Urn() : urn; });
      return *kept == *record ? record : StatePtr(kept);
    };
    for (StatePtr& record : source_.resources) {
      Report(*record, has_gone, &report_.staying);
      record = cut(record);
    }
    for (PendingOperation& operation : source_.pending_operations) {
      operation.resource = cut(operation.resource);
    }
  }

  template <typename IsCut>
  static void Report(const ResourceState& record, IsCut is_cut, std::vector<std::string>* lines) {
    const auto line = [&](const std::string& what, const Urn& urn) {
      if (!urn.empty() && is_cut(urn)) {
        lines->push_back(fmt::format("{} {} {}", record.urn.text(), what, urn.text()));
      }
    };
    for (const Urn& urn : record.dependencies) {
      line("has a dependency on", urn);
    }
    for (const auto& [property, urns] : record.property_dependencies) {
      for (const Urn& urn : urns) {
        line(fmt::format("({}) has a property dependency on", property), urn);
      }
    }
    line("is marked as deleted with", record.deleted_with);
    for (const Urn& urn : record.replace_with) {
      line("is marked to be replaced with", urn);
    }
    line("is a view of", record.view_of);
  }

  const StateMoveRequest& request_;
  Snapshot& source_;
  Snapshot& target_;
  StateMoveReport report_;
  std::set<Urn> moved_;
  std::set<Urn> providers_;   ///< of what moves; they stay where they are, too
  std::map<Urn, Urn> names_;  ///< of all that goes, and of the root stack, in the target
  std::map<std::string, std::string> same_ids_;  ///< references to providers that are there already
};

}  // namespace

Result<StateMoveReport> MoveRecords(const StateMoveRequest& request,
                                    Snapshot* source,
                                    Snapshot* target) {
  return Mover(request, source, target).Run();
}

}  // namespace davit
