"""The bundled plugin `localhost` through the whole engine: deploy, change, preview, replace, drift, destroy.

    localhost_test.py ENGINE        the plugin is found beside the engine
"""

import os
import stat
import sys

from support import Project, expect, expect_equal, run_test


def read(path):
    with open(path, encoding="utf-8") as source:
        return source.read()


def main():
    engine = sys.argv[1]

    def body(work):
        project = Project(engine, work)
        site = os.path.join(work, "site")
        page = os.path.join(site, "index.txt")

        def program(text="hello", name="index.txt", extra=None, secret=False):
            content = {"fn::secret": text} if secret else text
            project.program({
                "resources": {
                    "folder": {"type": "localhost:index:Directory", "properties": {"path": site}},
                    "page": {"type": "localhost:index:File",
                             "properties": {"path": "${folder.path}/" + name, "content": content, "mode": "0640"}},
                    "words": {"type": "localhost:index:Command",
                              "properties": {"create": "wc -w < \"$PAGE\" | tr -d ' '", "delete": "echo gone >> \"$LOG\"",
                                             "environment": {"PAGE": "${page.path}", "LOG": os.path.join(work, "log")},
                                             "triggers": ["${page.size}"]}},
                    **(extra or {})},
                "outputs": {"path": "${page.path}", "size": "${page.size}", "words": "${words.stdout}"}})

        program()
        project.must("stack", "init", "dev")
        operations, _ = project.run("preview")
        expect_equal(operations, {"create": 3}, "a preview plans three resources, with unknown values between them")
        expect(not os.path.exists(site), "and touches nothing")
        operations, _ = project.run("up")
        expect_equal(operations, {"create": 3}, "three resources are created")
        expect_equal(project.outputs(), {"path": page, "size": 5, "words": "1"}, "outputs")
        expect_equal(read(page), "hello", "the file has its text")
        expect_equal(stat.S_IMODE(os.stat(page).st_mode), 0o640, "and its mode")
        operations, _ = project.run("up")
        expect_equal(operations, {"same": 3}, "nothing to do the second time")

        program(text="hello, world")
        operations, _ = project.run("preview")
        expect_equal(operations.get("update"), 1, "a preview sees that the file changes in place")
        expect_equal(read(page), "hello", "and does not change it")
        operations, _ = project.run("up")
        expect_equal(operations, {"create-replacement": 1, "delete-replaced": 1, "replace": 1, "same": 1, "update": 1},
                     "the file is updated, the command is replaced by its trigger")
        expect_equal(project.outputs(), {"path": page, "size": 12, "words": "2"}, "outputs after the change")
        expect_equal(read(os.path.join(work, "log")), "gone\n", "the replaced command ran its delete")

        with open(page, "w", encoding="utf-8") as out:
            out.write("scribble")
        operations, _ = project.run("refresh")
        expect_equal(operations.get("update"), 1, "refresh sees a changed file")
        operations, _ = project.run("up")
        expect(read(page) == "hello, world" and operations.get("update") == 1, "the next run mends it")
        os.remove(page)
        operations, _ = project.run("refresh")
        expect_equal(operations.get("delete"), 1, "refresh sees a file that is gone")
        operations, _ = project.run("up")
        expect(read(page) == "hello, world" and operations.get("create") == 1, "the next run makes it again")

        program(text="hello, world", name="home.txt")
        operations, _ = project.run("up")
        expect(operations.get("create-replacement", 0) >= 1 and not os.path.exists(page)
               and read(os.path.join(site, "home.txt")) == "hello, world", "another path replaces the file")

        program(text="hello, world", name="home.txt", extra={"bad": {
            "type": "localhost:index:File", "properties": {"path": os.path.join(site, "bad.txt")}}})
        _, printed = project.run("up", fails=True)
        expect("content" in printed, "a file without content is refused, and the property is named")
        expect_equal(sorted(project.resources()), ["folder", "page", "words"], "the state is as it was")

        program(text="canary-8713", name="home.txt", secret=True)
        _, printed = project.run("up")
        expect("canary-8713" not in printed, "a secret text is not printed")
        for folder, _, names in os.walk(os.path.join(work, "backend")):
            for name in names:
                expect("canary-8713" not in read(os.path.join(folder, name)), f"nor stored in clear in {name}")

        operations, _ = project.run("destroy")
        expect_equal(operations, {"delete": 3}, "everything is deleted")
        expect(not os.path.exists(site), "the folder is gone")
        expect_equal(project.export().get("resources") or [], [], "the state is empty")

    return run_test(body)


if __name__ == "__main__":
    sys.exit(main())
