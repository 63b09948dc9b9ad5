#include "engine/run/run_context.h"

#include <algorithm>

#include "engine/model/provider_ref.h"

namespace davit {

Error StoppedError() {
  Error error = MakeError(ErrorKind::kUnavailable, "the deployment has stopped");
  error.reported = true;
  return error;
}

void RunContext::SetBase(std::vector<StatePtr> records) {
  base = std::move(records);
  old_by_urn.clear();
  old_providers.clear();
  base_index.clear();
  graph.reset();
  views_of.clear();
  found_views.clear();
  lost_views.clear();
  std::vector<std::size_t> views;
  for (std::size_t index = 0; index < base.size(); ++index) {
    const ResourceState& state = *base[index];
    base_index.emplace(base[index].get(), static_cast<std::int64_t>(index));
    if (!state.pending_delete) {
      old_by_urn.emplace(state.urn, index);
    }
    if (state.urn.is_provider()) {
      old_providers.emplace(ProviderRef{state.urn, state.id}.Text(), index);
    }
    if (!state.view_of.empty()) {
      views.push_back(index);
    }
  }
  FindViews(views);
}

void RunContext::FindViews(const std::vector<std::size_t>& views) {
  std::unordered_map<Urn, std::vector<const ResourceState*>> owners;
  for (const std::size_t index : views) {
    owners[base[index]->view_of];
  }
  for (std::size_t index = 0; !owners.empty() && index < base.size(); ++index) {
    const auto at = owners.find(base[index]->urn);
    if (at != owners.end()) {
      at->second.push_back(base[index].get());
    }
  }
  for (const std::size_t index : views) {
    const std::vector<const ResourceState*>& copies = owners.at(base[index]->view_of);
    const auto alike = std::ranges::find_if(copies, [&](const ResourceState* copy) {
      return copy->pending_delete == base[index]->pending_delete;
    });
    if (copies.empty()) {
      lost_views.insert(base[index].get());
    } else {
      views_of[alike == copies.end() ? copies.front() : *alike].push_back(base[index]);
    }
  }
}

StatePtr RunContext::Old(const Urn& urn) const {
  const auto at = old_by_urn.find(urn);
  return at == old_by_urn.end() ? nullptr : base[at->second];
}

StatePtr RunContext::OldProvider(const std::string& reference) const {
  const auto at = old_providers.find(reference);
  return at == old_providers.end() ? nullptr : base[at->second];
}

const RecordGraph& RunContext::Graph() {
  if (!graph) {
    graph.emplace(base);
  }
  return *graph;
}

const ResourceState* RunContext::BaseOf(const StatePtr& old_state) const {
  const auto at = origin.find(old_state.get());
  return at == origin.end() ? old_state.get() : at->second;
}

std::string RunContext::CurrentProvider(const std::string& reference) const {
  const Result<ProviderRef> parsed = ProviderRef::Parse(reference);
  if (!parsed || aliases.empty()) {
    return reference;
  }
  return ProviderRef{aliases.Current(parsed->urn), parsed->id}.Text();
}

Task<Result<InstancePtr>> RunContext::EnsureProvider(std::string reference) {
  const Result<ProviderRef> parsed = ProviderRef::Parse(reference);
  if (!parsed) {
    Error error = parsed.error();
    error.code = 2006;
    co_return Fail(std::move(error));
  }
  const std::string current = CurrentProvider(reference);
  if (current != reference) {
    const InstancePtr live = providers.Find(current);
    if (live) {
      co_return live;
    }
  }
  co_return co_await providers.Ensure(reference, OldProvider(reference));
}

Task<WorkerSlot> RunContext::AcquireWorker() {
  co_await workers.Acquire();
  co_return WorkerSlot(workers);
}

Task<Result<void>> RunContext::Write(JournalEntry entry) {
  for (Error& error : guard.Apply(entry)) {
    if (!preview) {
      co_return Fail(std::move(error).WithContext(
          "the state would become invalid, so the step is not recorded as done"));
    }
    reporter.Report(error);
    recorded_error = true;
  }
  if (preview) {
    co_return Result<void>();
  }
  co_return co_await request.journal->Append(std::move(entry));
}

}  // namespace davit
