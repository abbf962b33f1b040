"""Prints the oldest versions that pyproject.toml allows, as constraints for pip: `httpx==0.28`."""

import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
# Each requirement begins with its lower bound: a version below it was never tried.
BOUNDED = re.compile(r"([\w-]+)>=([\w.]+)")


def lowest(project: dict[str, object]) -> list[str]:
    """Of what users install: the packages of mcptask and of its demo. ValueError for one without a bound."""
    demo = project["optional-dependencies"]["demo"]  # type: ignore[index]
    found = []
    for requirement in [*project["dependencies"], *demo]:  # type: ignore[misc]
        bounded = BOUNDED.match(requirement)
        if bounded is None:
            raise ValueError(f"no lower bound: {requirement}")
        found.append("==".join(bounded.groups()))
    return found


if __name__ == "__main__":
    print(*lowest(tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]), sep="\n")
