"""A class of invented students: right answers, every known mistake, broken and hostile files.

`make_class` writes what such a class hands in. The same arguments give the same class. Broken and
hostile notebooks come once each, however large the class; the others are what a class is made of.
"""

from __future__ import annotations

import ast
import copy
import csv
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hostile import BROKEN, HOSTILE, Notebook, code

from coursekit.submission.regions import grade_id, is_solution
from coursetools.assignments.rebuild import release_of
from coursetools.course import Course
from coursetools.grading.records.folders import Folders

NAMES = [
    "Amina|Diallo", "Łukasz|Wiśniewski", "雷|李", "Sofía|Muñoz Peña", "محمد|الخوارزمي",
    "Jürgen|Größmann", "Ngọc Ánh|Nguyễn", "अनन्या|शर्मा", "Σοφία|Παπαδοπούλου", "Aoife|O'Brien",
    "さくら|山田", "Дмитрий|Иванов", "Zoë|van der Berg", "지훈|김", "Ayşe|Yılmaz", "Ιάσων|Δήμου",
    "Chidi|Okonkwo", "Þóra|Jónsdóttir", "שירה|כהן", "Mateus|da Conceição", "Siân|Llywelyn",
    "สมชาย|ใจดี", "Nino|ბერიძე", "Արամ|Պետրոսյան", "Wanjiru|Kamau", "Håkon|Ødegård", "Eszter|Szőke",
    "Rūta|Kazlauskaitė", "Ion|Țepeș", "Priyanka|Das, M.Sc.", "Noor|de Wit", "François|L'Écuyer",
    "தமிழ்செல்வி|முருகன்", "Oksana|Шевченко", "Kaʻiulani|Kealoha", "Ismail|bin Osman", "Ana|Kovačević",
    "Tariq|علی", "Björn|Ångström", "Lindiwe|Dlamini", "Jean-Luc|Picard-Dubois", "María José|Ñíguez",
    "Ömer|Çelik", "Xóchitl|Hernández", "Ye-jin|Park", "Bat-Erdene|Ганбаатар", "Dženan|Hodžić",
    "Mehmet \"Memo\"|Şahin", "Leilani|Māhoe", "Tomáš|Dvořák", "Ingrid|Sæther", "Abebe|ተስፋዬ",
    "Farida|Karimova", "Élodie|N'Guessan", "Vasile|Munteanu", "Samisoni|Tuʻipulotu", "Hana|Novák",
    "Yusuf|Abdi", "Clara|Weiß", "Rahel|ገብረ",
]  # fmt: skip
WORDS = [
    "Each row is a weighted mean. If the order of the words changes, the weights move with them, "
    "so the result is the same rows in another order.",
    "Because the softmax sums to one.\n\n- first the scores\n- then the shares\n- then the mean",
    "I tried it on three examples and **every time** the numbers came out the same. I think it is "
    "because nothing in the formula knows at which position a word stands.",
    "Es hängt nicht von der Reihenfolge ab. 这个函数对顺序不敏感。",
    "The variance of a sum of `d` independent products is `d`, so we divide by its root.",
]


@dataclass(frozen=True)
class Invented:
    """One student of an invented class."""

    id: str
    first: str
    last: str
    kind: str  # "right", "mistake", "partly", "blank", "broken", "hostile", "missing"
    what: str  # the mistake's name, what is broken, ...

    @property
    def email(self) -> str:
        """An address that nobody has."""
        return f"{self.id}@example.org"


def make_class(
    course: Course, name: str, students: int = 60, seed: int = 0, *, hostile: bool = True
) -> list[Invented]:
    """Write what an invented class hands in, and its list, in a course; return the students."""
    folders = Folders(course, name)
    dice = random.Random(f"{name} {seed}")
    makers = {notebook: Maker(folders, notebook, dice) for notebook in folders.notebooks()}
    people = []
    plan = _plan(next(iter(makers.values())), students, dice, hostile=hostile)
    width = max(2, len(str(students)))
    for position, (kind, what) in enumerate(plan, 1):
        first, last = NAMES[(position - 1) % len(NAMES)].split("|")
        if position > len(NAMES):
            last = f"{last} {(position - 1) // len(NAMES) + 1}"
        who = Invented(f"s{position:0{width}}", first, last, kind, what)
        people.append(who)
        if kind == "missing":
            continue
        folder = folders.submitted(who.id)
        folder.mkdir(parents=True, exist_ok=True)
        late = timedelta(hours=dice.choice([-30, -20, -8, -3, -1, -1, 2]))
        when = datetime(2026, 11, 20, 12, 0, tzinfo=UTC) + late
        (folder / "timestamp.txt").write_text(f"{when:%Y-%m-%d %H:%M:%S} UTC")
        for notebook, maker in makers.items():
            (folder / f"{notebook}.ipynb").write_bytes(maker.hand_in(kind, what))
    write_roster(folders.class_folder / "roster.csv", people)
    return people


def write_roster(path: Path, people: list[Invented]) -> None:
    """Write the class list as `coursekit collect` reads it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "first_name", "last_name", "email"])
        writer.writerows([one.id, one.first, one.last, one.email] for one in people)


def _plan(
    maker: Maker, students: int, dice: random.Random, *, hostile: bool
) -> list[tuple[str, str]]:
    """Say what each student does: whatever is rare once, and a class around it."""
    special = [("missing", ""), ("blank", "")]
    if hostile:
        most = students // 5  # of each kind, so that a small class is still a class
        special += [("broken", what) for what in BROKEN][:most]
        special += [("hostile", what) for what in HOSTILE][:most]
    everyday = _everyday(maker, dice)
    plan = special[:students]
    plan += [next(everyday) for _ in range(students - len(plan))]
    dice.shuffle(plan)
    return plan


def _everyday(maker: Maker, dice: random.Random) -> Iterator[tuple[str, str]]:
    """Yield right answers, every known mistake in turn (two a student), and half-finished ones."""
    mistakes = list(maker.mistakes)
    half = (len(mistakes) + 1) // 2
    pairs = ["+".join(filter(None, pair)) for pair in zip(mistakes[:half], [*mistakes[half:], ""])]
    yield ("right", "the solution")
    yield ("copy", "the original")
    yield ("copy", "the copy")
    yield from (("mistake", pair) for pair in pairs)
    while True:
        share = dice.random()
        if share < 0.5:
            yield ("right", dice.choice(["the solution", "names changed", "with a helper"]))
        elif share < 0.75 and mistakes:
            yield ("mistake", dice.choice(mistakes))
        else:
            yield ("partly", "")


class Maker:
    """Makes notebooks of one assignment."""

    def __init__(self, folders: Folders, notebook: str, dice: random.Random) -> None:
        text = (folders.source / f"{notebook}.ipynb").read_text(encoding="utf-8")
        self.release = release_of(SimpleNamespace(notebook=text))
        self.dice = dice
        self.right: dict[str, str] = {}
        for cell in json.loads(text)["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code" and is_solution(cell):
                lines = (
                    line
                    for line in source.split("\n")
                    if "BEGIN SOLUTION" not in line and "END SOLUTION" not in line
                )
                self.right[grade_id(cell)] = "\n".join(lines)
        self.mistakes = _mistakes(folders, self.right)

    def hand_in(self, kind: str, what: str) -> bytes:
        """Return the file of one student."""
        notebook: Any = copy.deepcopy(self.release)
        answers = dict(self.right)
        if kind == "blank":
            return json.dumps(notebook).encode()
        if kind == "partly":
            for cell in self.dice.sample(sorted(answers), self.dice.randint(1, len(answers) - 1)):
                del answers[cell]
        if kind == "mistake":
            for one in what.split("+"):
                cell, source = self.mistakes.get(one, ("", ""))
                answers |= {cell: source} if cell else {}
        if kind == "copy" or what in ("names changed", "with a helper"):
            answers = {cell: _restyled(source, kind, what) for cell, source in answers.items()}
        if kind == "copy":
            first = next(iter(answers))
            answers[first] = _with_own(answers[first], what)
        if what == "with a helper":
            notebook["cells"].insert(2, code("my-helper", "def shape_of(x):\n    return x.shape"))
        self._fill(notebook, answers)
        if kind in ("broken", "hostile"):
            notebook = (BROKEN | HOSTILE)[what](notebook)
        return notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode()

    def _fill(self, notebook: Notebook, answers: dict[str, str]) -> None:
        for cell in notebook["cells"]:
            name = grade_id(cell)
            if name in answers:
                cell["source"] = answers[name]
            elif cell["cell_type"] == "markdown" and is_solution(cell):
                text = self.dice.choice([*WORDS, ""])
                cell["source"] = text or cell["source"]


def _mistakes(folders: Folders, right: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Return each known mistake as (cell, source) by its name."""
    from coursetools.questions import catalogue
    from coursetools.questions.wrong import as_cell

    if folders.name not in catalogue.names(folders.course):
        return {}
    assignment = catalogue.load(folders.course, folders.name)
    found = {}
    for question in assignment.questions:
        for mistake in question.misconceptions:
            if question.name in right:
                source = _as_student(as_cell(mistake.wrong, question.name))
                found[f"{question.name}: {mistake.name}"] = (question.name, source)
    return found


def _as_student(source: str) -> str:
    """Return source without annotations, whose names need imports, and without docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _restyled(source: str, kind: str, what: str) -> str:
    """Return the same answer in somebody's own clothes."""
    if kind == "copy":
        return _renamed(source, "own" if what == "the original" else "zz")
    if what == "names changed":
        return _renamed(source, "my")
    return f"# my answer\n{source}"


def _with_own(source: str, what: str) -> str:
    """Add what two students share and nobody else has; the one who copied moved and renamed it."""
    name = "check" if what == "the original" else "test"
    own = (
        f"def {name}_order({name}s):\n"
        f"    {name}_kept = [{name} * 2 for {name} in {name}s if {name} > 0]\n"
        f"    return sorted({name}_kept, reverse=True)[: len({name}s) // 2 + 1]"
    )
    return f"{source}\n\n\n{own}" if what == "the original" else f"{own}\n\n\n{source}"


def _renamed(source: str, prefix: str) -> str:
    """Rename the variables that functions set themselves."""
    tree = ast.parse(source)
    inside = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in inside:
            node.id = f"{prefix}_{node.id}"
    return ast.unparse(tree)
