"""Which assignments there are, and which of them asks for a name."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from coursekit.errors import CourseError
from coursekit.exercises.question import Assignment, Question

FOLDER = re.compile(r"a\d\d_\w+")  # a01_kernels
_looked: dict[str, Assignment] = {}  # those whose cases share nothing


def names() -> list[str]:
    """Return the names of all assignments, in the order of the course."""
    found = (path.parent.name for path in Path(__file__).parent.glob("a*/__init__.py"))
    return sorted(name for name in found if FOLDER.fullmatch(name))


def load(name: str) -> Assignment:
    """Return the public half of the assignment called `name`."""
    module = sys.modules.get(f"coursekit.exercises.{name}")
    if module is not None and module.ASSIGNMENT is _looked.get(name):
        return module.ASSIGNMENT
    if name not in names():
        raise CourseError(f"there is no assignment {name!r}; there are {', '.join(names())}")
    from coursekit.exercises.fresh import refuse_shared  # which needs torch, and names does not

    module = import_module(f"coursekit.exercises.{name}")
    cases = [case for question in module.ASSIGNMENT.questions for case in question.cases]
    for file in [one for one in sys.modules if one.startswith(f"{module.__name__}.")]:
        own = [case for case in cases if case.run.__module__ == file]
        refuse_shared(file, vars(sys.modules[file]), own)
    _looked[name] = module.ASSIGNMENT
    return module.ASSIGNMENT


def find(name: str) -> tuple[Assignment, Question] | None:
    """Return the question that asks for `name`, and its assignment; no two ask for the same."""
    for assignment in map(load, names()):
        for question in assignment.questions:
            if question.name == name:
                return assignment, question
    return None


def references(assignment: Assignment, **instead: Any) -> SimpleNamespace:
    """Return what a perfect student would have written, but for the names given in `instead`."""
    known = {question.name: question.reference for question in assignment.questions}
    return SimpleNamespace(**{**known, **instead})
