"""nbgrader's plugin for late penalties by our rule; in `autograder/nbgrader_config.py`:

c.AssignLatePenalties.plugin_class = "coursetools.grading.late_plugin.DailyPenalty"
c.DailyPenalty.solutions = str(root / "solutions")  # where assignment.toml says due and [late]
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Float, Unicode

from coursetools.course import Course
from coursetools.grading.gradebook.lateness import Lateness, lateness_of, write_extensions
from coursetools.settings.assignment_settings import due_of
from coursetools.settings.class_settings import zone_of
from coursetools.settings.late_rule import LateRule, replaced, rule_of


class DailyPenalty(LateSubmissionPlugin):
    """nbgrader's late penalties by a `LateRule`; an assignment's own goes before the course's."""

    rate = Float(0.0, help="share of the score lost for each day begun").tag(config=True)
    grace_hours = Float(0.0, help="hours after the deadline that cost nothing").tag(config=True)
    most = Float(1.0, help="the largest share of the score that can be lost").tag(config=True)
    solutions = Unicode("", help="folder with a folder for each assignment").tag(config=True)

    def __init__(self, **options: Any) -> None:
        """Bring deadline and extensions into the gradebook, which nbgrader asks right after this.

        In a run of ours they are there already, and the seconds come without the late days.
        """
        super().__init__(**options)
        self._lateness: Lateness | None = None
        name, url = (getattr(self.parent, key, None) for key in ("assignment_id", "db_url"))
        if not (name and url and self.solutions):
            return
        due = due_of(Path(self.solutions) / name)
        with Gradebook(url) as book:
            assignment = book.find_assignment(name)
            course = Course(Path(self.solutions).parent)
            if due is not None and assignment.duedate != due:
                if assignment.duedate is not None:
                    self.log.warning(replaced(name, due, zone_of(course, name)))
                assignment.duedate = due
            book.db.flush()
            connection = book.db.connection()
            self._lateness = lateness_of(course, name, connection)
            write_extensions(connection, assignment.id, self._lateness)
            book.db.commit()

    def rule(self, assignment: str | None = None) -> LateRule:
        """Return the rule for an assignment."""
        if assignment and self.solutions:
            own = rule_of(Path(self.solutions) / assignment)
            if own is not None:
                return own
        return LateRule(rate=self.rate, grace_hours=self.grace_hours, most=self.most)

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        """Return the points lost, or None; nbgrader calls this for each late submission."""
        if self._lateness is not None:
            if self._lateness.excused(student_id):
                return None
            total_seconds_late = self._lateness.counted(student_id, total_seconds_late)
        rule = self.rule(getattr(self.parent, "assignment_id", None))
        return rule.penalty(score, total_seconds_late) or None
