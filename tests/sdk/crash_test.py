"""Kills davit at every point where it changes a file of its state, then looks at what is left.

    crash_test.py ENGINE        the plugin `localhost` is found beside the engine

DAVIT_CRASH_POINT=N makes the process kill itself at the N-th such point. For every N until a run survives: no finished step
is lost, what was in flight is a pending operation, the lock is free, and the next run ends in the state in which the run
would have ended without the crash.
"""

import json
import os
import shutil
import signal
import sys

from support import Project, Wrong, expect, run_test

# Left out when two states are compared: times, and ids of providers, which are random.
VOLATILE = {"created", "modified", "sourcePosition", "sourcePositions", "provider"}
PROVIDERS = "pulumi:providers:"


def name_of(record):
    return record["urn"].rpartition("::")[2]


def comparable(deployment):
    return sorted(json.dumps({key: value for key, value in record.items() if key not in VOLATILE
                              and (key != "id" or not record["type"].startswith(PROVIDERS))}, sort_keys=True)
                  for record in deployment.get("resources") or [])


class Crashes:
    """Every run happens in the same folder, since ids are paths; what a run left is put aside as a copy."""

    def __init__(self, engine, work):
        self.engine, self.folder = engine, os.path.join(work, "run")
        self.points = 0

    def project(self, program, start, passphrase):
        """The folder anew: as `start` left it, or with an empty stack."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if start:
            shutil.copytree(start, self.folder, symlinks=True)
        project = Project(self.engine, self.folder, passphrase=passphrase)
        project.program(program)
        if not start:
            project.must("stack", "init", "dev")
            os.makedirs(self.files())
        return project

    def files(self):
        return os.path.join(self.folder, "files")

    def existing(self):
        """The files that exist, with what is in them. A plugin that dies while it writes leaves a file beside the real one."""
        found = {}
        for name in os.listdir(self.files()):
            if name.startswith(".davit-"):
                continue
            with open(os.path.join(self.files(), name), encoding="utf-8") as source:
                found[os.path.join(self.files(), name)] = source.read()
        return found

    def judge(self, deployment, where):
        """What must hold right after the crash. Answers how many operations were in flight."""
        records = [record for record in deployment.get("resources") or [] if record["type"].startswith("localhost:")]
        pending = [operation["resource"] for operation in deployment.get("pending_operations") or []]
        waiting = {name_of(record) for record in pending}
        recorded = {record["id"]: record for record in records}
        existing = self.existing()
        for path in set(existing) - set(recorded):
            if path not in {record["inputs"].get("path") for record in pending}:
                raise Wrong(f"{where}: {path} exists, but is neither recorded nor pending: {sorted(waiting)}")
        for path, record in recorded.items():
            if name_of(record) in waiting:
                continue
            if path not in existing:
                raise Wrong(f"{where}: {path} is gone, but is recorded and not pending")
            content = record["outputs"]["content"]
            if not isinstance(content, dict) and content != existing[path]:
                raise Wrong(f"{where}: {path} holds {existing[path]!r}, but {content!r} is recorded")
        return len(pending)

    def every_point(self, what, program, start, saved, verb="up", passphrase=None):
        """Crashes one command at every point; puts the folder of the run without a crash into `saved`."""
        flags = ["--parallel", "2"]
        calm = self.project(program, start, passphrase)
        calm.run(verb, *flags)
        wanted, wanted_files = comparable(calm.export()), self.existing()
        shutil.copytree(self.folder, saved, symlinks=True)
        point = in_flight = 0
        while True:
            point += 1
            where = f"{what}, point {point}"
            project = self.project(program, start, passphrase)
            done = project.call(verb, "-s", "dev", "--yes", "--skip-preview", "--non-interactive", *flags,
                                env={"DAVIT_CRASH_POINT": str(point)})
            if done.returncode == 0:
                break
            if done.returncode != -signal.SIGKILL:
                raise Wrong(f"{where}: ended with {done.returncode}, not by its own SIGKILL:\n{done.stdout}{done.stderr}")
            in_flight += self.judge(project.export(), where) > 0
            try:
                project.run(verb, *flags)
            except Wrong as problem:
                raise Wrong(f"{where}: the run after the crash: {problem}") from None
            got = comparable(project.export())
            if got != wanted:
                raise Wrong(f"{where}: the state after recovery differs:\n" + "\n".join(sorted(set(got) ^ set(wanted))))
            if self.existing() != wanted_files:
                raise Wrong(f"{where}: the files after recovery are {self.existing()}, expected {wanted_files}")
        self.points += point - 1
        expect(point > 5, f"{what}: killed at {point - 1} points and recovered; calls were in flight at {in_flight}")


def main():
    engine = sys.argv[1]

    def body(work):
        crashes = Crashes(engine, work)

        def files(**contents):
            resources = {}
            for name, (path, content) in contents.items():
                # `force`: a file whose creation was in flight may be there already.
                resources[name] = {"type": "localhost:index:File", "properties": {
                    "path": os.path.join(crashes.files(), path), "content": content, "force": True}}
            return {"resources": resources, "outputs": {"first": "${a.size}"}}

        first = files(a=("a", "one"), b=("b", "after ${a.size}"), c=("c", "three"), d=("d", "four"))
        second = files(a=("other", "one"), b=("b", "changed after ${a.size}"), d=("d", "four"), e=("e", "five"))
        sealed = files(a=("a", {"fn::secret": "canary-5512"}))
        made, changed, gone, kept = (os.path.join(work, name) for name in ("made", "changed", "gone", "kept"))
        crashes.every_point("four creates", first, None, made)
        crashes.every_point("a replacement, an update, a delete and a create", second, made, changed)
        crashes.every_point("destroy", second, changed, gone, verb="destroy")
        crashes.every_point("a secret", sealed, None, kept, passphrase="test")
        expect(crashes.points > 30, f"{crashes.points} points in all")

    return run_test(body)


if __name__ == "__main__":
    sys.exit(main())
