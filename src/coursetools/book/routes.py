"""Routes through the book, what a chapter needs and how long it takes; and the course counted.

The front matter of a chapter says what it `needs`, that of the home page which chapters each of the
`routes` has. No time is there: reading is counted from the words of the page, running is what
the notebook's last run took, and solving is what the questions of the assignment say of themselves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from coursetools.book import lecture_map
from coursetools.book.contents import chapters, front_matter, page, parts, words
from coursetools.course import Course
from coursetools.notebooks.run import read_record

ASKED = re.compile(r"^\*\d+ points?\b.*?\b(\d+) minutes?\*", re.MULTILINE)
PAGE = re.compile(r"\bbook/(\w+)\.(?:html|md)")
WORDS_A_MINUTE = 150
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Route:
    """Some of the chapters in reading order; `days` has them by day, if the route has days."""

    name: str
    about: str
    chapters: list[str]
    days: list[list[str]]


@dataclass(frozen=True)
class Way:
    """What each chapter needs, and the routes."""

    needs: dict[str, list[str]]
    routes: list[Route]


@dataclass(frozen=True)
class Times:
    """Minutes for the page and for the assignment, seconds for the notebook; None is not known."""

    read: float
    run: float | None
    solve: float | None

    @property
    def minutes(self) -> float:
        """All of it."""
        return self.read + (self.run or 0) / 60 + (self.solve or 0)


def read_way(course: Course) -> Way:
    """Return needs and routes from the front matter; a chapter without needs is left out."""
    routes = []
    for route in front_matter(course, "index").get("routes", ()):
        days = route.get("days", [])
        listed = route.get("chapters", [stem for day in days for stem in day])
        routes.append(Route(route["name"], route["about"], listed, days))
    by_chapter = {stem: front_matter(course, stem).get("needs") for stem in chapters(course)}
    needs = {stem: listed for stem, listed in by_chapter.items() if listed is not None}
    return Way(needs, routes)


def check_way(course: Course) -> list[str]:
    """Return one sentence for each fault of needs and routes; none means that all is well.

    What a chapter needs must come before it in the book, so needs can have no circle.
    """
    way, order = read_way(course), list(chapters(course))
    faults = []
    for place, stem in enumerate(order):
        if stem not in way.needs:
            faults.append(f"the front matter of book/{stem}.md does not say what it `needs`")
        for need in way.needs.get(stem, []):
            if need not in order[:place]:
                faults.append(f"{stem} needs {need}, which does not stand before it")
        if not any(stem in route.chapters for route in way.routes):
            faults.append(f"{stem} is on no route")
    for route in way.routes:
        if route.chapters != [stem for stem in order if stem in route.chapters]:
            faults.append(f"{route.name}: a chapter is unknown, or out of order, or there twice")
        faults += [
            f"{route.name}: {stem} needs {need}, which is not on it"
            for stem in route.chapters
            for need in way.needs.get(stem, [])
            if need not in route.chapters
        ]
    return faults


def executed(course: Course, stem: str) -> Path:
    """Return the executed copy of the chapter's notebook."""
    return course.executed / f"{stem}.ipynb"


def assignments(course: Course) -> dict[str, Path]:
    """Return the assignment of each chapter that has one, by the page that its first cell names."""
    paths = {}
    for path in sorted((course.notebooks / "assignments").glob("*/*.ipynb")):
        link = PAGE.search(_cells(path)[0])
        if link:
            paths[link.group(1)] = path
    return paths


def times(course: Course) -> dict[str, Times]:
    """Return how long each chapter takes to read, to run and to solve."""
    assignment_of = assignments(course)
    spent = {}
    for stem, pages in chapters(course).items():
        record = read_record(executed(course, stem))
        minutes = (
            ASKED.findall("\n".join(_cells(assignment_of[stem]))) if stem in assignment_of else []
        )
        spent[stem] = Times(
            read=sum(words(page(course, name)) for name in pages) / WORDS_A_MINUTE,
            run=record["seconds"] if record else None,
            solve=float(sum(map(int, minutes))) if minutes else None,
        )
    return spent


def counted(course: Course) -> str:
    """Return the sentence that counts the course; the home page shows it."""
    rows = lecture_map.read_rows(course)
    built = sum(row.state == "built" for row in rows)
    amount = f"all {len(rows)}" if built == len(rows) else f"{built} of the {len(rows)}"
    return (
        f"{len(chapters(course))} chapters in {NUMBERS[len(parts(course))]} parts, each with a "
        f"notebook; {len(assignments(course))} assignments; {amount} topics of "
        f"{NUMBERS[len(lecture_map.DECKS)]} slide decks."
    )


def duration(minutes: float) -> str:
    """Return a time as a learner plans with it: minutes by fives, hours by halves."""
    if minutes < 57.5:
        return f"{max(5, 5 * round(minutes / 5))} min"
    halves = round(minutes / 30)
    return f"{halves // 2}{'½' * (halves % 2)} h"


def total(parts: Iterable[Times]) -> Times:
    """Return the sum of several chapters' times."""
    every = list(parts)
    return Times(
        read=sum(time.read for time in every),
        run=sum(time.run or 0 for time in every),
        solve=sum(time.solve or 0 for time in every),
    )


def _cells(path: Path) -> list[str]:
    """Return the texts of a notebook's cells, without its programs."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
