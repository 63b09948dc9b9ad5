// What the flags of the four runs ask the engine for, and which cannot go together.

#include "cli/commands/deploy_flags.h"

#include <catch2/catch.hpp>

namespace davit {
namespace {

using Words = std::vector<std::string>;

Result<DeployFlags> Read(const Words& words, Environment environment = {}) {
  Result<Invocation> parsed = ParseCommandLine(words, environment);
  REQUIRE(parsed);
  const std::string command = parsed->command->name;
  const DeploymentMode mode = command == "destroy"   ? DeploymentMode::kDestroy
                              : command == "refresh" ? DeploymentMode::kRefresh
                                                     : DeploymentMode::kUpdate;
  environment["TERM"] = "dumb";  // nobody can be asked
  Context context(*std::move(parsed), environment, "/", "/");
  return ReadDeployFlags(context, mode, command == "preview");
}

std::string Refusal(const Words& words) {
  const Result<DeployFlags> flags = Read(words);
  REQUIRE_FALSE(flags);
  return flags.error().message;
}

TEST_CASE("[C11][E121] targets and excludes, with dependents, reach the engine") {
  const Result<DeployFlags> targeted =
      Read({"up", "-y", "-t", "a", "--target", "b*", "--target-dependents"});
  REQUIRE(targeted);
  CHECK(targeted->options.targets == Words{"a", "b*"});
  CHECK(targeted->options.target_dependents);
  CHECK(targeted->IsPartial());
  for (const char* command : {"preview", "refresh"}) {
    const Result<DeployFlags> excluding =
        Read({command, "-x", "a", "--exclude=b", "--exclude-dependents", "-C/"},
             {{"PULUMI_SKIP_CONFIRMATIONS", "true"}});
    REQUIRE(excluding);
    CHECK(excluding->options.excludes == Words{"a", "b"});
    CHECK(excluding->options.exclude_dependents);
  }
  CHECK(Read({"destroy", "-y", "-x", "a"})->options.excludes == Words{"a"});
  CHECK_FALSE(Read({"up", "-y"})->IsPartial());
  CHECK_FALSE(ParseCommandLine({"up", "-x", "a"}, {}));
  CHECK_FALSE(ParseCommandLine({"destroy", "--exclude-dependents"}, {}));
}

TEST_CASE("[C11] policy packs, each with its configuration or none with any") {
  const Words two = {"up", "-y", "--policy-pack", "a", "--policy-pack", "b"};
  const Result<DeployFlags> plain = Read(two);
  REQUIRE(plain);
  REQUIRE(plain->policy_packs.size() == 2);
  CHECK(plain->policy_packs[1].path == "b");
  CHECK(plain->policy_packs[1].config_file.empty());
  Words configured = two;
  configured.insert(configured.end(), {"--policy-pack-config", "x", "--policy-pack-config", "y"});
  CHECK(Read(configured)->policy_packs[1].config_file == "y");
  Words uneven = two;
  uneven.insert(uneven.end(), {"--policy-pack-config", "x"});
  CHECK(Refusal(uneven) == "there are 1 --policy-pack-config for 2 --policy-pack");
  CHECK_FALSE(ParseCommandLine({"destroy", "--policy-pack", "a"}, {}));
}

TEST_CASE(
    "[C12][C13] plan files and --strict reach the command; --strict needs a preview of its own") {
  CHECK(Read({"preview", "--save-plan", "p.json"})->save_plan == "p.json");
  CHECK(Read({"up", "-y", "--plan=p.json"})->plan == "p.json");
  CHECK(Read({"up", "-y", "--strict"})->is_strict);
  CHECK(Refusal({"up", "--strict", "--skip-preview"}) ==
        "--strict and --skip-preview cannot be used together");
  CHECK(Refusal({"up", "-y", "--strict", "--plan", "p"}) ==
        "--strict and --plan cannot be used together");
  CHECK_FALSE(ParseCommandLine({"destroy", "--plan", "p"}, {}));
}

TEST_CASE("[C11][E128] --target-replace is --target and --replace") {
  for (const Words& command : {Words{"up", "-y"}, Words{"preview"}}) {
    Words words = command;
    words.insert(words.end(), {"--replace", "a", "--target-replace", "b", "--target", "c"});
    const Result<DeployFlags> flags = Read(words);
    REQUIRE(flags);
    CHECK(flags->options.replaces == Words{"a", "b"});
    CHECK(flags->options.targets == Words{"c", "b"});
  }
  CHECK_FALSE(ParseCommandLine({"destroy", "--replace", "a"}, {}));
}

TEST_CASE("[C11][E147][E153] the program runs in a refresh or destroy when that is asked for") {
  CHECK(Read({"up", "-y"})->NeedsProgram());
  CHECK_FALSE(Read({"refresh", "-y"})->NeedsProgram());
  CHECK(Read({"refresh", "-y", "--run-program"})->NeedsProgram());
  CHECK(Read({"destroy", "-y", "--run-program"})->options.run_program);
  const Environment asks = {{"PULUMI_RUN_PROGRAM", "1"}};
  CHECK(Read({"refresh", "-y"}, asks)->options.run_program);
  CHECK(Read({"up", "-y"}, asks)->options.run_program);
  CHECK_FALSE(Read({"refresh", "-y", "--run-program=false"}, asks)->options.run_program);
  CHECK_FALSE(Read({"destroy", "-y"}, asks)->options.run_program);
}

TEST_CASE("[C11][E30][E154] going on after failures, and protected resources") {
  CHECK(Read({"up", "-y", "--continue-on-error"})->options.continue_on_error);
  const Environment asks = {{"PULUMI_CONTINUE_ON_ERROR", "true"}};
  CHECK(Read({"destroy", "-y"}, asks)->options.continue_on_error);
  CHECK_FALSE(
      Read({"destroy", "-y", "--continue-on-error=false"}, asks)->options.continue_on_error);
  CHECK_FALSE(Read({"refresh", "-y"}, asks)->options.continue_on_error);
  for (const Words& words : {Words{"up", "-y"}, Words{"preview"}, Words{"destroy", "-y"}}) {
    Words with = words;
    with.push_back("--ignore-protect");
    CHECK(Read(with)->options.ignore_protect);
    CHECK_FALSE(Read(words)->options.ignore_protect);
  }
  const Result<DeployFlags> kept = Read({"destroy", "-y", "--exclude-protected"});
  CHECK(kept->options.exclude_protected);
  CHECK(kept->IsPartial());
}

TEST_CASE("[C11] --refresh overrides the project in both directions") {
  CHECK(Read({"up", "-y"})->refresh == std::nullopt);
  for (const Words& words : {Words{"up", "-y"}, Words{"preview"}, Words{"destroy", "-y"}}) {
    Words with = words;
    with.push_back("--refresh");
    CHECK(Read(with)->refresh == true);
    with.back() = "-r=false";
    CHECK(Read(with)->refresh == false);
  }
}

TEST_CASE("[C11][C14][C73][E154] flags that cannot go together") {
  CHECK(Refusal({"up", "-y", "-t", "a", "--exclude", "b"}) ==
        "--target and --exclude cannot be used together");
  CHECK(Refusal({"up", "-y", "--target-replace", "a", "--exclude", "b"}) ==
        "--target-replace and --exclude cannot be used together");
  CHECK(Refusal({"destroy", "-y", "--exclude-protected", "-t", "a"}) ==
        "--exclude-protected and --target cannot be used together");
  CHECK(Refusal({"destroy", "-y", "--exclude-protected", "--ignore-protect"}) ==
        "--exclude-protected and --ignore-protect cannot be used together");
  CHECK(Refusal({"destroy", "-y", "--preview-only"}) ==
        "--yes and --preview-only cannot be used together");
  CHECK(Refusal({"refresh", "-f", "--preview-only"}) ==
        "--skip-preview and --preview-only cannot be used together");
  CHECK(Refusal({"up", "-y", "--json", "--output=json"}) ==
        "--json and --output exclude each other");
  CHECK(Read({"destroy", "-y", "--exclude-protected", "--ignore-protect=false"}));
}

TEST_CASE("[C72] a run that nobody can approve is refused") {
  CHECK(Refusal({"up"}).find("--yes or --skip-preview") == 0);
  CHECK(Read({"preview"}));
  CHECK(Read({"destroy", "--preview-only"}));
  CHECK(Read({"up"}, {{"PULUMI_SKIP_CONFIRMATIONS", "TRUE"}}));
}

}  // namespace
}  // namespace davit
