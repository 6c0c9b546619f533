"""Run the tests next to what has changed: what `make test-quick` does.

    python tests/nearest.py [FILE ...]

Changed is what git says, against the last commit, or the files named. Next to a module are the
tests that are called like it and those that import it themselves; what depends on it through
others is left to `make test`, and so are the tests that take longest.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from coursetools.notebooks import imports

ROOT = Path(__file__).resolve().parents[1]
ALWAYS = ("test_layers.py", "test_style.py", "test_people.py", "test_mutants.py")
# What tests look at without importing it.
READ = {
    "book": ("book/test_names.py", "book/test_lecture_map.py"),
    "notebooks": ("notebooks/test_lint.py", "notebooks/test_lint_assignments.py"),
    "solutions": ("questions/test_audit.py", "assignments/test_release.py"),
    "results": ("experiments/test_results.py",),
    "Makefile": ("test_cli.py",),
    "pyproject.toml": ("test_cli.py",),
}
LONGEST = Path(__file__).with_name("longest.txt").read_text().split()  # `make test` begins there


def changed() -> list[str]:
    """Return the files that differ from the last commit, new ones too."""
    asked = ["git", "status", "--porcelain", "--untracked-files=all", "--no-renames", "-z"]
    said = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [line[3:] for line in said.split("\0") if line]


def nearest(files: Iterable[str], root: Path = ROOT) -> list[str]:
    """Return the test files next to `files`, from the course's root."""
    tests, source = root / "tests", root / "src"
    asked = sorted(tests.rglob("test_*.py"))
    found = {tests / name for name in ALWAYS}
    modules = set()
    for file in map(Path, files):
        found |= {tests / name for name in READ.get(file.parts[0], ())}
        if file.suffix != ".py":
            continue
        if file.parts[0] == "tests":
            if file.name.startswith("test_"):
                found.add(root / file)
            else:  # a conftest, or a helper: what stands beside it and below
                found |= {path for path in asked if path.is_relative_to(root / file.parent)}
        elif file.parts[0] == "src":
            modules.add(root / file)
            same = file.stem if file.stem != "__init__" else file.parent.name
            found |= {path for path in asked if path.stem == f"test_{same}"}
    packages = {path.parent for path in modules if path.name == "__init__.py"}
    for path in asked if modules else ():
        names = imports._imports_of(path, tests)
        direct = {files[-1] for name in names if (files := imports._files(name, (source,)))}
        if direct & modules or any(one.parent in packages for one in direct):
            found.add(path)
    named = {root / file for file in files}
    long = {tests / name for name in LONGEST} - named
    return sorted(p.relative_to(root).as_posix() for p in found - long if p.is_file())


def main(files: list[str]) -> int:
    """Run them, and say what was run."""
    import pytest

    chosen = nearest(files or changed())
    print(f"{len(chosen)} files of tests; make test runs all", flush=True)
    return int(pytest.main(["-n", "2", "--dist", "loadfile", *chosen]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
