"""`coursekit return NAME --to exchange`: the pages, put where nbgrader fetches them for students.

A page lies in the exchange under a hash of the secret that `nbgrader submit` wrote beside the
notebook, in a folder that students can enter and not list. So each finds their own alone. The
command `nbgrader release_feedback` stops at the first student without such a secret; this goes on,
and says whose pages stay here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from coursekit._base.errors import CourseError
from coursetools.course import write_changed
from coursetools.grading.collecting.origins import secret_in
from coursetools.grading.records.folders import Folders
from coursetools.grading.results.pages import counted
from coursetools.grading.results.scores import Handed
from coursetools.text import some

ENTER, READ = 0o711, 0o644  # a folder's mode and a page's


@dataclass
class Released:
    """Who can fetch their feedback, and who cannot."""

    students: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)  # not submitted through the exchange
    newer: list[str] = field(default_factory=list)  # submitted again since they were graded

    def as_lines(self, folders: Folders) -> list[str]:
        """Return what is printed at the end."""
        place = folders.exchange / "feedback"
        lines = [f"{counted(len(self.students), 'student')} can fetch their feedback from {place}"]
        if self.elsewhere:
            lines.append(
                f"not submitted through the exchange, so not returned there: {some(self.elsewhere)}"
            )
        if self.newer:
            lines.append(
                f"submitted again since they were graded: {some(self.newer)}; run coursekit grade "
                f"{folders.name}, then this again"
            )
        return lines


def release(folders: Folders, handed: Iterable[Handed]) -> Released:
    """Copy the pages of those who have submitted through the exchange."""
    from nbgrader.utils import notebook_hash

    if not folders.exchange.is_dir():
        raise CourseError(
            f"there is no exchange at {folders.exchange}; nbgrader release_assignment "
            f"{folders.name} makes it, in the folder that c.Exchange.root names"
        )
    result, place = Released(), folders.exchange / "feedback"
    try:
        if not place.is_dir():
            place.mkdir()
            place.chmod(ENTER)
        for one in handed:
            if not folders.submitted(one.student).is_dir():
                continue
            secret = secret_in(folders.submitted(one.student))
            if not secret:
                result.elsewhere.append(one.student)
            elif one.newer:
                result.newer.append(one.student)
            else:
                for notebook in one.places:
                    path = place / f"{notebook_hash(secret=secret, notebook_id=notebook)}.html"
                    page = folders.feedback(one.student) / f"{notebook}.html"
                    write_changed(path, page.read_text(encoding="utf-8"))
                    path.chmod(READ)
                result.students.append(one.student)
    except OSError as error:
        raise CourseError(f"cannot write {error.filename} ({error.strerror})") from error
    return result
