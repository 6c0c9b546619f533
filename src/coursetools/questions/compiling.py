"""Writes what `coursekit.check` knows of an assignment, with no answer in it.

The visible cases go out as code, with the helpers that they use; our answer as the values that it
gives there, each known mistake as a sketch of its values, and two mistakes at once as long as the
file stays small. Floats differ a little by machine, so a file is written anew only where something
has moved by more than a case allows.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import Any

from coursekit._base.errors import CourseError
from coursekit.check import compiled
from coursekit.check.compiled import Numbers, packed, unpacked
from coursekit.check.outcome import Outcome
from coursetools.course import Course, write_whole
from coursetools.questions.catalogue import load
from coursetools.questions.known_answers import Known
from coursetools.questions.question import Assignment, Misconception, Question
from coursetools.settings.exam_settings import private_exam

PLACE = "src/coursekit/check/compiled"
LARGEST = 80_000  # bytes of a file, with pairs of mistakes; twenty are 1.6 MB


def place(course: Course, name: str) -> Path:
    """Return where the file of an assignment belongs."""
    return course / PLACE / f"{name}.zip"


def write(course: Course, name: str) -> bool:
    """Write the file of an assignment where it is not in step; return whether it was not.

    Of an exam that is private there is none.
    """
    path, assignment = place(course, name), load(course, name)
    if private_exam(course, name):
        there = path.is_file()
        path.unlink(missing_ok=True)
        return there
    if path.is_file() and in_step(path.read_bytes(), assignment):
        return False
    write_whole(path, compile_(assignment))
    return True


def compile_(assignment: Assignment) -> bytes:
    """Return the content of an assignment's file."""
    made = [Compiling(assignment, question) for question in assignment.questions]
    every = [one for first in made for one in (first, *first.variants)]
    by_turns = zip_longest(*(one.pairs() for one in every))
    waiting = [(one, pair) for turn in by_turns for one, pair in zip(every, turn) if pair]
    while True:
        for one in every:
            one.told += [pair for other, pair in waiting if other is one]
        content = _file(assignment, made)
        if len(content) <= LARGEST or not waiting:
            return content
        waiting = waiting[: len(waiting) * 3 // 4]
        for one in every:
            one.told = list(one.question.misconceptions)


def in_step(content: bytes, assignment: Assignment, *, values: bool = True) -> bool:
    """Return whether a file says of an assignment what would be written now, within tolerances.

    Without `values` no case is run, and words and code alone are compared.
    """
    try:
        old = compiled.read(content)
    except Exception:
        return False
    made = [Compiling(assignment, question) for question in assignment.questions]
    if [one.name for one in old.questions] != [one.question.name for one in made]:
        return False
    if [*old.written] != [one.name for one in assignment.written]:
        return False
    return old.title == assignment.title and all(
        one.says_the_same(question) and (not values or one.gives_the_same(question))
        for one, question in zip(made, old.questions)
    )


class Compiling:
    """One question on its way into the file."""

    def __init__(self, assignment: Assignment, question: Question) -> None:
        self.question = question
        self.known = Known(assignment, question, question.cases)
        self.told = list(question.misconceptions)
        self.variants = [
            Compiling(assignment.of(number), one) for number, one in enumerate(question.variants, 1)
        ]

    @cached_property
    def right(self) -> list[Outcome]:
        """What our answer gives."""
        return self.known.outcomes()

    def index(self, numbers: Numbers) -> dict[str, Any]:
        """Return what the index says of it; `numbers` takes its numbers."""
        return {
            **self._facts(),
            "cases": [
                {
                    "says": case.says,
                    "run": case.run.__name__,
                    "tolerance": self.known.tolerance(number),
                    "expected": self._expected(number, numbers),
                }
                for number, case in enumerate(self.question.cases)
            ],
            "mistakes": [
                {
                    "name": one.name,
                    **({"both": one.both} if one.both else {"hint": one.hint}),
                    "sketches": self._sketches(one, numbers),
                }
                for one in self.told
            ],
            **({"variant": vars(self.question.variant)} if self.question.variant else {}),
            **(
                {"variants": [one.index(numbers) for one in self.variants]} if self.variants else {}
            ),
        }

    def pairs(self) -> Iterator[Misconception]:
        """Yield pairs of mistakes that give something which no other does."""
        right = repr(([None] * len(self.right), [], []))  # two mistakes may undo each other
        seen = {right, *(self._form(one) for one in self.question.misconceptions)}
        for pair in self.known.pairs:
            if (form := self._form(pair)) not in seen:
                seen.add(form)
                yield pair

    def says_the_same(self, old: compiled.CompiledQuestion) -> bool:
        """Return whether `old` has the same words and the same code."""
        mistakes, facts = self.question.misconceptions, self._facts()
        cases = [(case.says, case.run.__name__) for case in self.question.cases]
        return (
            all(getattr(old, key) == value for key, value in facts.items())
            and old.code == code(self.question)
            and [(case.says, case.run.__name__) for case in old.cases] == cases
            and [(one.name, one.hint) for one in old.mistakes[: len(mistakes)]]
            == [(one.name, one.hint) for one in mistakes]
            and old.variant == self.question.variant
            and len(old.variants) == len(self.variants)
            and all(one.says_the_same(two) for one, two in zip(self.variants, old.variants))
        )

    def gives_the_same(self, old: compiled.CompiledQuestion) -> bool:
        """Return whether `old` has the same values, within tolerances."""
        return (
            all(case.difference(right) is None for case, right in zip(old.cases, self.right))
            and all(  # and so are two at once, which are made of these
                old.misconception(self.known.outcomes(mistake)) is one
                for mistake, one in zip(self.question.misconceptions, old.mistakes)
            )
            and all(one.gives_the_same(two) for one, two in zip(self.variants, old.variants))
        )

    def _facts(self) -> dict[str, Any]:
        question = self.question
        return {
            "name": question.name,
            "title": question.title,
            "is_class": inspect.isclass(question.reference),
            "hint": question.hint,
            "page": question.page,
            "forbidden": question.forbidden,
            "needs": question.needs,
        }

    def _expected(self, number: int, numbers: Numbers) -> Any:
        outcome, own, tolerance = self.right[number], Numbers(), self.known.tolerance(number)
        if (
            self.known.difference(unpacked(packed(outcome, own, tolerance), own), number)
            is not None
        ):
            case = self.question.cases[number]
            raise CourseError(
                f"what “{case.says}” of {self.question.name} gives needs more digits than a file "
                "keeps; give the case a tolerance of 1e-6 or more"
            )
        return packed(outcome, numbers, tolerance)

    def _sketches(self, mistake: Misconception, numbers: Numbers) -> list[Any]:
        return [
            None
            if self.known.difference(outcome, number) is None
            else packed(outcome, numbers, self.known.tolerance(number), self.right[number])
            for number, outcome in enumerate(self.known.outcomes(mistake))
        ]

    def _form(self, mistake: Misconception) -> str:
        """Return a text that is the same for mistakes which nobody can tell apart."""
        numbers = Numbers()
        try:
            sketches = self._sketches(mistake, numbers)
        except CourseError:  # something that no file keeps
            return ""
        rounded = [[f"{x:.4g}" for x in part.tolist()] for part in numbers.parts["f"]]
        return repr((sketches, rounded, [part.tolist() for part in numbers.parts["i"]]))


def _file(assignment: Assignment, made: list[Compiling]) -> bytes:
    numbers = Numbers()
    index = {
        "name": assignment.name,
        "title": assignment.title,
        "questions": [one.index(numbers) for one in made],
        "written": [one.name for one in assignment.written],
    }
    cases = {one.question.name: code(one.question) for one in made}
    return compiled.write(assignment.name, index, cases, numbers)


def code(question: Question) -> str:
    """Return the visible cases of a question as Python, with what they use and nothing more."""
    home = sys.modules[question.reference.__module__]
    used = Used(home, f"{question.name}, our answer")
    for case in question.cases:
        used.take(home, case.run.__name__)
    return used.text()


class Used:
    """The definitions that some names need, from a file and those beside it."""

    def __init__(self, home: ModuleType, private: str) -> None:
        self.home, self.private = home, private
        self._answer = private.partition(",")[0]
        self._imports: dict[str, None] = {}
        self._found: dict[tuple[str, str], str] = {}
        self._trees: dict[str, ast.Module] = {}

    def text(self) -> str:
        """Return the Python that defines them."""
        return "\n".join(self._imports) + "\n\n\n" + "\n\n\n".join(self._found.values()) + "\n"

    def take(self, module: ModuleType, name: str) -> None:
        """Take a name of a module, and before it what its definition uses."""
        if (module.__name__, name) in self._found:
            return
        for node in self._tree(module).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._take_import(module, node, name)
            elif name in _bound(node):
                if name == self._answer and module is self.home:
                    raise CourseError(
                        f"{module.__name__.rpartition('.')[2]}.py: a visible case uses "
                        f"{self.private}; cases call student.{self._answer}"
                    )
                self._found[module.__name__, name] = ""  # it may call itself
                for used in _used(node):
                    self.take(module, used)
                del self._found[module.__name__, name]
                self._found[module.__name__, name] = _without_decorators(node)

    def _take_import(
        self, module: ModuleType, node: ast.Import | ast.ImportFrom, name: str
    ) -> None:
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("coursetools"):
            return  # its decorators; learners do not have them, and a case may use the names
        for alias in node.names:
            if (alias.asname or alias.name.split(".")[0]) != name:
                continue
            if isinstance(node, ast.ImportFrom) and node.level:
                self.take(sys.modules[f"{module.__package__}.{node.module}"], alias.name)
            elif isinstance(node, ast.Import) or not str(node.module).startswith("__"):
                one = type(node)(**{**vars(node), "names": [alias]})
                self._imports[ast.unparse(one)] = None

    def _tree(self, module: ModuleType) -> ast.Module:
        if module.__name__ not in self._trees:
            self._trees[module.__name__] = ast.parse(inspect.getsource(module))
        return self._trees[module.__name__]


def _bound(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
    return {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}


def _used(node: ast.AST) -> Iterator[str]:
    """Yield the names that a definition uses, without its annotations and decorators."""
    for part in ast.walk(_bare(node)):
        if isinstance(part, ast.Name):
            yield part.id


def _bare(node: ast.AST) -> ast.AST:
    tree = ast.parse(ast.unparse(node))
    for part in ast.walk(tree):
        if isinstance(part, ast.FunctionDef):
            part.returns, part.decorator_list = None, []
        elif isinstance(part, ast.arg):
            part.annotation = None
    return tree


def _without_decorators(node: ast.stmt) -> str:
    return ast.unparse(_bare(node))
