"""Plain nbgrader with our engine: preprocessors that `autograder/nbgrader_config.py` names.

`Rebuild` takes the place of the preprocessors that clean a submission, `ExecuteByEngine` that of
`Execute`. nbgrader itself saves the points, which it reads from the outputs that the engine leaves.
For a class, `coursekit grade` does the same much faster, and goes on after whatever happens.
`RefuseExam` and `RefuseEarlyFeedback` keep nbgrader's commands, and so formgrader's buttons, from
giving an exam away.
"""

from __future__ import annotations

import atexit
import json
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Unicode

from coursekit._base.errors import CourseError
from coursetools.assignments.rebuild import rebuild
from coursetools.course import Course
from coursetools.grading.gradebook.autograded import autograded
from coursetools.grading.records.folders import Folders
from coursetools.grading.running.judge_job import ENGINE, MASTER, named
from coursetools.grading.running.keys import masters_of
from coursetools.settings.exam_settings import exam_of

_engines: dict[str, Any] = {}


class EngineFailed(Exception):
    """The grader's own fault; nbgrader then leaves the submission without a grade."""


class _OfCourse(NbGraderPreprocessor):
    """What all need: the assignment's folders."""

    def folders(self, resources: dict[str, Any]) -> Folders:
        """Return them."""
        root = self.config.get("CourseDirectory", {}).get("root") or "."
        return Folders(Course(Path(root)), resources["nbgrader"]["assignment"])


class RefuseExam(_OfCourse):
    """Leaves the notebook of an exam to the command that makes its `check` silent."""

    def preprocess(self, nb: Any, resources: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the notebook as it is."""
        folders = self.folders(resources)
        exam = exam_of(folders.course, folders.name)
        if exam and exam.is_private:
            raise CourseError(
                f"{exam}; nbgrader would show students what check knows, so let "
                f"coursekit assignment release {folders.name} write it"
            )
        return nb, resources


class RefuseEarlyFeedback(_OfCourse):
    """Writes no feedback on an exam while somebody still sits it."""

    def preprocess(self, nb: Any, resources: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the notebook as it is."""
        folders = self.folders(resources)
        exam = exam_of(folders.course, folders.name)
        if exam and not exam.is_over:
            raise exam.wait("no feedback is written")
        return nb, resources


class _OfSubmission(_OfCourse):
    """What judging needs: the instructor's notebook that belongs to a submission."""

    engine = Unicode(ENGINE, help="the class that judges, as module:name").tag(config=True)
    master = Unicode(MASTER, help="the class of the instructor's notebook").tag(config=True)

    def of(self, resources: dict[str, Any]) -> tuple[Folders, Any]:
        """Return the assignment's folders and master."""
        folders = self.folders(resources)
        return folders, masters_of(folders, self.master)[resources["nbgrader"]["notebook"]]


class Rebuild(_OfSubmission):
    """Puts the student's answers into the instructor's cells."""

    def preprocess(self, nb: Any, resources: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the rebuilt notebook."""
        folders, master = self.of(resources)
        rebuilt = rebuild(master, _bytes(nb), folders.limits)
        for flag in rebuilt.flags:
            self.log.warning("%s: %s", resources["nbgrader"]["student"], flag)
        return nbformat.from_dict(rebuilt.notebook), resources


class ExecuteByEngine(_OfSubmission):
    """Judges the notebook and leaves outputs from which nbgrader reads the points."""

    def preprocess(self, nb: Any, resources: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the notebook with outputs."""
        folders, master = self.of(resources)
        data = _bytes(nb)
        if master.key not in _engines:
            _engines[master.key] = named(self.engine)(master, folders.limits, frozenset())
        verdict = _engines[master.key].grade(data, resources["nbgrader"]["student"])
        failed = [q.name for q in verdict.questions if q.status == "INTERNAL"]
        if verdict.status == "INTERNAL" or failed:
            raise EngineFailed(verdict.reason)
        notebook = autograded(master, data, verdict, folders.limits)
        return nbformat.from_dict(notebook), resources


def _bytes(nb: Any) -> bytes:
    return json.dumps(nb).encode()


@atexit.register
def _close() -> None:
    for engine in _engines.values():
        engine.close()
