"""What gives points in an answer in words: `solutions/NAME/QUESTION.toml`, beside the question.

    comments = ["You say what happens, and not why."]

    [items.seen]
    points = 1
    says = "The rows of the result are shuffled in the same way as the rows of x."

The items are ticked by whoever reads an answer, and read by its student. They need not sum to the
question's points: what is ticked counts from 0 to that. Points below 0 take something away.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import Any

from coursekit._base.errors import CourseError
from coursetools.course import Course

MOST = 9  # items; each has a digit on the keyboard


@dataclass(frozen=True)
class Item:
    """One thing to look for."""

    name: str
    points: float
    says: str


@dataclass(frozen=True)
class Rubric:
    """What to look for, and what is said again and again; of a question without a file, nothing."""

    items: tuple[Item, ...] = ()
    comments: tuple[str, ...] = ()

    def points(self, given: list[str], most: float) -> float:
        """Return what the items of these names are worth, kept from 0 to `most`."""
        total = sum(item.points for item in self.items if item.name in given)
        return round(min(max(total, 0.0), most), 2)


def read(course: Course, assignment: str, question: str) -> Rubric:
    """Read the rubric of a question; an empty one where there is no file."""
    path = course.private(assignment) / f"{question}.toml"
    where = course.relative(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Rubric()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseError(f"{where} cannot be read: {error}") from error
    if unknown := [name for name in content if name not in ("items", "comments")]:
        raise CourseError(f"{where}: {unknown[0]!r} should be items or comments")
    items, comments = content.get("items"), content.get("comments", [])
    if not isinstance(items, dict) or not 1 <= len(items) <= MOST:
        raise CourseError(
            f"{where} should have from 1 to {MOST} items, each as [items.NAME] with points and says"
        )
    if not (isinstance(comments, list) and all(_sentence(one) for one in comments)):
        raise CourseError(f"{where}: comments should be a list of sentences")
    made = tuple(_item(name, about, where) for name, about in items.items())
    return Rubric(made, tuple(comments))


def _item(name: str, about: Any, where: str) -> Item:
    if not re.fullmatch(r"[A-Za-z][\w-]*", name):
        raise CourseError(
            f"{where}: an item is called {name!r}, which should be a word that begins with a letter"
        )
    if not isinstance(about, dict) or set(about) != {"points", "says"}:
        raise CourseError(f"{where}: [items.{name}] should have points and says, and nothing else")
    points, says = about["points"], about["says"]
    number = isinstance(points, int | float) and not isinstance(points, bool)
    if not number or not 0 < abs(points) < 1000:
        raise CourseError(f"{where}: points of {name} should be a number other than 0: {points!r}")
    if not _sentence(says):
        raise CourseError(f"{where}: says of {name} should be a sentence: {says!r}")
    return Item(name, float(points), says)


def _sentence(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip()) and "\n" not in text
