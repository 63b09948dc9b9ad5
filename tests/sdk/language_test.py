"""Programs and component plugins that are written with the official SDKs, through a language host.

    language_test.py ENGINE SDK nodejs|python

SDK is the folder that `setup` filled. The published language hosts are in no registry; hosts/language_host.py stands in for
them: it starts programs through the SDKs' own entry points, so what a program says to the engine is the SDK's.
"""

import json
import os
import shutil
import signal
import subprocess
import sys

from support import Project, expect, expect_equal, run_test

HERE = os.path.dirname(os.path.abspath(__file__))
MAIN = {"nodejs": "index.js", "python": "__main__.py"}
SECRET = "stone-fly"
# What the programs of the smaller cases do.
CASES = {
    "raises": {"nodejs": "throw new Error('this is not to be');", "python": "raise ValueError('this is not to be')"},
    "leaves": {"nodejs": "process.exit(3);", "python": "import os\nos._exit(3)"},
    "refused": {
        "nodejs": "const p = require('@pulumi/pulumi');\nnew p.CustomResource('nowhere:index:Thing', 'thing', {});",
        "python": "import pulumi\npulumi.CustomResource('nowhere:index:Thing', 'thing', {})"},
    "waits": {
        "nodejs": "require('fs').writeFileSync('here', '');\nsetInterval(() => {}, 1000);",
        "python": "import time\nopen('here', 'w').close()\nwhile True:\n    time.sleep(0.1)"},
    "logs": {
        "nodejs": "const p = require('@pulumi/pulumi');\np.log.warn('a warning of the program');\n"
                  "console.error('on standard error');",
        "python": "import sys\nimport pulumi\npulumi.log.warn('a warning of the program')\n"
                  "print('on standard error', file=sys.stderr)"},
}


class Programs(Project):
    def __init__(self, engine, work, sdk, language):
        super().__init__(engine, work, path=[os.path.join(sdk, "bin")])
        self.sdk, self.language = sdk, language
        self.env["PULUMI_PYTHON_CMD"] = os.path.join(sdk, "lib", "python", "bin", "python")
        self.link_modules(self.folder)

    def link_modules(self, folder):
        os.symlink(os.path.join(self.sdk, "lib", "node", "node_modules"), os.path.join(folder, "node_modules"))

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as out:
            out.write(text)

    def project_file(self, runtime=None, **more):
        self.write("Pulumi.yaml", json.dumps({"name": "proof", "runtime": runtime or self.language, **more}))

    def case(self, name):
        self.write(MAIN[self.language], CASES[name][self.language])

    def plugin(self, name):
        folder = os.path.join(self.work, name)
        shutil.copytree(os.path.join(HERE, "language", name), folder)
        self.link_modules(folder)
        return folder


def check_program(project):
    """One program through its life [P98, P99, P103-P106, P112-P114, P116]; hooks [E187-E190], a component of a plugin [E181]."""
    shutil.copy(os.path.join(HERE, "language", project.language, MAIN[project.language]), project.folder)
    project.project_file(plugins={"providers": [{"name": "badge", "path": project.plugin("badge")}]})
    project.must("stack", "init", "dev")
    notes = os.path.join(project.work, "notes")
    for key, value in {"text": "Hello, Ada!", "notes": notes, "hooked": "true"}.items():
        project.must("config", "set", key, value, "-s", "dev")
    project.must("config", "set", "--secret", "phrase", SECRET, "-s", "dev")

    operations, _ = project.run("preview")
    expect_equal(operations, {"create": 8}, "a preview plans what the program asks for")
    expect(not os.path.exists(notes), "and runs no hooks that are not for previews")
    operations, printed = project.run("up")
    expect_equal(operations, {"create": 8}, "all of it is made")
    expect("the program has been evaluated" in printed, "what the program prints is shown")
    outputs = {"length": 11, "marked": "a value transformed", "label": "Ada/1", "code": SECRET * 2, "before": 0,
               "preview": False, "old": "urn:pulumi:dev::proof::pulumi:index:Stash::before"}
    expect_equal(project.outputs(), outputs, "outputs, from the transform, the component plugin and the stack itself")
    records = project.resources()
    expect_equal([line.rstrip() for line in open(notes, encoding="utf-8")], ["hooked made"], "a hook ran after the create")
    expect(records["reception-card"]["parent"] == records["reception"]["urn"], "children are below their component")
    expect(records["reception-greeting"]["urn"] in records["reception-card"]["dependencies"], "dependencies are recorded")
    masked = project.must("stack", "export", "-s", "dev")
    with open(os.path.join(project.work, "backend", ".pulumi", "stacks", "proof", "dev.json"), encoding="utf-8") as state:
        expect(SECRET not in masked + state.read(), "the secret is not in the state")

    operations, _ = project.run("up")
    expect_equal(operations, {"same": 8}, "nothing to do the second time")
    expect_equal(project.outputs()["before"], 11, "but the program sees what the stack's output was")
    project.must("config", "set", "renamed", "after", "-s", "dev")
    project.must("config", "set", "text", "Hello, Grace!", "-s", "dev")
    project.must("config", "set", "hooked", "false", "-s", "dev")
    operations, _ = project.run("up")
    expect_equal(operations, {"delete": 1, "same": 6, "update": 1}, "an update, a deletion, and nothing for a new name")
    expect_equal([line.rstrip() for line in open(notes, encoding="utf-8")], ["hooked made", "hooked gone"],
                 "the program still served its hook when the resource was deleted")
    expect(project.outputs()["old"].endswith("::after"), "an alias kept the renamed resource")
    operations, _ = project.run("refresh")
    expect_equal(operations, {"same": 7}, "a refresh finds what the state says")
    operations, _ = project.run("destroy", "--run-program")
    expect_equal(operations, {"delete": 7, "same": 7}, "a destroy that runs the program deletes all of it")


def check_failures(project):
    """How programs end [P92, P115], and those that cannot begin [P10, P101, P112]."""
    project.project_file()
    project.must("stack", "init", "dev")
    project.case("raises")
    _, printed = project.run("up", fails=True)
    expect("this is not to be" in printed, "an error of the program is shown")
    expect("an unhandled error occurred" not in printed, "once")
    project.case("leaves")
    _, printed = project.run("up", fails=True)
    expect("an unhandled error occurred: the program ended with exit status 3" in printed, "a bad end is reported")
    project.case("refused")
    _, printed = project.run("up", fails=True)
    expect("no resource plugin 'nowhere' found" in printed, "a registration that fails ends the run")
    project.case("logs")
    _, printed = project.run("up")
    expect("a warning of the program" in printed and "on standard error" in printed, "messages and output are shown")
    project.project_file(runtime="cobol")
    _, printed = project.run("up", fails=True)
    expect("no language plugin 'cobol' found" in printed, "a language without host is named")
    project.project_file(requiredPulumiVersion=">=99.0.0")
    _, printed = project.run("up", fails=True)
    expect("is not in the range '>=99.0.0'" in printed, "a program for another version is refused")


def check_interrupt(project):
    """An interrupt reaches the program through its host [P34, P118, S166]."""
    project.case("waits")
    project.project_file()
    project.must("stack", "init", "dev")
    mark = os.path.join(project.folder, "here")
    line = [project.engine, "up", "-s", "dev", "--yes", "--skip-preview", "--non-interactive"]
    with subprocess.Popen(line, cwd=project.folder, env=project.env, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as run:
        while not os.path.exists(mark) and run.poll() is None:
            try:
                run.wait(timeout=0.05)
            except subprocess.TimeoutExpired:
                pass
        run.send_signal(signal.SIGINT)
        printed, _ = run.communicate(timeout=60)
    expect("update canceled" in printed and run.returncode not in (0, -2), "an interrupt ends the program")


def check_component_plugin(project):
    """A plugin of source code, for a YAML program [P6, P12, P38]: its schema too comes from the process that the host runs."""
    plugin = "tally" if project.language == "nodejs" else "badge"
    path = project.plugin(plugin)
    project.project_file()
    project.must("stack", "init", "dev")
    resource = ({"type": "tally:Tally", "properties": {"marks": ["one", "two"]}} if plugin == "tally" else
                {"type": "badge:Badge", "properties": {"owner": "Ada", "pin": "1"}})
    output = "${it.count}-${it.first}" if plugin == "tally" else "${it.label}"
    project.project_file(runtime="yaml", packages={plugin: path}, resources={"it": resource}, outputs={"seen": output})
    operations, _ = project.run("up")
    expect_equal(operations, {"create": 2}, "a component of a plugin that is source code")
    expect_equal(project.outputs(), {"seen": "2-one" if plugin == "tally" else "Ada/1"}, "and its outputs")
    operations, _ = project.run("destroy")
    expect_equal(operations, {"delete": 2}, "are destroyed")


def check_policies(project):
    """A policy pack of the official SDK [E109, P119]: it forbids, corrects, judges the stack, and is configured."""
    if project.language != "nodejs":
        return
    pack = project.plugin("policies")
    plugins = {"providers": [{"name": "localhost", "path": os.path.dirname(project.engine)}]}

    def files(**contents):
        project.program({"plugins": plugins, "resources": {
            name: {"type": "localhost:index:File",
                   "properties": {"path": os.path.join(project.work, name), "content": content}}
            for name, content in contents.items()}})

    files(one="quite forbidden")
    project.must("stack", "init", "dev")
    failed = project.call("up", "-s", "dev", "--yes", "--skip-preview", "--policy-pack", pack)
    expect(failed.returncode == 1 and "one says 'forbidden'" in failed.stdout,
           "a mandatory violation fails the update: " + failed.stdout + failed.stderr)
    expect("[mandatory]" in failed.stdout and "files@v0.7.0" in failed.stdout, "which names policy and pack")
    expect(not os.path.exists(os.path.join(project.work, "one")), "and nothing was made")
    failed = project.call("preview", "-s", "dev", "--policy-pack", pack)
    expect(failed.returncode == 1, "a preview fails, too")

    config = os.path.join(project.work, "levels.json")
    with open(config, "w", encoding="utf-8") as out:
        json.dump({"no-forbidden-word": {"word": "never", "enforcementLevel": "advisory"}}, out)
    files(one="quite forbidden, never say it", two="well\n")
    done = project.call("up", "-s", "dev", "--yes", "--skip-preview", "--policy-pack", pack, "--policy-pack-config", config)
    expect(done.returncode == 0, "configured to advise, it lets the update pass: " + done.stderr)
    for text in ("one says 'never'", "[advisory]", "there are 2 files", "[remediate]  ends-its-line  (1 resource)"):
        expect(text in done.stdout, f"the update shows: {text}")
    with open(os.path.join(project.work, "one"), encoding="utf-8") as source:
        expect_equal(source.read(), "quite forbidden, never say it\n", "what the policy corrected is what was made")
    again = project.call("up", "-s", "dev", "--yes", "--skip-preview", "--policy-pack", pack, "--policy-pack-config", config,
                         "--expect-no-changes")
    expect(again.returncode == 0, "the same once more changes nothing")
    project.must("destroy", "-s", "dev", "--yes", "--skip-preview")


def main():
    engine, sdk, language = sys.argv[1], os.path.abspath(sys.argv[2]), sys.argv[3]

    def body(work):
        for check in (check_program, check_failures, check_interrupt, check_component_plugin, check_policies):
            print(check.__name__, flush=True)
            folder = os.path.join(work, check.__name__)
            check(Programs(engine, folder, sdk, language))

    return run_test(body)


if __name__ == "__main__":
    sys.exit(main())
