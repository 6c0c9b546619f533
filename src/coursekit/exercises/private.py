"""Hidden cases: ordinary Python in `solutions/NAME/hidden.py`, which no student ever sees.

    from coursekit.exercises import hidden

    @hidden("shares", says="one key only")
    def one_key(student):
        return student.shares(torch.randn(3, 1))

Hidden cases have the form of the visible ones. Of a hidden case a student may read what it `says`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from coursekit.errors import CourseError
from coursekit.exercises.fresh import refuse_shared
from coursekit.exercises.question import Case

Run = Callable[[Any], Any]
_collected: ContextVar[dict[str, list[Case]] | None] = ContextVar("collected", default=None)


def hidden(
    question: str, *, says: str, weight: float = 1.0, tolerance: float = 1e-5
) -> Callable[[Run], Run]:
    """Make the function below a hidden case of `question`."""

    def register(run: Run) -> Run:
        cases = _collected.get()
        if cases is not None:
            case = Case(says=says, run=run, weight=weight, tolerance=tolerance)
            cases.setdefault(question, []).append(case)
        return run

    return register


def read(source: str, name: str = "hidden.py") -> dict[str, list[Case]]:
    """Execute the text of a `hidden.py` and return its cases by question; nothing else is left.

    The text is the instructor's own. It is never a module, so nobody can import it by accident.
    """
    cases: dict[str, list[Case]] = {}
    names: dict[str, Any] = {"__name__": "hidden"}
    token = _collected.set(cases)
    try:
        exec(compile(source, name, "exec", dont_inherit=True), names)
    finally:
        _collected.reset(token)
    refuse_shared(name, names, (case for found in cases.values() for case in found))
    return cases


def load(source: Path | str) -> dict[str, list[Case]]:
    """Return the cases by question, of a file or of its text; "" has none.

    Only the judge's process ever does.
    """
    text = source.read_text(encoding="utf-8") if isinstance(source, Path) else source
    if not text.strip():
        return {}
    try:
        return read(text)
    except Exception as error:
        said = " ".join(str(error).split())
        raise CourseError(f"hidden.py cannot be read: {type(error).__name__}: {said}") from error
