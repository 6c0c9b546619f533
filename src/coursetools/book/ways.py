"""The way through the book: what a chapter needs, how long it takes, and routes; and the course
counted.

`book/way.toml` says what each chapter needs and which chapters a route has. No time stands there:
reading is counted from the words of the page, running is what the notebook's last run took, and
solving is what the questions of the chapter's assignment say of themselves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from coursetools.book import lecture_map
from coursetools.book.contents import chapters, page, parts, words
from coursetools.book.read import read_toml
from coursetools.notebooks.run import executed_folder, read_record

ASKED = re.compile(r"^\*\d+ points?\b.*?\b(\d+) minutes?\*", re.MULTILINE)
PAGE = re.compile(r"\bbook/(\w+)\.html")
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
    """What each chapter needs, the routes, and how many words are read in a minute."""

    needs: dict[str, list[str]]
    routes: list[Route]
    words_a_minute: int


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


def way_path(root: Path) -> Path:
    """Return where needs and routes stand."""
    return Path(root) / "book" / "way.toml"


def read_way(root: Path) -> Way:
    """Return needs and routes as they stand in the table."""
    table = read_toml(way_path(root))
    routes = []
    for route in table["routes"]:
        days = route.get("days", [])
        listed = route.get("chapters", [stem for day in days for stem in day])
        routes.append(Route(route["name"], route["about"], listed, days))
    return Way(table["needs"], routes, table["words_a_minute"])


def check_way(root: Path) -> list[str]:
    """Return one sentence for each fault of the table; none means that all is well.

    What a chapter needs must stand before it in the book, so needs can have no circle.
    """
    way, order = read_way(root), list(chapters(root))
    faults = [f"{stem} has needs and is no chapter" for stem in way.needs if stem not in order]
    for place, stem in enumerate(order):
        if stem not in way.needs:
            faults.append(f"what {stem} needs is not said")
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


def executed(root: Path, stem: str) -> Path:
    """Return the executed copy of the chapter's notebook."""
    return executed_folder(root) / f"{stem}.ipynb"


def assignments(root: Path) -> dict[str, Path]:
    """Return the assignment of each chapter that has one, by the page that its first cell names."""
    found = {}
    for path in sorted((Path(root) / "notebooks" / "assignments").glob("*/*.ipynb")):
        named = PAGE.search(_cells(path)[0])
        if named:
            found[named.group(1)] = path
    return found


def times(root: Path) -> dict[str, Times]:
    """Return how long each chapter takes to read, to run and to solve."""
    rate, given = read_way(root).words_a_minute, assignments(root)
    found = {}
    for stem, pages in chapters(root).items():
        record = read_record(executed(root, stem))
        asked = ASKED.findall("\n".join(_cells(given[stem]))) if stem in given else []
        found[stem] = Times(
            read=sum(words(page(root, name)) for name in pages) / rate,
            run=record["seconds"] if record else None,
            solve=float(sum(map(int, asked))) if asked else None,
        )
    return found


def counted(root: Path) -> str:
    """Return the sentence that counts the course; the home page shows it, and README has it."""
    rows = lecture_map.read_rows(root)
    built = sum(row.state == "built" for row in rows)
    amount = f"all {len(rows)}" if built == len(rows) else f"{built} of the {len(rows)}"
    return (
        f"{len(chapters(root))} chapters in {NUMBERS[len(parts(root))]} parts, each with a "
        f"notebook; {len(assignments(root))} assignments; {amount} topics of "
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
