"""What is said about the teams of an assignment: who shares a file, and who submitted another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo

from coursekit.submission.deadline import clock
from coursetools.grading.records.attempts import (
    Attempt,
    attempts_of,
    handed_in_by,
    submitted_digest,
)
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.groups import Groups


@dataclass(frozen=True)
class Different:
    """A team whose members submitted different files."""

    team: str
    members: tuple[str, ...]  # with a file of their own
    counted: Attempt | None  # None: a file that an instructor put into `submitted/`

    def sentence(self, shown: Callable[[str], str], zone: tzinfo) -> str:
        """Say who submitted and which file counts; `shown` gives a student's name."""
        who = " and ".join(map(shown, self.members))
        text = f"team {self.team}: {who} submitted different files; "
        if self.counted is None:
            return f"{text}the one that you put into autograder/submitted counts"
        about = self.counted[1]
        when = about["time"] and clock(datetime.fromisoformat(about["time"]), zone)
        which = ", ".join(filter(None, [about.get("from"), when or "time unknown"]))
        return f"{text}{shown(handed_in_by(self.counted))}'s counts for the team ({which})"


def different_files(folders: Folders, groups: Groups) -> Iterator[Different]:
    """Yield the teams of which the latest files of two members differ."""
    for name, members in groups.teams.items():
        latest = {one: attempts[-1] for one in members if (attempts := attempts_of(folders, one))}
        if len({about.get("sha256") for _, about in latest.values()}) < 2:
            continue
        digests = (submitted_digest(folders, one) for one in members)
        counts = next(filter(None, digests), "")
        same = [one for one in attempts_of(folders, *members) if one[1].get("sha256") == counts]
        yield Different(name, tuple(latest), same[-1] if same else None)


def team_lines(
    folders: Folders, groups: Groups, names: Mapping[str, str], zone: tzinfo
) -> list[str]:
    """Say that teams are in use, and which members submitted different files."""
    if not groups.sentence:
        return []

    def shown(student: str) -> str:
        person = groups.person(student)
        name = names.get(person, "")
        return f"{name} ({person})" if name and name != person else person

    different = different_files(folders, groups)
    return [groups.sentence, *(one.sentence(shown, zone) for one in different)]
