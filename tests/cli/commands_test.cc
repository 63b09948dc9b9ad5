// The davit binary on projects without resources: configuration and stack commands as recorded
// (config-commands, stack-commands, secrets-display), and the exit statuses of wrong invocations.

#include "tests/cli/project.h"

namespace davit {
namespace {

// The stack file without what differs from run to run.
std::string Shown(const std::string& text) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.compare(0, 15, "encryptionsalt:") == 0) {
      continue;
    }
    if (const std::size_t cipher = line.find("v1:"); cipher != std::string::npos) {
      line = line.substr(0, cipher) + "<ciphertext>";
    }
    out += line + "\n";
  }
  return out;
}

TEST_CASE("[C50][C51][C52] configuration commands leave the recorded file and lists") {
  const Project project("config", "config:\n  declared: {type: string, default: d}\n");
  project.Ok("stack init dev");
  CHECK(project("config").out == "KEY       VALUE\ndeclared  d\n");
  for (const char* words : {"config set word hello",
                            "config set n 42",
                            "config set --type int typed 42",
                            "config set other:key value",
                            "config set empty \"\"",
                            "config set --path 'tree.list[0]' 1",
                            "config set --path 'tree.list[1].x' true",
                            "config set --path word.below x",
                            "config set --secret token hush",
                            "config set --secret --path tree.hidden hush",
                            "config set --plaintext password 'Xk9$2mQz7!pLwTrv'"}) {
    project.Ok(words);
  }
  project.Write("piped", "piped\n");
  project.Ok("config set piped < piped");
  project.Ok("config set --raw pipedRaw < piped");
  CHECK(Shown(project.Read("Pulumi.dev.yaml")) == R"(config:
  golden:word:
    below: x
  golden:n: "42"
  golden:typed: "42"
  other:key: value
  golden:empty: ""
  golden:tree:
    list:
      - 1
      - x: true
    hidden:
      secure: <ciphertext>
  golden:token:
    secure: <ciphertext>
  golden:password: Xk9$2mQz7!pLwTrv
  golden:piped: piped
  golden:pipedRaw: |
    piped
)");
  CHECK_FALSE(Has(project.Read("Pulumi.dev.yaml"), "hush"));
  CHECK(project("config", "").out == R"(KEY        VALUE
declared   d
empty      
n          42
password   Xk9$2mQz7!pLwTrv
piped      piped
pipedRaw   piped
           
token      [secret]
tree       {"hidden":"[secret]","list":[1,{"x":true}]}
typed      42
word       {"below":"x"}
other:key  value
)");
  CHECK(Has(project("config --show-secrets").out, "token      hush\n"));
  const std::string json = project("config --json").out;
  CHECK(Has(json, "  \"golden:token\": {\n    \"secret\": true\n  },\n"));
  CHECK(Has(json, "    \"objectValue\": {\n      \"below\": \"x\"\n    },\n"));
  CHECK_FALSE(Has(json, "hush"));
  CHECK(project("config get token").out == "hush\n");
  CHECK(project("config get --path 'tree.list[1].x'").out == "true\n");
  CHECK(project("config get declared", "").out == "d\n");
  CHECK(project("config get n", "wrong").out == "42\n");
  const Ran wrong = project("config get token", "wrong");
  CHECK(wrong.status == 1);
  CHECK(Has(wrong.err, "incorrect passphrase"));
  const Ran absent = project("config get absent");
  CHECK(absent.status == 1);
  CHECK(absent.err == "error: configuration key 'absent' not found for stack 'dev'\n");
  project.Ok("config rm absent");
  project.Ok("config rm --path 'tree.list[0]'");
  project.Ok("config rm word");
  project.Ok("config set-all --plaintext p=1 --secret s=2 --path --plaintext q.r=3");
  project.Ok("config rm-all p piped");
  const std::string file = Shown(project.Read("Pulumi.dev.yaml"));
  CHECK(Has(file, "    list:\n      - x: true\n"));
  CHECK(Has(file, "  golden:q:\n    r: 3\n"));
  CHECK_FALSE(Has(file, "golden:word"));
}

TEST_CASE("[C52][C77] wrong configuration is refused") {
  const Project project("config-errors");
  project.Ok("stack init dev");
  const auto refused = [&](const std::string& words) {
    const Ran ran = project(words);
    CHECK(ran.status == 1);
    return ran.err;
  };
  CHECK(Has(refused("config set a:b:c value"), "'a:b:c' is not a configuration key"));
  CHECK(Has(refused("config set password 'Xk9$2mQz7!pLwTrv'"), "looks like a secret"));
  CHECK(Has(refused("config set --secret --plaintext both x"), "exclude each other"));
  CHECK(Has(refused("config set --path .x y"), "is not a configuration path"));
  CHECK(Has(refused("config set --type int n x"), "not of type 'int'"));
  CHECK(Has(refused("config set --path m.secure x"), "'secure'"));
  project.Write("Pulumi.dev.yaml", "config: [1]\n");
  CHECK(Has(refused("config"), "Pulumi.dev.yaml:1:9"));
}

TEST_CASE("[S67] a new stack needs no passphrase until there is a secret") {
  const Project project("no-passphrase");
  CHECK(project("stack init dev", "").status == 0);
  CHECK(project("config set a b", "").status == 0);
  CHECK(project.Read("Pulumi.dev.yaml") == "config:\n  golden:a: b\n");
  const Ran refused = project("config set --secret s hush", "");
  CHECK(refused.status == 1);
  CHECK(Has(refused.err, "PULUMI_CONFIG_PASSPHRASE"));
  CHECK(project.Read("Pulumi.dev.yaml") == "config:\n  golden:a: b\n");
  CHECK(project("up --yes --suppress-progress", "").status == 0);
  project.Ok("config set --secret s hush");
  CHECK(Has(project.Read("Pulumi.dev.yaml"), "encryptionsalt: v1:"));
}

TEST_CASE("[C4][C32][C33][C34][C35] the life of stacks") {
  const Project project("stacks");
  CHECK(project("stack ls").out == "NAME  LAST UPDATE  RESOURCE COUNT\n");
  const Ran none = project("preview");
  CHECK(none.status == 1);
  CHECK(Has(none.err, "`davit stack select` or `davit stack init`"));
  CHECK(Has(project("stack init").err, "missing stack name"));
  CHECK(project("stack init dev").err == "Created stack 'dev'\n");
  CHECK(project("stack init dev").err == "error: stack 'organization/golden/dev' already exists\n");
  CHECK(Has(project("stack init \"sp ace\"").err, "invalid character ' '"));
  project.Ok("stack init prod --no-select");
  const std::string json = project("stack ls --json").out;
  CHECK(Has(json, "    \"name\": \"dev\",\n    \"current\": true"));
  CHECK(Has(json, "    \"name\": \"prod\",\n    \"current\": false"));
  CHECK(project("stack --show-name").out == "dev\n");
  project.Ok("stack select prod");
  CHECK(project("stack --show-name").out == "prod\n");
  CHECK(project("stack select nosuch").status == 6);
  CHECK(project("stack select").status == 6);
  CHECK(project("up --yes --stack nosuch").status == 6);
  CHECK(Has(project("up --yes --stack nosuch").err, "davit stack init nosuch"));
  CHECK(project("cancel dev").out == "The stack 'dev' is not locked.\n");  // C24
  CHECK(project("cancel nosuch --yes").status == 6);
  CHECK(Has(project("stack rm dev").err, "--yes"));
  CHECK(project("stack rm dev --yes").out == "Stack 'dev' has been removed!\n");
  CHECK(project("stack --show-name").out == "prod\n");
  project.Ok("stack rm --yes");
  CHECK(project("stack --show-name").status == 1);
}

TEST_CASE("[C37][C38][C39][C68] outputs in every form; secrets only when asked") {
  const Project project("outputs",
                        "outputs: {text: t, number: 1.5, big: 12345678, flag: true, "
                        "list: [1, {k: v}], hidden: {fn::secret: hush}, lines: \"a\\nb\", "
                        "html: \"<&>\"}\n");
  project.Ok("stack init dev");
  CHECK(project("stack output").out ==
        "Current stack outputs (0):\n    No output values currently in this stack\n");
  const Ran up = project("up --yes --suppress-progress");
  INFO(up.err);
  CHECK(up.status == 0);
  CHECK_FALSE(Has(up.out, "hush"));
  CHECK(project("stack output", "").out == R"(Current stack outputs (8):
    OUTPUT  VALUE
    big     12345678
    flag    true
    hidden  [secret]
    html    <&>
    lines   a
            b
    list    [1,{"k":"v"}]
    number  1.5
    text    t
)");
  CHECK(project("stack output --shell").out == R"(big=12345678
flag=true
hidden=\[secret]
html=\<\&\>
lines='a
b'
list=\[1,\{\"k\":\"v\"}]
number=1.5
text=t
)");
  CHECK(project("stack output hidden").out == "[secret]\n");
  CHECK(project("stack output hidden --show-secrets").out == "hush\n");
  CHECK(project("stack output text --json").out == "\"t\"\n");
  CHECK(project("stack output list").out == "[1,{\"k\":\"v\"}]\n");
  const std::string json = project("stack output --json").out;
  CHECK(Has(json, "  \"list\": [\n    1,\n    {\n      \"k\": \"v\"\n    }\n  ],\n"));
  CHECK(Has(json, "  \"hidden\": \"[secret]\",\n"));
  const Ran absent = project("stack output absent");
  CHECK(absent.status == 1);
  CHECK(absent.err == "error: current stack does not have output property 'absent'\n");
  CHECK(project("stack output --json --shell").err ==
        "error: only one of --json and --shell may be set\n");
  CHECK_FALSE(Has(project("stack export").out, "hush"));
  project.Ok("stack export --file out.json");
  CHECK(project("stack import --file out.json").out == "Import complete.\n");
  CHECK(project("stack output hidden --show-secrets").out == "hush\n");
  CHECK(Has(project("stack export --show-secrets", "wrong").err, "incorrect passphrase"));
}

TEST_CASE("[C70][C72][C73][C77] exit statuses of wrong invocations") {
  const Project project("exit");
  project.Ok("stack init dev");
  CHECK(project("up").status == 2);
  CHECK(project("destroy").status == 2);
  CHECK(project("refresh").status == 1);
  CHECK(Has(project("up").err, "--yes or --skip-preview"));
  CHECK(project("refresh --preview-only --yes").err ==
        "error: --yes and --preview-only cannot be used together\n");
  CHECK(project("up --nosuch").status == 1);
  CHECK(project("upp").status == 1);
  CHECK(project("up --yes --parallel x").status == 1);
  CHECK(project("up --yes --secrets-provider p").err ==
        "error: davit does not support --secrets-provider yet\n");
  CHECK(project("up --json --output json --yes").status == 1);
  CHECK(project("-C nonexistent up").status == 1);
  CHECK(project("version").out.find('v') == 0);
  const Ran changes = project("preview --expect-no-changes --suppress-progress");
  CHECK(changes.status == 7);
  CHECK(changes.err == "error: no changes were expected for preview but changes were proposed\n");
  project.Ok("up --yes");
  CHECK(project("preview --expect-no-changes").status == 0);
  CHECK(project("up --skip-preview --expect-no-changes").status == 0);
}

TEST_CASE("[C120][C130][C136] machine output is all that stdout gets") {
  const Project project("json",
                        "config: {w: {type: string, secret: true}}\noutputs: {o: \"${w}\"}\n");
  project.Ok("stack init dev");
  project.Ok("config set --secret w canary-word");
  const std::string preview = project("preview --json").out;
  CHECK(preview.find("{\n    \"config\": {\n        \"golden:w\": \"[secret]\"\n    },\n") == 0);
  const Ran up = project("up --skip-preview --json --event-log log.jsonl");
  CHECK(up.status == 0);
  CHECK(up.out.find("{\"sequence\":0,\"timestamp\":") == 0);
  CHECK(Has(up.out, "\"preludeEvent\":{\"config\":{\"golden:w\":\"[secret]\"}}}\n"));
  const std::string log = project.Read("log.jsonl");
  const std::string last = "\"cancelEvent\":{}}\n";
  REQUIRE(log.size() > last.size());
  CHECK(log.substr(log.size() - last.size()) == last);
  CHECK(project("up --skip-preview --output json")
            .out.find("{\"result\":\"succeeded\",\"duration\":") == 0);
  for (const std::string& text : {preview, up.out, up.err, log}) {
    CHECK_FALSE(Has(text, "canary"));
  }
}

TEST_CASE("[C11][C14][C17] configuration given with a run; destroy with and without the stack") {
  const Project project("destroy", "config: {one: {type: string}}\noutputs: {o: \"${one}\"}\n");
  project.Ok("stack init dev");
  CHECK(project("preview").err ==
        "error: validating stack config: Stack 'dev' is missing configuration value 'one'\n");
  project.Ok("up --yes -c one=1 --suppress-progress");
  CHECK(Shown(project.Read("Pulumi.dev.yaml")) == "config:\n  golden:one: \"1\"\n");
  const Ran kept = project("destroy --yes");
  CHECK(kept.status == 0);
  CHECK(Has(kept.out, "run `davit stack rm dev`"));
  CHECK(project("destroy --yes --remove").status == 0);
  CHECK(project.Read("Pulumi.dev.yaml") == "(no file)");
  CHECK_FALSE(Has(project("stack ls").out, "dev"));
}

TEST_CASE("[S75] an object with secret outputs is not lost for want of a passphrase") {
  const Project project(
      "unsealed",
      "plugins:\n  providers:\n    - name: davittest\n      path: " DAVIT_BINARY_DIR
      "/tests/plugins\n"
      "resources:\n  x:\n    type: davittest:index:Thing\n    properties:\n"
      "      value: canary-5d1e\n      note: open\n      behave: {secret: [value]}\n");
  REQUIRE(project("stack init dev", "").status == 0);
  const Ran ran = project("up --skip-preview", "");
  CHECK(ran.status == 1);
  CHECK(Has(ran.out + ran.err, "is stored, but without its secret values"));
  CHECK(Has(ran.out + ran.err, "PULUMI_CONFIG_PASSPHRASE"));
  const std::string stored = project("stack export", "").out;
  CHECK(Has(stored, "\"note\": \"open\""));
  CHECK(Has(stored, "Thing::x"));
  CHECK_FALSE(Has(stored, "pending_operations"));
  // With a passphrase the object is known, read and changed, and not made again.
  CHECK(project("refresh --yes").status == 0);
  const Ran next = project("up --yes --json");
  CHECK(next.status == 0);
  CHECK_FALSE(Has(next.out, "\"create\""));
}

// A project with the bundled plugin, and a file that it does not manage.
class ImportProject : public Project {
 public:
  explicit ImportProject(const std::string& name)
      : Project(name,
                "plugins:\n  providers:\n    - name: localhost\n      path: " DAVIT_BINARY_DIR
                "\n") {
    Write("page", "hello\n");
    fs::permissions(Path("page"), fs::perms(0640));
    Ok("stack init dev");
  }
};

// The lines of a display without the times in them, which differ.
std::string Untimed(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_time = text[at] == '(' && text.find("s)", at) < text.find('\n', at);
    if (is_time) {
      at = text.find("s)", at) + 1;
      out += "(T)";
    } else if (text.compare(at, 10, "Duration: ") == 0) {
      at = text.find('\n', at) - 1;
      out += "Duration: T";
    } else {
      out += text[at];
    }
  }
  return out;
}

TEST_CASE("[C20][C21][E156] an import, step by step, and its code makes no further change") {
  const ImportProject project("import");
  const std::string page = project.Path("page");
  const std::string code =
      "resources:\n  page:\n    type: localhost:File\n    properties:\n      content: |\n"
      "        hello\n      force: false\n      mode: \"0640\"\n      path: " +
      page + "\n    options:\n      protect: true\n";
  const std::string words = "import localhost:index:File page " + page;
  const Ran unapproved = project(words);
  CHECK(unapproved.status == 2);
  CHECK(Has(unapproved.err, "--yes or --skip-preview or --preview-only must be passed"));

  const Ran preview = project(words + " --preview-only --suppress-progress");
  CHECK(preview.status == 0);
  CHECK(Has(preview.out, "Previewing import (dev):\n"));
  CHECK(Has(preview.out, " =  localhost:index:File page import \n"));
  CHECK(Has(preview.out, "    = 1 to import\n"));
  CHECK(Has(preview.out, "      import: " + page + "\n"));
  CHECK_FALSE(Has(project("stack export").out, "localhost"));

  const Ran done = project(words + " --yes --skip-preview --suppress-progress");
  CHECK(Untimed(done.out) ==
        "Importing (dev):\n\n"
        " +  pulumi:pulumi:Stack golden-dev creating (T) \n"
        " =  localhost:index:File page importing (T) \n"
        " =  localhost:index:File page imported (T) \n"
        " +  pulumi:pulumi:Stack golden-dev created (T) \n"
        "Resources:\n    + 1 created\n    = 1 imported\n    2 changes\n\n"
        "Duration: T\n\n"
        "Add this to the program; an update without it would want to delete what was imported.\n"
        "The resources are protected: before one can be deleted, its `protect` has to go and "
        "`davit up`\nhas to run.\n\n" +
            code);
  CHECK(done.err.empty());

  const Ran again = project(words + " --yes --skip-preview --suppress-progress --out code.yaml");
  CHECK(Has(again.out, "is in the state already with this id; nothing to do\n"));
  CHECK(Has(again.out, "Resources:\n    2 unchanged\n"));
  CHECK(project.Read("code.yaml") == code);

  project.Write("Pulumi.yaml", project.Read("Pulumi.yaml") + code);
  CHECK(project("preview --expect-no-changes --suppress-progress").status == 0);
}

TEST_CASE("[C20][E157] imports that fail say why") {
  const ImportProject project("import-fails");
  const std::string page = project.Path("page");
  const auto fails = [&](const std::string& words, const std::string& why, bool in_out = false) {
    const Ran ran = project("import " + words + " --yes --skip-preview");
    INFO(words << "\n" << ran.out << ran.err);
    CHECK(ran.status == 1);
    CHECK(Has(in_out ? ran.out : ran.err, why));
  };
  fails("", "a type is missing; say what to import");
  fails("localhost:index:File page", "an id is missing");
  fails("localhost:File page x", "needs a type of the form package:module:Name");
  fails("-f none.json", "there is no import file '");
  fails("-f none.json a b c", "--file goes without TYPE, NAME, ID");
  fails("localhost:index:File p x --parent y",
        "'y' is not a value for --parent; write it as name=urn");
  fails("localhost:index:File p x --out no/where", "there is no folder for '");
  fails("localhost:index:File p x --from y", "davit does not support --from yet");
  fails("localhost:index:File p " + page + "-not", "does not exist", true);
  CHECK(project("import localhost:index:File p " + page +
                " --yes --skip-preview --generate-code=false --protect=false")
            .status == 0);
  fails("localhost:index:File p " + page + "-not", "is in the state already, with the id '", true);
  CHECK_FALSE(Has(project("stack export").out, "\"protect\""));
  project.Write("Pulumi.yaml", "name: golden\nruntime: python\n");
  fails("localhost:index:File q " + page, "davit writes code for YAML programs only");
}

TEST_CASE("[C21][E158] a secret of an import is encrypted in the state and not in the code") {
  const ImportProject project("import-secret");
  const std::string page = project.Path("page");
  project.Write("in.json",
                R"({"resources": [{"type": "localhost:index:File", "name": "s", "id": ")" + page +
                    R"(", "inputs": {"content": {"4dabf18193072939515e22adb298388d":
                    "1b47061264138c4ac30d75fd1eb44270", "plaintext": "\"hello\\n\""}}}]})");
  const Ran sealed = project("import -f in.json --yes --skip-preview");
  CHECK(sealed.status == 0);
  CHECK(Has(sealed.out, "      content: ${sContent}\n"));
  CHECK(Has(sealed.err, "`davit config set --secret sContent`"));
  CHECK_FALSE(Has(project("stack export").out, "\"content\": \"hello"));
}

}  // namespace
}  // namespace davit
