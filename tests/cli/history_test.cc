// The history of a stack, and commands that copy or re-encrypt configuration.

#include "tests/cli/project.h"

namespace davit {
namespace {

std::size_t FilesIn(const std::string& folder) {
  std::error_code none;
  const fs::directory_iterator items(folder, none);
  return none ? 0 : static_cast<std::size_t>(std::distance(items, fs::directory_iterator()));
}

TEST_CASE("[C36][C40][C54][C65][C69][S145][S146] runs that change a stack are in its history") {
  const Project project("history", "config: {d: {default: x}}\noutputs: {o: \"${d}\"}\n");
  project.Ok("stack init dev");
  CHECK(project("stack history").out == "Stack has never been updated\n");
  CHECK(Has(project("config refresh").err, "no deployment in its history"));
  project.Ok("config set --secret s hush");
  project.Ok("config set --path o.l[0] 1");
  project.Ok("preview");
  CHECK(project("stack history --json").out == "[]\n");
  project.Ok("up --yes --skip-preview -m 'first message'");
  project.Ok("destroy --yes --skip-preview");
  const std::string text = project("stack history").out;
  CHECK(text.find(
            "Version: 0\nUpdateKind: destroy\nStatus: succeeded\nMessage: \n+0-1~0 0 Updated ") ==
        0);
  CHECK(Has(text, "UpdateKind: update\nStatus: succeeded\nMessage: first message\n+1-0~0 0 "));
  CHECK(Has(text, "    pulumi.env.PULUMI_CONFIG_PASSPHRASE: set\n"));
  CHECK(Has(text, "    pulumi.flag.message: set\n    pulumi.flag.skip-preview: true\n"));
  CHECK(Has(text, "    runtime.name: yaml\n"));
  const std::string page = project("stack history --page 2 --page-size 1 --json").out;
  CHECK(Has(page, "\"kind\": \"update\""));
  CHECK_FALSE(Has(page, "\"kind\": \"destroy\""));
  CHECK(Has(page, "    \"config\": {\n      \"golden:d\": {\n        \"value\": \"x\",\n"));
  CHECK(Has(page, "      \"golden:s\": {\n        \"secret\": true\n      }\n"));
  CHECK(Has(page, "    \"resourceChanges\": {\n      \"create\": 1\n    }\n"));
  CHECK(Has(project("stack history --output json --show-secrets").out, "\"value\": \"hush\""));
  CHECK(project("stack history --page 3").out == "No stack updates found on page '3'\n");
  CHECK(project("stack history --page x").status == 1);
  const std::string history = project.Path(".davit/.pulumi/history/golden/dev");
  for (const fs::directory_entry& entry : fs::directory_iterator(history)) {
    CHECK_FALSE(Has(*ReadFileIfThere(entry.path().string()).value(), "hush"));
  }
  CHECK(FilesIn(history) == 2);
  const std::string backups = project.Path(".davit/.pulumi/backups/golden/dev");
  CHECK(FilesIn(backups) == 2);
  REQUIRE(project("up --yes --skip-preview",
                  "golden",
                  "PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS=true")
              .status == 0);
  CHECK(FilesIn(backups) == 2);
  CHECK(FilesIn(history) == 3);
  project.Write(".davit/.pulumi/history/golden/dev/dev-9.history.json", "{");
  const Ran damaged = project("stack history");
  CHECK(damaged.status == 0);
  CHECK(Has(damaged.err, "warning: the history entry '"));

  // The file goes back to what the last run used.
  project.Ok("config set extra 1");
  project.Ok("config rm o");
  const Ran refreshed = project("config refresh");
  CHECK(Has(refreshed.out, "refreshed configuration for stack 'dev'\n"));
  CHECK(Has(project.Read("Pulumi.dev.yaml.bak"), "golden:extra"));
  const std::string file = project.Read("Pulumi.dev.yaml");
  CHECK_FALSE(Has(file, "extra"));
  CHECK(Has(file, "  golden:o:\n    l:\n      - 1\n"));
  CHECK(project("config get s").out == "hush\n");

  project.Ok("stack rename prod");
  CHECK(Has(project("stack history").out, "UpdateKind: destroy"));
  project.Ok("stack rm --yes");
  CHECK(FilesIn(project.Path(".davit/.pulumi/history/golden/prod")) == 0);
}

TEST_CASE("[S145] a run that fails is in the history as such") {
  const Project project(
      "history-failed",
      "plugins:\n  providers:\n    - name: davittest\n      path: " DAVIT_BINARY_DIR
      "/tests/plugins\nresources:\n  x:\n    type: davittest:index:Thing\n"
      "    properties:\n      behave: {fail: {create: no}}\n");
  project.Ok("stack init dev");
  project("up --yes --skip-preview");
  CHECK(Has(project("stack history").out, "UpdateKind: update\nStatus: "));
}

TEST_CASE("[C42][S80][S81] another passphrase for configuration and state") {
  const Project project("change-secrets", "outputs: {hidden: {fn::secret: canary}}\n");
  project.Ok("stack init dev");
  project.Ok("config set --secret token hush");
  project.Ok("config set --secret --path 'deep.list[0]' sunk");
  project.Ok("up --yes --skip-preview");
  project.Write("phrase", "  newphrase \n");
  CHECK(Has(project("stack change-secrets-provider nosuch < phrase").err,
            "unknown secrets provider type 'nosuch'"));
  CHECK(Has(project("stack change-secrets-provider awskms://x < phrase").err,
            "does not support the secrets provider 'awskms://x' yet"));
  CHECK(Has(project("stack change-secrets-provider passphrase < phrase", "wrong").err,
            "incorrect passphrase"));
  CHECK(Has(project("stack change-secrets-provider passphrase").err, "no new passphrase"));
  const Ran changed = project("stack change-secrets-provider passphrase < phrase");
  CHECK(changed.out == "Migrating old configuration and state to new secrets provider\n");
  CHECK(project("config get token").status == 1);
  CHECK(project("config get token", "newphrase").out == "hush\n");
  CHECK(project("config get --path 'deep.list[0]'", "newphrase").out == "sunk\n");
  CHECK(project("stack output hidden --show-secrets", "newphrase").out == "canary\n");
  CHECK(project("preview --expect-no-changes", "newphrase").status == 0);
}

TEST_CASE("[C33][C51][C53] configuration is copied to another stack and its passphrase") {
  const Project project("config-copy");
  project.Ok("stack init dev");
  project.Ok("config set n 42");
  project.Ok("config set --secret --path tree.hidden hush");
  project.Ok("config set --path tree.list[0] 1");
  project.Ok("stack init other --no-select");
  CHECK(project("config cp").status == 1);
  CHECK(project("config cp --dest nosuch").status == 6);
  CHECK(Has(project("config cp nosuch --dest other").err,
            "configuration key 'nosuch' not found for stack 'dev'"));
  project.Ok("config cp n --dest other");
  CHECK(Has(project("config -s other").out, "n    42\n"));
  project.Ok("config cp --path tree.hidden --dest other");
  CHECK(project("config get --path tree.hidden -s other").out == "hush\n");
  CHECK_FALSE(Has(project.Read("Pulumi.other.yaml"), "list"));
  project.Ok("config cp --dest other");
  CHECK(Has(project.Read("Pulumi.other.yaml"), "    list:\n      - 1\n"));
  CHECK(project("stack init third --copy-config-from nosuch").status == 6);
  CHECK_FALSE(Has(project("stack ls").out, "third"));
  project.Ok("stack init third --copy-config-from dev --no-select");
  CHECK(project("config get --path tree.hidden -s third").out == "hush\n");
  CHECK(Has(project.Read("Pulumi.third.yaml"), "config:\n  golden:n: \"42\"\n  golden:tree:\n"));

  project.Ok(
      "config set-all -s third --json '{\"a\": {\"value\": \"x\", \"secret\": true}, "
      "\"b\": {\"value\": \"{\\\"q\\\":[1]}\", \"objectValue\": {\"q\": [1]}}}'");
  CHECK(project("config get a -s third").out == "x\n");
  CHECK(Has(project.Read("Pulumi.third.yaml"), "  golden:b:\n    q:\n      - 1\n"));
  CHECK_FALSE(Has(project.Read("Pulumi.third.yaml"), "golden:a: x"));
  CHECK(Has(project("config set-all --json '{\"a\": {\"secret\": true}}'").err, "has no 'value'"));
  CHECK(Has(project("config set-all --json '{}' --plaintext a=b").err, "--json goes without"));
}

}  // namespace
}  // namespace davit
