"""The first part of the instructor's page: what needs a human, and why.

Broken files, flags, claims to somebody else's name, files that nobody could be given, times that
nobody has said, and who has submitted nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Self
from urllib.parse import quote

from coursetools.grading.results.class_count import ClassCount, Concern, PartCount
from coursetools.grading.results.outline import safe_name

MOST_ROWS = 1000  # of one list; all of it is in the verdicts
GROUPS = {
    "INTERNAL": (
        "Not graded, because the grader failed",
        "They have no score yet. Run coursekit grade again; only these are run.",
    ),
    "ungraded": (
        "Submitted, but not graded yet",
        "Run coursekit grade NAME, then this again.",
    ),
    "MALFORMED": (
        "Files that are not notebooks of this assignment",
        "They score 0 until the student submits a notebook.",
    ),
    "requests": (
        "Regrade requests",
        "Answer each with coursekit override NAME QUESTION full|keep|POINTS --student ID --why "
        "TEXT; the next feedback shows the answer.",
    ),
    "outside": (
        "Before the start, or after the end",
        "coursekit settings NAME --extend gives a student a later end.",
    ),
    "claims": (
        "Files that name another student",
        "The name was ignored: each file counts for the student who submitted it, named here.",
    ),
    "groups": (
        "Submitted another file than their team's",
        "One file counts for a team. If they were right to work alone, collect a class list whose "
        "column group says so: coursekit collect NAME FILE --force.",
    ),
    "too_late": (
        "Submitted after the end of the assignment",
        "These submissions are kept, but not counted; an earlier one in time counts instead.",
    ),
    "flags": (
        "Flags",
        "Scores were given as usual. Look before you conclude anything: most flags are innocent.",
    ),
}


@dataclass(frozen=True)
class Group:
    """Things of one kind to look at; `shown` are as many as a page may have."""

    title: str
    advice: str
    place: str  # what `where` says of each
    concerns: list[Concern]
    kinds: list[tuple[str, int]]  # what they say most often, where there are too many to read

    @property
    def shown(self) -> list[Concern]:
        """The first of them, by student."""
        return sorted(self.concerns, key=lambda one: (one.student, one.where))[:MOST_ROWS]

    @property
    def left(self) -> int:
        """How many are not shown."""
        return len(self.concerns) - len(self.shown)


@dataclass(frozen=True)
class Human:
    """Everything that a human should look at."""

    waiting: list[PartCount]  # questions with answers in words to mark
    groups: list[Group]
    times_unknown: int  # where that could cost something
    said_late: list[str]
    left: list[tuple[str, str]]  # files that were not taken, and why
    missing: list[str]

    @property
    def nothing(self) -> bool:
        """Whether there is nothing at all."""
        parts = (self.waiting, self.groups, self.times_unknown, self.left, self.missing)
        return not any(parts)

    @classmethod
    def of(cls, count: ClassCount) -> Self:
        """Pick it out of what was counted."""
        groups = []
        for name, (title, advice) in GROUPS.items():
            if concerns := count.concerns.get(name):
                place = "file" if name == "claims" else "question"
                kinds = _kinds(concerns) if name == "flags" and len(concerns) > 12 else []
                groups.append(Group(title, advice, place, concerns, kinds))
        costly = count.has_deadline or bool(count.said_late)
        return cls(
            waiting=[one for one in count.parts.values() if one.waiting],
            groups=groups,
            times_unknown=count.time_unknown if costly else 0,
            said_late=count.said_late[:MOST_ROWS],
            left=sorted(count.left.items())[:MOST_ROWS],
            missing=count.missing[:MOST_ROWS],
        )


def _kinds(concerns: list[Concern]) -> list[tuple[str, int]]:
    kinds = Counter(one.what[:120] for one in concerns)
    return sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))[:10]


def link(assignment: str, student: str) -> str:
    """Return the address of the page that a student reads, "" where there can be none."""
    if not safe_name(student):
        return ""
    place = "/".join(quote(part) for part in ("feedback", student, assignment))
    return f"../{place}/{quote(assignment)}.html"
