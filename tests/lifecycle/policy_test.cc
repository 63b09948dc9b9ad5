// Policy packs in a run (E109, S190).
#include <catch2/catch.hpp>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

using Names = std::vector<std::string>;

class FakePack final : public Analyzer {
 public:
  explicit FakePack(std::string name) {
    pack_.name = std::move(name);
    pack_.version = "1.0.0";
  }
  std::function<Result<Remediations>(const AnalyzedResource&)> remediate;
  std::function<Result<Analysis>(const AnalyzedResource&)> analyze;
  std::function<Result<Analysis>(const std::vector<AnalyzedResource>&)> analyze_stack;
  Names* log = nullptr;             ///< `pack Method name`; null: nobody reads it
  Completion<int>* hold = nullptr;  ///< Analyze waits for it
  int cancelled = 0;

  PolicyPack& described() { return pack_; }
  const PolicyPack& pack() const override { return pack_; }
  Task<Result<Remediations>> Remediate(AnalyzedResource resource, CancelToken) override {
    Note("Remediate", resource);
    co_return remediate ? remediate(resource) : Remediations();
  }
  Task<Result<Analysis>> Analyze(AnalyzedResource resource, CancelToken) override {
    Note("Analyze", resource);
    if (hold != nullptr) {
      co_await hold->Wait();
    }
    co_return analyze ? analyze(resource) : Analysis();
  }
  Task<Result<Analysis>> AnalyzeStack(std::vector<AnalyzedResource> resources,
                                      CancelToken) override {
    co_return analyze_stack ? analyze_stack(resources) : Analysis();
  }
  Task<void> Cancel() override {
    ++cancelled;
    co_return;
  }

 private:
  void Note(const char* method, const AnalyzedResource& resource) {
    if (log != nullptr && resource.state->urn.type() == "test:index:Thing") {
      log->push_back(pack_.name + " " + method + " " + std::string(resource.state->urn.name()));
    }
  }
  PolicyPack pack_;
};

PolicyViolation Violation(const char* policy, EnforcementLevel level) {
  PolicyViolation violation;
  violation.policy = policy;
  violation.pack = "rules";
  violation.level = level;
  violation.message = "must not be";
  return violation;
}

// Violates `policy` for the resource of a name.
std::function<Result<Analysis>(const AnalyzedResource&)> Against(const char* name,
                                                                 EnforcementLevel level) {
  return [name, level](const AnalyzedResource& resource) -> Result<Analysis> {
    Analysis analysis;
    if (resource.state->urn.name() == name) {
      analysis.violations.push_back(Violation("never", level));
    }
    return analysis;
  };
}

// Sets a property of every Thing.
std::function<Result<Remediations>(const AnalyzedResource&)> Setting(const char* key,
                                                                     PropertyValue value) {
  return [key, value](const AnalyzedResource& resource) -> Result<Remediations> {
    Remediations found;
    if (resource.state->urn.type() == "test:index:Thing") {
      PolicyRemediation remediation;
      remediation.policy = "set";
      remediation.properties = resource.properties;
      remediation.properties[key] = value;
      found.remediations.push_back(std::move(remediation));
    }
    return found;
  };
}

template <typename E>
std::vector<E> Events(const FakeStack& stack) {
  std::vector<E> found;
  for (const Event& event : stack.events.events) {
    if (const auto* one = std::get_if<E>(&event)) {
      found.push_back(*one);
    }
  }
  return found;
}

std::shared_ptr<FakePack> AddPack(FakeStack& stack, const char* name) {
  auto pack = std::make_shared<FakePack>(name);
  stack.analyzers.push_back(pack);
  return pack;
}

}  // namespace

TEST_CASE("[E109][S190] an advisory violation is reported and stops nothing") {
  FakeStack stack;
  AddPack(stack, "rules")->analyze = Against("a", EnforcementLevel::kAdvisory);
  CHECK(stack.Up({{.name = "a"}}).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Names{"Create a"});
  const auto violations = Events<PolicyViolationEvent>(stack);
  REQUIRE(violations.size() == 1);
  CHECK(violations[0].urn.name() == "a");
}

TEST_CASE("[E109][E37][S190] a mandatory violation: no create in an update, all of a preview") {
  const EnforcementLevel level =
      GENERATE(EnforcementLevel::kMandatory, EnforcementLevel::kRemediate);
  FakeStack stack;
  const auto pack = AddPack(stack, "rules");
  pack->analyze = [level](const AnalyzedResource&) -> Result<Analysis> {
    Analysis analysis;
    analysis.violations.push_back(Violation("never", level));
    return analysis;
  };
  int stacks = 0;
  pack->analyze_stack = [&](const std::vector<AnalyzedResource>&) -> Result<Analysis> {
    ++stacks;
    return Analysis();
  };
  const std::vector<FakeResource> program = {{.name = "a"}, {.name = "b", .after = {"a"}}};
  CHECK(stack.Preview(program).kind == DeploymentResultKind::kFailed);
  Names named;
  for (const PolicyViolationEvent& event : Events<PolicyViolationEvent>(stack)) {
    CHECK(event.violation.level == EnforcementLevel::kMandatory);
    named.emplace_back(event.urn.name());
  }
  CHECK(std::ranges::count(named, "a") == 1);
  CHECK(std::ranges::count(named, "b") == 1);
  CHECK(stacks == 1);  // what was found so far does not keep the stack from being judged
  CHECK(stack.Up(program).kind == DeploymentResultKind::kFailed);
  CHECK(stack.Changes().empty());
  CHECK(stacks == 1);
}

TEST_CASE("[E109][S190] corrections chain in the order of the packs, before anybody judges") {
  FakeStack stack;
  Names log;
  for (const char* name : {"one", "two"}) {
    AddPack(stack, name)->log = &log;
  }
  auto& one = static_cast<FakePack&>(*stack.analyzers[0]);
  auto& two = static_cast<FakePack&>(*stack.analyzers[1]);
  one.remediate = Setting("color", "blue");
  two.remediate = [](const AnalyzedResource& resource) -> Result<Remediations> {
    const auto at = resource.properties.find("color");
    return at == resource.properties.end() ? Result<Remediations>(Remediations())
                                           : Setting("seen", at->second)(resource);
  };
  CHECK(stack.Up({{.name = "a", .properties = {{"color", "red"}}}}).kind ==
        DeploymentResultKind::kSucceeded);
  CHECK(stack.Record("a")->inputs == PropertyMap{{"color", "blue"}, {"seen", "blue"}});
  CHECK(log == Names{"one Remediate a", "two Remediate a", "one Analyze a", "two Analyze a"});
  const auto remediations = Events<PolicyRemediationEvent>(stack);
  REQUIRE(remediations.size() == 2);
  CHECK(remediations[0].before == PropertyMap{{"color", "red"}});
  CHECK(remediations[1].after == stack.Record("a")->inputs);
}

TEST_CASE("[E109][S190] several packs judge at the same time") {
  FakeStack stack;
  Names log;
  Completion<int> held;
  const auto slow = AddPack(stack, "slow");
  slow->log = &log;
  slow->hold = &held;
  const auto quick = AddPack(stack, "quick");
  quick->log = &log;
  quick->analyze = [&](const AnalyzedResource&) -> Result<Analysis> {
    held.Set(1);  // the slow one can end only because this one runs beside it
    quick->analyze = nullptr;
    return Analysis();
  };
  CHECK(stack.Up({{.name = "a"}}).kind == DeploymentResultKind::kSucceeded);
  CHECK(stack.Changes() == Names{"Create a"});
}

TEST_CASE("[E109] a remediation that only says why is an advisory violation") {
  FakeStack stack;
  AddPack(stack, "rules")->remediate = [](const AnalyzedResource&) -> Result<Remediations> {
    Remediations found;
    PolicyRemediation remediation;
    remediation.policy = "set";
    remediation.properties = {{"color", "blue"}};
    remediation.diagnostic = "cannot tell which color";
    found.remediations.push_back(std::move(remediation));
    return found;
  };
  CHECK(stack.Up({{.name = "a", .properties = {{"color", "red"}}}}).kind ==
        DeploymentResultKind::kSucceeded);
  CHECK(stack.Record("a")->inputs == PropertyMap{{"color", "red"}});
  const auto violations = Events<PolicyViolationEvent>(stack);
  REQUIRE_FALSE(violations.empty());
  CHECK(violations.back().violation.level == EnforcementLevel::kAdvisory);
}

TEST_CASE("[E109] what a policy corrects stays secret, and stays corrected in a replacement") {
  FakeStack stack;
  const auto pack = AddPack(stack, "rules");
  pack->remediate = [](const AnalyzedResource& resource) -> Result<Remediations> {
    PropertyMap bare = resource.properties;
    for (auto& [name, value] : bare) {
      value = value.as_secret() != nullptr ? *value.as_secret() : value;
    }
    AnalyzedResource changed = resource;
    changed.properties = std::move(bare);
    return Setting("color", "blue")(changed);
  };
  const PropertyMap secret = {{"pass", PropertyValue(Secret(PropertyValue("hush")))}};
  stack.Up({{.name = "a", .properties = secret}});
  REQUIRE(stack.Record("a")->inputs.at("pass").as_secret() != nullptr);
  CHECK(stack.Record("a")->inputs.at("color") == PropertyValue("blue"));
  stack.host.behaviour.diff = [](const DiffRequest&) -> Result<DiffResponse> {
    DiffResponse response;
    response.changes = DiffChanges::kSome;
    response.replaces = {"size"};
    return response;
  };
  PropertyMap larger = secret;
  larger["size"] = 2;
  stack.Up({{.name = "a", .properties = larger}});
  CHECK(std::ranges::count(stack.Changes(), "Create a") == 1);
  CHECK(stack.Record("a")->inputs.at("color") == PropertyValue("blue"));
  CHECK(stack.Record("a")->inputs.at("size") == PropertyValue(2));
  CHECK(stack.Record("a")->inputs.at("pass").as_secret() != nullptr);
}

TEST_CASE("[E109][S190] a pack that fails makes the registration fail") {
  FakeStack stack;
  const auto pack = AddPack(stack, "rules");
  const auto fail = [](const auto&) { return Fail(ErrorKind::kFailed, "it broke"); };
  SECTION("while it corrects") {
    pack->remediate = fail;
  }
  SECTION("while it judges") {
    pack->analyze = fail;
  }
  CHECK(stack.Up({{.name = "a"}}).kind == DeploymentResultKind::kFailed);
  CHECK(stack.Changes().empty());
  bool is_told = false;
  for (const DiagnosticEvent& event : Events<DiagnosticEvent>(stack)) {
    is_told = is_told || (event.message.find("policy pack 'rules'") != std::string::npos &&
                          event.message.find("it broke") != std::string::npos);
  }
  CHECK(is_told);
}

TEST_CASE("[E109] a whole stack is judged by its outputs when all has succeeded") {
  FakeStack stack;
  const auto pack = AddPack(stack, "rules");
  std::vector<AnalyzedResource> seen;
  pack->analyze_stack = [&](const std::vector<AnalyzedResource>& resources) -> Result<Analysis> {
    seen = resources;
    Analysis analysis;
    analysis.violations.push_back(Violation("nobody", EnforcementLevel::kAdvisory));
    analysis.violations.push_back(Violation("known", EnforcementLevel::kRemediate));
    analysis.violations[1].urn = "urn:pulumi:dev::proj::test:index:Thing::a";
    return analysis;
  };
  stack.host.behaviour.create = [](const CreateRequest& request) -> Result<CreateResponse> {
    CreateResponse response;
    response.id = "id";
    response.outputs = request.inputs;
    response.outputs["made"] = true;
    return response;
  };
  const DeploymentResult result = stack.Up({{.name = "a"}});
  CHECK(result.kind == DeploymentResultKind::kFailed);  // `remediate` of a stack is mandatory
  CHECK(stack.Changes() == Names{"Create a"});
  const auto a = std::ranges::find_if(
      seen, [](const AnalyzedResource& resource) { return resource.state->urn.name() == "a"; });
  REQUIRE(a != seen.end());
  CHECK(a->properties.at("made") == PropertyValue(true));
  REQUIRE(a->provider);
  CHECK(a->provider->urn.is_provider());
  const auto violations = Events<PolicyViolationEvent>(stack);
  REQUIRE(violations.size() == 2);
  CHECK(violations[0].urn.is_root_stack());
  CHECK(violations[1].urn.name() == "a");
  CHECK(violations[1].violation.level == EnforcementLevel::kMandatory);
  SECTION("not after a failure") {
    seen.clear();
    stack.host.behaviour.create = [](const CreateRequest&) -> Result<CreateResponse> {
      return Fail(ErrorKind::kFailed, "no");
    };
    stack.Up({{.name = "a"}, {.name = "b"}});
    CHECK(seen.empty());
  }
}

TEST_CASE("[E109] which policies have passed") {
  FakeStack stack;
  const auto pack = AddPack(stack, "rules");
  pack->described().policies = {{"never", EnforcementLevel::kAdvisory, PolicyKind::kResource},
                                {"off", EnforcementLevel::kDisabled, PolicyKind::kResource},
                                {"old", EnforcementLevel::kAdvisory, PolicyKind::kUnknown},
                                {"other", EnforcementLevel::kAdvisory, PolicyKind::kResource},
                                {"skipped", EnforcementLevel::kAdvisory, PolicyKind::kResource},
                                {"whole", EnforcementLevel::kAdvisory, PolicyKind::kStack}};
  pack->analyze = [](const AnalyzedResource& resource) {
    Result<Analysis> analysis = Against("a", EnforcementLevel::kAdvisory)(resource);
    analysis->not_applicable = {"skipped"};
    return analysis;
  };
  stack.Up({{.name = "a"}});
  int found = 0;
  for (const PolicySummaryEvent& event : Events<PolicySummaryEvent>(stack)) {
    if (event.of == PolicySummaryEvent::Of::kStack) {
      CHECK(event.passed == Names{"old", "whole"});
      ++found;
    } else if (event.of == PolicySummaryEvent::Of::kAnalysis && event.urn.name() == "a") {
      CHECK(event.passed == Names{"old", "other"});
      CHECK(event.failed == Names{"never"});
      ++found;
    }
  }
  CHECK(found == 2);
}

TEST_CASE("[E35][E109] an interrupt reaches the packs") {
  FakeStack stack;
  const auto pack = AddPack(stack, "rules");
  pack->analyze = [&](const AnalyzedResource&) -> Result<Analysis> {
    stack.cancel.Cancel();
    return Analysis();
  };
  stack.Up({{.name = "a"}});
  CHECK(pack->cancelled == 1);
}

TEST_CASE("[S136][E109] a targeted update judges what is targeted") {
  FakeStack stack;
  const std::vector<FakeResource> program = {{.name = "a"}, {.name = "b"}};
  stack.Up(program);
  Names log;
  const auto pack = AddPack(stack, "rules");
  pack->log = &log;
  std::size_t all = 0;
  pack->analyze_stack = [&](const std::vector<AnalyzedResource>& resources) -> Result<Analysis> {
    all = resources.size();
    return Analysis();
  };
  stack.options.targets = {stack.Record("a")->urn.text()};
  CHECK(stack.Up(program).kind == DeploymentResultKind::kSucceeded);
  CHECK(log == Names{"rules Remediate a", "rules Analyze a"});
  CHECK(all == stack.state.resources.size());
}

}  // namespace davit::testing
