#include "cli/terminal.h"

#include <catch2/catch.hpp>

namespace davit {
namespace {

TEST_CASE("[C71] a CI system is known by any of its variables, unless that is turned off") {
  using Variables = std::map<std::string, std::string>;
  CHECK_FALSE(IsCi({}));
  for (const char* name : {"PULUMI_CI_SYSTEM", "APPVEYOR", "CODEBUILD_BUILD_ARN", "bamboo_planKey",
                           "BITBUCKET_COMMIT", "TF_BUILD", "BUILDKITE", "CIRCLECI", "CF_BUILD_URL",
                           "DRONE", "GITHUB_ACTIONS", "GITLAB_CI", "GO_PIPELINE_LABEL", "HUDSON_URL",
                           "JENKINS_URL", "MAGNUM", "SEMAPHORE", "SPACELIFT_MAX_REQUESTS_BURST",
                           "TEAMCITY_VERSION", "TRAVIS"}) {
    INFO(name);
    CHECK(IsCi({{name, "x"}}));
    CHECK_FALSE(IsCi({{name, ""}}));
    CHECK_FALSE(IsCi({{name, "x"}, {"PULUMI_DISABLE_CI_DETECTION", "1"}}));
  }
  CHECK(IsCi({{"CI_NAME", "codeship"}}));
  CHECK_FALSE(IsCi({{"CI_NAME", "other"}}));
  CHECK(IsCi({{"TASK_ID", "1"}, {"RUN_ID", "2"}}));
  CHECK_FALSE(IsCi(Variables{{"TASK_ID", "1"}}));
}

}  // namespace
}  // namespace davit
