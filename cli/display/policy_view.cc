#include "cli/display/policy_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "cli/display/masking.h"
#include "cli/display/rows.h"
#include "cli/display/value_print.h"

namespace davit {
namespace {

constexpr const char* kItem = "        - ";
constexpr const char* kItemText = "          ";

std::string PackKey(const std::string& name, const std::string& version) {
  return fmt::format("{}@v{}", name, version);
}

// `  (aws:s3/bucket: logs)`
std::string ResourceClause(const Urn& urn, const DisplayOptions& options) {
  if (urn.empty()) {
    return {};
  }
  return fmt::format(
      "  ({}: {})", urn.type(), options.show_urns ? urn.text() : std::string(urn.name()));
}

int LevelRank(EnforcementLevel level) {
  switch (level) {
    case EnforcementLevel::kRemediate:
      return 0;
    case EnforcementLevel::kMandatory:
      return 1;
    case EnforcementLevel::kAdvisory:
      return 2;
    case EnforcementLevel::kDisabled:
      return 3;
  }
  return 3;
}

std::ptrdiff_t SeverityRank(const std::string& severity) {
  static const std::vector<std::string> kOrder = {"critical", "high", "medium", "low", ""};
  return std::ranges::find(kOrder, severity) - kOrder.begin();
}

bool ComesBefore(const PolicyViolationEvent& a, const PolicyViolationEvent& b) {
  const auto key = [](const PolicyViolationEvent& event) {
    const PolicyViolation& violation = event.violation;
    return std::tuple(LevelRank(violation.level),
                      SeverityRank(violation.severity),
                      violation.policy,
                      event.urn.text());
  };
  return key(a) < key(b);
}

std::string ViolationHead(const PolicyViolationEvent& event, const DisplayOptions& options) {
  const PolicyViolation& violation = event.violation;
  const std::string severity =
      violation.severity.empty() ? "" : fmt::format(" [severity: {}]", violation.severity);
  const int color = violation.level == EnforcementLevel::kMandatory ? kErrorColor : kWarningColor;
  return options.style.Fg(
             color,
             fmt::format(
                 "[{}]{}  {}", EnforcementLevelName(violation.level), severity, violation.policy)) +
         ResourceClause(event.urn, options);
}

// The message with every line after the first moved to the right.
std::string Message(std::string text, const std::string& blanks) {
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  std::string out = blanks;
  for (const char c : text) {
    out += c;
    out += c == '\n' ? blanks : std::string();
  }
  return out + "\n";
}

std::string RemediationHead(const PolicyRemediationEvent& event, const DisplayOptions& options) {
  return options.style.Fg(kHeadlineColor, fmt::format("[remediate]  {}", event.policy)) +
         ResourceClause(event.urn, options);
}

NameChanges ChangesOf(const PolicyRemediationEvent& event) {
  return CompareNames(Masked(event.before), Masked(event.after));
}

}  // namespace

bool PolicyFindings::Take(const Event& event) {
  if (const auto* violation = std::get_if<PolicyViolationEvent>(&event)) {
    violations_.push_back(*violation);
    has_mandatory_ = has_mandatory_ || violation->violation.level == EnforcementLevel::kMandatory;
    return true;
  }
  if (const auto* remediation = std::get_if<PolicyRemediationEvent>(&event)) {
    remediations_.push_back(*remediation);
    return true;
  }
  return std::holds_alternative<PolicyLoadEvent>(event) ||
         std::holds_alternative<PolicySummaryEvent>(event);
}

std::string PolicyFindings::Section(const std::vector<PolicyPack>& packs,
                                    const DisplayOptions& options) const {
  if (packs.empty()) {
    return {};
  }
  struct Found {
    std::vector<std::string> paths;
    std::vector<PolicyViolationEvent> violations;
    std::vector<PolicyRemediationEvent> remediations;
  };
  std::map<std::string, Found> by_pack;
  for (const PolicyPack& pack : packs) {
    by_pack[PackKey(pack.name, pack.version)].paths.push_back(pack.path);
  }
  for (const PolicyViolationEvent& event : violations_) {
    by_pack[PackKey(event.violation.pack, event.violation.pack_version)].violations.push_back(
        event);
  }
  for (const PolicyRemediationEvent& event : remediations_) {
    by_pack[PackKey(event.pack, event.pack_version)].remediations.push_back(event);
  }
  std::string out = options.style.BoldFg(kHeadlineColor, "Policies:") + "\n";
  for (auto& [key, found] : by_pack) {
    std::ranges::stable_sort(found.violations, ComesBefore);
    const bool is_violated = std::ranges::any_of(found.violations, [](const auto& event) {
      return event.violation.level == EnforcementLevel::kMandatory;
    });
    const char* mark = is_violated ? "❌" : found.violations.empty() ? "✅" : "⚠️";
    std::ranges::sort(found.paths);
    out += fmt::format("    {} {}{}\n",
                       mark,
                       options.style.Fg(kHeadlineColor, key),
                       found.paths.empty()
                           ? std::string()
                           : fmt::format(" (local: {})", fmt::join(found.paths, "; ")));
    std::map<std::string, int> corrected;
    for (const PolicyRemediationEvent& event : found.remediations) {
      ++corrected[event.policy];
      const NameChanges changes = ChangesOf(event);
      if (options.show_policy_remediations && !changes.empty()) {
        out += kItem + RemediationHead(event, options) + " " + ChangesText(changes, options.style) +
               "\n";
      }
    }
    for (const auto& [policy, count] : corrected) {
      if (!options.show_policy_remediations) {
        out += kItem + options.style.Fg(kHeadlineColor, "[remediate]  " + policy) +
               fmt::format("  ({} resource{})\n", count, count == 1 ? "" : "s");
      }
    }
    for (const PolicyViolationEvent& event : found.violations) {
      out += kItem + ViolationHead(event, options) + "\n" +
             Message(event.violation.message, kItemText);
    }
  }
  return out + "\n";
}

std::string ViolationText(const PolicyViolationEvent& event, const DisplayOptions& options) {
  return "    " +
         options.style.Fg(kHeadlineColor,
                          PackKey(event.violation.pack, event.violation.pack_version)) +
         " " + ViolationHead(event, options) + "\n" + Message(event.violation.message, "    ");
}

std::string RemediationText(const PolicyRemediationEvent& event, const DisplayOptions& options) {
  if (ChangesOf(event).empty()) {
    return {};
  }
  PrintOptions print;
  print.style = options.style;
  print.show_secrets = options.show_secrets;
  print.show_full_output = options.show_full_output;
  return "    " + options.style.Fg(kHeadlineColor, PackKey(event.pack, event.pack_version)) + " " +
         RemediationHead(event, options) + "\n" + PrintMapDiff(event.before, event.after, 2, print);
}

std::string PolicyPackTable(const std::vector<PolicyPack>& packs, const DisplayOptions& options) {
  if (packs.empty()) {
    return {};
  }
  std::size_t width = 4;
  for (const PolicyPack& pack : packs) {
    width = std::max(width, pack.name.size());
  }
  std::string out = "\n" + options.style.BoldFg(kHeadlineColor, "Policy Packs run:") + "\n";
  out += fmt::format("    {:{}}  Version\n", "Name", width);
  for (const PolicyPack& pack : packs) {
    out += fmt::format("    {:{}}  {}\n", pack.name, width, pack.version);
  }
  return out;
}

}  // namespace davit
