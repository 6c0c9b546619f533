"""`import coursekit` costs nothing beside torch: it loads no module that torch has not loaded.

How many milliseconds that is depends on the machine; benchmarks/import_time.py measures it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PARTS = [path.stem for path in (ROOT / "src/coursekit").glob("*.py") if path.stem != "__init__"]

HEAVY = {"torch", "numpy", "matplotlib", "nbformat", "nbclient", "sphinx", "tqdm", "yaml"}


def loaded_after(*imports: str) -> list[set[str]]:
    """Return the modules that a fresh interpreter has loaded after each of `imports`."""
    lines = ["import json, sys", "found = []"]
    for line in imports:
        lines += [line, "found.append(sorted(sys.modules))"]
    program = "\n".join([*lines, "print(json.dumps(found))"])
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return [set(names) for names in json.loads(run.stdout)]


def test_the_package_itself_loads_nothing():
    before, after = loaded_after("pass", "import coursekit")
    assert after - before == {"coursekit"}


def test_the_parts_load_nothing_beside_torch():
    """Files of the package, and small modules of Python's own that torch happens not to use."""
    everything = "import " + ", ".join(f"coursekit.{name}" for name in PARTS)
    torch, parts = loaded_after("import torch", everything)
    new = parts - torch
    assert {f"coursekit.{name}" for name in PARTS} <= new
    foreign = {name.partition(".")[0] for name in new} - {"coursekit"}
    assert foreign <= set(sys.stdlib_module_names), foreign
    assert len(new - {name for name in new if name.startswith("coursekit")}) <= 3, new


@pytest.mark.parametrize(
    "arguments", ["--help", "--version", "doctor --help", "notebooks run --help"]
)
def test_help_loads_no_heavy_module(arguments):
    program = (
        "import sys; from coursetools.cli import main\n"
        f"code = main({arguments.split()!r})\n"
        f"sys.exit(code or sorted({HEAVY} & set(sys.modules)) or 0)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "coursekit" in run.stdout
