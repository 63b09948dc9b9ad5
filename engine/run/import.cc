#include "engine/run/import.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/plan/provider_inputs.h"
#include "engine/run/carry_forward.h"
#include "engine/run/comparison.h"
#include "engine/run/plan_hold.h"
#include "engine/run/step_runner.h"

namespace davit {
namespace {

// Ends the import before anything is read.
void RefuseImport(RunContext& context, Error error, const Urn& urn) {
  if (!error.reported && error.urn.empty()) {
    error.urn = urn.text();
  }
  context.reporter.Report(error);
  context.generator_failed = true;
}

Task<void> RunOneStep(RunContext& context, Step step) {
  Chain chain;
  chain.push_back(std::move(step));
  co_await RunChain(context, chain, WorkerSlot());
}

// Records that wait for their deletion are left as they are.
Task<void> CarryRecords(RunContext& context) {
  const std::vector<StatePtr> records = context.base;
  for (const StatePtr& record : records) {
    if (record->pending_delete) {
      continue;
    }
    if (context.failed() || context.cancelled) {
      co_return;
    }
    if (record->urn.is_root_stack()) {
      context.root_stack = record->urn;
    }
    if (record->urn.is_provider()) {
      const std::string reference = ProviderRef{record->urn, record->id}.Text();
      const Result<InstancePtr> ready = co_await context.EnsureProvider(reference);
      if (!ready) {
        RefuseImport(context, ready.error(), record->urn);
        co_return;
      }
    }
    co_await RunOneStep(context, UntargetedSame(record));
  }
}

Step CreateStep(const Urn& urn, PropertyMap inputs) {
  Step step;
  step.op = StepOp::kCreate;
  step.urn = urn;
  step.new_state = std::make_shared<ResourceState>();
  step.new_state->urn = urn;
  step.new_state->type = std::string(urn.type());
  step.new_state->custom = urn.is_provider();
  step.new_state->inputs = std::move(inputs);
  return step;
}

// E42: the only root stack that the engine makes itself.
Task<void> EnsureStack(RunContext& context) {
  if (!context.root_stack.empty()) {
    co_return;
  }
  const RunInfo& info = context.request.info;
  const std::string name = fmt::format("{}-{}", info.project, info.stack);
  context.root_stack = Urn::Make(info.stack, info.project, Urn(), kRootStackType, name);
  co_await RunOneStep(context, CreateStep(context.root_stack, PropertyMap()));
}

struct WantedProvider {
  Urn urn;
  PropertyMap inputs;  ///< of a new one
};

Result<WantedProvider> ProviderWantedBy(const RunContext& context, const ImportSpec& spec) {
  WantedProvider wanted;
  if (!spec.provider.empty()) {
    wanted.urn = spec.provider;
    const auto own = std::ranges::find(*context.request.imports, spec.provider, &ImportSpec::urn);
    if (own != context.request.imports->end()) {
      wanted.inputs = WithPackage(own->inputs, own->package, {});
    }
    return wanted;
  }
  const RunInfo& info = context.request.info;
  const std::string package(PackageOf(spec.urn.type()));
  DAVIT_TRY(const bool denied, IsDefaultProviderDenied(package, info.config));
  if (denied) {  // E173
    Error error = MakeError(ErrorKind::kRefused,
                            fmt::format("the configuration denies the default provider of package "
                                        "'{}'",
                                        package),
                            "name a provider for the import");
    error.code = 2015;
    return Fail(std::move(error));
  }
  wanted.urn = Urn::Make(info.stack,
                         info.project,
                         Urn(),
                         std::string(kProviderTypePrefix) + package,
                         DefaultProviderName(spec.package));
  wanted.inputs = WithPackage(DefaultProviderConfig(package, info.config), spec.package, {});
  return wanted;
}

// The reference of the provider, which is made if the state has none (E156).
Task<Result<std::string>> ProviderFor(RunContext& context, const ImportSpec& spec) {
  DAVIT_CO_TRY(WantedProvider wanted, ProviderWantedBy(context, spec));
  if (!context.news.contains(wanted.urn)) {
    DAVIT_CO_TRY(PropertyMap inputs,
                 co_await CheckInputsOf(context,
                                        wanted.urn,
                                        nullptr,
                                        std::move(wanted.inputs),
                                        nullptr,
                                        SeedFor(context, wanted.urn)));
    co_await RunOneStep(context, CreateStep(wanted.urn, std::move(inputs)));
  }
  const auto made = context.news.find(wanted.urn);
  if (made == context.news.end()) {  // its step failed and said so
    Error error = MakeError(ErrorKind::kFailed, "the provider could not be made");
    error.reported = true;
    co_return Fail(std::move(error));
  }
  co_return ProviderRef{wanted.urn, made->second->id}.Text();
}

std::string_view ObjectOf(const ResourceState& state) {
  return state.import_id.empty() ? state.id : state.import_id;
}

// E157.
Result<void> AdmitImport(const RunContext& context, const ImportSpec& spec, const Urn& parent) {
  const auto known = context.news.find(spec.urn);
  if (known != context.news.end()) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("'{}' is in the state already, with the id '{}' and not '{}'",
                            spec.urn.text(),
                            ObjectOf(*known->second),
                            spec.id),
                "give the import another name, or `davit state delete` the record first");
  }
  if (!context.news.contains(parent)) {
    return Fail(
        ErrorKind::kInvalid,
        fmt::format("the parent '{}' of '{}' is not in the state", parent.text(), spec.urn.text()),
        "import the parent too, or name one that `davit stack --show-urns` lists");
  }
  return {};
}

Task<void> ImportOne(RunContext& context,
                     const ImportSpec& spec,
                     std::string provider,
                     WorkerSlot slot) {
  const auto known = context.news.find(spec.urn);
  if (known != context.news.end() && ObjectOf(*known->second) == spec.id) {
    context.reporter.Log(
        Severity::kInfo, "is in the state already with this id; nothing to do", spec.urn);
    co_return;  // E157, B052
  }
  Step step;
  step.op = StepOp::kImport;
  step.urn = spec.urn;
  step.import = &spec;
  step.new_state = std::make_shared<ResourceState>();
  ResourceState& state = *step.new_state;
  state.urn = spec.urn;
  state.type = std::string(spec.urn.type());
  state.custom = !spec.is_component;
  state.id = spec.id;
  state.import_id = spec.id;
  state.parent = spec.parent.empty() ? context.root_stack : spec.parent;
  state.protect = spec.protect;
  state.provider = std::move(provider);
  Result<void> admitted = AdmitImport(context, spec, state.parent);
  if (admitted && state.custom) {
    Result<InstancePtr> ready = co_await context.EnsureProvider(state.provider);
    if (ready) {
      step.provider = *std::move(ready);
    } else {
      admitted = Fail(std::move(ready).error());
    }
  }
  if (!admitted) {
    context.reporter.Planned(step);
    context.reporter.Failed(step, admitted.error());
    context.step_failed = true;
    co_return;
  }
  Chain chain;
  chain.push_back(std::move(step));
  co_await RunChain(context, chain, std::move(slot));
}

using ImportList = std::vector<const ImportSpec*>;

// Takes from `left` what has its parent outside of it.
ImportList NextRound(ImportList& left) {
  std::unordered_set<Urn> waiting;
  for (const ImportSpec* spec : left) {
    waiting.insert(spec->urn);
  }
  const auto middle = std::stable_partition(left.begin(), left.end(), [&](const ImportSpec* spec) {
    return !waiting.contains(spec->parent);
  });
  ImportList round(left.begin(), middle);
  left.erase(left.begin(), middle);
  return round;
}

// A round in which something failed is the last (recorded).
Task<void> RunRounds(RunContext& context,
                     std::unordered_map<const ImportSpec*, std::string> references) {
  ImportList left;
  for (const ImportSpec& spec : *context.request.imports) {
    if (!spec.urn.is_provider()) {
      left.push_back(&spec);
    }
  }
  while (!left.empty() && !context.failed() && !context.cancelled) {
    const ImportList round = NextRound(left);
    if (round.empty()) {
      RefuseImport(context,
                   MakeError(ErrorKind::kInvalid,
                             "the resource is among its own ancestors",
                             "correct the parents of the imports"),
                   left.front()->urn);
      co_return;
    }
    Scope scope(context.loop);
    for (const ImportSpec* spec : round) {
      WorkerSlot slot = co_await context.AcquireWorker();
      if (context.cancelled) {
        break;
      }
      scope.Spawn(ImportOne(context, *spec, references[spec], std::move(slot)));
    }
    co_await scope.Join();
  }
}

bool HasDuplicate(RunContext& context) {  // E155
  std::unordered_set<Urn> urns;
  for (const ImportSpec& spec : *context.request.imports) {
    if (!urns.insert(spec.urn).second) {
      RefuseImport(context,
                   MakeError(ErrorKind::kInvalid,
                             fmt::format("two imports have the URN '{}'", spec.urn.text()),
                             "give one of them another name"),
                   spec.urn);
      return true;
    }
  }
  return false;
}

}  // namespace

Task<void> RunImport(RunContext& context) {
  if (HasDuplicate(context)) {
    co_return;
  }
  co_await CarryRecords(context);
  if (context.failed() || context.cancelled || context.request.imports->empty()) {
    co_return;
  }
  co_await EnsureStack(context);
  std::unordered_map<const ImportSpec*, std::string> references;
  for (const ImportSpec& spec : *context.request.imports) {
    if (context.failed() || context.cancelled) {
      co_return;
    }
    if (spec.is_component && !spec.is_remote) {
      continue;
    }
    ImportSpec wanting = spec;
    if (spec.urn.is_provider()) {
      wanting.provider = spec.urn;
    }
    Result<std::string> reference = co_await ProviderFor(context, wanting);
    if (!reference) {
      RefuseImport(context, std::move(reference).error(), spec.urn);
      co_return;
    }
    references[&spec] = *std::move(reference);
  }
  co_await RunRounds(context, std::move(references));
}

std::vector<StatePtr> ImportedRecords(const RunContext& context) {
  std::vector<StatePtr> records;
  for (const ImportSpec& spec : *context.request.imports) {
    const auto at = context.news.find(spec.urn);
    const bool is_there =
        at != context.news.end() && (spec.urn.is_provider() || ObjectOf(*at->second) == spec.id);
    records.push_back(is_there ? at->second : nullptr);
  }
  return records;
}

}  // namespace davit
