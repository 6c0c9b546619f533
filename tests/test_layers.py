"""Imports point upwards: parts know nothing of models, models nothing of the course around them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"

# The first part of a module's name below coursekit -> its layer; 0 may be imported by all.
LAYERS = {
    0: ["__init__", "errors", "progress", "_check", "_lazy"],
    1: [
        "attention",
        "kernels",
        "choosing",
        "cache",
        "heads",
        "local",
        "masks",
        "positions",
        "biases",
        "activations",
        "blocks",
        "quick",
        "cost",
    ],
    2: ["models", "tokenizers", "decoding", "objectives", "box_ops", "average_precision"],
    3: ["data", "training", "analysis", "figures"],
    4: ["notebooks", "book", "exercises", "grading", "doctor", "cli"],
}
LAYER_OF = {name: layer for layer, names in LAYERS.items() for name in names}


def parts_of(path: Path, source: Path) -> list[str]:
    """Return the dotted name of a file, `__init__` for the package's own."""
    parts = list(path.relative_to(source).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" and len(parts) > 2 else parts


def imported(path: Path, source: Path) -> set[str]:
    """Return the first name below coursekit of everything that a file imports, typed or not."""
    package = list(path.parent.relative_to(source).parts)
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            dotted = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            base = base + (node.module.split(".") if node.module else [])
            dotted = [[*base, alias.name] for alias in node.names]
        else:
            continue
        for name in dotted:
            if name[0] == "coursekit":
                # `from coursekit import __version__` is a name of the package's own file
                below = name[1] if len(name) > 1 else "__init__"
                exists = (source / "coursekit" / below).is_dir() or (
                    source / "coursekit" / f"{below}.py"
                ).is_file()
                found.add(below if exists else "__init__")
    return found


def violations(source: Path) -> list[str]:
    """Return every file of no layer, and every import that points downwards."""
    found = []
    for path in sorted((source / "coursekit").rglob("*.py")):
        name = parts_of(path, source)[1]
        where = path.relative_to(source).as_posix()
        if name not in LAYER_OF:
            found.append(f"{where} belongs to no layer")
            continue
        for other in sorted(imported(path, source)):
            if LAYER_OF.get(other, -1) > LAYER_OF[name]:
                found.append(f"{where} imports {other}, which is below it")
    return found


def test_imports_point_upwards():
    assert violations(SOURCE) == []


def test_the_guide_names_the_parts():
    guide = (SOURCE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    line = next(line for line in guide.splitlines() if line.startswith("1. parts:"))
    assert sorted(line.split("`")[1::2]) == sorted(LAYERS[1])


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("masks", "from coursekit.figures import show", "coursekit/masks.py imports figures"),
        ("masks", "import coursekit.cli", "coursekit/masks.py imports cli"),
        ("masks", "from coursekit import notebooks", "coursekit/masks.py imports notebooks"),
        ("masks", "from . import notebooks", "coursekit/masks.py imports notebooks"),
        ("masks", "def f():\n    from .cli import main", "coursekit/masks.py imports cli"),
        ("figures/masks", "from ..cli import main", "coursekit/figures/masks.py imports cli"),
        ("errors", "import coursekit.masks", "coursekit/errors.py imports masks"),
        ("new", "", "coursekit/new.py belongs to no layer"),
        ("newer/__init__", "", "coursekit/newer/__init__.py belongs to no layer"),
        ("cli", "from coursekit import masks, figures, errors", None),
        ("blocks", "from coursekit import __version__, masks", None),
    ],
)
def test_a_violation_is_seen(course, name, line, said):
    for module in ("masks", "cli", "errors", "notebooks/run", "figures/masks", "blocks"):
        course.module(f"coursekit/{module}", "")
    course.module(f"coursekit/{name}", line)
    found = violations(course.root / "src")
    assert (said is None and found == []) or (said is not None and len(found) == 1)
    assert said is None or found[0].startswith(said)
