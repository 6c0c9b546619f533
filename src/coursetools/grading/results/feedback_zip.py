"""`coursekit return NAME --to PLATFORM`: what students get back, in one file to be uploaded.

A platform finds whose a file is by numbers in its name, and passes over without a word what it does
not know. Moodle has a number for each participant. Canvas takes only the name that it gave a file
itself, and shows the file under the student's own name for it; so there the graded notebook goes
back, with the feedback in it. `plain` is for everybody else: a page called by the student's id.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursetools.course import new_zip
from coursetools.grading.collecting.identify import Names
from coursetools.grading.collecting.layouts import MOODLE, canvas_name
from coursetools.grading.collecting.roster import class_list
from coursetools.grading.collecting.times import HandIn
from coursetools.grading.gradebook.autograded import as_file
from coursetools.grading.records.attempts import attempts_of, submitted_digest
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.groups import Groups
from coursetools.grading.records.verdict_files import Verdicts
from coursetools.grading.results.feedback_notebook import feedback_notebook, summary
from coursetools.grading.results.outline import Outline
from coursetools.grading.results.pages import counted
from coursetools.grading.results.scores import Handed, Student, add_up, verdicts_of
from coursetools.text import some

WHEN = (2000, 1, 1, 0, 0, 0)  # of each member: the same pages make the same file
NO_NUMBER = "no participant number in the worksheet or in a submission"
NO_NAME = "nothing was submitted through Canvas"
OF_TEAM = "Canvas gives a team's file to all its members, if it is a group assignment there"
NEWER = "the latest submission is not graded yet"
LOST = "the graded notebook is missing"

Files = Iterator[tuple[str, bytes]]
Task = tuple[Student, Handed]


@dataclass
class Zipped:
    """Where the file is, and who is not in it."""

    path: Path
    students: int = 0
    without: dict[str, list[str]] = field(default_factory=dict)  # why -> students

    def as_lines(self, name: str) -> list[str]:
        """Return what is printed at the end."""
        lines = [f"{counted(self.students, 'student')} in {self.path}"]
        for why, students in self.without.items():
            line = f"not in the zip: {some(sorted(students))}; {why}"
            if why in (NEWER, LOST):
                line += f": run coursekit grade {name}, then this again"
            lines.append(line)
        return lines


class _Unknown(Exception):
    """Somebody whom the platform would not find; the text is why."""


class _Plain:
    """A page for each student, `ID.html`; a folder where there are several."""

    def __init__(self, folders: Folders, outlines: dict[str, Outline], rule: Any) -> None:
        self.folders, self.outlines, self.rule = folders, outlines, rule
        self.groups = Groups.of(folders)

    def files(self, student: Student, handed: Handed) -> Files:
        """Yield what goes into the zip for one student: names and contents."""
        several = len(self.outlines) > 1
        for notebook in self.outlines:
            person = self.groups.person(student.id)
            name = f"{person}/{notebook}.html" if several else f"{person}.html"
            yield name, self.page(student.id, notebook)

    def page(self, student: str, notebook: str) -> bytes:
        """Return a page as it was written."""
        return (self.folders.feedback(student) / f"{notebook}.html").read_bytes()


class _Moodle(_Plain):
    """The folder `Full Name_501_assignfeedback_file` for each participant."""

    numbers: dict[str, str]  # of this assignment, by student

    def files(self, student: Student, handed: Handed) -> Files:
        """Yield the pages of one student, below the folder that Moodle looks for."""
        name, number = student.name, self.numbers.get(student.id, "")
        for _, about in attempts_of(self.folders, student.id):
            match = MOODLE.fullmatch(str(about.get("from", "")).split("/")[0])
            if match and about.get("lms") == match["user"]:
                name, number = match["who"], match["user"]
        if not number:
            raise _Unknown(NO_NUMBER)
        # Moodle splits at "_", and leaves out what begins with a dot or a tilde.
        name = "".join(c if c.isprintable() and c not in '_/\\:*?"<>|' else " " for c in name)
        folder = f"{name.strip(' .~') or 'Participant'}_{number}_assignfeedback_file"
        for notebook in self.outlines:
            yield f"{folder}/{notebook}.html", self.page(student.id, notebook)


class _Canvas(_Plain):
    """The graded notebook, under the name that Canvas gave the one that counts."""

    def files(self, student: Student, handed: Handed) -> Files:
        """Yield the graded notebook of one student."""
        name, book = _canvas_name(self.folders, student), self.folders.course.book_address
        verdicts = verdicts_of(Verdicts(self.folders.verdicts), handed)
        score = add_up(self.outlines, student, verdicts, self.rule)
        (notebook, outline), *_ = self.outlines.items()  # `collect` takes one a student
        verdict = verdicts[notebook]
        if not name.lower().endswith(".ipynb"):  # a notebook would not open under this name
            text = summary(outline, student, verdict, score, book)
        else:
            path = self.folders.autograded(student.id) / f"{notebook}.ipynb"
            try:
                graded = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                raise _Unknown(LOST) from None
            text = as_file(feedback_notebook(graded, outline, student, verdict, score, book=book))
        yield name, text.encode("utf-8", "replace")


def _canvas_name(folders: Folders, student: Student) -> str:
    """Return Canvas's name of the file that counts, or theirs where a team-mate's counts."""
    digest, sent, own = submitted_digest(folders, student.id), None, None
    for _, about in attempts_of(folders, student.id):
        if about.get("lms"):
            own = canvas_name(str(about.get("named") or about.get("from", ""))) or own
            sent = own if about.get("sha256") == digest else sent
    if sent is None and student.group:
        sent = own
    if sent is None:
        raise _Unknown(OF_TEAM if student.group and digest else NO_NAME)
    name = sent.string
    if name.rpartition("_")[2].startswith("link"):  # Canvas passes over such a name
        name = f"{name[: sent.start('name')]}{folders.name}.ipynb"
    return name


def _waits(folders: Folders, handed: Handed) -> bool:
    """Return whether something was submitted that the verdicts are not about."""
    here = folders.submitted(handed.student).is_dir()
    return here and (handed.newer or not handed.places)


PLATFORMS = {"moodle": _Moodle, "canvas": _Canvas, "plain": _Plain}


def zip_feedback(
    folders: Folders,
    outlines: dict[str, Outline],
    tasks: Iterable[Task],
    platform: str,
    *,
    rule: Any = None,
    output: Path | None = None,
    worksheet: Sequence[HandIn] = (),
) -> Zipped:
    """Put what students get back into one zip; who cannot be addressed is named in the result."""
    maker = PLATFORMS[platform](folders, outlines, rule)
    if isinstance(maker, _Moodle):
        numbers = Names(folders, class_list(folders), worksheet).worksheet if worksheet else {}
        maker.numbers = {student: number for number, student in numbers.items()}
    path = output or folders.class_folder / "feedback" / f"{folders.name}-{platform}.zip"
    result = Zipped(path)
    with new_zip(path) as archive:
        for student, handed in tasks:
            try:
                if _waits(folders, handed):
                    raise _Unknown(NEWER)
                files = list(maker.files(student, handed))
            except _Unknown as unknown:
                result.without.setdefault(str(unknown), []).append(student.id)
                continue
            for name, data in files:
                archive.writestr(zipfile.ZipInfo(name, WHEN), data, zipfile.ZIP_DEFLATED)
            result.students += 1
        if not result.students:
            why = "; ".join(result.as_lines(folders.name)[1:]) or "there are no students"
            raise CourseError(f"no zip written: it would be empty ({why})")
    return result
