"""Numbers of a question that are not the same for everybody: each student has a variant.

A question's file says them once, one column for each number:

    mine = variants(margin=(1.0, 0.5, 2.0, 1.5))

and its answer and cases use `mine.margin`. The variant of a student follows from the assignment's
name and their id; the first one is nobody's, to practise with.
"""

from __future__ import annotations

import ast
import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from coursekit._base.errors import CourseError

FEWEST, MOST = 3, 8  # of a question; `check` knows what comes out in each
_number = ContextVar("number of the variant", default=0)


@dataclass(frozen=True)
class Variant:
    """The numbers of one variant, as attributes: `mine.margin`."""

    number: int  # from 0
    count: int  # of the question's variants
    values: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        if name in (values := vars(self).get("values", {})):
            return values[name]
        raise AttributeError(f"there is no number {name!r} here; there are {', '.join(values)}")

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value!r}" for name, value in self.values.items())


def variants(**columns: Sequence[Any]) -> Variant:
    """Return the numbers of the variant that the question's file is read for."""
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1 or not FEWEST <= min(lengths) <= MOST:
        counts = ", ".join(f"{len(column)} of {name}" for name, column in columns.items())
        raise CourseError(
            f"variants has {counts or 'nothing'}; expected {FEWEST} to {MOST} of each number"
        )
    for name, column in columns.items():
        if odd := [value for value in column if type(value) not in (int, float, str)]:
            raise CourseError(f"{name} of variants is {odd[0]!r}; expected numbers or words")
    (count,) = lengths
    number = _number.get() % count
    return Variant(number, count, {name: column[number] for name, column in columns.items()})


@contextmanager
def reading(number: int) -> Iterator[None]:
    """Files of questions that are read in here are those of the variant with this number."""
    before = _number.set(number)
    try:
        yield
    finally:
        _number.reset(before)


def id_of(value: Any) -> str:
    """Return an id as text: a string or a whole number; "" for all else that `student` may be."""
    if not isinstance(value, str | int) or isinstance(value, bool):
        return ""
    with suppress(ValueError):  # a number of more than 4,300 digits
        return str(value).strip()
    return ""


def plain(student: Any) -> str:
    """Return an id as it is compared: without case, and without space around it."""
    return unicodedata.normalize("NFC", id_of(student)).strip().casefold()


def number_of(assignment: str, student: Any, count: int) -> int:
    """Return the number of a student's variant; 0, which is nobody's, without an id."""
    if count == 1 or not plain(student):
        return 0
    text = f"{assignment}\0{plain(student)}".encode(errors="surrogatepass")
    digest = hashlib.blake2b(text, digest_size=8).digest()
    return 1 + int.from_bytes(digest, "big") % (count - 1)


def student_in(sources: Iterable[str]) -> str:
    """Return the id that the cells of a notebook say: the last `student = "..."`, or ""."""
    name = ""
    for source in sources:
        if "student" not in source:
            continue
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            for node in ast.parse(source).body:
                targets = node.targets if isinstance(node, ast.Assign) else []
                value = getattr(node, "value", None)
                if (
                    any(isinstance(one, ast.Name) and one.id == "student" for one in targets)
                    and isinstance(value, ast.Constant)
                    and type(value.value) in (str, int)
                ):
                    name = id_of(value.value)
    return name
