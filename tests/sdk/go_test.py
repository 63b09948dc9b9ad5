"""A real plugin of the official Go SDK: the provider `simple` of Pulumi's language conformance tests.

    go_test.py ENGINE SDK

Needs a Go toolchain of at least 1.24. The plugin is built once into SDK, from the Go modules that its source names.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from support import Skip, Wrong, run_test

HERE = os.path.dirname(os.path.abspath(__file__))
LEAST_GO = (1, 24)
PULUMI = "v3.274.1"
VERSION = "2.0.0"


def require_go():
    if not shutil.which("go"):
        raise Skip(f"the Go plugin is not tested: no Go toolchain; {LEAST_GO[0]}.{LEAST_GO[1]} or later is needed")
    found = subprocess.run(["go", "version"], text=True, capture_output=True, check=False).stdout
    version = re.search(r"go(\d+)\.(\d+)", found)
    if not version or tuple(map(int, version.groups())) < LEAST_GO:
        raise Skip(f"the Go plugin is not tested: '{found.strip()}' is older than {LEAST_GO[0]}.{LEAST_GO[1]}")


def build(sdk):
    """The binary serves the provider that its file name says, so the plugin is a link."""
    binary = os.path.join(sdk, "lib", f"conformance-{PULUMI}")
    if not os.path.exists(binary):
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="davit-go-") as folder:
            shutil.copytree(os.path.join(HERE, "zoo", "src", "conformance"), folder, dirs_exist_ok=True)
            with open(os.path.join(folder, "go.mod"), "w", encoding="utf-8") as out:
                out.write(f"module conformance\n\ngo 1.26.6\n\nrequire github.com/pulumi/pulumi/pkg/v3 {PULUMI}\n\n"
                          f"require github.com/pulumi/pulumi/sdk/v3 {PULUMI}\n")
            done = subprocess.run(["go", "build", "-mod=mod", "-ldflags", "-s -w", "-o", binary + ".new", "."], cwd=folder,
                                  text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            if re.search(r"toolchain not available|requires go >=", done.stdout):
                raise Skip(f"the Go plugin is not tested: its modules need a newer Go: {done.stdout.strip()[-300:]}")
            raise Wrong(f"go build ended with {done.returncode}:\n{done.stdout[-3000:]}")
        os.replace(binary + ".new", binary)
        print(f"built the plugin in {time.monotonic() - began:.0f} s", flush=True)
    link = os.path.join(sdk, "plugins", f"resource-simple-v{VERSION}", "pulumi-resource-simple")
    os.makedirs(os.path.dirname(link), exist_ok=True)
    if not os.path.lexists(link):
        os.symlink(os.path.relpath(binary, os.path.dirname(link)), link)


def main():
    engine, sdk = sys.argv[1], os.path.abspath(sys.argv[2])

    def body(_):
        require_go()
        build(sdk)
        done = subprocess.run([sys.executable, os.path.join(HERE, "zoo", "run"), "--engine", engine, "--zoo", sdk,
                               "conformance-simple"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        print(done.stdout, end="")
        if done.returncode or not done.stdout.rstrip().endswith("1 passed, 0 failed, 0 skipped"):
            raise Wrong("the program did not go through all its steps")

    return run_test(body)


if __name__ == "__main__":
    sys.exit(main())
