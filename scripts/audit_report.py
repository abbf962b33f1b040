"""What pip-audit found, in a line for each weakness; exits with 1 if there is one.

`audit_report.py NAME FILE`. A package that could not be looked up is counted: silence is no "fine".
"""

import json
import sys
from pathlib import Path


def report(name: str, text: str) -> tuple[list[str], int]:
    """Lines to print, and the exit code."""
    try:
        packages = json.loads(text)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return [f"{name}: not audited: the database did not answer"], 0
    skipped = [package for package in packages if "skip_reason" in package]
    weak = [
        f"{name}: {package['name']} {package['version']}: {found['id']}, "
        f"mended in {', '.join(found['fix_versions']) or 'no version'}"
        for package in packages
        for found in package.get("vulns", ())
    ]
    if len(skipped) == len(packages):
        return [f"{name}: not audited: the database does not know one of the packages"], 0
    looked_up = len(packages) - len(skipped)
    lines = [*weak, f"{name}: {looked_up} packages audited, {len(skipped)} not known there"]
    return lines, 1 if weak else 0


if __name__ == "__main__":
    lines, code = report(sys.argv[1], Path(sys.argv[2]).read_text(encoding="utf-8"))
    print(*lines, sep="\n")
    sys.exit(code)
