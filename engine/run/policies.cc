#include "engine/run/policies.h"

#include <algorithm>
#include <set>

#include "engine/model/provider_ref.h"

namespace davit {
namespace {

using PolicyNames = std::set<std::string>;

StatePtr ProviderOf(RunContext& context, const std::string& reference) {
  if (reference.empty()) {
    return nullptr;
  }
  const Result<ProviderRef> parsed = ProviderRef::Parse(reference);
  const auto at = parsed ? context.news.find(parsed->urn) : context.news.end();
  return at != context.news.end() ? at->second : context.OldProvider(reference);
}

// What has judged and found nothing, and what did find something.
PolicySummaryEvent SummaryOf(const PolicyPack& pack,
                             PolicySummaryEvent::Of of,
                             const Urn& urn,
                             const PolicyNames& failed,
                             const std::vector<std::string>& not_applicable) {
  PolicySummaryEvent event;
  event.of = of;
  event.urn = urn;
  event.pack = pack.name;
  event.pack_version = pack.version;
  event.failed.assign(failed.begin(), failed.end());
  const PolicyKind kind =
      of == PolicySummaryEvent::Of::kStack ? PolicyKind::kStack : PolicyKind::kResource;
  PolicyNames passed;
  for (const Policy& policy : pack.policies) {
    const bool judged = (policy.kind == kind || policy.kind == PolicyKind::kUnknown) &&
                        policy.level != EnforcementLevel::kDisabled &&
                        std::ranges::find(not_applicable, policy.name) == not_applicable.end();
    if (judged && !failed.contains(policy.name)) {
      passed.insert(policy.name);
    }
  }
  event.passed.assign(passed.begin(), passed.end());
  return event;
}

Error PolicyError(const PolicyPack& pack, const Urn& urn, Error error) {
  error.urn = urn.text();
  return std::move(error).WithContext("the policy pack '" + pack.name + "'");
}

// Reports what a pack has found; whether any of it is mandatory.
bool ReportAnalysis(RunContext& context,
                    const PolicyPack& pack,
                    PolicySummaryEvent::Of of,
                    const Urn& subject,
                    Analysis analysis) {
  bool is_mandatory = false;
  PolicyNames failed;
  for (PolicyViolation& violation : analysis.violations) {
    // Nothing is left that could correct it.
    if (violation.level == EnforcementLevel::kRemediate) {
      violation.level = EnforcementLevel::kMandatory;
    }
    is_mandatory = is_mandatory || violation.level == EnforcementLevel::kMandatory;
    failed.insert(violation.policy);
    Urn urn = subject;
    if (of == PolicySummaryEvent::Of::kStack) {
      const Urn named = Urn::Trusted(violation.urn);
      urn = context.news.contains(named) ? named : context.root_stack;
    }
    context.reporter.Emit(PolicyViolationEvent{urn, std::move(violation)});
  }
  context.reporter.Emit(SummaryOf(pack, of, subject, failed, analysis.not_applicable));
  return is_mandatory;
}

AnalyzedResource ToAnalyze(RunContext& context, const StatePtr& state, const Goal& goal) {
  AnalyzedResource resource;
  resource.state = state;
  resource.delete_before_replace = goal.delete_before_replace;
  resource.provider = ProviderOf(context, state->provider);
  return resource;
}

Task<Result<Remediations>> AskToRemediate(RunContext& context,
                                          Analyzer& analyzer,
                                          AnalyzedResource resource) {
  resource.properties = resource.state->inputs;
  Result<Remediations> found = co_await analyzer.Remediate(resource, context.request.cancel);
  if (!found) {
    co_return Fail(PolicyError(analyzer.pack(), resource.state->urn, std::move(found).error()));
  }
  co_return found;
}

// Takes over what a pack corrects, and tells of it.
void TakeRemediations(RunContext& context,
                      const PolicyPack& pack,
                      Remediations found,
                      ResourceState& state) {
  const Urn& urn = state.urn;
  PolicyNames failed;
  for (PolicyRemediation& remediation : found.remediations) {
    failed.insert(remediation.policy);
    if (!remediation.diagnostic.empty()) {
      PolicyViolation violation;
      violation.policy = remediation.policy;
      violation.pack = remediation.pack;
      violation.pack_version = remediation.pack_version;
      violation.message = std::move(remediation.diagnostic);
      violation.urn = urn.text();
      context.reporter.Emit(PolicyViolationEvent{urn, std::move(violation)});
      continue;
    }
    remediation.properties = AnnotateSecrets(std::move(remediation.properties), state.inputs);
    context.reporter.Emit(PolicyRemediationEvent{urn,
                                                 remediation.policy,
                                                 remediation.pack,
                                                 remediation.pack_version,
                                                 state.inputs,
                                                 remediation.properties});
    state.inputs = std::move(remediation.properties);
  }
  context.reporter.Emit(
      SummaryOf(pack, PolicySummaryEvent::Of::kRemediation, urn, failed, found.not_applicable));
}

using Judgements = std::vector<std::optional<Result<Analysis>>>;

Task<void> JudgeResource(RunContext& context,
                         Analyzer& analyzer,
                         const AnalyzedResource& resource,
                         std::optional<Result<Analysis>>& result) {
  result = co_await analyzer.Analyze(resource, context.request.cancel);
}

Task<void> JudgeStack(RunContext& context,
                      Analyzer& analyzer,
                      const std::vector<AnalyzedResource>& resources,
                      std::optional<Result<Analysis>>& result) {
  result = co_await analyzer.AnalyzeStack(resources, context.request.cancel);
}

// Reports what all packs have found, in their order; whether any of it is mandatory.
Result<bool> ReportAll(RunContext& context,
                       PolicySummaryEvent::Of of,
                       const Urn& subject,
                       Judgements judgements) {
  bool is_mandatory = false;
  for (std::size_t i = 0; i < judgements.size(); ++i) {
    const PolicyPack& pack = context.request.analyzers[i]->pack();
    if (!*judgements[i]) {
      return Fail(PolicyError(pack, subject, std::move(*judgements[i]).error()));
    }
    is_mandatory =
        ReportAnalysis(context, pack, of, subject, **std::move(judgements[i])) || is_mandatory;
  }
  return is_mandatory;
}

}  // namespace

Task<Result<void>> ApplyPolicies(RunContext& context,
                                 std::shared_ptr<ResourceState> state,
                                 const Goal& goal) {
  const std::vector<std::shared_ptr<Analyzer>>& analyzers = context.request.analyzers;
  if (analyzers.empty()) {
    co_return Result<void>();
  }
  const Urn urn = state->urn;
  if (goal.delete_before_replace) {
    context.delete_before_replace[urn] = *goal.delete_before_replace;
  }
  AnalyzedResource resource = ToAnalyze(context, state, goal);
  for (const std::shared_ptr<Analyzer>& analyzer : analyzers) {
    DAVIT_CO_TRY(Remediations found, co_await AskToRemediate(context, *analyzer, resource));
    TakeRemediations(context, analyzer->pack(), std::move(found), *state);
  }
  resource.properties = state->inputs;
  Judgements judgements(analyzers.size());
  {
    Scope judging(context.loop);
    for (std::size_t i = 0; i < analyzers.size(); ++i) {
      judging.Spawn(JudgeResource(context, *analyzers[i], resource, judgements[i]));
    }
    co_await judging.Join();
  }
  const Result<bool> is_mandatory =
      ReportAll(context, PolicySummaryEvent::Of::kAnalysis, urn, std::move(judgements));
  if (!is_mandatory) {
    co_return Fail(is_mandatory.error());
  }
  if (!*is_mandatory) {
    co_return Result<void>();
  }
  if (context.preview) {
    context.recorded_error = true;
    co_return Result<void>();
  }
  Error error = MakeError(ErrorKind::kRefused, "a mandatory policy is violated");
  error.urn = urn.text();
  error.reported = true;
  co_return Fail(std::move(error));
}

Task<Result<void>> CorrectAgain(RunContext& context,
                                std::shared_ptr<ResourceState> state,
                                const Goal& goal) {
  const AnalyzedResource resource = ToAnalyze(context, state, goal);
  for (const std::shared_ptr<Analyzer>& analyzer : context.request.analyzers) {
    DAVIT_CO_TRY(Remediations found, co_await AskToRemediate(context, *analyzer, resource));
    for (PolicyRemediation& remediation : found.remediations) {
      if (remediation.diagnostic.empty()) {
        state->inputs = AnnotateSecrets(std::move(remediation.properties), state->inputs);
      }
    }
  }
  co_return Result<void>();
}

Task<void> AnalyzeStack(RunContext& context) {
  const std::vector<std::shared_ptr<Analyzer>>& analyzers = context.request.analyzers;
  if (analyzers.empty()) {
    co_return;
  }
  std::vector<AnalyzedResource> resources;
  for (const Urn& urn : context.news_order) {
    const auto at = context.news.find(urn);
    if (at == context.news.end()) {
      continue;
    }
    AnalyzedResource& resource = resources.emplace_back();
    resource.state = at->second;
    resource.properties = at->second->outputs;
    const auto option = context.delete_before_replace.find(urn);
    if (option != context.delete_before_replace.end()) {
      resource.delete_before_replace = option->second;
    }
    resource.provider = ProviderOf(context, at->second->provider);
  }
  Judgements judgements(analyzers.size());
  {
    Scope judging(context.loop);
    for (std::size_t i = 0; i < analyzers.size(); ++i) {
      judging.Spawn(JudgeStack(context, *analyzers[i], resources, judgements[i]));
    }
    co_await judging.Join();
  }
  const Result<bool> is_mandatory =
      ReportAll(context, PolicySummaryEvent::Of::kStack, Urn(), std::move(judgements));
  if (!is_mandatory) {
    context.reporter.Report(is_mandatory.error());
    context.generator_failed = true;
  } else if (*is_mandatory) {
    context.recorded_error = true;
  }
}

}  // namespace davit
