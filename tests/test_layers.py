"""Imports point upwards: parts know nothing of models, learners' code nothing of teachers' tools.

What a learner imports, `coursekit`, stands in layers; what teachers, authors and contributors run,
`coursetools`, in the rooms of `ROOMS` below them, each above those that it may be imported by. And
no files import each other in a circle, in whichever layer, not even for types.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"

PACKAGES = ("coursekit", "coursetools")
# The first part of a module's name below coursekit -> its layer; 0 may be imported by all.
PARTS = 1  # the layer of every other file at the top of coursekit
LAYERS = {
    0: ["__init__", "_base"],
    2: ["models", "plain", "tokenizers", "decoding", "objectives", "boxes"],
    3: ["data", "training", "analysis", "figures"],
    4: ["submission"],
    5: ["check"],
}
# The rooms of coursetools, from the top; a file that is named stands for itself.
ROOMS = [
    "__init__",
    "course",
    "notes",
    "jobs",
    "notebooks",
    "experiments",
    "text",
    "settings",
    "book",
    "assignments",
    "questions",
    "grading.records",
    "grading",
    "grading.sandbox",
    "grading.student",
    "grading.judging",
    "grading.gradebook",
    "grading.collecting",
    "grading.extend",
    "grading.due",
    "grading.running",
    "grading.results",
    "grading.changes",
    "grading.marking",
    "grading.gradescope",
    "grading.late_plugin",
    "grading.nbgrader_executor",
    "grading.settings_command",
    "grading.return_command",
    "grading.next_step",
    "grading.collect_command",
    "grading.grading_commands",
    "doctor",
    "cli",
]
PLACES = {f"coursekit.{name}": (layer, 0) for layer, names in LAYERS.items() for name in names}
PLACES |= {f"coursetools.{name}": (9, number) for number, name in enumerate(ROOMS)}


def modules(source: Path) -> dict[str, Path]:
    """Return the name of each file, `coursekit.__init__` for the package's own."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" and len(parts) > 2 else parts
        if parts[0] in PACKAGES:
            found[".".join(parts)] = path
    return found


def imported(path: Path, source: Path, known: dict[str, Path]) -> set[str]:
    """Return the modules of ours that a file imports, typed or not."""
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
        for parts in dotted:
            if parts[0] in PACKAGES:
                # `from coursekit import __version__` is a name of the package's own file
                names = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
                found.add(next((name for name in names if name in known), f"{parts[0]}.__init__"))
    return found


def place(name: str, parts: set[str]) -> tuple[str, tuple[int, int]] | None:
    """Return the room that a module is in, the innermost, and where that stands."""
    if name in parts:
        return name, (PARTS, 0)
    steps = name.split(".")
    rooms = (".".join(steps[:n]) for n in range(len(steps), 0, -1))
    return next(((room, PLACES[room]) for room in rooms if room in PLACES), None)


def violations(source: Path) -> list[str]:
    """Return every file of no layer, and every import that points downwards."""
    known, found = modules(source), []
    top = source / "coursekit"
    parts = {name for name, path in known.items() if path.parent == top} - {"coursekit.__init__"}
    for name, path in known.items():
        where, home = path.relative_to(source).as_posix(), place(name, parts)
        if home is None:
            found.append(f"{where} belongs to no layer")
            continue
        for other in sorted(imported(path, source, known)):
            there = place(other, parts)
            if there is not None and there[1] > home[1]:
                found.append(f"{where} imports {there[0].partition('.')[2]}, which is below it")
    return found


def circles(source: Path, depth: int | None = None) -> list[list[str]]:
    """Return the sets of files that reach each other by imports; of rooms with `depth` 2."""
    known = modules(source)
    graph: dict[str, set[str]] = {}
    for name, path in known.items():
        room = ".".join(name.split(".")[:depth])
        others = {".".join(one.split(".")[:depth]) for one in imported(path, source, known)}
        graph.setdefault(room, set()).update(others - {room})

    def reached(name: str) -> set[str]:
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            fresh = graph[waiting.pop()] - seen
            seen |= fresh
            waiting += fresh
        return seen

    reach = {name: reached(name) for name in graph}
    rings = {frozenset(b for b in reach[a] if a in reach[b]) for a in graph if a in reach[a]}
    return sorted(map(sorted, rings))


def test_imports_point_upwards():
    assert violations(SOURCE) == []


def test_no_files_import_each_other_in_a_circle():
    assert circles(SOURCE) == []


def test_no_rooms_import_each_other_in_a_circle():
    """A room is what `ls` shows in either package."""
    assert circles(SOURCE, depth=2) == []


def test_the_tools_share_no_file_name():
    """In coursekit a topic keeps its name from layer to layer: heads, figures.heads."""
    paths = [path for name in PACKAGES for path in (SOURCE / name).rglob("*.py")]
    paths = [path for path in paths if path.stem != "__init__"]
    several = Counter(path.stem for path in paths)
    tools = {path.stem for path in paths if "coursetools" in path.parts}
    assert {name for name in tools if several[name] > 1} == set()


def test_a_circle_is_seen(course):
    course.module("coursekit/masks", "from coursekit import heads")
    course.module("coursekit/heads", "def f():\n    from coursekit.blocks import x")
    course.module("coursekit/blocks", "import coursekit.masks")
    course.module("coursekit/cost", "import coursekit.masks")
    expected = ["coursekit.blocks", "coursekit.heads", "coursekit.masks"]
    assert circles(course.root / "src") == [expected]
    course.module("coursekit/data/texts", "import coursekit.figures.words")
    course.module("coursekit/figures/words", "")
    course.module("coursekit/figures/lines", "import coursekit.data.texts")
    assert circles(course.root / "src") == [expected]
    assert ["coursekit.data", "coursekit.figures"] in circles(course.root / "src", depth=2)


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("masks", "from coursekit.figures import show", "coursekit/masks.py imports figures"),
        ("masks", "import coursetools.cli", "coursekit/masks.py imports cli"),
        ("masks", "from coursetools import notebooks", "coursekit/masks.py imports notebooks"),
        (
            "questions/question",
            "from coursetools.grading.records.folders import Folders",
            "coursetools/questions/question.py imports grading.records,",
        ),
        (
            "check/checking",
            "from coursetools.questions.known_answers import Known",
            "coursekit/check/checking.py imports questions,",
        ),
        (
            "check/handin",
            "def f():\n    from coursetools.grading.records.verdict import Verdict",
            "coursekit/check/handin.py imports grading.records,",
        ),
        ("questions/known_answers", "from coursekit.check.compare import same", None),
        (
            "grading/judging/judge",
            "from coursetools.grading.results import pages",
            "coursetools/grading/judging/judge.py imports grading.results,",
        ),
        ("grading/results/pages", "from coursetools.grading.judging import judge", None),
        ("masks", "from . import figures", "coursekit/masks.py imports figures"),
        ("masks", "def f():\n    from .figures import a", "coursekit/masks.py imports figures"),
        ("figures/masks", "from ..check import a", "coursekit/figures/masks.py imports check"),
        ("check/checking", "import coursetools", "coursekit/check/checking.py imports __init__"),
        ("_base/errors", "import coursekit.masks", "coursekit/_base/errors.py imports masks"),
        ("new", "from coursekit import masks", None),  # a file at the top is a part
        ("new", "from coursekit.figures import show", "coursekit/new.py imports figures"),
        ("newer/__init__", "", "coursekit/newer/__init__.py belongs to no layer"),
        ("cli", "from coursekit import masks, figures", None),
        ("blocks", "from coursekit import __version__, masks", None),
    ],
)
def test_a_violation_is_seen(course, name, line, said):
    for module in ("masks", "_base/errors", "figures/masks", "blocks", "check/compare"):
        course.module(f"coursekit/{module}", "")
    rooms = ("text", "grading/records/verdict", "grading/results/pages", "grading/judging/judge")
    for module in ("cli", "notebooks/run", "questions/known_answers", *rooms):
        course.module(f"coursetools/{module}", "")
    tools = name.split("/")[0] in ("cli", "questions", "grading")
    course.module(f"course{'tools' if tools else 'kit'}/{name}", line)
    found = violations(course.root / "src")
    assert (said is None and found == []) or (said is not None and len(found) == 1)
    assert said is None or found[0].startswith(said)
