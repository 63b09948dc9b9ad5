"""Kills davit at every point where it changes a file, then looks at what is left.

    crash_test.py ENGINE TESTBED    TESTBED is the folder of the scripted provider; TESTBED_PYTHON starts it

DAVIT_CRASH_POINT=N makes the process kill itself at the N-th such point. For every N until a run survives: no finished step
is lost, what was in flight is a pending operation, the lock is free, and the next run ends in the same state.
"""

import glob
import json
import os
import shutil
import signal
import sys

from support import Project, Wrong, expect, run_test

# Left out when two states are compared: times, and ids that are random or numbered.
VOLATILE = {"created", "modified", "sourcePosition", "sourcePositions", "id", "manifest", "metadata", "secrets_providers", "lock"}


def stable(value, ids):
    """The state without what differs from run to run; ids become the names of their resources."""
    if isinstance(value, dict):
        return {key: stable(item, ids) for key, item in sorted(value.items()) if key not in VOLATILE}
    if isinstance(value, list):
        return [stable(item, ids) for item in value]
    if isinstance(value, str):
        for ident, name in ids.items():
            value = value.replace(ident, name)
    return value


def comparable(deployment):
    records = deployment.get("resources") or []
    ids = {record["id"]: f"<id of {record['urn'].rpartition('::')[2]}>" for record in records if record.get("id")}
    return sorted(json.dumps(stable(record, ids), sort_keys=True) for record in records)


class Crashes:
    def __init__(self, engine, testbed, work):
        self.engine, self.testbed, self.work = engine, testbed, work
        self.points = 0

    def project(self, name, program, start):
        """A new project whose stack is in the state that `start` left."""
        folder = os.path.join(self.work, name)
        if start:
            shutil.copytree(start, folder, symlinks=True)
        project = Project(self.engine, folder, env={"TESTBED_CLOUD": os.path.join(folder, "cloud")})
        program = {"plugins": {"providers": [{"name": "testbed", "path": self.testbed}]}, **program}
        project.program(program)
        if not start:
            project.must("stack", "init", "dev")
        return project

    def cloud(self, project):
        """The ids of the objects that exist."""
        return {os.path.basename(path)[:-5] for path in glob.glob(os.path.join(project.work, "cloud", "*.json"))}

    def judge(self, project, point):
        """What must hold right after the crash: everything that was made is either recorded or pending."""
        deployment = project.export()
        records, pending = deployment.get("resources") or [], deployment.get("pending_operations") or []
        recorded = {record["id"] for record in records if record.get("id")}
        waiting = {operation["resource"]["urn"].rpartition("::")[2] for operation in pending}
        for ident in self.cloud(project) - recorded:
            # The testbed names an object after its resource and numbers it.
            if ident.rpartition("-")[0] not in waiting:
                raise Wrong(f"point {point}: {ident} exists, but is neither recorded nor pending; pending: {sorted(waiting)}")
        for record in records:
            if record.get("id") and record["type"].startswith("testbed:") and record["id"] not in self.cloud(project):
                if record["urn"].rpartition("::")[2] not in waiting:
                    raise Wrong(f"point {point}: {record['id']} is gone, but is recorded and not pending")
        return len(pending)

    def every_point(self, what, program, start, verb="up", parallel="2"):
        """Crashes one command at every point. Answers the folder of the run that survived."""
        calm = self.project(f"{what}-calm", program, start)
        calm.run(verb, "--parallel", parallel)
        wanted, wanted_cloud = comparable(calm.export()), len(self.cloud(calm))
        point = pending_seen = 0
        while True:
            point += 1
            project = self.project(f"{what}-{point}", program, start)
            done = project.call(verb, "-s", "dev", "--yes", "--skip-preview", "--non-interactive", "--parallel", parallel,
                                env={"DAVIT_CRASH_POINT": str(point)})
            if done.returncode == 0:
                break
            if done.returncode != -signal.SIGKILL:
                raise Wrong(f"{what}, point {point}: ended with {done.returncode}, not by its own SIGKILL:\n"
                            f"{done.stdout}{done.stderr}")
            pending = self.judge(project, point)
            pending_seen += pending > 0
            project.run(verb, "--parallel", parallel)
            got = comparable(project.export())
            if got != wanted:
                raise Wrong(f"{what}, point {point}: the state after recovery differs:\n" + "\n".join(
                    sorted(set(got) ^ set(wanted))))
            if not pending and len(self.cloud(project)) != wanted_cloud:
                raise Wrong(f"{what}, point {point}: nothing was pending, but {sorted(self.cloud(project))} exist")
            shutil.rmtree(project.work)
        self.points += point - 1
        expect(point > 5, f"{what}: {point - 1} points, each survived; at {pending_seen} of them calls were in flight")
        return calm.work


def main():
    engine, testbed = sys.argv[1], os.path.abspath(sys.argv[2])

    def body(work):
        def things(**values):
            resources = {name: {"type": "testbed:index:Thing", "properties": properties} for name, properties in values.items()}
            return {"resources": resources, "outputs": {"first": "${a.value}"}}

        crashes = Crashes(engine, testbed, work)
        replacing = {"replace": ["key"]}
        first = things(a={"value": 1, "key": "x", "behave": replacing}, b={"from": "${a.value}"}, c={"value": 3},
                       d={"value": {"fn::secret": "canary-5512"}})
        made = crashes.every_point("create", first, None)
        # One is updated, one replaced, one deleted, one created.
        second = things(a={"value": 1, "key": "y", "behave": replacing}, b={"from": "${a.value}", "more": True},
                        d={"value": {"fn::secret": "canary-5512"}}, e={"value": 5})
        changed = crashes.every_point("change", second, made)
        crashes.every_point("destroy", second, changed, verb="destroy")
        expect(crashes.points > 30, f"{crashes.points} points in all")

    return run_test(body)


if __name__ == "__main__":
    sys.exit(main())
