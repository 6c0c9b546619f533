"""Parts of the library that are answers: what a question asks for, and students have anyway.

Some questions ask for what the library is made of. That is said openly (`book/grading.md`), and
this is how it is found out: each function and class of the package that can be called as the answer
is called takes the answer's place, and every case looks at it.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import pkgutil
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import coursekit
from coursekit.check.clock import silence
from coursekit.check.determinism import usual_numbers
from coursekit.check.outcome import Outcome, observe
from coursetools.questions.catalogue import references
from coursetools.questions.known_answers import Known
from coursetools.questions.question import Assignment, Question
from coursetools.questions.time_limit import Overtime, alarm

TOOLS = {"check", "figures", "submission"}  # rooms that hold no mathematics
SECONDS = 2.0  # of work, for all cases that look at one part
FEW = 0.2  # of a question's points, for a part that is no answer


def passing(
    assignment: Assignment,
    question: Question,
    least: float = FEW,
    more: Iterable[tuple[str, Any]] = (),
) -> dict[str, float]:
    """Return the parts that earn more than `least` of a question, with the share that they earn.

    `more` are others with their names, as those of the notebooks (`notebook_answers`).
    """
    known = Known(assignment, question)
    shares: dict[str, float] = {}
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # for those that write files
        try:
            for name, part in (*parts(), *more):
                if fits(part, question.reference) and (earned := share(known, part)) > least:
                    shares[name] = max(earned, shares.get(name, 0.0))
        finally:
            os.chdir(here)
    return shares


def share(known: Known, answer: Any) -> float:
    """Return the share of the points that something earns in the place of an answer."""
    student = references(known.assignment, **{known.question.name: answer})
    passed = [False] * len(known.cases)
    with contextlib.suppress(Overtime), alarm(SECONDS), silence(), usual_numbers():
        warnings.simplefilter("ignore")
        for number, case in enumerate(known.cases):
            passed[number] = _passes(known, number, observe(case.run, student))
            if number == 2 and not any(passed):
                break  # what fails three times is no answer
    return known.earned(passed)


def _passes(known: Known, number: int, outcome: Outcome) -> bool:
    try:
        return outcome.error is None and known.difference(outcome, number) is None
    except Exception:  # a value that cannot be compared
        return False


@cache
def parts() -> tuple[tuple[str, Any], ...]:
    """Return every function and class of the library, also a private one, with its name."""
    return tuple(_parts())


def _parts() -> Iterator[tuple[str, Any]]:
    for module in _modules():
        for name, value in vars(module).items():
            own = getattr(value, "__module__", "") == module.__name__
            if own and (inspect.isfunction(value) or inspect.isclass(value)):
                yield f"{module.__name__}.{name}", value


def _modules() -> Iterator[Any]:
    for about in pkgutil.iter_modules(coursekit.__path__, "coursekit."):
        if about.name.rpartition(".")[2] in TOOLS or about.name.endswith("__main__"):
            continue
        module = importlib.import_module(about.name)
        yield module
        for below in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{about.name}."):
            with contextlib.suppress(ImportError):  # it needs a package that is not there
                yield importlib.import_module(below.name)


def fits(part: Callable[..., Any], answer: Callable[..., Any]) -> bool:
    """Return whether a part can be called as an answer is."""
    if inspect.isclass(part) != inspect.isclass(answer):
        return False
    with contextlib.suppress(TypeError, ValueError):
        wanted = inspect.signature(answer).parameters.values()
        named = {one.name: 0 for one in wanted if one.kind is one.KEYWORD_ONLY and _must(one)}
        plain = [0 for one in wanted if one.kind is not one.KEYWORD_ONLY and _must(one)]
        inspect.signature(part).bind(*plain, **named)
        return True
    return False


def _must(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty and parameter.kind not in (
        parameter.VAR_POSITIONAL,
        parameter.VAR_KEYWORD,
    )
