#include "engine/run/carry_forward.h"

#include <fmt/format.h>

#include "engine/model/provider_ref.h"

namespace davit {
namespace {

std::vector<Urn> NeedsOf(const ResourceState& state) {
  std::vector<Urn> urns = DependenciesOf(state);
  const Result<ProviderRef> provider = ProviderRef::Parse(state.provider);
  if (provider) {
    urns.push_back(provider->urn);
  }
  return urns;
}

bool IsStepped(const RunContext& context, const Urn& urn) {
  if (context.seen.contains(urn) || !context.aliases.NewOf(urn).empty()) {
    return true;
  }
  const StatePtr old_state = context.Old(urn);
  return old_state && context.claimed.contains(old_state.get());
}

}  // namespace

ChainGates::ChainGates(RunContext& context, const Chain& chain) : context_(context) {
  if (!context.selection.is_constrained()) {
    return;  // elsewhere the program's own order is enough
  }
  for (const Step& step : chain) {
    if (context_.chains.emplace(step.urn, gate_).second) {
      urns_.push_back(step.urn);
    }
  }
}

ChainGates::~ChainGates() {
  for (const Urn& urn : urns_) {
    context_.chains.erase(urn);
  }
  gate_->Open();
}

Task<void> ChainGates::WaitForOthers(const Chain& chain) {
  for (const Step& step : chain) {
    if (!step.is_untargeted) {
      continue;
    }
    for (const Urn& urn : NeedsOf(*step.old_state)) {
      const Urn renamed = context_.aliases.NewOf(urn);
      const auto at = context_.chains.find(renamed.empty() ? urn : renamed);
      if (at != context_.chains.end() && at->second != gate_) {
        const std::shared_ptr<Gate> gate = at->second;
        co_await gate->Wait();
      }
    }
  }
}

Step UntargetedSame(const StatePtr& old_state) {
  Step step;
  step.op = StepOp::kSame;
  step.is_untargeted = true;
  step.urn = old_state->urn;
  step.old_state = old_state;
  step.new_state = std::make_shared<ResourceState>(*old_state);
  return step;
}

Result<void> CarryForward(RunContext& context, const StatePtr& old_state, Chain& chain) {
  struct Open {
    StatePtr state;
    std::vector<Urn> needs;
    std::size_t next = 0;
  };
  std::vector<Open> open;  // depth first, without recursion: chains of records can be long
  const auto enter = [&](const StatePtr& state) {
    context.claimed.insert(state.get());
    open.push_back({state, NeedsOf(*state)});
  };
  enter(old_state);
  while (!open.empty()) {
    Open& top = open.back();
    if (top.next == top.needs.size()) {
      context.seen.insert(top.state->urn);
      context.carried_forward.insert(top.state->urn);
      chain.push_back(UntargetedSame(top.state));
      open.pop_back();
      continue;
    }
    const Urn& urn = top.needs[top.next++];
    if (IsStepped(context, urn)) {
      continue;
    }
    const StatePtr needed = context.Old(urn);
    if (!needed) {
      Error error = MakeError(
          ErrorKind::kInvalid,
          fmt::format("'{}' is not targeted and depends on '{}', which the state does not have",
                      top.state->urn.text(),
                      urn.text()),
          "run `davit up` without targets once");
      error.urn = old_state->urn.text();
      return Fail(std::move(error));
    }
    enter(needed);
  }
  return {};
}

Result<void> CarryDependencies(RunContext& context, const ResourceState& state, Chain& chain) {
  for (const Urn& urn : NeedsOf(state)) {
    if (IsStepped(context, urn)) {
      continue;
    }
    const StatePtr needed = context.Old(urn);
    if (needed) {
      DAVIT_TRY_VOID(CarryForward(context, needed, chain));
    }
  }
  return {};
}

bool IsAlwaysIncluded(const RunContext& context, const Urn& urn, const Goal& goal) {
  return urn.is_provider() || urn.is_root_stack() ||
         (context.request.options.mode == DeploymentMode::kDestroy && goal.custom &&
          !context.carried_forward.contains(urn));
}

}  // namespace davit
