// What displays say about policy packs (C98, C115, C130).
#include "cli/display/policy_view.h"

#include <catch2/catch.hpp>

#include "cli/display/event_json.h"

namespace davit::testing {
namespace {

PolicyViolationEvent Violation(const char* name, EnforcementLevel level, const char* severity) {
  PolicyViolationEvent event;
  event.urn = Urn::Trusted("urn:pulumi:dev::proj::aws:s3/bucket:Bucket::" + std::string(name));
  event.violation.policy = "no-public";
  event.violation.pack = "rules";
  event.violation.pack_version = "1.2.3";
  event.violation.level = level;
  event.violation.severity = severity;
  event.violation.message = "is public\nand must not be\n";
  return event;
}

PolicyRemediationEvent Remediation() {
  PolicyRemediationEvent event;
  event.urn = Urn::Trusted("urn:pulumi:dev::proj::aws:s3/bucket:Bucket::logs");
  event.policy = "tag";
  event.pack = "rules";
  event.pack_version = "1.2.3";
  event.before = {{"acl", "public"}, {"pass", PropertyValue(Secret(PropertyValue("hush")))}};
  event.after = {
      {"acl", "private"}, {"tags", "x"}, {"pass", PropertyValue(Secret(PropertyValue("hush")))}};
  return event;
}

std::vector<PolicyPack> Packs() {
  return {{"rules", "1.2.3", "/packs/rules", {}}, {"quiet", "0.1.0", "/packs/quiet", {}}};
}

}  // namespace

TEST_CASE("[C98] packs, what they corrected and what violates them") {
  PolicyFindings findings;
  DisplayOptions options;
  CHECK(findings.Section({}, options).empty());
  for (const Event& event : std::vector<Event>{Violation("b", EnforcementLevel::kAdvisory, ""),
                                               Violation("a", EnforcementLevel::kAdvisory, "high"),
                                               Violation("c", EnforcementLevel::kMandatory, "low"),
                                               Remediation()}) {
    CHECK(findings.Take(event));
  }
  CHECK_FALSE(findings.Take(StdoutEvent{"x"}));
  CHECK(findings.has_mandatory());
  const std::string head =
      "Policies:\n    ✅ quiet@v0.1.0 (local: /packs/quiet)\n"
      "    ❌ rules@v1.2.3 (local: /packs/rules)\n";
  const std::string tail =
      "        - [mandatory] [severity: low]  no-public  (aws:s3/bucket:Bucket: c)\n"
      "          is public\n          and must not be\n"
      "        - [advisory] [severity: high]  no-public  (aws:s3/bucket:Bucket: a)\n"
      "          is public\n          and must not be\n"
      "        - [advisory]  no-public  (aws:s3/bucket:Bucket: b)\n"
      "          is public\n          and must not be\n\n";
  CHECK(findings.Section(Packs(), options) ==
        head + "        - [remediate]  tag  (1 resource)\n" + tail);
  options.show_policy_remediations = true;
  CHECK(findings.Section(Packs(), options) ==
        head + "        - [remediate]  tag  (aws:s3/bucket:Bucket: logs) [diff: +tags~acl]\n" +
            tail);
}

TEST_CASE("[C115] the diff view tells of policies where they spoke, and of the packs at its end") {
  const DisplayOptions options;
  CHECK(ViolationText(Violation("a", EnforcementLevel::kMandatory, ""), options) ==
        "    rules@v1.2.3 [mandatory]  no-public  (aws:s3/bucket:Bucket: a)\n"
        "    is public\n    and must not be\n");
  const std::string text = RemediationText(Remediation(), options);
  CHECK(text.find("rules@v1.2.3 [remediate]  tag  (aws:s3/bucket:Bucket: logs)\n") !=
        std::string::npos);
  CHECK(text.find("public") != std::string::npos);
  CHECK(text.find("hush") == std::string::npos);
  CHECK(PolicyPackTable(Packs(), options) ==
        "\nPolicy Packs run:\n    Name   Version\n    rules  1.2.3\n    quiet  0.1.0\n");
  CHECK(PolicyPackTable({}, options).empty());
}

TEST_CASE("[C130] policies in the event log") {
  std::vector<std::string> lines;
  SummaryEvent summary;
  summary.policy_packs = Packs();
  PolicySummaryEvent passed;
  passed.of = PolicySummaryEvent::Of::kStack;
  passed.pack = "rules";
  passed.passed = {"whole"};
  for (const Event& event : std::vector<Event>{PolicyLoadEvent(),
                                               Violation("a", EnforcementLevel::kMandatory, "low"),
                                               Remediation(),
                                               passed,
                                               summary}) {
    lines.push_back(EventLine(event, 1, {}));
  }
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].find(R"("policyLoadEvent":{})") != std::string::npos);
  CHECK(lines[1].find(R"("policyName":"no-public","policyPackName":"rules")") != std::string::npos);
  CHECK(lines[1].find(R"("enforcementLevel":"mandatory","severity":"low")") != std::string::npos);
  CHECK(lines[2].find(R"("before":{"acl":"public")") != std::string::npos);
  CHECK(lines[2].find("hush") == std::string::npos);
  CHECK(lines[3].find(R"("policyAnalyzeStackSummaryEvent")") != std::string::npos);
  CHECK(lines[3].find(R"("passed":["whole"])") != std::string::npos);
  CHECK(lines[4].find(R"("PolicyPacks":{"rules|local|/packs/rules":"1.2.3")") != std::string::npos);
}

}  // namespace davit::testing
