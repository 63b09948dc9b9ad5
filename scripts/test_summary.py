"""Names what ctest skipped and failed, and closes with 'N passed, N failed, N skipped'.

    test_summary.py JUNIT_FILE CTEST_STATUS

Ends with 1 when a test failed, when none ran, or when ctest itself failed.
"""

import os
import re
import sys
import xml.etree.ElementTree as ElementTree


def reason(case):
    """The last line that a skipped test printed in its own words."""
    text = case.findtext("system-out") or ""
    said = re.findall(r"^skipped[^:\n]*: (.*)$", text, re.M)
    return said[-1] if said else "no reason was printed"


def main():
    path, status = sys.argv[1], int(sys.argv[2])
    cases = list(ElementTree.parse(path).getroot().iter("testcase")) if os.path.exists(path) else []
    kinds = {"passed": [], "failed": [], "skipped": []}
    for case in cases:
        state = case.get("status")
        kinds["passed" if state == "run" else "failed" if state == "fail" else "skipped"].append(case)
    for case in kinds["skipped"]:
        print(f"skipped {case.get('name')}: {reason(case)}")
    for case in kinds["failed"]:
        print(f"failed  {case.get('name')}")
    failed = len(kinds["failed"])
    if not cases or (status and not failed):
        print(f"ctest ended with {status} and {len(cases)} tests", flush=True)
        failed = max(failed, 1)
    print(f"{len(kinds['passed'])} passed, {failed} failed, {len(kinds['skipped'])} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
