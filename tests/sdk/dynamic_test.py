"""The official Node.js SDK's dynamic provider plugin: deploy, change, preview, replace, refresh, destroy.

    dynamic_test.py ENGINE SDK      SDK is the folder that `setup` filled

The program is what the SDK's own `dynamic.Resource` would send: type `pulumi-nodejs:dynamic:Resource` with the provider as
text in the property `__provider`. The plugin answers GetSchema with "unimplemented" (Y87 D).
"""

import glob
import json
import os
import subprocess
import sys

from support import Project, expect, expect_equal, run_test

HERE = os.path.dirname(os.path.abspath(__file__))


def serialise(sdk, folder):
    line = [os.path.join(sdk, "bin", "node"), os.path.join(HERE, "dynamic", "serialise.js"),
            os.path.join(sdk, "lib", "node", "node_modules"), folder]
    return subprocess.run(line, check=True, text=True, capture_output=True).stdout


def main():
    engine, sdk = sys.argv[1], os.path.abspath(sys.argv[2])

    def body(work):
        notes = os.path.join(work, "notes")
        provider = serialise(sdk, notes)
        project = Project(engine, work, path=[os.path.join(sdk, "bin")])
        # The plugin is started in the program's folder and finds the SDK through its node_modules (P40).
        os.symlink(os.path.join(sdk, "lib", "node", "node_modules"), os.path.join(project.folder, "node_modules"))

        def program(title="list", text="milk", single=False):
            def note(**properties):
                # The text is full of ${}; in YAML a dollar sign before a brace is written twice.
                return {"type": "pulumi-nodejs:dynamic:Resource",
                        "properties": {"__provider": provider.replace("${", "$${"), **properties}}

            project.program({"resources": {"first": note(title=title, text=text, single=single),
                                           "second": note(title="copy", text="see ${first.text}")},
                             "outputs": {"revision": "${first.revision}", "seen": "${second.text}",
                                         "author": "${first.author}"}})

        def files():
            found = {}
            for path in glob.glob(os.path.join(notes, "*.json")):
                with open(path, encoding="utf-8") as source:
                    found[os.path.basename(path)] = json.load(source)
            return found

        program()
        project.must("stack", "init", "dev")
        operations, _ = project.run("preview")
        expect_equal(operations, {"create": 2}, "a preview plans two notes")
        expect_equal(files(), {}, "and makes none")
        operations, _ = project.run("up")
        expect_equal(operations, {"create": 2}, "two notes are created")
        expect_equal(project.outputs(), {"revision": 1, "seen": "see milk", "author": "nobody"},
                     "outputs of the provider, a default of its Check among them")
        expect_equal(sorted(note["text"] for note in files().values()), ["milk", "see milk"], "the notes are on disk")
        expect_equal(project.resources()["first"]["inputs"]["__provider"], provider, "the provider's text is unchanged in the state")

        operations, _ = project.run("up")
        expect_equal(operations, {"same": 2}, "nothing to do the second time")

        program(text="bread")
        operations, _ = project.run("preview")
        expect_equal(operations, {"update": 2}, "a preview sees the change and what follows from it")
        operations, _ = project.run("up")
        expect_equal(operations, {"update": 2}, "both are updated in place")
        expect_equal(project.outputs(), {"revision": 2, "seen": "see bread", "author": "nobody"}, "outputs after the change")

        before = project.resources()["first"]["id"]
        program(title="plan", text="bread")
        operations, _ = project.run("up")
        expect_equal(operations, {"create-replacement": 1, "delete-replaced": 1, "replace": 1, "same": 1},
                     "another title replaces, the new one first")
        after = project.resources()["first"]["id"]
        expect(before != after and f"{before}.json" not in files() and f"{after}.json" in files(), "the old note is gone")

        program(title="draft", text="bread", single=True)
        operations, _ = project.run("up")
        expect_equal(operations, {"create-replacement": 1, "delete-replaced": 1, "replace": 1, "same": 1},
                     "the provider may ask to delete first")

        program(title="", text="bread")
        _, printed = project.run("preview", fails=True)
        expect("a note needs a title" in printed, "a refused input is reported with the provider's words")

        program(title="draft", text="refused", single=True)
        _, printed = project.run("up", fails=True)
        expect("this text is refused" in printed, "a failed update is reported with the provider's words")
        expect_equal(project.resources()["first"]["outputs"]["text"], "bread", "and leaves the state as it was")

        program(title="draft", text="bread", single=True)
        ident = project.resources()["first"]["id"]
        with open(os.path.join(notes, f"{ident}.json"), "w", encoding="utf-8") as out:
            json.dump({"title": "draft", "text": "scribbled", "author": "somebody", "single": True, "revision": 9}, out)
        operations, _ = project.run("refresh")
        expect_equal(operations, {"same": 1, "update": 1}, "refresh sees a note that was changed behind its back")
        expect_equal(project.resources()["first"]["outputs"]["text"], "scribbled", "and takes it into the state")
        operations, _ = project.run("up")
        expect_equal(operations.get("update"), 1, "the next run mends it")

        operations, _ = project.run("destroy")
        expect_equal(operations, {"delete": 2}, "both are deleted")
        expect_equal((files(), project.export().get("resources") or []), ({}, []), "nothing is left on disk or in the state")

    return run_test(body)


if __name__ == "__main__":
    sys.exit(main())
