#include "engine/run/migrate_state.h"

#include "engine/model/provider_ref.h"
#include "engine/plan/provider_inputs.h"

namespace davit {
namespace {

StatePtr NewDefaultProvider(RunContext& context, std::string_view package) {
  const RunInfo& info = context.request.info;
  auto state = std::make_shared<ResourceState>();
  state->type = std::string(kProviderTypePrefix) + std::string(package);
  state->urn = Urn::Make(info.stack, info.project, Urn(), state->type, "default");
  state->custom = true;
  state->id = context.request.ids->NewUuid();
  state->inputs = DefaultProviderConfig(package, info.config);
  state->outputs = state->inputs;
  return state;
}

// The reference of the default provider for a package, which is made when the state has none.
std::string DefaultProviderOf(RunContext& context,
                              std::string_view package,
                              std::map<std::string, StatePtr, std::less<>>& made) {
  const RunInfo& info = context.request.info;
  const std::string type = std::string(kProviderTypePrefix) + std::string(package);
  StatePtr provider = context.Old(Urn::Make(info.stack, info.project, Urn(), type, "default"));
  if (!provider) {
    StatePtr& entry = made[std::string(package)];
    if (!entry) {
      entry = NewDefaultProvider(context, package);
    }
    provider = entry;
  }
  return ProviderRef{provider->urn, provider->id}.Text();
}

}  // namespace

Task<Result<void>> MigrateState(RunContext& context) {
  std::map<std::string, StatePtr, std::less<>> made;
  std::map<std::size_t, StatePtr> changed;
  for (std::size_t index = 0; index < context.base.size(); ++index) {
    const ResourceState& state = *context.base[index];
    const bool needs_provider = state.custom && !state.urn.is_provider() && state.provider.empty();
    const bool needs_outputs =
        state.urn.is_provider() && state.outputs.empty() && !WithoutInternal(state.inputs).empty();
    if (!needs_provider && !needs_outputs) {
      continue;
    }
    auto migrated = std::make_shared<ResourceState>(state);
    if (needs_provider) {
      migrated->provider = DefaultProviderOf(context, PackageOf(state.type), made);
    } else {
      migrated->outputs = WithoutInternal(state.inputs);
    }
    changed.emplace(index, std::move(migrated));
  }
  if (changed.empty()) {
    co_return Result<void>();
  }
  std::vector<StatePtr> migrated;
  for (const auto& [package, provider] : made) {
    JournalEntry entry;
    entry.kind = JournalKind::kSuccess;
    entry.operation_id = ++context.last_operation;
    entry.state = provider;
    DAVIT_CO_TRY_VOID(co_await context.Write(std::move(entry)));
    migrated.push_back(provider);
  }
  for (const auto& [index, state] : changed) {
    JournalEntry entry;
    entry.kind = JournalKind::kRefreshSuccess;
    entry.operation_id = ++context.last_operation;
    entry.remove_old = static_cast<std::int64_t>(index);
    entry.state = state;
    DAVIT_CO_TRY_VOID(co_await context.Write(std::move(entry)));
  }
  JournalEntry rebuilt;
  rebuilt.kind = JournalKind::kRebuiltBase;
  rebuilt.operation_id = ++context.last_operation;
  DAVIT_CO_TRY_VOID(co_await context.Write(std::move(rebuilt)));
  for (std::size_t index = 0; index < context.base.size(); ++index) {
    const auto at = changed.find(index);
    migrated.push_back(at == changed.end() ? context.base[index] : at->second);
  }
  CleanReferences(migrated);
  context.SetBase(std::move(migrated));
  co_return Result<void>();
}

}  // namespace davit
