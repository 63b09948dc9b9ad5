"""What the tests that drive the davit binary share: a scratch project with a backend of its own, and one line per check."""

import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
QUIET_TYPES = ("pulumi:pulumi:Stack", "pulumi:providers:")


class Wrong(Exception):
    """What was expected did not happen."""


class Skip(Exception):
    """The test cannot run here; the text says why."""


def expect(holds, what):
    if not holds:
        raise Wrong(what)
    print(f"  ok  {what}", flush=True)


def expect_equal(got, wanted, what):
    if got != wanted:
        raise Wrong(f"{what}: got {got!r}, expected {wanted!r}")
    print(f"  ok  {what}", flush=True)


class Project:
    """A project folder, a file backend and a home folder, all scratch; stack `dev`. Without a passphrase no time goes into
    deriving a key from it, and there can be no secrets."""

    def __init__(self, engine, work, path=(), passphrase="test"):
        self.engine, self.work = os.path.abspath(engine), work
        self.folder = os.path.join(work, "project")
        for name in ("project", "backend", "home"):
            os.makedirs(os.path.join(work, name), exist_ok=True)
        self.env = {**os.environ, "PULUMI_HOME": os.path.join(work, "home"), "NO_COLOR": "1",
                    "PULUMI_BACKEND_URL": "file://" + os.path.join(work, "backend"),
                    "PATH": os.pathsep.join([*path, os.environ["PATH"]])}
        if passphrase:
            self.env["PULUMI_CONFIG_PASSPHRASE"] = passphrase
        self.count = 0

    def program(self, document):
        """Writes the program; JSON is YAML."""
        document = {"name": "proof", "runtime": "yaml", **document}
        with open(os.path.join(self.folder, "Pulumi.yaml"), "w", encoding="utf-8") as out:
            json.dump(document, out, indent=1)

    def call(self, *args, env=None, given=None):
        return subprocess.run([self.engine, *args], cwd=self.folder, env={**self.env, **(env or {})}, text=True,
                              input=given if given is not None else "", capture_output=True, timeout=300, check=False)

    def must(self, *args, **options):
        done = self.call(*args, **options)
        if done.returncode:
            raise Wrong(f"davit {' '.join(args)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def run(self, verb, *args, fails=False, env=None):
        """Runs up, preview, refresh or destroy; answers how often each operation finished (in a preview: was planned),
        stack and providers left out, and what was printed."""
        self.count += 1
        log = os.path.join(self.work, f"events-{self.count}.jsonl")
        approve = [] if verb == "preview" else ["--yes", "--skip-preview"]
        done = self.call(verb, "-s", "dev", "--non-interactive", *approve, "--event-log", log, *args, env=env)
        if bool(done.returncode) != fails:
            raise Wrong(f"davit {verb} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return self.operations(log, verb == "preview"), done.stdout + done.stderr

    def operations(self, log, planned=False):
        counts = collections.Counter()
        with open(log, encoding="utf-8") as source:
            for line in source:
                event = json.loads(line)
                meta = event.get("resourcePreEvent" if planned else "resOutputsEvent", {}).get("metadata")
                if meta and not meta["type"].startswith(QUIET_TYPES):
                    counts[meta["op"]] += 1
        return dict(sorted(counts.items()))

    def outputs(self):
        return json.loads(self.must("stack", "output", "--json", "--show-secrets", "-s", "dev"))

    def export(self):
        return json.loads(self.must("stack", "export", "-s", "dev", "--show-secrets"))["deployment"]

    def resources(self):
        """The records of the state that are neither stack nor provider, by name."""
        return {record["urn"].rpartition("::")[2]: record for record in self.export().get("resources") or []
                if not record["type"].startswith(QUIET_TYPES)}


def run_test(body):
    """Runs `body` with a scratch folder; the exit status says passed, failed or skipped."""
    work = os.path.realpath(tempfile.mkdtemp(prefix="davit-test-"))
    try:
        body(work)
    except Skip as reason:
        print(f"skipped: {reason}")
        return SKIPPED
    except (Wrong, subprocess.SubprocessError, OSError, ValueError, KeyError) as problem:
        print(f"FAIL {type(problem).__name__}: {problem}", file=sys.stderr)
        return 1
    finally:
        if os.environ.get("DAVIT_TEST_KEEP"):
            print(f"kept in {work}")
        else:
            shutil.rmtree(work, ignore_errors=True)
    print("passed")
    return 0
