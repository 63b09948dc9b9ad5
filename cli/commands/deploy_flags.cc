#include "cli/commands/deploy_flags.h"

#include <fmt/format.h>
#include <sched.h>

#include <limits>
#include <thread>
#include <utility>
#include <vector>

namespace davit {
namespace {

// E16: below 1 means as many as there are.
Result<long> ParallelOf(const Context& context) {
  std::optional<long> wanted = context.invocation().Number("parallel");
  const std::string from_environment = context.Variable("PULUMI_PARALLEL");
  if (!wanted && !from_environment.empty()) {
    char* end = nullptr;
    wanted = std::strtol(from_environment.c_str(), &end, 10);
    if (*end != '\0') {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("'{}' is not a value for PULUMI_PARALLEL", from_environment),
                  "use a whole number");
    }
  }
  if (!wanted) {
    cpu_set_t usable;
    const bool is_known = sched_getaffinity(0, sizeof usable, &usable) == 0;
    return 4L *
           (is_known ? CPU_COUNT(&usable) : static_cast<int>(std::thread::hardware_concurrency()));
  }
  return *wanted < 1 ? static_cast<long>(std::numeric_limits<int>::max()) : *wanted;
}

// A flag that a variable of its own stands in for.
bool IsAsked(const Context& context, const char* flag, const char* variable) {
  return context.invocation().IsSet(flag) ? context.invocation().Bool(flag)
                                          : context.IsTruthy(variable);
}

struct Asked {
  const char* flag;
  bool is_asked;
};

Result<void> CheckCombinations(const Invocation& words) {
  const auto is_on = [&](const char* flag) { return Asked{flag, words.Bool(flag)}; };
  const auto names = [&](const char* flag) { return Asked{flag, !words.List(flag).empty()}; };
  const std::vector<std::pair<Asked, Asked>> exclusive = {
      {is_on("yes"), is_on("preview-only")},
      {is_on("skip-preview"), is_on("preview-only")},
      {is_on("strict"), is_on("skip-preview")},
      {is_on("strict"), Asked{"plan", !words.Text("plan").empty()}},
      {names("target"), names("exclude")},
      {names("target-replace"), names("exclude")},
      {is_on("exclude-protected"), names("target")},
      {is_on("exclude-protected"), is_on("ignore-protect")}};
  for (const auto& [first, second] : exclusive) {
    if (first.is_asked && second.is_asked) {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("--{} and --{} cannot be used together", first.flag, second.flag));
    }
  }
  const std::string output = words.Text("output");
  if (!output.empty() && output != "json" && output != "default") {
    return Fail(ErrorKind::kInvalid,
                fmt::format("'{}' is not a value for --output", output),
                "use default or json");
  }
  if (output == "json" && words.Bool("json")) {
    return Fail(ErrorKind::kInvalid, "--json and --output exclude each other");
  }
  return {};
}

Result<std::vector<PolicyPackSpec>> PolicyPacksOf(const Invocation& words) {
  const std::vector<std::string>& paths = words.List("policy-pack");
  const std::vector<std::string>& files = words.List("policy-pack-config");
  if (!files.empty() && files.size() != paths.size()) {
    return Fail(
        ErrorKind::kInvalid,
        fmt::format(
            "there are {} --policy-pack-config for {} --policy-pack", files.size(), paths.size()),
        "give one of them for each, in the same order");
  }
  std::vector<PolicyPackSpec> packs;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    PolicyPackSpec pack;
    pack.path = paths[i];
    pack.config_file = files.empty() ? std::string() : files[i];
    packs.push_back(std::move(pack));
  }
  return packs;
}

Result<DeploymentOptions> OptionsOf(const Context& context, DeploymentMode mode) {
  const Invocation& words = context.invocation();
  DeploymentOptions options;
  options.mode = mode;
  DAVIT_TRY(options.parallel, ParallelOf(context));
  options.targets = words.List("target");
  options.target_dependents = words.Bool("target-dependents");
  options.excludes = words.List("exclude");
  options.exclude_dependents = words.Bool("exclude-dependents");
  options.replaces = words.List("replace");
  for (const std::string& urn : words.List("target-replace")) {  // E128
    options.targets.push_back(urn);
    options.replaces.push_back(urn);
  }
  // C11: the variable does not count for `destroy`, nor for `import` (E14).
  options.run_program = mode == DeploymentMode::kDestroy || mode == DeploymentMode::kImport
                            ? words.Bool("run-program")
                            : IsAsked(context, "run-program", "PULUMI_RUN_PROGRAM");
  options.continue_on_error = mode != DeploymentMode::kRefresh &&
                              IsAsked(context, "continue-on-error", "PULUMI_CONTINUE_ON_ERROR");
  options.ignore_protect = words.Bool("ignore-protect");
  options.exclude_protected = words.Bool("exclude-protected");
  return options;
}

}  // namespace

Result<DeployFlags> ReadDeployFlags(Context& context, DeploymentMode mode, bool preview_only) {
  const Invocation& words = context.invocation();
  DAVIT_TRY_VOID(CheckCombinations(words));
  DeployFlags flags;
  DAVIT_TRY(flags.options, OptionsOf(context, mode));
  if (words.IsSet("refresh")) {
    flags.refresh = words.Bool("refresh");
  }
  flags.preview_only = preview_only || words.Bool("preview-only");
  flags.skip_preview = words.Bool("skip-preview");
  flags.save_plan = words.Text("save-plan");
  flags.plan = words.Text("plan");
  DAVIT_TRY(flags.policy_packs, PolicyPacksOf(words));
  flags.is_strict = words.Bool("strict");
  flags.expect_no_changes = words.Bool("expect-no-changes");
  const bool says_yes = words.Bool("yes") || context.IsTruthy("PULUMI_SKIP_CONFIRMATIONS");
  flags.is_approved = says_yes || flags.skip_preview;
  const bool can_ask =
      context.is_interactive() && !words.Bool("json") && words.Text("output") != "json";
  if (!flags.preview_only && !flags.is_approved && !can_ask) {  // C72
    const ExitCode code = mode == DeploymentMode::kRefresh ? kExitFailed : kExitNeedsApproval;
    return context.Failure(
        code,
        MakeError(ErrorKind::kRefused,
                  "--yes or --skip-preview or --preview-only must be passed in to proceed when "
                  "running in non-interactive mode"));
  }
  return flags;
}

}  // namespace davit
