"""Who is behind Canvas's anonymous ids: a file has the same number with a name and without one.

So the zip that Canvas gives once names are shown says whose the files of the anonymous zip are.
The work stays where it was collected and graded, under the anonymous id.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from coursetools.grading.collecting.identify import Known
from coursetools.grading.collecting.layouts import Candidate, Refused, canvas_name
from coursetools.grading.records.attempts import Attempt, attempts_of, enter_name
from coursetools.grading.records.folders import Folders


class Links:
    """The files of Canvas that an assignment has already, by their numbers."""

    def __init__(self, folders: Folders, anonymous: dict[str, str]) -> None:
        self.folders, self.anonymous = folders, anonymous

    @cached_property
    def stored(self) -> dict[str, tuple[str, Attempt]]:
        """By the number of the file: under whose id it is stored, and where."""
        found = {}
        for student in self.folders.students():
            for attempt in attempts_of(self.folders, student):
                if name := canvas_name(str(attempt[1].get("from", ""))):
                    found[name["file"]] = student, attempt
        return found

    def resolve(
        self, resolved: Sequence[Known | Refused]
    ) -> tuple[list[Known | Refused], dict[str, str]]:
        """Return the files as what they are stored under, and the students behind anonymous ids."""
        links: dict[str, str] = {}
        result = [self._linked(one, links) if isinstance(one, Known) else one for one in resolved]
        return result, {n: who for n, who in links.items() if self.anonymous.get(n) != who}

    def _linked(self, known: Known, links: dict[str, str]) -> Known | Refused:
        one, student = known.candidate, known.student
        if not one.file or one.file not in self.stored:
            return known
        owner, attempt = self.stored[one.file]
        if one.anonymous:
            return replace(known, student=owner)  # the names were known first
        if owner not in self.anonymous or owner == student:
            return known
        if why := self._refusal(one, student, owner, attempt, links):
            return Refused(one.label, why)
        links[owner] = student
        enter_name(attempt, one.label, one.lms)
        return known

    def _refusal(
        self, one: Candidate, student: str, owner: str, attempt: Attempt, links: dict[str, str]
    ) -> str:
        """Say why a file with a name does not say whose an anonymous one is."""
        before = self.anonymous[owner] or links.get(owner, student)
        if before != student:
            return f"belongs to {student}, but the same file without a name ({owner}) to {before}"
        linked = {who: number for number, who in {**self.anonymous, **links}.items() if who}
        if linked.get(student, owner) != owner:
            return f"belongs to {student} by its name, but {linked[student]} is linked to {student}"
        if attempts_of(self.folders, student):
            return (
                f"is the anonymous submission {owner}, but {student} also has submissions under "
                f"their name: take one back with coursekit collect {self.folders.name} --undo "
                f"--student {owner}, then collect this again"
            )
        if self._same(one, attempt):
            return ""
        return f"has the number of a file that {owner} submitted anonymously, but different content"

    def _same(self, one: Candidate, attempt: Attempt) -> bool:
        try:
            data = one.read(self.folders.limits.submission_bytes)
        except OSError:
            return False
        return hashlib.sha256(data).hexdigest() == attempt[1].get("sha256")

    def holds(self, student: str, one: Candidate, data: bytes) -> bool:
        """Return whether a file of Canvas is stored already, from whichever zip it came."""
        owner, attempt = self.stored.get(one.file, ("", None)) if one.file else ("", None)
        if attempt is None or owner != student:
            return False
        return hashlib.sha256(data).hexdigest() == attempt[1].get("sha256")
