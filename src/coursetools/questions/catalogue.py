"""The questions of an assignment, read from its notebook and the files in `solutions/NAME/`.

They are read as text, so that a grader on another machine needs nothing but the text. The files
become modules that know one another by `from .shared import ...`, and nobody else.
"""

from __future__ import annotations

import ast
import hashlib
import linecache
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from types import ModuleType, SimpleNamespace
from typing import Any

from coursekit._base.errors import CourseError
from coursekit._base.nearest import no_such
from coursekit.check.variants import Variant, reading
from coursekit.submission import parsing, regions
from coursetools.assignments.sources import source, sources
from coursetools.course import Course
from coursetools.questions import mistakes
from coursetools.questions.fresh_values import refuse_shared
from coursetools.questions.question import Assignment, Case, Question, Written

LEVELS = {"easy": 1, "medium": 2, "hard": 3}
TITLE = re.compile(r"# [^:\n]*: *(.+)")
HEADING = re.compile(r"## (?:\d+\. )?(.+)\n+\*([\d.]+) points? · ([\w ]+) · (\d+) minutes?\*")
Texts = tuple[tuple[str, str], ...]  # names of files and what is in them


def names(course: Course) -> list[str]:
    """Return the names of the assignments whose questions are ours, in the order of the course."""
    return [name for name in sources(course) if any(course.private(name).glob("*.py"))]


def load(course: Course, name: str) -> Assignment:
    """Return the assignment called `name` of a course."""
    notebook = source(course, name).read_text(encoding="utf-8")
    assignment = of(name, notebook, texts(course, name))
    if assignment is None:
        raise CourseError(
            f"solutions/{name}/ has no questions of ours; choose from {', '.join(names(course))}"
        )
    return assignment


def find(course: Course, question: str) -> tuple[Assignment, Question]:
    """Return the question called `question`, and its assignment; no two have the same name."""
    for assignment in (load(course, name) for name in names(course)):
        for one in assignment.questions:
            if one.name == question:
                return assignment, one
    every = [one.name for name in names(course) for one in load(course, name).questions]
    raise CourseError(no_such("question", question, every))


def texts(course: Course, name: str) -> Texts:
    """Return the files of an assignment's questions."""
    folder = course.private(name)
    paths = sorted(path for path in folder.glob("*") if path.suffix in (".py", ".md"))
    return tuple((path.name, path.read_text(encoding="utf-8")) for path in paths)


@lru_cache(maxsize=64)
def of(name: str, notebook: str, files: Texts) -> Assignment | None:
    """Return what a notebook and the files of its questions ask, None where there are none."""
    there = dict(files)
    modules = modules_of(name, there)
    if not modules:
        return None
    asked, written, title = _read(name, parsing.master(notebook), there)
    for cell in asked:
        if file_of(cell) not in modules:
            raise CourseError(
                f"solutions/{name}/{file_of(cell)}.py is missing, the question {cell}"
            )
    questions = [_question(name, *one, modules, there) for one in asked.items()]
    for number in range(1, _variants(name, questions)):
        others = modules_of(name, there, number)
        questions = [
            replace(first, variants=(*first.variants, _question(name, *one, others, there)))
            if first.variant
            else first
            for first, one in zip(questions, asked.items())
        ]
    known = {file_of(cell) for cell in (*asked, *written)}
    for file in sorted(there):
        stem = file.rpartition(".")[0]
        if file.endswith(".md") and stem not in known:
            raise CourseError(f"solutions/{name}/{file} belongs to no question of the notebook")
    heard = {case.run for question in questions for case in (*question.cases, *question.hidden)}
    for stem, module in modules.items():
        if any(case.run not in heard for found in _cases(module).values() for case in found):
            raise CourseError(f"solutions/{name}/{stem}.py has cases, and belongs to no question")
    words = tuple(
        Written(name=cell, page=mistakes.read(there[f"{cell}.md"], f"{cell}.md").page, **about)
        for cell, about in written.items()
    )
    return Assignment(name=name, title=title, questions=tuple(questions), written=words)


def references(assignment: Assignment, **instead: Any) -> SimpleNamespace:
    """Return what a perfect student would have written, but for the names given in `instead`."""
    known = {question.name: question.reference for question in assignment.questions}
    return SimpleNamespace(**{**known, **instead})


def file_of(question: str) -> str:
    """Return the name of a question's file: `additive_scores` of AdditiveScores."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", question).lower()


def modules_of(name: str, files: Mapping[str, str], number: int = 0) -> dict[str, ModuleType]:
    """Execute the Python of an assignment's questions; return the modules by their names.

    `number` says for which variant, where questions have several.
    """
    text = "".join(f"{file}\0{files[file]}\0" for file in sorted(files))
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    package = ModuleType(f"questions_{digest}{f'_{number}' if number else ''}.{name}")
    package.__path__ = []
    with reading(number):
        return _modules(
            package, {f.removesuffix(".py"): t for f, t in files.items() if f[-3:] == ".py"}
        )


def _modules(package: ModuleType, sources: dict[str, str]) -> dict[str, ModuleType]:
    parent = package.__name__.rpartition(".")[0]
    sys.modules.setdefault(parent, ModuleType(parent)).__path__ = []
    sys.modules[package.__name__] = package
    made: dict[str, ModuleType] = {}

    def make(stem: str) -> None:
        if stem in made or stem not in sources:
            return
        file = f"<solutions/{package.__name__.rpartition('.')[2]}/{stem}.py>"
        module = made[stem] = ModuleType(f"{package.__name__}.{stem}")
        module.__file__, module.__package__ = file, package.__name__
        sys.modules[module.__name__] = module
        setattr(package, stem, module)
        try:
            tree = ast.parse(sources[stem])
            for node in tree.body:  # what it imports from beside it comes first
                if isinstance(node, ast.ImportFrom) and node.level:
                    for one in [node.module] if node.module else [a.name for a in node.names]:
                        make(one)
            lines = sources[stem].splitlines(keepends=True)
            linecache.cache[file] = (len(sources[stem]), None, lines, file)
            exec(compile(tree, file, "exec", dont_inherit=True), vars(module))
        except Exception as error:
            reason = " ".join(str(error).split())
            raise CourseError(
                f"{file[1:-1]} cannot be read: {type(error).__name__}: {reason}"
            ) from error

    for stem in sources:
        make(stem)
    return made


def _variants(name: str, questions: list[Question]) -> int:
    """Return how many variants there are; refuse what could not be told to a student."""
    counts = {q.name: q.variant.count for q in questions if q.variant}
    if len(set(counts.values())) > 1:
        numbers = ", ".join(f"{count} of {question}" for question, count in counts.items())
        raise CourseError(
            f"solutions/{name}: there are {numbers}; all should have as many variants"
        )
    for question in questions:
        if found := counts.keys() & {*question.needs}:
            raise CourseError(
                f"solutions/{name}: {question.name} needs {found.pop()}, which has variants; what "
                "others need has the same numbers for everybody"
            )
    return max(counts.values(), default=1)


def _question(
    name: str,
    cell: str,
    about: dict[str, Any],
    modules: Mapping[str, ModuleType],
    files: Mapping[str, str],
) -> Question:
    stem = file_of(cell)
    module, where = modules[stem], f"solutions/{name}/{stem}"
    if not hasattr(module, cell):
        raise CourseError(f"{where}.py should define {cell}, our answer")
    if f"{stem}.md" not in files:
        raise CourseError(f"{where}.md is missing: the page, the first hint and the mistakes")
    reference = getattr(module, cell)
    texts = mistakes.read(files[f"{stem}.md"], f"{where}.md", reference)
    cases = _cases(module)
    refuse_shared(f"{where}.py", vars(module), [*cases["visible"], *cases["hidden"]])
    return Question(
        name=cell,
        hint=texts.hint,
        page=texts.page,
        reference=reference,
        forbidden=texts.forbidden,
        needs=texts.needs,
        parts=texts.parts,
        cases=tuple(cases["visible"]),
        hidden=tuple(cases["hidden"]),
        misconceptions=tuple(one for one in texts.mistakes if one.hint),
        demands=tuple(one for one in texts.mistakes if not one.hint),
        variant=next((one for one in vars(module).values() if isinstance(one, Variant)), None),
        **about,
    )


def _cases(module: ModuleType) -> dict[str, list[Case]]:
    """Return the visible and the hidden cases in a file, in its order."""
    cases: dict[str, list[Case]] = {"visible": [], "hidden": []}
    for value in vars(module).values():
        for kind, found in cases.items():
            case = getattr(value, "__dict__", {}).get(kind)
            if isinstance(case, Case) and case.run is value:
                found.append(case)
    return cases


def _read(
    name: str, notebook: dict[str, Any], files: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Return what a notebook says of its questions, of those in words, and its title."""
    asked: dict[str, Any] = {}
    written: dict[str, Any] = {}
    title, heading = name, None
    for cell in notebook["cells"]:
        grade_id = regions.grade_id(cell)
        if cell["cell_type"] == "markdown" and not grade_id:
            if first := TITLE.match(cell["source"]):
                title = first[1][:1].upper() + first[1][1:]
            heading = HEADING.match(cell["source"]) or heading
        elif grade_id and (regions.is_solution(cell) or regions.is_by_hand(cell)):
            by_hand = f"{grade_id}.md" in files and f"{file_of(grade_id)}.py" not in files
            if heading is None:
                raise CourseError(
                    f"{name}: above the cell {grade_id} should stand ## 1. Its title, and below "
                    "that *3 points · easy · 15 minutes*"
                )
            about = {"title": heading[1], "points": float(heading[2]), "minutes": int(heading[4])}
            if by_hand:
                written[grade_id] = about
            elif heading[3] in LEVELS:
                asked[grade_id] = {**about, "difficulty": LEVELS[heading[3]]}
            else:
                raise CourseError(f"{name}: {grade_id} is {heading[3]!r}, not {', '.join(LEVELS)}")
            heading = None
    return asked, written, title
