// davit and what is around it: environment, files it is pointed to, streams, other commands.

#include <unistd.h>

#include "tests/cli/project.h"

namespace davit {
namespace {

TEST_CASE("[C5] --config-file stands in for the stack file, to read and to write") {
  const Project project("config-file", "config: {one: {type: string}}\noutputs: {o: \"${one}\"}\n");
  project.Ok("stack init dev");
  project.Ok("config set one from-stack-file");
  project.Ok("config set one elsewhere --config-file other.yaml");
  CHECK(project.Read("other.yaml") == "config:\n  golden:one: elsewhere\n");
  CHECK(project("config get one").out == "from-stack-file\n");
  CHECK(project("config get one --config-file other.yaml").out == "elsewhere\n");
  project.Ok("up --yes --config-file other.yaml");
  CHECK(project("stack output o").out == "elsewhere\n");
  project.Ok("up --yes --config-file other.yaml -c one=given");
  CHECK(project.Read("other.yaml") == "config:\n  golden:one: given\n");
  CHECK(project("config get one").out == "from-stack-file\n");
  CHECK(project("preview", "golden", "PULUMI_OPTION_CONFIG_FILE=other.yaml").status == 0);
}

TEST_CASE("[C25] whoami and about") {
  const Project project("about", "resources: {x: {type: nosuch:index:Thing}}\noutputs: {o: 1}\n");
  const std::string user = project("whoami").out;
  CHECK(user.size() > 1);
  const std::string url = "file://" + project.Path(".davit");
  CHECK(project("whoami -v").out == "User: " + user + "Backend URL: " + url + "\n");
  CHECK(project("whoami --json").out == "{\n  \"user\": \"" + user.substr(0, user.size() - 1) +
                                            "\",\n  \"url\": \"" + url + "\"\n}\n");
  // Nothing of it fails: what cannot be told is in `errors`.
  const Ran none = project("about --json");
  CHECK(none.status == 0);
  CHECK(Has(none.out, "  \"currentStack\": null,\n"));
  CHECK(Has(none.out, "\"the stack is not known: no stack selected"));
  project.Ok("stack init dev");
  const std::string json = project("about --json").out;
  CHECK(Has(json, "\"plugins\": [\n    {\n      \"name\": \"nosuch\",\n      \"version\": null,\n"));
  CHECK(Has(json, "    \"url\": \"" + url + "\",\n"));
  CHECK(Has(json, "    \"name\": \"dev\",\n    \"fullyQualifiedName\": \"organization/golden/dev\",\n"
                  "    \"resources\": [],\n    \"pendingOps\": []\n"));
  CHECK(Has(json, "  \"runtime\": {\n    \"language\": \"yaml\"\n  },\n"));
  CHECK(Has(json, "  \"errors\": []\n"));
  const std::string text = project("about").out;
  CHECK(Has(text, "Current Stack: organization/golden/dev\n"));
  CHECK(Has(text, "resource  nosuch  unknown\n"));
}

TEST_CASE("[C80] variables that davit reads are listed, and do what they say") {
  const Project project("variables", "config: {s: {type: string, secret: true}}\n");
  project.Ok("stack init dev");
  project.Ok("stack init prod --no-select");
  project.Ok("config set --secret s hush");
  project.Write("phrase", "golden\n");
  const auto with = [&](const std::string& words, const std::string& variables) {
    return project(words, "", variables);
  };
  CHECK(with("stack --show-name", "PULUMI_STACK=prod").out == "prod\n");
  CHECK(with("config get s", "").status == 1);
  CHECK(with("config get s", "PULUMI_CONFIG_PASSPHRASE_FILE=phrase").out == "hush\n");
  CHECK(with("stack rm prod", "PULUMI_SKIP_CONFIRMATIONS=true").status == 0);
  const std::string elsewhere = "file://" + project.Path("elsewhere");
  CHECK(Has(with("whoami -v", "PULUMI_BACKEND_URL=" + elsewhere).out, elsewhere));
  CHECK(Has(with("whoami -v", "PULUMI_BACKEND_URL=x DAVIT_BACKEND_URL=" + elsewhere).out, elsewhere));
  const std::string list = with("about env", "PULUMI_STACK=prod PULUMI_CONFIG_PASSPHRASE=canary").out;
  CHECK(Has(list, "PULUMI_HOME "));
  CHECK(Has(list, "the stack to use instead of the selected one"));
  CHECK(Has(list, "prod\n"));
  CHECK_FALSE(Has(list, "canary"));
}

TEST_CASE("[C79] several errors are counted and numbered, on standard error") {
  const Project project("several", "");
  project.Write("Pulumi.yaml", "name: golden\nruntime: yaml\nconfig: {a: {type: x}, b: {type: y}}\n");
  const Ran ran = project("preview");
  CHECK(ran.status == 1);
  CHECK(ran.err.find("error: 2 errors occurred:\n    1) ") == 0);
  CHECK(Has(ran.err, "\n    2) "));
  CHECK_FALSE(Has(ran.out, "occurred"));
}

TEST_CASE("[C107] --show-config shows the configuration, secrets masked") {
  const Project project("show-config");
  project.Ok("stack init dev");
  project.Ok("config set plain here");
  project.Ok("config set --secret s canary");
  const std::string block = "Configuration:\n    golden:plain: here\n    golden:s: [secret]\n";
  for (const char* words : {"preview --show-config", "preview --show-config --diff",
                            "up --yes --skip-preview --show-config",
                            "destroy --yes --skip-preview --show-config"}) {
    const Ran ran = project(words);
    INFO(words << ran.out);
    CHECK(Has(ran.out, block));
    CHECK_FALSE(Has(ran.out, "canary"));
  }
}

TEST_CASE("[C120][C121] --json without --skip-preview prints the digest, then the stream") {
  const Project project("json-both");
  project.Ok("stack init dev");
  const std::string out = project("up --yes --json").out;
  CHECK(out.find("{\n    \"steps\": [\n") == 0);
  const std::size_t stream = out.find("\n}\n{\"sequence\":0,");
  REQUIRE(stream != std::string::npos);
  for (std::size_t at = stream + 3; at < out.size(); at = out.find('\n', at) + 1) {
    CHECK(out.compare(at, 12, "{\"sequence\":") == 0);
  }
  CHECK(Has(out, "\"cancelEvent\":{}}\n"));
}

TEST_CASE("[C3][C150][C151] without a terminal: no questions, no cursor, colours only when asked for") {
  const Project project("ci");
  project.Ok("stack init dev");
  CHECK(project("up").status == 2);
  const Ran plain = project("up --yes --suppress-progress", "golden", "GITHUB_ACTIONS=true");
  CHECK(plain.status == 0);  // changes are no failure
  CHECK_FALSE(Has(plain.out, "\x1b"));
  CHECK(Has(plain.out, "\n +  pulumi:pulumi:Stack golden-dev create \n"));
  CHECK(Has(plain.out, "Resources:\n    + 1 created\n"));
  const std::string coloured = project("up --yes --color always").out;
  CHECK(Has(coloured, "\x1b[38;5;"));
  for (std::size_t at = coloured.find('\x1b'); at != std::string::npos;
       at = coloured.find('\x1b', at + 1)) {
    CHECK(coloured[coloured.find_first_not_of("[0123456789;", at + 1)] == 'm');
  }
  CHECK(project("up --yes --expect-no-changes -c a=b").status == 0);
}

}  // namespace
}  // namespace davit
