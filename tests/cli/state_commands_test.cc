// `davit state ...`, `stack tag`, `stack graph` and what else looks at a state, on resources of the
// test provider.

#include "tests/cli/project.h"

namespace davit {
namespace {

// `a`, `b` below it with a secret, and `c` that depends on `b`.
class DeployedProject : public Project {
 public:
  explicit DeployedProject(const std::string& name)
      : Project(name,
                "plugins:\n  providers:\n    - name: davittest\n      path: " DAVIT_BINARY_DIR
                "/tests/plugins\n"
                "resources:\n"
                "  a: {type: 'davittest:index:Thing', properties: {value: 1}}\n"
                "  b: {type: 'davittest:index:Thing', properties: {value: '${a.value}', note: "
                "{fn::secret: hush}}, options: {parent: '${a}'}}\n"
                "  c: {type: 'davittest:index:Thing', properties: {value: '${b.value}'}}\n"
                "outputs: {o: '${a.value}'}\n") {
    Ok("stack init dev");
    Ok("up --yes --skip-preview --suppress-progress");
  }
};

const std::string kThing = "urn:pulumi:dev::golden::davittest:index:Thing";

std::string Quoted(const std::string& urn) {
  return "'" + urn + "'";
}

TEST_CASE("[C55][C58][S162] state get shows one record, secrets only when asked") {
  const DeployedProject project("state-get");
  const std::string b = kThing + "$davittest:index:Thing::b";
  const Ran shown = project("state get b", "");
  CHECK(shown.status == 0);
  CHECK(Has(shown.out, "Type: davittest:index:Thing\nURN:  " + b + "\nID:   "));
  CHECK(Has(shown.out, "Inputs:\n    note : [secret]\n    value: 1\n\nOutputs:\n"));
  CHECK(Has(project("state get --show-secrets " + Quoted(b)).out, "    note : \"hush\"\n"));
  const std::string json = project("state get --output json " + Quoted(b)).out;
  CHECK(Has(json, "  \"inputs\": {\n    \"note\": \"[secret]\",\n    \"value\": 1\n  },\n"));
  CHECK(Has(json, "  \"type\": \"davittest:index:Thing\",\n  \"urn\": \"" + b + "\"\n}\n"));
  CHECK(Has(project("state get --output json --show-secrets b").out, "\"note\": \"hush\""));
  CHECK(Has(project("state get nosuch").err, "no such resource 'nosuch'"));
  CHECK(project("state get").status == 1);  // C58
  CHECK(Has(project("state get b --output yaml").err, "not a value for --output"));
}

TEST_CASE("[C56][S160] state move, to another stack and its passphrase") {
  const DeployedProject project("state-move");
  REQUIRE(project("stack init other --no-select", "elsewhere").status == 0);
  const std::string words =
      "state move --dest other --yes " + Quoted(kThing + "::a") + " " + Quoted(kThing + "::x");
  CHECK(Has(project(words, "golden").err, "incorrect passphrase"));
  REQUIRE(project("stack rm other --yes").status == 0);
  CHECK(project(words).status == 6);
  project.Ok("stack init other --no-select");
  const Ran moved = project(words);
  INFO(moved.err);
  CHECK(moved.status == 0);
  CHECK(Has(moved.err, "warning: resource '" + kThing + "::x' not found in source stack\n"));
  CHECK(moved.out ==
        "Planning to move the following resources from organization/golden/dev to "
        "organization/golden/other:\n\n  - " +
            kThing + "::a\n  - " + kThing +
            "$davittest:index:Thing::b\n\nThe following resources remaining in "
            "organization/golden/dev have dependencies on resources moved to "
            "organization/golden/other:\n\n  - " +
            kThing + "::c has a dependency on " + kThing + "$davittest:index:Thing::b\n  - " +
            kThing + "::c (value) has a property dependency on " + kThing +
            "$davittest:index:Thing::b\n\nThese dependencies are dropped; pass the values through "
            "outputs and stack references.\n\nSuccessfully moved resources from "
            "organization/golden/dev to organization/golden/other\n");
  CHECK(Has(project("state get b --stack other --show-secrets").out, "\"hush\""));
  CHECK_FALSE(Has(project("stack export --stack other").out, "hush"));
  CHECK(project("state get b").status == 1);
  CHECK(project("state get c").status == 0);
  CHECK(Has(project("state move --dest dev --yes " + Quoted(kThing + "::c")).err,
            "both source and destination"));
  CHECK(Has(project("state move --yes " + Quoted(kThing + "::c")).err, "--source or --dest"));
}

TEST_CASE("[C57][S161] state repair writes only what is sound afterwards") {
  const DeployedProject project("state-repair");
  CHECK(project("state repair --yes").out == "The snapshot is already valid; skipping repair\n");
  std::string state = project("stack export").out;
  const std::string gone = "urn:pulumi:dev::golden::davittest:index:Thing::gone";
  const std::string list = "\"dependencies\": [\n                    \"";
  const std::size_t at = state.rfind(list);
  REQUIRE(at != std::string::npos);
  project.Write("broken.json", state.insert(at + list.size(), gone + "\",\n\""));
  CHECK(project("stack import --file broken.json").status == 1);
  project.Ok("stack import --file broken.json --force");
  CHECK(project("preview").status == 1);
  const Ran repaired = project("state repair --yes");
  CHECK(repaired.out ==
        "The following resources will be modified to remove missing dependencies:\n~ " + kThing +
            "::c\n  - " + gone + " [dependency]\nState repaired successfully\n");
  CHECK(project("preview --expect-no-changes").status == 0);
}

TEST_CASE("[C30][C31][C32][C41][C42][S124] tags, the graph and the document of a stack") {
  const DeployedProject project("stack-details");
  CHECK(project("stack tag ls").out == "NAME  VALUE\n");
  project.Ok("stack tag set owner someone");
  project.Ok("stack tag set team core");
  CHECK(project("stack tag ls").out == "NAME   VALUE\nowner  someone\nteam   core\n");
  CHECK(project("stack tag ls --json").out ==
        "{\n  \"owner\": \"someone\",\n  \"team\": \"core\"\n}\n");
  CHECK(project("stack tag get owner").out == "someone\n");
  CHECK(project("stack tag get nobody").err ==
        "error: stack tag 'nobody' not found for stack 'dev'\n");
  CHECK(Has(project("stack tag get").err, "needs an argument"));
  CHECK(Has(project("stack tag gat owner").err, "did you mean 'davit stack tag get'?"));
  CHECK(Has(project("stack tag").out, "stack tag set"));
  CHECK(Has(project("stack ls --tag owner").out, "dev*"));
  CHECK(Has(project("stack ls --tag owner=someone").out, "dev*"));
  CHECK_FALSE(Has(project("stack ls --tag owner=else").out, "dev*"));
  const std::string json = project("stack --output json", "").out;
  CHECK(Has(json, "  \"tags\": {\n    \"owner\": \"someone\",\n"));
  CHECK(Has(json, "      \"parent\": \"" + kThing + "::a\"\n"));
  CHECK(Has(json, "  \"outputs\": {\n    \"o\": 1\n  }\n}\n"));
  CHECK(Has(json, "  \"secretsProvider\": {\n    \"type\": \"passphrase\",\n"));
  project.Ok("stack tag rm owner");
  project.Ok("stack tag rm owner");
  project.Ok("stack tag rm team");
  CHECK_FALSE(fs::exists(project.Path(".davit/.pulumi/stacks/golden/dev.pulumi-tags")));
  CHECK(project("stack graph out.dot").err == "Wrote stack dependency graph to `out.dot`\n");
  CHECK(Has(project.Read("out.dot"), "[label=\"" + kThing + "::a\"];\n"));
  project.Ok("stack rm --yes --force --remove-backups");
  CHECK_FALSE(fs::exists(project.Path(".davit/.pulumi/stacks/golden/dev.json.bak")));
}

TEST_CASE("[C13] a plan that cannot be written is named, not what stands in for it") {
  const DeployedProject project("plan-path");
  const Ran ran = project("preview --save-plan no/where/plan.json");
  CHECK(ran.status == 1);
  CHECK(Has(ran.err, "could not write '" + project.Path("no/where/plan.json") + "'"));
  CHECK_FALSE(Has(ran.err, ".tmp"));
}

TEST_CASE("[B145][S132] what only looks needs no lock") {
  const DeployedProject project("no-lock");
  const std::string held =
      "flock '" + project.Path(".davit/.pulumi/davit/locks/golden/dev.lock") + "'";
  for (const char* words : {"preview",
                            "stack",
                            "stack ls",
                            "stack output",
                            "stack export",
                            "stack history",
                            "stack tag set a b",
                            "state get b",
                            "refresh --preview-only"}) {
    const Ran ran = project(words, "golden", held);
    INFO(words << ": " << ran.err);
    CHECK(ran.status == 0);
  }
  for (const char* words :
       {"up --yes", "refresh --yes", "state unprotect --all", "state repair", "stack rm --yes"}) {
    const Ran ran = project(words, "golden", held);
    INFO(words);
    CHECK(ran.status == 1);
    CHECK(Has(ran.err, "the stack 'dev' is locked by"));
  }
}

// What davit shows on a terminal of its own, which `script` makes.
std::string OnTerminal(const Project& project,
                       const std::string& words,
                       const std::string& answers) {
  project.Write("answers", answers);
  project.Write("run.sh",
                "cd '" + project.Path("") +
                    "'\nunset PULUMI_BACKEND_URL DAVIT_BACKEND_URL PULUMI_STACK "
                    "PULUMI_CONFIG_PASSPHRASE_FILE\nexport PULUMI_CONFIG_PASSPHRASE=golden "
                    "TERM=xterm PULUMI_DISABLE_CI_DETECTION=1 EDITOR='" +
                    project.Path("editor.sh") + "' PULUMI_HOME='" + project.Path("home") +
                    "'\ntimeout 60 script -qec \"'" DAVIT_BINARY_DIR "/davit' " + words +
                    "\" /dev/null < answers > shown\n");
  REQUIRE(std::system(("bash '" + project.Path("run.sh") + "'").c_str()) != -1);
  return project.Read("shown");
}

TEST_CASE("[C57][S162] state edit stores what an editor leaves, once it is approved") {
  const DeployedProject project("state-edit");
  CHECK(Has(project("state edit").err, "needs a terminal"));
  project.Write(
      "editor.sh",
      "#!/bin/sh\nsed -i 's/\"protect\": true/&/; s/\"value\": 1/\"value\": 7/' \"$1\"\n");
  fs::permissions(project.Path("editor.sh"), fs::perms(0755));
  const std::string declined = OnTerminal(project, "state edit", "no\n");
  CHECK(Has(declined, "+ "));
  CHECK_FALSE(Has(declined, "hush"));
  CHECK(Has(project("state get a").out, "value: 1\n"));
  const std::string stored = OnTerminal(project, "state edit", "yes\n");
  INFO(stored);
  CHECK(Has(stored, "State edited"));
  CHECK(Has(project("state get a").out, "value: 7\n"));
  CHECK(Has(project("state get b --show-secrets").out, "\"hush\""));
}

TEST_CASE("[C57][S119][S152] state upgrade moves stacks under their project") {
  const DeployedProject project("state-upgrade");
  const std::string store = project.Path(".davit/.pulumi/");
  fs::rename(store + "stacks/golden/dev.json", store + "stacks/dev.json");
  fs::rename(store + "history/golden/dev", store + "history/dev");
  fs::remove_all(store + "stacks/golden");
  fs::remove(store + "meta.yaml");
  project.Write(".davit/.pulumi/stacks/empty.json", "{\"version\":3,\"checkpoint\":{}}");
  CHECK(Has(project("stack").err, "`davit state upgrade`"));
  CHECK(project("state upgrade").status == 1);
  const Ran upgraded = project("state upgrade --yes");
  CHECK(upgraded.out == "Upgraded 1 stack(s) to project mode\n");
  CHECK(Has(upgraded.err, "the stack 'empty' is empty"));
  CHECK(project("preview --expect-no-changes").status == 0);
  CHECK(Has(project("stack history").out, "UpdateKind: update"));
  CHECK(project("state upgrade --yes").out == "Upgraded 0 stack(s) to project mode\n");
}

}  // namespace
}  // namespace davit
