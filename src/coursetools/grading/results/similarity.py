"""Of `coursekit review NAME`: pairs of students whose answers are alike, for a human to read.

Fingerprints that the release has, and those that many of the class have, say nothing and are left
out. A rare one counts more than a common one. An index from fingerprints to students finds the
pairs, so the time grows with the class and not with its square.

Being alike is no proof of anything: there are few good ways to write three lines.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from coursekit._base.progress import Progress
from coursekit.submission import parsing
from coursekit.submission.regions import grade_id, is_solution, release_source
from coursetools.assignments.sources import source
from coursetools.course import Course, write_changed
from coursetools.grading.fingerprints import fingerprints
from coursetools.grading.own_answers import Likeness, OwnAnswers
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.groups import Groups
from coursetools.grading.records.verdict_files import Verdicts
from coursetools.grading.results import pages
from coursetools.grading.results.earlier import earlier_answers
from coursetools.grading.results.outline import outlines
from coursetools.grading.results.pages import counted, render
from coursetools.grading.results.scores import (
    Handed,
    graded,
    read_gradebook,
    verdicts_of,
)
from coursetools.questions import catalogue
from coursetools.text import plain

PAIRS = 50  # on the page
LEAST = 0.5  # shared part of what two students have of their own
ENOUGH = 3  # fingerprints that a pair must share
COMMON = 0.02  # of a class: what more students than this have is nobody's own
AT_LEAST = 8  # students that may share something in a small class before it is common


@dataclass(frozen=True)
class Pair:
    """Two students, how alike they are from 0 to 1, and how much that says."""

    one: str
    other: str
    alike: float
    weight: float  # the rarer what they share, and the more of it, the heavier
    shared: frozenset[int]


def similar_pairs(
    prints: Mapping[str, Iterable[int]],
    ignore: Iterable[int] = (),
    *,
    least: float = LEAST,
    aside: Iterable[str] = (),
) -> list[Pair]:
    """Return the pairs that share most, the heaviest first; none of two that are `aside`."""
    ignored = set(ignore)
    holders: dict[int, array] = defaultdict(lambda: array("l"))
    students, apart = sorted(prints), set(aside)
    elsewhere = [student in apart for student in students]
    for position, student in enumerate(students):
        for mark in set(prints[student]) - ignored:
            holders[mark].append(position)
    most = common_from(len(students))
    weights = {
        mark: math.log(len(students) / len(who)) + 0.1
        for mark, who in holders.items()
        if len(who) < most
    }
    own = [0.0] * len(students)
    for mark, weight in weights.items():
        for position in holders[mark]:
            own[position] += weight
    shared_weight: defaultdict[int, float] = defaultdict(float)
    shared_count: Counter[int] = Counter()
    for mark, weight in weights.items():
        who = holders[mark]
        for i, one in enumerate(who):
            for other in who[i + 1 :]:
                if elsewhere[one] and elsewhere[other]:
                    continue
                pair = one * len(students) + other
                shared_weight[pair] += weight
                shared_count[pair] += 1
    pairs = []
    for pair, weight in shared_weight.items():
        if shared_count[pair] < ENOUGH:
            continue
        one, other = divmod(pair, len(students))
        alike = weight / (own[one] + own[other] - weight)  # weighted Jaccard
        if alike >= least:
            pairs.append((alike * weight, alike, one, other))
    pairs.sort(key=lambda entry: (-entry[0], entry[2], entry[3]))
    return [
        Pair(
            students[one],
            students[other],
            min(1.0, alike),
            weight,
            frozenset(set(prints[students[one]]) & set(prints[students[other]]) & set(weights)),
        )
        for weight, alike, one, other in pairs[: PAIRS * 4]
    ]


def common_from(students: int) -> int:
    """Return how many students must have something for it to be nobody's own."""
    return max(3, min(AT_LEAST, math.ceil(students * 0.4)), math.ceil(students * COMMON))


@dataclass(frozen=True)
class Similar:
    """What is alike in a class."""

    pairs: list[Pair]
    answers: dict[str, dict[str, str]]  # of everybody in a pair
    own: list[tuple[str, Likeness]]  # students, and what they have that is the course's own
    earlier: int = 0  # hand-ins of earlier years that were read


def find_similar(
    course: Course, name: str, progress: Progress | None = None, also: Iterable[Path] = ()
) -> Similar:
    """Return the pairs of an assignment, and the answers that are like the course's own.

    `also` are folders or zips of earlier hand-ins, which make pairs with this class.
    """
    folders = Folders(course, name)
    store = Verdicts(folders.verdicts)
    groups, handed = Groups.of(folders), graded(folders)
    first = {groups.members(student): student for student in sorted(handed, reverse=True)}
    handed = {student: handed[student] for student in sorted(first.values())}  # one of each group
    cells, ignore = _release(folders)
    prints: dict[str, array] = {}
    ours, own = _ours(folders), []
    progress = progress or Progress()
    for student, one in handed.items():
        answers = _answers(store, one, cells)
        prints[student] = array("Q", fingerprints(answers))
        own += [(student, likeness) for likeness in (ours.like(answers) if ours else ())]
        progress.advance(student)
    before = {
        who: _in_order(answers, cells)
        for path in also
        for who, answers in earlier_answers(path, folders).items()
    }
    prints |= {who: array("Q", fingerprints(one)) for who, one in before.items()}
    pairs = similar_pairs(prints, ignore, aside=before)[:PAIRS]
    people = {who for pair in pairs for who in (pair.one, pair.other)}
    return Similar(
        pairs,
        {who: before.get(who) or _answers(store, handed[who], cells) for who in people},
        own,
        len(before),
    )


def _ours(folders: Folders) -> OwnAnswers | None:
    if folders.name not in catalogue.names(folders.course):
        return None
    notebook = source(folders.course, folders.name).read_text(encoding="utf-8")
    return OwnAnswers(catalogue.load(folders.course, folders.name), notebook)


def write_similarity(
    course: Course, name: str, progress: Progress | None = None, also: Iterable[Path] = ()
) -> tuple[Path, Similar]:
    """Write the page with both sources side by side; return where it is, and what is alike."""
    folders = Folders(course, name)
    similar = find_similar(course, name, progress, also)
    book = read_gradebook(folders)
    people = {who: book.student(who) for who in (*similar.answers, *dict(similar.own))}
    names = {who: ", ".join((one.name, *one.others)) for who, one in people.items()}
    path = folders.report.with_name(f"{name}-similarity.html")
    write_changed(path, similarity_page(name, similar, names))
    return path, similar


def in_words(similar: Similar) -> list[str]:
    """Return the likest pairs and how many there are."""
    said = []
    if similar.earlier:
        said.append(f"{counted(similar.earlier, 'earlier submission')} read")
    for pair in similar.pairs[:10]:
        said.append(f"{100 * pair.alike:3.0f} %  {plain(pair.one)}  {plain(pair.other)}")
    for student, likeness in similar.own[:10]:
        said.append(f"{100 * likeness.share:3.0f} %  {plain(student)}  {likeness.what}")
    count, own = counted(len(similar.pairs), "pair"), counted(len(similar.own), "answer")
    said.append(
        f"{count} of similar answers to read, {own} similar to the course's; similarity does not "
        "prove copying"
    )
    return said


def similarity_page(assignment: str, similar: Similar, names: dict[str, str]) -> str:
    """Return the page."""
    return render(
        "similarity.html",
        wide=True,
        title=f"{assignment}: similarity",
        assignment=assignment,
        pairs=similar.pairs,
        own=similar.own,
        names=names,
        marked=lambda student, shared: list(_marked(similar.answers[student], shared)),
    )


def _marked(
    answers: dict[str, str], shared: frozenset[int]
) -> Iterator[tuple[str, list[tuple[bool, Markup]]]]:
    """Yield a student's answers line by line, coloured, and whether each line is a shared one."""
    marked: dict[str, set[int]] = defaultdict(set)
    taken = fingerprints(answers)
    for mark in shared & taken.keys():
        cell, first, last = taken[mark]
        marked[cell].update(range(first, last + 1))
    for cell, answer in answers.items():
        lines = str(pages.highlighted(answer)).split("\n")
        yield cell, [(at in marked[cell], Markup(line)) for at, line in enumerate(lines, 1)]


def _answers(store: Verdicts, handed: Handed, cells: dict[str, list[str]]) -> dict[str, str]:
    """Return a student's solution cells in the order of the assignment."""
    verdicts = verdicts_of(store, handed)
    return _in_order({name: verdict.answers for name, verdict in verdicts.items()}, cells)


def _in_order(given: dict[str, dict[str, str]], cells: dict[str, list[str]]) -> dict[str, str]:
    """Return the answers of each notebook that is `given`, those of code alone."""
    answers: dict[str, str] = {}
    for notebook, sources in given.items():
        for cell in cells.get(notebook, []):
            if answer := sources.get(cell, "").strip("\n"):
                answers[cell if cell not in answers else f"{notebook}.{cell}"] = answer
    return answers


def _release(folders: Folders) -> tuple[dict[str, list[str]], frozenset[int]]:
    """Return the code cells that students fill in, and the fingerprints of what they are given."""
    cells: dict[str, list[str]] = {}
    given: set[int] = set()
    for notebook in outlines(folders):
        text = (folders.source / f"{notebook}.ipynb").read_text(encoding="utf-8")
        for cell in parsing.master(text)["cells"]:
            if cell["cell_type"] != "code" or not grade_id(cell) or not is_solution(cell):
                continue
            cells.setdefault(notebook, []).append(grade_id(cell))
            given.update(fingerprints({"release": release_source(cell)}))
    return cells, frozenset(given)
