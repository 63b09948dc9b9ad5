"""Bad input and broken parts, through the real binary: one message that names the place, the documented exit status (C77), and
the state as it was.

    faults_test.py ENGINE PLUGINS        PLUGINS has pulumi-resource-davittest, which fails as it is told
"""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile

from support import Project, Wrong, expect, expect_equal, run_test

CALLS = ("GetSchema", "CheckConfig", "Configure", "Check", "Diff", "Create", "Update", "Read", "Delete")


class Case(Project):
    def __init__(self, engine, plugins, work, passphrase=None):
        super().__init__(engine, work, path=(plugins,), passphrase=passphrase)
        if not passphrase:
            self.env.pop("PULUMI_CONFIG_PASSPHRASE", None)

    def things(self, **properties):
        self.program({"resources": {name: {"type": "davittest:index:Thing", "properties": value}
                                    for name, value in properties.items()}})

    def refused(self, what, *words, verb=("up", "--yes", "--skip-preview"), code=1, env=None, folder=None):
        """The command fails with the status, says the words, and leaves the state as it was."""
        before = self.records()
        done = subprocess.run([self.engine, *verb, "-s", "dev", "--non-interactive"], cwd=folder or self.folder,
                              env={**self.env, **(env or {})}, text=True, input="", capture_output=True, timeout=120,
                              check=False)
        printed = done.stdout + done.stderr
        if done.returncode != code:
            raise Wrong(f"{what}: exit status {done.returncode}, expected {code}:\n{printed}")
        for word in words:
            if word not in printed:
                raise Wrong(f"{what}: '{word}' is not in\n{printed}")
        expect_equal(self.records(), before, what)
        return printed

    def records(self):
        """Records of the state that are neither stack nor provider, as text; None when there is no stack."""
        done = self.call("stack", "export", "-s", "dev")
        if done.returncode:
            return None
        found = {}
        for record in json.loads(done.stdout)["deployment"].get("resources") or []:
            if record["type"].startswith(("pulumi:pulumi:Stack", "pulumi:providers:")):
                continue
            # A refresh drops properties that depend on nothing (E143), whether it succeeds or not.
            if not any((record.get("propertyDependencies") or {}).values()):
                record.pop("propertyDependencies", None)
            found[record["urn"].rpartition("::")[2]] = json.dumps(record, sort_keys=True)
        return dict(sorted(found.items()))


def projects(case):
    empty = os.path.join(case.work, "empty")
    os.makedirs(empty)
    case.refused("no project file", "Pulumi.yaml", folder=empty)
    path = os.path.join(case.folder, "Pulumi.yaml")
    os.makedirs(path)
    case.refused("a project file that cannot be read", "Pulumi.yaml")
    os.rmdir(path)
    with open(path, "w", encoding="utf-8") as out:
        out.write("name: proof\nruntime: yaml\nresources: {a: [}\n")
    case.refused("malformed YAML", "Pulumi.yaml:3:")


def programs(case):
    case.program({"resources": {"a": {"type": "davittest:index:Nothing"}}})
    case.refused("an unknown resource type", "Pulumi.yaml:", "davittest:index:Nothing")
    case.program({"config": {"need": {"type": "string"}}})
    case.refused("missing configuration", "need")
    case.program({"resources": {"a": {"type": "nosuch:index:Thing"}}})
    case.refused("a plugin that is not found", "pulumi-resource-nosuch", "nosuch")


def starts(case):
    case.things(a={"value": 1})
    case.refused("a plugin that does not start", "no licence", "3", env={"DAVITTEST_START_ERROR": "no licence"})
    case.refused("a plugin without a port line", "DAVIT_PLUGIN_START_TIMEOUT",
                 env={"DAVITTEST_START_DELAY_MS": "60000", "DAVIT_PLUGIN_START_TIMEOUT": "1"})
    case.refused("a port line that is none", "hello there", env={"DAVITTEST_PORT_LINE": "hello there"})


def prepare(case, method):
    """A program whose run reaches the call, and the command."""
    if method == "Read":
        return ("refresh", "--yes", "--skip-preview")
    if method == "Delete":
        return ("destroy", "--yes", "--skip-preview")
    if method in ("Update", "Diff"):
        case.things(old={"value": 2})
    else:
        case.things(old={"value": 1}, new={"value": 1})
    return ("up", "--yes", "--skip-preview")


def calls(case):
    for method in CALLS:
        verb = prepare(case, method)
        # Else the schema is known and nobody asks for it.
        shutil.rmtree(os.path.join(case.env["PULUMI_HOME"], "schemas"), ignore_errors=True)
        case.refused(f"a plugin that dies in {method}", "signal 9", method, verb=verb,
                     env={"DAVITTEST_FAULTS": f"{method}:signal=9"})
        case.refused(f"a plugin that answers {method} with an error", f"{method} was told to fail", verb=verb,
                     env={"DAVITTEST_FAULTS": f"{method}:fail=3"})
    case.things(old={"value": 1}, new={"value": 1})
    case.refused("an answer that is no message", "Create", env={"DAVITTEST_FAULTS": "Create:garbage"})


def started(case, log, *words, env=None):
    """Starts davit and waits until it has printed the words."""
    out = open(log, "w", encoding="utf-8")  # the process writes to it
    process = subprocess.Popen([case.engine, *words, "-s", "dev", "--non-interactive"], cwd=case.folder,
                               env={**case.env, **(env or {})}, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    out.close()
    return process


class CallLog:
    """A named pipe as the plugin's log: whoever reads it is woken by each call, without polling."""

    def __init__(self, path):
        os.mkfifo(path)
        self.path, self.file, self.text = path, os.open(path, os.O_RDWR | os.O_NONBLOCK), ""

    def wait_for(self, text):
        while text not in self.text:
            if not select.select([self.file], [], [], 60)[0]:
                raise Wrong(f"the plugin was not called with {text}")
            self.text += os.read(self.file, 1 << 16).decode()

    def close(self):
        os.close(self.file)


def hangs(case):
    before = case.records()
    case.things(old={"value": 1}, new={"value": 1})
    calls_log, printed = CallLog(os.path.join(case.work, "calls")), os.path.join(case.work, "printed")
    process = started(case, printed, "up", "--yes", "--skip-preview",
                      env={"DAVITTEST_FAULTS": "Create:hang", "DAVITTEST_LOG": calls_log.path})
    calls_log.wait_for('"Create"')
    case.refused("a stack that is locked", f"{process.pid}", "lock")
    process.send_signal(signal.SIGINT)
    code = process.wait(60)
    calls_log.close()
    with open(printed, encoding="utf-8") as source:
        text = source.read()
    expect(code != 0 and "new" in text, f"an interrupt ends a run whose plugin hangs (exit status {code})")
    expect_equal(case.records(), before, "and leaves the state as it was")
    case.must("up", "-s", "dev", "--yes", "--skip-preview", "--non-interactive")
    expect(set(case.records()) == {"old", "new"}, "the next run goes on")


def passphrases(engine, plugins, work):
    case = Case(engine, plugins, work, passphrase="right")
    case.program({"resources": {"a": {"type": "davittest:index:Thing",
                                      "properties": {"value": {"fn::secret": "canary-5521"}}}}})
    case.must("stack", "init", "dev")
    case.must("up", "-s", "dev", "--yes", "--skip-preview", "--non-interactive")
    path = os.path.join(work, "backend", ".pulumi", "stacks", "proof", "dev.json")
    with open(path, "rb") as source:
        before = source.read()
    done = case.call("up", "-s", "dev", "--yes", "--skip-preview", "--non-interactive",
                     env={"PULUMI_CONFIG_PASSPHRASE": "wrong"})
    expect(done.returncode == 1 and "passphrase" in done.stderr + done.stdout, "a wrong passphrase")
    with open(path, "rb") as source:
        expect(source.read() == before, "leaves the checkpoint untouched")


def damage(case):
    path = os.path.join(case.work, "backend", ".pulumi", "stacks", "proof", "dev.json")
    with open(path, "rb") as source:
        whole = source.read()
    with open(path, "wb") as out:
        out.write(whole[:len(whole) // 2])
    done = case.call("up", "-s", "dev", "--yes", "--skip-preview", "--non-interactive")
    expect(done.returncode == 1 and path in done.stderr + done.stdout, "a damaged checkpoint is refused, with its path")
    with open(path, "rb") as source:
        expect(source.read() == whole[:len(whole) // 2], "and left as it is")
    with open(path, "wb") as out:
        out.write(whole)
    case.things(old={"value": 1}, new={"value": 1}, third={"value": 3})
    point = 0
    journal = os.path.join(case.work, "backend", ".pulumi", "davit", "journals", "proof", "dev.journal")
    while True:  # crash where the journal has an entry
        point += 1
        done = case.call("up", "-s", "dev", "--yes", "--skip-preview", "--non-interactive",
                         env={"DAVIT_CRASH_POINT": str(point)})
        if os.path.exists(journal) and os.path.getsize(journal) > 200:
            break
        if done.returncode == 0:
            raise Wrong("no run crashed with a journal")
    with open(journal, "ab") as out:
        out.write(b"\x07garbage at the end")
    done = case.call("up", "-s", "dev", "--yes", "--skip-preview", "--non-interactive")
    expect(done.returncode == 0, "a damaged end of a journal does not stop the next run")
    expect(set(case.records()) == {"old", "new", "third"}, "and what was there before it is kept")


def disks(engine, plugins, work):
    case = Case(engine, plugins, work)
    case.things(a={"value": 1})
    case.env["PULUMI_BACKEND_URL"] = "file:///proc/davit-cannot-be-here"
    done = case.call("stack", "init", "dev")
    expect(done.returncode == 1 and "/proc/davit-cannot-be-here" in done.stderr,
           "a folder that cannot be written is named")
    if os.geteuid() != 0:
        print("  left out: a full disk, which needs root to mount one", flush=True)
        return
    with tempfile.TemporaryDirectory(dir=work) as small:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", small], check=False,
                                 capture_output=True)
        if mounted.returncode:
            print("  left out: a full disk, as nothing can be mounted here", flush=True)
            return
        try:
            case.env["PULUMI_BACKEND_URL"] = "file://" + small
            case.must("stack", "init", "dev")
            case.things(a={"value": 1})
            case.must("up", "-s", "dev", "--yes", "--skip-preview", "--non-interactive")
            before = case.records()
            case.things(a={"value": 1}, big={"text": "x" * 200000})
            done = case.call("up", "-s", "dev", "--yes", "--skip-preview", "--non-interactive")
            expect(done.returncode == 1 and "space" in done.stdout + done.stderr, "a full disk is told")
            expect_equal(case.records()["a"], before["a"], "and nothing that was recorded is lost")
        finally:
            subprocess.run(["umount", small], check=True)


def main():
    engine, plugins = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])

    def body(work):
        case = Case(engine, plugins, os.path.join(work, "one"))
        projects(case)
        case.things()
        case.must("stack", "init", "dev")
        programs(case)
        starts(case)
        case.things(old={"value": 1})
        case.must("up", "-s", "dev", "--yes", "--skip-preview", "--non-interactive")
        calls(case)
        hangs(case)
        damage(case)
        passphrases(engine, plugins, os.path.join(work, "two"))
        disks(engine, plugins, os.path.join(work, "three"))

    return run_test(body)


if __name__ == "__main__":
    sys.exit(main())
